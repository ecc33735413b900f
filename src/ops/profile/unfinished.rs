//! An update that replaces the address list, of which only removals of addresses are left: run again, it sends these alone.
//!
//! Merged like any other, it would delete the addresses that its PUT has added, which its input cannot name, and add their
//! like. And the number of its deletions would be another one, so that `--allow-delete` no longer fits.

use super::earlier::removed_earlier;
use super::messages;
use super::read::LoadedProfile;
use crate::log::{Calls, Replacement};
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::{address_list, find_address, own_id};
use storefront_core::profile::diff::Change;
use storefront_core::profile::merge::Merged;
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::verify;

/// What is left of an update.
#[derive(Default)]
pub struct Unfinished {
    /// The addresses that it has to remove.
    pub left: Vec<AddressId>,
    /// Those besides that are not there any more; none where the profile is as it was sent.
    pub gone: Vec<AddressId>,
}

impl Unfinished {
    /// Looks for what is left of an update that was sent before. `merge` is this update, merged into any profile. One that was
    /// applied as a whole is taken up only where the profile shows it, and has no further address: else it is meant once more.
    ///
    /// # Errors
    /// `guard` where an address that was added is not shown as it was sent, or nothing tells whether the update is meant once
    /// more: merged, it would delete addresses that it was not to delete; and when a list has addresses without usable ids.
    pub fn find(
        loaded: &LoadedProfile,
        ignore: &[String],
        merge: impl Fn(&Profile) -> Result<Merged, Failure>,
    ) -> Result<Option<Self>, Failure> {
        let stored = &loaded.stored;
        let Some((snapshot, rewritten, is_in_part)) = sent_before(loaded, &merge)? else {
            return ensure_known(loaded, &merge).map(|()| None);
        };
        let (mut gone, mut left) = (snapshot.removes.clone(), snapshot.removes.clone());
        gone.retain(|id| find_address(stored.customer(), *id).is_none());
        left.retain(|id| !gone.contains(id));
        let sent = Merged::without(snapshot.sent(), &gone);
        let verification = verify(&snapshot.customer, &sent, stored, &[], ignore)?;
        let is_shown = verification.is_applied()
            && verification.altered == rewritten
            && stored.addresses().len() == address_list(&sent).len();
        let has_added = address_list(&sent).iter().any(|address| own_id(address).is_none());
        if has_added && !is_shown && !left.is_empty() {
            return Err(messages::changed_since_a_part(&snapshot, &left));
        }
        if is_shown {
            return Ok(Some(if left.is_empty() { Self::default() } else { Self { left, gone } }));
        }
        // Where calls of ours have removed all of them since, it may be meant once more.
        if is_in_part && removed_earlier(&snapshot.removes, loaded)?.len() < snapshot.removes.len() {
            return Ok(Some(Self { left, gone }));
        }
        ensure_known(loaded, &merge).map(|()| None)
    }

    /// What is said of it.
    pub fn note(&self) -> Option<&'static str> {
        match (&self.left[..], &self.gone[..]) {
            ([], []) => None,
            ([], _) => Some("this update was sent before: nothing of it is left to send"),
            _ => Some("this update was sent before: only the removals that are left are sent"),
        }
    }
}

/// A replacement, what of it the service wrote in its own way, and whether it was applied in part.
type SentBefore = (Replacement, Vec<Change>, bool);

/// The snapshot of the first run of this update whose PUT, where it has one, is applied: what `merge` makes of the profile in it
/// is what was sent. Since then no other PUT of ours may have changed something, and no removal of another address. Also whether
/// its newest run was applied in part.
fn sent_before(
    loaded: &LoadedProfile,
    merge: impl Fn(&Profile) -> Result<Merged, Failure>,
) -> Result<Option<SentBefore>, Failure> {
    let (store, customer) = (&loaded.store, loaded.stored.customer());
    let (mut later, mut first): (Vec<AddressId>, Option<SentBefore>) = (Vec::new(), None);
    for entry in store.entries() {
        let entry = entry?;
        let record = entry.calls();
        if !record.outcome().may_be_applied() {
            continue;
        }
        let snapshot = store.read(&entry)?;
        let is_part = later.iter().all(|id| snapshot.removes.contains(id));
        if snapshot.removes.is_empty()
            || !is_put_applied(&record)
            || !is_part
            || !belongs_to(customer, &snapshot.customer)
        {
            break;
        }
        later.clone_from(&snapshot.removes);
        if is_made_by(&merge, &snapshot) {
            let is_in_part = first.map_or_else(|| !is_complete(&record), |(_, _, newest)| newest);
            first = Some((snapshot, entry.rewritten(), is_in_part));
        }
        if record.put.is_some() {
            break;
        }
    }
    Ok(first)
}

/// Refuses an update whose newest run was applied in part, and after which others of ours came, where it would now delete an
/// address that was not there before that run: it may be one that its PUT has added.
fn ensure_known(
    loaded: &LoadedProfile,
    merge: impl Fn(&Profile) -> Result<Merged, Failure>,
) -> Result<(), Failure> {
    let (store, customer) = (&loaded.store, loaded.stored.customer());
    // What cannot be merged is refused for that.
    let mut deleted = merge(&loaded.stored).map_or_else(|_| Vec::new(), |merged| merged.summary.removed);
    if deleted.is_empty() {
        return Ok(());
    }
    for entry in store.entries() {
        let entry = entry?;
        let record = entry.calls();
        if !record.outcome().may_be_applied() {
            continue;
        }
        let snapshot = store.read(&entry)?;
        if !belongs_to(customer, &snapshot.customer) || !is_made_by(&merge, &snapshot) {
            continue;
        }
        deleted.retain(|id| find_address(&snapshot.customer, *id).is_none());
        let is_in_part = !snapshot.removes.is_empty() && is_put_applied(&record) && !is_complete(&record);
        if !is_in_part || deleted.is_empty() {
            break;
        }
        let mut left = snapshot.removes.clone();
        left.retain(|id| find_address(customer, *id).is_some());
        return Err(match &left[..] {
            [] => messages::would_delete_newer(&snapshot, &deleted),
            left => messages::changed_since_a_part(&snapshot, left),
        });
    }
    Ok(())
}

/// Whether the PUT of a replacement, where it has one, was applied.
fn is_put_applied(record: &Calls) -> bool {
    record.put.is_none_or(|put| matches!(put, WriteOutcome::Applied { .. }))
}

/// Whether all calls of a replacement were applied.
fn is_complete(record: &Calls) -> bool {
    matches!(record.outcome(), WriteOutcome::Applied { .. })
}

/// Whether an update makes of the profile in a snapshot what was sent with it, and removes the same addresses.
fn is_made_by(merge: impl Fn(&Profile) -> Result<Merged, Failure>, snapshot: &Replacement) -> bool {
    let profile = Profile::find(snapshot.customer.clone().into(), &Pointers::default());
    profile.and_then(|profile| merge(&profile)).is_ok_and(|merged| {
        let sent = merged.keeping_removed(&snapshot.customer);
        merged.summary.removed == snapshot.removes && sent.is_ok_and(|sent| sent.customer == *snapshot.sent())
    })
}
