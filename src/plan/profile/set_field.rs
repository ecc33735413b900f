//! Merging what a draft names into what is stored: objects field by field at every depth, lists as a whole.
//!
//! `null` is a value and deletes nothing. Two lists have keys, and are merged by them: `custom_attributes` by
//! `attribute_code`, `addresses` by `id`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::equivalence::{is_same, is_same_number};
use crate::failure::Failure;
use crate::plan::profile::address_ids::{AddressIndex, id_of};

const ATTRIBUTES: &str = "custom_attributes";
const ADDRESSES: &str = "addresses";

/// Merges a field that a draft names into an object. A value that is the same but for the text of a number stays as it
/// is stored.
pub fn set_field(object: &mut Map<String, Value>, name: &str, value: &Value) {
    match object.get_mut(name) {
        Some(stored) => merge_value(stored, name, value),
        None => drop(object.insert(name.to_owned(), value.clone())),
    }
}

fn merge_value(stored: &mut Value, name: &str, draft: &Value) {
    match (&mut *stored, draft) {
        (Value::Object(stored), Value::Object(draft)) => {
            draft.iter().for_each(|(name, value)| set_field(stored, name, value));
        }
        (Value::Array(stored), Value::Array(draft)) if name == ATTRIBUTES && all_have_codes(draft) => {
            for attribute in draft {
                merge_attribute(stored, attribute);
            }
        }
        (Value::Array(stored), Value::Array(draft)) if name == ADDRESSES && have_ids(stored, draft) => {
            for address in draft {
                merge_address(stored, address);
            }
        }
        (stored, draft) if is_same(stored, draft) => {}
        (stored, draft) => *stored = with_stored_numbers(stored, draft),
    }
}

/// The draft's value, its numbers with their stored text where they did not change.
fn with_stored_numbers(stored: &Value, draft: &Value) -> Value {
    match (stored, draft) {
        (Value::Number(stored), Value::Number(draft)) if is_same_number(stored, draft) => {
            Value::Number(stored.clone())
        }
        (Value::Object(stored), Value::Object(draft)) => {
            let field = |(name, value): (&String, &Value)| {
                (name.clone(), with_stored_numbers(stored.get(name).unwrap_or(&Value::Null), value))
            };
            draft.iter().map(field).collect()
        }
        (Value::Array(stored), Value::Array(draft)) => {
            let element = |(index, value): (usize, &Value)| {
                let unchanged = stored.get(index).filter(|stored| is_same(stored, value));
                // An element may have moved, because one before it was inserted or removed.
                match unchanged.or_else(|| stored.iter().find(|stored| is_same(stored, value))) {
                    Some(unchanged) => unchanged.clone(),
                    None => with_stored_numbers(stored.get(index).unwrap_or(&Value::Null), value),
                }
            };
            draft.iter().enumerate().map(element).collect()
        }
        _ => draft.clone(),
    }
}

fn merge_attribute(stored: &mut Vec<Value>, draft: &Value) {
    let code = draft.get("attribute_code");
    match stored.iter_mut().find(|attribute| attribute.get("attribute_code") == code) {
        Some(attribute) => merge_value(attribute, "", draft),
        None => stored.push(draft.clone()),
    }
}

fn merge_address(stored: &mut Vec<Value>, draft: &Value) {
    let id = draft.get("id").and_then(id_of);
    let same = |address: &&mut Value| id.is_some() && address.get("id").and_then(id_of) == id;
    match stored.iter_mut().find(same) {
        Some(address) => merge_value(address, "", draft),
        None => stored.push(draft.clone()),
    }
}

fn all_have_codes(attributes: &[Value]) -> bool {
    attributes.iter().all(|attribute| attribute.get("attribute_code").is_some_and(Value::is_string))
}

fn have_ids(stored: &[Value], draft: &[Value]) -> bool {
    let identified = stored.iter().filter(|address| address.get("id").is_some());
    AddressIndex::of(identified).is_ok() && stored.iter().chain(draft).all(Value::is_object)
}

