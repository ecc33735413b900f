//! Filled-in inputs of the operations. Their values suit the sandbox, so that each runs there as it is.

use std::borrow::Cow;

use serde_json::Value;

use crate::input::records;
use storefront_core::failure::Failure;
use storefront_core::interface::fields::{FLAGS_AS_TEXT, Field, FieldType, ObjectSchema, Scalar};
use storefront_core::interface::request::{Bearer, Dialect};
use storefront_core::lint;
use storefront_core::operation::OperationSpec;
use storefront_core::operation::spec::NamedColumns;
use storefront_core::sheet::address::ADDRESS_ID;
use storefront_core::sheet::cells;

/// A template as CSV: a header and one row.
///
/// # Errors
/// `internal` where it cannot be made.
pub fn csv(dialect: &'static Dialect, operation: &'static OperationSpec) -> Result<String, Failure> {
    let unforeseen =
        |error: &dyn std::fmt::Display| Failure::internal(format!("cannot generate CSV: {error}"));
    let document = serde_json::from_str(&json(dialect, operation)?).map_err(|error| unforeseen(&error))?;
    let (titles, cells): (Vec<String>, Vec<String>) =
        example_row(dialect, operation, &document).into_iter().unzip();
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
pub fn json(dialect: &Dialect, operation: &OperationSpec) -> Result<Cow<'static, str>, Failure> {
    let text = operation.template;
    let mut document: Value = serde_json::from_str(text)
        .map_err(|error| Failure::internal(format!("cannot generate JSON: {error}")))?;
    let is_whole = !remove_unknown(&mut document, operation.schema(dialect));
    Ok(if is_whole { text.into() } else { format!("{document:#}\n").into() })
}

/// Removes the fields that the shape does not list; `true` if there were any.
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

/// Whether records may name customers: one administrator's token serves them all.
pub fn names_customer(dialect: &Dialect, operation: &OperationSpec) -> bool {
    dialect.customers.is_some() && operation.bearer == Bearer::Customer
}

/// The titles and cells of an example row.
fn example_row(
    dialect: &'static Dialect,
    operation: &'static OperationSpec,
    document: &Value,
) -> Vec<(String, String)> {
    let inner = operation.wrapper.map_or(document, |wrapper| &document[wrapper]);
    let customer = names_customer(dialect, operation).then(|| ("customer".to_owned(), "1".to_owned()));
    let is_of_token = customer.is_none();
    // The row changes an address; the names beside it would be the account's, and its email that of the token's customer.
    let is_of_account = |title: &str| {
        operation.is_merged && (lint::NAMES.contains(&title) || title == "email" && is_of_token)
    };
    let cells = records::known(dialect, operation).into_iter().filter(|column| !is_of_account(&column.title));
    let cells = cells.filter_map(|column| Some((column.title, cell(at(inner, &column.path)?))));
    customer.into_iter().chain(cells).chain(placeholder_columns(operation, inner)).collect()
}

/// The value at a path; a row changes one address, so that a list stands for its first element.
fn at<'a>(value: &'a Value, path: &[impl AsRef<str>]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(0).unwrap_or(value).get(name.as_ref()))
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().map(cell).collect::<Vec<_>>().join("|"),
        other => other.to_string(),
    }
}

/// The columns with a code or an id in their titles, and the column of labels.
fn placeholder_columns(operation: &'static OperationSpec, inner: &Value) -> Vec<(String, String)> {
    let named = operation.named_columns.as_ref();
    let mut columns = named.map(|named| named_columns(named, inner)).unwrap_or_default();
    columns.extend(operation.label_column.map(|title| (title.to_owned(), labels(&inner[title]))));
    columns
}

fn named_columns(named: &NamedColumns, inner: &Value) -> Vec<(String, String)> {
    let found = at(inner, named.path);
    let column = |name: &str, value: &Value| (format!("{}{name}", named.prefix), cell(value));
    match named.element {
        None => {
            let fields = found.and_then(Value::as_object).into_iter().flatten();
            fields.map(|(name, value)| column(name, value)).collect()
        }
        Some([(name, _), (value, _)]) => {
            let elements = found.and_then(Value::as_array).into_iter().flatten();
            elements.map(|element| column(&cell(&element[name]), &element[value])).collect()
        }
    }
}

