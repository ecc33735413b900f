//! The inverse of an earlier update, as a patch that goes through the same steps as an update.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::address::{AddressIndex, DEFAULTS, address_list, addresses_by_id, find_address, own_id};
use super::defaults::{DefaultAddress, is_set};
use super::diff::{self, FieldChange};
use super::equal::{PLACE, is_completed, is_content, is_untouched, same_value};
use super::merge::set_field;
use super::patch::{ProfilePatch, Twin};
use super::path::FieldPath;
use super::region;
use crate::email::Email;
use crate::failure::Failure;
use crate::id::{self, AddressId};
use crate::interface::dialect::Dialect;

/// The end of the note about a field that is not what the update made of it.
const NOT_AS_WRITTEN: &str = " is not as it was written; left as is";

/// The end of the note about a field that was not there before.
const STAYS: &str = " was not there before, and an update cannot remove it; it is kept";

/// The update that is undone, and how.
#[derive(Debug, Clone, Copy)]
pub struct Undo<'a> {
    /// The profile before the update.
    pub before: &'a Map<String, Value>,
    /// What the update sent; with an address that it added as the shop stored it, with its id, if that is known.
    pub sent: &'a Map<String, Value>,
    /// Values that the service wrote in its own way.
    pub rewritten: &'a [FieldChange],
    /// Whether the whole profile goes back, not only what that update changed.
    pub all: bool,
    /// Whether a look has shown that something of the update is missing: an address that it kept and that is not there counts as
    /// deleted by it.
    pub lost_addresses: bool,
    /// Addresses that our own writes have added since, by their ids, as they were sent: one that was brought back may have
    /// been edited.
    pub added_since: &'a [(AddressId, Value)],
    /// With [`Self::all`]: whether addresses that the profile did not have then are deleted.
    pub delete_newer: bool,
    /// What the service does with the profile that is sent: one that merges profiles clears a text that is sent as null.
    pub dialect: &'a Dialect,
}

/// A patch that sets back what an update did.
#[derive(Debug, Default)]
pub struct Inverse {
    /// What goes back.
    pub patch: ProfilePatch,
    /// What does not go back, and what goes back differently.
    pub notes: Vec<String>,
    /// Those of the notes that say what does not go back.
    pub left: Vec<String>,
    /// Addresses that the profile did not have then, and that are kept.
    pub newer: Vec<AddressId>,
}

/// The patch that leads back, for a profile that is `now`: a value goes back if it is still the one that the update
/// wrote. A deleted address comes back without its id, because the service gives ids, and never the same twice.
///
/// # Errors
/// `guard` when a list has addresses without a usable id of their own.
pub fn inverse(undo: Undo<'_>, now: &Map<String, Value>) -> Result<Inverse, Failure> {
    let index = AddressIndex::of(address_list(now))?;
    let old = AddressIndex::of(address_list(undo.before))?;
    let newer = addresses_by_id(address_list(now)).filter(|(id, _)| !old.contains(*id)).collect();
    let mut building = Building {
        undo,
        now,
        index,
        newer,
        recreated: HashMap::new(),
        changed: BTreeMap::new(),
        added: Vec::new(),
        inverse: Inverse::default(),
    };
    let mut changes = diff::customers(undo.before, if undo.all { now } else { undo.sent });
    if undo.all && undo.dialect.merges_profiles {
        // Magento may show extension attributes wrongly, and setting one has effects.
        let own = diff::customers(undo.before, undo.sent);
        let is_others = |change: &mut FieldChange| {
            change.path.is_in("/extension_attributes")
                && !own.iter().any(|own| own.path.overlaps(&change.path))
        };
        for change in changes.extract_if(.., is_others) {
            building.leave(format!("{}{NOT_AS_WRITTEN}", change.path));
        }
    }
    let deleted = changes.iter().filter(|change| change.path.is_address() && change.after.is_none());
    // Deleted addresses come first: an address that came back already is not one that was added.
    deleted.filter_map(|change| change.before.as_ref()).for_each(|address| building.recreate(address));
    for change in changes {
        let name = change.path.last_name();
        if let (true, Some(added)) = (change.path.is_address(), &change.after) {
            building.leave_out(added);
        } else if !change.path.is_address()
            && !DEFAULTS.contains(&name)
            && !["id", "created_at", "updated_at"].contains(&&*change.path.to_string())
        {
            building.set_back(change);
        }
    }
    building.find_lost_addresses();
    for name in DEFAULTS {
        building.set_default_back(name);
    }
    Ok(building.finish())
}

