//! Whether a stored attribute is the one that was asked for.

use serde_json::{Map, Value};

/// Whether a stored attribute is the one that was asked for: code, input type, label, flags, and the options' labels in
/// their order. What `asked` leaves to the service is not compared, nor what services do not all show: labels per store
/// view and the default option.
pub fn is_same_attribute(asked: &Map<String, Value>, stored: &Map<String, Value>) -> bool {
    let same_text = |name: &str| match asked.get(name).and_then(text) {
        None => true,
        Some(text_asked) => stored.get(name).and_then(text) == Some(text_asked),
    };
    let same_flag = |(name, value): (&String, &Value)| match flag(Some(value)) {
        Some(asked) if name.starts_with("is_") => flag(stored.get(name)).unwrap_or(false) == asked,
        _ => true,
    };
    ["attribute_code", "frontend_input", "default_frontend_label"].into_iter().all(same_text)
        && asked.iter().all(same_flag)
        && (!asked.contains_key("options") || option_labels(asked) == option_labels(stored))
}

/// The attribute of a reply, which may stand in a wrapper.
pub fn in_reply(reply: Value) -> Option<Map<String, Value>> {
    let Value::Object(mut reply) = reply else { return None };
    match reply.get("attribute") {
        Some(Value::Object(_)) => {
            reply.shift_remove("attribute").and_then(|inner| inner.as_object().cloned())
        }
        _ => Some(reply),
    }
}

/// Labels of the options in the order in which they are shown. A blank one stands for "nothing chosen".
fn option_labels(attribute: &Map<String, Value>) -> Vec<String> {
    let options = attribute.get("options").and_then(Value::as_array).into_iter().flatten();
    let mut options: Vec<&Value> = options.collect();
    let order = |option: &Value| option["sort_order"].as_i64();
    if options.iter().all(|option| order(option).is_some()) {
        options.sort_by_key(|option| order(option));
    }
    options
        .into_iter()
        .filter_map(|option| text(&option["label"]))
        .filter(|label| !label.is_empty())
        .collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// `true`, `1` and `"1"` are one, and so are `false`, `0`, `"0"` and `""`.
fn flag(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => match text.trim() {
            "1" | "true" => Some(true),
            "0" | "false" | "" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::is_same_attribute;

    fn same(asked: &Value, stored: &Value) -> bool {
        is_same_attribute(asked.as_object().unwrap(), stored.as_object().unwrap())
    }

    #[test]
    fn spelling_does_not_count_and_content_does() {
        let asked = json!({"attribute_code": "fabric", "frontend_input": "select", "default_frontend_label": "Fabric",
            "is_searchable": "1", "is_required": false,
            "options": [{"label": "Silk", "sort_order": 2}, {"label": "Wool", "sort_order": 1}]});
        let stored = json!({"attribute_id": 145, "attribute_code": "fabric", "frontend_input": "select",
            "default_frontend_label": "Fabric", "is_searchable": true, "is_unique": "0",
            "options": [{"label": " ", "value": ""}, {"label": "Wool", "value": "1"}, {"label": "Silk", "value": "2"}]});
        assert!(same(&asked, &stored));
        for (name, value) in [
            ("frontend_input", json!("text")),
            ("default_frontend_label", json!("fabric")),
            ("is_searchable", json!("0")),
            ("is_required", json!(1)),
            ("options", json!([{"label": "Silk"}, {"label": "Wool"}])),
            ("options", json!([{"label": "Wool"}])),
        ] {
            let mut other = stored.clone();
            other[name] = value;
            assert!(!same(&asked, &other), "{name}");
        }
    }
}
