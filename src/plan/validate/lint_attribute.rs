//! An attribute before it is sent: what cannot work is an error, what is unusual a warning. What the interface itself
//! shows as wrong is refused by [`crate::plan::validate::body`] already.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::attribute_code;
use crate::plan::validate::body::Warnings;
use crate::plan::validate::frontend_input::{FRONTEND_INPUTS, FrontendInput};

/// How many labels one warning names.
const NAMED: usize = 5;

/// What cannot work, one error a line (docs/interface.md, "Attribute"): an input kind without the options it
/// needs or with options it does not take, and more defaults than can be chosen.
pub fn errors(attribute: &Map<String, Value>) -> Vec<String> {
    let kind = attribute.get("frontend_input").and_then(Value::as_str);
    let options = options(attribute);
    let kind_error =
        kind.and_then(FrontendInput::find).and_then(|kind| match (kind.takes_options, options.is_empty()) {
            (true, true) => Some(format!("frontend_input `{}` requires options, none given", kind.name)),
            (false, false) => Some(format!("frontend_input `{}` takes no options", kind.name)),
            _ => None,
        });
    [kind_error, defaults(options, kind)].into_iter().flatten().collect()
}

/// Warnings about an attribute, besides its [`errors`]: one per line.
pub fn lint(attribute: &Map<String, Value>) -> Warnings {
    let text = |name: &str| attribute.get(name).and_then(Value::as_str);
    let options = options(attribute);
    let doubts = [
        text("attribute_code").and_then(code),
        text("frontend_input").and_then(unknown_kind),
        duplicates(options),
        numbers(options),
        duplicate_views("attribute.frontend_labels", attribute.get("frontend_labels")),
    ];
    doubts.into_iter().flatten().collect()
}

