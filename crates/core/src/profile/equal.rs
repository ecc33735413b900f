//! When two values of a profile, a cart, an order or a product are the same; each relation says when it is used.
//! Labels, SKUs and emails have relations of their own.
//!
//! *Same* ([`same_value`], and [`contains`] for what was sent in part) decides what is unchanged, shown and proven. The exact
//! text decides only whether a change that was asked for is sent ([`is_unchanged`]), and whether a plan is the one that was
//! approved ([`is_printed_as`]).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::address::DEFAULTS;
use crate::text::fold::folded;

/// The fields that say where an address is.
pub const PLACE: [&str; 3] = ["street", "city", "postcode"];

/// Flags that services write as a boolean, a number, a text, or not at all; 0 is also "no region".
const FLAG_LIKE: [&str; 3] = ["default_billing", "default_shipping", "region_id"];

/// The name of the value in a custom attribute.
const ATTRIBUTE_VALUE: &str = "value";

/// Whether two values are the same except for the texts of their numbers and the order of their fields. For a draft
/// that was read and went through a program that writes JSON again: its unknown values may stay.
pub fn is_identical(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            // jq 1.6 rounds every number that it passes on to a double; rounding it twice gives the same bits.
            let doubles = || Some((left.as_f64()?, right.as_f64()?));
            left == right || doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_identical(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_in_right = |(name, value): (&String, &Value)| {
                right.get(name).is_some_and(|other| is_identical(value, other))
            };
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        _ => left == right,
    }
}

/// Whether the field `name` has all that is `expected` of it: the expected fields of an object, the expected codes of
/// `custom_attributes`, else the same value. For what was sent without an id, which the service completes.
pub fn contains(name: &str, actual: Option<&Value>, expected: Option<&Value>) -> bool {
    agrees(name, actual, expected, false)
}

/// [`same_value`] of two flags, whatever they are called.
pub fn same_flag(left: Option<&Value>, right: Option<&Value>) -> bool {
    same_value(FLAG_LIKE[0], left, right)
}

/// Whether two values of the field `name` are the same, wherever two profiles are compared: before and after, sent and shown.
/// Equal are absent, null and `""`; a number and its text; texts after trimming; for default flags and `region_id` also
/// `false`, 0 and absent, `true` and 1; for the value of a custom attribute a date and its midnight, a number and its
/// decimals, as Magento writes them. Objects and lists are compared field by field and element by element.
pub fn same_value(name: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    agrees(name, left, right, true)
}

/// Whether two values are the same except for letter case, which services rewrite. For a sent value when a read shows
/// the value from before an older update: a rewritten value is new, any other is old.
pub fn same_but_for_case(name: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    let lower_case = |value: Option<&Value>| value.map(|value| with_texts(value, str::to_lowercase));
    same_value(name, lower_case(left).as_ref(), lower_case(right).as_ref())
}

/// Whether a service may have made `actual` of what was `sent`: letter case, accents, blanks and signs do not count, as in `PARIS`
/// for `Paris` and `+4930123` for `+49 (30) 123`; the point and the minus of a number do. For a value that a read shows some time after the
/// call: any other may be somebody else's. Nothing is made of nothing.
pub fn is_made_of(name: &str, actual: Option<&Value>, sent: Option<&Value>) -> bool {
    let without_signs = |value: Option<&Value>| value.map(|value| with_texts(value, without_signs));
    let (Some(actual), Some(sent)) = (without_signs(actual), without_signs(sent)) else { return false };
    !same_value(name, Some(&sent), None) && same_value(name, Some(&actual), Some(&sent))
}

fn without_signs(text: &str) -> String {
    let is_number = text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    if is_number { text.trim().trim_start_matches('+').to_owned() } else { folded(text) }
}

/// A value with each text in it as `text` writes it, at every depth.
fn with_texts(value: &Value, text: fn(&str) -> String) -> Value {
    match value {
        Value::String(own) => text(own).into(),
        Value::Array(elements) => elements.iter().map(|element| with_texts(element, text)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), with_texts(value, text))).collect()
        }
        other => other.clone(),
    }
}

/// Whether a draft's value changes nothing, so that the stored one is sent: they are the same, and no texts differ in
/// their outer blanks, which a person may want to correct.
pub fn is_unchanged(name: &str, stored: &Value, draft: &Value) -> bool {
    is_identical(stored, draft)
        || same_value(name, Some(stored), Some(draft)) && !differs_in_blanks(Some(stored), Some(draft))
}

