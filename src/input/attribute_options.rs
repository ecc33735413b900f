//! The CSV of an attribute's options: `label,sort_order,is_default,label:STORE_ID…`.

use std::path::Path;

use serde_json::{Map, Number, Value};

use super::cell::flag;
use super::document;
use super::problems::count_cells;
use super::strict_csv::{CsvError, CsvReader};
use crate::exact_json;
use crate::failure::Failure;
use crate::suggestion::closest_match;

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
    let refused = |error: CsvError| bad(name, &error.to_string());
    let mut reader = CsvReader::open(text.as_bytes()).map_err(|error| bad(name, &error.to_string()))?;
    let mut row = csv::ByteRecord::new();
    reader.read(&mut row).map_err(refused)?;
    let titles: Vec<String> = row.iter().map(text_of).collect();
    let width = titles.iter().rposition(|title| !title.trim().is_empty()).map_or(0, |last| last + 1);
    let columns = titles[..width].iter().map(|title| column(name, title)).collect::<Result<Vec<_>, _>>()?;
    if !columns.iter().any(|column| matches!(column, Column::Label)) {
        return Err(bad(name, "missing column `label`"));
    }
    let (mut options, mut problems) = (Vec::new(), Vec::new());
    while let Some(line) = reader.read(&mut row).map_err(refused)? {
        let cells: Vec<String> = row.iter().map(text_of).collect();
        if cells.len() > 1 && cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        match option(&columns, &cells, options.len() + 1) {
            Ok(option) => options.push(option),
            Err(what) => problems.push(format!("{name}: line {line}: {what}")),
        }
    }
    if problems.is_empty() {
        return Ok(options);
    }
    Err(Failure::usage_problems(problems).hint(COLUMNS_HINT))
}

/// The text was UTF-8 as a whole, and a delimiter is one byte of it.
fn text_of(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).into_owned()
}

fn column(file: &str, title: &str) -> Result<Column, Failure> {
    match title.trim().to_ascii_lowercase().as_str() {
        "label" => Ok(Column::Label),
        "sort_order" => Ok(Column::SortOrder),
        "is_default" => Ok(Column::IsDefault),
        title => match title.strip_prefix("label:").map(exact_json::number) {
            Some(Some(id)) if id.is_i64() => Ok(Column::StoreLabel(id)),
            Some(_) => Err(bad(file, &format!("column `{title}`: expected a store ID after `label:`"))),
            None => Err(unknown_column(file, title)),
        },
    }
}

fn unknown_column(file: &str, title: &str) -> Failure {
    let known = closest_match(title, ["label", "sort_order", "is_default"]);
    let meant = known.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    bad(file, &format!("unknown column `{title}`{meant}"))
}

fn option(columns: &[Column], row: &[String], position: usize) -> Result<Value, String> {
    if row.len() < columns.len() || row[columns.len()..].iter().any(|cell| !cell.trim().is_empty()) {
        return Err(format!("the row has {}, the header has {}", count_cells(row.len()), columns.len()));
    }
    let mut option = Map::new();
    let mut store_labels = Vec::new();
    option.insert("label".to_owned(), Value::Null);
    option.insert("sort_order".to_owned(), position.into());
    option.insert("is_default".to_owned(), false.into());
    for (column, cell) in columns.iter().zip(row) {
        match column {
            Column::Label if cell.is_empty() => return Err("the label is empty".to_owned()),
            Column::Label => drop(option.insert("label".to_owned(), cell.as_str().into())),
            _ if cell.trim().is_empty() => {}
            Column::SortOrder => {
                let order: i64 =
                    cell.trim().parse().map_err(|_| format!("sort_order `{cell}` is not an integer"))?;
                option.insert("sort_order".to_owned(), order.into());
            }
            Column::IsDefault => drop(option.insert(
                "is_default".to_owned(),
                flag(cell).ok_or_else(|| format!("is_default `{cell}` is not true or false"))?.into(),
            )),
            Column::StoreLabel(id) => store_labels
                .push(exact_json::object([("store_id", id.clone().into()), ("label", cell.as_str().into())])),
        }
    }
    if !store_labels.is_empty() {
        option.insert("store_labels".to_owned(), Value::Array(store_labels));
    }
    Ok(Value::Object(option))
}

fn bad(file: &str, what: &str) -> Failure {
    Failure::usage(format!("{file}: {what}")).hint(COLUMNS_HINT)
}

const COLUMNS_HINT: &str = "expected columns: label,sort_order,is_default,label:STORE_ID…";
