//! What a profile that was read says about a PUT: whether it shows what was sent, and whether it has the addresses that
//! an earlier one had.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::address::{AddressIndex, address_list, addresses_by_id, find_address};
use super::addresses_by_place::AddressesByPlace;
use super::diff::{self, FieldChange};
use super::equal::{PLACE, is_content, is_elsewhere, same_value, shares_place};
use super::stored::Profile;
use crate::failure::Failure;
use crate::id::AddressId;

/// What a read shows of a PUT.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Ids of addresses that were to stay and are gone.
    pub missing: Vec<AddressId>,
    /// Ids of addresses that were to stay and whose street, city and postcode all differ.
    pub replaced: Vec<AddressId>,
    /// Changes whose old value is still there.
    pub undone: Vec<FieldChange>,
    /// Changes that show a third value: `after` is what is there now.
    pub altered: Vec<FieldChange>,
    /// Changes that were not sent: made by the service or by another editor.
    pub foreign: Vec<FieldChange>,
    /// Ids given to the addresses that were added, in stored order.
    pub new_ids: Vec<AddressId>,
    /// Addresses that were to stay and have another id now: the old one and the new one.
    pub renumbered: Vec<(AddressId, AddressId)>,
    /// New addresses that have all the content of one that was added: their ids, and that one's.
    pub doubles: Vec<(AddressId, AddressId)>,
    /// Whether something that was sent is there, and was not before.
    pub shows_sent: bool,
}

/// What counts as the values that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The same values.
    AsSent,
    /// Also values that the service wrote in its own way.
    OrRewritten,
}

impl Verification {
    /// Whether it shows every change and every address that was to stay.
    pub fn is_shown(&self) -> bool {
        self.is_applied() && self.altered.is_empty()
    }

    /// Whether nothing is missing, although the service may have rewritten some values.
    pub fn is_applied(&self) -> bool {
        !self.has_lost() && self.undone.is_empty()
    }

    /// Whether an address that was to stay is gone, or another one.
    pub fn has_lost(&self) -> bool {
        !(self.missing.is_empty() && self.replaced.is_empty())
    }

    /// Whether it proves that the PUT was applied although nobody said so: it shows all of it, and something that was
    /// not there before.
    pub fn is_proof(&self, proof: Proof) -> bool {
        let shows_all = match proof {
            Proof::AsSent => self.is_shown(),
            Proof::OrRewritten => self.is_applied(),
        };
        self.tells_apart() && shows_all
    }

    /// Whether something is there that was not before. A read of the old profile also shows everything else.
    pub fn tells_apart(&self) -> bool {
        self.shows_sent || !self.altered.is_empty()
    }

    /// Notes the added addresses that the service rewrote, or added twice. `found` are those that it stored as they
    /// were sent, `unclaimed` the new ones of the profile that were not recognized.
    fn note_rewritten(
        &mut self,
        rewritten: Vec<&FieldChange>,
        found: &[(AddressId, &FieldChange)],
        mut unclaimed: AddressesByPlace<'_>,
    ) {
        for change in rewritten {
            match unclaimed.take_any(|actual| shares_place(actual, change.after.as_ref())) {
                Some((id, actual)) => {
                    self.new_ids.push(id);
                    self.altered.push(FieldChange { after: Some(actual.clone()), ..change.clone() });
                }
                None => self.undone.push(change.clone()),
            }
        }
        for (double, address) in unclaimed.left() {
            let added = found.iter().find(|(_, added)| is_content(address, added.after.as_ref()));
            self.doubles.extend(added.map(|(id, _)| (double, *id)));
        }
    }

    /// Notes what the profile shows of a change: all of it, nothing, or what the service made of it.
    fn note(&mut self, change: &FieldChange, sent: &Map<String, Value>, now: &Profile, index: &AddressIndex) {
        let name = change.path.last_name();
        let is_address = change.path.is_address();
        let there = change.path.find(now.customer(), index);
        if let Some(id) = change.path.address_id().filter(|id| !is_address && !index.contains(*id)) {
            // A renumbered address was found by what was sent; one that is gone says nothing.
            let is_renumbered = self.renumbered.iter().any(|(old, _)| *old == id);
            self.shows_sent |= is_renumbered && !change.is_same();
            return;
        }
        let is_as_before = same_value(name, there, change.before.as_ref());
        if same_value(name, there, change.after.as_ref()) {
            self.shows_sent |= !is_as_before;
        } else if is_as_before || is_address {
            self.undone.push(change.clone());
        } else if !is_filled_in(change, sent) {
            self.altered.push(FieldChange { after: there.cloned(), ..change.clone() });
        }
    }
}

