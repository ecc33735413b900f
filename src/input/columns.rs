//! The columns of a CSV: the field of the operation's input that each one sets, from the documented shapes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::csv::CsvReader;
use super::document;
use storefront_core::attribute::label;
use storefront_core::check::body::is_whole;
use storefront_core::check::field_names::FieldNames;
use storefront_core::check::spreadsheet;
use storefront_core::check::synonyms::{second_street_line, suggest};
use storefront_core::failure::Failure;
use storefront_core::interface::fields::{FLAGS_AS_TEXT, FieldType, Scalar, UNKNOWN};
use storefront_core::interface::request::{Bearer, Dialect};
use storefront_core::operation::spec::{ColumnGroup, NamedColumns};
use storefront_core::operation::{ATTRIBUTE_OPTION_ADD, OperationSpec, scalar};
use storefront_core::profile::address::DEFAULTS;
use storefront_core::profile::clear::{can_clear, nothing};
use storefront_core::sheet::address::{self, ADDRESS_ID, Row};
use storefront_core::sheet::cells::{self, flag, options};
use storefront_core::sheet::exported::{EXPORTED, Mark};
use storefront_core::text::exact_json;

/// The columns of a header.
#[derive(Debug, Clone)]
pub struct Columns {
    /// Byte between cells.
    pub delimiter: u8,
    /// The titles, as in the file.
    pub titles: csv::StringRecord,
    /// The titles by the fields that their columns set.
    pub names: FieldNames,
    columns: Vec<Column>,
    /// Whether a cell can clear its field.
    can_clear: bool,
    /// Whether consecutive rows may be one record.
    pub joins_rows: bool,
}

/// A column and what its cells set.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its title in a header.
    pub title: String,
    /// The path of its field inside the wrapper. `addresses` stands for an element of the list.
    pub path: Vec<String>,
    holds: Holds,
}

/// What the cells of a column hold.
#[derive(Debug, Clone)]
enum Holds {
    /// A field.
    Field(FieldType),
    /// A value whose name is in the title, after this pattern.
    Named(&'static NamedColumns),
    /// An element of a list: the field of its name, with the name, and the field of the cell.
    Element((&'static str, Value), (&'static str, FieldType)),
    /// Labels of options, `|` between them, a leading `*` for the default.
    Labels,
    /// A column that is not part of the document: the token, a field for a placeholder.
    Extra,
    /// Why the record failed last time.
    Reason,
    /// A column that an export adds for people.
    Ignored,
    /// The column with the values that the row had when it was exported.
    Exported,
}

/// The document of a row, and the columns that are not part of it.
pub type SplitRow = (Map<String, Value>, Map<String, Value>);

impl Columns {
    /// Understands a header: titles in any letter case, empty ones at its end left out. `extra` names columns that are
    /// no input of the operation, such as `token`.
    ///
    /// # Errors
    /// `usage` for every title that is unknown, with the nearest known one, or that is repeated.
    pub fn parse_header(
        name: &str,
        dialect: &'static Dialect,
        operation: &'static OperationSpec,
        header: &csv::StringRecord,
        extra: &[String],
    ) -> Result<Self, Failure> {
        let named = operation.named_columns.as_ref();
        let labels = operation.label_column;
        let mut columns = all_columns(known(dialect, operation), named, labels, extra);
        let column = |title: &str, holds| Column { title: title.to_owned(), path: Vec::new(), holds };
        if operation.is_exported() {
            columns.push(column(EXPORTED, Holds::Exported));
        }
        if operation.is_merged {
            columns.extend(dialect.customers.map(|_| column(CUSTOMER_EMAIL, Holds::Ignored)));
        }
        let only_magento: &[&str] = match operation.bearer {
            Bearer::Customer if dialect.customers.is_none() => {
                &["customer", CUSTOMER_EMAIL, DEFAULTS[0], DEFAULTS[1]]
            }
            Bearer::Admin if !dialect.changes_attributes => &["attribute_set", "set"],
            _ => &[],
        };
        let known = KnownColumns { operation, columns, only_magento };
        let columns = known.parse(name, header)?;
        let expected = if operation.is_merged { address::titles(dialect.fields) } else { Vec::new() };
        columns.ensure_exported(&expected).map_err(|problems| known.refused(problems))?;
        Ok(columns)
    }

