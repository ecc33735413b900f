//! The columns of a CSV: which field of the operation's input each one sets, read off the documented shapes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::csv::CsvReader;
use super::document;
use crate::exact_json;
use crate::failure::Failure;
use crate::plan::operation::OperationSpec;
use crate::plan::operation::spec::{ColumnGroup, NamedColumns};
use crate::plan::profile::merge::DEFAULTS;
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
        operation: &'static OperationSpec,
        header: &csv::StringRecord,
        extra: &[String],
    ) -> Result<Self, Failure> {
        let known = known(dialect, operation);
        let titles = Titles {
            operation: Some(operation),
            known: &known,
            named: &operation.named_columns,
            labels: operation.label_column,
            extra,
        };
        titles.parse(name, header, |title| match title {
            _ if title.eq_ignore_ascii_case("customer")
                && operation.replaces.is_some()
                && dialect.customers.is_none() =>
            {
                format!("unknown column `{title}`; `customer` works with --api magento")
            }
            _ => titles.unknown(title),
        })
    }

    /// The titles, as they stand in the header.
    pub fn titles(&self) -> &csv::StringRecord {
        &self.titles
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
            let cells = if row.len() == 1 { "cell" } else { "cells" };
            let message = format!("the row has {} {cells}, the header has {}", row.len(), self.titles.len());
            return Err(RowError::Length(message));
        }
        let (mut document, mut extra) = (Map::new(), Map::new());
        let mut problems = Vec::new();
        for ((title, meaning), cell) in self.titles.iter().zip(&self.kinds).zip(row) {
            if cell.is_empty() {
                // An attribute without a label cannot be told from others in the shop's admin pages.
                problems.extend((title == LABEL).then(|| format!("column {LABEL} is empty")));
                continue;
            }
            match meaning {
                Meaning::Reason => {}
                Meaning::Extra => drop(extra.insert(title.to_owned(), cell.into())),
                Meaning::Member(_, FieldType::Number | FieldType::Scalar(Scalar::Number))
                    if self.delimiter == b';' && is_ambiguous(cell.trim()) =>
                {
                    let whole = cell.trim().replace('.', "");
                    problems.push(format!(
                        "column {title}: {cell:?} is ambiguous: write {whole} or {}0",
                        cell.trim()
                    ));
                }
                field => {
                    let result = field.set(cell, &mut document);
                    problems.extend(result.err().map(|what| format!("column {title}: {what}")));
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

/// The column of an attribute's label.
const LABEL: &str = "default_frontend_label";

/// Its cell where the row adds an address.
const NEW: &str = "new";

impl Meaning {
    fn set(&self, cell: &str, document: &mut Map<String, Value>) -> Result<(), String> {
        match self {
            Self::AddressId if cell.trim() == NEW => {}
            Self::AddressId => {
                let id = parse_cell(cell, FieldType::Integer)
                    .map_err(|what| format!("{what}; `{NEW}` adds an address"))?;
                set(document, &["addresses", "id"], id);
            }
            Self::NumericFlag(path) => {
                let flag = flag(cell)?;
                set(document, path, if flag { "1" } else { "0" }.into());
            }
            Self::Member(path, holds) => set(document, path, parse_cell(cell, *holds)?),
            Self::Named(column, name) => match column.element {
                None => {
                    let path: Vec<&str> = column.path.iter().copied().chain([name.as_str()]).collect();
                    set(document, &path, cell.into());
                }
                Some([(name_field, name_type), (value_field, value_type)]) => {
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

/// Sets a field. Objects on the way are made.
fn set(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    if let Some(place) = place(object, path) {
        *place = value;
    }
}

/// Adds an element to a list.
fn push(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    match place(object, path) {
        Some(Value::Array(list)) => list.push(value),
        Some(place) => *place = Value::Array(vec![value]),
        None => {}
    }
}

fn place<'a>(object: &'a mut Map<String, Value>, path: &[&str]) -> Option<&'a mut Value> {
    let (last, way) = path.split_last()?;
    let object = way.iter().try_fold(object, |object, name| {
        object.entry(*name).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
    });
    Some(object?.entry(*last).or_insert(Value::Null))
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

/// The titles that a CSV of this operation may have, besides those that contain a name of the user's, such as `label:2`;
/// each with the path of its member inside the wrapper. An address stands for the list of them.
pub fn paths(
    dialect: &'static Dialect,
    operation: &'static OperationSpec,
) -> impl Iterator<Item = (String, Vec<&'static str>)> {
    known(dialect, operation).into_iter().map(|known| (known.title, known.path))
}

/// The documented columns of an operation: the fields that hold no objects. Where two would have one title, the first
/// keeps it.
pub fn known(dialect: &'static Dialect, operation: &'static OperationSpec) -> Vec<Known> {
    let mut known: Vec<Known> = Vec::new();
    let inner = operation.inner_schema(dialect);
    let has_field = |group: &&ColumnGroup| group.path.first().is_none_or(|name| inner.field(name).is_some());
    for group in operation.columns.iter().filter(has_field) {
        for field in (group.schema)(dialect.fields).own_fields {
            let title = group.title(field.name);
            let is_leaf = !matches!(
                field.field_type,
                FieldType::Object(_) | FieldType::List(_) | FieldType::AnyObject | FieldType::AnyList
            );
            // Which address is the default is for flags to say: the others must lose it.
            if is_leaf && !DEFAULTS.contains(&field.name) && known.iter().all(|other| other.title != title) {
                let path = group.path.iter().copied().chain([field.name]).collect();
                known.push(Known { title, path, holds: field.field_type });
            }
        }
    }
    known
}

/// The column of the field that a flag sets: `country_id` for `country` or `--country`.
fn flag_title(operation: &'static OperationSpec, flag: &str) -> String {
    let flag = flag.trim_start_matches('-').to_lowercase().replace(['-', ' '], "_");
    if let Some((_, title)) = operation.flag_columns.iter().find(|(name, _)| *name == flag) {
        return (*title).to_owned();
    }
    let side = [("ship_", "shipping_address."), ("bill_", "billing_address.")];
    let found = side.iter().find_map(|(start, side)| Some((side, flag.strip_prefix(start)?)));
    match found {
        Some((side, "country")) => format!("{side}country_id"),
        Some((side, name)) => format!("{side}{name}"),
        None => flag,
    }
}

/// The titles that a header may have.
struct Titles<'a> {
    /// What the rows are input of; `None` for the options of an attribute.
    operation: Option<&'static OperationSpec>,
    known: &'a [Known],
    named: &'static NamedColumns,
    labels: Option<&'static str>,
    /// Columns that are no input.
    extra: &'a [String],
}

impl Titles<'_> {
    fn parse(
        &self,
        name: &str,
        header: &csv::StringRecord,
        unknown: impl Fn(&str) -> String,
    ) -> Result<Columns, Failure> {
        let mut titles: Vec<String> = header.iter().map(|title| title.trim().to_owned()).collect();
        titles.truncate(titles.iter().rposition(|title| !title.is_empty()).map_or(0, |last| last + 1));
        let (mut seen, mut kinds, mut problems) = (HashSet::new(), Vec::new(), Vec::new());
        for (index, title) in titles.iter_mut().enumerate() {
            match self.meaning(title) {
                _ if title.is_empty() => problems.push(format!("{name}: column {} has no title", index + 1)),
                None => problems.push(format!("{name}: {}", unknown(title))),
                Some((canonical, _)) if !seen.insert(canonical.clone()) => {
                    problems.push(format!("{name}: duplicate column `{title}`"));
                }
                Some((canonical, meaning)) => {
                    *title = canonical;
                    kinds.push(meaning);
                }
            }
        }
        if titles.is_empty() {
            problems.push(format!("{name} has no header"));
        }
        if !problems.is_empty() {
            return Err(self.refused(problems));
        }
        Ok(Columns { delimiter: b',', titles: titles.into(), kinds })
    }

    /// The title as it is known, and what it means. A title that no known one equals may differ from one in letter case, or
    /// be the name of a flag.
    fn meaning(&self, title: &str) -> Option<(String, Meaning)> {
        self.known_meaning(title).or_else(|| self.known_meaning(&flag_title(self.operation?, title)))
    }

    fn known_meaning(&self, title: &str) -> Option<(String, Meaning)> {
        let is = |name: &str| title.eq_ignore_ascii_case(name);
        let exact = self.known.iter().find(|known| known.title == title);
        if let Some(known) = exact.or_else(|| self.known.iter().find(|known| is(&known.title))) {
            let meaning = match known.title.as_str() {
                ADDRESS_ID => Meaning::AddressId,
                "is_searchable" => Meaning::NumericFlag(known.path.clone()),
                _ => Meaning::Member(known.path.clone(), known.holds),
            };
            return Some((known.title.clone(), meaning));
        }
        let exact = self.extra.iter().find(|name| *name == title);
        if let Some(name) = exact.or_else(|| self.extra.iter().find(|name| is(name))) {
            return Some((name.clone(), Meaning::Extra));
        }
        if is("reason") {
            return Some(("reason".to_owned(), Meaning::Reason));
        }
        if let Some(labels) = self.labels.filter(|labels| is(labels)) {
            return Some((labels.to_owned(), Meaning::Labels(labels)));
        }
        let named = self.named;
        let (start, name) = title.split_at_checked(named.prefix.len())?;
        let name = name.trim();
        let is_name = match named.element {
            Some([(_, FieldType::Integer), _]) => is_whole(name),
            _ => !name.is_empty(),
        };
        (start.eq_ignore_ascii_case(named.prefix) && is_name)
            .then(|| (format!("{}{name}", named.prefix), Meaning::Named(named, name.to_owned())))
    }

    /// What is wrong with a title that is not known.
    fn unknown(&self, title: &str) -> String {
        let known = self.known.iter().map(|known| known.title.as_str());
        let flags =
            self.operation.map_or(&[][..], |operation| operation.flag_columns).iter().map(|(flag, _)| *flag);
        let others = self.extra.iter().map(String::as_str).chain(["reason"]).chain(self.labels).chain(flags);
        let meant = closest_match(title, known.chain(others));
        let meant = meant.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
        format!("unknown column `{title}`{meant}")
    }

    fn refused(&self, problems: Vec<String>) -> Failure {
        let known = self.known.iter().map(|known| known.title.clone());
        let named = format!("{}{}", self.named.prefix, self.named.placeholder);
        let others = self.labels.map(str::to_owned).into_iter().chain(self.extra.iter().cloned());
        let all: Vec<String> = known.chain([named]).chain(others).collect();
        Failure::usage_problems(problems).hint(format!("expected columns: {}", all.join(",")))
    }
}

/// Options with the code of the attribute that each is for, where the file says so.
pub type Options = Vec<(Option<String>, Value)>;

/// Reads options from a CSV with the columns `label,sort_order,is_default,label:STORE_ID…`, in its order; with a column
/// `attribute_code` it serves many attributes. The position is the sort order where none is given.
///
/// # Errors
/// `usage`, with line and column, for a header or a cell that is not understood.
pub fn read_options(path: &Path, encoding: document::Named) -> Result<Options, Failure> {
    let name = &document::name(path);
    let known =
        [("label", FieldType::Text), ("sort_order", FieldType::Integer), ("is_default", FieldType::Boolean)]
            .map(|(title, holds)| Known { title: title.to_owned(), path: vec![title], holds });
    let mut rows = CsvReader::open(document::open(path, encoding)?, name.clone())?;
    let header = rows.read()?.map(|(_, header)| header).unwrap_or_default();
    let extra = [OPTION_CODE.to_owned()];
    let titles =
        Titles { operation: None, known: &known, named: &OPTION_LABELS, labels: None, extra: &extra };
    let columns = titles.parse(name, &header, |title| titles.unknown(title))?;
    let has = |wanted: &str| columns.titles.iter().any(|title| title == wanted);
    if !has("label") {
        return Err(titles.refused(vec![format!("{name}: missing column `label`")]));
    }
    let (mut options, mut problems, mut positions) = (Vec::new(), Vec::new(), HashMap::<_, u64>::new());
    while let Some((line, row)) = rows.read()? {
        let read = columns.document(&row).map_err(|error| match error {
            RowError::Length(what) => format!(": {what}"),
            RowError::Cells(what) => format!(", {what}"),
        });
        let read = read.and_then(|(cells, extra)| {
            let code = extra.get(OPTION_CODE).and_then(Value::as_str).map(|code| code.trim().to_owned());
            match cells.get("label").and_then(Value::as_str) {
                None | Some("") => Err(": the label is empty".to_owned()),
                Some(_) if code.is_none() && has(OPTION_CODE) => {
                    Err(format!(", column {OPTION_CODE} is empty"))
                }
                Some(_) => Ok((cells, code)),
            }
        });
        match read {
            Ok((cells, code)) => {
                let position = positions.entry(code.clone()).or_default();
                *position += 1;
                let mut option = json!({"label": null, "sort_order": *position, "is_default": false});
                option.as_object_mut().into_iter().for_each(|option| option.extend(cells.clone()));
                options.push((code, option));
            }
            Err(what) => problems.push(format!("{name}: line {line}{what}")),
        }
    }
    if problems.is_empty() { Ok(options) } else { Err(titles.refused(problems)) }
}

/// The column that says which attribute an option is for.
const OPTION_CODE: &str = "attribute_code";

/// The columns whose titles hold a store's id.
static OPTION_LABELS: NamedColumns = NamedColumns {
    prefix: "label:",
    placeholder: "STORE_ID…",
    path: &["store_labels"],
    element: Some([("store_id", FieldType::Integer), ("label", FieldType::Text)]),
};

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
        FieldType::Boolean | FieldType::Scalar(Scalar::Boolean) => flag(cell).map(Value::Bool),
        FieldType::Number | FieldType::Scalar(Scalar::Number) => exact_json::number(cell.trim())
            .map(Value::Number)
            .ok_or_else(|| match exact_json::with_decimal_point(cell) {
                Some(number) => format!("expected a number such as {number}, found {cell:?}"),
                None => expected(),
            }),
        FieldType::Integer | FieldType::Scalar(Scalar::Integer) => {
            let number = exact_json::number(cell.trim()).filter(|_| is_whole(cell.trim()));
            number.map(Value::Number).ok_or_else(expected)
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
fn flag(cell: &str) -> Result<bool, String> {
    match cell.trim().to_lowercase().as_str() {
        "1" | "true" | "yes" | "ja" | "oui" | "si" | "sí" => Ok(true),
        "0" | "false" | "no" | "nein" | "non" => Ok(false),
        _ => {
            Err(format!("expected yes or no (or true, false, 1, 0, ja, nein, oui, non, si), found {cell:?}"))
        }
    }
}

/// A number with a dot before three digits, which may stand between thousands where a comma stands before decimals.
fn is_ambiguous(cell: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = cell.trim_start_matches(['-', '+']).split_once('.');
    parts.is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len())
            && whole != "0"
            && rest.len() == 3
            && is_digits(whole)
            && is_digits(rest)
    })
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
