//! Sending a replacement and finding out what became of it.

mod failures;
mod unsent;
mod verify;

use std::path::Path;

use serde_json::Value;

use super::change::ProfileChange;
use super::pending;
use crate::failure::Failure;
use crate::http::{Attempt, Attempts, Effect};
use crate::ops::profile::read::{differences, list_changes, read_profile};
use crate::plan::profile::field_path::FieldPath;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Request;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark};
pub use unsent::Unsent;

/// A replacement about to be sent, with all that is needed to judge it. Its snapshot is on disk.
pub struct Replacement<'a> {
    /// Who replaces.
    pub change: &'a dyn ProfileChange,
    /// The PUT.
    pub request: &'a Request,
    /// What it carries.
    pub merged: &'a Merged,
    /// The profile it was merged with.
    pub before: &'a Profile,
    /// The customer's files.
    pub store: &'a CustomerStore,
    /// Where the profile is kept as it was.
    pub snapshot: &'a Path,
    /// Notified when the first byte may leave.
    pub unsent: &'a Unsent<'a>,
}

/// How sending ended, where it did not fail.
pub enum PendingReplacement {
    /// The service has it.
    Applied(AppliedReplacement),
    /// It did not leave: somebody else changed the profile, which now reads so.
    Changed(Profile),
}

/// A replacement that was applied.
#[derive(Debug, Default)]
pub struct AppliedReplacement {
    /// HTTP status, where the service gave one.
    pub status: Option<u16>,
    /// Its reply as it came.
    pub response: Option<Value>,
    /// Ids of new addresses.
    pub new_ids: Vec<i64>,
    /// Whether a read has shown every change and every address that was to stay.
    pub verified: bool,
}

impl Replacement<'_> {
    /// Reads the profile once more, sends the PUT, and verifies. Nothing that waits stands between that read and the
    /// PUT. After an attempt of unknown outcome the PUT is sent again, within `--retry`, only if it adds no address and
    /// the profile is exactly what it was before; after 429 and where nothing was sent, if nobody changed it.
    ///
    /// # Errors
    /// `mismatch` when an address or a change is missing afterwards, `unknown` when nobody can tell, `guard` when
    /// somebody else changed what this changes, and what the service says.
    pub async fn send(&self, service: &Service<'_>, readable: bool) -> Result<PendingReplacement, Failure> {
        // A PUT that adds an address acts like a POST.
        let effect = if self.merged.summary.added > 0 { Effect::Write } else { Effect::State };
        let mut attempts = Attempts::default();
        loop {
            if readable && !attempts.any_unknown() {
                match self.changed_meanwhile(service).await {
                    Ok(None) => {}
                    changed => return self.held_back(service, changed),
                }
            }
            self.unsent.leaves();
            let attempt = match service.attempt(self.change.operation(), self.request).await? {
                Attempt::Applied(reply) => {
                    return self
                        .verify_applied(service, reply, readable)
                        .await
                        .map(PendingReplacement::Applied);
                }
                attempt => attempt,
            };
            if let Attempt::Unknown { failure, .. } = &attempt {
                self.mark(service, Mark::Unknown);
                if let Some(applied) = self.resolve_unknown(service, failure, readable).await? {
                    return Ok(PendingReplacement::Applied(applied));
                }
            }
            let attempt = self.explained(service, attempt);
            let wait = service.delay(&attempts, &attempt, effect);
            let failure = attempts.fail(attempt);
            let (Some(wait), true) = (wait, readable) else {
                return Err(self.failed(service, failure, readable));
            };
            if attempts.any_unknown() && effect == Effect::State && !self.note_repeat(service) {
                return Err(self.failed(service, failure, readable));
            }
            tokio::time::sleep(wait).await;
            if attempts.any_unknown() && (effect == Effect::Write || !self.is_as_before(service).await) {
                return Err(self.failed(service, failure, readable));
            }
        }
    }

    /// Reads the profile; what it is now where that differs.
    ///
    /// # Errors
    /// `guard` where a field or an address that this changes is among the differences.
    async fn changed_meanwhile(&self, service: &Service<'_>) -> Result<Option<Profile>, Failure> {
        let now = read_profile(service).await?;
        let differences = differences(self.before, &now, &service.settings.read.ignore);
        let is_ours = |path: &FieldPath| self.merged.changes.iter().any(|change| change.path.overlaps(path));
        if differences.iter().any(|difference| is_ours(&difference.path)) {
            return Err(Failure::guard(format!(
                "somebody changed what this command changes while it ran: {}",
                list_changes(&differences)
            ))
            .hint("look at it with `storefront customer show`, then try again"));
        }
        Ok((!differences.is_empty()).then_some(now))
    }

    /// The earlier attempt may still take effect when this one has: later commands have to know.
    fn note_repeat(&self, service: &Service<'_>) -> bool {
        let noted = self.store.note_repeat(self.snapshot).is_ok();
        if noted {
            let name = self.snapshot.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            service.session.report.warn(&pending::repeat_warning(name));
        }
        noted
    }

    /// The PUT does not leave, and no earlier attempt can take effect: nothing has to wait for it.
    fn held_back(
        &self,
        service: &Service<'_>,
        changed: Result<Option<Profile>, Failure>,
    ) -> Result<PendingReplacement, Failure> {
        self.mark(service, Mark::Refused);
        match changed? {
            Some(now) => Ok(PendingReplacement::Changed(now)),
            None => Err(Failure::internal("a profile that nobody changed was not replaced")),
        }
    }

    /// Whether the profile is exactly what it was before the PUT, with nothing left out of the comparison.
    async fn is_as_before(&self, service: &Service<'_>) -> bool {
        read_profile(service).await.is_ok_and(|now| now == *self.before)
    }

    fn mark(&self, service: &Service<'_>, mark: Mark) {
        self.store.mark(self.snapshot, mark, service.session.context.clock.now());
    }
}
