//! The columns of a CSV: which field of the operation's input each one sets, read off the documented shapes.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::titles::{ADDRESS_ID, Meaning, known, meaning, more_titles, unknown};
use crate::exact_json;
use crate::failure::Failure;
use crate::input::cell::{flag, not_a_flag, parse_cell};
use crate::plan::operation::Operation;
use crate::plan::operation::spec::NamedCell;
use crate::plan::request::Dialect;
use crate::wire::FieldType;

/// Titles and meaning of a header.
#[derive(Debug, Clone)]
pub struct Columns {
    /// Byte between cells.
    pub delimiter: u8,
    titles: csv::StringRecord,
    kinds: Vec<Meaning>,
}

/// What a row says: the document, and the columns that are not part of it.
pub type SplitRow = (Map<String, Value>, Map<String, Value>);

/// Why a row is no record.
#[derive(Debug)]
pub enum RowError {
    /// It has more or fewer cells than the header.
    Length(String),
    /// Cells are wrong; the message names their columns.
    Cells(String),
}

impl Columns {
    /// Understands a header: titles in any letter case, empty ones at its end left out. `extra` names columns that are
    /// no input of the operation, such as `token`.
    ///
    /// # Errors
    /// `usage` for every title that is unknown, with the nearest known one, or there twice.
    pub fn parse_header(
        name: &str,
        dialect: &'static Dialect,
        operation: Operation,
        header: &csv::StringRecord,
        extra: &[String],
    ) -> Result<Self, Failure> {
        let known = known(dialect, operation);
        let mut titles: Vec<String> = header.iter().map(|title| title.trim().to_owned()).collect();
        titles.truncate(titles.iter().rposition(|title| !title.is_empty()).map_or(0, |last| last + 1));
        let (mut seen, mut meanings, mut problems) = (HashSet::new(), Vec::new(), Vec::new());
        for (index, title) in titles.iter_mut().enumerate() {
            match meaning(operation, title, &known, extra) {
                _ if title.is_empty() => problems.push(format!("{name}: column {} has no title", index + 1)),
                None => problems.push(format!("{name}: {}", unknown(title, &known))),
                Some((canonical, _)) if !seen.insert(canonical.clone()) => {
                    problems.push(format!("{name}: duplicate column `{title}`"));
                }
                Some((canonical, meaning)) => {
                    *title = canonical;
                    meanings.push(meaning);
                }
            }
        }
        if titles.is_empty() {
            problems.push(format!("{name} has no header"));
        }
        if !problems.is_empty() {
            let titles: Vec<&str> = known.iter().map(|known| known.title.as_str()).collect();
            return Err(Failure::usage_problems(problems).hint(format!(
                "expected columns: {}{}",
                titles.join(","),
                more_titles(operation)
            )));
        }
        Ok(Self { delimiter: b',', titles: titles.into(), kinds: meanings })
    }

    /// The titles, as they stand in the header.
    pub fn titles(&self) -> &csv::StringRecord {
        &self.titles
    }

    /// The title of a column, by its position from 0.
    pub fn title(&self, index: usize) -> &str {
        self.titles.get(index).unwrap_or("no column title")
    }

    /// Whether a column holds why a record failed.
    pub fn is_reason(&self, index: usize) -> bool {
        matches!(self.kinds.get(index), Some(Meaning::Reason))
    }

    /// A row as the document it stands for. Empty cells name nothing.
    ///
    /// # Errors
    /// Every cell that is wrong, by its column.
    pub fn document(&self, row: &csv::StringRecord) -> Result<SplitRow, RowError> {
        if row.len() != self.titles.len() {
            let message = format!("the row has {} cells, the header has {}", row.len(), self.titles.len());
            return Err(RowError::Length(message));
        }
        let (mut document, mut extra) = (Map::new(), Map::new());
        let mut problems = Vec::new();
        for ((title, meaning), cell) in self.titles.iter().zip(&self.kinds).zip(row) {
            if cell.is_empty() {
                continue;
            }
            match meaning {
                Meaning::Reason => {}
                Meaning::Extra => drop(extra.insert(title.to_owned(), cell.into())),
                field => {
                    let laid = field.lay(cell, &mut document);
                    problems.extend(laid.err().map(|what| format!("column {title}: {what}")));
                }
            }
        }
        problems.extend(self.place_address(row, &mut document).err());
        if problems.is_empty() { Ok((document, extra)) } else { Err(RowError::Cells(problems.join("; "))) }
    }

    /// Puts the address of a row into the list. A row adds an address only where it says so, or where the header has no
    /// column of ids: an id that was forgotten would add one with a city and nothing else.
    fn place_address(
        &self,
        row: &csv::StringRecord,
        document: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let id = self.titles.iter().position(|title| title == ADDRESS_ID).and_then(|at| row.get(at));
        let Some(address) = document.get_mut("addresses") else {
            return match id {
                Some(NEW) => Err(format!("column {ADDRESS_ID}: the new address has no field")),
                _ => Ok(()),
            };
        };
        if id.is_some_and(|id| id.trim().is_empty()) {
            return Err(format!(
                "column {ADDRESS_ID} is empty, and fields of an address are given: \
                 name the id of a stored address, or `{NEW}` to add one"
            ));
        }
        *address = json!([address.take()]);
        Ok(())
    }
}

/// Its cell where the row adds an address.
const NEW: &str = "new";

impl Meaning {
    fn lay(&self, cell: &str, document: &mut Map<String, Value>) -> Result<(), String> {
        match self {
            Self::AddressId if cell.trim() == NEW => {}
            Self::AddressId => {
                let id = parse_cell(cell, FieldType::Integer)
                    .map_err(|what| format!("{what}; `{NEW}` adds an address"))?;
                set(document, &["addresses", "id"], id);
            }
            Self::NumericFlag(path) => {
                let flag = flag(cell).ok_or_else(|| not_a_flag(cell))?;
                set(document, path, if flag { "1" } else { "0" }.into());
            }
            Self::Member(path, holds) => set(document, path, parse_cell(cell, *holds)?),
            Self::Named(column, name) => match column.cell {
                NamedCell::Field => {
                    let path: Vec<&str> = column.path.iter().copied().chain([name.as_str()]).collect();
                    set(document, &path, cell.into());
                }
                NamedCell::Element { name: (name_field, name_type), value: (value_field, value_type) } => {
                    let element = exact_json::object([
                        (name_field, parse_cell(name, name_type)?),
                        (value_field, parse_cell(cell, value_type)?),
                    ]);
                    push(document, column.path, element);
                }
            },
            Self::Labels(field) => set(document, &[field], options(cell)),
            Self::Extra | Self::Reason => {}
        }
        Ok(())
    }
}

/// Labels with `|` between them; a leading `*` marks the default.
fn options(cell: &str) -> Value {
    let labels = cell.split('|').map(str::trim).filter(|label| !label.is_empty()).enumerate();
    labels
        .map(|(index, label)| {
            let bare = label.strip_prefix('*');
            json!({"label": bare.unwrap_or(label), "sort_order": index + 1, "is_default": bare.is_some()})
        })
        .collect()
}

fn set(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(object.insert((*name).to_owned(), value)),
        [name, rest @ ..] => {
            let inner = object.entry(*name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

fn push(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => {
            if let Value::Array(list) = object.entry(*name).or_insert_with(|| json!([])) {
                list.push(value);
            }
        }
        [name, rest @ ..] => {
            if let Value::Object(inner) = object.entry(*name).or_insert_with(|| json!({})) {
                push(inner, rest, value);
            }
        }
    }
}