/// Whether two values that are the same have texts that differ in their outer blanks.
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
            left_text == right_text
                || is_number && same_number(&left_text, &right_text)
                || name == ATTRIBUTE_VALUE
                    && (is_notation(&left_text, &right_text) || is_notation(&right_text, &left_text))
        }
        _ => false,
    }
}

/// The text of a scalar; for a flag `1` or nothing.
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

/// Whether two spellings name one number. Numbers with more digits than a double holds exactly must have the same
/// digits.
fn same_number(left: &str, right: &str) -> bool {
    const EXACT_DIGITS: usize = 15;
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let exact = digits(left) <= EXACT_DIGITS && digits(right) <= EXACT_DIGITS;
    let doubles = || Some((left.parse::<f64>().ok()?, right.parse::<f64>().ok()?));
    // The comparison must be exact.
    exact && doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
}

/// Whether a Magento shop writes the given value of a custom attribute so: a date with a midnight, a number with four
/// decimals. Nothing else is the same: `1.50` in an attribute that is a text is not `1.5`.
fn is_notation(stored: &str, given: &str) -> bool {
    let is_plain = |text: &str, other: u8| text.bytes().all(|byte| byte.is_ascii_digit() || byte == other);
    if let Some(date) = stored.strip_suffix(" 00:00:00") {
        return date == given && date.len() == "2020-02-29".len() && is_plain(date, b'-');
    }
    let digits = |text: &str| text.strip_prefix('-').unwrap_or(text).to_owned();
    let stored_digits = digits(stored);
    let given_digits = digits(given);
    let has_four_decimals = stored_digits.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 4);
    has_four_decimals
        && [&stored_digits, &given_digits].iter().all(|text| is_plain(text, b'.') && !text.starts_with('.'))
        && given_digits.matches('.').count() <= 1
        && !given.is_empty()
        && without_decimal_zeros(stored) == without_decimal_zeros(given)
}

fn without_decimal_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Whether a region, as [`as_object`](super::region::as_object) gives it, is the one that was `sent` by its id, completed with texts by the
/// service.
pub fn is_completed(region: Option<&Value>, sent: Option<&Value>) -> bool {
    let Some(Value::Object(sent)) = sent else { return false };
    let named: Map<String, Value> = sent
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    !same_value("region_id", sent.get("region_id"), None)
        && contains("region", region, Some(&Value::Object(named)))
}

/// The labels of an option in store views: a read shows those of one store view only.
pub const STORE_LABELS: &str = "store_labels";

/// Whether an address has all the content of another one: everything except ids and the default flags, which move. For
/// an address that was added, came back, or has a new id. For an option, the labels of store views are left out: a read
/// shows those of one store view only.
pub fn is_content(actual: &Value, expected: Option<&Value>) -> bool {
    let Some(expected) = expected.and_then(Value::as_object) else { return false };
    let is_content =
        |name: &str| !["id", "customer_id", STORE_LABELS].contains(&name) && !DEFAULTS.contains(&name);
    let mut fields = expected.iter().filter(|(name, _)| is_content(name));
    fields.all(|(name, value)| {
        let there = actual.get(name);
        let sent = Some(value);
        contains(name, there, sent) || name == "region" && is_completed(there, sent)
    })
}

/// Whether an address that was added is still as it was sent: all of its content, the default flags, and nothing added
/// since. What the service itself fills in does not count: ids, and the texts of a region that was sent. For an address
/// that an undo removes.
pub fn is_untouched(actual: &Value, added: &Value) -> bool {
    const OF_SERVICE: [&str; 5] = ["id", "customer_id", "region", "region_id", "extension_attributes"];
    let has_region = |address: &Value| {
        let inside = address.get("region").and_then(Value::as_object);
        let is_empty = |(name, value): (&String, &Value)| same_value(name, Some(value), None);
        let text = address.get("region").filter(|region| !region.is_object());
        !same_value("region_id", address.get("region_id"), None)
            || !same_value("region", text, None)
            || !inside.is_none_or(|inside| inside.iter().all(is_empty))
    };
    let is_as_sent = |(name, value): (&String, &Value)| {
        let sent = added.get(name);
        if DEFAULTS.contains(&name.as_str()) {
            return same_value(name, Some(value), sent);
        }
        OF_SERVICE.contains(&name.as_str()) || contains(name, sent, Some(value))
    };
    is_content(actual, Some(added))
        && actual.as_object().is_some_and(|actual| actual.iter().all(is_as_sent))
        && (has_region(added) || !has_region(actual))
}

