//! The address list a merge makes: stored addresses with drafts applied to them, or the drafts alone.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::diff::{self, Change};
use super::twin::TwinIndex;
use super::{default_address, region};
use crate::failure::Failure;
use crate::plan::profile::address_ids::{AddressIndex, id_of};
use crate::plan::profile::field_path::FieldPath;
use crate::plan::profile::patch::{AddressSummary, ProfilePatch};
use crate::plan::profile::set_field::{check_attribute_codes, set_field};

/// A merged list, and how it differs from the stored one.
#[derive(Debug, Default)]
pub struct AddressList {
    /// The full list, to be sent.
    pub addresses: Vec<Value>,
    /// What becomes of the stored addresses.
    pub summary: AddressSummary,
    /// Every difference from the stored list.
    pub changes: Vec<Change>,
}

/// A draft address and the stored position it changes, if it names one.
type AddressPatch = (Option<usize>, Map<String, Value>);

impl AddressList {
    /// Makes the list that a patch asks for.
    ///
    /// # Errors
    /// As [`crate::plan::profile::merge::merge`].
    pub fn of(stored: Vec<Value>, patch: &ProfilePatch) -> Result<Self, Failure> {
        let roster = AddressIndex::of(&stored)?;
        let drafts = resolve_targets(patch, &roster)?;
        let mut list = Self::default();
        if patch.replace {
            list.replace(stored, &roster, drafts, patch)?;
        } else {
            list.apply(stored, &roster, drafts, patch)?;
        }
        Ok(list)
    }

    /// Merges the drafts into the stored list: what they do not name stays, in stored order.
    fn apply(
        &mut self,
        mut stored: Vec<Value>,
        roster: &AddressIndex,
        drafts: Vec<AddressPatch>,
        patch: &ProfilePatch,
    ) -> Result<(), Failure> {
        let removed: HashSet<i64> = patch.remove.iter().copied().collect();
        let (changes, additions): (Vec<AddressPatch>, Vec<AddressPatch>) =
            drafts.into_iter().partition(|(position, _)| position.is_some());
        let staying = roster.ids().iter().zip(&stored).filter(|(id, _)| !removed.contains(id));
        let new = additions_to(staying, additions, patch)?;
        let mut before: BTreeMap<usize, Value> = BTreeMap::new();
        for (position, draft) in changes {
            let Some(position) = position else { continue };
            before.entry(position).or_insert_with(|| stored[position].clone());
            apply_patch(&mut stored[position], draft, &format!("address {}", roster.ids()[position]))?;
        }
        default_address::clear_others(patch, roster.ids(), &mut stored, &mut before);
        for (position, (id, address)) in roster.ids().iter().zip(stored).enumerate() {
            if removed.contains(id) {
                self.remove(*id, before.remove(&position).unwrap_or(address));
                continue;
            }
            self.keep(*id, before.get(&position), address);
        }
        for address in new {
            self.add(address);
        }
        Ok(())
    }

    /// The drafts are the list, in their order; an address that they leave out is removed. What a draft with an id does
    /// not name stays as it is stored.
    fn replace(
        &mut self,
        mut stored: Vec<Value>,
        roster: &AddressIndex,
        drafts: Vec<AddressPatch>,
        patch: &ProfilePatch,
    ) -> Result<(), Failure> {
        let staying: HashSet<usize> = drafts.iter().filter_map(|(position, _)| *position).collect();
        let additions = drafts.iter().filter(|(position, _)| position.is_none()).cloned().collect();
        let kept = roster.ids().iter().zip(&stored).enumerate().filter(|(at, _)| staying.contains(at));
        let mut new = additions_to(kept.map(|(_, kept)| kept), additions, patch)?.into_iter();
        let mut before: BTreeMap<usize, Value> = BTreeMap::new();
        let mut order = Vec::with_capacity(drafts.len());
        for (position, draft) in drafts {
            if let Some(position) = position {
                before.insert(position, stored[position].clone());
                apply_patch(&mut stored[position], draft, &format!("address {}", roster.ids()[position]))?;
            }
            order.push(position);
        }
        default_address::clear_others(patch, roster.ids(), &mut stored, &mut before);
        for position in order {
            match position {
                Some(position) => {
                    let address = stored[position].take();
                    self.keep(roster.ids()[position], before.get(&position), address);
                }
                None => new.next().into_iter().for_each(|address| self.add(address)),
            }
        }
        for (position, (id, address)) in roster.ids().iter().zip(stored).enumerate() {
            if !staying.contains(&position) {
                self.remove(*id, before.remove(&position).unwrap_or(address));
            }
        }
        Ok(())
    }

