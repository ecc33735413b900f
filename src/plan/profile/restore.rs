//! The inverse of an earlier update, as a patch for the same steps that an update takes.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::diff::same_value;
use super::diff::{self, AddressIndex, Change, FieldPath, id_of, join_ids};
use super::merge::{DEFAULTS, DefaultAddress, ProfilePatch};
use super::region;
use super::verify::is_content;
use crate::failure::Failure;

/// Ends the note about a field that is not what the update made of it.
const CHANGED_SINCE: &str = " has changed since; left as is";

/// What is restored, and how.
#[derive(Debug, Clone, Copy)]
pub struct Undo<'a> {
    /// The profile before the update.
    pub before: &'a Map<String, Value>,
    /// What the update sent.
    pub sent: &'a Map<String, Value>,
    /// The whole profile goes back, not only what that update changed.
    pub all: bool,
    /// A read has shown that an address was lost which the update kept: it counts as deleted by it.
    pub lost_addresses: bool,
    /// Addresses that the profile did not have then are deleted.
    pub delete_newer: bool,
    /// The service clears a text that is sent as null.
    pub can_clear: bool,
}

/// A patch that sets back what an update did.
#[derive(Debug, Default)]
pub struct Inverse {
    /// What goes back.
    pub patch: ProfilePatch,
    /// What does not, and what goes back otherwise than it was.
    pub notes: Vec<String>,
    /// Addresses that the profile did not have then, and that are kept.
    pub newer: Vec<i64>,
    /// New ids of deleted addresses that were recreated earlier.
    recreated: HashMap<i64, i64>,
}

impl Inverse {
    /// Whether all that the update changed was changed again since.
    pub fn is_overwritten(&self) -> bool {
        !self.notes.is_empty() && self.notes.iter().all(|note| note.ends_with(CHANGED_SINCE))
    }
}

