//! What differs between two profiles, field by field.

use serde::Serialize;
use serde_json::{Map, Value};

use super::address::{AddressIndex, DEFAULTS, address_list, own_id};
use super::defaults::DefaultAddress;
use super::equal::{is_printed_as, same_value};
use super::path::{FieldPath, Step};
use crate::failure::Failure;
use crate::id::AddressId;
use crate::text::sanitize::quoted;

/// One difference, as results have it. `None` means that the field is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Where, such as `addresses[id=12].postcode`.
    pub path: FieldPath,
    /// The stored value.
    pub before: Option<Value>,
    /// The new value.
    pub after: Option<Value>,
}

impl FieldChange {
    /// Reads a difference as results have it; a value of `null` is one that is not there.
    pub fn parse(value: &Value) -> Option<Self> {
        let side = |name| value.get(name).filter(|value| !value.is_null()).cloned();
        let path = FieldPath::parse(value.get("path")?.as_str()?);
        Some(Self { path, before: side("before"), after: side("after") })
    }

    /// Whether it removes an address.
    pub fn is_removal(&self) -> bool {
        self.path.is_address() && self.after.is_none()
    }

    /// Whether both values are the same ([`same_value`]), so that no read tells them apart.
    pub fn is_same(&self) -> bool {
        !self.path.is_address()
            && same_value(self.path.last_name(), self.before.as_ref(), self.after.as_ref())
    }

    /// Whether one of these JSON pointers, from the customer object on, names it.
    pub fn is_ignored(&self, ignore: &[String]) -> bool {
        ignore.iter().any(|pointer| self.path.is_in(pointer))
    }
}

/// Differences between two customer objects. Addresses are matched by id; an address without an id, or with an id that
/// the other side does not have, is an addition or a removal.
pub fn customers(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    members(before, after, &|name| FieldPath::default().member(name), &mut changes);
    address_lists(address_list(before), address_list(after), &mut changes);
    changes.retain(|change| {
        let name = change.path.last_name();
        // An address that is added has no id yet: its flag says that it is the default.
        let is_of_new = || DefaultAddress::of(after, name) == DefaultAddress::New;
        change.after.is_some() || !DEFAULTS.contains(&&*change.path.to_string()) || !is_of_new()
    });
    changes
}

/// What a plan expects of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// Whose profile or cart is changed; empty if that is not known.
    pub owner: Map<String, Value>,
    /// The changes.
    pub changes: Vec<FieldChange>,
    /// Values that must still be stored as they were read, although they are not changed: otherwise the change would be
    /// wrong.
    pub required: Vec<Required>,
}

/// A value that must be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Required {
    /// Where.
    pub path: FieldPath,
    /// The value; `None` means that the field is not there.
    pub value: Option<Value>,
}

impl Required {
    /// Reads one as plans have it.
    pub fn parse(value: &Value) -> Option<Self> {
        let path = FieldPath::parse(value.get("path")?.as_str()?);
        Some(Self { path, value: value.get("value").filter(|value| !value.is_null()).cloned() })
    }
}

impl Expected {
    /// The addresses that are removed.
    pub fn removed(&self) -> impl Iterator<Item = AddressId> + '_ {
        let removals =
            self.changes.iter().filter(|change| change.path.is_address() && change.after.is_none());
        removals.filter_map(|change| change.path.address_id())
    }

    /// Refuses a change if a value that it requires has changed.
    ///
    /// # Errors
    /// `guard`, with the first that differs: its place, and both values.
    pub fn ensure_required(&self, stored: &Map<String, Value>) -> Result<(), Failure> {
        let index = AddressIndex::of(address_list(stored))?;
        let is_other = |it: &&Required| !is_printed_as(it.path.find(stored, &index), it.value.as_ref());
        let Some(required) = self.required.iter().find(is_other) else { return Ok(()) };
        let now = required.path.find(stored, &index);
        let mut changes = Vec::new();
        value(|| required.path.clone(), required.value.as_ref(), now, &mut changes);
        let Some(FieldChange { path, before, after }) = changes.first() else { return Ok(()) };
        let [now, before] = [after, before].map(|side| shown(side.as_ref().filter(|side| !side.is_null())));
        let message = format!("`{path}` is {now}, and was {before} when it was planned");
        Err(Failure::guard(message).hint("make the plan again with --plan").for_good())
    }
}

/// A value in a message.
fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), quoted)
}

/// Refuses changes that differ from those that were planned and approved. `stored` is what they are applied to.
///
/// # Errors
/// `guard`, with the first that differs: its place, and both values.
pub fn ensure_planned(
    planned: &[FieldChange],
    changes: &[FieldChange],
    stored: &Map<String, Value>,
) -> Result<(), Failure> {
    let index = AddressIndex::of(address_list(stored))?;
    ensure_planned_in(planned, changes, |path| path.find(stored, &index).cloned())
}

/// What the plan of an undo says of one owner.
#[derive(Debug, Clone, Copy)]
pub struct PlannedUndo<'p> {
    /// What goes back.
    pub changes: &'p [FieldChange],
    /// What is left, in words.
    pub left: &'p [String],
}

