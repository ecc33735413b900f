//! The columns of a CSV: which member of the operation's input each one sets, read off the documented shapes.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::super::cell::typed;
use crate::exact_json;
use crate::failure::Failure;
use crate::nearest::nearest;
use crate::plan::check::is_whole;
use crate::plan::operation::Operation;
use crate::wire::{
    ADDRESS_INFORMATION, ATTRIBUTE, CART_ITEM, CUSTOMER, Holds, PROFILE_ADDRESS, QUOTE_ADDRESS, REGION, Shape,
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
    /// Understands a header. `beside` names columns that are no input of the operation, such as `token`.
    ///
    /// # Errors
    /// `usage` for a title that is unknown, with the nearest known one, or there twice.
    pub fn understand(
        name: &str,
        operation: Operation,
        header: &csv::StringRecord,
        beside: &[String],
    ) -> Result<Self, Failure> {
        let known = known(operation);
        let mut seen = HashSet::new();
        let mut meanings = Vec::new();
        for title in header {
            let title = title.trim();
            if !seen.insert(title) {
                return Err(refused(name, &format!("the column {title:?} is there twice"), &known));
            }
            let meaning = meaning(operation, title, &known, beside);
            meanings.push(meaning.ok_or_else(|| refused(name, &unknown(title, &known), &known))?);
        }
        let titles = header.iter().map(str::trim).collect();
        Ok(Self { delimiter: b',', titles, meanings, operation })
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
    /// The first cell that is wrong, by its column.
    pub fn document(&self, row: &csv::StringRecord) -> Result<Parted, String> {
        if row.len() != self.titles.len() {
            return Err(format!("there are {} cells, and the header has {}", row.len(), self.titles.len()));
        }
        let (mut document, mut beside) = (Map::new(), Map::new());
        for ((title, meaning), cell) in self.titles.iter().zip(&self.meanings).zip(row) {
            if cell.is_empty() {
                continue;
            }
            match meaning {
                Meaning::Reason => {}
                Meaning::Beside => drop(beside.insert(title.to_owned(), cell.into())),
                member => {
                    let laid = member.lay(cell, &mut document);
                    laid.map_err(|what| format!("column {title}: {what}"))?;
                }
            }
        }
        if self.operation == Operation::CustomerUpdate
            && let Some(address) = document.get_mut("addresses")
        {
            *address = Value::Array(vec![address.take()]);
        }
        Ok((document, beside))
    }
}

impl Meaning {
    fn lay(&self, cell: &str, document: &mut Map<String, Value>) -> Result<(), String> {
        match self {
            Self::Member(path, holds) => set(document, path, typed(cell, *holds)?),
            Self::StoreLabel(id) => {
                push(
                    document,
                    &["frontend_labels"],
                    exact_json::object([("store_id", typed(id, Holds::Integer)?), ("label", cell.into())]),
                );
            }
            Self::Options => set(document, &["options".to_owned()], options(cell)),
            Self::ConfigurableOption(id) => push(
                document,
                &["product_option", "extension_attributes", "configurable_item_options"],
                exact_json::object([
                    ("option_id", id.as_str().into()),
                    ("option_value", typed(cell, Holds::Integer)?),
                ]),
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

fn meaning(operation: Operation, title: &str, known: &[Known], beside: &[String]) -> Option<Meaning> {
    if let Some(known) = known.iter().find(|known| known.title == title) {
        return Some(Meaning::Member(known.path.clone(), known.holds));
    }
    let name = |prefix: &str| title.strip_prefix(prefix).filter(|name| !name.is_empty()).map(str::to_owned);
    match operation {
        _ if title == "reason" => Some(Meaning::Reason),
        _ if beside.iter().any(|name| name == title) => Some(Meaning::Beside),
        Operation::AttributeCreate if title == "options" => Some(Meaning::Options),
        Operation::AttributeCreate => name("label:").filter(|id| is_whole(id)).map(Meaning::StoreLabel),
        Operation::QuoteAddItem => name("option:").map(Meaning::ConfigurableOption),
        Operation::CustomerUpdate => name("custom_attribute:").map(Meaning::CustomAttribute),
        Operation::QuoteShip => name("paymentMethod.")
            .map(|member| Meaning::Member(vec!["paymentMethod".to_owned(), member], Holds::Text)),
    }
}

fn unknown(title: &str, known: &[Known]) -> String {
    let named = known.iter().map(|known| known.title.as_str()).chain(["token", "reason", "options"]);
    let meant = nearest(title, named).map(|known| format!("; did you mean {known}?")).unwrap_or_default();
    format!("the column {title:?} is unknown{meant}")
}

fn refused(name: &str, what: &str, known: &[Known]) -> Failure {
    let titles: Vec<&str> = known.iter().map(|known| known.title.as_str()).collect();
    Failure::usage(format!("{name}: line 1: {what}; nothing was sent"))
        .hint(format!("the columns are {}", titles.join(",")))
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
