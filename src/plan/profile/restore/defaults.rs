//! The two default addresses while a snapshot is restored: each is one value, where the default is, in whatever fields a
//! service keeps it. It goes back only where it still is where the update put it, so that no address loses a default that
//! somebody gave it since.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{ADDED_LATER, CHANGED_AGAIN, NOT_COMPARED, Restored, no_id_yet};
use crate::plan::profile::diff::{AddressIndex, id_of, join_ids};
use crate::plan::profile::diff::{Change, address_list};
use crate::plan::profile::equivalence::contains_all;
use crate::plan::profile::magento::{DEFAULTS, completed, is_flag_set, is_set};
use crate::plan::profile::merge::no_flag;

/// An address that was sent without id and is not stored.
const NOWHERE: i64 = i64::MIN;

/// The profiles that say where a default was, was put, and is.
pub(super) struct Profiles<'a> {
    before: &'a Map<String, Value>,
    sent: Cow<'a, Map<String, Value>>,
    now: &'a Map<String, Value>,
}

impl<'a> Profiles<'a> {
    /// Of a snapshot, what was sent over it, and what is stored. With `is_completed` it was sent as [`completed`] has it.
    pub(super) fn new(
        before: &'a Map<String, Value>,
        sent: &'a Map<String, Value>,
        now: &'a Map<String, Value>,
        is_completed: bool,
    ) -> Self {
        let sent = if is_completed { Cow::Owned(completed(before, sent)) } else { Cow::Borrowed(sent) };
        Self { before, sent, now }
    }
}

/// The default that a change is about, if it is about one.
pub(super) fn default_of(change: &Change) -> Option<&'static str> {
    DEFAULTS.into_iter().find(|name| change.path.inside() == *name)
}

/// Where a default is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Holder {
    /// Addresses with its flag.
    flagged: BTreeSet<i64>,
    /// The address that the profile itself names, if it has that address.
    own: Option<i64>,
}

impl Holder {
    fn of(customer: &Map<String, Value>, name: &str) -> Self {
        let addresses = || address_list(customer).iter();
        let id = |address: &Value| address.get("id").and_then(id_of);
        let own = customer.get(name).and_then(id_of);
        Self {
            flagged: addresses().filter(|address| is_set(address, name)).filter_map(id).collect(),
            own: own.filter(|own| addresses().any(|address| id(address) == Some(*own))),
        }
    }

    /// A flag counts before the profile's own field.
    fn addresses(&self) -> BTreeSet<i64> {
        if self.flagged.is_empty() { self.own.into_iter().collect() } else { self.flagged.clone() }
    }

    /// Whether it is where an update put it that found it at `before` and sent `sent`. A service may set the flag by the
    /// profile's own field and the other way round, and take a new flag for the only one.
    fn is_as_sent(&self, before: &Self, sent: &Self) -> bool {
        let addresses = self.addresses();
        // A field that was left out is kept.
        let is_kept = sent.own.is_none() && self.own == before.own;
        let agrees = is_kept || self.own.is_none_or(|own| sent.own == Some(own) || addresses.contains(&own));
        let own = sent.own.filter(|_| sent.own != before.own).into_iter().collect::<BTreeSet<_>>();
        let new = sent.flagged.difference(&before.flagged).copied().collect();
        let is_there = |place: &BTreeSet<i64>| !place.is_empty() && *place == addresses;
        agrees && (addresses == sent.addresses() || is_there(&own) || is_there(&new))
    }
}

/// Where a default was before the update, as addresses that are there after the restore.
#[derive(Default)]
struct Targets {
    stored: BTreeSet<i64>,
    recreated: BTreeSet<i64>,
    gone: Vec<i64>,
}

impl Targets {
    /// A default that no address has now is taken from none where its own address comes back.
    fn may_take(&self, was: &Holder, sent: &Holder, now: &Holder) -> bool {
        let is_free = !self.recreated.is_empty() && now.addresses().is_empty();
        self.gone.is_empty() && (is_free || now.is_as_sent(was, sent))
    }
}

impl Restored {
    /// Puts both defaults back where they were before the update, or says why not. `changes` are those to the defaults.
    pub(super) fn restore_defaults(&mut self, profiles: &Profiles<'_>, changes: &[&Change]) {
        for name in DEFAULTS {
            let was = Holder::of(profiles.before, name);
            let sent = self.sent_holder(profiles, name);
            let now = Holder::of(profiles.now, name);
            let mut targets = self.targets(&was);
            if was == sent {
                targets.recreated.clear();
            } else if targets.may_take(&was, &sent, &now) {
                if was.addresses().is_empty() {
                    self.clear_default(name, changes);
                } else {
                    self.set_default(name, profiles, &now, &targets);
                }
            } else {
                self.leave_default(name, &now, &targets);
                targets.recreated.clear();
            }
            for (_, address) in self.recreated.iter_mut().filter(|(old, _)| !targets.recreated.contains(old))
            {
                address.shift_remove(name);
            }
        }
    }

