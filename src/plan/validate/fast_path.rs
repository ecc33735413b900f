//! Validates JSON text without building a `Value`, so that conforming records can be sent verbatim.
//!
//! This is the fast half of [`crate::plan::validate::body`]. It only says yes: whatever is not plainly right
//! is left to the check proper, which knows how to fix it, or what to say about it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::exact_json;
use crate::plan::operation::Operation;
use crate::plan::validate::body::is_whole;
use crate::plan::validate::lint_cart_item::is_positive;
use crate::wire::{FieldType, ObjectSchema};

/// What a plain body has that its caller must know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassThrough {
    /// Whether the body stands in its wrapper already.
    pub wrapped: bool,
    /// The field that was looked for inside the wrapper, if it is there.
    pub found: Option<String>,
}

/// Scans the text of a body, with or without its wrapper, for an operation that has one. `wanted` is a text
/// field whose value is told; `required` one without which the body is not plain.
///
/// `None` for anything that is not plainly right.
pub fn scan(operation: Operation, text: &str, wanted: &str, required: Option<&str>) -> Option<PassThrough> {
    // The mask of a token, or what may be one in other letters.
    if text.contains('•') || text.contains("\\u2022") {
        return None;
    }
    let wrapper = operation.wrapper()?;
    let FieldType::Object(inner) = operation.schema().field(wrapper)?.field_type else { return None };
    let mut body = Body { wrapper, wrapped: false, inside: Scan { wanted, required, ..Scan::of(inner) } };
    let mut reader = serde_json::Deserializer::from_str(text);
    Object(&mut body).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    let Body { wrapped, inside, .. } = body;
    let has_quantity = inside.has_quantity || operation != Operation::QuoteAddItem;
    let complete = inside.seen > 0 && has_quantity && (required.is_none() || inside.has_required);
    // What stands inside an object of any kind was passed over, and so were halves of characters.
    exact_json::check(text.as_bytes()).ok()?;
    complete.then_some(PassThrough { wrapped, found: inside.found })
}

/// Somebody who takes fields one by one, and fails at the first that is not plainly right.
trait Members<'de> {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, members: &mut M) -> Result<(), M::Error>;
}

/// A body: its wrapper with nothing beside it, or what stands inside without one.
struct Body<'a> {
    wrapper: &'static str,
    wrapped: bool,
    inside: Scan<'a>,
}

impl<'de> Members<'de> for Body<'_> {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, members: &mut M) -> Result<(), M::Error> {
        if self.wrapped {
            return Err(needs_full_check());
        }
        if name != self.wrapper || self.inside.seen > 0 {
            return self.inside.take(name, members);
        }
        self.wrapped = true;
        members.next_value_seed(Object(&mut self.inside))
    }
}

/// Holds fields against a shape.
struct Scan<'a> {
    shape: &'static ObjectSchema,
    wanted: &'a str,
    required: Option<&'a str>,
    found: Option<String>,
    has_required: bool,
    has_quantity: bool,
    /// One bit for each field of the shape that was there.
    seen: u64,
}

impl Scan<'_> {
    fn of(shape: &'static ObjectSchema) -> Self {
        Self {
            shape,
            wanted: "",
            required: None,
            found: None,
            has_required: false,
            has_quantity: false,
            seen: 0,
        }
    }
}

impl<'de> Members<'de> for Scan<'_> {
    fn take<M: MapAccess<'de>>(&mut self, name: &str, members: &mut M) -> Result<(), M::Error> {
        let position = self.shape.own_fields.iter().position(|member| member.name == name);
        let position = position.ok_or_else(needs_full_check)?;
        let bit = 1 << position;
        // Named twice: which of the two counts is not ours to say.
        if self.seen & bit > 0 {
            return Err(needs_full_check());
        }
        self.seen |= bit;
        self.has_required |= self.required == Some(name);
        if self.wanted == name {
            self.found = Some(members.next_value()?);
            return Ok(());
        }
        if name == "qty" {
            let quantity: &RawValue = members.next_value()?;
            self.has_quantity =
                matches_type(quantity.get(), FieldType::Number) && is_positive(quantity.get());
            return if self.has_quantity { Ok(()) } else { Err(needs_full_check()) };
        }
        members.next_value_seed(TypeCheck(self.shape.own_fields[position].field_type))
    }
}