fn options(attribute: &Map<String, Value>) -> &[Value] {
    attribute.get("options").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn code(code: &str) -> Option<String> {
    (!attribute_code::is_valid_code(code)).then(|| {
        format!(
            "attribute_code `{code}` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _"
        )
    })
}

fn unknown_kind(name: &str) -> Option<String> {
    if FrontendInput::find(name).is_some() {
        return None;
    }
    let known = || FRONTEND_INPUTS.map(|kind| kind.name).join(", ");
    let meant = FrontendInput::closest_match(name)
        .map_or_else(|| format!("known: {}", known()), |kind| format!("did you mean `{}`?", kind.name));
    Some(format!("unknown frontend_input `{name}`; {meant}"))
}

fn duplicates(options: &[Value]) -> Option<String> {
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut twice = Vec::new();
    for label in options.iter().filter_map(label) {
        let count = times.entry(label.trim().to_lowercase()).or_default();
        *count += 1;
        if *count == 2 {
            twice.push(label.trim());
        }
    }
    named(&twice).map(|labels| format!("duplicate option labels: {labels}"))
}

/// A number as a label: Magento looks an option up by its id or its label in the same place.
fn numbers(options: &[Value]) -> Option<String> {
    let is_number =
        |label: &&str| !label.trim().is_empty() && label.trim().bytes().all(|it| it.is_ascii_digit());
    let numbers: Vec<&str> = options.iter().filter_map(label).filter(is_number).collect();
    named(&numbers).map(|labels| format!("numeric option labels may be mistaken for option IDs: {labels}"))
}

fn defaults(options: &[Value], kind: Option<&str>) -> Option<String> {
    let defaults: Vec<&str> =
        options.iter().filter(|option| option["is_default"] == true).filter_map(label).collect();
    if defaults.len() < 2 || kind == Some("multiselect") {
        return None;
    }
    let which = named(&defaults)?;
    Some(format!("{} default options, expected one: {which}", defaults.len()))
}

fn duplicate_views(path: &str, labels: Option<&Value>) -> Option<String> {
    let mut seen = HashSet::new();
    let ids = labels?.as_array()?.iter().map(|label| label["store_id"].to_string());
    let twice: Vec<String> = ids.filter(|id| !seen.insert(id.clone())).collect();
    (!twice.is_empty()).then(|| format!("{path}: duplicate store view {}", twice.join(", ")))
}

fn label(option: &Value) -> Option<&str> {
    option.get("label").and_then(Value::as_str)
}

/// The first few labels in quotes; `None` for none.
fn named(labels: &[&str]) -> Option<String> {
    let mut quoted: Vec<String> = labels.iter().take(NAMED).map(|label| format!("{label:?}")).collect();
    if labels.len() > NAMED {
        quoted.push(format!("{} more", labels.len() - NAMED));
    }
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::errors;
    use crate::plan::validate::lint_attribute::lint;

    fn doubt(members: Value) -> String {
        lint(members.as_object().unwrap()).join("\n")
    }

    fn error(members: Value) -> String {
        errors(members.as_object().unwrap()).join("\n")
    }

    fn options(labels: &[&str]) -> Value {
        labels.iter().map(|label| json!({"label": label, "is_default": false})).collect()
    }

    #[test]
    fn a_sound_attribute_raises_none() {
        let sound = json!({"attribute_code": "colour", "frontend_input": "select",
            "frontend_labels": [{"store_id": 1, "label": "a"}, {"store_id": 2, "label": "a"}],
            "options": [{"label": "Red", "is_default": true}, {"label": "38 EU", "is_default": false}]});
        assert_eq!(doubt(sound), "");
        assert_eq!(doubt(json!({})), "");
    }

    #[test]
    fn each_doubt_says_what_it_is_about() {
        let select = |options: Value| json!({"frontend_input": "select", "options": options});
        for (attribute, told) in [
            (json!({"attribute_code": "Größe"}), "attribute_code `Größe` may be rejected"),
            (json!({"frontend_input": "selct"}), "did you mean `select`?"),
            (select(options(&["Red", " red", "Blue"])), "duplicate option labels: \"red\""),
            (select(options(&["38", "M"])), "numeric option labels may be mistaken for option IDs: \"38\""),
            (
                json!({"frontend_labels": [{"store_id": 2, "label": "a"}, {"store_id": 2, "label": "b"}]}),
                "attribute.frontend_labels: duplicate store view 2",
            ),
        ] {
            let doubt = doubt(attribute);
            assert!(doubt.contains(told) && doubt.lines().count() == 1, "{told}: {doubt}");
        }
    }

    #[test]
    fn what_cannot_work_is_an_error() {
        let both = json!([{"label": "a", "is_default": true}, {"label": "b", "is_default": true}]);
        for (attribute, told) in [
            (json!({"frontend_input": "select"}), "`select` requires options, none given"),
            (json!({"frontend_input": "boolean", "options": options(&["a"])}), "`boolean` takes no options"),
            (
                json!({"frontend_input": "select", "options": both}),
                "2 default options, expected one: \"a\", \"b\"",
            ),
        ] {
            assert!(error(attribute.clone()).contains(told) && doubt(attribute.clone()).is_empty(), "{told}");
        }
        assert_eq!(error(json!({"frontend_input": "select", "options": options(&["Red", "Red"])})), "");
        assert_eq!(error(json!({"frontend_input": "selct"})), "");
    }

    #[test]
    fn any_number_of_defaults_suits_a_multiselect() {
        let both = json!([{"label": "a", "is_default": true}, {"label": "b", "is_default": true}]);
        assert_eq!(error(json!({"frontend_input": "multiselect", "options": both})), "");
    }

    #[test]
    fn of_many_labels_the_first_are_named() {
        let labels: Vec<String> = (30..50).map(|size| size.to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let doubt = doubt(json!({"frontend_input": "select", "options": options(&labels)}));
        assert!(
            doubt.contains("may be mistaken for option IDs: \"30\", \"31\", \"32\", \"33\", \"34\", 15 more")
                && !doubt.contains("\"35\""),
            "{doubt}"
        );
    }
}