/// Labels with `|` between them; a leading `*` marks the default.
fn labels(options: &Value) -> String {
    let label = |option: &Value| {
        let mark = if option["is_default"] == true { "*" } else { "" };
        format!("{mark}{}", cells::option(&cell(&option["label"])))
    };
    options.as_array().into_iter().flatten().map(label).collect::<Vec<_>>().join("|")
}

/// A column: its title, what its cells hold, and what it is for.
pub type Column = (String, &'static str, String);

/// The columns that a CSV of an operation may have.
pub fn columns(dialect: &'static Dialect, operation: &'static OperationSpec) -> Vec<Column> {
    let fields = operation.schema(dialect).fields();
    let field_at = |path: &[&str]| -> Option<&'static Field> {
        let path: Vec<&str> = operation.wrapper.into_iter().chain(path.iter().copied()).collect();
        let path = path.join(".");
        fields.iter().find(|(name, _)| name.replace("[]", "") == path).map(|(_, field)| *field)
    };
    let known = records::known(dialect, operation).into_iter().filter_map(|column| {
        let title = column.title;
        let path: Vec<&str> = column.path.iter().map(AsRef::as_ref).collect();
        let field = field_at(&path)?;
        let (holds, doc) = match path.last().copied().unwrap_or_default() {
            "is_searchable" => ("yes or no", "Include in search"),
            name if FLAGS_AS_TEXT.contains(&name) => ("yes or no", field.doc),
            "id" if title == ADDRESS_ID => ("ID or `new`", "Address to change; `new` adds one"),
            "country_id" => ("text", "Country, by code or name"),
            _ => (holds(field.field_type), field.doc),
        };
        let whose = if title.starts_with("address_") && title != ADDRESS_ID { " of the address" } else { "" };
        Some((title, holds, format!("{doc}{whose}")))
    });
    let customer = names_customer(dialect, operation).then(|| {
        let doc = "Customer of the record, with an administrator's token";
        ("customer".to_owned(), "ID or email", doc.to_owned())
    });
    let token = (operation.bearer == Bearer::Customer).then(|| {
        ("token".to_owned(), "text", "Token of the record's customer, in place of the profile's".to_owned())
    });
    let mut columns: Vec<Column> = customer.into_iter().chain(token).chain(known).collect();
    if let Some(named) = &operation.named_columns {
        let doc = field_at(named.path).map_or("", |field| field.doc).to_owned();
        let named_holds = named.element.map_or("text", |[_, (_, field)]| holds(field));
        columns.push((format!("{}{}", named.prefix, named.placeholder), named_holds, doc));
    }
    columns.extend(operation.label_column.map(|title| {
        let doc = field_at(&[title]).map_or("", |field| field.doc);
        (title.to_owned(), "labels separated by |", format!("{doc}; * marks the default"))
    }));
    columns
}

fn holds(field: FieldType) -> &'static str {
    match field {
        FieldType::Text | FieldType::TextOrNull | FieldType::Scalar(Scalar::Text) => "text",
        FieldType::TextList => "values separated by |",
        FieldType::Boolean | FieldType::Scalar(Scalar::Boolean) => "yes or no",
        FieldType::Scalar(Scalar::Integer) => FieldType::Integer.expected(),
        FieldType::Scalar(Scalar::Number) => FieldType::Number.expected(),
        other => other.expected(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::json;
    use storefront_core::check::body::{findings, tidy};
    use storefront_core::check::field_names::FieldNames;
    use storefront_core::interface::dialect::MARKETPLACE;
    use storefront_core::interface::fields::{FieldType, ObjectSchema, Origin};
    use storefront_core::operation::OPERATIONS;

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
        for operation in OPERATIONS.into_iter().filter(|operation| operation.is_in(&MARKETPLACE)) {
            let value: Value = serde_json::from_str(&json(&MARKETPLACE, operation).unwrap()).unwrap();
            let mut named = BTreeSet::new();
            names(&value, "", operation.schema(&MARKETPLACE), &mut named);
            let fields = operation.schema(&MARKETPLACE).fields().into_iter();
            let documented = fields.filter(|(_, field)| field.origin == Origin::Listed);
            let documented: BTreeSet<String> = documented.map(|(path, _)| path).collect();
            assert_eq!(named, documented, "{}", operation.name);
            let mut body = value.as_object().unwrap().clone();
            let shape = operation.schema(&MARKETPLACE);
            assert_eq!(tidy(&mut body, shape).unwrap(), Vec::<String>::new());
            assert_eq!(findings(&body, shape, false, &FieldNames::default()), []);
        }
    }
}
