//! The layouts in which a body is taken, held and sent.

use serde_json::{Map, Value};

use super::Operation;
use crate::failure::Failure;
use crate::plan::request::Dialect;
use crate::suggestion::closest_match;
use crate::wire::ObjectSchema;

/// A document as the documented body: it is taken with or without its wrapper, or its nested object.
///
/// # Errors
/// `usage` where it is no object.
pub fn wrapped(
    operation: Operation,
    dialect: &Dialect,
    document: Option<Value>,
) -> Result<Map<String, Value>, Failure> {
    let document = match document {
        None => Map::new(),
        Some(Value::Object(document)) => document,
        Some(_) => return Err(Failure::usage("the input must be a JSON object")),
    };
    let Some(wrapper) = operation.spec().wrapper else {
        return Ok(match operation.spec().nested {
            Some(nested) => with_nested(document, nested, dialect.fields.address_information),
            None => document,
        });
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
                .hint("remove it, or send the body as it is with `storefront api`"))
        }
        _ => Ok(()),
    }
}

/// What is inside the wrapper of a body; the body itself where the operation has none.
pub fn unwrapped(operation: Operation, mut body: Map<String, Value>) -> Map<String, Value> {
    let Some(wrapper) = operation.spec().wrapper else { return body };
    match body.shift_remove(wrapper) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The other way round.
pub fn body(operation: Operation, fields: Map<String, Value>) -> Map<String, Value> {
    match operation.spec().wrapper {
        None => fields,
        Some(wrapper) => Map::from_iter([(wrapper.to_owned(), Value::Object(fields))]),
    }
}

/// A body without its nested object, the fields of which then stand at the top.
///
/// # Errors
/// `usage` for a field that is in both places: only one of them could be sent.
pub fn without_nested(
    operation: Operation,
    mut body: Map<String, Value>,
) -> Result<Map<String, Value>, Failure> {
    let Some(name) = operation.spec().nested else { return Ok(body) };
    let Some(Value::Object(mut flat)) = body.shift_remove(name) else { return Ok(body) };
    if let Some(both) = body.keys().find(|field| flat.contains_key(*field)) {
        return Err(Failure::usage(format!(
            "`{both}` is in `{name}` and at the top of the input, which is one place in the flat layout"
        ))
        .hint("leave one of them out"));
    }
    flat.extend(body);
    Ok(flat)
}

fn with_nested(
    document: Map<String, Value>,
    name: &'static str,
    schema: &ObjectSchema,
) -> Map<String, Value> {
    if document.keys().any(|given| given.trim() == name) {
        return document;
    }
    let belongs = |name: &str| schema.field(name.trim()).is_some();
    let (inside, mut outer): (Map<String, Value>, Map<String, Value>) =
        document.into_iter().partition(|(name, _)| belongs(name));
    if !inside.is_empty() {
        outer.shift_insert(0, name.to_owned(), Value::Object(inside));
    }
    outer
}
