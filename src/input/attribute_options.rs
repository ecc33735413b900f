//! The CSV of an attribute's options: `label,sort_order,is_default,label:STORE_ID…`.

use std::path::Path;

use serde_json::{Map, Number, Value};

use super::cell::{delimiter, flag};
use super::document;
use crate::exact_json;
use crate::failure::Failure;
use crate::nearest::nearest;

/// What a column holds.
enum Column {
    Label,
    SortOrder,
    IsDefault,
    StoreLabel(Number),
}

/// Reads the options of a CSV, in its order. The position is the sort order where none is given.
///
/// # Errors
/// `usage`, with line and column, for a header or a cell that is not understood.
pub fn read(path: &Path) -> Result<Vec<Value>, Failure> {
    parse(&document::read_text(path)?, &document::name(path))
}

/// As [`read`], of a text; `name` says where it came from.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, name: &str) -> Result<Vec<Value>, Failure> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(text)).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| bad(name, &error.to_string()))?;
    let columns = header.iter().map(|title| column(name, title)).collect::<Result<Vec<_>, _>>()?;
    if !columns.iter().any(|column| matches!(column, Column::Label)) {
        return Err(bad(name, "it has no column label"));
    }
    let mut options = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| bad(name, &error.to_string()))?;
        let line = row.position().map_or(0, csv::Position::line);
        options.push(
            option(&columns, &row, options.len() + 1)
                .map_err(|what| bad(name, &format!("line {line}: {what}")))?,
        );
    }
    Ok(options)
}

fn column(file: &str, title: &str) -> Result<Column, Failure> {
    match title.trim() {
        "label" => Ok(Column::Label),
        "sort_order" => Ok(Column::SortOrder),
        "is_default" => Ok(Column::IsDefault),
        title => match title.strip_prefix("label:").map(exact_json::number) {
            Some(Some(id)) if id.is_i64() => Ok(Column::StoreLabel(id)),
            Some(_) => Err(bad(file, &format!("the column {title:?} names no store id"))),
            None => Err(unknown_column(file, title)),
        },
    }
}

fn unknown_column(file: &str, title: &str) -> Failure {
    let known = nearest(title, ["label", "sort_order", "is_default"]);
    let meant = known.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
    bad(file, &format!("the column {title:?} is unknown{meant}"))
}

fn option(columns: &[Column], row: &csv::StringRecord, position: usize) -> Result<Value, String> {
    let mut option = Map::new();
    let mut store_labels = Vec::new();
    option.insert("label".to_owned(), Value::Null);
    option.insert("sort_order".to_owned(), position.into());
    option.insert("is_default".to_owned(), false.into());
    for (column, cell) in columns.iter().zip(row) {
        match column {
            Column::Label if cell.is_empty() => return Err("the label is empty".to_owned()),
            Column::Label => drop(option.insert("label".to_owned(), cell.into())),
            _ if cell.trim().is_empty() => {}
            Column::SortOrder => {
                let order: i64 =
                    cell.trim().parse().map_err(|_| format!("sort_order {cell:?} is no whole number"))?;
                option.insert("sort_order".to_owned(), order.into());
            }
            Column::IsDefault => drop(option.insert(
                "is_default".to_owned(),
                flag(cell).ok_or_else(|| format!("is_default {cell:?} is neither true nor false"))?.into(),
            )),
            Column::StoreLabel(id) => store_labels
                .push(exact_json::object([("store_id", id.clone().into()), ("label", cell.into())])),
        }
    }
    if !store_labels.is_empty() {
        option.insert("store_labels".to_owned(), Value::Array(store_labels));
    }
    Ok(Value::Object(option))
}

fn bad(file: &str, what: &str) -> Failure {
    Failure::usage(format!("{file}: {what}; nothing was sent"))
        .hint("the columns are label,sort_order,is_default,label:STORE_ID…")
}
