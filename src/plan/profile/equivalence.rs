//! When two JSON values mean the same, though their texts differ: as numbers, as a draft and what is stored, and as what
//! was written and what is read.

use serde_json::{Map, Number, Value};

/// Flags that services write as a boolean, a number, a text, or not at all; 0 is also "no region".
const FLAG_LIKE: [&str; 3] = ["default_billing", "default_shipping", "region_id"];

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
        _ => same_value(name, Some(draft), Some(stored)),
    }
}

fn has_attribute(stored: &[Value], draft: &Value) -> bool {
    let code = draft.get("attribute_code");
    stored.iter().any(|attribute| {
        attribute.get("attribute_code") == code && is_equivalent("", Some(draft), Some(attribute))
    })
}

/// Whether two values of the field `name` are the same. Equal are absent, null and `""`; a number and its text; texts
/// after trimming; for default flags and `region_id` also `false`, 0 and absent, `true` and 1. Objects and lists are
/// compared field by field and element by element.
pub fn same_value(name: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    match (present(name, left), present(name, right)) {
        (None, None) => true,
        (Some(left), Some(right)) => same_present(name, left, right),
        _ => false,
    }
}

/// Whether `actual` has every field of `expected`, but for those in `except`.
pub fn contains_all(actual: &Value, expected: &Map<String, Value>, except: &[&str]) -> bool {
    expected
        .iter()
        .filter(|(name, _)| !except.contains(&name.as_str()))
        .all(|(name, value)| same_value(name, actual.get(name), Some(value)))
}

/// Whether a value says something: not null, not an empty text, and for a flag not "no".
pub fn is_set(name: &str, value: &Value) -> bool {
    present(name, Some(value)).is_some()
}

fn present<'a>(name: &str, value: Option<&'a Value>) -> Option<&'a Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::String(text) if text.trim().is_empty() => false,
        Value::Bool(false) => !FLAG_LIKE.contains(&name),
        Value::String(text) if text.trim() == "0" => !FLAG_LIKE.contains(&name),
        Value::Number(number) if number.as_f64() == Some(0.0) => !FLAG_LIKE.contains(&name),
        _ => true,
    })
}

fn same_present(name: &str, left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.iter().all(|(name, value)| same_value(name, Some(value), right.get(name)))
                && right
                    .iter()
                    .all(|(name, value)| left.contains_key(name) || same_value(name, None, Some(value)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same_value(name, Some(left), Some(right)))
        }
        _ => left == right || same_scalar(name, left, right),
    }
}

fn same_scalar(name: &str, left: &Value, right: &Value) -> bool {
    match (scalar_text(name, left), scalar_text(name, right)) {
        (Some(left_text), Some(right_text)) if left_text == right_text => true,
        (Some(left_text), Some(right_text)) => {
            (left.is_number() || right.is_number()) && same_number(&left_text, &right_text)
        }
        _ => false,
    }
}

fn scalar_text(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) if FLAG_LIKE.contains(&name) => Some("1".to_owned()),
        _ => None,
    }
}

/// Whether two spellings name one number. Beyond what a double holds exactly only the same digits do.
fn same_number(left: &str, right: &str) -> bool {
    const EXACT_DIGITS: usize = 15;
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let exact = digits(left) <= EXACT_DIGITS && digits(right) <= EXACT_DIGITS;
    let doubles = || Some((left.parse::<f64>().ok()?, right.parse::<f64>().ok()?));
    // The comparison is meant to be exact.
    exact && doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_equivalent, is_same, same_value};

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

    fn same(name: &str, left: &Value, right: &Value) -> bool {
        assert_eq!(same_value(name, Some(left), Some(right)), same_value(name, Some(right), Some(left)));
        same_value(name, Some(left), Some(right))
    }

    #[test]
    fn what_a_service_makes_of_a_value_is_the_same_value() {
        for (left, right) in [
            (json!(null), json!("")),
            (json!(5), json!("5")),
            (json!("Lyon"), json!(" Lyon ")),
            (json!({"a": null, "b": 1}), json!({"b": "1"})),
            (json!(["x "]), json!(["x"])),
            (serde_json::from_str("1.50").unwrap(), json!("1.5")),
        ] {
            assert!(same("city", &left, &right), "{left} {right}");
        }
        assert!(same_value("city", None, Some(&json!(""))));
    }

    #[test]
    fn other_values_are_not() {
        for (left, right) in [
            (json!("Lyon"), json!("LYON")),
            (json!("02138"), json!("2138")),
            (json!(false), json!(null)),
            (json!(0), json!(null)),
            (json!(["x"]), json!(["x", ""])),
            (
                serde_json::from_str("12345678901234567890").unwrap(),
                serde_json::from_str("12345678901234567891").unwrap(),
            ),
        ] {
            assert!(!same("city", &left, &right), "{left} {right}");
        }
    }

    #[test]
    fn a_default_flag_and_a_region_id_know_no_difference_between_no_and_nothing() {
        for name in ["default_billing", "default_shipping", "region_id"] {
            for (left, right) in [
                (json!(false), json!(null)),
                (json!(0), json!(null)),
                (json!("0"), json!(false)),
                (json!(true), json!(1)),
                (json!("1"), json!(true)),
            ] {
                assert!(same(name, &left, &right), "{name}: {left} {right}");
            }
            assert!(!same(name, &json!(true), &json!(false)));
        }
    }
}
