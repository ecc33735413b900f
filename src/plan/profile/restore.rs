//! Putting a snapshot back: what its update changed, or the whole profile.

mod defaults;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::diff::FieldPath;
use super::diff::{self, Change};
use super::equivalence::{contains_all, same_value};
use super::magento::DEFAULTS;
use super::merge::Merged;
use crate::failure::Failure;
use crate::plan::profile::diff::{AddressIndex, id_of, join_ids};
use defaults::Profiles;

/// Fields that a recreated address does not carry over: the service gives ids, and the defaults may have moved.
const NOT_COMPARED: [&str; 3] = ["id", "default_billing", "default_shipping"];

/// Ends the note about a field that is not what the update made of it.
const CHANGED_AGAIN: &str = " was changed again since, and is left as it is";

/// Ends the note about something that the snapshot does not have.
const ADDED_LATER: &str = "was added later and cannot be removed by an update; it is kept";

/// Whether notes are all about fields that were changed again, and there are any.
pub fn all_changed_again(notes: &[String]) -> bool {
    !notes.is_empty() && notes.iter().all(|note| note.ends_with(CHANGED_AGAIN))
}

/// Whether what `undoing` changed takes back all that `update` changed. A deleted address comes back with another id.
pub fn takes_back(undoing: &[Change], update: &[Change]) -> bool {
    let inverse = |change: &Change| match (change.path.is_address(), &change.before, &change.after) {
        (true, Some(_), None) => undoing.iter().any(|other| other.path.is_new_address()),
        (true, None, Some(_)) => undoing.iter().any(|other| other.path.is_address() && other.after.is_none()),
        (_, before, after) => undoing.iter().any(|other| {
            let name = change.path.last_name();
            other.path == change.path
                && same_value(&name, other.before.as_ref(), after.as_ref())
                && same_value(&name, other.after.as_ref(), before.as_ref())
        }),
    };
    !update.is_empty() && update.iter().filter(|change| is_restored(change)).all(inverse)
}

/// How much of a snapshot is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What its update changed, where the value is still the one it wrote.
    Update,
    /// The whole profile.
    All,
}

/// The profile as it is after a snapshot is restored over `stored`: `before` is the snapshot, `sent` what its
/// update replaced it by. With `delete_newer`, addresses the snapshot does not have are left out; otherwise
/// they are kept. A deleted address comes back without its id, for the service gives ids; one that came back
/// already is not made again. A field that the snapshot does not have cannot be removed by replacing: it is
/// kept, and said. With `can_clear` a text is set to null, which is sent to the service as the empty
/// text.
///
/// # Errors
/// `guard` for a snapshot of another customer, and when a list is not there or has addresses without a usable id of
/// their own.
pub fn restore(
    stored: &Map<String, Value>,
    before: &Map<String, Value>,
    sent: &Map<String, Value>,
    extent: Extent,
    delete_newer: bool,
    can_clear: bool,
) -> Result<Merged, Failure> {
    same_customer(stored, before)?;
    address_list(stored)?;
    address_list(before)?;
    let sent = match extent {
        Extent::Update => sent,
        // What is there now takes the place of what the update wrote.
        Extent::All => stored,
    };
    let undo = diff::customers(before, sent);
    let (defaults, others): (Vec<&Change>, _) = undo
        .iter()
        .filter(|change| is_restored(change))
        .partition(|change| defaults::default_of(change).is_some());
    let mut restored = Restored { can_clear, ..Restored::of(stored, before)? };
    for change in others {
        match (change.path.is_address(), &change.before, &change.after) {
            (true, Some(address), None) => restored.recreate(address),
            (true, None, Some(address)) => restored.drop_newer(address, delete_newer),
            _ => restored.set_back(change),
        }
    }
    if extent == Extent::Update {
        restored.note_gone(before, sent);
    }
    restored.restore_defaults(&Profiles::new(before, sent, stored, can_clear), &defaults);
    restored.finish(stored)
}

