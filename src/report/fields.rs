//! What a stored object holds, for a person.

use serde_json::{Map, Value};

use storefront_core::interface::label::label;
use storefront_core::text::sanitize::sanitize_line;

/// Null, an empty text, and what is not there.
pub const EMPTY: &str = "(empty)";

/// A value as a person reads it: text without quotes, street lines joined, yes and no; what says nothing is `(empty)`.
pub fn format_value(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => EMPTY.to_owned(),
        Some(Value::String(text)) if text.is_empty() => EMPTY.to_owned(),
        Some(Value::Array(elements)) if elements.is_empty() => EMPTY.to_owned(),
        Some(Value::Bool(yes)) => (if *yes { "yes" } else { "no" }).to_owned(),
        Some(Value::String(text)) => sanitize_line(text),
        Some(Value::Array(lines)) if lines.iter().all(Value::is_string) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            sanitize_line(&lines.join(" / "))
        }
        // What is beside the value of a custom attribute is its code.
        Some(Value::Object(coded)) if coded.len() == 2 && coded.contains_key("attribute_code") => {
            format_value(coded.get("value"))
        }
        Some(other) => sanitize_line(&other.to_string()),
    }
}

/// The value of that name; empty where it says nothing.
pub fn member(object: &Map<String, Value>, name: &str) -> String {
    let value = object.get(name).filter(|value| !value.is_null() && **value != "");
    value.map(|value| format_value(Some(value))).unwrap_or_default()
}

/// The region of an address in one line: `New York, NY, id 43`. Each part is read where it is: in `region`, or beside it.
pub fn region(address: &Map<String, Value>) -> Option<String> {
    let part = |name: &str| match address.get("region") {
        Some(Value::Object(region)) if region.contains_key(name) => region.get(name),
        _ => address.get(name),
    };
    let texts = ["region", "region_code"].into_iter().filter_map(|name| part(name)?.as_str());
    let mut parts: Vec<String> = texts.filter(|text| !text.is_empty()).map(sanitize_line).collect();
    parts.dedup();
    let id = part("region_id").filter(|id| !id.is_null() && **id != 0 && **id != "0");
    parts.extend(id.map(|id| format!("id {}", format_value(Some(id)))));
    Some(parts.join(", ")).filter(|text| !text.is_empty())
}

/// Every field with a value but those left out, in stored order, by its label. A nested object is taken apart
/// (`window.from`); custom and extension attributes go by their own names.
pub fn fields(object: &Map<String, Value>, left_out: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (name, value) in object.iter().filter(|(name, _)| !left_out.split(' ').any(|one| one == *name)) {
        collect(if value.is_object() { name } else { label(name) }, value, &mut fields);
    }
    fields
}

fn collect(name: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(inner) if name == "extension_attributes" => {
            inner.iter().for_each(|(member, value)| collect(label(member), value, fields));
        }
        Value::Object(inner) => {
            inner.iter().for_each(|(member, value)| collect(&format!("{name}.{member}"), value, fields));
        }
        Value::Array(elements) => {
            let coded =
                elements.iter().map(|one| Some((one.get("attribute_code")?.as_str()?, one.get("value")?)));
            match coded.collect::<Option<Vec<_>>>() {
                Some(coded) => coded.into_iter().for_each(|(code, value)| collect(code, value, fields)),
                None => fields.push((sanitize_line(name), format_value(Some(value)))),
            }
        }
        other => fields.push((sanitize_line(name), format_value(Some(other)))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fields;

    #[test]
    fn every_field_with_a_value_is_there() {
        let address = json!({"id": 1, "company": "A\u{1b}B", "fax": "", "prefix": null, "flag": false, "lines": ["a", "b"],
            "none": [], "extension_attributes": {"x": {"y": 1.50}}, "custom_attributes": [{"attribute_code": "door", "value": "7"}]});
        let fields = fields(address.as_object().unwrap(), "id");
        let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields, ["Company=A\\u{1b}B", "flag=no", "lines=a / b", "x.y=1.5", "door=7"]);
    }
}
