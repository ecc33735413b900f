//! The read-back: what a profile read after a PUT says about that PUT.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::diff::{self, Change};
use super::equivalence::{contains_all, is_set, same_value};
use super::merge::Merged;
use crate::failure::Failure;
use crate::plan::profile::diff::FieldPath;
use crate::plan::profile::diff::{AddressIndex, id_of};
use crate::plan::profile::stored::{Pointers, Profile};

/// Fields by which a new address is recognised although the service wrote some other field in its own way.
const PLACE: [&str; 3] = ["street", "city", "postcode"];
/// Fields that say whose an address is, not where.
const OWNERSHIP: [&str; 2] = ["id", "customer_id"];

/// What a read-back shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadBack {
    /// Ids of addresses that were to stay and are gone.
    pub missing: Vec<i64>,
    /// Ids of addresses that were to stay and of which every field is empty now.
    pub emptied: Vec<i64>,
    /// Ids of addresses that were to stay and read like another one that was to stay.
    pub swapped: Vec<i64>,
    /// Changes whose old value is still there.
    pub undone: Vec<Change>,
    /// Changes that show a third value: `after` is what is there now.
    pub altered: Vec<Change>,
    /// Changes and removals that were not sent: made by the service or by another editor.
    pub unrelated_changes: Vec<Change>,
    /// How many changes arrived as they were sent.
    pub arrived: usize,
    /// Ids given to the addresses that were added, in stored order.
    pub new_ids: Vec<i64>,
}

impl ReadBack {
    /// Whether it shows every change and every address that was to stay.
    pub fn is_shown(&self) -> bool {
        self.keeps_addresses() && self.undone.is_empty() && self.altered.is_empty()
    }

    /// Whether every change still has its old value.
    pub fn shows_nothing(&self) -> bool {
        self.arrived == 0 && self.altered.is_empty() && !self.undone.is_empty()
    }

    /// Whether every change is there, some with a value that the service wrote in its own way.
    pub fn is_shown_with_other_values(&self) -> bool {
        self.keeps_addresses() && self.undone.is_empty() && !self.altered.is_empty()
    }

    /// Whether every address that was to stay is there with its content.
    pub fn keeps_addresses(&self) -> bool {
        self.missing.is_empty() && self.emptied.is_empty() && self.swapped.is_empty()
    }
}

/// A PUT as it was sent, to be compared with what is read afterwards.
#[derive(Debug, Clone, Copy)]
pub struct Expectation<'a> {
    /// The customer as it was read last before the PUT.
    pub before: &'a Map<String, Value>,
    /// The customer that was sent.
    pub merged: &'a Merged,
    /// JSON pointers from the customer object: changes there are not looked at (`read.ignore`).
    pub ignore: &'a [String],
}

impl Expectation<'_> {
    /// Compares a profile with what was sent.
    ///
    /// # Errors
    /// `guard` when the profile's list has an address without a usable id of its own.
    pub fn compare(&self, now: &Profile) -> Result<ReadBack, Failure> {
        let index = AddressIndex::of(now.addresses())?;
        let mut found = ReadBack { unrelated_changes: self.unrelated(now), ..ReadBack::default() };
        self.compare_kept(now, &index, &mut found);
        let known = AddressIndex::of(diff::address_list(self.before))?;
        let mut unclaimed: VecDeque<(i64, &Value)> = index
            .ids()
            .iter()
            .zip(now.addresses())
            .filter(|(id, _)| !known.contains(**id))
            .map(|(id, address)| (*id, address))
            .collect();
        let mut unmatched = Vec::new();
        let gone: HashSet<i64> = found.missing.iter().copied().collect();
        let checked: Vec<&Change> =
            self.merged.changes.iter().filter(|change| self.is_checked(change, &gone)).collect();
        for change in checked {
            if !change.path.is_new_address() {
                found.compare_change(change, change.path.find(now.customer(), &index));
            } else if !found.match_new_address(change, &mut unclaimed) {
                unmatched.push(change);
            }
        }
        for change in unmatched {
            found.claim_similar(change, &mut unclaimed);
        }
        found.new_ids.sort_by_key(|id| index.position(*id));
        Ok(found)
    }

    /// Whether an earlier state of the customer has every change already. A read from a replica that still has that state
    /// cannot show whether the PUT took effect.
    pub fn has_all_changes(&self, earlier: &Map<String, Value>) -> bool {
        let Ok(earlier) = Profile::find(Value::Object(earlier.clone()), &Pointers::default()) else {
            return true;
        };
        self.compare(&earlier).map_or(true, |found| found.undone.is_empty() && found.altered.is_empty())
    }

    /// A field that was left out is no change that can be seen: services that merge keep it. Nor is a change inside an
    /// address that is gone: the address itself is reported.
    fn is_checked(&self, change: &Change, gone: &HashSet<i64>) -> bool {
        let left_out = change.after.is_none() && !change.path.is_address();
        let is_gone = change.path.address_id().is_some_and(|id| gone.contains(&id));
        !left_out && !is_gone && !self.ignore.iter().any(|pointer| change.path.is_at(pointer))
    }

    /// Every address that was to stay: there, not empty, and not in another one's place.
    fn compare_kept(&self, now: &Profile, index: &AddressIndex, found: &mut ReadBack) {
        let before = diff::address_list(self.before);
        let Ok(old) = AddressIndex::of(before) else { return };
        let kept: HashSet<i64> = self.merged.summary.kept.iter().copied().collect();
        let staying = self.merged.summary.kept.iter().chain(&self.merged.summary.changed);
        let mut contents: Option<HashMap<String, i64>> = None;
        for id in staying.copied() {
            let Some(actual) = index.position(id).map(|position| &now.addresses()[position]) else {
                found.missing.push(id);
                continue;
            };
            let Some(stored) = old.position(id).map(|position| &before[position]) else { continue };
            if actual == stored {
                continue;
            }
            if is_emptied(stored, actual) {
                found.emptied.push(id);
            } else if kept.contains(&id) {
                let contents = contents.get_or_insert_with(|| contents_of(before, &kept));
                let other = contents.get(&content(actual));
                if other.is_some_and(|other| *other != id) && !has_same_content(actual, stored) {
                    found.swapped.push(id);
                }
            }
        }
    }

    /// Differences in what was sent back unchanged. What the service adds is no loss.
    fn unrelated(&self, now: &Profile) -> Vec<Change> {
        let mut changes = diff::sent_except(&self.merged.customer, now.customer(), self.ignore);
        let mut asked_at: HashMap<Option<i64>, Vec<&FieldPath>> = HashMap::new();
        for Change { path, .. } in self.merged.changes.iter().filter(|asked| !asked.path.is_new_address()) {
            asked_at.entry(path.address_id()).or_default().push(path);
        }
        let asked = |change: &Change| match change.path.address_id() {
            None => self.merged.changes.iter().any(|asked| asked.path.overlaps(&change.path)),
            // Only what was asked of that address, or of the list as a whole, can be the same.
            id => [None, id]
                .into_iter()
                .filter_map(|id| asked_at.get(&id))
                .flatten()
                .any(|asked| asked.overlaps(&change.path)),
        };
        changes.retain(|change| {
            change.before.is_some()
                && !change.path.is_address()
                && !same_value(&change.path.last_name(), change.before.as_ref(), change.after.as_ref())
                && !asked(change)
        });
        changes
    }
}

