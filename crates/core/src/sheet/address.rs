//! The addresses of customers as rows of a sheet, and the comparison of such a row with what is stored.

use serde_json::{Map, Value};

use super::cells::{clears, compared, joined};
use super::exported::{Edited, Mark, after_loss};
use crate::check::text;
use crate::failure::Failure;
use crate::interface::fields::{FieldTables, FieldType};
use crate::operation::CUSTOMER_UPDATE;
use crate::profile::address::{DEFAULTS, find_address, own_id};
use crate::profile::region;
use crate::text::sanitize::{quoted, sanitize_line};

/// Title of the column that says which address a row is about.
pub const ADDRESS_ID: &str = "address_id";
/// The prefix of the titles of custom attributes.
pub const ATTRIBUTE: &str = "custom_attribute:";

const ATTRIBUTES: &str = "custom_attributes";

/// The titles of the columns that an export has for the fields of an address, except custom attributes and defaults.
/// The region is one column.
pub fn titles(fields: &FieldTables) -> Vec<String> {
    let group = CUSTOMER_UPDATE.columns.iter().find(|group| group.path == ["addresses"]);
    let is_cell = |name: &str, holds: FieldType| match holds {
        FieldType::List(_) | FieldType::AnyObject | FieldType::AnyList => false,
        FieldType::Object(_) => name == "region",
        _ => !DEFAULTS.contains(&name) && !["customer_id", "region_id"].contains(&name),
    };
    let fields = fields.address.own_fields.iter().filter(|field| is_cell(field.name, field.field_type));
    group.map(|group| fields.map(|field| group.title(field.name)).collect()).unwrap_or_default()
}

/// The cell of an address in the column with this title; `None` for a value that no cell can hold, or no input takes.
pub fn cell(address: &Map<String, Value>, title: &str) -> Option<String> {
    let field = title.strip_prefix("address_").unwrap_or(title);
    text_of(address, title).filter(|cell| {
        let value = Value::String(cell.clone());
        !cell.contains(['\n', '\r'])
            && text::problem(field, FieldType::Text, &value).is_none()
            && clears(cell) == Ok(false)
    })
}

fn text_of(address: &Map<String, Value>, title: &str) -> Option<String> {
    if let Some(code) = title.strip_prefix(ATTRIBUTE) {
        let list = address.get(ATTRIBUTES).and_then(Value::as_array).into_iter().flatten();
        let own = list.filter(|own| own["attribute_code"] == code).map(|own| &own["value"]).next();
        return scalar(own);
    }
    let of_region = |name: &str| address.get("region").and_then(|region| region.get(name));
    match title {
        "region" if address.get("region").is_some_and(Value::is_string) => scalar(address.get("region")),
        // The code is shorter and the same in every language, but means something only if the country has a list.
        "region" => {
            let code = scalar(of_region("region_code")).filter(|code| !code.trim().is_empty());
            let code = code.filter(|_| region::has_id(address));
            code.or_else(|| scalar(of_region("region")))
        }
        "region_code" => scalar(of_region("region_code")),
        _ => {
            let name = title.strip_prefix("address_").unwrap_or(title);
            match address.get(name) {
                Some(Value::Array(lines)) => {
                    let texts: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
                    // An empty line would move the later ones up.
                    let texts = texts?;
                    let filled = texts.iter().rposition(|line| !line.trim().is_empty());
                    let texts = &texts[..filled.map_or(0, |last| last + 1)];
                    let is_whole = texts.iter().all(|line| !line.trim().is_empty());
                    is_whole.then(|| joined(texts.iter().copied()))
                }
                other => scalar(other),
            }
        }
    }
}

fn scalar(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(Value::Bool(flag)) => Some(flag.to_string()),
        Some(Value::Array(_) | Value::Object(_)) => None,
    }
}

/// A row of a sheet about a stored address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it had when it was exported, if the sheet has that column.
    pub exported: Option<Mark>,
    /// The cells of the address, with the titles of their columns.
    pub cells: Vec<(String, String)>,
    /// Whether values that only lack leading zeros, a `+` or blanks are meant so.
    pub allows_loss: bool,
}

impl Row {
    /// Whether nobody has edited it since it was exported.
    ///
    /// # Errors
    /// `usage` if a spreadsheet removed something from its numbers.
    pub fn is_unedited(&self) -> Result<bool, Failure> {
        let Some(exported) = &self.exported else { return Ok(false) };
        let cells = self.cells.iter().map(|(title, cell)| (&**title, &**cell));
        match exported.compare(&Mark::of(cells, exported.defaults)) {
            Edited::No => Ok(true),
            Edited::ByLoss if !self.allows_loss => {
                let what = "a spreadsheet removed leading zeros, a `+` or blanks from numbers of the row (add \
                            --allow-spreadsheet-loss if they are meant so)";
                Err(Failure::usage(what))
            }
            Edited::ByLoss | Edited::Yes => Ok(false),
        }
    }

