//! Setting one member of a stored object.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::failure::Failure;

/// Sets a member to the value a draft names; custom attributes merge by their code, everything else is replaced.
pub fn set_member(object: &mut Map<String, Value>, name: &str, value: &Value) {
    match (object.get_mut(name), value) {
        (Some(Value::Array(stored)), Value::Array(named)) if name == "custom_attributes" => {
            for attribute in named {
                set_attribute(stored, attribute);
            }
        }
        _ => {
            object.insert(name.to_owned(), value.clone());
        }
    }
}

/// Refuses custom attributes that could not be merged by their code: one without, or two of one code.
///
/// # Errors
/// `usage`, naming the code.
pub fn attributes_have_codes(draft: &Map<String, Value>, label: &str) -> Result<(), Failure> {
    let mut codes = HashSet::new();
    for attribute in draft.get("custom_attributes").and_then(Value::as_array).into_iter().flatten() {
        let problem = match attribute.get("attribute_code").and_then(Value::as_str) {
            None => "one has no attribute_code".to_owned(),
            Some(code) if !codes.insert(code) => format!("the attribute_code {code} is named twice"),
            Some(_) => continue,
        };
        return Err(Failure::usage(format!("{label}custom_attributes: {problem}; nothing was sent"))
            .hint("name each attribute once, by its attribute_code"));
    }
    Ok(())
}

fn set_attribute(stored: &mut Vec<Value>, named: &Value) {
    let code = named.get("attribute_code");
    let same = |attribute: &&mut Value| code.is_some() && attribute.get("attribute_code") == code;
    match (stored.iter_mut().find(same), named) {
        (Some(Value::Object(attribute)), Value::Object(named)) => {
            attribute.extend(named.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        _ => stored.push(named.clone()),
    }
}