/// Whether a snapshot is plainly of this customer: the same id; or, where there are none, the same e-mail address or an
/// address in common, whose ids no two customers share.
pub fn belongs_to(stored: &Map<String, Value>, snapshot: &Map<String, Value>) -> bool {
    let both = |name: &str| Some((stored.get(name)?, snapshot.get(name)?));
    let ids = |customer| {
        diff::address_list(customer)
            .iter()
            .filter_map(|address| id_of(address.get("id")?))
            .collect::<HashSet<_>>()
    };
    match both("id").map(|(stored, snapshot)| (id_of(stored), id_of(snapshot))) {
        Some((Some(stored), Some(snapshot))) => stored == snapshot,
        _ => {
            both("email").is_some_and(|(stored, snapshot)| stored.is_string() && stored == snapshot)
                || !ids(stored).is_disjoint(&ids(snapshot))
        }
    }
}

/// Ids that contradict each other are never overlooked.
fn same_customer(stored: &Map<String, Value>, snapshot: &Map<String, Value>) -> Result<(), Failure> {
    let id = |customer: &Map<String, Value>| customer.get("id").and_then(id_of);
    match (id(stored), id(snapshot)) {
        (Some(own), Some(other)) if own != other => {
            Err(Failure::guard(format!("the snapshot is of customer {other}, and this is customer {own}"))
                .hint("`storefront customer history` lists this customer's snapshots"))
        }
        _ => Ok(()),
    }
}

fn address_list(customer: &Map<String, Value>) -> Result<&[Value], Failure> {
    match customer.get("addresses") {
        Some(Value::Array(addresses)) => Ok(addresses),
        _ => Err(Failure::guard("the profile or the snapshot has no address list")),
    }
}

/// The service's own bookkeeping is not restored.
fn is_restored(change: &Change) -> bool {
    !matches!(change.path.to_string().as_str(), "updated_at" | "created_at" | "id")
}

/// A profile while a snapshot is restored over it.
struct Restored {
    customer: Map<String, Value>,
    index: AddressIndex,
    /// Addresses that the snapshot does not have.
    newer: Vec<i64>,
    removed: Vec<i64>,
    /// Newer addresses that would be removed with `--allow-delete`.
    kept_newer: Vec<i64>,
    /// Addresses that come back, with the ids that they had.
    recreated: Vec<(i64, Map<String, Value>)>,
    /// Old and new ids of addresses that came back earlier.
    came_back: Vec<(i64, i64)>,
    /// Defaults that the profile does not name, because their address has no id yet.
    left_out: Vec<&'static str>,
    notes: Vec<String>,
    can_clear: bool,
}

impl Restored {
    fn of(stored: &Map<String, Value>, before: &Map<String, Value>) -> Result<Self, Failure> {
        let index = AddressIndex::of(diff::address_list(stored))?;
        let old = AddressIndex::of(diff::address_list(before))?;
        let newer = index.ids().iter().copied().filter(|id| !old.contains(*id)).collect();
        let customer = stored.clone();
        Ok(Self {
            customer,
            index,
            newer,
            removed: Vec::new(),
            kept_newer: Vec::new(),
            recreated: Vec::new(),
            came_back: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
            can_clear: false,
        })
    }

    fn address(&self, id: i64) -> Option<&Value> {
        diff::address_list(&self.customer).get(self.index.position(id)?)
    }

    /// A deleted address comes back, unless it is there or came back already.
    fn recreate(&mut self, address: &Value) {
        let (Some(old), Some(fields)) = (address.get("id").and_then(id_of), address.as_object()) else {
            return;
        };
        if self.index.contains(old) {
            return;
        }
        let again = self
            .newer
            .iter()
            .position(|id| self.address(*id).is_some_and(|newer| contains_all(newer, fields, &NOT_COMPARED)));
        if let Some(position) = again {
            let new = self.newer.remove(position);
            self.came_back.push((old, new));
            self.notes.push(format!("address {old} was already recreated as {new}"));
            return;
        }
        let mut fields = fields.clone();
        fields.shift_remove("id");
        self.notes.push(format!("address {old} will be recreated with a new ID"));
        self.recreated.push((old, fields));
    }

