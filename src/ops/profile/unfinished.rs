//! An update that replaces the address list, of which only removals of addresses are left: run again, it sends these alone.
//!
//! Merged like any other, it would delete the addresses that its PUT has added, which its input cannot name, and add their
//! like. And the number of its deletions would be another one, so that `--allow-delete` no longer fits.

use super::messages;
use super::read::LoadedProfile;
use crate::state::Snapshot;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::{address_list, find_address, own_id};
use storefront_core::profile::merge::Merged;
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::verify;

/// What is left of an update.
#[derive(Default)]
pub struct Unfinished {
    /// The addresses that it has to remove.
    pub left: Vec<AddressId>,
    /// Those besides that are not there any more; none where nothing is left.
    pub gone: Vec<AddressId>,
}

impl Unfinished {
    /// Looks for what is left of an update that was sent before. `merge` is this update, merged into any profile. It is taken up
    /// only where the profile shows all else that was sent, and has no further address.
    ///
    /// # Errors
    /// `guard` where an address that was added is not shown as it was sent: to merge the update once more would delete it; and
    /// when a list has addresses without usable ids.
    pub fn find(
        loaded: &LoadedProfile,
        ignore: &[String],
        merge: impl Fn(&Profile) -> Result<Merged, Failure>,
    ) -> Result<Option<Self>, Failure> {
        let stored = &loaded.stored;
        let Some(snapshot) = sent_before(loaded, merge)? else { return Ok(None) };
        let (mut gone, mut left) = (snapshot.removes.clone(), snapshot.removes.clone());
        gone.retain(|id| find_address(stored.customer(), *id).is_none());
        left.retain(|id| !gone.contains(id));
        let sent = Merged::without(snapshot.sent(), &gone);
        let verification = verify(&snapshot.customer, &sent, stored, &[], ignore)?;
        let is_shown = verification.is_applied()
            && verification.altered == loaded.store.rewritten(&snapshot.path)
            && stored.addresses().len() == address_list(&sent).len();
        let has_added = address_list(&sent).iter().any(|address| own_id(address).is_none());
        if has_added && !is_shown && !left.is_empty() {
            return Err(messages::changed_since_a_part(&snapshot, &left));
        }
        let found = if left.is_empty() { Self::default() } else { Self { left, gone } };
        Ok(is_shown.then_some(found))
    }
}

/// The snapshot of the first run of this update whose PUT, where it has one, is applied: what `merge` makes of the profile in it
/// is what was sent. Since then no other PUT of ours may have changed something, and no removal of another address.
fn sent_before(
    loaded: &LoadedProfile,
    merge: impl Fn(&Profile) -> Result<Merged, Failure>,
) -> Result<Option<Snapshot>, Failure> {
    let (store, customer) = (&loaded.store, loaded.stored.customer());
    let (mut later, mut first): (Vec<AddressId>, Option<Snapshot>) = (Vec::new(), None);
    for entry in store.entries() {
        let path = entry?.path;
        let record = store.calls(&path);
        if !record.outcome.may_be_applied() {
            continue;
        }
        let Ok(snapshot) = store.read(&path) else { break };
        let is_sent = record.put().is_none_or(|put| matches!(put, WriteOutcome::Applied { .. }));
        let is_part = later.iter().all(|id| snapshot.removes.contains(id));
        if snapshot.removes.is_empty() || !is_sent || !is_part || !belongs_to(customer, &snapshot.customer) {
            break;
        }
        later.clone_from(&snapshot.removes);
        if is_made_by(&merge, &snapshot) {
            first = Some(snapshot);
        }
        if record.put().is_some() {
            break;
        }
    }
    Ok(first)
}

/// Whether an update makes of the profile in a snapshot what was sent with it, and removes the same addresses.
fn is_made_by(merge: impl Fn(&Profile) -> Result<Merged, Failure>, snapshot: &Snapshot) -> bool {
    let profile = Profile::find(snapshot.customer.clone().into(), &Pointers::default());
    profile.and_then(|profile| merge(&profile)).is_ok_and(|merged| {
        let sent = merged.keeping_removed(&snapshot.customer);
        merged.summary.removed == snapshot.removes && sent.is_ok_and(|sent| sent.customer == *snapshot.sent())
    })
}
