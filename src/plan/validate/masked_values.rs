//! What was shown masked comes back: `•••` in a draft stands for what is stored there, or is refused.
//!
//! `customer show -o json`, an edit, `customer update -i -` is a round trip. Where the stored profile holds a token,
//! the shown one holds `•••`, and that must never be stored in the token's place.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::profile::diff::id_of;
use crate::redact::{MASK, Redactor};

/// The draft of a profile without the values that are only the masked form of what is stored: they count as not named.
///
/// `replace` says that the draft's addresses are the whole list. What such an address does not name would be gone, so
/// there the stored value itself takes the place of its masked form.
///
/// # Errors
/// `usage`, naming the path, for any other value or field name that holds `•••` and is not stored so.
pub fn resolve<'a>(
    draft: &'a Map<String, Value>,
    stored: &Map<String, Value>,
    replace: bool,
    redactor: &Redactor,
) -> Result<Cow<'a, Map<String, Value>>, Failure> {
    if !draft.iter().any(|(name, value)| is_masked(name) || holds_mask(value)) {
        return Ok(Cow::Borrowed(draft));
    }
    let mut resolved = draft.clone();
    let addresses = resolved.get_mut("addresses").map(Value::take);
    Resolver { redactor, restores: false }.object(&mut resolved, stored, "")?;
    if let Some(mut addresses) = addresses {
        let list = Resolver { redactor, restores: replace };
        list.elements(&mut addresses, stored.get("addresses"), "addresses", "id")?;
        resolved.insert("addresses".to_owned(), addresses);
    }
    Ok(Cow::Owned(resolved))
}

/// Whether a value holds `•••` at any depth, in a string or in a field's name.
pub fn holds_mask(value: &Value) -> bool {
    match value {
        Value::String(text) => is_masked(text),
        Value::Array(elements) => elements.iter().any(holds_mask),
        Value::Object(fields) => fields.iter().any(|(name, value)| is_masked(name) || holds_mask(value)),
        _ => false,
    }
}

fn is_masked(text: &str) -> bool {
    // Most texts are ASCII, and that is quicker to tell.
    !text.is_ascii() && text.contains(MASK)
}

struct Resolver<'a> {
    redactor: &'a Redactor,
    /// Whether the stored value takes the place of its masked form, which otherwise goes.
    restores: bool,
}

/// What becomes of a value of the draft.
enum Resolved {
    Kept,
    /// It is the masked form of this stored value.
    Stored(Value),
}

impl Resolver<'_> {
    fn object(
        &self,
        draft: &mut Map<String, Value>,
        stored: &Map<String, Value>,
        path: &str,
    ) -> Result<(), Failure> {
        let named: Vec<String> = draft.keys().cloned().collect();
        for name in named {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let stored_name = self.stored_name(&name, stored);
            if name.contains(MASK) && stored_name.is_none() {
                return Err(refused(&path));
            }
            let stored_name = stored_name.unwrap_or(&name).to_owned();
            let Some(value) = draft.get_mut(&name) else { continue };
            let resolved = self.value(value, stored.get(&stored_name), &path, &name)?;
            match resolved {
                Resolved::Kept if stored_name == name => {}
                Resolved::Stored(value) if self.restores && stored_name == name => {
                    draft.insert(name, value);
                }
                Resolved::Stored(_) if !self.restores => drop(draft.shift_remove(&name)),
                kept_or_stored => {
                    let value = draft.shift_remove(&name).unwrap_or_default();
                    let value = if let Resolved::Stored(stored) = kept_or_stored { stored } else { value };
                    draft.insert(stored_name, value);
                }
            }
        }
        Ok(())
    }

    /// The stored field that a name means, as it is or masked.
    fn stored_name<'s>(&self, name: &str, stored: &'s Map<String, Value>) -> Option<&'s str> {
        let mut names = stored.keys().map(String::as_str);
        if stored.contains_key(name) || !name.contains(MASK) {
            return names.find(|stored| *stored == name);
        }
        names.find(|stored| self.redactor.text(stored) == name)
    }

    fn value(
        &self,
        draft: &mut Value,
        stored: Option<&Value>,
        path: &str,
        name: &str,
    ) -> Result<Resolved, Failure> {
        if !holds_mask(draft) || stored == Some(draft) {
            return Ok(Resolved::Kept);
        }
        if let Some(stored) = stored
            && self.redactor.masked_value(stored) == *draft
        {
            return Ok(Resolved::Stored(stored.clone()));
        }
        match (draft, stored) {
            (Value::Object(draft), Some(Value::Object(stored))) => {
                self.object(draft, stored, path)?;
                Ok(Resolved::Kept)
            }
            (draft @ Value::Array(_), Some(Value::Array(_))) if name == "custom_attributes" => {
                self.elements(draft, stored, path, "attribute_code")?;
                Ok(Resolved::Kept)
            }
            _ => Err(refused(path)),
        }
    }

    /// The elements of a list that is merged by a key of its elements.
    fn elements(
        &self,
        draft: &mut Value,
        stored: Option<&Value>,
        path: &str,
        key: &str,
    ) -> Result<(), Failure> {
        let Value::Array(draft) = draft else {
            return if holds_mask(draft) { Err(refused(path)) } else { Ok(()) };
        };
        let stored = stored.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, element) in draft.iter_mut().enumerate().filter(|(_, element)| holds_mask(element)) {
            let named = element.get(key).cloned().unwrap_or_default();
            let path = match &named {
                Value::Null => format!("{path}[{index}]"),
                named => format!("{path}[{key}={}]", named.as_str().unwrap_or(&named.to_string())),
            };
            let same = stored
                .iter()
                .filter_map(Value::as_object)
                .find(|stored| self.is_key(stored.get(key), &named));
            match (element, same) {
                (Value::Object(element), Some(stored)) => {
                    // The key stays, whatever becomes of the rest: it says which element this is.
                    let whole = Resolver { restores: self.restores || key == "attribute_code", ..*self };
                    whole.object(element, stored, &path)?;
                }
                _ => return Err(refused(&path)),
            }
        }
        Ok(())
    }

    fn is_key(&self, stored: Option<&Value>, named: &Value) -> bool {
        let Some(stored) = stored.filter(|_| !named.is_null()) else { return false };
        stored == named
            || self.redactor.masked_value(stored) == *named
            || id_of(stored).is_some() && id_of(stored) == id_of(named)
    }
}

