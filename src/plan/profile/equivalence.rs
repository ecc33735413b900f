//! When two JSON values mean the same, though their texts differ.

use serde_json::{Number, Value};

/// Fields for which no value, `false` and 0 mean the same, as do `true` and 1.
const FLAGS_AND_IDS: [&str; 3] = ["default_billing", "default_shipping", "region_id"];

/// Whether two numbers have the same text, or are the same double: jq 1.6 rounds every number that it passes on.
pub fn is_same_number(left: &Number, right: &Number) -> bool {
    let doubles = || Some((left.as_f64()?, right.as_f64()?));
    // The comparison is meant to be exact: rounding a number twice gives the same bits.
    left == right || doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
}

/// Whether two values are the same but for the texts of their numbers and the order of their fields.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => is_same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_in_right =
                |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| is_same(value, other));
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        _ => left == right,
    }
}

/// Whether a stored field has the value that a draft names, as services show values: nothing, null and `""` are one;
/// so are a number and its text, and texts that differ in surrounding white space. Of an object the draft's fields count,
/// of `custom_attributes` the draft's codes.
pub fn is_equivalent(name: &str, draft: Option<&Value>, stored: Option<&Value>) -> bool {
    let (draft, stored) = (draft.unwrap_or(&Value::Null), stored.unwrap_or(&Value::Null));
    match (draft, stored) {
        (Value::Object(draft), Value::Object(stored)) => {
            draft.iter().all(|(name, value)| is_equivalent(name, Some(value), stored.get(name)))
        }
        (Value::Object(draft), Value::Null) => {
            !draft.is_empty() && draft.iter().all(|(name, value)| is_equivalent(name, Some(value), None))
        }
        (Value::Array(draft), Value::Array(stored)) if name == "custom_attributes" => {
            draft.iter().all(|attribute| has_attribute(stored, attribute))
        }
        (Value::Array(draft), Value::Array(stored)) => {
            draft.len() == stored.len()
                && draft
                    .iter()
                    .zip(stored)
                    .all(|(draft, stored)| is_equivalent("", Some(draft), Some(stored)))
        }
        (Value::Number(draft), Value::Number(stored)) => is_same_number(draft, stored),
        _ => draft == stored || scalar(name, draft).is_some_and(|text| Some(text) == scalar(name, stored)),
    }
}

fn has_attribute(stored: &[Value], draft: &Value) -> bool {
    let code = draft.get("attribute_code");
    stored.iter().any(|attribute| {
        attribute.get("attribute_code") == code && is_equivalent("", Some(draft), Some(attribute))
    })
}

/// A scalar as the text that all its equivalents share; `None` for objects and lists.
fn scalar(name: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => String::new(),
        Value::Bool(flag) if FLAGS_AND_IDS.contains(&name) => u8::from(*flag).to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(_) | Value::Object(_) => return None,
    };
    Some(if FLAGS_AND_IDS.contains(&name) && text == "0" { String::new() } else { text })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_equivalent, is_same};

    fn number(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_the_same_as_doubles() {
        let (stored, rounded) = (number("[12345678901234567890]"), number("[12345678901234567000]"));
        assert!(is_same(&stored, &rounded));
        assert!(is_same(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(!is_same(&json!({"a": 1}), &json!({"a": 1, "b": 2})) && !is_same(&json!("1"), &json!(1)));
        // Both are infinite as doubles, and two numbers nevertheless.
        assert!(!is_same(&number("1e400"), &number("1e401")));
    }

    #[test]
    fn what_services_write_differently_is_equivalent() {
        let same = |name: &str, draft: Value, stored: Value| is_equivalent(name, Some(&draft), Some(&stored));
        assert!(
            is_equivalent("fax", Some(&json!("")), None) && is_equivalent("fax", None, Some(&Value::Null))
        );
        assert!(same("postcode", json!("02138 "), json!("02138")) && same("id", json!("7"), json!(7)));
        assert!(same("default_billing", json!(true), json!("1")) && same("region_id", json!(0), Value::Null));
        assert!(!same("postcode", json!("0"), Value::Null) && !same("city", json!(["a"]), json!("a")));
        let stored = json!([{"attribute_code": "b", "value": 1}, {"attribute_code": "a", "value": "2"}]);
        assert!(same("custom_attributes", json!([{"attribute_code": "a", "value": "2"}]), stored.clone()));
        assert!(!same("custom_attributes", json!([{"attribute_code": "a", "value": "3"}]), stored));
    }
}
