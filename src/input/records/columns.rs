//! The columns of a CSV: which member of the operation's input each one sets, read off the documented shapes.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::super::cell::{flag, typed};
use crate::failure::Failure;
use crate::nearest::nearest;
use crate::plan::check::is_whole;
use crate::plan::operation::Operation;
use crate::wire::{
    ADDRESS_INFORMATION, ATTRIBUTE, CART_ITEM, CUSTOMER, Holds, PROFILE_ADDRESS, PROFILE_ADDRESS_FLAGS,
    QUOTE_ADDRESS, REGION, Shape,
};

/// Titles and meaning of a header.
#[derive(Debug, Clone)]
pub struct Columns {
    /// Byte between cells.
    pub delimiter: u8,
    titles: csv::StringRecord,
    meanings: Vec<Meaning>,
    operation: Operation,
}

/// What the cells of a column are.
#[derive(Debug, Clone)]
enum Meaning {
    /// A member, by its path in the record.
    Member(Vec<String>, Holds),
    /// Which address the row changes, or that it adds one.
    AddressId,
    /// A flag that is sent as the text 1 or 0.
    NumericFlag(Vec<String>),
    /// Label of an attribute in one store view.
    StoreLabel(String),
    /// Labels of an attribute's options, `|` between them, a leading `*` for the default.
    Options,
    /// Chosen value of one configurable attribute.
    ConfigurableOption(String),
    /// Custom attribute of an address.
    CustomAttribute(String),
    /// Taken at its title, for whoever knows it: the token, a placeholder's field.
    Beside,
    /// Why the record failed last time.
    Reason,
}

/// A column and the member it sets.
struct Known {
    title: String,
    path: Vec<String>,
    holds: Holds,
}

/// What a row says: the document, and what stands beside it.
pub type Parted = (Map<String, Value>, Map<String, Value>);

