//! A body checked without being built: for the many records that can travel as the text they came in.
//!
//! This is the fast half of [`super::check`]. It only says yes: whatever is not plainly right is left to the check
//! proper, which knows how to mend it, or what to say about it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::check::is_whole;
use super::operation::Operation;
use crate::wire::{Holds, Shape};

/// What a plain body has that its caller must know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plain {
    /// Whether the body stands in its wrapper already.
    pub wrapped: bool,
    /// The member that was looked for inside the wrapper, if it is there.
    pub found: Option<String>,
}

/// Scans the text of a body, with or without its wrapper, for an operation that has one. `wanted` is a text member
/// whose value is told; `required` one without which the body is not plain.
///
/// `None` for anything that is not plainly right.
pub fn scan(operation: Operation, text: &str, wanted: &str, required: Option<&str>) -> Option<Plain> {
    let wrapper = operation.wrapper()?;
    let Holds::Object(inner) = operation.body().member(wrapper)?.holds else { return None };
    let outer: Outer<'_> = object(text, Outer { wrapper, inside: None, beside: false })?;
    let (is_wrapped, text) = outer.inside.map_or((false, text), |inside| (true, inside));
    let found =
        object(text, Scan { shape: inner, wanted, required, found: None, has_required: false, seen: 0 })?;
    let complete = found.seen > 0 && (required.is_none() || found.has_required);
    complete.then_some(Plain { wrapped: is_wrapped, found: found.found })
}

fn object<'de, T: Members<'de>>(text: &'de str, seed: T) -> Option<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let scanned = Object(seed).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(scanned)
}

/// Somebody who looks at members one by one.
trait Members<'de>: Sized {
    /// Whether the member is plainly right.
    fn member(&mut self, name: &str, value: &'de str) -> bool;
}

/// Finds the wrapper; a body has nothing beside it.
struct Outer<'de> {
    wrapper: &'static str,
    inside: Option<&'de str>,
    beside: bool,
}

impl<'de> Members<'de> for Outer<'de> {
    fn member(&mut self, name: &str, value: &'de str) -> bool {
        if name == self.wrapper {
            return !self.beside && self.inside.replace(value).is_none();
        }
        self.beside = true;
        self.inside.is_none()
    }
}

/// Holds members against a shape.
struct Scan<'a> {
    shape: &'static Shape,
    wanted: &'a str,
    required: Option<&'a str>,
    found: Option<String>,
    has_required: bool,
    /// One bit for each member of the shape that was there.
    seen: u64,
}

impl<'de> Members<'de> for Scan<'_> {
    fn member(&mut self, name: &str, value: &'de str) -> bool {
        let Some(position) = self.shape.members.iter().position(|member| member.name == name) else {
            return false;
        };
        let bit = 1 << position;
        // Named twice: which of the two counts is not ours to say.
        if self.seen & bit > 0 {
            return false;
        }
        self.seen |= bit;
        self.has_required |= self.required == Some(name);
        if self.wanted == name {
            self.found = serde_json::from_str(value).ok();
            return self.found.is_some();
        }
        fits(value, self.shape.members[position].holds)
    }
}

/// Whether the text of a value is plainly what a member holds.
fn fits(value: &str, holds: Holds) -> bool {
    let first = value.bytes().next();
    match holds {
        Holds::Text => first == Some(b'"'),
        Holds::TextOrNull => matches!(first, Some(b'"' | b'n')),
        Holds::Boolean => matches!(first, Some(b't' | b'f')),
        Holds::Number => matches!(first, Some(b'-' | b'0'..=b'9')),
        Holds::Integer => matches!(first, Some(b'-' | b'0'..=b'9')) && is_whole(value),
        Holds::AnyObject => first == Some(b'{'),
        Holds::Object(shape) => {
            let inner = Scan { shape, wanted: "", required: None, found: None, has_required: false, seen: 0 };
            object(value, inner).is_some()
        }
        Holds::List(shape) => elements(value, Holds::Object(shape)),
        Holds::TextList => elements(value, Holds::Text),
    }
}

