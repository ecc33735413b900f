//! Filled-in inputs of the operations. Their values suit the sandbox, so that each runs there as it is.

mod row;

use crate::failure::Failure;
use crate::plan::operation::Operation;

/// The same as a CSV: a header and one row.
///
/// # Errors
/// `internal` where it cannot be made.
pub fn csv(operation: Operation) -> Result<String, Failure> {
    let unforeseen =
        |error: &dyn std::fmt::Display| Failure::internal(format!("cannot generate CSV: {error}"));
    let document = serde_json::from_str(json(operation)).map_err(|error| unforeseen(&error))?;
    let (titles, cells): (Vec<String>, Vec<String>) =
        row::example_row(operation, &document).into_iter().unzip();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(titles)
        .and_then(|()| writer.write_record(cells))
        .map_err(|error| unforeseen(&error))?;
    let bytes = writer.into_inner().map_err(|error| unforeseen(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A JSON document that names every field the interface lists for an operation.
pub const fn json(operation: Operation) -> &'static str {
    operation.spec().template
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::json;
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
            let value: Value = serde_json::from_str(json(operation)).unwrap();
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