    /// Refuses an exported sheet without one of its columns, whose rows would look edited. `customer_email` does not name
    /// the customer.
    fn ensure_exported(&self, titles: &[String]) -> Result<(), Vec<String>> {
        let mut problems = Vec::new();
        if self.has(CUSTOMER_EMAIL) && !self.has("customer") {
            problems.push(format!("unknown column `{CUSTOMER_EMAIL}`; did you mean `customer`?"));
        }
        if self.has(EXPORTED) {
            let missing = titles.iter().filter(|title| !self.has(title)).map(|title| {
                format!(
                    "missing column `{title}`: a sheet with `{EXPORTED}` has all columns of the export; \
                     without `{EXPORTED}` nothing is compared with it"
                )
            });
            problems.extend(missing);
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// The titles alone, without an operation.
    pub fn untyped(header: &csv::StringRecord) -> Self {
        let names = FieldNames::default();
        Self {
            delimiter: b',',
            titles: header.clone(),
            names,
            columns: Vec::new(),
            can_clear: false,
            joins_rows: false,
        }
    }

    /// Whether there is a column with this title.
    pub fn has(&self, title: &str) -> bool {
        self.position(title).is_some()
    }

    fn position(&self, title: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.title == title)
    }

    /// The values of a row that are compared with the stored ones: its cells, and the values when it was exported.
    ///
    /// # Errors
    /// What is wrong with the row of an export.
    pub fn exported(&self, row: &csv::StringRecord, allows_loss: bool) -> Result<Option<Row>, String> {
        let is_default = |column: &Column| DEFAULTS.contains(&&*column.title);
        let is_of_product = self.has(PRODUCT_NAMES[0]) && !self.has(ADDRESS_ID);
        let whose = if is_of_product { "values" } else { "addresses" };
        let is_value = |column: &&Column| match column.path.first() {
            Some(_) if is_of_product => column.is_input() && !PRODUCT_NAMES.contains(&&*column.title),
            first => first.is_some_and(|name| name == "addresses"),
        };
        let cells = self.columns.iter().zip(row).filter(|(column, _)| is_value(column));
        let cells = cells.filter(|(column, _)| !is_default(column));
        let cells: Vec<(String, String)> =
            cells.map(|(column, cell)| (column.title.clone(), cell.to_owned())).collect();
        let id = self.position(ADDRESS_ID).and_then(|at| row.get(at)).map(cells::value).unwrap_or_default();
        if !is_of_product && (id.is_empty() || id == NEW) {
            return Ok(None);
        }
        let mark = self.position(EXPORTED).and_then(|at| row.get(at)).map(cells::value).unwrap_or_default();
        let exported = match Mark::parse(&mark) {
            _ if mark.is_empty() => None,
            None => return Err(format!("column {EXPORTED}: {mark:?} is not what an export writes there")),
            Some(mark) if usize::from(mark.columns) == cells.len() => Some(mark),
            Some(mark) => {
                return Err(format!(
                    "the sheet has {} columns of {whose}, and {} were exported: a sheet with `{EXPORTED}` has the \
                     columns of the export",
                    cells.len(),
                    mark.columns
                ));
            }
        };
        Ok(Some(Row { exported, cells, allows_loss }))
    }

    /// The document of a row. Empty cells set nothing.
    ///
    /// # Errors
    /// Every cell that is wrong, by its column.
    pub fn document(&self, row: &csv::StringRecord) -> Result<SplitRow, String> {
        if row.len() != self.titles.len() {
            let expected = self.titles.len();
            let found = row.len();
            let cells = if expected == 1 { "cell" } else { "cells" };
            return Err(format!("expected {expected} {cells}, found {found}"));
        }
        let mut document = Map::new();
        let mut extra = Map::new();
        let mut problems = Vec::new();
        for ((column, title), cell) in self.columns.iter().zip(&self.titles).zip(row) {
            if !column.is_input() {
                continue;
            }
            let cell = &*column.value(cell);
            let field = column.path.last().map_or("", String::as_str);
            if let Some(what) = spreadsheet::problem(field, cell) {
                problems.push(format!("column {title}: {what}"));
                continue;
            }
            if cell.is_empty() {
                // An attribute without a label cannot be told from others in the shop's admin pages.
                problems.extend((column.title == LABEL).then(|| format!("column {title} is empty")));
                continue;
            }
            if let Holds::Extra = column.holds {
                extra.insert(column.title.clone(), cell.into());
                continue;
            }
            let set = self.set(column, cell, &mut document);
            problems.extend(set.err().map(|what| format!("column {title}: {what}")));
        }
        problems.extend(self.place_address(row, &mut document).err());
        // A row has one option. Several in a cell, as `attribute create` takes them, would become one.
        if let Some(option @ Value::Object(_)) = document.get_mut("options") {
            let has_more = option["label"].as_str().is_some_and(|label| label.contains(['|', '\n', '\r']));
            problems.extend(has_more.then(|| self.names.at("options.label", "give each option its own row")));
            *option = json!([option.take()]);
        }
        if problems.is_empty() { Ok((document, extra)) } else { Err(problems.join("; ")) }
    }

    /// Sets or clears what a cell is about.
    fn set(&self, column: &Column, cell: &str, document: &mut Map<String, Value>) -> Result<(), String> {
        let is_number =
            matches!(column.holds, Holds::Field(FieldType::Number | FieldType::Scalar(Scalar::Number)));
        if is_number
            && self.delimiter == b';'
            && let Some(what) = cells::ambiguous(cell)
        {
            return Err(what);
        }
        if self.can_clear && cells::clears(cell)? {
            return column.clear(document);
        }
        column.set(cell, document)
    }

    /// Whether two consecutive rows are one record: options of one attribute, which a column or a flag names.
    pub fn are_one_record(&self, one: &csv::StringRecord, other: &csv::StringRecord) -> bool {
        let Some(at) = self.position(OPTION_CODE) else { return true };
        let code = |row: &csv::StringRecord| row.get(at).map(|cell| cells::clean(cell).into_owned());
        code(one).is_some_and(|code| !code.is_empty()) && code(one) == code(other)
    }

    /// The document of the rows of one record: rows with one label are one option.
    ///
    /// # Errors
    /// Every cell that is wrong, by its line and column; labels that contradict each other.
    pub fn joined(&self, rows: &[(u64, csv::StringRecord)]) -> Result<SplitRow, String> {
        let mut whole = None;
        let mut all = Vec::new();
        let mut problems = Vec::new();
        for (line, row) in rows {
            match self.document(row) {
                Ok((mut document, extra)) => {
                    if let Some(Value::Array(options)) = document.shift_remove("options") {
                        all.extend(options);
                    }
                    whole.get_or_insert((document, extra));
                }
                Err(what) => problems.push(format!("line {line}: {what}")),
            }
        }
        if !problems.is_empty() {
            return Err(problems.join("; "));
        }
        let (mut document, extra) = whole.unwrap_or_default();
        if !all.is_empty() {
            document.insert("options".to_owned(), label::joined(all)?.into());
        }
        Ok((document, extra))
    }

    /// The warnings about a row.
    pub fn warnings(&self, row: &csv::StringRecord) -> impl Iterator<Item = String> {
        let cells = || self.columns.iter().zip(row).filter(|(column, _)| column.is_input());
        let is_trimmed = cells().any(|(_, cell)| cells::is_trimmed(cell));
        let is_marked = cells().any(|(column, cell)| column.value(cell) != cells::clean(cell));
        let blanks = "blanks or invisible characters around cells are left out";
        let mark = "the apostrophe with which a spreadsheet marks a text is left out";
        [(is_trimmed, blanks), (is_marked, mark)]
            .into_iter()
            .filter(|(is_said, _)| *is_said)
            .map(|(_, what)| what.to_owned())
    }

    /// Puts the address of a row into the list. A row adds an address only if it says so: without an id, or in a sheet
    /// without ids, it would add an address of only a few fields.
    fn place_address(
        &self,
        row: &csv::StringRecord,
        document: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let id = self.position(ADDRESS_ID).and_then(|at| Some(self.columns[at].value(row.get(at)?)));
        let name = self.names.name("addresses.id");
        let Some(address) = document.get_mut("addresses") else {
            return match id.as_deref() {
                Some(NEW) => Err(format!("{name}: the new address has no field")),
                _ => Ok(()),
            };
        };
        if id.as_ref().is_none_or(|id| id.trim().is_empty()) {
            let what = match &id {
                Some(_) => format!("{name} is empty, and fields of an address are given"),
                None => format!("fields of an address are given, without the column `{ADDRESS_ID}`"),
            };
            return Err(format!("{what}: name the id of a stored address, or `{NEW}` to add one"));
        }
        *address = json!([address.take()]);
        Ok(())
    }
}

/// The columns that name a product and its store view.
const PRODUCT_NAMES: [&str; 2] = ["sku", "store_view"];

/// The column of an attribute's label.
const LABEL: &str = "default_frontend_label";

/// The cell of a row that adds an address.
const NEW: &str = "new";

impl Column {
    /// The path of the field that its cells set.
    fn field(&self) -> String {
        match &self.holds {
            Holds::Element((_, name), _) => {
                format!("{}[{}]", self.path.join("."), scalar(Some(name)).unwrap_or_default())
            }
            _ => self.path.join("."),
        }
    }