    /// The update kept these addresses; that they are gone is not what it was asked to do.
    fn note_gone(&mut self, before: &Map<String, Value>, sent: &Map<String, Value>) {
        let ids =
            |customer| diff::address_list(customer).iter().filter_map(|address| id_of(address.get("id")?));
        let kept: HashSet<i64> = ids(sent).collect();
        let gone: Vec<i64> =
            ids(before).filter(|id| kept.contains(id) && !self.index.contains(*id)).collect();
        if !gone.is_empty() {
            self.notes.push(format!("address {} is no longer there; --all brings it back", join_ids(&gone)));
        }
    }

    /// An address that the snapshot does not have: `added` is how it was sent, or how it is stored.
    fn drop_newer(&mut self, added: &Value, delete: bool) {
        let Some(fields) = added.as_object() else { return };
        let is_it = |id: &i64| match added.get("id").and_then(id_of) {
            Some(known) => known == *id,
            None => self.address(*id).is_some_and(|newer| contains_all(newer, fields, &NOT_COMPARED)),
        };
        let Some(position) = self.newer.iter().position(is_it) else { return };
        let id = self.newer.remove(position);
        if delete { &mut self.removed } else { &mut self.kept_newer }.push(id);
    }

    /// One field goes back to what it was, where it still is what the update made of it.
    fn set_back(&mut self, change: &Change) {
        let name = change.path.last_name();
        let now = change.path.find(&self.customer, &self.index);
        let gone = change.path.address_id().is_some_and(|id| !self.index.contains(id));
        if gone || same_value(&name, now, change.before.as_ref()) {
            return;
        }
        if !same_value(&name, now, change.after.as_ref()) {
            self.notes.push(format!("{}{CHANGED_AGAIN}", change.path.in_words()));
            return;
        }
        let is_text = now.is_some_and(Value::is_string);
        match &change.before {
            None if self.can_clear && is_text => {
                change.path.set(&mut self.customer, &self.index, &Value::Null);
            }
            None => self.notes.push(format!("{} {ADDED_LATER}", change.path.in_words())),
            Some(before) => {
                if !change.path.set(&mut self.customer, &self.index, before) {
                    self.notes.push(format!(
                        "cannot restore {}: its parent no longer exists",
                        change.path.in_words()
                    ));
                }
            }
        }
    }

    fn finish(mut self, stored: &Map<String, Value>) -> Result<Merged, Failure> {
        let removed = std::mem::take(&mut self.removed);
        if let Some(Value::Array(addresses)) = self.customer.get_mut("addresses") {
            addresses
                .retain(|address| address.get("id").and_then(id_of).is_none_or(|id| !removed.contains(&id)));
            addresses.extend(self.recreated.drain(..).map(|(_, address)| Value::Object(address)));
        }
        // No profile names an address that goes now.
        for name in DEFAULTS {
            if self.customer.get(name).and_then(id_of).is_some_and(|id| removed.contains(&id)) {
                self.customer.shift_remove(name);
            }
        }
        let mut merged = Merged::between(stored, self.customer)?;
        for name in self.left_out {
            let path = FieldPath::default().member(name);
            merged.changes.retain(|change| change.path != path);
            // Magento makes the new address the default by its flag.
            if !self.can_clear {
                self.notes.push(no_id_yet(name));
            }
        }
        let kept = join_ids(&self.kept_newer);
        match self.kept_newer.len() {
            0 => {}
            1 => self.notes.push(format!(
                "address {kept} is newer than the snapshot and is kept; --allow-delete 1 deletes it"
            )),
            many => self.notes.push(format!(
                "addresses {kept} are newer than the snapshot and are kept; --allow-delete {many} deletes them"
            )),
        }
        if !removed.is_empty() {
            self.notes.push(format!("address {} is deleted", join_ids(&removed)));
        }
        merged.notes = self.notes;
        Ok(merged)
    }
}

/// The note about a default that the profile cannot name.
fn no_id_yet(name: &str) -> String {
    let flag = name.replace('_', "-");
    format!(
        "cannot restore {name} of the profile: the recreated address has no ID yet; set it then with --{flag}"
    )
}

#[cfg(test)]
mod tests;