struct Building<'a> {
    undo: Undo<'a>,
    now: &'a Map<String, Value>,
    index: AddressIndex,
    /// Addresses that the profile did not have then, and that are not accounted for yet.
    newer: Vec<(AddressId, &'a Value)>,
    /// New ids of deleted addresses that were recreated earlier.
    recreated: HashMap<AddressId, AddressId>,
    /// Fields of addresses that go back, by the ids of the addresses.
    changed: BTreeMap<AddressId, Map<String, Value>>,
    /// Addresses that come back, with the ids that they had.
    added: Vec<(AddressId, Map<String, Value>)>,
    inverse: Inverse,
}

impl Building<'_> {
    fn note(&mut self, note: String) {
        if !self.inverse.notes.contains(&note) {
            self.inverse.notes.push(note);
        }
    }

    /// Notes something that does not go back.
    fn leave(&mut self, note: String) {
        if !self.inverse.left.contains(&note) {
            self.inverse.left.push(note.clone());
        }
        self.note(note);
    }

    /// Brings a deleted address back, unless it is there, or came back already.
    fn recreate(&mut self, address: &Value) {
        let (Some(old), Some(fields)) = (own_id(address), address.as_object()) else { return };
        if self.index.contains(old) {
            return;
        }
        let is_it = |id: AddressId, newer: &Value| {
            let mut ours = self.undo.added_since.iter().filter(|(own, _)| *own == id);
            is_content(newer, Some(address)) || ours.any(|(_, sent)| is_content(sent, Some(address)))
        };
        if let Some(at) = self.newer.iter().position(|(id, newer)| is_it(*id, newer)) {
            let (new, _) = self.newer.remove(at);
            self.recreated.insert(old, new);
            return self.note(format!("address {old} was already recreated as {new}"));
        }
        let mut fields = fields.clone();
        fields.retain(|name, _| name != "id" && !DEFAULTS.contains(&name.as_str()));
        self.added.push((old, fields));
        self.note(format!("address {old} will be recreated with a new ID"));
    }

    /// Removes or leaves an address that the profile did not have then; `added` is how the shop stored it. It is known
    /// by its id only: one with the same content may be somebody else's.
    fn leave_out(&mut self, added: &Value) {
        let Some(id) = own_id(added) else {
            return self.leave("the address that was added stays: no answer told its ID".to_owned());
        };
        // If it is gone, everything is as it was before.
        let Some(at) = self.newer.iter().position(|(newer, _)| *newer == id) else { return };
        let (_, there) = self.newer.remove(at);
        if self.undo.all {
            let list =
                if self.undo.delete_newer { &mut self.inverse.patch.remove } else { &mut self.inverse.newer };
            return list.push(id);
        }
        let is_default =
            |customer, name: &str| DefaultAddress::of(customer, name) == DefaultAddress::Stored(id);
        let is_default_since = |name: &str| is_default(self.now, name) && !is_default(self.undo.sent, name);
        if !is_untouched(there, added) {
            self.leave(format!("address {id}, which was added,{NOT_AS_WRITTEN}"));
        } else if DEFAULTS.into_iter().any(is_default_since) {
            self.leave(format!("address {id}, which was added, is a default now; left as is"));
        } else {
            self.inverse.patch.remove.push(id);
        }
    }

    /// Brings back addresses that the update kept and lost: it was not asked to delete them. An undo does not bring
    /// back addresses that others have removed since.
    fn find_lost_addresses(&mut self) {
        if !self.undo.lost_addresses || self.undo.all {
            return;
        }
        for (id, address) in addresses_by_id(address_list(self.undo.before)) {
            if !self.index.contains(id) && find_address(self.undo.sent, id).is_some() {
                self.recreate(address);
            }
        }
    }

    /// Sets one field back if it still is what the update made of it.
    fn set_back(&mut self, change: FieldChange) {
        let id = change.path.address_id();
        let as_region = id.filter(|_| change.path.inside().starts_with("region"));
        let there = change.path.find(self.now, &self.index).cloned();
        let found = as_region.map_or(Some((change, there)), |id| self.region(id));
        let Some((change, there)) = found else { return };
        let is_now =
            |value: &Option<Value>| same_value(change.path.last_name(), there.as_ref(), value.as_ref());
        // Texts that differ in outer blanks are equal when a read is compared, but the difference can be undone.
        let are_texts = matches!((&there, &change.before), (Some(Value::String(_)), Some(Value::String(_))));
        let is_back = is_now(&change.before) && !(are_texts && there != change.before);
        let gone = id.filter(|id| !self.index.contains(*id));
        if let Some(id) = gone {
            self.leave(format!("address {id} is gone"));
        }
        if gone.is_some() || is_back {
            return;
        }
        if !self.undo.all && !self.is_written(&change.path, change.after.as_ref(), there.as_ref()) {
            return self.leave(format!("{}{NOT_AS_WRITTEN}", change.path.in_words()));
        }
        if !self.undo.all && change.path.place_of().is_some() && id.is_some_and(|id| self.is_moved(id)) {
            return self.leave(format!("{}: the address{NOT_AS_WRITTEN}", change.path.in_words()));
        }
        let cleared = || match change.after.clone()? {
            Value::String(_) if self.undo.dialect.merges_profiles => Some(Value::Null),
            Value::Object(mut attribute) if attribute.contains_key("attribute_code") => {
                // The shop takes no text for a number.
                let nothing = if self.undo.dialect.merges_profiles { Value::Null } else { "".into() };
                attribute.insert("value".to_owned(), nothing);
                Some(Value::Object(attribute))
            }
            _ => None,
        };
        let Some(value) = change.before.clone().or_else(cleared) else {
            return self.leave(format!("{}{STAYS}", change.path.in_words()));
        };
        let draft = match id {
            Some(id) => self.changed.entry(id).or_default(),
            None => &mut self.inverse.patch.draft,
        };
        if let Value::Object(named) = change.path.draft(value) {
            named.iter().for_each(|(name, value)| set_field(draft, name, value));
        }
    }

    /// Whether the value that is `there` is what the update `sent`, or what the service made of that.
    fn is_written(&self, path: &FieldPath, sent: Option<&Value>, there: Option<&Value>) -> bool {
        let is_now = |value: Option<&Value>| same_value(path.last_name(), there, value);
        let is_ours =
            |own: &FieldChange| own.path.to_string() == path.to_string() && is_now(own.after.as_ref());
        is_now(sent)
            || self.undo.rewritten.iter().any(is_ours)
            || path.last_name() == "region" && is_completed(there, sent)
    }

    /// Whether an address was moved since: a field of its place is neither what the update sent nor what it was before.
    fn is_moved(&self, id: AddressId) -> bool {
        let [before, sent, now] =
            [self.undo.before, self.undo.sent, self.now].map(|customer| find_address(customer, id));
        let (Some(sent), Some(now)) = (sent, now) else { return false };
        let is_other = |name: &str, [before, sent, now]: [Option<&Value>; 3]| {
            let path = FieldPath::address(id).member(name);
            !self.is_written(&path, sent, now) && !same_value(name, now, before)
        };
        let of = |name: &str| [before.and_then(|before| before.get(name)), sent.get(name), now.get(name)];
        let [was, put, is] = [before, Some(sent), Some(now)].map(|address| address.map(region::as_object));
        PLACE.iter().chain(&["country_id"]).any(|name| is_other(name, of(name)))
            || is_other("region", [was.as_ref(), put.as_ref(), is.as_ref()])
    }

    /// The region of an address as one change, and what it is now: its fields must not contradict each other.
    fn region(&self, id: AddressId) -> Option<(FieldChange, Option<Value>)> {
        let region = |customer| find_address(customer, id).map(region::as_object);
        let path = FieldPath::address(id).member("region");
        let change =
            FieldChange { path, before: Some(region(self.undo.before)?), after: region(self.undo.sent) };
        Some((change, Some(region(self.now)?)))
    }

    /// Sets a default back if it still is what the update made of it.
    fn set_default_back(&mut self, name: &'static str) {
        let of = |customer| DefaultAddress::of(customer, name);
        let was = of(self.undo.before);
        let is = of(self.now);
        let put = self.found(of(self.undo.sent), name);
        let can_clear = self.undo.dialect.merges_profiles;
        let back = match was {
            DefaultAddress::None if !can_clear => {
                if put != was && is == put {
                    self.leave(format!("{name}{STAYS}"));
                }
                return;
            }
            DefaultAddress::Stored(id) if self.recreated.contains_key(&id) => {
                DefaultAddress::Stored(self.recreated[&id])
            }
            DefaultAddress::Stored(id) if !self.index.contains(id) => DefaultAddress::New,
            was => was,
        };
        if is == back || !self.undo.all && was == put && back == was {
            return;
        }
        let is_put_there = matches!(put, DefaultAddress::Stored(id) if self.index.contains(id));
        if !self.undo.all && is != put && (is != DefaultAddress::None || is_put_there) {
            return self.leave(format!("{name}{NOT_AS_WRITTEN}"));
        }
        if let (DefaultAddress::New, DefaultAddress::Stored(id)) = (back, was) {
            let is_named = self.undo.before.get(name).is_some_and(|id| !id.is_null());
            if is_named && !can_clear {
                self.leave(format!(
                    "cannot restore {name} of the profile: the recreated address has no ID yet"
                ));
            }
            let Some((_, added)) = self.added.iter_mut().find(|(old, _)| *old == id) else { return };
            added.insert(name.to_owned(), true.into());
        }
        self.inverse.patch.defaults.push((name, back));
    }

    /// The default that the update set; a new address by the id that it has now.
    fn found(&self, sent: DefaultAddress, name: &str) -> DefaultAddress {
        let flagged = address_list(self.undo.sent).iter().rfind(|address| is_set(address, name));
        let Some(flagged) = flagged.filter(|_| sent == DefaultAddress::New) else { return sent };
        let mut now = address_list(self.now).iter().filter(|one| is_content(one, Some(flagged)));
        now.next_back().and_then(own_id).map_or(sent, DefaultAddress::Stored)
    }

    fn finish(self) -> Inverse {
        let changed = self.changed.into_iter().map(|(id, mut fields)| {
            fields.insert("id".to_owned(), id.into());
            Value::Object(fields)
        });
        let added = self.added.into_iter().map(|(_, fields)| Value::Object(fields));
        let mut inverse = self.inverse;
        inverse.patch.twin = Twin::Added;
        inverse.patch.draft.insert("addresses".to_owned(), changed.chain(added).collect());
        inverse
    }
}

