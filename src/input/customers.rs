//! A file that lists customers: the output of `customer find`, an export, or the input of a batch.

use std::collections::HashSet;

use serde_json::Value;

use super::records::{Columns, Content, Record, RecordReader, at, detect};
use crate::cli::InputArgs;
use storefront_core::email::CustomerName;
use storefront_core::failure::Failure;
use storefront_core::id::CustomerId;
use storefront_core::sheet::cells;
use storefront_core::text::exact_json;

/// The columns or fields that may name the customer, in this order.
const NAMES: [&str; 3] = ["customer", "id", "email"];

/// Reads a list of customers, by id or email, each once, in its order. All records are checked before the service is
/// asked.
///
/// # Errors
/// `usage` for a file that cannot be read, is not a list, or has a record that names no customer.
pub fn listed(input: &InputArgs) -> Result<Vec<String>, Failure> {
    let Some(source) = detect(input)? else {
        return Err(Failure::usage("the input is not a list of customers").hint(
            "give CSV with a column `customer`, NDJSON or a JSON array; for stdin add --input-format",
        ));
    };
    let mut reader = RecordReader::open(&source, |header| Ok(Columns::untyped(header)))?;
    let column = reader.columns().map(|columns| {
        let place = |name: &&str| columns.titles.iter().position(|title| is_title(title, name));
        NAMES.iter().find_map(place).ok_or_else(|| {
            Failure::usage(format!("{}: no column `customer`, `id` or `email`", source.name()))
        })
    });
    let column = column.transpose()?;
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    while let Some(record) = reader.read()? {
        let place = format!("{} {}", source.place(), record.line);
        let name = name(&record, column).map_err(|what| Failure::usage(at(&source.name(), &place, &what)))?;
        if seen.insert(name.clone()) {
            found.push(name);
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(format!("{} lists no customers", source.name())));
    }
    Ok(found)
}

fn is_title(title: &str, name: &str) -> bool {
    cells::clean(title).eq_ignore_ascii_case(name)
}

/// The customer that a record names.
fn name(record: &Record, column: Option<usize>) -> Result<String, String> {
    let found = match &record.content {
        // Rows that are one record are options of an attribute.
        Content::Rows(_) => None,
        Content::Row(row) => column.and_then(|column| row.get(column)).map(str::to_owned),
        Content::Json(text) => match exact_json::parse(text.as_bytes()).map_err(|error| error.to_string())? {
            Value::Object(fields) => NAMES.iter().find_map(|name| plain(fields.get(*name)?)),
            value => plain(&value),
        },
    };
    let found = found.map(|name| cells::clean(&name).into_owned()).filter(|name| !name.is_empty());
    let text = found.ok_or("no customer")?;
    let name = CustomerName::parse(&text).filter(|name| *name != CustomerName::Id(CustomerId(0)));
    name.map(|name| name.key()).ok_or_else(|| format!("`{text}` is neither a customer ID nor an email"))
}

/// A text or a number.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
