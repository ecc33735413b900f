//! The fields of a stored object that a table has no column for, as names and values for a person.

use serde_json::{Map, Value};

use crate::report::changes::format_value;
use crate::sanitize::sanitize_line;

/// Every field with a value but those left out, in stored order. A nested object is taken apart (`window.from`); custom
/// and extension attributes go by their own names.
pub fn rest(object: &Map<String, Value>, left_out: &[&str]) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (name, value) in object.iter().filter(|(name, _)| !left_out.contains(&name.as_str())) {
        collect(name, value, &mut fields);
    }
    fields
}

fn collect(name: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(inner) if name == "extension_attributes" => {
            inner.iter().for_each(|(member, value)| collect(member, value, fields));
        }
        Value::Object(inner) => {
            inner.iter().for_each(|(member, value)| collect(&format!("{name}.{member}"), value, fields));
        }
        Value::Array(elements) => {
            let coded = |element: &Value| Some((code(element)?, element.get("value")?.clone()));
            match elements.iter().map(coded).collect::<Option<Vec<_>>>() {
                Some(coded) => coded.iter().for_each(|(code, value)| collect(code, value, fields)),
                None => fields.push((sanitize_line(name), format_value(Some(value)))),
            }
        }
        other => fields.push((sanitize_line(name), format_value(Some(other)))),
    }
}

fn code(attribute: &Value) -> Option<String> {
    attribute.get("attribute_code")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rest;

    #[test]
    fn every_field_with_a_value_is_there() {
        let address = json!({"id": 1, "company": "A\u{1b}B", "fax": "", "prefix": null, "flag": false, "lines": ["a", "b"],
            "none": [], "extension_attributes": {"x": {"y": 1.50}}, "custom_attributes": [{"attribute_code": "door", "value": "7"}]});
        let fields = rest(address.as_object().unwrap(), &["id"]);
        let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields, ["company=A\\u{1b}B", "flag=false", "lines=a / b", "x.y=1.5", "door=7"]);
    }
}