    /// Where the update put the default. An address that it added is found among the stored ones by its fields.
    fn sent_holder(&self, profiles: &Profiles<'_>, name: &str) -> Holder {
        let mut holder = Holder::of(&profiles.sent, name);
        let old = AddressIndex::of(address_list(profiles.before)).unwrap_or_default();
        let is_new = |address: &&Value| address.get("id").is_none() && is_set(address, name);
        for added in address_list(&profiles.sent).iter().filter(is_new).filter_map(Value::as_object) {
            let same = |id: &&i64| {
                !old.contains(**id)
                    && self.address(**id).is_some_and(|one| contains_all(one, added, &NOT_COMPARED))
            };
            let has_flag = |id: &&i64| self.address(**id).is_some_and(|one| is_set(one, name));
            let found: Vec<&i64> = self.index.ids().iter().filter(same).collect();
            let found = found.iter().find(|id| has_flag(id)).or(found.first());
            holder.flagged.insert(found.map_or(NOWHERE, |id| **id));
        }
        holder
    }

    /// The id that an address of the snapshot has now.
    fn stored_now(&self, id: i64) -> Option<i64> {
        let came_back = self.came_back.iter().find(|(old, _)| *old == id).map(|(_, new)| *new);
        came_back.or(self.index.contains(id).then_some(id))
    }

    fn targets(&self, was: &Holder) -> Targets {
        let mut targets = Targets::default();
        for id in was.addresses() {
            if let Some(stored) = self.stored_now(id) {
                targets.stored.insert(stored);
            } else if self.recreated.iter().any(|(old, _)| *old == id) {
                targets.recreated.insert(id);
            } else {
                targets.gone.push(id);
            }
        }
        targets
    }

    /// There was none before the update. Magento has no call that clears one.
    fn clear_default(&mut self, name: &str, changes: &[&Change]) {
        if self.can_clear {
            self.notes.push(format!("{name} {ADDED_LATER}"));
        } else {
            changes
                .iter()
                .filter(|change| default_of(change) == Some(name))
                .for_each(|change| self.set_back(change));
        }
    }

    fn leave_default(&mut self, name: &str, now: &Holder, targets: &Targets) {
        let own = now.own;
        let now = now.addresses();
        let is_back = now == targets.stored && own.is_none_or(|own| now.contains(&own));
        if is_back && targets.recreated.is_empty() && targets.gone.is_empty() {
            return;
        }
        let place = match now.len() {
            0 => "no address".to_owned(),
            _ => format!("address {}", join_ids(&now.into_iter().collect::<Vec<_>>())),
        };
        self.notes.push(match targets.gone.first() {
            Some(gone) => format!("cannot restore {name} (now {place}): address {gone} no longer exists"),
            None => format!("{name} (now {place}){CHANGED_AGAIN}"),
        });
    }

    /// Sets the flag where it was and takes it from every other address, and lets the profile's own field, where there is
    /// one, name the same address.
    fn set_default(&mut self, name: &'static str, profiles: &Profiles<'_>, now: &Holder, targets: &Targets) {
        let before = Holder::of(profiles.before, name);
        let has_flags = !before.flagged.is_empty() || !now.flagged.is_empty();
        if has_flags {
            self.set_flags(name, targets);
        }
        let was = profiles.before.get(name);
        let Some(present) = self.customer.get(name).or(was).filter(|value| !value.is_null()) else { return };
        let own = match before.own {
            Some(own) => self.stored_now(own),
            None => targets.stored.first().copied(),
        };
        match own {
            Some(id) if self.customer.get(name).and_then(id_of) == Some(id) => {}
            Some(id) => {
                let value = if present.is_number() { Value::from(id) } else { Value::from(id.to_string()) };
                self.customer.insert(name.to_owned(), value);
            }
            None if has_flags => {
                self.customer.shift_remove(name);
                self.left_out.push(name);
            }
            None => self.notes.push(no_id_yet(name)),
        }
    }

    fn set_flags(&mut self, name: &str, targets: &Targets) {
        let Some(Value::Array(addresses)) = self.customer.get_mut("addresses") else { return };
        for address in addresses {
            let is_target = address.get("id").and_then(id_of).is_some_and(|id| targets.stored.contains(&id));
            if is_target && !is_set(address, name) {
                address[name] = match address.get(name) {
                    Some(Value::Number(_)) => 1.into(),
                    Some(Value::String(_)) => "1".into(),
                    _ => true.into(),
                };
            } else if !is_target && is_set(address, name) {
                address[name] = no_flag(address.get(name));
            }
        }
        for (_, address) in self.recreated.iter_mut().filter(|(old, _)| targets.recreated.contains(old)) {
            if !is_flag_set(address.get(name)) {
                address.insert(name.to_owned(), Value::Bool(true));
            }
        }
    }
}
