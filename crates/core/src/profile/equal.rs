//! When two values mean the same.

use std::borrow::Cow;

use serde_json::Value;

/// Flags that services write as a boolean, a number, a text, or not at all; 0 is also "no region".
const FLAG_LIKE: [&str; 3] = ["default_billing", "default_shipping", "region_id"];

/// Whether two values are the same but for the texts of their numbers and the order of their fields.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            // jq 1.6 rounds every number that it passes on to a double; rounding it twice gives the same bits.
            let doubles = || Some((left.as_f64()?, right.as_f64()?));
            left == right || doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
        }
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
    agrees(name, actual, expected, false)
}

/// [`same_value`] of two flags.
pub fn same_flag(left: Option<&Value>, right: Option<&Value>) -> bool {
    same_value(FLAG_LIKE[0], left, right)
}

/// Whether two values of the field `name` are the same. Equal are absent, null and `""`; a number and its text; texts
/// after trimming; for default flags and `region_id` also `false`, 0 and absent, `true` and 1. Objects and lists are
/// compared field by field and element by element.
pub fn same_value(name: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    agrees(name, left, right, true)
}

/// Whether a draft's value changes nothing of the stored one: they are the same, and no texts differ by their outer blanks,
/// which a person may want to correct.
pub fn is_unchanged(name: &str, stored: &Value, draft: &Value) -> bool {
    is_same(stored, draft)
        || same_value(name, Some(stored), Some(draft)) && !differs_in_blanks(Some(stored), Some(draft))
}

/// Whether somewhere in two values that are the same a text has other outer blanks.
fn differs_in_blanks(left: Option<&Value>, right: Option<&Value>) -> bool {
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    };
    match (left, right) {
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            left.iter().zip(right).any(|(left, right)| differs_in_blanks(Some(left), Some(right)))
        }
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut names = left.keys().chain(right.keys());
            names.any(|name| differs_in_blanks(left.get(name), right.get(name)))
        }
        _ => text(left)
            .zip(text(right))
            .is_some_and(|(left, right)| left != right && left.trim() == right.trim()),
    }
}

/// [`same_value`] where `is_whole`, else [`contains`].
fn agrees(name: &str, actual: Option<&Value>, expected: Option<&Value>, is_whole: bool) -> bool {
    if let (Some(Value::Array(actual)), Some(Value::Array(expected)), "custom_attributes", false) =
        (actual, expected, name, is_whole)
    {
        return expected.iter().all(|expected| {
            let is_it = |own: &&Value| own.get("attribute_code") == expected.get("attribute_code");
            agrees("", actual.iter().find(is_it), Some(expected), false)
        });
    }
    match (present(name, actual), present(name, expected)) {
        (None, None) => true,
        (None, Some(Value::Object(expected))) if !is_whole => {
            expected.iter().all(|(name, value)| agrees(name, None, Some(value), false))
        }
        (Some(Value::Object(actual)), Some(Value::Object(expected))) => {
            let mut others = actual.iter().filter(|(name, _)| is_whole && !expected.contains_key(*name));
            expected.iter().all(|(name, value)| agrees(name, actual.get(name), Some(value), is_whole))
                && others.all(|(name, value)| agrees(name, Some(value), None, true))
        }
        (Some(Value::Array(actual)), Some(Value::Array(expected))) => {
            let mut pairs = actual.iter().zip(expected);
            actual.len() == expected.len()
                && pairs.all(|(actual, expected)| agrees("", Some(actual), Some(expected), is_whole))
        }
        (Some(actual), Some(expected)) => actual == expected || same_scalar(name, actual, expected),
        _ => false,
    }
}

/// The value, unless it stands for nothing.
fn present<'a>(name: &str, value: Option<&'a Value>) -> Option<&'a Value> {
    value.filter(|value| match value {
        Value::Null => false,
        // A service shows no custom attribute that is empty.
        Value::Object(attribute) if attribute.contains_key("attribute_code") => {
            present("value", attribute.get("value")).is_some()
        }
        Value::Array(attributes) if name == "custom_attributes" => {
            attributes.iter().any(|attribute| present("", Some(attribute)).is_some())
        }
        _ => scalar_text(name, value).is_none_or(|text| !text.is_empty()),
    })
}

fn same_scalar(name: &str, left: &Value, right: &Value) -> bool {
    match (scalar_text(name, left), scalar_text(name, right)) {
        (Some(left_text), Some(right_text)) => {
            let is_number = left.is_number() || right.is_number();
            left_text == right_text || is_number && same_number(&left_text, &right_text)
        }
        _ => false,
    }
}

/// The text of a scalar; of a flag `1` or nothing.
fn scalar_text<'a>(name: &str, value: &'a Value) -> Option<Cow<'a, str>> {
    let text = match value {
        Value::String(text) => Cow::from(text.trim()),
        Value::Number(number) => Cow::from(number.to_string()),
        Value::Bool(flag) if FLAG_LIKE.contains(&name) => Cow::from(flag.to_string()),
        _ => return None,
    };
    Some(match &*text {
        _ if !FLAG_LIKE.contains(&name) => text,
        "true" => "1".into(),
        "false" => "".into(),
        number if number.parse().ok() == Some(0.0) => "".into(),
        _ => text,
    })
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

    use crate::profile::equal::{contains, is_same, same_value};

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
