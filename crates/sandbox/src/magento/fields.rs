//! `fields` of a query, such as `items[attribute_code,options],total_count`: the parts of an answer that are sent.

use serde_json::{Map, Value};

/// The names at one level, each with those inside it; an empty list means the whole value.
#[derive(Debug, Default, PartialEq, Eq)]
struct Names(Vec<(String, Names)>);

/// The part of an answer that the query asks for: all of it if it names no fields, or cannot be parsed.
pub fn chosen(query: &[(String, String)], answer: Value) -> Value {
    let named = query.iter().find(|(name, _)| name == "fields").and_then(|(_, text)| parse(text));
    match named {
        Some(names) => names.of(answer),
        None => answer,
    }
}

fn parse(text: &str) -> Option<Names> {
    let is_permitted = |sign: char| sign.is_ascii_alphanumeric() || "_[],".contains(sign);
    let mut levels = vec![Names::default()];
    let mut name = String::new();
    if text.is_empty() || !text.chars().all(is_permitted) {
        return None;
    }
    for sign in text.chars().chain([',']) {
        match sign {
            ',' | ']' => {
                if !name.is_empty() {
                    levels.last_mut()?.0.push((std::mem::take(&mut name), Names::default()));
                }
                if sign == ']' {
                    let inside = levels.pop()?;
                    levels.last_mut()?.0.last_mut()?.1 = inside;
                }
            }
            '[' => {
                levels.last_mut()?.0.push((std::mem::take(&mut name), Names::default()));
                levels.push(Names::default());
            }
            sign => name.push(sign),
        }
    }
    levels.pop().filter(|_| levels.is_empty())
}

impl Names {
    fn of(&self, value: Value) -> Value {
        match value {
            _ if self.0.is_empty() => value,
            // Magento goes through the elements; without any, it has nothing to send.
            Value::Array(list) if list.is_empty() => Value::Null,
            Value::Array(list) => list.into_iter().map(|one| self.of(one)).collect(),
            Value::Object(mut fields) => {
                let kept = fields.keys().filter_map(|name| self.0.iter().find(|(known, _)| known == name));
                let kept: Vec<&(String, Self)> = kept.collect();
                let pairs = kept.into_iter().map(|(name, inside)| {
                    let value = fields.get_mut(name).map(Value::take).unwrap_or_default();
                    (name.clone(), inside.of(value))
                });
                Value::Object(pairs.collect::<Map<_, _>>())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::chosen;

    #[test]
    fn only_the_named_fields_are_kept_at_each_level() {
        let answer = json!({"items": [{"attribute_code": "size", "attribute_id": 1, "options": [{"label": "S", "value": "1"}]}],
            "search_criteria": {}, "total_count": 1});
        for (fields, kept) in [
            ("total_count", json!({"total_count": 1})),
            (
                "items[attribute_code,options[label]],total_count",
                json!({"items": [{"attribute_code": "size", "options": [{"label": "S"}]}], "total_count": 1}),
            ),
            ("items[options]", json!({"items": [{"options": [{"label": "S", "value": "1"}]}]})),
            ("items[nothing]", json!({"items": [{}]})),
            ("items[", answer.clone()),
            ("a b", answer.clone()),
        ] {
            let query = [("fields".to_owned(), fields.to_owned())];
            assert_eq!(chosen(&query, answer.clone()), kept, "{fields}");
        }
        assert_eq!(chosen(&[], answer.clone()), answer);
    }

    #[test]
    fn an_empty_list_of_which_fields_are_named_is_null() {
        let answer =
            json!({"items": [{"code": "size", "options": []}], "search_criteria": {}, "total_count": 0});
        let nothing = json!({"items": [], "search_criteria": {}, "total_count": 0});
        for (answer, fields, kept) in [
            (&nothing, "items[code],total_count", json!({"items": null, "total_count": 0})),
            (&nothing, "items,total_count", json!({"items": [], "total_count": 0})),
            (&answer, "items[code,options[label]]", json!({"items": [{"code": "size", "options": null}]})),
            (&answer, "items[code,options]", json!({"items": [{"code": "size", "options": []}]})),
            (&json!([]), "label", json!(null)),
        ] {
            let query = [("fields".to_owned(), fields.to_owned())];
            assert_eq!(chosen(&query, answer.clone()), kept, "{fields}");
        }
    }
}
