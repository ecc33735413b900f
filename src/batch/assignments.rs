//! Which field of which customer each record sets, and which attribute each creates. Two records that set one field to
//! different values, or create one attribute with different fields, contradict each other, and nothing says which one is
//! meant.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::batch::record::PreparedRecord;
use storefront_core::failure::Failure;
use storefront_core::profile::address::{DEFAULTS, address_list, own_id};
use storefront_core::profile::equal::same_flag;
use storefront_core::text::hash::{Fnv1a, fnv1a};
use storefront_core::text::sanitize::quoted;

/// How many fields are remembered.
const MAX_FIELDS: usize = 200_000;

/// What records set so far.
#[derive(Debug, Default)]
pub struct Assignments {
    /// By customer and path.
    seen: HashMap<u64, Assigned>,
    /// How many records set a field to the value that an earlier one sets.
    repeated: u64,
    /// The first of these, and what it repeats.
    first: Option<String>,
}

/// What a record sets a field to.
#[derive(Debug, Clone, Copy)]
struct Assigned {
    value: u64,
    line: u64,
    /// Whether an earlier run has sent the record.
    was_sent: bool,
}

impl Assignments {
    /// Adds a record; `place` says what its number counts: lines or records. After one that an earlier run has sent, a new one
    /// that sets the same field corrects it: it was added since.
    ///
    /// # Errors
    /// `usage` if an earlier record sets one of its fields to another value.
    pub fn add(
        &mut self,
        record: &PreparedRecord,
        line: u64,
        place: &str,
        was_sent: bool,
    ) -> Result<(), Failure> {
        let is_unique = record.draft.operation.unique_key.is_some();
        let mut repeated = None;
        for (path, value) in fields(record) {
            let field = Fnv1a::default().update(record.key.as_bytes()).update(&[0]).update(path.as_bytes());
            let field = field.finish();
            let text = value.as_str().map_or_else(|| canonical(&value), |text| text.trim().to_owned());
            let value = fnv1a(text.as_bytes());
            let own = Assigned { value, line, was_sent };
            match self.seen.get(&field).copied() {
                Some(other) if other.value != value && other.was_sent && !was_sent && !is_unique => {
                    self.seen.insert(field, own);
                }
                Some(Assigned { value: other, line: before, .. }) if other != value => {
                    if let Some(key) = record.draft.operation.unique_key {
                        let message = format!(
                            "duplicate {key} {}: {place} {before} has it with other values",
                            quoted(&record.key)
                        );
                        return Err(Failure::usage(message));
                    }
                    let field = record.draft.names.quoted(&path);
                    let whose = "for the same customer";
                    let message = format!("sets {field} to another value than {place} {before}, {whose}");
                    return Err(Failure::usage(message));
                }
                // The check warns of it.
                Some(_) if is_unique => {}
                Some(Assigned { line: before, .. }) => {
                    let name = record.draft.names.quoted(&path);
                    repeated.get_or_insert_with(|| format!("{place} {line} ({name}, as {place} {before})"));
                }
                None if self.seen.len() < MAX_FIELDS => drop(self.seen.insert(field, own)),
                None => {}
            }
        }
        self.repeated += u64::from(repeated.is_some());
        self.first = self.first.take().or(repeated);
        Ok(())
    }

    /// The warning about records that repeat what others set.
    pub fn warning(&self) -> Option<String> {
        let count = self.repeated;
        let first = self.first.as_ref()?;
        Some(match count {
            1 => format!("1 record sets a field to the value that an earlier one sets: {first}"),
            _ => format!("{count} records set a field to the value that an earlier one sets, first {first}"),
        })
    }
}

/// The fields that a record sets in a stored profile, by path. Those of a new address are shared with no other record.
/// Something that may be created once counts as one field.
fn fields(record: &PreparedRecord) -> Vec<(String, Value)> {
    let draft = &record.draft;
    let mut found = Vec::new();
    if draft.operation.unique_key.is_some() {
        return vec![(String::new(), Value::Object(draft.fields.clone()))];
    }
    if !draft.operation.is_merged {
        return found;
    }
    let own = draft.fields.iter().filter(|(name, _)| *name != "addresses");
    own.for_each(|(name, value)| leaves(name.clone(), value, &mut found));
    for address in address_list(&draft.fields) {
        let (Some(id), Value::Object(members)) = (own_id(address), address) else { continue };
        // A customer has one default of each kind, and the order of the rows of a sheet means nothing.
        let defaults = DEFAULTS.into_iter().filter(|_| draft.row.is_some());
        let defaults = defaults.filter(|name| same_flag(members.get(*name), Some(&true.into())));
        found.extend(defaults.map(|name| (name.to_owned(), id.into())));
        let members = members.iter().filter(|(name, _)| *name != "id");
        members.for_each(|(name, value)| leaves(format!("addresses[id={id}].{name}"), value, &mut found));
    }
    found
}

/// A value as a text that does not depend on the order of members.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> =
                members.iter().map(|(name, value)| (name, canonical(value))).collect();
            format!("{members:?}")
        }
        Value::Array(elements) => format!("{:?}", elements.iter().map(canonical).collect::<Vec<_>>()),
        other => other.to_string(),
    }
}

/// The values below this path: custom attributes by their code, other lists as a whole.
fn leaves(path: String, value: &Value, found: &mut Vec<(String, Value)>) {
    let code = |element: &Value| Some(element.get("attribute_code")?.as_str()?.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(format!("{path}.{name}"), value, found));
        }
        Value::Array(elements) if !elements.is_empty() && elements.iter().all(|it| code(it).is_some()) => {
            for element in elements {
                let code = code(element).unwrap_or_default();
                found.push((format!("{path}[{code}]"), element["value"].clone()));
            }
        }
        _ => found.push((path, value.clone())),
    }
}
