//! How long a read may show what was there before our own writes, and which writes are that recent.

use jiff::{SignedDuration, Timestamp};

use super::{Owner, Write, WriteLog};
use storefront_core::effect::{self, Effect, Kind};
use storefront_core::failure::Failure;
use storefront_core::outcome::WriteOutcome;

/// How long a replica may answer with what was there before a write.
pub const MAX_LAG: SignedDuration = SignedDuration::from_mins(1);
/// A time further in the future does not come from a clock that was set back.
const MAX_SET_BACK: SignedDuration = SignedDuration::from_hours(24);
/// How many writes of an owner are read at most: a batch may make thousands.
const MOST: usize = 100;

/// Whether less than `limit` has passed, or the clock was set back by less than a day.
pub fn is_younger(limit: SignedDuration, at: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(at);
    -MAX_SET_BACK < age && age < limit
}

impl WriteLog {
    /// The effects of the calls on this owner, in its scope, that were applied in the last minute, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn recent_effects(&self, service: &str, owner: &effect::Owner) -> Result<Vec<Effect>, Failure> {
        let kind = owner.kind.noun();
        let now = self.clock.now();
        let scope = owner.scope.clone();
        let owner = Owner { kind, id: owner.id.clone(), scope: scope.clone() };
        let writes = self.newest(service, &owner, None, MOST)?;
        let is_recent = |outcome: &WriteOutcome| matches!(outcome, WriteOutcome::Applied { at, .. } if is_younger(MAX_LAG, *at, now));
        let is_meant = |write: &Write| is_recent(&write.outcome);
        let effects = writes.into_iter().filter(is_meant).filter_map(|write| write.changes());
        Ok(effects.filter(|effect| effect.owner.scope == scope).collect())
    }
}

impl WriteLog {
    /// The effects of the calls on things of this kind that left a short while ago and may have been applied, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn lately(&self, service: &str, kind: Kind, limit: SignedDuration) -> Result<Vec<Effect>, Failure> {
        let now = self.clock.now();
        let writes = self.newest_of_kind(service, kind.noun(), now - limit)?;
        let is_meant =
            |write: &Write| write.outcome.may_be_applied() && is_younger(limit, write.left_at, now);
        Ok(writes.into_iter().filter(is_meant).filter_map(|write| write.changes()).collect())
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{MAX_LAG, is_younger};

    #[test]
    fn a_clock_that_was_set_back_leaves_a_mark_recent() {
        let now: Timestamp = "2026-05-04T12:00:00Z".parse().unwrap();
        let marked = |seconds: i64| is_younger(MAX_LAG, now + SignedDuration::from_secs(seconds), now);
        assert!(marked(0) && marked(-59) && marked(30) && marked(3 * 3600));
        assert!(!marked(-60) && !marked(25 * 3600), "long ago, or no clock that was set back");
    }
}
