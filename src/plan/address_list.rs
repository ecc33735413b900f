//! The address list a merge makes: stored addresses with drafts laid over them, or the drafts alone.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::diff::{self, Change};
use super::member::{attributes_have_codes, set_member};
use super::merge::{Tally, Wish};
use super::path::Path;
use super::region;
use super::roster::{Roster, id_of};
use crate::failure::Failure;

/// A merged list, and how it differs from the stored one.
#[derive(Debug, Default)]
pub struct AddressList {
    /// The full list, to be sent.
    pub addresses: Vec<Value>,
    /// What becomes of the stored addresses.
    pub tally: Tally,
    /// Every difference from the stored list.
    pub changes: Vec<Change>,
}

/// A draft address and the stored position it changes, if it names one.
type Placed = (Option<usize>, Map<String, Value>);

impl AddressList {
    /// Makes the list a wish asks for.
    ///
    /// # Errors
    /// As [`super::merge::merge`].
    pub fn of(stored: Vec<Value>, wish: &Wish) -> Result<Self, Failure> {
        let roster = Roster::of(&stored)?;
        let drafts = place(wish, &roster)?;
        let mut list = Self::default();
        if wish.replace {
            list.replace(&stored, &roster, drafts);
        } else {
            list.lay_over(stored, &roster, drafts, &wish.remove)?;
        }
        Ok(list)
    }

    fn lay_over(
        &mut self,
        mut stored: Vec<Value>,
        roster: &Roster,
        drafts: Vec<Placed>,
        remove: &[i64],
    ) -> Result<(), Failure> {
        let mut changed = HashSet::new();
        let mut new = Vec::new();
        for (position, draft) in drafts {
            let Some(position) = position else {
                new.push(fresh(draft)?);
                continue;
            };
            let id = roster.ids()[position];
            let before = stored[position].clone();
            overlay(&mut stored[position], draft, &format!("address {id}"))?;
            if self.compare(id, &before, &stored[position]) {
                changed.insert(id);
            }
        }
        let removed: HashSet<i64> = remove.iter().copied().collect();
        for (id, address) in roster.ids().iter().zip(stored) {
            if removed.contains(id) {
                self.remove(*id, address);
                continue;
            }
            if changed.contains(id) { &mut self.tally.changed } else { &mut self.tally.kept }.push(*id);
            self.addresses.push(address);
        }
        for address in new {
            self.add(address);
        }
        Ok(())
    }

    /// The list exactly as given; what it leaves out is removed.
    fn replace(&mut self, stored: &[Value], roster: &Roster, drafts: Vec<Placed>) {
        let mut staying = HashSet::new();
        for (position, draft) in drafts {
            let Some(position) = position else {
                self.add(Value::Object(draft));
                continue;
            };
            let id = roster.ids()[position];
            staying.insert(id);
            let before = named_in(&draft, &stored[position]);
            let draft = Value::Object(draft);
            if self.compare(id, &before, &draft) { &mut self.tally.changed } else { &mut self.tally.kept }
                .push(id);
            self.addresses.push(draft);
        }
        for (id, address) in roster.ids().iter().zip(stored).filter(|(id, _)| !staying.contains(id)) {
            self.remove(*id, address.clone());
        }
    }

    /// Notes how an address changes; whether it does.
    fn compare(&mut self, id: i64, before: &Value, after: &Value) -> bool {
        let known = self.changes.len();
        diff::address(id, before, after, &mut self.changes);
        self.changes.len() > known
    }

    fn add(&mut self, address: Value) {
        self.changes.push(diff::added(Path::new_address(), &address));
        self.tally.added += 1;
        self.addresses.push(address);
    }

    fn remove(&mut self, id: i64, address: Value) {
        self.changes.push(Change { path: Path::address(id), before: Some(address), after: None });
        self.tally.removed.push(id);
    }
}

/// The members of a stored address that a draft names. The others are updated by nobody (interface 4.2, rule 3):
/// whether they stay is not shown, so they are no change of ours.
fn named_in(draft: &Map<String, Value>, stored: &Value) -> Value {
    let members = stored.as_object().into_iter().flatten().filter(|(name, _)| draft.contains_key(*name));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Finds for each draft the stored address it names.
fn place(wish: &Wish, roster: &Roster) -> Result<Vec<Placed>, Failure> {
    let mut named = HashSet::new();
    for id in &wish.remove {
        roster.find(*id)?;
        named.insert(*id);
    }
    let Some(Value::Array(drafts)) = wish.draft.get("addresses") else {
        return Ok(Vec::new());
    };
    let place = |draft: &Value| {
        let Value::Object(draft) = draft else {
            return Err(Failure::usage("addresses: every element must be an object; nothing was sent"));
        };
        attributes_have_codes(draft, "addresses: ")?;
        let Some(id) = draft.get("id") else {
            return Ok((None, draft.clone()));
        };
        let id = id_of(id)
            .ok_or_else(|| Failure::usage(format!("addresses: {id} is no address id; nothing was sent")))?;
        let position = roster.find(id)?;
        if named.insert(id) {
            Ok((Some(position), draft.clone()))
        } else {
            Err(Failure::usage(format!("address {id} is named twice; nothing was sent")))
        }
    };
    drafts.iter().map(place).collect()
}

fn overlay(address: &mut Value, mut draft: Map<String, Value>, label: &str) -> Result<(), Failure> {
    let Value::Object(address) = address else {
        return Ok(());
    };
    draft.shift_remove("id");
    let word = region::take_word(&mut draft, label)?;
    if let (None, Some(country)) = (&word, draft.get("country_id")) {
        region::country_needs_word(address, country, label)?;
    }
    if let Some(word) = word {
        region::apply(address, &word, label)?;
    }
    for (name, value) in &draft {
        set_member(address, name, value);
    }
    Ok(())
}

/// A new address: the draft itself, its region in both places.
fn fresh(mut draft: Map<String, Value>) -> Result<Value, Failure> {
    if let Some(word) = region::take_word(&mut draft, "the new address")? {
        region::apply(&mut draft, &word, "the new address")?;
    }
    Ok(Value::Object(draft))
}
