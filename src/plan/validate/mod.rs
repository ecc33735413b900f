//! Validation of a request body, lints, and JSON Schema.

pub mod attribute;
pub mod body;
pub mod country;
pub mod json_schema;
pub mod lint;

#[cfg(test)]
mod tests;
