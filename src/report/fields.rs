//! What a stored object holds, for a person.

use serde_json::{Map, Value};

use storefront_core::interface::label::label;
use storefront_core::text::sanitize::sanitize_line;

/// The text for null, an empty text and a missing value.
pub const EMPTY: &str = "(empty)";

/// A value as a person reads it, never as JSON: text without quotes, street lines and labels of options joined, yes and no; what
/// says nothing is `(empty)`.
pub fn format_value(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => EMPTY.to_owned(),
        Some(Value::String(text)) if text.is_empty() => EMPTY.to_owned(),
        Some(Value::Array(elements)) if elements.is_empty() => EMPTY.to_owned(),
        Some(Value::Bool(yes)) => (if *yes { "yes" } else { "no" }).to_owned(),
        Some(Value::String(text)) => sanitize_line(text),
        Some(Value::Array(elements)) => {
            let elements =
                elements.iter().map(|one| labelled(one).unwrap_or_else(|| format_value(Some(one))));
            elements.collect::<Vec<_>>().join(" / ")
        }
        // What is beside the value of a custom attribute is its code.
        Some(Value::Object(coded)) if coded.len() == 2 && coded.contains_key("attribute_code") => {
            format_value(coded.get("value"))
        }
        Some(Value::Object(members)) if members.is_empty() => EMPTY.to_owned(),
        Some(Value::Object(members)) => {
            let members = members
                .iter()
                .map(|(name, value)| format!("{}: {}", sanitize_line(name), format_value(Some(value))));
            members.collect::<Vec<_>>().join(", ")
        }
        Some(other) => sanitize_line(&other.to_string()),
    }
}

/// A label with its store view, or an option with its labels in store views; a `*` marks the default.
fn labelled(value: &Value) -> Option<String> {
    let text = sanitize_line(value.get("label")?.as_str()?);
    let view = value.get("store_id").map(|view| format!("{}: ", format_value(Some(view))));
    let mark = if value.get("is_default").is_some_and(|it| *it == true) { "*" } else { "" };
    let others = value.get("store_labels").and_then(Value::as_array).into_iter().flatten();
    let others: Vec<String> = others.filter_map(labelled).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    Some(format!("{}{mark}{text}{others}", view.unwrap_or_default()))
}

/// The value of that name; an empty text if it is null, empty or missing.
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