fn is_emptied(stored: &Value, actual: &Value) -> bool {
    let (Some(stored), Some(actual)) = (stored.as_object(), actual.as_object()) else { return false };
    let is_empty = |name: &String, value: &Value| match value {
        Value::Object(fields) => !fields.iter().any(|(name, value)| is_set(name, value)),
        Value::Array(elements) => elements.is_empty(),
        value => !is_set(name, value),
    };
    let mut set =
        stored.iter().filter(|(name, value)| !OWNERSHIP.contains(&name.as_str()) && !is_empty(name, value));
    set.clone().next().is_some()
        && set.all(|(name, _)| actual.get(name).is_none_or(|value| is_empty(name, value)))
}

/// An address without what says whose it is.
fn without_ownership(address: &Value) -> Value {
    let mut address = address.clone();
    if let Value::Object(fields) = &mut address {
        fields.retain(|name, _| !OWNERSHIP.contains(&name.as_str()));
    }
    address
}

/// The same as text.
fn content(address: &Value) -> String {
    without_ownership(address).to_string()
}

/// Whether an address reads as it did before, also where the service writes a value in another way: two addresses of a
/// customer may be alike.
fn has_same_content(actual: &Value, stored: &Value) -> bool {
    same_value("", Some(&without_ownership(actual)), Some(&without_ownership(stored)))
}

/// The content of each address that was to stay unchanged, with its id.
fn contents_of(addresses: &[Value], kept: &HashSet<i64>) -> HashMap<String, i64> {
    let identified = addresses.iter().filter_map(|address| Some((id_of(address.get("id")?)?, address)));
    identified.filter(|(id, _)| kept.contains(id)).map(|(id, address)| (content(address), id)).collect()
}

impl ReadBack {
    /// Finds a new address among those that appeared: one that has every field that was sent.
    fn match_new_address(&mut self, change: &Change, unclaimed: &mut VecDeque<(i64, &Value)>) -> bool {
        let sent = change.after.as_ref().and_then(Value::as_object);
        let equal = unclaimed
            .iter()
            .position(|(_, actual)| sent.is_some_and(|sent| contains_all(actual, sent, &["id"])));
        if let Some(position) = equal {
            self.new_ids.extend(unclaimed.remove(position).map(|(id, _)| id));
            self.arrived += 1;
        }
        equal.is_some()
    }

    /// Takes an address that appeared at the same place for a new one that the service wrote in its own way. Any other
    /// is somebody else's, and ours is not there.
    fn claim_similar(&mut self, change: &Change, unclaimed: &mut VecDeque<(i64, &Value)>) {
        let sent = change.after.as_ref().and_then(Value::as_object);
        let similar =
            unclaimed.iter().position(|(_, actual)| sent.is_some_and(|sent| is_same_place(sent, actual)));
        match similar.and_then(|position| unclaimed.remove(position)) {
            None => self.undone.push(change.clone()),
            Some((id, actual)) => {
                self.new_ids.push(id);
                self.altered.push(Change { after: Some(actual.clone()), ..change.clone() });
            }
        }
    }

    fn compare_change(&mut self, change: &Change, now: Option<&Value>) {
        let name = change.path.last_name();
        if same_value(&name, now, change.after.as_ref()) {
            self.arrived += 1;
        } else if same_value(&name, now, change.before.as_ref()) || change.path.is_address() {
            self.undone.push(change.clone());
        } else {
            self.altered.push(Change { after: now.cloned(), ..change.clone() });
        }
    }
}

/// Whether two addresses are at the same place: of street, city and postcode, letters and digits of all that were sent
/// agree, but for one.
fn is_same_place(sent: &Map<String, Value>, actual: &Value) -> bool {
    let named: Vec<&str> =
        PLACE.into_iter().filter(|name| sent.get(*name).is_some_and(|value| is_set(name, value))).collect();
    let agreeing =
        named.iter().filter(|name| actual.get(**name).map(letters) == sent.get(**name).map(letters)).count();
    agreeing > 0 && agreeing + 1 >= named.len()
}

fn letters(value: &Value) -> String {
    value.to_string().chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