    /// Whether its cells are input.
    fn is_input(&self) -> bool {
        !matches!(self.holds, Holds::Reason | Holds::Ignored | Holds::Exported)
    }

    /// The value of a cell. A label may begin with an apostrophe (`'90s`).
    fn value<'c>(&self, cell: &'c str) -> Cow<'c, str> {
        let is_label = match &self.holds {
            Holds::Labels => true,
            Holds::Element(_, (field, _)) => *field == "label",
            _ => self.path.last().is_some_and(|field| field == LABEL || field == "label"),
        };
        if is_label { cells::clean(cell) } else { cells::value(cell) }
    }

    /// Clears the field.
    fn clear(&self, document: &mut Map<String, Value>) -> Result<(), String> {
        if matches!(self.holds, Holds::Element(..)) {
            return self.set("", document);
        }
        let in_address = self.path.first().is_some_and(|name| name == "addresses");
        // The region is an object; the cell has its code or its name.
        let way = if self.path.iter().any(|name| name == "region") { 2 } else { self.path.len() };
        let name = self.path.get(way - 1).map_or("", String::as_str);
        if !can_clear(name, in_address) {
            return Err("this field cannot be cleared".to_owned());
        }
        let value = if in_address { nothing(name) } else { "".into() };
        if let Some(place) = place(document, &self.path[..way]) {
            *place = value;
        }
        Ok(())
    }