/// Combines several writes of one profile, in the order in which they were made: the profile before them and after.
/// Changes that others made in between are in both, so that they are not a difference between them.
///
/// # Errors
/// `guard` when a list has addresses without a usable id of their own.
pub fn together(writes: &[ProfileWrite<'_>]) -> Result<Option<Together>, Failure> {
    let Some((first, rest)) = writes.split_first() else { return Ok(None) };
    let (mut before, mut after) = (first.before.clone(), first.sent.clone());
    let mut is_mismatch = first.is_mismatch;
    for next in rest {
        let mut known = with_ids(&after, next.before);
        if let (true, Some(Value::Array(kept))) = (is_mismatch, known.get_mut("addresses")) {
            leave_out_lost(kept, &before, next.before);
        }
        before = without_own(&before, &known, next.before)?;
        after.clone_from(next.sent);
        is_mismatch = next.is_mismatch;
    }
    Ok(Some(Together { before, after }))
}

/// Several writes as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// The profile before them.
    pub before: Map<String, Value>,
    /// The profile after them.
    pub after: Map<String, Value>,
}

/// A write of one profile: what it was made from, and what it carried.
#[derive(Debug, Clone, Copy)]
pub struct ProfileWrite<'a> {
    /// The profile that it was made from.
    pub before: &'a Map<String, Value>,
    /// What it carried.
    pub sent: &'a Map<String, Value>,
    /// Whether a look has shown that something of it is missing: what it kept and the next read lacks counts as deleted by
    /// it.
    pub is_mismatch: bool,
}