impl Columns {
    /// Understands a header: titles in any letter case, empty ones at its end left out. `beside` names columns that are
    /// no input of the operation, such as `token`.
    ///
    /// # Errors
    /// `usage` for every title that is unknown, with the nearest known one, or there twice.
    pub fn understand(
        name: &str,
        operation: Operation,
        header: &csv::StringRecord,
        beside: &[String],
    ) -> Result<Self, Failure> {
        let known = known(operation);
        let mut titles: Vec<String> = header.iter().map(|title| title.trim().to_owned()).collect();
        titles.truncate(titles.iter().rposition(|title| !title.is_empty()).map_or(0, |last| last + 1));
        let (mut seen, mut meanings, mut problems) = (HashSet::new(), Vec::new(), Vec::new());
        for (index, title) in titles.iter_mut().enumerate() {
            match meaning(operation, title, &known, beside) {
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
                "the columns are {}{}",
                titles.join(","),
                more_titles(operation)
            )));
        }
        Ok(Self { delimiter: b',', titles: titles.into(), meanings, operation })
    }

    /// The titles, as they stand in the header.
    pub fn titles(&self) -> &csv::StringRecord {
        &self.titles
    }

    /// The title of a column, by its position from 0.
    pub fn title(&self, index: usize) -> &str {
        self.titles.get(index).unwrap_or("beyond the header")
    }

    /// Whether a column holds why a record failed.
    pub fn is_reason(&self, index: usize) -> bool {
        matches!(self.meanings.get(index), Some(Meaning::Reason))
    }

    /// A row as the document it stands for. Empty cells name nothing.
    ///
    /// # Errors
    /// Every cell that is wrong, by its column.
    pub fn document(&self, row: &csv::StringRecord) -> Result<Parted, String> {
        if row.len() != self.titles.len() {
            return Err(format!("the row has {} cells, and the header has {}", row.len(), self.titles.len()));
        }
        let (mut document, mut beside) = (Map::new(), Map::new());
        let mut problems = Vec::new();
        for ((title, meaning), cell) in self.titles.iter().zip(&self.meanings).zip(row) {
            if cell.is_empty() {
                continue;
            }
            match meaning {
                Meaning::Reason => {}
                Meaning::Beside => drop(beside.insert(title.to_owned(), cell.into())),
                field => {
                    let laid = field.lay(cell, &mut document);
                    problems.extend(laid.err().map(|what| format!("column {title}: {what}")));
                }
            }
        }
        if self.operation == Operation::CustomerUpdate {
            problems.extend(self.place_address(row, &mut document).err());
        }
        if problems.is_empty() { Ok((document, beside)) } else { Err(problems.join("; ")) }
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

/// The column that says which address a row changes.
const ADDRESS_ID: &str = "address_id";
/// Its cell where the row adds an address.
const NEW: &str = "new";

impl Meaning {
    fn lay(&self, cell: &str, document: &mut Map<String, Value>) -> Result<(), String> {
        match self {
            Self::AddressId if cell.trim() == NEW => {}
            Self::AddressId => {
                let id =
                    typed(cell, Holds::Integer).map_err(|what| format!("{what}; `{NEW}` adds an address"))?;
                set(document, &["addresses".to_owned(), "id".to_owned()], id);
            }
            Self::NumericFlag(path) => {
                let flag = flag(cell).ok_or_else(|| format!("expected true or false, found {cell:?}"))?;
                set(document, path, if flag { "1" } else { "0" }.into());
            }
            Self::Member(path, holds) => set(document, path, typed(cell, *holds)?),
            Self::StoreLabel(id) => {
                push(
                    document,
                    &["frontend_labels"],
                    json!({"store_id": typed(id, Holds::Integer)?, "label": cell}),
                );
            }
            Self::Options => set(document, &["options".to_owned()], options(cell)),
            Self::ConfigurableOption(id) => push(
                document,
                &["product_option", "extension_attributes", "configurable_item_options"],
                json!({"option_id": id, "option_value": typed(cell, Holds::Integer)?}),
            ),
            Self::CustomAttribute(code) => push(
                document,
                &["addresses", "custom_attributes"],
                json!({"attribute_code": code, "value": cell}),
            ),
            Self::Beside | Self::Reason => {}
        }
        Ok(())
    }
}

/// The titles a CSV of this operation may have, beside those with a name of the user's in them.
pub fn titles(operation: Operation) -> Vec<String> {
    known(operation).into_iter().map(|known| known.title).collect()
}

/// The same titles, each with the path of its member inside the wrapper; an address stands for the list of them.
pub fn paths(operation: Operation) -> impl Iterator<Item = (String, Vec<String>)> {
    known(operation).into_iter().map(|known| (known.title, known.path))
}

fn known(operation: Operation) -> Vec<Known> {
    let mut known = Vec::new();
    match operation {
        Operation::QuoteAddItem => leaves(&mut known, &CART_ITEM, &[], str::to_owned),
        Operation::AttributeCreate => leaves(&mut known, &ATTRIBUTE, &[], str::to_owned),
        Operation::CustomerUpdate => {
            leaves(&mut known, &CUSTOMER, &[], str::to_owned);
            leaves(&mut known, &REGION, &["addresses", "region"], str::to_owned);
            leaves(&mut known, &PROFILE_ADDRESS, &["addresses"], |name| match name {
                "id" | "firstname" | "lastname" => format!("address_{name}"),
                _ => name.to_owned(),
            });
            leaves(&mut known, &PROFILE_ADDRESS_FLAGS, &["addresses"], str::to_owned);
            // Which address is the default is the business of flags: the others must lose it.
            known.retain(|known| !known.title.starts_with("default_"));
        }
        Operation::QuoteShip => {
            for side in ["shipping_address", "billing_address"] {
                leaves(&mut known, &QUOTE_ADDRESS, &["addressInformation", side], |name| {
                    format!("{side}.{name}")
                });
            }
            leaves(&mut known, &ADDRESS_INFORMATION, &["addressInformation"], str::to_owned);
            leaves(&mut known, &QUOTE_ADDRESS, &["billingAddress"], |name| format!("billingAddress.{name}"));
        }
    }
    known
}

/// The members of a shape that hold no objects. Where two would have one title, the first keeps it.
fn leaves(known: &mut Vec<Known>, shape: &Shape, within: &[&str], title: impl Fn(&str) -> String) {
    for member in shape.members {
        let title = title(member.name);
        let is_leaf = !matches!(member.holds, Holds::Object(_) | Holds::List(_) | Holds::AnyObject);
        if is_leaf && known.iter().all(|other| other.title != title) {
            let path = within.iter().chain([&member.name]).map(|name| (*name).to_owned()).collect();
            known.push(Known { title, path, holds: member.holds });
        }
    }
}

/// The title as it is known, and what it means. A title that no known one equals may differ from one in letter case.
fn meaning(
    operation: Operation,
    title: &str,
    known: &[Known],
    beside: &[String],
) -> Option<(String, Meaning)> {
    let exact = known.iter().find(|known| known.title == title);
    let same = exact.or_else(|| known.iter().find(|known| known.title.eq_ignore_ascii_case(title)));
    if let Some(known) = same {
        let meaning = match known.title.as_str() {
            ADDRESS_ID if operation == Operation::CustomerUpdate => Meaning::AddressId,
            "is_searchable" => Meaning::NumericFlag(known.path.clone()),
            _ => Meaning::Member(known.path.clone(), known.holds),
        };
        return Some((known.title.clone(), meaning));
    }
    let is = |name: &str| title.eq_ignore_ascii_case(name);
    if let Some(name) =
        beside.iter().find(|name| *name == title).or_else(|| beside.iter().find(|name| is(name)))
    {
        return Some((name.clone(), Meaning::Beside));
    }
    if is("reason") {
        return Some(("reason".to_owned(), Meaning::Reason));
    }
    if operation == Operation::AttributeCreate && is("options") {
        return Some(("options".to_owned(), Meaning::Options));
    }
    let named = |prefix: &str| {
        let (start, name) = title.split_at_checked(prefix.len())?;
        let name = name.trim();
        (start.eq_ignore_ascii_case(prefix) && !name.is_empty())
            .then(|| (format!("{prefix}{name}"), name.to_owned()))
    };
    match operation {
        Operation::AttributeCreate => {
            named("label:").filter(|(_, id)| is_whole(id)).map(|(title, id)| (title, Meaning::StoreLabel(id)))
        }
        Operation::QuoteAddItem => {
            named("option:").map(|(title, id)| (title, Meaning::ConfigurableOption(id)))
        }
        Operation::CustomerUpdate => {
            named("custom_attribute:").map(|(title, code)| (title, Meaning::CustomAttribute(code)))
        }
        Operation::QuoteShip => named("paymentMethod.").map(|(title, member)| {
            (title, Meaning::Member(vec!["paymentMethod".to_owned(), member], Holds::Text))
        }),
    }
}

/// The columns whose titles have a name of the user's in them, for the hint.
fn more_titles(operation: Operation) -> &'static str {
    match operation {
        Operation::AttributeCreate => ",label:STORE_ID,options,token,reason",
        Operation::QuoteAddItem => ",option:OPTION_ID,token,reason",
        Operation::CustomerUpdate => ",custom_attribute:CODE,token,reason",
        Operation::QuoteShip => ",paymentMethod.FIELD,token,reason",
    }
}

fn unknown(title: &str, known: &[Known]) -> String {
    let named = known.iter().map(|known| known.title.as_str()).chain(["token", "reason", "options"]);
    let meant = nearest(title, named).map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    format!("unknown column `{title}`{meant}")
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

fn set(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => drop(object.insert(name.clone(), value)),
        [name, rest @ ..] => {
            let inner = object.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
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