/// Whether a stored address has every value that a draft names, so that the draft would add it a second time. The
/// region id stands in two places.
pub fn has_all(address: &Value, draft: &Map<String, Value>) -> bool {
    draft.iter().all(|(name, value)| {
        let in_region = if name == "region_id" { address.pointer("/region/region_id") } else { None };
        contains(name, address.get(name).or(in_region), Some(value))
    })
}

/// Whether an address that appeared has the street, city or postcode of one that was sent. For an added address that
/// the service rewrote.
pub fn shares_place(actual: &Value, sent: Option<&Value>) -> bool {
    PLACE.iter().any(|name| {
        let expected = sent.and_then(|sent| sent.get(name));
        !same_value(name, expected, None) && same_value(name, actual.get(name), expected)
    })
}

/// Whether street, city and postcode all differ from an earlier state of the address. For an address that was to stay
/// where it is.
pub fn is_elsewhere(actual: &Value, earlier: &Value) -> bool {
    PLACE.iter().all(|name| !same_value(name, actual.get(name), earlier.get(name)))
}

/// Where an address is, in one notation: equal for all that [`same_value`] takes for the same, and perhaps for others.
/// For looking addresses up.
pub fn place(address: &Value) -> String {
    let mut place = String::new();
    for name in PLACE {
        add_to_place(&mut place, address.get(name));
        place.push('\n');
    }
    place
}

fn add_to_place(place: &mut String, value: Option<&Value>) {
    let text = match value {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Array(lines)) => {
            return lines.iter().for_each(|line| {
                add_to_place(place, Some(line));
                place.push('\t');
            });
        }
        _ => return,
    };
    match text.parse::<f64>() {
        Ok(number) => place.push_str(&number.to_string()),
        Err(_) => place.push_str(&text),
    }
}

/// Whether results print two values alike, to the letter. For a plan, which a person has approved as it was printed.
pub fn is_printed_as(one: Option<&Value>, other: Option<&Value>) -> bool {
    one.unwrap_or(&Value::Null) == other.unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::profile::equal::{contains, is_identical, same_value};

    fn number(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_the_same_as_doubles() {
        let stored = number("[12345678901234567890]");
        let rounded = number("[12345678901234567000]");
        assert!(is_identical(&stored, &rounded));
        assert!(is_identical(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(
            !is_identical(&json!({"a": 1}), &json!({"a": 1, "b": 2}))
                && !is_identical(&json!("1"), &json!(1))
        );
        // Both are infinite as doubles, and two numbers nevertheless.
        assert!(!is_identical(&number("1e400"), &number("1e401")));
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
    fn a_date_and_a_number_in_a_custom_attribute_are_the_same_as_the_shop_writes_them() {
        let attribute = |value: &str| json!({"attribute_code": "a", "value": value});
        for (stored, given, is_same) in [
            ("2020-02-29 00:00:00", "2020-02-29", true),
            ("2020-02-29 00:00:00", " 2020-02-29", true),
            ("1500.5000", "1500.5", true),
            ("1500.5000", "1500.50", true),
            ("-3.0000", "-3", true),
            ("0.0000", "0", true),
            ("2020-02-29 00:00:01", "2020-02-29", false),
            ("anything 00:00:00", "anything", false),
            ("1.50", "1.5", false),
            ("10.0000", "1", false),
            ("1500.5000", "01500.5", false),
            ("1.2.3000", "1.2.3", false),
            ("a.bcd0", "a.bcd", false),
        ] {
            let (one, other) = (attribute(stored), attribute(given));
            assert_eq!(same("value", &json!(stored), &json!(given)), is_same, "{stored} {given}");
            assert_eq!(same("", &one, &other), is_same, "{stored} {given}");
            assert_eq!(same("custom_attributes", &json!([one]), &json!([other])), is_same, "{stored}");
            assert!(!same("city", &json!(stored), &json!(given)), "only of a custom attribute: {stored}");
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