/// Compares a profile with a PUT: `before` is the profile that it was made from, `sent` what it carried. Changes at the
/// JSON pointers in `ignore` are not compared. An id in `removed`, which an earlier PUT removed, is never that of a new
/// address: a replica that lags behind shows the old one.
///
/// # Errors
/// `guard` when a list has an address without a usable id of its own.
pub fn verify(
    before: &Map<String, Value>,
    sent: &Map<String, Value>,
    now: &Profile,
    removed: &[AddressId],
    ignore: &[String],
) -> Result<Verification, Failure> {
    let index = AddressIndex::of(now.addresses())?;
    let known = AddressIndex::of(address_list(before))?;
    let changes = diff::customers(before, sent);
    let mut verification = Verification::default();
    let mut unclaimed = AddressesByPlace::of(
        addresses_by_id(now.addresses()).filter(|(id, _)| !known.contains(*id) && !removed.contains(id)),
    );
    let (added, others): (Vec<&FieldChange>, Vec<&FieldChange>) =
        changes.iter().partition(|change| change.path.is_new_address());
    let (found, rewritten) = find_added(added, &mut unclaimed);
    verification.new_ids = found.iter().map(|(id, _)| *id).collect();
    // A new address that only resembles the one that was sent may be somebody else's.
    verification.shows_sent = !found.is_empty();
    // Every address that was to stay must be there, under its own id or a new one. The service may rewrite one that was
    // asked to move.
    let moved: HashSet<AddressId> = others.iter().filter_map(|change| moved_address(change)).collect();
    for (id, address) in addresses_by_id(address_list(sent)) {
        let was = known.position(id).map_or(address, |position| &address_list(before)[position]);
        match index.position(id).map(|position| &now.addresses()[position]) {
            Some(actual) => {
                let is_other = is_elsewhere(actual, address) && is_elsewhere(actual, was);
                verification.replaced.extend((is_other && !moved.contains(&id)).then_some(id));
            }
            None => match unclaimed.take(address, |actual| is_content(actual, Some(address))) {
                Some((new, _)) => verification.renumbered.push((id, new)),
                None => verification.missing.push(id),
            },
        }
    }
    verification.note_rewritten(rewritten, &found, unclaimed);
    for change in others.into_iter().filter(|change| is_verified(change, ignore)) {
        verification.note(change, sent, now, &index);
    }
    verification.new_ids.sort_by_key(|id| index.position(*id));
    Ok(Verification { foreign: foreign_changes(&changes, sent, now, ignore), ..verification })
}

/// The new addresses with their ids, and those that are not there as they were sent.
fn find_added<'a>(
    added: Vec<&'a FieldChange>,
    unclaimed: &mut AddressesByPlace<'_>,
) -> (Vec<(AddressId, &'a FieldChange)>, Vec<&'a FieldChange>) {
    let mut found = Vec::new();
    let mut rewritten = Vec::new();
    for change in added {
        let added = change.after.as_ref();
        match unclaimed.take(added.unwrap_or(&Value::Null), |actual| is_content(actual, added)) {
            Some((id, _)) => found.push((id, change)),
            None => rewritten.push(change),
        }
    }
    (found, rewritten)
}

/// Whether a read can prove a PUT at all: something in it differs from before.
pub fn is_provable(before: &Map<String, Value>, sent: &Map<String, Value>, ignore: &[String]) -> bool {
    let changes = diff::customers(before, sent);
    changes.iter().any(|change| is_verified(change, ignore) && !change.is_same())
}

/// The address whose street, city or postcode this changes.
fn moved_address(change: &FieldChange) -> Option<AddressId> {
    change.path.address_id().filter(|_| PLACE.contains(&change.path.inside().as_str()))
}

/// Whether a change can be seen. A field that was left out cannot: services that merge keep it.
pub(super) fn is_verified(change: &FieldChange, ignore: &[String]) -> bool {
    change.path.is_address() || change.after.is_some() && !change.is_ignored(ignore)
}

/// Whether the service fills in what a change empties.
fn is_filled_in(change: &FieldChange, sent: &Map<String, Value>) -> bool {
    let Some(address) = change.path.address_id().and_then(|id| find_address(sent, id)) else { return false };
    change.path.is_filled_in(change.after.as_ref(), |_| address.pointer("/region/region_id"))
}

/// Differences in what was sent back unchanged. An addition by the service is not a loss.
fn foreign_changes(
    asked: &[FieldChange],
    sent: &Map<String, Value>,
    now: &Profile,
    ignore: &[String],
) -> Vec<FieldChange> {
    let mut changes = diff::customers(sent, now.customer());
    changes.retain(|change @ FieldChange { path, before, after }| {
        before.is_some()
            && !path.is_address()
            && !change.is_ignored(ignore)
            && !same_value(path.last_name(), before.as_ref(), after.as_ref())
            && !asked.iter().any(|asked| asked.path.overlaps(path))
    });
    changes
}

/// The addresses that an earlier profile had and that are there neither by id nor by content, in words: a replica may
/// lag behind. `removed` are the ids that we have removed since.
///
/// # Errors
/// `guard` when a list has an address without a usable id of its own.
pub fn lost_addresses(
    earlier: &Map<String, Value>,
    removed: &[AddressId],
    now: &Profile,
) -> Result<Vec<String>, Failure> {
    let earlier = address_list(earlier);
    let index = AddressIndex::of(now.addresses())?;
    let there = AddressesByPlace::of(addresses_by_id(now.addresses()));
    let known = AddressIndex::of(earlier)?;
    let lost = addresses_by_id(earlier).filter(|(id, address)| {
        !index.contains(*id) && !removed.contains(id) && !has_content(&there, address, &known)
    });
    Ok(lost.map(|(id, _)| format!("address {id} is missing")).collect())
}

/// Whether an address is there by its content, under an id that is not one of these.
fn has_content(there: &AddressesByPlace<'_>, address: &Value, but: &AddressIndex) -> bool {
    there.near(address).any(|(id, one)| !but.contains(id) && is_content(one, Some(address)))
}

#[cfg(test)]
mod tests;
