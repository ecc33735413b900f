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

/// Whether the field `name` has all that is `expected` of it: of an object the expected fields, of `custom_attributes` the
/// expected codes, of anything else the same value.
pub fn contains(name: &str, actual: Option<&Value>, expected: Option<&Value>) -> bool {
    let nothing = Map::new();
    match (actual.unwrap_or(&Value::Null), expected.unwrap_or(&Value::Null)) {
        (Value::Object(_) | Value::Null, Value::Object(expected)) => {
            let actual = actual.and_then(Value::as_object).unwrap_or(&nothing);
            expected.iter().all(|(name, value)| contains(name, actual.get(name), Some(value)))
        }
        (Value::Array(actual), Value::Array(expected)) if name == "custom_attributes" => {
            expected.iter().all(|attribute| has_attribute(actual, attribute))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            let same = |(actual, expected)| contains("", Some(actual), Some(expected));
            actual.len() == expected.len() && actual.iter().zip(expected).all(same)
        }
        (actual, expected) => same_value(name, Some(actual), Some(expected)),
    }
}

fn has_attribute(actual: &[Value], expected: &Value) -> bool {
    let code = expected.get("attribute_code");
    let is_it = |attribute: &&Value| attribute.get("attribute_code") == code;
    match actual.iter().find(is_it) {
        Some(attribute) => contains("", Some(attribute), Some(expected)),
        None => same_value("", None, Some(expected)),
    }
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

fn present<'a>(name: &str, value: Option<&'a Value>) -> Option<&'a Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::String(text) if text.trim().is_empty() => false,
        // A service shows no custom attribute that is empty.
        Value::Object(attribute) if attribute.contains_key("attribute_code") => {
            present("value", attribute.get("value")).is_some()
        }
        Value::Array(attributes) if name == "custom_attributes" => {
            attributes.iter().any(|attribute| present("", Some(attribute)).is_some())
        }
        Value::Bool(false) => !FLAG_LIKE.contains(&name),
        Value::String(text) if ["0", "false"].contains(&text.trim()) => !FLAG_LIKE.contains(&name),
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
        Value::String(text) if text.trim() == "true" && FLAG_LIKE.contains(&name) => Some("1".to_owned()),
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

    use super::{contains, is_same, same_value};

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
    fn what_is_expected_may_be_written_differently() {
        let has = |name: &str, actual: Value, expected: Value| contains(name, Some(&actual), Some(&expected));
        assert!(contains("fax", None, Some(&json!(""))) && contains("fax", Some(&Value::Null), None));
        assert!(has("postcode", json!("02138"), json!("02138 ")) && has("id", json!(7), json!("7")));
        assert!(has("default_billing", json!("1"), json!(true)) && has("region_id", Value::Null, json!(0)));
        assert!(!has("postcode", Value::Null, json!("0")) && !has("city", json!("a"), json!(["a"])));
        assert!(has("region", json!({"region": "A", "x": 1}), json!({"region": "A "})));
        assert!(!has("region", json!({"region": "A"}), json!({"region": "A", "region_id": 5})));
        let stored = json!([{"attribute_code": "b", "value": 1}, {"attribute_code": "a", "value": "2"}]);
        assert!(has("custom_attributes", stored.clone(), json!([{"attribute_code": "a", "value": "2"}])));
        assert!(has("custom_attributes", stored.clone(), json!([{"attribute_code": "c", "value": ""}])));
        assert!(!has("custom_attributes", stored, json!([{"attribute_code": "a", "value": "3"}])));
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
