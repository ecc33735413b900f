//! What of the last minutes a read has to show: the writes of this machine, and what its last read showed.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CustomerStore;
use super::listing::{LAST_READ, SnapshotEntry, date_of, number_of};
use super::snapshot::Snapshot;
use storefront_core::failure::Failure;
use storefront_core::outcome::{MAX_LATENESS, WriteOutcome};
use storefront_core::profile::verify::Proof;

/// The number of writes older than a minute that are read at most, for the addresses that they removed: a batch may make
/// thousands to one customer.
const MOST_OLDER: usize = 20;
/// For so long a replica may answer with what was there before a write.
pub const MAX_LAG: SignedDuration = SignedDuration::from_mins(1);
/// A mark that is further in the future is not a clock that was set back.
const MAX_SET_BACK: SignedDuration = SignedDuration::from_hours(24);

/// The newest replacement, where a request of it may still take effect.
#[derive(Debug)]
pub struct PendingWrite {
    /// What was taken for it.
    pub entry: SnapshotEntry,
    /// When that can no longer happen.
    pub until: Timestamp,
    /// Whether the service said that it has it.
    pub is_mismatch: bool,
}

impl PendingWrite {
    /// What proves that it was applied.
    pub fn proof(&self) -> Proof {
        if self.is_mismatch { Proof::OrRewritten } else { Proof::AsSent }
    }
}

/// How far back writes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Over the last minutes.
    LastMinutes,
    /// Over the last minutes, or as far as to the newest applied one.
    NewestApplied,
}

/// What the last read of a customer showed that was accepted.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastRead {
    /// When.
    pub(super) at: Timestamp,
    /// The number of the newest snapshot then: what it and those before it wrote was seen.
    newest: u64,
    /// The profile.
    pub customer: Map<String, Value>,
}

impl LastRead {
    /// Whether it was read after what this snapshot was taken for: it shows what became of that.
    pub fn is_after(&self, snapshot: &Snapshot) -> bool {
        number_of(&snapshot.path).is_some_and(|number| number <= self.newest)
    }
}

impl CustomerStore {
    /// The newest PUT that may have changed something, if it may still take effect. The removal of an address undoes nothing,
    /// whenever it comes.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn newest_pending(&self) -> Result<Option<PendingWrite>, Failure> {
        for entry in self.entries() {
            let entry = entry?;
            let Some(outcome) = self.calls(&entry.path).put().filter(|put| put.may_be_applied()) else {
                continue;
            };
            let is_mismatch = matches!(outcome, WriteOutcome::Mismatch { .. });
            let until = outcome.open_until(self.clock.now());
            return Ok(until.map(|until| PendingWrite { entry, until, is_mismatch }));
        }
        Ok(None)
    }

    /// The replacements that may have changed something, newest first: all of the last minute, however many, and some of the
    /// minutes before. Those that cannot be read are left out.
    ///
    /// # Errors
    /// As [`Self::entries`]; `guard` where one that may have been applied in the last minute cannot be read.
    pub fn recent(&self, reach: Reach) -> Result<Vec<(Snapshot, WriteOutcome)>, Failure> {
        let (mut recent, mut older): (Vec<(Snapshot, WriteOutcome)>, usize) = (Vec::new(), 0);
        for entry in self.entries() {
            let entry = entry?;
            let is_old = self.clock.now().duration_since(date_of(&entry.path, Timestamp::MAX)) > MAX_LATENESS;
            let is_old = is_old
                && !matches!(self.outcome(&entry.path), WriteOutcome::Applied { at, .. } if self.is_recent(at));
            let has_applied =
                recent.iter().any(|(_, outcome)| matches!(outcome, WriteOutcome::Applied { .. }));
            let is_enough = reach == Reach::LastMinutes || has_applied;
            if is_old && is_enough {
                break;
            }
            let written = self.record(&entry.path);
            let record = self.known_or_unknown(&entry.path, written.as_ref().ok().cloned().flatten());
            let outcome = record.outcome;
            let is_older = !outcome.time().is_some_and(|at| self.is_recent(at));
            if is_older && older == MOST_OLDER && is_enough {
                continue;
            }
            // What cannot be read now may be that the service has it.
            let is_lost = match outcome {
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at } => self.is_recent(at),
                WriteOutcome::Unknown { sent_at } => written.is_err() && self.is_recent(sent_at),
                _ => false,
            };
            let readable = written.map_err(|error| Failure::guard(error.to_string()));
            match readable.and_then(|_| self.read(&entry.path)) {
                Ok(snapshot) if outcome.may_be_applied() => {
                    older += usize::from(is_older);
                    recent.extend(snapshot.calls(&record));
                }
                Err(failure) if is_lost => {
                    let message =
                        format!("whether the service shows the last update is not known: {failure}");
                    return Err(Failure::guard(message).hint("check the disk, or try again in a minute"));
                }
                _ => {}
            }
        }
        Ok(recent)
    }

    /// Whether less than a minute went by since then.
    pub fn is_recent(&self, at: Timestamp) -> bool {
        is_younger(MAX_LAG, at, self.clock.now())
    }

    /// Whether so little time went by since then that commands still look at what was written.
    pub(super) fn is_of_last_minutes(&self, at: Timestamp) -> bool {
        is_younger(MAX_LATENESS, at, self.clock.now())
    }

    /// Whether the customer may have been changed from this machine since then.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn changed_since(&self, then: Timestamp) -> Result<bool, Failure> {
        if self.listing()?.removed.is_some_and(|removed| removed.written >= then) {
            return Ok(true);
        }
        let Some(newest) = self.newest(|_| true)? else { return Ok(false) };
        let taken = self.read(&newest.path).ok().and_then(|snapshot| snapshot.taken.parse().ok());
        let was_taken_since = taken.is_none_or(|taken: Timestamp| taken >= then);
        Ok(was_taken_since
            || match self.outcome(&newest.path) {
                WriteOutcome::NotSent | WriteOutcome::Refused => false,
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at } => at >= then,
                WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. } => true,
            })
    }

    /// Keeps what a read has shown, for [`Self::last_read`]. Best effort: what cannot be written is left out.
    pub async fn note_read(&self, customer: &Map<String, Value>) {
        let newest = self.last_number().unwrap_or(0);
        let read = LastRead { at: self.clock.now(), newest, customer: customer.clone() };
        if let Ok(text) = serde_json::to_vec(&read) {
            let _ = self.storage.clone().replace_concurrently(self.directory.join(LAST_READ), text).await;
        }
    }

    /// What the last read showed, if that was less than a minute ago.
    pub fn last_read(&self) -> Option<LastRead> {
        let text = self.storage.read(&self.directory.join(LAST_READ)).ok()?;
        let read: LastRead = serde_json::from_slice(&text).ok()?;
        self.is_recent(read.at).then_some(read)
    }
}

/// Whether less than `limit` went by, also by a clock that was set back by less than a day.
fn is_younger(limit: SignedDuration, at: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(at);
    -MAX_SET_BACK < age && age < limit
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
