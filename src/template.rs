//! Filled-in inputs of the operations. Their values suit the sandbox, so that each runs there as it is.

pub mod columns;
mod row;

use std::borrow::Cow;

use serde_json::Value;

use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::plan::request::Dialect;
use crate::wire::{FieldType, ObjectSchema};

/// The same as a CSV: a header and one row.
///
/// # Errors
/// `internal` where it cannot be made.
pub fn csv(dialect: &'static Dialect, operation: Operation) -> Result<String, Failure> {
    let unforeseen =
        |error: &dyn std::fmt::Display| Failure::internal(format!("cannot generate CSV: {error}"));
    let document = serde_json::from_str(&json(dialect, operation)?).map_err(|error| unforeseen(&error))?;
    let (titles, cells): (Vec<String>, Vec<String>) =
        row::example_row(dialect, operation, &document).into_iter().unzip();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(titles)
        .and_then(|()| writer.write_record(cells))
        .map_err(|error| unforeseen(&error))?;
    let bytes = writer.into_inner().map_err(|error| unforeseen(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A JSON document of an operation, without the fields that the interface does not have.
///
/// # Errors
/// `internal` where it cannot be made.
pub fn json(dialect: &Dialect, operation: Operation) -> Result<Cow<'static, str>, Failure> {
    let text = operation.spec().template;
    let mut document: Value = serde_json::from_str(text)
        .map_err(|error| Failure::internal(format!("cannot generate JSON: {error}")))?;
    let is_whole = !remove_unknown(&mut document, operation.schema(dialect));
    Ok(if is_whole { text.into() } else { format!("{document:#}\n").into() })
}

/// Removes what the shape does not list; whether there was such a field.
fn remove_unknown(value: &mut Value, shape: &ObjectSchema) -> bool {
    let Value::Object(object) = value else { return false };
    let before = object.len();
    object.retain(|name, _| shape.field(name).is_some());
    let mut removed = object.len() < before;
    for (name, inner) in object {
        let Some(field) = shape.field(name) else { continue };
        match (field.field_type, inner) {
            (FieldType::List(shape), Value::Array(elements)) => {
                for element in elements {
                    removed |= remove_unknown(element, shape);
                }
            }
            (FieldType::Object(shape), inner) => removed |= remove_unknown(inner, shape),
            _ => {}
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use crate::plan::operation::Operation;
    use crate::plan::request::dialect::MARKETPLACE;
    use crate::plan::validate::body::validate;
    use crate::wire::{FieldType, ObjectSchema};

    fn names(value: &Value, path: &str, shape: &'static ObjectSchema, found: &mut BTreeSet<String>) {
        for (name, value) in value.as_object().unwrap() {
            let path = format!("{path}{name}");
            let below = match shape.field(name).unwrap().field_type {
                FieldType::Object(shape) => Some((std::slice::from_ref(value), format!("{path}."), shape)),
                FieldType::List(shape) => {
                    Some((value.as_array().unwrap().as_slice(), format!("{path}[]."), shape))
                }
                _ => None,
            };
            if let Some((elements, path, shape)) = below {
                for element in elements {
                    names(element, &path, shape, found);
                }
            }
            found.insert(path);
        }
    }

    #[test]
    fn a_template_names_every_documented_member_and_passes_the_check() {
        for operation in Operation::ALL {
            let value: Value = serde_json::from_str(operation.spec().template).unwrap();
            let mut named = BTreeSet::new();
            names(&value, "", operation.schema(&MARKETPLACE), &mut named);
            let documented: BTreeSet<String> =
                operation.schema(&MARKETPLACE).fields().into_iter().map(|(path, _)| path).collect();
            assert_eq!(named, documented, "{}", operation.name());
            let warnings =
                validate(&mut value.as_object().unwrap().clone(), operation.schema(&MARKETPLACE), false);
            assert_eq!(warnings.unwrap(), Vec::<String>::new());
        }
    }
}
