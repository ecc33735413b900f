//! Validation of a request body, lints, and JSON Schema.

pub mod attribute;
pub mod body;
pub mod country;
#[cfg(test)]
mod golden;
pub mod json_schema;
pub mod lint;
pub mod masked_values;
