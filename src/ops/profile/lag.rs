//! Reads that lag behind: what a profile does not show although our own writes of the last minute left it.

use serde_json::{Map, Value};

use super::read::LoadedProfile;
use crate::log::{LastRead, Reach, Replacement};
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::{Extent, WriteOutcome};
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::{Write, not_shown};

/// What our own recent writes left of a customer.
#[derive(Debug, Default)]
pub struct Recent {
    /// Those of the last minute that may have been applied, newest first.
    writes: Vec<(Replacement, Extent)>,
    /// What the last accepted read showed.
    accepted: Option<LastRead>,
    /// The ids of addresses that they removed.
    pub removed: Vec<AddressId>,
}

impl Recent {
    /// Looks them up. A base has to show the newest applied write, whatever its age.
    ///
    /// # Errors
    /// `guard` where one that may have been applied cannot be read.
    pub fn of(loaded: &LoadedProfile, has_base: bool) -> Result<Self, Failure> {
        let store = &loaded.store;
        let reach = if has_base { Reach::NewestApplied } else { Reach::LastMinutes };
        let mut recent = store.recent(reach)?;
        // Customers without an ID and an email have their writes in common.
        recent.retain(|(snapshot, _)| belongs_to(loaded.stored.customer(), &snapshot.customer));
        let is_named = loaded.stored.text("id").or(loaded.stored.text("email")).is_some();
        let removed = recent.iter().flat_map(|(snapshot, _)| snapshot.removed()).collect();
        let is_compared = |outcome: WriteOutcome| {
            let is_base = has_base && matches!(outcome, WriteOutcome::Applied { .. });
            is_base || outcome.time().is_some_and(|at| store.is_recent(at))
        };
        let compared = recent.into_iter().filter(|(_, outcome)| is_compared(*outcome));
        let writes = compared.filter_map(|(snapshot, outcome)| Some((snapshot, outcome.extent()?)));
        let writes = writes.collect();
        let accepted = store.last_read()?.filter(|_| is_named);
        Ok(Self { writes, accepted, removed })
    }

    /// Whether there is any write that may have been applied.
    pub fn is_any(&self) -> bool {
        !self.writes.is_empty()
    }

    /// What the profile does not show of them, in words.
    ///
    /// # Errors
    /// `guard` when a list has an address without a usable id of its own.
    pub fn missing_in(&self, now: &Profile) -> Result<Vec<String>, Failure> {
        let accepted = self.accepted.as_ref();
        let was_seen = |snapshot: &Replacement| accepted.is_some_and(|read| read.is_after(snapshot));
        let writes: Vec<Write<'_>> = self
            .writes
            .iter()
            .map(|(snapshot, extent)| write(snapshot, *extent, was_seen(snapshot)))
            .collect();
        not_shown(&writes, accepted.map(|read| &read.customer), &self.removed, now)
    }

    /// Whether a read that followed a write of ours is as new as those before it. `stored` is the profile that was accepted for
    /// it, and shows them; `sent` is what the write carried, and `gone` are the ids of addresses that it removed or lost. What it
    /// changed was looked for already.
    pub fn are_shown_in(
        &self,
        now: &Profile,
        stored: &Map<String, Value>,
        sent: &Map<String, Value>,
        gone: &[AddressId],
    ) -> bool {
        let newest = Write { before: stored, sent, was_seen: false, extent: Extent::Part };
        let older = self.writes.iter().map(|(snapshot, extent)| write(snapshot, *extent, true));
        let writes: Vec<Write<'_>> = std::iter::once(newest).chain(older).collect();
        let removed = [&self.removed, gone].concat();
        not_shown(&writes, Some(stored), &removed, now).is_ok_and(|missing| missing.is_empty())
    }
}

fn write(snapshot: &Replacement, extent: Extent, was_seen: bool) -> Write<'_> {
    Write { before: &snapshot.customer, sent: &snapshot.merged, was_seen, extent }
}
