//! Whether a stored attribute is the one that was asked for.

use serde_json::{Map, Value};

/// Where labels stand that are not those of a store view.
const ALL_STORES: i64 = 0;

/// What was asked for and a service does not show.
pub type NotShown = Vec<&'static str>;

/// Compares a stored attribute with the one that was asked for: input type, label, flags, the options' labels in their
/// order, and, where `stored` shows them, the labels per store view and the default option. `None` where they differ.
/// What `asked` leaves to the service is not compared.
pub fn compare(asked: &Map<String, Value>, stored: &Map<String, Value>) -> Option<NotShown> {
    let same_text = |name: &str| match asked.get(name).and_then(text) {
        None => true,
        Some(text_asked) => stored.get(name).and_then(text) == Some(text_asked),
    };
    let same_flag = |(name, value): (&String, &Value)| match flag(Some(value)) {
        Some(asked) if name.starts_with("is_") => flag(stored.get(name)).unwrap_or(false) == asked,
        _ => true,
    };
    let is_same = ["attribute_code", "frontend_input", "default_frontend_label"].into_iter().all(same_text)
        && asked.iter().all(same_flag);
    let mut not_shown = Vec::new();
    let mut has = |what: &'static str, shown: Option<bool>| {
        if shown.is_none() {
            not_shown.push(what);
        }
        shown.unwrap_or(true)
    };
    let is_same = is_same && has("labels per store view", same_labels(asked, stored, "frontend_labels"));
    if !is_same || !asked.contains_key("options") {
        return is_same.then_some(not_shown);
    }
    let (wanted, found) = (options_of(asked), options_of(stored));
    let labels =
        |options: &[&Map<String, Value>]| options.iter().filter_map(|one| label(one)).collect::<Vec<_>>();
    let of_stores = |(wanted, found): (&&Map<_, _>, &&Map<_, _>)| same_labels(wanted, found, "store_labels");
    let same_store_labels =
        wanted.iter().zip(&found).map(of_stores).try_fold(true, |all, one| Some(all && one?));
    let is_same = labels(&wanted) == labels(&found)
        && has("the options' labels per store view", same_store_labels)
        && has("the default option", same_default(&wanted, stored, &found));
    is_same.then_some(not_shown)
}

/// Whether the labels per store view that are asked for are there; `None` where they are not shown.
fn same_labels(asked: &Map<String, Value>, stored: &Map<String, Value>, name: &str) -> Option<bool> {
    let labels = |of: &Map<String, Value>| {
        let labels = of.get(name)?.as_array()?.iter();
        let of_view = |one: &Value| {
            let label = text(&one["label"]).filter(|label| !label.is_empty())?;
            Some((number(&one["store_id"])?, label))
        };
        Some(labels.filter_map(of_view).filter(|(store, _)| *store != ALL_STORES).collect::<Vec<_>>())
    };
    let wanted = labels(asked).unwrap_or_default();
    if wanted.is_empty() {
        return Some(true);
    }
    let found = labels(stored)?;
    Some(wanted.iter().all(|one| found.contains(one)))
}