    /// Takes the address of a row out of a document if nobody has edited the row since it was exported, and the
    /// defaults that are unchanged.
    ///
    /// # Errors
    /// `usage` if a spreadsheet removed something from its numbers.
    pub fn take_unedited(&self, document: &mut Map<String, Value>) -> Result<(), Failure> {
        let Some(exported) = &self.exported else { return Ok(()) };
        let Some(Value::Array(list)) = document.get_mut("addresses") else { return Ok(()) };
        let Some(Value::Object(address)) = list.first_mut() else { return Ok(()) };
        for (name, was) in DEFAULTS.into_iter().zip(exported.defaults) {
            if address.get(name).is_some_and(|flag| *flag == Value::Bool(was)) {
                address.shift_remove(name);
            }
        }
        if self.is_unedited()? {
            address.retain(|name, _| name == "id" || DEFAULTS.contains(&&**name));
        }
        if address.keys().all(|name| name == "id") {
            document.shift_remove("addresses");
        }
        Ok(())
    }

    /// Takes out of a draft what is stored already. Returns a note if nothing is left of a row that was edited.
    ///
    /// # Errors
    /// `guard` if the shop has other values than when the row was exported; `usage` if a number lacks something that a
    /// spreadsheet removes.
    pub fn held_against(
        &self,
        draft: &mut Map<String, Value>,
        stored: &Map<String, Value>,
    ) -> Result<Option<&'static str>, Failure> {
        let Some(Value::Array(list)) = draft.get_mut("addresses") else { return Ok(None) };
        let Some(named @ Value::Object(_)) = list.first_mut() else { return Ok(None) };
        let Some(id) = own_id(named) else { return Ok(None) };
        let Some(Value::Object(own)) = find_address(stored, id) else { return Ok(None) };
        let now: Vec<(&str, String)> =
            self.cells.iter().map(|(title, _)| (&**title, cell(own, title).unwrap_or_default())).collect();
        let pairs = self.cells.iter().map(|(title, cell)| (&**title, compared(cell))).zip(&now);
        let differing: Vec<(&str, String, String)> = pairs
            .map(|((title, cell), (_, stored))| (title, cell, compared(stored)))
            .filter(|(_, cell, stored)| !cell.is_empty() && cell != stored)
            .collect();
        let Some(exported) = &self.exported else {
            return self.refuse_loss(&differing).map(|()| None);
        };
        let Value::Object(named) = named else { return Ok(None) };
        for (title, cell) in &self.cells {
            if !differing.iter().any(|(other, ..)| other == title) || cell.is_empty() {
                take_out(named, title);
            }
        }
        let is_empty = named.keys().all(|name| name == "id");
        if is_empty {
            list.clear();
            draft.shift_remove("addresses");
        }
        let now = Mark::of(now.iter().map(|(title, cell)| (*title, &**cell)), exported.defaults);
        let is_as_exported = exported.compare(&now) == Edited::No;
        if !is_as_exported && !differing.is_empty() {
            return Err(changed_since(&format!("address {id}"), &differing));
        }
        self.refuse_loss(&differing)?;
        Ok((is_empty && is_as_exported).then_some(
            "the row was edited, and changes nothing: an empty cell changes nothing, `__EMPTY__VALUE__` clears",
        ))
    }

    fn refuse_loss(&self, differing: &[(&str, String, String)]) -> Result<(), Failure> {
        let is_loss = |(_, cell, stored): &&(&str, String, String)| {
            after_loss(stored) == after_loss(cell) && cell.chars().count() < stored.chars().count()
        };
        match differing.iter().find(is_loss).filter(|_| !self.allows_loss) {
            Some((title, cell, stored)) => Err(Failure::usage(format!(
                "{title}: the shop has {}, of which a spreadsheet left {}",
                quoted(sanitize_line(stored)),
                quoted(sanitize_line(cell))
            ))
            .hint(ALLOW_LOSS)),
            None => Ok(()),
        }
    }
}

/// The hint about numbers that a spreadsheet shortened.
pub const ALLOW_LOSS: &str = "format the column as text and enter the values again, or add --allow-spreadsheet-loss if they are meant so";

/// The refusal of a row whose values were changed in the shop since it was exported: each title, with its value in the
/// sheet and in the shop.
pub fn changed_since(what: &str, differing: &[(&str, String, String)]) -> Failure {
    let values = differing.iter().map(|(title, cell, stored)| {
        let [cell, stored] = [cell, stored].map(|text| quoted(sanitize_line(text)));
        format!("{title}: the shop has {stored}, the sheet {cell}")
    });
    let values = values.collect::<Vec<_>>().join("; ");
    Failure::guard(format!("{what} was changed in the shop since the export: {values}"))
        .hint("export it again and edit the new row, or remove this row from the sheet")
        .for_good()
}

/// Removes from a draft of an address what the column with this title sets.
fn take_out(address: &mut Map<String, Value>, title: &str) {
    if let Some(code) = title.strip_prefix(ATTRIBUTE) {
        if let Some(Value::Array(list)) = address.get_mut(ATTRIBUTES) {
            list.retain(|own| own["attribute_code"] != code);
            if list.is_empty() {
                address.shift_remove(ATTRIBUTES);
            }
        }
        return;
    }
    if ["region", "region_code"].contains(&title) {
        if let Some(Value::Object(region)) = address.get_mut("region") {
            region.shift_remove(title);
            if region.is_empty() {
                address.shift_remove("region");
            }
        }
        return;
    }
    if title != ADDRESS_ID {
        address.shift_remove(title.strip_prefix("address_").unwrap_or(title));
    }
}
