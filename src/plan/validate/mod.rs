//! Validation of a request body, lints, and JSON Schema.

pub mod attribute_code;
pub mod body;
pub mod country;
pub mod frontend_input;
#[cfg(test)]
mod golden;
pub mod json_schema;
pub mod lint_address;
pub mod lint_attribute;
pub mod lint_cart_item;
pub mod masked_values;
pub mod path;