/// The difference that leads back, for a profile that is `now`: a value goes back where it is still the one that the
/// update wrote. A deleted address comes back without its id, for the service gives ids, and not twice.
///
/// # Errors
/// `guard` when a list has addresses without a usable id of their own.
pub fn inverse(undo: Undo<'_>, now: &Map<String, Value>) -> Result<Inverse, Failure> {
    let index = AddressIndex::of(diff::address_list(now))?;
    let old = AddressIndex::of(diff::address_list(undo.before))?;
    let is_newer = |id: &i64| !old.contains(*id);
    let newer: Vec<(i64, &Value)> = index.ids().iter().copied().zip(diff::address_list(now)).collect();
    let newer = newer.into_iter().filter(|(id, _)| is_newer(id)).collect();
    let mut building = Building {
        undo,
        now,
        index,
        newer,
        profile: Map::new(),
        changed: BTreeMap::new(),
        added: Vec::new(),
        regions: HashSet::new(),
        inverse: Inverse::default(),
    };
    let after = if undo.all { now } else { undo.sent };
    let changes = diff::customers(undo.before, after);
    let deleted = changes.iter().filter(|change| change.path.is_address() && change.after.is_none());
    // First, so that an address that came back already is none that was added.
    deleted.filter_map(|change| change.before.as_ref()).for_each(|address| building.recreate(address));
    for change in &changes {
        let path = change.path.to_string();
        match (change.path.is_address(), &change.after) {
            (true, Some(address)) => building.leave_out(address),
            (true, None) => {}
            _ if ["id", "created_at", "updated_at"].contains(&path.as_str()) => {}
            _ if DEFAULTS.contains(&change.path.last_name().as_str()) => {}
            _ if change.path.inside().starts_with("region") && change.path.address_id().is_some() => {
                building.set_region_back(change);
            }
            _ => building.set_back(change),
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
    /// Addresses that the profile did not have then, and that nothing stands for yet.
    newer: Vec<(i64, &'a Value)>,
    /// Fields of the profile that go back.
    profile: Map<String, Value>,
    /// Fields of addresses that go back, by the ids of those.
    changed: BTreeMap<i64, Map<String, Value>>,
    /// Addresses that come back, with the ids that they had.
    added: Vec<(i64, Map<String, Value>)>,
    /// Addresses of which the region was looked at.
    regions: HashSet<i64>,
    inverse: Inverse,
}

impl Building<'_> {
    /// A deleted address comes back, unless it is there, or came back already.
    fn recreate(&mut self, address: &Value) {
        let (Some(old), Some(fields)) = (address.get("id").and_then(id_of), address.as_object()) else {
            return;
        };
        if self.index.contains(old) {
            return;
        }
        if let Some(at) = self.newer.iter().position(|(_, newer)| is_content(newer, Some(address))) {
            let (new, _) = self.newer.remove(at);
            self.inverse.notes.push(format!("address {old} was already recreated as {new}"));
            self.inverse.recreated.insert(old, new);
            return;
        }
        let mut fields = fields.clone();
        fields.retain(|name, _| name != "id" && !DEFAULTS.contains(&name.as_str()));
        self.inverse.notes.push(format!("address {old} will be recreated with a new ID"));
        self.added.push((old, fields));
    }

    /// An address that the profile did not have then: `added` is how it was sent, or how it is stored.
    fn leave_out(&mut self, added: &Value) {
        let is_it = |(id, newer): &(i64, &Value)| match added.get("id").and_then(id_of) {
            Some(known) => known == *id,
            None => is_content(newer, Some(added)),
        };
        let Some(at) = self.newer.iter().position(is_it) else { return };
        let (id, _) = self.newer.remove(at);
        if self.undo.delete_newer {
            self.inverse.patch.remove.push(id);
        } else {
            self.inverse.newer.push(id);
        }
    }

    /// Addresses that the update kept and that are gone: it was not asked to delete them.
    fn find_lost_addresses(&mut self) {
        let sent = diff::addresses_by_id(diff::address_list(self.undo.sent));
        let kept: Vec<i64> = sent.map(|(id, _)| id).collect();
        let gone: Vec<(i64, &Value)> = diff::addresses_by_id(diff::address_list(self.undo.before))
            .filter(|(id, _)| kept.contains(id) && !self.index.contains(*id))
            .collect();
        if self.undo.lost_addresses && !self.undo.all {
            return gone.into_iter().for_each(|(_, address)| self.recreate(address));
        }
        let is_elsewhere =
            |address: &Value| self.newer.iter().any(|(_, newer)| is_content(newer, Some(address)));
        let gone = gone.into_iter().filter(|(_, address)| !self.undo.all && !is_elsewhere(address));
        let gone: Vec<i64> = gone.map(|(id, _)| id).collect();
        if !gone.is_empty() {
            let [subject, verb] = if gone.len() == 1 { ["address", "is"] } else { ["addresses", "are"] };
            let ids = join_ids(&gone);
            self.inverse.notes.push(format!("{subject} {ids} {verb} no longer there; --all brings back all"));
        }
    }

    /// Whether the profile still has what the update made of a field; a note where it has something else.
    fn is_as_written(&mut self, change: &Change, now: Option<&Value>, written: Option<&Value>) -> bool {
        let is_written = self.undo.all || same_value(&change.path.last_name(), now, written);
        if !is_written {
            let note = format!("{}{CHANGED_SINCE}", change.path.in_words());
            self.inverse.notes.push(note);
        }
        is_written
    }

    /// One field goes back to what it was.
    fn set_back(&mut self, change: &Change) {
        let is_gone = change.path.address_id().is_some_and(|id| !self.index.contains(id));
        let there = change.path.find(self.now, &self.index).cloned();
        if is_gone || same_value(&change.path.last_name(), there.as_ref(), change.before.as_ref()) {
            return;
        }
        if !self.is_as_written(change, there.as_ref(), change.after.as_ref()) {
            return;
        }
        let cleared = match &change.after {
            Some(Value::String(_)) if self.undo.can_clear => Some(Value::Null),
            Some(added) => without_value(added),
            None => None,
        };
        let Some(value) = change.before.clone().or(cleared) else {
            let path = change.path.in_words();
            let note = format!("{path} was added later and cannot be removed by an update; it is kept");
            return self.inverse.notes.push(note);
        };
        let draft = match change.path.address_id() {
            Some(id) => self.changed.entry(id).or_default(),
            None => &mut self.profile,
        };
        change.path.set_in(draft, value);
    }

    /// The region of an address goes back as a whole: its fields must not contradict each other.
    fn set_region_back(&mut self, change: &Change) {
        let Some(id) = change.path.address_id().filter(|id| self.index.contains(*id)) else { return };
        if !self.regions.insert(id) {
            return;
        }
        let region = |customer: &Map<String, Value>| {
            let is_it = |address: &&Value| address.get("id").and_then(id_of) == Some(id);
            diff::address_list(customer).iter().find(is_it).map(region::as_object)
        };
        let (Some(before), Some(now)) = (region(self.undo.before), region(self.now)) else { return };
        let sent = region(self.undo.sent);
        if same_value("region", Some(&now), Some(&before)) {
            return;
        }
        let change = Change { path: FieldPath::address(id).member("region"), ..change.clone() };
        if self.is_as_written(&change, Some(&now), sent.as_ref()) {
            self.changed.entry(id).or_default().insert("region".to_owned(), before);
        }
    }

    /// A default goes back to the address that had it, where it still is where the update put it.
    fn set_default_back(&mut self, name: &'static str) {
        let now_at = |sent: &Value| {
            let mut new = diff::address_list(self.now).iter().filter(|one| is_content(one, Some(sent)));
            new.next_back()?.get("id").and_then(id_of)
        };
        let put = default_of(self.undo.sent, name);
        let put = put.and_then(|sent| sent.get("id").and_then(id_of).or_else(|| now_at(sent)));
        let id_in = |customer| default_of(customer, name).and_then(|default| id_of(default.get("id")?));
        let (was, is) = (id_in(self.undo.before), id_in(self.now));
        let Some(was_at) = was.filter(|_| was != is && (self.undo.all || was != put)) else {
            if was.is_none() && put.is_some() && is == put {
                let note = format!("{name} was added later and cannot be removed by an update; it is kept");
                self.inverse.notes.push(note);
            }
            return;
        };
        let address = match self.inverse.recreated.get(&was_at) {
            Some(new) => Some(*new),
            None => Some(was_at).filter(|id| self.index.contains(*id)),
        };
        if is.is_some() && is == address {
            return;
        }
        if !self.undo.all && is != put && is.is_some() {
            return self.inverse.notes.push(format!("{name}{CHANGED_SINCE}"));
        }
        let names_none = !self.undo.can_clear && self.undo.before.get(name).is_some_and(|id| !id.is_null());
        if address.is_none() && names_none {
            let note = format!("cannot restore {name} of the profile: the recreated address has no ID yet");
            self.inverse.notes.push(note);
        }
        let draft = match address {
            Some(id) => self.changed.entry(id).or_default(),
            None => match self.added.iter_mut().find(|(old, _)| *old == was_at) {
                Some((_, added)) => added,
                None => return,
            },
        };
        draft.insert(name.to_owned(), true.into());
        self.inverse.patch.default_addresses.push(DefaultAddress {
            address,
            shipping: name == "default_shipping",
            billing: name == "default_billing",
        });
    }

    fn finish(self) -> Inverse {
        let changed = self.changed.into_iter().map(|(id, mut fields)| {
            fields.insert("id".to_owned(), id.into());
            Value::Object(fields)
        });
        let added = self.added.into_iter().map(|(_, fields)| Value::Object(fields));
        let mut inverse = self.inverse;
        inverse.patch.allow_duplicate = true;
        inverse.patch.draft = self.profile;
        inverse.patch.draft.insert("addresses".to_owned(), changed.chain(added).collect());
        inverse
    }
}

/// What removes a custom attribute, or a list of them: the same without a value.
fn without_value(attributes: &Value) -> Option<Value> {
    match attributes {
        Value::Object(attribute) if attribute.contains_key("attribute_code") => {
            let mut attribute = attribute.clone();
            attribute.insert("value".to_owned(), "".into());
            Some(Value::Object(attribute))
        }
        Value::Array(attributes) => {
            attributes.iter().map(without_value).collect::<Option<_>>().map(Value::Array)
        }
        _ => None,
    }
}

/// The default address of a profile: the one with the flag, or the one that the profile names.
fn default_of<'a>(customer: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let addresses = diff::address_list(customer);
    let is_flagged = |address: &&Value| same_value(name, address.get(name), Some(&Value::Bool(true)));
    let named = customer.get(name).and_then(id_of);
    let is_named = |address: &&Value| named.is_some() && address.get("id").and_then(id_of) == named;
    addresses.iter().rfind(is_flagged).or_else(|| addresses.iter().find(is_named))
}

/// Whether a snapshot is plainly of this customer: the same id; or, where there are none, the same email or an address in
/// common, whose ids no two customers share.
pub fn belongs_to(stored: &Map<String, Value>, snapshot: &Map<String, Value>) -> bool {
    let both = |name: &str| Some((stored.get(name)?, snapshot.get(name)?));
    let ids = |customer| {
        diff::addresses_by_id(diff::address_list(customer)).map(|(id, _)| id).collect::<HashSet<_>>()
    };
    match both("id").map(|(stored, snapshot)| (id_of(stored), id_of(snapshot))) {
        Some((Some(stored), Some(snapshot))) => stored == snapshot,
        _ => {
            both("email").is_some_and(|(stored, snapshot)| stored.is_string() && stored == snapshot)
                || !ids(stored).is_disjoint(&ids(snapshot))
        }
    }
}

#[cfg(test)]
mod tests;