fn refused(path: &str) -> Failure {
    Failure::usage(format!("`{path}` contains `{MASK}`, the placeholder for a masked token"))
        .hint("enter the actual value, or omit the field to keep the stored one")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::resolve;
    use crate::failure::FailureKind;
    use crate::redact::Redactor;
    use crate::token::Token;

    const TOKEN: &str = "aB/c+d=&12";

    fn redactor() -> Redactor {
        let redactor = Redactor::new();
        redactor.add(&Token::new(TOKEN).unwrap());
        redactor
    }

    fn stored() -> Map<String, Value> {
        let stored = json!({
            "id": 1, "firstname": TOKEN, "lastname": "•••", "extension_attributes": {"key": {"in": TOKEN, "out": 1}},
            "x aB/c+d=&12": "kept",
            "custom_attributes": [{"attribute_code": "a", "value": TOKEN}, {"attribute_code": "b", "value": "2"}],
            "addresses": [
                {"id": 7, "city": "Paris", "telephone": format!("+{TOKEN}"), "street": ["1 Way", TOKEN]},
                {"id": "8", "city": TOKEN}
            ]
        });
        stored.as_object().unwrap().clone()
    }

    fn resolved(draft: Value, replace: bool) -> Result<Value, String> {
        let draft = draft.as_object().unwrap();
        match resolve(draft, &stored(), replace, &redactor()) {
            Ok(resolved) => Ok(Value::Object(resolved.into_owned())),
            Err(failure) => {
                assert_eq!(failure.kind, FailureKind::Usage);
                Err(failure.message)
            }
        }
    }

    #[test]
    fn a_shown_profile_with_an_edit_is_the_edit() {
        let mut shown = redactor().masked_value(&Value::Object(stored()));
        shown["addresses"][0]["city"] = json!("Lyon");
        shown["extension_attributes"]["key"]["out"] = json!(2);
        assert_eq!(
            resolved(shown, false).unwrap(),
            json!({
                "id": 1, "lastname": "•••", "extension_attributes": {"key": {"out": 2}},
                "addresses": [{"id": 7, "city": "Lyon"}, {"id": "8"}]
            })
            .as_object()
            .map(|expected| {
                let mut expected = expected.clone();
                // All of it was masked and not edited.
                expected.insert("x aB/c+d=&12".to_owned(), "kept".into());
                Value::Object(expected)
            })
            .unwrap()
        );
    }

    #[test]
    fn where_the_list_is_replaced_what_is_stored_stands() {
        let draft = json!({"addresses": [{"id": "7", "city": "Lyon", "telephone": "+•••"}]});
        assert_eq!(
            resolved(draft, true).unwrap(),
            json!({"addresses": [{"id": "7", "city": "Lyon", "telephone": format!("+{TOKEN}")}]})
        );
    }

    #[test]
    fn a_masked_custom_attribute_keeps_its_value_beside_one_that_is_edited() {
        let draft = json!({"custom_attributes": [
            {"attribute_code": "a", "value": "•••"}, {"attribute_code": "b", "value": "3"}]});
        assert_eq!(
            resolved(draft, false).unwrap()["custom_attributes"],
            json!([{"attribute_code": "a", "value": TOKEN}, {"attribute_code": "b", "value": "3"}])
        );
    }

    #[test]
    fn any_other_mask_is_refused_by_its_path() {
        for (draft, path) in [
            (json!({"firstname": "a ••• b"}), "`firstname`"),
            (json!({"email": "•••"}), "`email`"),
            (json!({"y•••": 1}), "`y•••`"),
            (json!({"extension_attributes": {"key": {"in": ["•••"]}}}), "`extension_attributes.key.in`"),
            (json!({"addresses": [{"id": 7, "city": "•••"}]}), "`addresses[id=7].city`"),
            (json!({"addresses": [{"id": 7, "street": ["2 Way", "•••"]}]}), "`addresses[id=7].street`"),
            (json!({"addresses": [{"id": 9, "city": "•••"}]}), "`addresses[id=9]`"),
            (json!({"addresses": [{"city": "•••"}]}), "`addresses[0]`"),
            (json!({"addresses": "•••"}), "`addresses`"),
            (json!({"custom_attributes": [{"attribute_code": "c", "value": "•••"}]}), "[attribute_code=c]"),
        ] {
            for replace in [false, true] {
                let message = resolved(draft.clone(), replace).unwrap_err();
                assert!(message.contains(path), "{draft}: {message}");
            }
        }
    }

    #[test]
    fn without_a_mask_nothing_is_copied() {
        let draft = json!({"firstname": TOKEN, "addresses": [{"id": 7, "city": "x"}]});
        let resolved = resolve(draft.as_object().unwrap(), &stored(), false, &redactor()).unwrap();
        assert!(matches!(resolved, std::borrow::Cow::Borrowed(_)));
    }
}
