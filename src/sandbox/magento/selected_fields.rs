//! The query parameter `fields`: only what is named is answered, as in `items[id,email],total_count`.

use serde_json::Value;

use crate::sandbox::store::Document;

/// The parts of `value` that `fields` names. What cannot be read names nothing.
pub fn select(value: &Value, fields: &str) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(|element| select(element, fields)).collect(),
        Value::Object(object) => {
            let mut selected = Document::new();
            for (name, inner) in names(fields) {
                if let Some(value) = object.get(name) {
                    let value = inner.map_or_else(|| value.clone(), |inner| select(value, inner));
                    selected.insert(name.to_owned(), value);
                }
            }
            Value::Object(selected)
        }
        other => other.clone(),
    }
}

/// Each name with what stands in brackets behind it.
fn names<'fields>(fields: &'fields str) -> Vec<(&'fields str, Option<&'fields str>)> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, letter) in fields.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&fields[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&fields[start..]);
    let split = |part: &'fields str| match part.trim().split_once('[') {
        Some((name, inner)) => (name, Some(inner.strip_suffix(']').unwrap_or(inner))),
        None => (part.trim(), None),
    };
    found.into_iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_named_is_answered() {
        let value =
            json!({"items": [{"id": 1, "email": "a", "x": {"y": 1, "z": 2}}], "total_count": 1, "more": 2});
        assert_eq!(
            select(&value, "items[id,x[y]],total_count"),
            json!({"items": [{"id": 1, "x": {"y": 1}}], "total_count": 1})
        );
        assert_eq!(select(&json!([{"a": 1, "b": 2}]), "b"), json!([{"b": 2}]));
    }
}