    fn set(&self, cell: &str, document: &mut Map<String, Value>) -> Result<(), String> {
        let value = match (&self.holds, &*self.title) {
            (Holds::Field(_), ADDRESS_ID) if cell.trim() == NEW => return Ok(()),
            (Holds::Field(holds), ADDRESS_ID) => {
                parse_cell(cell, *holds).map_err(|what| format!("{what}; `{NEW}` adds an address"))?
            }
            (Holds::Field(_), title) if FLAGS_AS_TEXT.contains(&title) => {
                if flag(cell)? { "1" } else { "0" }.into()
            }
            (Holds::Field(holds), _) => parse_cell(cell, *holds)?,
            (Holds::Labels, _) => options(cell),
            (Holds::Element((name_field, name), (field, holds)), _) => {
                let value = parse_cell(cell, *holds)?;
                let element = exact_json::object([(*name_field, name.clone()), (*field, value)]);
                match place(document, &self.path) {
                    Some(Value::Array(list)) => list.push(element),
                    place => drop(place.map(|place| *place = json!([element]))),
                }
                return Ok(());
            }
            (Holds::Named(_) | Holds::Extra | Holds::Reason | Holds::Ignored | Holds::Exported, _) => {
                return Ok(());
            }
        };
        if let Some(place) = place(document, &self.path) {
            *place = value;
        }
        Ok(())
    }
}