    /// Takes a stored address into the list, with how it differs from what it was before.
    fn keep(&mut self, id: i64, before: Option<&Value>, address: Value) {
        let changes = before.is_some_and(|before| self.compare(id, before, &address));
        if changes { &mut self.summary.changed } else { &mut self.summary.kept }.push(id);
        self.addresses.push(address);
    }

    /// Notes how an address changes; whether it does.
    fn compare(&mut self, id: i64, before: &Value, after: &Value) -> bool {
        let known = self.changes.len();
        diff::address(id, before, after, &mut self.changes);
        self.changes.len() > known
    }

    fn add(&mut self, address: Value) {
        self.changes.push(diff::added(FieldPath::new_address(), &address));
        self.summary.added += 1;
        self.addresses.push(address);
    }

    fn remove(&mut self, id: i64, address: Value) {
        self.changes.push(Change { path: FieldPath::address(id), before: Some(address), after: None });
        self.summary.removed.push(id);
    }
}

/// Finds for each draft the stored address it names.
fn resolve_targets(patch: &ProfilePatch, roster: &AddressIndex) -> Result<Vec<AddressPatch>, Failure> {
    let mut named = HashSet::new();
    for id in &patch.remove {
        roster.find(*id)?;
        named.insert(*id);
    }
    let Some(Value::Array(drafts)) = patch.draft.get("addresses") else {
        return Ok(Vec::new());
    };
    let place = |(index, draft): (usize, &Value)| {
        let Value::Object(draft) = draft else {
            return Err(Failure::usage("addresses: every element must be an object"));
        };
        let label = match draft.get("id") {
            Some(id) => format!("address {id}: "),
            None => format!("addresses[{index}]."),
        };
        check_attribute_codes(draft, &label)?;
        let Some(id) = draft.get("id") else {
            return Ok((None, draft.clone()));
        };
        let id = id_of(id).ok_or_else(|| Failure::usage(format!("invalid address ID `{id}`")))?;
        let position = roster.find(id)?;
        if named.insert(id) {
            Ok((Some(position), draft.clone()))
        } else {
            Err(Failure::usage(format!("duplicate address ID {id}"))
                .hint("list the address once, and do not name it in --remove-address as well"))
        }
    };
    drafts.iter().enumerate().map(place).collect()
}

fn apply_patch(address: &mut Value, mut draft: Map<String, Value>, label: &str) -> Result<(), Failure> {
    let Value::Object(address) = address else {
        return Ok(());
    };
    draft.shift_remove("id");
    // An id belongs to its country, but a text can be that of a region in the new one too.
    let says_text = region::names_text(&draft) && !region::has_id(address);
    let word = region::take_region_patch(&mut draft, Some(address), label)?;
    if let (None, false, Some(country)) = (&word, says_text, draft.get("country_id")) {
        region::require_region_for_new_country(address, country, label)?;
    }
    if let Some(word) = word {
        region::apply(address, &word, label)?;
    }
    for (name, value) in &draft {
        set_field(address, name, value);
    }
    Ok(())
}

/// The new addresses of the drafts, in their order.
///
/// # Errors
/// `guard` for one that equals an address of the list in every field it names, unless that is allowed.
fn additions_to<'a>(
    list: impl Iterator<Item = (&'a i64, &'a Value)>,
    drafts: Vec<AddressPatch>,
    patch: &ProfilePatch,
) -> Result<Vec<Value>, Failure> {
    let mut twins = TwinIndex::new(list);
    let addition = |(_, draft): AddressPatch| {
        let may_repeat = patch.allow_duplicate || draft.is_empty();
        match if may_repeat { None } else { twins.find(&draft) } {
            Some(id) => Err(Failure::guard(format!(
                "the new address already exists: address {id} has the same value in every field it names"
            ))
            .hint("change it with --address ID, or add a second one with --allow-duplicate")),
            None => new_address(draft),
        }
    };
    drafts.into_iter().map(addition).collect()
}

/// A new address: the draft itself, its region in both places.
fn new_address(mut draft: Map<String, Value>) -> Result<Value, Failure> {
    if let Some(word) = region::take_region_patch(&mut draft, None, "the new address")? {
        region::apply(&mut draft, &word, "the new address")?;
    }
    Ok(Value::Object(draft))
}
