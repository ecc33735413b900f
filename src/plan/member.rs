//! Setting one member of a stored object.

use serde_json::{Map, Value};

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