/// The place of a field. Missing objects are made.
fn place<'a>(object: &'a mut Map<String, Value>, path: &[String]) -> Option<&'a mut Value> {
    let (last, way) = path.split_last()?;
    let object = way.iter().try_fold(object, |object, name| {
        object.entry(name).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
    });
    Some(object?.entry(last).or_insert(Value::Null))
}

/// The column with the customer's email, for people.
pub const CUSTOMER_EMAIL: &str = "customer_email";

/// The documented columns of an operation: the fields that hold no objects. Where two would have one title, the first
/// keeps it.
pub fn known(dialect: &'static Dialect, operation: &'static OperationSpec) -> Vec<Column> {
    let mut known: Vec<Column> = Vec::new();
    let inner = operation.inner_schema(dialect);
    let has_field = |group: &&ColumnGroup| group.path.first().is_none_or(|name| inner.field(name).is_some());
    for group in operation.columns.iter().filter(has_field) {
        for field in (group.schema)(dialect.fields).own_fields {
            let title = group.title(field.name);
            let is_leaf = !matches!(
                field.field_type,
                FieldType::Object(_) | FieldType::List(_) | FieldType::AnyObject | FieldType::AnyList
            );
            // If the service keeps each default as one value, it is set there, and other addresses lose it.
            let is_shown = !DEFAULTS.contains(&field.name)
                || dialect.merges_profiles && group.path.first().is_some_and(|name| *name == "addresses");
            let is_shown = is_shown && field.name != UNKNOWN;
            if is_leaf && is_shown && known.iter().all(|other| other.title != title) {
                let path = group.path.iter().copied().chain([field.name]).map(str::to_owned).collect();
                known.push(Column { title, path, holds: Holds::Field(field.field_type) });
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

/// The fields, and the other columns that a header may have.
fn all_columns(
    fields: Vec<Column>,
    named: Option<&'static NamedColumns>,
    labels: Option<&'static str>,
    extra: &[String],
) -> Vec<Column> {
    let column = |title: String, holds| Column { path: vec![title.clone()], title, holds };
    let title = |named: &NamedColumns| format!("{}{}", named.prefix, named.placeholder);
    let named = named.map(|named| column(title(named), Holds::Named(named)));
    let labels = labels.map(|title| column(title.to_owned(), Holds::Labels));
    let extra = extra.iter().map(|title| column(title.clone(), Holds::Extra));
    let reason = column("reason".to_owned(), Holds::Reason);
    fields.into_iter().chain(named).chain(labels).chain(extra).chain([reason]).collect()
}

/// The columns that a header may have.
struct KnownColumns {
    /// The operation whose input the rows are.
    operation: &'static OperationSpec,
    columns: Vec<Column>,
    /// The columns that only the other interface has.
    only_magento: &'static [&'static str],
}

impl KnownColumns {
    fn parse(&self, name: &str, header: &csv::StringRecord) -> Result<Columns, Failure> {
        let titles: Vec<Cow<'_, str>> = header.iter().map(cells::clean).collect();
        let mut titles: Vec<&str> = titles.iter().map(|title| &**title).collect();
        titles.truncate(titles.iter().rposition(|title| !title.is_empty()).map_or(0, |last| last + 1));
        let mut columns = Vec::<Column>::new();
        let mut problems = Vec::new();
        for (index, title) in titles.iter().enumerate() {
            match self.meant(title) {
                _ if title.is_empty() => problems.push(format!("{name}: column {} has no title", index + 1)),
                None => problems.push(format!("{name}: {}", self.unknown(title))),
                Some(meant) if columns.iter().any(|column| column.title == meant.title) => {
                    problems.push(format!("{name}: duplicate column `{title}`"));
                }
                Some(meant) => columns.push(meant),
            }
        }
        if titles.is_empty() {
            problems.push(format!("{name} has no header"));
        }
        if !problems.is_empty() {
            return Err(self.refused(problems));
        }
        let written =
            columns.iter().zip(&titles).map(|(column, title)| (column.field(), (*title).to_owned()));
        let names = FieldNames::of_columns(self.operation.wrapper, written);
        Ok(Columns {
            delimiter: b',',
            titles: titles.into(),
            names,
            columns,
            can_clear: self.operation.is_merged,
            joins_rows: *self.operation == ATTRIBUTE_OPTION_ADD,
        })
    }

    /// The column of a title: the equal one, one that differs in letter case, or the one of a flag's name.
    fn meant(&self, title: &str) -> Option<Column> {
        self.find(title).or_else(|| self.find(&flag_title(self.operation, title)))
    }

    fn find(&self, title: &str) -> Option<Column> {
        let fixed = || self.columns.iter().filter(|column| !matches!(column.holds, Holds::Named(_)));
        let exact = fixed().find(|column| column.title == title);
        let same = exact.or_else(|| fixed().find(|column| column.title.eq_ignore_ascii_case(title)));
        same.cloned().or_else(|| self.columns.iter().find_map(|column| column.with_name(title)))
    }

    /// The message about an unknown title.
    fn unknown(&self, title: &str) -> String {
        if self.only_magento.iter().any(|name| title.eq_ignore_ascii_case(name)) {
            return format!("unknown column `{title}`; `{title}` works with --api magento");
        }
        let flags = self.operation.flag_columns.iter().filter(|(_, title)| self.find(title).is_some());
        let known = self.columns.iter().map(|column| column.title.as_str());
        let mut named = self.columns.iter().filter_map(|column| match column.holds {
            Holds::Named(named) => Some(named),
            _ => None,
        });
        // Akeneo's `label-fr_FR`, and `label_fr`.
        let lower = title.to_lowercase();
        let begins = |named: &&NamedColumns| {
            let rest = lower.strip_prefix(named.prefix.trim_end_matches(':'));
            rest.is_some_and(|rest| rest.starts_with(['-', '_', ' ']))
        };
        if let Some(named) = named.find(begins) {
            let prefix = named.prefix;
            let placeholder = named.placeholder;
            return format!("unknown column `{title}`; did you mean `{prefix}{placeholder}`?");
        }
        if second_street_line(title) && self.find("street").is_some() {
            return format!(
                "unknown column `{title}`; a second line of the street stands in `street`, after a `|`"
            );
        }
        let meant = suggest(title, known.chain(flags.map(|(flag, _)| *flag)));
        let meant = meant.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
        format!("unknown column `{title}`{meant}")
    }

    fn refused(&self, problems: Vec<String>) -> Failure {
        let expected = self.columns.iter().filter(|column| column.is_input());
        let expected: Vec<&str> = expected.map(|column| column.title.as_str()).collect();
        Failure::usage_problems(problems).hint(format!("expected columns: {}", expected.join(", ")))
    }
}

impl Column {
    /// A column of this pattern, with the name that a title contains.
    fn with_name(&self, title: &str) -> Option<Self> {
        let Holds::Named(named) = self.holds else { return None };
        let (start, name) = title.split_at_checked(named.prefix.len())?;
        let name = name.trim();
        if name.is_empty() || !start.eq_ignore_ascii_case(named.prefix) {
            return None;
        }
        let mut path: Vec<String> = named.path.iter().map(|name| (*name).to_owned()).collect();
        let holds = if let Some([(field, holds), value]) = named.element {
            Holds::Element((field, parse_cell(name, holds).ok()?), value)
        } else {
            path.push(name.to_owned());
            Holds::Field(FieldType::Text)
        };
        Some(Self { title: format!("{}{name}", named.prefix), path, holds })
    }
}

/// A message about a record, with its place; `what` may begin with the name of a column.
pub fn at(name: &str, place: &str, what: &str) -> String {
    let separator = if what.starts_with("column ") { ", " } else { ": " };
    format!("{name}: {place}{separator}{what}")
}

/// Options, each with the code of its attribute if the file has it.
pub type Options = Vec<(Option<String>, Value)>;

/// Reads options from a CSV with the columns `label,sort_order,is_default,label:STORE…`, in its order; with a column
/// `attribute_code` it has options of many attributes. Without a sort order, the position counts.
///
/// # Errors
/// `usage`, with line and column, for a header or a cell that is not understood.
pub fn read_options(path: &Path, encoding: document::Named) -> Result<Options, Failure> {
    let name = &document::name(path);
    let fields =
        [("label", FieldType::Text), ("sort_order", FieldType::Integer), ("is_default", FieldType::Boolean)];
    let fields = fields.map(|(title, holds)| Column {
        title: title.to_owned(),
        path: vec![title.to_owned()],
        holds: Holds::Field(holds),
    });
    let known = all_columns(fields.into(), Some(&OPTION_LABELS), None, &[OPTION_CODE.to_owned()]);
    let known = KnownColumns { operation: &ATTRIBUTE_OPTION_ADD, columns: known, only_magento: &[] };
    let mut rows = CsvReader::open(document::open(path, encoding)?, name.clone())?;
    let header = rows.read()?.map(|(_, header)| header).unwrap_or_default();
    let columns = known.parse(name, &header)?;
    if !columns.has("label") {
        return Err(known.refused(vec![format!("{name}: missing column `label`")]));
    }
    let mut options = Vec::new();
    let mut problems = Vec::new();
    let mut positions = HashMap::<_, u64>::new();
    while let Some((line, row)) = rows.read()? {
        let read = columns.document(&row).and_then(|(cells, extra)| {
            let code = extra.get(OPTION_CODE).and_then(Value::as_str).map(|code| code.trim().to_owned());
            match cells.get("label").and_then(Value::as_str) {
                None | Some("") => Err("the label is empty".to_owned()),
                Some(_) if code.is_none() && columns.has(OPTION_CODE) => {
                    Err(columns.names.missing(OPTION_CODE))
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
            Err(what) => problems.push(at(name, &format!("line {line}"), &what)),
        }
    }
    if problems.is_empty() { Ok(options) } else { Err(known.refused(problems)) }
}

/// The column with the attribute of an option.
const OPTION_CODE: &str = "attribute_code";

/// The columns whose titles have a store's id.
static OPTION_LABELS: NamedColumns = NamedColumns {
    prefix: "label:",
    placeholder: "STORE…",
    path: &["store_labels"],
    element: Some([("store_id", FieldType::Scalar(Scalar::StoreView)), ("label", FieldType::Text)]),
};

/// The value of a cell. Text stays exactly as it is; `|` or line breaks separate the lines of a street.
///
/// # Errors
/// What was expected and what was found.
pub fn parse_cell(cell: &str, holds: FieldType) -> Result<Value, String> {
    let expected = || format!("expected {}, found {cell:?}", holds.expected());
    match holds {
        FieldType::Text | FieldType::TextOrNull | FieldType::Scalar(Scalar::Text) => Ok(cell.into()),
        FieldType::TextList => Ok(cells::lines(cell).into()),
        FieldType::Boolean | FieldType::Scalar(Scalar::Boolean) => flag(cell).map(Value::Bool),
        FieldType::Number | FieldType::Scalar(Scalar::Number) => {
            exact_json::number(cell.trim()).map(Value::Number).ok_or_else(|| {
                let like = exact_json::with_decimal_point(cell);
                let like = like.map(|number| format!("expected a number such as {number}, found {cell:?}"));
                cells::ambiguous(cell).or(like).unwrap_or_else(expected)
            })
        }
        FieldType::Integer | FieldType::Scalar(Scalar::Integer) => {
            let number = exact_json::number(cell.trim()).filter(|_| is_whole(cell.trim()));
            number.map(Value::Number).ok_or_else(expected)
        }
        FieldType::Scalar(Scalar::StoreView) => {
            Ok(parse_cell(cell, FieldType::Integer).unwrap_or_else(|_| cell.trim().into()))
        }
        FieldType::Object(_) | FieldType::AnyObject | FieldType::List(_) | FieldType::AnyList => {
            Err(expected())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse_cell;
    use storefront_core::interface::fields::FieldType;

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