fn needs_full_check<E: Error>() -> E {
    E::custom("not plain")
}

/// A value that is plainly what a field holds.
struct TypeCheck(FieldType);

impl<'de> DeserializeSeed<'de> for TypeCheck {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            FieldType::Object(shape) => Object(&mut Scan::of(shape)).deserialize(deserializer),
            FieldType::List(shape) => deserializer.deserialize_seq(Elements(FieldType::Object(shape))),
            FieldType::TextList => deserializer.deserialize_seq(Elements(FieldType::Text)),
            holds => {
                let value = <&'de RawValue>::deserialize(deserializer)?;
                if matches_type(value.get(), holds) { Ok(()) } else { Err(needs_full_check()) }
            }
        }
    }
}

/// Whether the text of a JSON value is that of a kind: what is not shown by its first byte was checked when it was
/// parsed.
fn matches_type(value: &str, holds: FieldType) -> bool {
    let first = value.bytes().next();
    match holds {
        FieldType::Text => first == Some(b'"'),
        FieldType::TextOrNull => matches!(first, Some(b'"' | b'n')),
        FieldType::Boolean => matches!(first, Some(b't' | b'f')),
        FieldType::Number => matches!(first, Some(b'-' | b'0'..=b'9')),
        FieldType::Integer => matches!(first, Some(b'-' | b'0'..=b'9')) && is_whole(value),
        FieldType::AnyObject | FieldType::Object(_) => first == Some(b'{'),
        FieldType::List(_) | FieldType::TextList => first == Some(b'['),
    }
}

/// An object whose fields are taken one by one.
struct Object<'a, T>(&'a mut T);

impl<'de, T: Members<'de>> DeserializeSeed<'de> for Object<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Members<'de>> Visitor<'de> for Object<'_, T> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(name) = members.next_key::<Name<'de>>()? {
            self.0.take(&name.0, &mut members)?;
        }
        Ok(())
    }
}

/// A field's name, borrowed where it needs no unescaping.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A list of values of one kind.
struct Elements(FieldType);

impl<'de> Visitor<'de> for Elements {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        while elements.next_element_seed(TypeCheck(self.0))?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::scan;
    use crate::plan::operation::Operation;
    use crate::plan::validate::body::validate;
    use crate::plan::validate::fast_path::PassThrough;

    fn item(text: &str) -> Option<PassThrough> {
        scan(Operation::QuoteAddItem, text, "quote_id", None)
    }

    #[test]
    fn plain_bodies_are_known_with_and_without_their_wrapper() {
        let inner = r#"{"sku":"a\u0041", "qty": 1.50, "quote_id":"q\"1","product_option":
            {"extension_attributes":{"configurable_item_options":[{"option_id":"93","option_value":-56}]}}}"#;
        let found = Some("q\"1".to_owned());
        assert_eq!(item(inner), Some(PassThrough { wrapped: false, found: found.clone() }));
        assert_eq!(item(&format!("{{\"cartItem\":{inner}}}")), Some(PassThrough { wrapped: true, found }));
        assert_eq!(item(r#"{"qty":1}"#), Some(PassThrough::default()));
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
            r#"{"sku":"a"}"#,
            r#"{"sku":"a","qty":0}"#,
            r#"{"sku":"a","qty":-1}"#,
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
            r#"{"product_option":{"extension_attributes":{"custom_options":[{"a":1,"a":2}]}}}"#,
            r#"{"sku":"\ud800"}"#,
        ] {
            assert_eq!(item(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_plain_passes_the_check_unchanged() {
        let text = r#"{"cartItem":{"sku":"a","qty":2,"quote_id":"1","product_option":{}}}"#;
        assert!(item(text).is_some());
        let mut body = serde_json::from_str(text).unwrap();
        assert_eq!(
            validate(&mut body, Operation::QuoteAddItem.schema(), false).unwrap(),
            Vec::<String>::new()
        );
        assert_eq!(serde_json::Value::Object(body).to_string(), text);
    }
}
