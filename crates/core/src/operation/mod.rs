//! The operations of the service as data, and the bodies that they take.

pub mod json_schema;
pub mod spec;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::hint::{hint, storefront};
use crate::interface::fields::ObjectSchema;
use crate::interface::request::Dialect;
use crate::text::sanitize::sanitize_line;
use crate::text::suggestion::closest_match;
pub use spec::*;

/// A success in a person's words.
#[derive(Debug, Clone)]
pub struct Success {
    /// Such as `Created attribute fabric (id 145)`; without control characters.
    pub text: String,
    /// Whether it says what is of interest in the reply, which is then not printed.
    pub covers_response: bool,
}

impl OperationSpec {
    /// The operation as one word, such as `customer-update`.
    pub fn slug(&self) -> String {
        self.name.replace(' ', "-")
    }

    /// The operation of these words: `quote-ship`, `"quote ship"`, or `quote` and `ship`.
    ///
    /// # Errors
    /// `usage`, with the nearest name.
    pub fn parse(words: &[String]) -> Result<&'static Self, Failure> {
        let typed = words.join("-").replace(' ', "-");
        OPERATIONS.into_iter().find(|operation| operation.slug() == typed).ok_or_else(|| {
            let words = OPERATIONS.map(Self::slug);
            let hint = match closest_match(&typed, words.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of {}", words.join(", ")),
            };
            Failure::usage(format!("unknown operation `{typed}`")).hint(hint)
        })
    }

    /// The operation of a journal or a plan, by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        OPERATIONS.into_iter().chain([&UNDO]).find(|operation| operation.name == name)
    }

    /// Refuses an interface that does not have its call.
    ///
    /// # Errors
    /// `usage`.
    pub fn ensure_in(&self, dialect: &Dialect) -> Result<(), Failure> {
        if self.is_in(dialect) {
            return Ok(());
        }
        let message = format!("the interface `{}` has no `{}`", dialect.name, self.name);
        Err(Failure::usage(message).hint("for a Magento shop, add --api magento"))
    }

    /// Shape of the body in an interface, wrapper included.
    pub fn schema(&self, dialect: &Dialect) -> &'static ObjectSchema {
        (self.body)(dialect.fields)
    }

    /// Shape of what is inside the wrapper; of the body itself if it has none.
    pub fn inner_schema(&self, dialect: &Dialect) -> &'static ObjectSchema {
        let body = self.schema(dialect);
        self.wrapper.and_then(|wrapper| body.field(wrapper)?.field_type.schema()).unwrap_or(body)
    }
}

/// A number or a text of a body or a reply, on one line.
pub fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(sanitize_line(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A document as the documented body; it may come without its wrapper or its nested object.
///
/// # Errors
/// `usage` where it is not an object.
pub fn wrapped(
    operation: &OperationSpec,
    dialect: &Dialect,
    document: Option<Value>,
) -> Result<Map<String, Value>, Failure> {
    let document = match document {
        None => Map::new(),
        Some(Value::Object(document)) => document,
        Some(_) => return Err(Failure::usage("the input must be a JSON object")),
    };
    let Some(wrapper) = operation.wrapper else {
        return Ok(with_nested(document, dialect.fields.address_information));
    };
    let misspelt = |name: &str, value: &Value| value.is_object() && closest_match(name, [wrapper]).is_some();
    if document.iter().any(|(name, value)| name.trim() == wrapper || misspelt(name, value)) {
        return Ok(document);
    }
    Ok(Map::from_iter([(wrapper.to_owned(), Value::Object(document))]))
}

/// Refuses fields beside the wrapper, where the interface lists none.
///
/// # Errors
/// `usage`, naming the first one.
pub fn refuse_beside(wrapper: &str, body: &Map<String, Value>) -> Result<(), Failure> {
    match body.keys().find(|name| *name != wrapper) {
        Some(beside) if body.contains_key(wrapper) => {
            Err(Failure::usage(format!("`{beside}` stands beside `{wrapper}`, where no field is documented"))
                .hint(hint!("remove it, or send the body as it is with ", storefront("api"))))
        }
        _ => Ok(()),
    }
}

/// What is inside the wrapper of a body; the body itself where the operation has none.
pub fn unwrapped(operation: &OperationSpec, mut body: Map<String, Value>) -> Map<String, Value> {
    let Some(wrapper) = operation.wrapper else { return body };
    match body.shift_remove(wrapper) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Puts fields into the wrapper of a body: the inverse of [`unwrapped`].
pub fn body(operation: &OperationSpec, fields: Map<String, Value>) -> Map<String, Value> {
    match operation.wrapper {
        None => fields,
        Some(wrapper) => Map::from_iter([(wrapper.to_owned(), Value::Object(fields))]),
    }
}

/// The text of [`body`].
pub fn body_text(operation: &OperationSpec, fields: &Map<String, Value>) -> String {
    let text = match operation.wrapper {
        None => serde_json::to_string(fields),
        Some(wrapper) => serde_json::to_string(&BTreeMap::from([(wrapper, fields)])),
    };
    text.unwrap_or_default()
}

/// A body whose nested object is dissolved: its fields stand at the top.
///
/// # Errors
/// `usage` for a field that is in both places: only one of them could be sent.
pub fn without_nested(mut body: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    let Some(Value::Object(mut flat)) = body.shift_remove(NESTED) else { return Ok(body) };
    if let Some(both) = body.keys().find(|field| flat.contains_key(*field)) {
        return Err(Failure::usage(format!(
            "`{both}` is in `{NESTED}` and at the top of the input, which is one place in the flat layout"
        ))
        .hint("leave one of them out"));
    }
    flat.extend(body);
    Ok(flat)
}

fn with_nested(document: Map<String, Value>, schema: &ObjectSchema) -> Map<String, Value> {
    if document.keys().any(|given| given.trim() == NESTED) {
        return document;
    }
    let belongs = |name: &str| schema.field(name.trim()).is_some();
    let (inside, mut outer): (Map<String, Value>, Map<String, Value>) =
        document.into_iter().partition(|(name, _)| belongs(name));
    if !inside.is_empty() {
        outer.shift_insert(0, NESTED.to_owned(), Value::Object(inside));
    }
    outer
}
