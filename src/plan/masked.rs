//! Values that were masked when they were shown: an input that hands one back leaves the stored value as it is.

use serde_json::{Map, Value};

use super::check::{Step, path_of};
use super::roster::id_of;
use crate::failure::Failure;

/// What stands in the place of a token in everything that is shown.
const MASK: &str = "•••";

/// Whether a text in a body holds the mask.
pub fn is_in(body: &Map<String, Value>) -> bool {
    body.values().any(holds_mask)
}

fn holds_mask(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MASK),
        Value::Array(elements) => elements.iter().any(holds_mask),
        Value::Object(fields) => is_in(fields),
        _ => false,
    }
}

/// The draft with the stored values in the place of their masked forms, so that they count as not named. `stored` is
/// empty for what has nothing stored.
///
/// # Errors
/// `usage` for every other text that holds the mask: sending it would overwrite a value with its mask.
pub fn unmasked(
    draft: &Map<String, Value>,
    stored: &Map<String, Value>,
) -> Result<Map<String, Value>, Failure> {
    let mut draft = draft.clone();
    let mut problems = Vec::new();
    let mut steps = Vec::new();
    fields(&mut draft, Some(stored), &mut steps, &mut problems);
    if problems.is_empty() {
        return Ok(draft);
    }
    Err(Failure::usage_problems(problems)
        .hint("leave the field out, or give its value: `•••` is how a token is shown"))
}

fn fields(
    draft: &mut Map<String, Value>,
    stored: Option<&Map<String, Value>>,
    steps: &mut Vec<Step>,
    problems: &mut Vec<String>,
) {
    for (name, value) in draft {
        steps.push(Step::Field(name.clone()));
        unmask(value, stored.and_then(|stored| stored.get(name)), steps, problems);
        steps.pop();
    }
}

fn unmask(value: &mut Value, stored: Option<&Value>, steps: &mut Vec<Step>, problems: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains(MASK) => match stored {
            Some(Value::String(stored)) if is_masked_form(text, stored) => text.clone_from(stored),
            _ => problems.push(format!("{}: holds `{MASK}`, which masks another value", path_of(steps))),
        },
        Value::Object(draft) => fields(draft, stored.and_then(Value::as_object), steps, problems),
        Value::Array(elements) => {
            let stored = stored.and_then(Value::as_array);
            for (index, element) in elements.iter_mut().enumerate() {
                steps.push(Step::Element(index));
                let counterpart = stored.and_then(|stored| counterpart(element, index, stored));
                unmask(element, counterpart, steps, problems);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// The stored element that an element of a draft stands for: by its id or code, or by its position.
fn counterpart<'a>(element: &Value, index: usize, stored: &'a [Value]) -> Option<&'a Value> {
    if let Some(id) = element.get("id").and_then(id_of) {
        return stored.iter().find(|other| other.get("id").and_then(id_of) == Some(id));
    }
    match element.get("attribute_code") {
        Some(code) => stored.iter().find(|other| other.get("attribute_code") == Some(code)),
        // An address without an id is new.
        None => stored.get(index).filter(|other| other.get("id").is_none()),
    }
}

/// Whether a text is the stored one with parts of it masked.
fn is_masked_form(text: &str, stored: &str) -> bool {
    let mut parts = text.split(MASK);
    let Some(mut rest) = parts.next().and_then(|first| stored.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        // At least one character is masked.
        let Some(first) = rest.chars().next() else { return false };
        let masked = &rest[first.len_utf8()..];
        if parts.peek().is_none() {
            return masked.ends_with(part);
        }
        match masked.find(part) {
            Some(at) => rest = &masked[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{is_in, is_masked_form, unmasked};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn the_masked_form_of_a_stored_value_is_that_value() {
        let stored = json!({"note": "token abc!", "addresses": [
            {"id": 1, "street": ["1 Way", "abc"]},
            {"id": 2, "custom_attributes": [{"attribute_code": "a", "value": "abc"}]}]});
        let draft = json!({"note": "token •••!", "addresses": [
            {"id": "2", "custom_attributes": [{"attribute_code": "a", "value": "•••"}]},
            {"id": 1, "street": ["2 Way", "•••"]}]});
        assert!(is_in(&object(draft.clone())) && !is_in(&object(stored.clone())));
        assert_eq!(
            Value::Object(unmasked(&object(draft), &object(stored)).unwrap()),
            json!({"note": "token abc!", "addresses": [
                {"id": "2", "custom_attributes": [{"attribute_code": "a", "value": "abc"}]},
                {"id": 1, "street": ["2 Way", "abc"]}]})
        );
    }

    #[test]
    fn any_other_mask_is_refused_with_its_path() {
        let stored = object(json!({"note": "token abc!", "addresses": [{"id": 1, "city": "abc"}]}));
        for (draft, path) in [
            (json!({"note": "•••"}), ""),
            (json!({"note": "token •••?"}), "note: "),
            (json!({"addresses": [{"city": "•••"}]}), "addresses[0].city: "),
            (json!({"addresses": [{"id": 9, "city": "•••"}]}), "addresses[0].city: "),
            (json!({"new": "•••"}), "new: "),
        ] {
            match unmasked(&object(draft.clone()), &stored) {
                Ok(_) => assert_eq!(path, "", "{draft}"),
                Err(failure) => assert!(failure.message.starts_with(path) && !path.is_empty(), "{failure}"),
            }
        }
    }

    #[test]
    fn a_masked_form_hides_at_least_one_character_in_each_place() {
        for (text, stored, is_masked) in [
            ("a•••b•••c", "axbyc", true),
            ("a•••b•••c", "abyc", false),
            ("•••", "", false),
            ("•••••••••", "xyz", true),
            ("a•••", "a", false),
            ("•••é", "é", false),
            ("•••é", "éé", true),
        ] {
            assert_eq!(is_masked_form(text, stored), is_masked, "{text} {stored}");
        }
    }
}
