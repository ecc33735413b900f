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

/// How a text is shown, its tokens masked.
type Mask<'a> = &'a dyn Fn(&str) -> String;

/// The draft with the stored values in the place of their masked forms, so that they count as not named. `stored` is
/// empty for what has nothing stored; `mask` is how texts are shown.
///
/// # Errors
/// `usage` for every other text that holds the mask: sending it would overwrite a value with its mask.
pub fn unmasked(
    draft: &Map<String, Value>,
    stored: &Map<String, Value>,
    mask: Mask<'_>,
) -> Result<Map<String, Value>, Failure> {
    let mut draft = draft.clone();
    let mut unmasking = Unmasking { mask, steps: Vec::new(), problems: Vec::new() };
    unmasking.object(&mut draft, Some(stored));
    if unmasking.problems.is_empty() {
        return Ok(draft);
    }
    Err(Failure::usage_problems(unmasking.problems)
        .hint("leave the field out, or give its value: `•••` is how a token is shown"))
}

struct Unmasking<'a> {
    mask: Mask<'a>,
    steps: Vec<Step>,
    problems: Vec<String>,
}

impl Unmasking<'_> {
    fn object(&mut self, draft: &mut Map<String, Value>, stored: Option<&Map<String, Value>>) {
        for (name, value) in draft {
            self.steps.push(Step::Field(name.clone()));
            self.value(value, stored.and_then(|stored| stored.get(name)));
            self.steps.pop();
        }
    }

    fn value(&mut self, value: &mut Value, stored: Option<&Value>) {
        match value {
            Value::String(text) if text.contains(MASK) => match stored {
                Some(Value::String(stored)) if (self.mask)(stored) == *text => text.clone_from(stored),
                _ => {
                    let path = path_of(&self.steps);
                    self.problems.push(format!("{path}: holds `{MASK}`, which masks another value"));
                }
            },
            Value::Object(draft) => self.object(draft, stored.and_then(Value::as_object)),
            Value::Array(elements) => {
                let stored = stored.and_then(Value::as_array);
                for (index, element) in elements.iter_mut().enumerate() {
                    self.steps.push(Step::Element(index));
                    let counterpart = stored.and_then(|stored| counterpart(element, index, stored));
                    self.value(element, counterpart);
                    self.steps.pop();
                }
            }
            _ => {}
        }
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

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{is_in, unmasked};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn mask(text: &str) -> String {
        text.replace("abc", "•••")
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
            Value::Object(unmasked(&object(draft), &object(stored), &mask).unwrap()),
            json!({"note": "token abc!", "addresses": [
                {"id": "2", "custom_attributes": [{"attribute_code": "a", "value": "abc"}]},
                {"id": 1, "street": ["2 Way", "abc"]}]})
        );
    }

    #[test]
    fn any_other_mask_is_refused_with_its_path() {
        let stored = object(json!({"note": "token abc!", "addresses": [{"id": 1, "city": "Rome"}]}));
        for (draft, path) in [
            (json!({"note": "•••"}), "note: "),
            (json!({"note": "token •••?"}), "note: "),
            (json!({"addresses": [{"id": 1, "city": "•••"}]}), "addresses[0].city: "),
            (json!({"addresses": [{"city": "•••"}]}), "addresses[0].city: "),
            (json!({"addresses": [{"id": 9, "city": "•••"}]}), "addresses[0].city: "),
            (json!({"new": "•••"}), "new: "),
        ] {
            let refusal = unmasked(&object(draft), &stored, &mask).unwrap_err();
            assert!(refusal.message.starts_with(path), "{path}{refusal}");
        }
    }
}