/// Refuses custom attributes that could not be merged by their code: one without, or two of one code. They are looked
/// for at every depth, but not inside the address list: each address is looked at by itself.
///
/// # Errors
/// `usage`, naming the code.
pub fn check_attribute_codes(draft: &Map<String, Value>, label: &str) -> Result<(), Failure> {
    for (name, value) in draft.iter().filter(|(name, _)| *name != ADDRESSES) {
        match value {
            Value::Array(attributes) if name == ATTRIBUTES => codes_are_unique(attributes, label)?,
            Value::Object(inside) => check_attribute_codes(inside, &format!("{label}{name}."))?,
            _ => {}
        }
    }
    Ok(())
}

fn codes_are_unique(attributes: &[Value], label: &str) -> Result<(), Failure> {
    let mut codes = HashSet::new();
    for attribute in attributes {
        let (problem, hint) = match attribute.get("attribute_code").and_then(Value::as_str) {
            None => {
                ("an element has no `attribute_code`".to_owned(), "add an `attribute_code` to each element")
            }
            Some(code) if !codes.insert(code) => {
                (format!("duplicate attribute_code `{code}`"), "list each attribute once")
            }
            Some(_) => continue,
        };
        return Err(Failure::usage(format!("{label}custom_attributes: {problem}")).hint(hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::plan::profile::set_field::{check_attribute_codes, set_field};

    fn merged(stored: &str, draft: &str) -> String {
        let (mut stored, draft): (Value, Value) =
            (serde_json::from_str(stored).unwrap(), serde_json::from_str(draft).unwrap());
        for (name, value) in draft.as_object().unwrap() {
            set_field(stored.as_object_mut().unwrap(), name, value);
        }
        stored.to_string()
    }

    #[test]
    fn objects_merge_at_every_depth_and_null_is_a_value() {
        assert_eq!(
            merged(
                r#"{"x":{"points":12345678901234567890,"a":{"b":1,"c":2}},"y":1}"#,
                r#"{"x":{"a":{"c":null,"d":3}}}"#
            ),
            r#"{"x":{"points":12345678901234567890,"a":{"b":1,"c":null,"d":3}},"y":1}"#
        );
    }

    #[test]
    fn other_lists_are_replaced_whole_but_for_numbers_that_did_not_change() {
        let stored = r#"{"cards":[{"id":100.0,"n":12345678901234567890},{"id":2}],"n":1.50}"#;
        assert_eq!(
            merged(stored, r#"{"cards":[{"id":100,"n":12345678901234567000,"x":1}],"n":1.5}"#),
            r#"{"cards":[{"id":100.0,"n":12345678901234567890,"x":1}],"n":1.50}"#
        );
        assert_eq!(merged(stored, r#"{"cards":[{"id":2.0}]}"#), r#"{"cards":[{"id":2}],"n":1.50}"#);
    }

    #[test]
    fn keyed_lists_merge_by_their_keys_at_any_depth() {
        assert_eq!(
            merged(
                r#"{"x":{"custom_attributes":[{"attribute_code":"a","value":"1","z":0},{"attribute_code":"b"}]}}"#,
                r#"{"x":{"custom_attributes":[{"attribute_code":"a","value":"2"},{"attribute_code":"c"}]}}"#
            ),
            r#"{"x":{"custom_attributes":[{"attribute_code":"a","value":"2","z":0},{"attribute_code":"b"},{"attribute_code":"c"}]}}"#
        );
        assert_eq!(
            merged(
                r#"{"x":{"addresses":[{"id":1,"a":1},{"id":2}]}}"#,
                r#"{"x":{"addresses":[{"id":1,"b":1}]}}"#
            ),
            r#"{"x":{"addresses":[{"id":1,"a":1,"b":1},{"id":2}]}}"#
        );
    }

    #[test]
    fn codes_are_looked_at_in_every_depth() {
        let twice = json!({"x": {"custom_attributes": [{"attribute_code": "a"}, {"attribute_code": "a"}]}});
        let refusal = check_attribute_codes(twice.as_object().unwrap(), "").unwrap_err();
        assert_eq!(refusal.message, "x.custom_attributes: duplicate attribute_code `a`");
    }
}
