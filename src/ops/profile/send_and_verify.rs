//! Sending a replacement and finding out what became of it.

use std::cell::Cell;
use std::path::Path;

use serde_json::Value;

use super::change::ProfileChange;
use crate::clock::Clock;
use crate::failure::{Applied, Failure, FailureKind};
use crate::http::{Attempt, Attempts, Effect, Reply};
use crate::ops::profile::pending;
use crate::ops::profile::read::{self, Reads, differences, list_changes, read_profile};
use crate::plan::profile::address_ids::join_ids;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::profile_rules;
use crate::plan::profile::read_back::{Expectation, ReadBack};
use crate::plan::profile::stored::Profile;
use crate::plan::request::Request;
use crate::report::changes::format_value;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark};

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
    /// Told when the first byte may leave.
    pub unsent: &'a Unsent<'a>,
}

/// A snapshot whose replacement has not left. It is marked as refused when the command ends before that, by an error or
/// a signal: only a process that dies leaves the question open.
pub struct Unsent<'a> {
    store: &'a CustomerStore,
    snapshot: &'a Path,
    clock: Clock,
    left: Cell<bool>,
}

impl<'a> Unsent<'a> {
    /// Of a snapshot that was just taken.
    pub fn new(service: &Service<'_>, store: &'a CustomerStore, snapshot: &'a Path) -> Self {
        Self { store, snapshot, clock: service.session.context.clock, left: Cell::new(false) }
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if !self.left.get() {
            self.store.mark(self.snapshot, Mark::Refused, self.clock.now());
        }
    }
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
        let effect = if self.merged.summary.added > 0 { Effect::Write } else { Effect::Replacement };
        let mut attempts = Attempts::default();
        loop {
            if readable && !attempts.any_unknown() {
                match self.changed_meanwhile(service).await {
                    Ok(None) => {}
                    changed => return self.held_back(service, changed),
                }
            }
            self.unsent.left.set(true);
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
            let (Some(wait), true) = (wait, readable) else { return Err(self.failed(service, failure)) };
            if attempts.any_unknown() && effect == Effect::Replacement && !self.note_repeat() {
                return Err(self.failed(service, failure));
            }
            tokio::time::sleep(wait).await;
            if attempts.any_unknown() && (effect == Effect::Write || !self.is_as_before(service).await) {
                return Err(self.failed(service, failure));
            }
        }
    }

    /// A refusal of stored data that this change does not touch names the fields.
    fn explained(&self, service: &Service<'_>, attempt: Attempt) -> Attempt {
        let Attempt::Rejected(failure) = attempt else { return attempt };
        if service.settings.dialect.profile_rules.is_none() || failure.status != Some(400) {
            return Attempt::Rejected(failure);
        }
        let fields = profile_rules::unacceptable(&self.merged.customer);
        if fields.is_empty() {
            return Attempt::Rejected(failure);
        }
        Attempt::Rejected(failure.hint(format!(
            "the shop stores what it does not take back: {}; correct it in the same command",
            fields.join(", ")
        )))
    }

    /// Reads the profile; what it is now where that differs.
    ///
    /// # Errors
    /// `guard` where a field or an address that this changes is among the differences.
    async fn changed_meanwhile(&self, service: &Service<'_>) -> Result<Option<Profile>, Failure> {
        let now = read_profile(service).await?;
        let differences = differences(self.before, &now, &service.settings.read.ignore);
        let is_ours = |path: &crate::plan::profile::field_path::FieldPath| {
            self.merged.changes.iter().any(|change| change.path.overlaps(path))
        };
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
    fn note_repeat(&self) -> bool {
        self.store.note_repeat(self.snapshot).is_ok()
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

    /// The service says that it has it: reads until that is seen.
    async fn verify_applied(
        &self,
        service: &Service<'_>,
        reply: Reply,
        readable: bool,
    ) -> Result<AppliedReplacement, Failure> {
        self.mark(service, Mark::Applied);
        if let Some(warning) = &reply.warning {
            service.session.report.warn(warning);
        }
        let mut applied = AppliedReplacement {
            status: Some(reply.status),
            response: Some(reply.value()),
            ..AppliedReplacement::default()
        };
        if !readable {
            return Ok(applied);
        }
        match self.read_until_shown(service, true).await {
            Ok(found) if found.is_shown() || found.is_shown_with_other_values() => {
                applied.verified = found.is_shown();
                self.warn_of(service, &found);
                applied.new_ids = found.new_ids;
                if applied.verified {
                    self.mark(service, Mark::Verified);
                }
            }
            Ok(found) => return Err(self.mismatch(&found, applied.status)),
            Err(failure) => service.session.report.warn(&format!(
                "the service has the profile, but it could not be read back to verify it: {}",
                failure.message
            )),
        }
        Ok(applied)
    }

    /// Nobody knows: reads until it is seen. `None` where it is not.
    async fn resolve_unknown(
        &self,
        service: &Service<'_>,
        failure: &Failure,
        readable: bool,
    ) -> Result<Option<AppliedReplacement>, Failure> {
        if !readable {
            return Ok(None);
        }
        let may_be_stale = pending::was_there_before(self.store, self.before.customer(), self.merged);
        match self.read_until_shown(service, !may_be_stale).await {
            Ok(found) if found.is_shown() => {
                let report = service.session.report;
                report.warn(&format!("{}; verified as applied", failure.message));
                self.mark(service, Mark::Verified);
                self.warn_of(service, &found);
                service.verified();
                Ok(Some(AppliedReplacement {
                    status: failure.status,
                    response: failure.service.clone(),
                    new_ids: found.new_ids,
                    verified: true,
                }))
            }
            _ => Ok(None),
        }
    }

    /// Reads, at growing intervals and for at most `--settle`, until the profile shows it, or shows other values
    /// twice; the last that could be read counts. Without `believe_first` only that one does.
    async fn read_until_shown(
        &self,
        service: &Service<'_>,
        believe_first: bool,
    ) -> Result<ReadBack, Failure> {
        let expectation = Expectation {
            before: self.before.customer(),
            merged: self.merged,
            ignore: &service.settings.read.ignore,
        };
        let mut reads = Reads::new(self.change.settle(service));
        let mut last: Option<ReadBack> = None;
        loop {
            let read = match read::read_profile(service).await {
                Ok(now) => expectation.compare(&now),
                Err(failure) => Err(failure),
            };
            let failure = match read {
                Ok(found) if found.is_shown() && believe_first => return Ok(found),
                Ok(found) => {
                    let settled = found.is_shown_with_other_values()
                        && last.as_ref().is_some_and(|last| last.altered == found.altered);
                    if settled {
                        return Ok(found);
                    }
                    last = Some(found);
                    None
                }
                Err(failure) => Some(failure),
            };
            if !reads.wait().await {
                return match (last, failure) {
                    (Some(found), _) => Ok(found),
                    (None, Some(failure)) => Err(failure),
                    (None, None) => Err(Failure::internal("the profile was not read")),
                };
            }
        }
    }

    fn warn_of(&self, service: &Service<'_>, found: &ReadBack) {
        let report = service.session.report;
        for change in &found.unrelated_changes {
            report.warn(&format!(
                "{} was also changed, from {} to {} (by the service or another editor)",
                change.path,
                format_value(change.before.as_ref()),
                format_value(change.after.as_ref())
            ));
        }
        for change in &found.altered {
            let sent = self.merged.changes.iter().find(|sent| sent.path == change.path);
            report.warn(&format!(
                "{}: sent {}, the service has {}",
                change.path,
                format_value(sent.and_then(|sent| sent.after.as_ref())),
                format_value(change.after.as_ref())
            ));
        }
    }

    fn mark(&self, service: &Service<'_>, mark: Mark) {
        self.store.mark(self.snapshot, mark, service.session.context.clock.now());
    }

    /// No attempt was applied, and none may have been, unless the failure says so.
    fn failed(&self, service: &Service<'_>, failure: Failure) -> Failure {
        if failure.applied == Applied::Unknown {
            return self.unknown(failure);
        }
        self.mark(service, Mark::Refused);
        failure
    }

    fn mismatch(&self, found: &ReadBack, status: Option<u16>) -> Failure {
        let failure = Failure::new(
            FailureKind::Mismatch,
            format!("the profile was written, but {}", describe_missing(found)),
        )
        .hint(format!(
            "look again with `storefront customer show`; then, if it is so, {}",
            self.restore_command()
        ))
        .missing(missing_paths(found))
        .snapshot(self.snapshot.display().to_string());
        match status {
            Some(status) => failure.status(status),
            None => failure,
        }
    }

    fn unknown(&self, failure: Failure) -> Failure {
        let hint = format!(
            "look with `storefront customer show`; `storefront customer history --check` verifies it again; {}",
            self.restore_command()
        );
        Failure {
            kind: FailureKind::Unknown,
            applied: Applied::Unknown,
            message: format!("{}; reading back does not show that it was applied", failure.message),
            hint: Some(hint),
            ..failure
        }
        .snapshot(self.snapshot.display().to_string())
    }

    fn restore_command(&self) -> String {
        let name = self.snapshot.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        format!("restore it with `storefront customer restore {name}`")
    }
}

fn describe_missing(found: &ReadBack) -> String {
    let mut what = Vec::new();
    for (ids, problem) in [
        (&found.missing, "is missing afterwards"),
        (&found.emptied, "is empty afterwards"),
        (&found.swapped, "reads like another one afterwards"),
    ] {
        if !ids.is_empty() {
            what.push(format!("address {} {problem}", join_ids(ids)));
        }
    }
    if !found.undone.is_empty() {
        what.push(format!("changes missing: {}", list_changes(&found.undone)));
    }
    what.join(", and ")
}

/// What is not there, by path.
fn missing_paths(found: &ReadBack) -> Vec<String> {
    let addresses = [&found.missing, &found.emptied, &found.swapped].into_iter().flatten();
    let addresses = addresses.map(|id| crate::plan::profile::field_path::FieldPath::address(*id).to_string());
    addresses.chain(found.undone.iter().map(|change| change.path.to_string())).collect()
}
