//! A document as one row of a CSV, in the columns that input takes.

use serde_json::Value;

use crate::input::records;
use crate::plan::operation::Operation;
use crate::plan::operation::spec::{NamedCell, NamedColumns};
use crate::plan::request::{Bearer, Dialect};

/// Titles and cells.
pub fn example_row(
    dialect: &'static Dialect,
    operation: Operation,
    document: &Value,
) -> Vec<(String, String)> {
    let spec = operation.spec();
    let inner = spec.wrapper.map_or(document, |wrapper| &document[wrapper]);
    // One administrator's token serves the customers that records name.
    let has_customer = dialect.customers.is_some() && spec.bearer == Bearer::Customer;
    let customer = has_customer.then(|| ("customer".to_owned(), "1".to_owned()));
    let cells =
        records::paths(dialect, operation).filter_map(|(title, path)| Some((title, cell(at(inner, &path)?))));
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

/// Columns that have a code or an id in their title, and that of labels.
fn placeholder_columns(operation: Operation, inner: &Value) -> Vec<(String, String)> {
    let table = &operation.spec().columns;
    let mut columns = table.named.as_ref().map(|named| named_columns(named, inner)).unwrap_or_default();
    columns.extend(table.labels.map(|title| (title.to_owned(), labels(&inner[title]))));
    columns
}

fn named_columns(named: &NamedColumns, inner: &Value) -> Vec<(String, String)> {
    let found = at(inner, named.path);
    let column = |name: &str, value: &Value| (format!("{}{name}", named.prefix), cell(value));
    match named.cell {
        NamedCell::Field => {
            let fields = found.and_then(Value::as_object).into_iter().flatten();
            fields.map(|(name, value)| column(name, value)).collect()
        }
        NamedCell::Element { name: (name, _), value: (value, _) } => {
            let elements = found.and_then(Value::as_array).into_iter().flatten();
            elements.map(|element| column(&cell(&element[name]), &element[value])).collect()
        }
    }
}

/// Labels with `|` between them; a leading `*` marks the default.
fn labels(options: &Value) -> String {
    let label = |option: &Value| {
        let mark = if option["is_default"] == true { "*" } else { "" };
        format!("{mark}{}", cell(&option["label"]))
    };
    options.as_array().into_iter().flatten().map(label).collect::<Vec<_>>().join("|")
}