impl PlannedUndo<'_> {
    /// Refuses if something goes back, or is left, that was not planned. An earlier run may have made some of the
    /// changes.
    ///
    /// # Errors
    /// `guard`, with the first that is not planned.
    pub fn ensure(&self, changes: &[FieldChange], left: &[String]) -> Result<(), Failure> {
        let change = changes.iter().find(|change| !is_in(self.changes, change));
        let left = left.iter().find(|left| !self.left.contains(left));
        let message = match (change, left) {
            (None, None) => return Ok(()),
            (_, Some(left)) => left.clone(),
            (Some(change), None) => format!("`{}` is not as it was when the plan was made", change.path),
        };
        Err(Failure::guard(message).for_good().hint("make the plan again with `undo`"))
    }
}

/// Whether a change is among these, as a plan prints them: nothing and null are one.
fn is_in(list: &[FieldChange], change: &FieldChange) -> bool {
    list.iter().any(|other| {
        other.path.to_string() == change.path.to_string()
            && is_printed_as(other.before.as_ref(), change.before.as_ref())
            && is_printed_as(other.after.as_ref(), change.after.as_ref())
    })
}

/// Checks what was planned; `find` gives what is stored at a place.
///
/// # Errors
/// As [`ensure_planned`].
pub fn ensure_planned_in(
    planned: &[FieldChange],
    changes: &[FieldChange],
    find: impl Fn(&FieldPath) -> Option<Value>,
) -> Result<(), Failure> {
    let lost = planned.iter().find(|change| !is_in(changes, change));
    let message = match (lost, changes.iter().find(|change| !is_in(planned, change))) {
        (None, None) => return Ok(()),
        (None, Some(added)) => {
            let after = shown(added.after.as_ref());
            format!("`{}` would become {after}, which is not in the plan", added.path)
        }
        (Some(lost), _) => {
            let now = find(&lost.path).filter(|value| !value.is_null());
            let path = &lost.path;
            let before = shown(lost.before.as_ref());
            let now = shown(now.as_ref());
            if now == before {
                let after = shown(lost.after.as_ref());
                format!("`{path}` would not become {after} as planned: {now} is stored")
            } else {
                format!("`{path}` is {now}, and was {before} when it was planned")
            }
        }
    };
    Err(Failure::guard(message).hint("make the plan again with --plan").for_good())
}

fn address_lists(before: &[Value], after: &[Value], changes: &mut Vec<FieldChange>) {
    let [old, new]: [Vec<&Value>; 2] =
        [before, after].map(|list| list.iter().filter(|address| address.get("id").is_some()).collect());
    let (Ok(stored), Ok(now)) = (AddressIndex::of(old.iter().copied()), AddressIndex::of(new)) else {
        let path = FieldPath::default().member("addresses");
        return changes.push(FieldChange { path, before: Some(before.into()), after: Some(after.into()) });
    };
    for address in after {
        let id = own_id(address);
        let position = id.and_then(|id| stored.position(id));
        value(|| address_path(id), position.map(|position| old[position]), Some(address), changes);
    }
    for address in before {
        match own_id(address) {
            Some(id) if now.contains(id) => {}
            id => value(|| address_path(id), Some(address), None, changes),
        }
    }
}

fn address_path(id: Option<AddressId>) -> FieldPath {
    id.map_or_else(FieldPath::new_address, FieldPath::address)
}

/// Differences of two objects; `path` leads to a field of them.
fn members(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &dyn Fn(&str) -> FieldPath,
    changes: &mut Vec<FieldChange>,
) {
    for (name, old) in before {
        value(|| path(name), Some(old), after.get(name), changes);
    }
    for (name, new) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        value(|| path(name), None, Some(new), changes);
    }
}

/// Differences of two values. `path` leads to them and is only computed if they differ.
fn value(
    path: impl FnOnce() -> FieldPath,
    before: Option<&Value>,
    after: Option<&Value>,
    changes: &mut Vec<FieldChange>,
) {
    if before == after {
        return;
    }
    let path = path();
    if path.is_address_list() {
        return;
    }
    // A missing list is an empty one.
    let coded = |value: Option<&Value>| match value {
        _ if path.last_name() != "custom_attributes" => None,
        None => Some(Map::new()),
        Some(list) => by_code(list.as_array()?),
    };
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            members(before, after, &|name| path.member(name), changes);
        }
        _ => match coded(before).zip(coded(after)) {
            Some((before, after)) => {
                members(&before, &after, &|code| path.step(Step::Code(code.to_owned())), changes);
            }
            None => changes.push(FieldChange { path, before: before.cloned(), after: after.cloned() }),
        },
    }
}

/// Custom attributes by code, if every element has a code of its own.
pub fn by_code(elements: &[Value]) -> Option<Map<String, Value>> {
    let entry = |one: &Value| Some((one.get("attribute_code")?.as_str()?.to_owned(), one.clone()));
    let coded: Map<String, Value> = elements.iter().map(entry).collect::<Option<_>>()?;
    (coded.len() == elements.len()).then_some(coded)
}

#[cfg(test)]
mod tests;