/// Leaves out the addresses that a read lacks. What it has under an id that is new was renumbered, or came back already.
fn leave_out_lost(kept: &mut Vec<Value>, before: &Map<String, Value>, read: &Map<String, Value>) {
    let known: Vec<AddressId> = addresses_by_id(kept).map(|(id, _)| id).collect();
    let new = addresses_by_id(address_list(read)).filter(|(id, _)| !known.contains(id));
    let mut new: Vec<&Value> = new.map(|(_, address)| address).collect();
    kept.retain(|one| {
        let Some(id) = own_id(one).filter(|id| find_address(read, *id).is_none()) else { return true };
        let is_it = |now: &&Value| is_content(now, Some(one)) || is_content(now, find_address(before, id));
        let found = new.iter().position(is_it);
        found.map(|at| new.remove(at)).is_some()
    });
}

/// What was sent, with its new addresses as a later read shows them if they are unchanged.
fn with_ids(sent: &Map<String, Value>, read: &Map<String, Value>) -> Map<String, Value> {
    let mut known: Vec<AddressId> = addresses_by_id(address_list(sent)).map(|(id, _)| id).collect();
    let mut sent = sent.clone();
    let Some(Value::Array(addresses)) = sent.get_mut("addresses") else { return sent };
    for address in addresses.iter_mut().filter(|address| own_id(address).is_none()) {
        let mut read = addresses_by_id(address_list(read));
        let found = read.find(|(id, own)| !known.contains(id) && is_untouched(own, address));
        if let Some((id, own)) = found {
            known.push(id);
            *address = own.clone();
        }
    }
    sent
}