/// Whether the same options are chosen by default; `None` where that is not shown. A service shows a flag of each option, or
/// the default's id, or several ids with commas between.
fn same_default(
    wanted: &[&Map<String, Value>],
    stored: &Map<String, Value>,
    found: &[&Map<String, Value>],
) -> Option<bool> {
    let is_default = |option: &&&Map<String, Value>| flag(option.get("is_default")) == Some(true);
    let labels = |options: Vec<&&Map<String, Value>>| {
        options.into_iter().filter_map(|one| label(one)).collect::<Vec<_>>()
    };
    let wanted = labels(wanted.iter().filter(is_default).collect());
    if found.iter().any(|option| option.contains_key("is_default")) {
        return Some(labels(found.iter().filter(is_default).collect()) == wanted);
    }
    match stored.get("default_value").and_then(text) {
        Some(ids) => {
            let ids: Vec<&str> = ids.split(',').map(str::trim).collect();
            let is_chosen = |option: &&&Map<String, Value>| {
                let value = option.get("value").and_then(text).filter(|value| !value.is_empty());
                value.is_some_and(|value| ids.contains(&value.as_str()))
            };
            Some(labels(found.iter().filter(is_chosen).collect()) == wanted)
        }
        None if wanted.is_empty() => Some(true),
        None => None,
    }
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

/// Options in the order in which they are shown. A blank one stands for "nothing chosen".
fn options_of(attribute: &Map<String, Value>) -> Vec<&Map<String, Value>> {
    let options = attribute.get("options").and_then(Value::as_array).into_iter().flatten();
    let mut options: Vec<&Map<String, Value>> = options.filter_map(Value::as_object).collect();
    let order = |option: &Map<String, Value>| option.get("sort_order").and_then(Value::as_i64);
    if options.iter().all(|option| order(option).is_some()) {
        options.sort_by_key(|option| order(option));
    }
    options.retain(|option| label(option).is_some());
    options
}

fn label(option: &Map<String, Value>) -> Option<String> {
    option.get("label").and_then(text).filter(|label| !label.is_empty())
}

fn number(value: &Value) -> Option<i64> {
    text(value)?.parse().ok()
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

    use super::compare;

    fn same(asked: &Value, stored: &Value) -> bool {
        not_shown(asked, stored).is_some()
    }

    fn not_shown(asked: &Value, stored: &Value) -> Option<Vec<&'static str>> {
        compare(asked.as_object().unwrap(), stored.as_object().unwrap())
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
    fn asked() -> Value {
        json!({"attribute_code": "fabric", "frontend_labels": [{"store_id": 0, "label": "Fabric"}, {"store_id": 2, "label": "Tissu"}],
            "options": [{"label": "Wool", "store_labels": [{"store_id": 2, "label": "Laine"}]}, {"label": "Silk", "is_default": true}]})
    }

    #[test]
    fn labels_per_store_view_and_the_default_option_count_where_they_are_shown() {
        let asked = asked();
        // As Magento shows an attribute.
        let shown = json!({"attribute_code": "fabric", "frontend_labels": [{"store_id": 2, "label": "Tissu"}], "default_value": "9",
            "options": [{"label": " ", "value": ""}, {"label": "Wool", "value": "8"}, {"label": "Silk", "value": "9"}]});
        assert_eq!(not_shown(&asked, &shown), Some(vec!["the options' labels per store view"]));
        for (name, value) in [
            ("frontend_labels", json!([])),
            ("frontend_labels", json!([{"store_id": 2, "label": "Stoff"}])),
            ("frontend_labels", json!([{"store_id": 3, "label": "Tissu"}])),
            ("default_value", json!("")),
            ("default_value", json!("8")),
            ("default_value", json!("8,9")),
        ] {
            let mut other = shown.clone();
            other[name] = value;
            assert_eq!(not_shown(&asked, &other), None, "{other}");
        }
        // As the marketplace stores what it was sent.
        assert_eq!(not_shown(&asked, &asked), Some(vec![]));
        for (pointer, value) in
            [("/options/0/store_labels/0/label", json!("Wolle")), ("/options/1/is_default", json!(false))]
        {
            let mut other = asked.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            assert_eq!(not_shown(&asked, &other), None, "{other}");
        }
        let mut no_default = asked.clone();
        no_default["options"][1] = json!({"label": "Silk"});
        assert_eq!(not_shown(&no_default, &asked), None);
    }

    #[test]
    fn what_is_not_shown_is_named() {
        let bare = json!({"attribute_code": "fabric", "options": [{"label": "Wool"}, {"label": "Silk"}]});
        let all = ["labels per store view", "the options' labels per store view", "the default option"];
        assert_eq!(not_shown(&asked(), &bare), Some(all.to_vec()));
        assert_eq!(not_shown(&bare, &bare), Some(vec![]));
    }
}
