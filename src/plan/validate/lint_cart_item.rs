//! What a cart item must have before it is sent.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// Refuses an item without a quantity above 0: services of the family add 1 for 0 and for -1.
///
/// # Errors
/// `usage`, naming `qty`.
pub fn refuse(item: &Map<String, Value>) -> Result<(), Failure> {
    let problem = match item.get("qty") {
        None => "qty is missing".to_owned(),
        Some(Value::Number(qty)) if is_positive(&qty.to_string()) => return Ok(()),
        // Where the interface takes the text of a number.
        Some(Value::String(qty)) if is_number(qty) && is_positive(qty.trim()) => return Ok(()),
        Some(qty) => format!("qty must be above 0, found {qty}"),
    };
    Err(Failure::usage(problem).hint("give the quantity with --qty N, or as the field `qty` of the input"))
}

fn is_number(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text.trim()).is_ok()
}

/// Whether the text of a JSON number is above 0, however small: it may be too small for a double.
pub fn is_positive(number: &str) -> bool {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    !number.starts_with('-') && digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::refuse;

    #[test]
    fn a_quantity_is_above_zero() {
        let refusal = |item: &str| {
            let item: Value = serde_json::from_str(item).unwrap();
            refuse(item.as_object().unwrap()).map_err(|failure| failure.message)
        };
        for qty in ["1", "0.5", "1e-400", "1E+2", "\"2\"", "\" 0.5 \""] {
            assert_eq!(refusal(&format!("{{\"qty\": {qty}}}")), Ok(()), "{qty}");
        }
        for qty in ["0", "-1", "0.00", "0e5", "-0", "\"0\"", "\"-1\"", "\"two 2\"", "\"\"", "true"] {
            assert!(refusal(&format!("{{\"qty\": {qty}}}")).unwrap_err().starts_with("qty must be above 0"));
        }
        assert_eq!(refuse(json!({"sku": "a"}).as_object().unwrap()).unwrap_err().message, "qty is missing");
    }
}