/// The profile `now` without what a write changed in it; the write turned `before` into `after`.
fn without_own(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Result<Map<String, Value>, Failure> {
    let index = AddressIndex::of(address_list(now))?;
    let mut without = now.clone();
    for change in diff::customers(before, after) {
        let is_still =
            same_value(change.path.last_name(), change.path.find(now, &index), change.after.as_ref());
        // An address that was added counts as the later read shows it: see `with_ids`.
        if is_still || change.path.is_address() && change.after.is_some() {
            change.path.set(&mut without, change.before.as_ref());
        }
    }
    Ok(without)
}

/// Whether an earlier state of a profile is certainly of this customer: the same id; or, without ids, the same email or
/// an address in common, because no two customers share an address id.
pub fn belongs_to(stored: &Map<String, Value>, written: &Map<String, Value>) -> bool {
    let ids = [stored, written].map(|customer| customer.get("id").and_then(id::integer));
    if let [Some(stored), Some(written)] = ids {
        return stored == written;
    }
    let [email, other] = [stored, written].map(|customer| customer.get("email").and_then(Email::of));
    let mut addresses = addresses_by_id(address_list(written));
    email.is_some() && email == other || addresses.any(|(id, _)| find_address(stored, id).is_some())
}

#[cfg(test)]
mod tests;