fn elements(text: &str, holds: Holds) -> bool {
    serde_json::Deserializer::from_str(text).deserialize_seq(Elements(holds)).is_ok()
}

/// An object whose members are looked at one by one.
struct Object<T>(T);

impl<'de, T: Members<'de>> DeserializeSeed<'de> for Object<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Members<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut members: M) -> Result<T, M::Error> {
        while let Some(name) = members.next_key::<Name<'de>>()? {
            let value: &'de RawValue = members.next_value()?;
            if !self.0.member(&name.0, value.get()) {
                return Err(serde::de::Error::custom("not plain"));
            }
        }
        Ok(self.0)
    }
}

/// A member's name, borrowed where it needs no unescaping.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Elements(Holds);

impl<'de> Visitor<'de> for Elements {
    type Value = IgnoredAny;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<IgnoredAny, S::Error> {
        while let Some(element) = elements.next_element::<&'de RawValue>()? {
            if !fits(element.get(), self.0) {
                return Err(serde::de::Error::custom("not plain"));
            }
        }
        Ok(IgnoredAny)
    }
}

#[cfg(test)]
mod tests {
    use super::{Plain, scan};
    use crate::plan::check::check;
    use crate::plan::operation::Operation;

    fn item(text: &str) -> Option<Plain> {
        scan(Operation::QuoteAddItem, text, "quote_id", None)
    }

    #[test]
    fn plain_bodies_are_known_with_and_without_their_wrapper() {
        let inner = r#"{"sku":"a\u0041", "qty": 1.50, "quote_id":"q\"1","product_option":
            {"extension_attributes":{"configurable_item_options":[{"option_id":"93","option_value":-56}]}}}"#;
        let found = Some("q\"1".to_owned());
        assert_eq!(item(inner), Some(Plain { wrapped: false, found: found.clone() }));
        assert_eq!(item(&format!("{{\"cartItem\":{inner}}}")), Some(Plain { wrapped: true, found }));
        assert_eq!(item(r#"{"sku":"a"}"#), Some(Plain::default()));
        let attribute =
            |text: &str| scan(Operation::AttributeCreate, text, "attribute_code", Some("entity_type_id"));
        assert!(attribute(r#"{"attribute_code":"a"}"#).is_none());
        assert!(
            attribute(r#"{"attribute_code":"a","entity_type_id":"4","is_required":true,"options":[]}"#)
                .is_some()
        );
    }

    #[test]
    fn whatever_the_check_would_mend_or_refuse_is_not_plain() {
        for text in [
            r"{}",
            r"[]",
            r#"{"cartItem":{}}"#,
            r#"{"cartItem":{"sku":"a"},"beside":1}"#,
            r#"{"cartItem":{"sku":"a"},"cartItem":{"sku":"b"}}"#,
            r#"{"sku":"a","cartItem":{"sku":"b"}}"#,
            r#"{"sku":"a","token":"secret"}"#,
            r#"{"sku":"a","reason":"why"}"#,
            r#"{"sku ":"a"}"#,
            r#"{"sku":1}"#,
            r#"{"sku":null}"#,
            r#"{"qty":"1"}"#,
            r#"{"quote_id":1}"#,
            r#"{"quote_id":"1","quote_id":"2"}"#,
            r#"{"sku":"a"} x"#,
            r#"{"sku":"a""#,
            r#"{"product_option":{"extension_attributes":{"configurable_item_options":[{"option_id":"1","note":"x"}]}}}"#,
            r#"{"product_option":{"extension_attributes":{"configurable_item_options":[{"option_value":1.5}]}}}"#,
            r#"{"product_option":[]}"#,
        ] {
            assert_eq!(item(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_plain_passes_the_check_unchanged() {
        let text = r#"{"cartItem":{"sku":"a","qty":2,"quote_id":"1","product_option":{}}}"#;
        assert!(item(text).is_some());
        let mut body = serde_json::from_str(text).unwrap();
        assert_eq!(check(&mut body, Operation::QuoteAddItem.body(), false).unwrap(), Vec::<String>::new());
        assert_eq!(serde_json::Value::Object(body).to_string(), text);
    }
}
