//! The subset of JSON Schema that the project's schemas use; any other keyword fails the test.

use serde_json::Value;

/// Keywords that do not restrict values.
const NOTES: [&str; 5] = ["$schema", "$defs", "title", "description", "examples"];

/// Whether `schema`, which refers to `root`, accepts the value.
pub fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(word, rule)| match word.as_str() {
        "type" => is_of_type(rule, value),
        "anyOf" => rule.as_array().unwrap().iter().any(|schema| accepts(root, schema, value)),
        "$ref" => accepts(root, root.pointer(&rule.as_str().unwrap()[1..]).unwrap(), value),
        "properties" => value.as_object().is_none_or(|object| {
            object
                .iter()
                .all(|(name, value)| rule.get(name).is_none_or(|schema| accepts(root, schema, value)))
        }),
        "additionalProperties" => {
            assert_eq!(rule, false);
            value
                .as_object()
                .is_none_or(|object| object.keys().all(|name| schema["properties"].get(name).is_some()))
        }
        "required" => value.as_object().is_none_or(|object| {
            rule.as_array().unwrap().iter().all(|name| object.contains_key(name.as_str().unwrap()))
        }),
        "items" => {
            value.as_array().is_none_or(|list| list.iter().all(|element| accepts(root, rule, element)))
        }
        "pattern" => {
            assert_eq!(rule, "^[A-Z]{2}$");
            let is_code = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
            value.as_str().is_none_or(is_code)
        }
        "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap()),
        other => NOTES.contains(&other) || panic!("unsupported keyword {other}"),
    })
}

fn is_of_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("unsupported type {other}"),
    };
    match rule {
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        name => is(name.as_str().unwrap()),
    }
}
