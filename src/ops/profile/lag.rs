//! Reads that lag behind: what a profile does not show although our own writes of the last minute left it.

use serde_json::{Map, Value};

use super::read::LoadedProfile;
use crate::log::{LastRead, Reach, RecentCall};
use storefront_core::effect::{Effect, OwnCall, not_shown};
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::{Extent, WriteOutcome};
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::lost_addresses;

/// What our own recent writes left of a customer.
#[derive(Debug, Default)]
pub struct Recent {
    /// The calls of the last minute that may have been applied, newest first.
    calls: Vec<(RecentCall, Extent)>,
    /// What the last accepted read showed.
    accepted: Option<LastRead>,
    /// The ids of addresses that they removed.
    pub removed: Vec<AddressId>,
}

impl Recent {
    /// Looks up our own writes. A profile given by hand must show the newest applied write, whatever its age.
    ///
    /// # Errors
    /// `guard` if one that may have been applied cannot be read.
    pub fn of(loaded: &LoadedProfile, has_base: bool) -> Result<Self, Failure> {
        let store = &loaded.store;
        let stored = &loaded.stored;
        let reach = if has_base { Reach::NewestApplied } else { Reach::LastMinutes };
        let has_id = stored.text("id").is_some();
        let without_id = if has_id { None } else { Some(stored.customer()) };
        let recent = store.recent_calls(reach, without_id)?;
        let removed = recent.iter().flat_map(|call| call.effect.removed_addresses()).collect();
        let is_compared = |outcome: WriteOutcome| {
            let is_base = has_base && matches!(outcome, WriteOutcome::Applied { .. });
            is_base || outcome.time().is_some_and(|at| store.is_recent(at))
        };
        let compared = recent.into_iter().filter(|call| is_compared(call.outcome));
        let calls = compared.filter_map(|call| Some((call.outcome.extent()?, call)));
        let calls = calls.map(|(extent, call)| (call, extent)).collect();
        let accepted = store.last_read()?.filter(|_| has_id || stored.text("email").is_some());
        Ok(Self { calls, accepted, removed })
    }

    /// Whether there is any write that may have been applied.
    pub fn is_any(&self) -> bool {
        !self.calls.is_empty()
    }

    /// What the profile does not show of them, in words.
    ///
    /// # Errors
    /// `guard` when a list has an address without a usable id of its own.
    pub fn missing_in(&self, now: &Profile) -> Result<Vec<String>, Failure> {
        let accepted = self.accepted.as_ref();
        let was_seen = |call: &RecentCall| accepted.is_some_and(|read| read.is_after(call.of));
        let calls = self.calls.iter().map(|(call, extent)| own(&call.effect, *extent, was_seen(call)));
        let accepted = accepted.map(|read| &read.customer);
        self.not_shown(calls.collect(), accepted, &[], now)
    }

    /// Whether a read that followed a write of ours is as new as the reads before it. `stored` is the accepted profile
    /// that the write was made from, `sent` what the write changed (looked for already), and `gone` the ids of addresses
    /// that it removed or lost.
    pub fn are_shown_in(
        &self,
        now: &Profile,
        stored: &Map<String, Value>,
        sent: &Effect,
        gone: &[AddressId],
    ) -> bool {
        let older = self.calls.iter().map(|(call, extent)| own(&call.effect, *extent, true));
        let calls = std::iter::once(own(sent, Extent::Part, false)).chain(older).collect();
        self.not_shown(calls, Some(stored), gone, now).is_ok_and(|missing| missing.is_empty())
    }

    fn not_shown(
        &self,
        calls: Vec<OwnCall<'_>>,
        accepted: Option<&Map<String, Value>>,
        gone: &[AddressId],
        now: &Profile,
    ) -> Result<Vec<String>, Failure> {
        let removed = [&self.removed, gone].concat();
        let mut missing = match accepted {
            Some(accepted) => lost_addresses(accepted, &removed, now)?,
            None => Vec::new(),
        };
        missing.extend(not_shown(&calls, accepted, now.customer()));
        Ok(missing)
    }
}

const fn own(effect: &Effect, extent: Extent, was_seen: bool) -> OwnCall<'_> {
    OwnCall { effect, extent, was_seen }
}
