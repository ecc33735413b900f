//! A document as one row of a CSV, in the columns that input takes.

use serde_json::Value;

use crate::input::records;
use crate::plan::operation::Operation;
use crate::plan::request::Dialect;

/// Titles and cells.
pub fn example_row(
    dialect: &'static Dialect,
    operation: Operation,
    document: &Value,
) -> Vec<(String, String)> {
    let inner = operation.wrapper().map_or(document, |wrapper| &document[wrapper]);
    // One administrator's token serves the customers that records name.
    let has_customer = dialect.customers.is_some() && operation != Operation::AttributeCreate;
    let customer = has_customer.then(|| ("customer".to_owned(), "1".to_owned()));
    let cells =
        records::paths(dialect, operation).filter_map(|(title, path)| Some((title, cell(at(inner, &path)?))));
    customer.into_iter().chain(cells).chain(placeholder_columns(operation, inner)).collect()
}

/// The value at a path; a row changes one address, so that a list stands for its first element.
fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(0).unwrap_or(value).get(name))
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().map(cell).collect::<Vec<_>>().join("|"),
        other => other.to_string(),
    }
}

/// Columns that have a code or an id in their title.
fn placeholder_columns(operation: Operation, inner: &Value) -> Vec<(String, String)> {
    let list = |pointer: &str| inner.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let pairs = |pointer: &str, prefix: &str, name: &str, value: &str| {
        let pair = |element: &Value| (format!("{prefix}{}", cell(&element[name])), cell(&element[value]));
        list(pointer).map(pair).collect::<Vec<_>>()
    };
    match operation {
        Operation::QuoteShip => inner["paymentMethod"]["method"]
            .as_str()
            .map(|code| ("paymentMethod.method".to_owned(), code.to_owned()))
            .into_iter()
            .collect(),
        Operation::QuoteAddItem => pairs(
            "/product_option/extension_attributes/configurable_item_options",
            "option:",
            "option_id",
            "option_value",
        ),
        Operation::CustomerUpdate => {
            pairs("/addresses/0/custom_attributes", "custom_attribute:", "attribute_code", "value")
        }
        Operation::AttributeCreate => {
            let label = |option: &Value| {
                let mark = if option["is_default"] == true { "*" } else { "" };
                format!("{mark}{}", cell(&option["label"]))
            };
            let labels: Vec<String> = list("/options").map(label).collect();
            let mut columns = pairs("/frontend_labels", "label:", "store_id", "label");
            columns.push(("options".to_owned(), labels.join("|")));
            columns
        }
    }
}
