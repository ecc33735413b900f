//! The columns of a CSV: which field of the operation's input each one sets, read off the documented shapes.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Number, Value, json};

use super::csv::{CsvError, CsvReader};
use super::document;
use super::problems::count_cells;
use crate::exact_json;
use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::plan::operation::spec::{ColumnGroup, ColumnTable, NamedCell, NamedColumns};
use crate::plan::request::Dialect;
use crate::plan::validate::body::is_whole;
use crate::suggestion::closest_match;
use crate::wire::{FieldType, Scalar};

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
                None => problems.push(format!("{name}: {}", unknown(dialect, operation, title, &known))),
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
            let message =
                format!("the row has {}, the header has {}", count_cells(row.len()), self.titles.len());
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

/// What the cells of a column are.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// A field, by its path in the record.
    Member(Vec<&'static str>, FieldType),
    /// Which address the row changes, or that it adds one.
    AddressId,
    /// A flag that is sent as the text 1 or 0.
    NumericFlag(Vec<&'static str>),
    /// Something whose name is in the title, and that name.
    Named(&'static NamedColumns, String),
    /// Labels of options, `|` between them, a leading `*` for the default.
    Labels(&'static str),
    /// Not part of the document: the token, a placeholder's field.
    Extra,
    /// Why the record failed last time.
    Reason,
}

/// A column and the field it sets.
pub struct Known {
    pub title: String,
    path: Vec<&'static str>,
    holds: FieldType,
}

/// The column that says which address a row changes.
pub const ADDRESS_ID: &str = "address_id";

/// The titles a CSV of this operation may have, besides those that contain a name of the user's, such as `label:2`.
pub fn titles(dialect: &'static Dialect, operation: Operation) -> Vec<String> {
    known(dialect, operation).into_iter().map(|known| known.title).collect()
}

/// The same titles, each with the path of its member inside the wrapper; an address stands for the list of them.
pub fn paths(
    dialect: &'static Dialect,
    operation: Operation,
) -> impl Iterator<Item = (String, Vec<&'static str>)> {
    known(dialect, operation).into_iter().map(|known| (known.title, known.path))
}

/// The documented columns of an operation: the fields that hold no objects. Where two would have one title, the first
/// keeps it.
pub fn known(dialect: &'static Dialect, operation: Operation) -> Vec<Known> {
    let table = &operation.spec().columns;
    let mut known: Vec<Known> = Vec::new();
    let inner = operation.inner_schema(dialect);
    let has_field = |group: &&ColumnGroup| group.path.first().is_none_or(|name| inner.field(name).is_some());
    for group in table.groups.iter().filter(has_field) {
        for field in (group.schema)(dialect.fields).own_fields {
            let title = group.title(field.name);
            let is_leaf = !matches!(
                field.field_type,
                FieldType::Object(_) | FieldType::List(_) | FieldType::AnyObject | FieldType::AnyList
            );
            if is_leaf
                && !table.omitted.contains(&field.name)
                && known.iter().all(|other| other.title != title)
            {
                let path = group.path.iter().copied().chain([field.name]).collect();
                known.push(Known { title, path, holds: field.field_type });
            }
        }
    }
    known
}

/// The title as it is known, and what it means. A title that no known one equals may differ from one in letter case.
pub fn meaning(
    operation: Operation,
    title: &str,
    known: &[Known],
    extra: &[String],
) -> Option<(String, Meaning)> {
    let exact = known.iter().find(|known| known.title == title);
    let same = exact.or_else(|| known.iter().find(|known| known.title.eq_ignore_ascii_case(title)));
    if let Some(known) = same {
        let meaning = match known.title.as_str() {
            ADDRESS_ID => Meaning::AddressId,
            "is_searchable" => Meaning::NumericFlag(known.path.clone()),
            _ => Meaning::Member(known.path.clone(), known.holds),
        };
        return Some((known.title.clone(), meaning));
    }
    let is = |name: &str| title.eq_ignore_ascii_case(name);
    if let Some(name) =
        extra.iter().find(|name| *name == title).or_else(|| extra.iter().find(|name| is(name)))
    {
        return Some((name.clone(), Meaning::Extra));
    }
    if is("reason") {
        return Some(("reason".to_owned(), Meaning::Reason));
    }
    let table = &operation.spec().columns;
    if let Some(labels) = table.labels.filter(|labels| is(labels)) {
        return Some((labels.to_owned(), Meaning::Labels(labels)));
    }
    let named = table.named.as_ref()?;
    let (start, name) = title.split_at_checked(named.prefix.len())?;
    let name = name.trim();
    let is_name = match named.cell {
        NamedCell::Element { name: (_, FieldType::Integer), .. } => is_whole(name),
        _ => !name.is_empty(),
    };
    (start.eq_ignore_ascii_case(named.prefix) && is_name)
        .then(|| (format!("{}{name}", named.prefix), Meaning::Named(named, name.to_owned())))
}

/// The columns whose titles have a name of the user's in them, and those of every operation, for the hint.
pub fn more_titles(operation: Operation) -> String {
    let ColumnTable { named, labels, .. } = &operation.spec().columns;
    let labels = labels.map(|labels| format!(",{labels}")).unwrap_or_default();
    let named = named.as_ref().map(|named| format!(",{}{}", named.prefix, named.placeholder));
    format!("{}{labels},token,reason", named.unwrap_or_default())
}

/// What is wrong with a title that is not known.
pub fn unknown(dialect: &Dialect, operation: Operation, title: &str, known: &[Known]) -> String {
    if title.eq_ignore_ascii_case("customer")
        && operation.spec().replaces.is_some()
        && dialect.customers.is_none()
    {
        return format!("unknown column `{title}`; `customer` works with --api magento");
    }
    let named = known.iter().map(|known| known.title.as_str()).chain(["token", "reason", "options"]);
    let meant =
        closest_match(title, named).map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    format!("unknown column `{title}`{meant}")
}

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
pub fn read_options(path: &Path) -> Result<Vec<Value>, Failure> {
    parse_options(&document::read_text(path)?, &document::name(path))
}

/// As [`read_options`], of a text; `name` says where it came from.
///
/// # Errors
/// As [`read_options`].
fn parse_options(text: &str, name: &str) -> Result<Vec<Value>, Failure> {
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

/// A cell as what its field holds. Text stays exactly as it is; lines of a street are parted by `|` or line
/// breaks.
///
/// # Errors
/// What was expected and what was found.
pub fn parse_cell(cell: &str, holds: FieldType) -> Result<Value, String> {
    let expected = || format!("expected {}, found {cell:?}", holds.expected());
    match holds {
        FieldType::Text | FieldType::TextOrNull | FieldType::Scalar(Scalar::Text) => Ok(cell.into()),
        FieldType::TextList => {
            Ok(cell.split(['|', '\n']).map(str::trim).filter(|line| !line.is_empty()).collect())
        }
        FieldType::Boolean | FieldType::Scalar(Scalar::Boolean) => {
            flag(cell).map(Value::Bool).ok_or_else(|| not_a_flag(cell))
        }
        FieldType::Number | FieldType::Scalar(Scalar::Number) => {
            number(cell).map(Value::Number).ok_or_else(|| match exact_json::with_decimal_point(cell) {
                Some(number) => format!("expected a number such as {number}, found {cell:?}"),
                None => expected(),
            })
        }
        FieldType::Integer | FieldType::Scalar(Scalar::Integer) => {
            number(cell).filter(|_| is_whole(cell.trim())).map(Value::Number).ok_or_else(expected)
        }
        FieldType::Object(_) | FieldType::AnyObject => {
            let object = exact_json::parse_object(cell.as_bytes()).ok();
            object.map(Value::Object).ok_or_else(|| format!("expected a JSON object, found {cell:?}"))
        }
        FieldType::List(_) | FieldType::AnyList => {
            let list = exact_json::parse(cell.as_bytes()).ok().filter(Value::is_array);
            list.ok_or_else(|| format!("expected a JSON array, found {cell:?}"))
        }
    }
}

/// Yes or no, in the ways spreadsheets say it.
pub fn flag(cell: &str) -> Option<bool> {
    match cell.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// What is said of a cell that is no [`flag`].
pub fn not_a_flag(cell: &str) -> String {
    format!("expected yes or no (or true, false, 1, 0), found {cell:?}")
}

/// A number with its exact text.
fn number(cell: &str) -> Option<Number> {
    exact_json::number(cell.trim())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse_cell;
    use crate::wire::FieldType;

    #[test]
    fn text_stays_as_it_is() {
        assert_eq!(parse_cell("02138", FieldType::Text), Ok(json!("02138")));
        assert_eq!(parse_cell(" 1e3", FieldType::TextOrNull), Ok(json!(" 1e3")));
    }

    #[test]
    fn numbers_keep_their_text_and_street_lines_part() {
        assert_eq!(parse_cell("1.50", FieldType::Number).unwrap().to_string(), "1.50");
        assert_eq!(parse_cell("12", FieldType::Integer).unwrap().to_string(), "12");
        assert_eq!(
            parse_cell("1 Rue de Rivoli|2e étage", FieldType::TextList),
            Ok(json!(["1 Rue de Rivoli", "2e étage"]))
        );
        assert_eq!(parse_cell("yes", FieldType::Boolean), Ok(json!(true)));
    }

    #[test]
    fn what_does_not_fit_says_what_was_expected() {
        assert_eq!(
            parse_cell("1.5", FieldType::Integer),
            Err("expected an integer, found \"1.5\"".to_owned())
        );
        assert_eq!(
            parse_cell("1,5", FieldType::Number),
            Err("expected a number such as 1.5, found \"1,5\"".to_owned())
        );
        assert!(parse_cell("maybe", FieldType::Boolean).is_err());
    }
}
