//! Replacing a profile without losing an address, step by step:
//!
//! lock → read → merge → diff → guard → snapshot → read again → PUT → verify → unlock
//!
//! On a terminal the lock is not held while a person thinks: the change is shown and confirmed before, and once more
//! where it came out differently under the lock.

mod request;

use std::path::PathBuf;

use super::change::ProfileChange;
use super::locked::Locked;
use super::pending::{self, Open};
use super::send_and_verify::{AppliedReplacement, Replacement, Unsent};
use crate::failure::{Applied, Failure};
use crate::ops::profile::read;
use crate::ops::profile::send_and_verify::PendingReplacement;
use crate::plan::profile::diff::Change;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::region::RegionDirectory;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Request;
use crate::prompt::{Answer, Prompt};
use crate::report::outcome::{Outcome, ProfileOutcome};
use crate::report::{changes, hint_target, profile};
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark, NewSnapshot};

/// How often the steps start again because somebody else changed the profile meanwhile.
const MAX_RESTARTS: u32 = 3;

/// Runs all the steps.
///
/// # Errors
/// What each step refuses.
pub async fn replace(service: &Service<'_>, change: &dyn ProfileChange) -> Result<Outcome, Failure> {
    let session = service.session;
    let own = Prompt::new(session.context, session.global, session.report);
    let prompt = change.prompt().unwrap_or(&own);
    let mut steps = Steps {
        service,
        change,
        prompt,
        confirmed: None,
        regions: RegionDirectory::default(),
        accepted: Vec::new(),
    };
    if session.global.dry_run {
        return steps.dry_run().await;
    }
    loop {
        if steps.prompt.is_attended()
            && let Some(unchanged) = steps.confirm().await?
        {
            return Ok(unchanged);
        }
        if let Some(outcome) = steps.under_lock().await? {
            return Ok(outcome);
        }
        session.report.status("the profile changed meanwhile; this is the change as it is now");
    }
}

struct Steps<'a> {
    service: &'a Service<'a>,
    change: &'a dyn ProfileChange,
    prompt: &'a Prompt,
    /// The changes that a person has seen and agreed to.
    confirmed: Option<Vec<Change>>,
    /// Regions by code and name, for an interface that wants their ids.
    regions: RegionDirectory,
    /// Open replacements after which a person wants to go on, by name.
    accepted: Vec<String>,
}

/// What is confirmed; a deletion is named.
fn question(merged: &Merged) -> String {
    match merged.summary.removed.len() {
        0 => "Send it?".to_owned(),
        1 => "Delete 1 address and send it?".to_owned(),
        many => format!("Delete {many} addresses and send it?"),
    }
}

/// How a round of the steps ended.
enum Round {
    Done(Box<Outcome>),
    /// Somebody else changed the profile, which now reads so.
    Changed(Profile),
    /// A person has to see the change as it is now.
    AskAgain,
}

impl Steps<'_> {
    async fn dry_run(&mut self) -> Result<Outcome, Failure> {
        let (stored, _) = read::read_or_base(self.service, self.change.base()).await?;
        self.change.on_read(self.service, &stored);
        self.read_regions(&stored).await?;
        let merged = self.merge(&stored)?;
        if merged.changes.is_empty() {
            return Ok(self.unchanged(&merged));
        }
        self.change.check_deletions(&merged, &Prompt::disabled(), true)?;
        self.warn(&merged);
        let request = self.request(&stored, &merged)?;
        Ok(Outcome { request: Some(self.service.preview(request)), ..self.outcome(&merged, None) })
    }

    /// Shows the change and asks. An outcome where there is nothing to change.
    async fn confirm(&mut self) -> Result<Option<Outcome>, Failure> {
        let (stored, _) = read::read_or_base(self.service, self.change.base()).await?;
        self.change.on_read(self.service, &stored);
        self.read_regions(&stored).await?;
        let merged = self.merge(&stored)?;
        if merged.changes.is_empty() {
            return Ok(Some(self.unchanged(&merged)));
        }
        let report = self.service.session.report;
        self.prompt.show(&profile::owner(&stored, report.stderr_style()));
        self.prompt.show(&changes::table(&merged.changes, report.stderr_style()));
        self.prompt.show(&changes::summary(&merged.summary, &[]));
        self.change.check_deletions(&merged, self.prompt, true)?;
        self.warn(&merged);
        self.ask_about_open(&stored, &merged)?;
        if let Answer::Back = self.prompt.confirm(&question(&merged))? {
            self.change.went_back();
            return Err(Failure::cancelled());
        }
        self.confirmed = Some(merged.changes);
        Ok(None)
    }

    fn ask_about_open(&mut self, stored: &Profile, merged: &Merged) -> Result<(), Failure> {
        let store = self.store(stored)?;
        for open in self.open(&store, stored, merged)? {
            let question = format!("Continue? Note: {}", open.describe());
            if !self.prompt.yes_no(&question, false)?.unwrap_or(false) {
                return Err(Failure::cancelled());
            }
            self.accepted.push(open.snapshot.name().to_owned());
        }
        Ok(())
    }

    /// The steps from the lock on; `None` where a person has to be asked again.
    async fn under_lock(&mut self) -> Result<Option<Outcome>, Failure> {
        let service = self.service;
        let locked = Locked::read(service, self.change).await?;
        if !locked.is_readable && self.confirmed.is_none() {
            self.prompt.confirm_deletion("Replace a profile that cannot be read?")?.or_cancel()?;
        }
        let store = self.store(&locked.stored)?;
        let mut stored = locked.stored.clone();
        if locked.is_readable {
            stored = read::wait_for_replica(service, &store, stored, self.change.settle(service)).await?;
        }
        for _ in 0..=MAX_RESTARTS {
            match self.round(&store, &stored, locked.is_readable).await? {
                Round::Done(outcome) => return Ok(Some(*outcome)),
                Round::AskAgain => return Ok(None),
                Round::Changed(now) => stored = now,
            }
        }
        Err(Failure::guard("the profile was changed by somebody else again and again while this command ran")
            .hint("try again when the other editor is done"))
    }

    async fn round(
        &mut self,
        store: &CustomerStore,
        stored: &Profile,
        readable: bool,
    ) -> Result<Round, Failure> {
        let service = self.service;
        self.change.on_read(service, stored);
        self.read_regions(stored).await?;
        let merged = self.merge(stored)?;
        let open = self.open(store, stored, &merged)?;
        if merged.changes.is_empty() {
            return Ok(Round::Done(Box::new(self.unchanged(&merged))));
        }
        if self.confirmed.as_ref().is_some_and(|confirmed| *confirmed != merged.changes) {
            return Ok(Round::AskAgain);
        }
        if let Some(open) = open.first() {
            return if self.confirmed.is_some() { Ok(Round::AskAgain) } else { Err(pending::refused(open)) };
        }
        if self.confirmed.is_none() {
            self.change.check_deletions(&merged, self.prompt, self.prompt.assume_yes())?;
            self.warn(&merged);
        }
        let request = self.request(stored, &merged)?;
        self.send(store, stored, &merged, &request, readable).await
    }

    /// Takes a snapshot and sends the request.
    async fn send(
        &self,
        store: &CustomerStore,
        stored: &Profile,
        merged: &Merged,
        request: &Request,
        readable: bool,
    ) -> Result<Round, Failure> {
        let service = self.service;
        let snapshot = self.take_snapshot(store, stored, merged)?;
        let unsent = Unsent::new(service, store, &snapshot);
        let name = snapshot.file_stem().and_then(|stem| stem.to_str());
        let noted = match pending::note_repeats(store, stored.customer(), merged, &snapshot) {
            Ok(repeat) => service.log_before_send(name).await.map(|()| repeat),
            Err(failure) => Err(failure),
        };
        match noted {
            Ok(repeat) => repeat.iter().for_each(|warning| service.session.report.warn(warning)),
            Err(failure) => {
                // The PUT does not leave: no later command has to wait for it.
                store.mark(&snapshot, Mark::Refused, service.session.context.clock.now());
                return Err(failure);
            }
        }
        let replacement = Replacement {
            change: self.change,
            request,
            merged,
            before: stored,
            store,
            snapshot: &snapshot,
            unsent: &unsent,
        };
        Ok(match replacement.send(service, readable).await? {
            PendingReplacement::Changed(now) => Round::Changed(now),
            PendingReplacement::Applied(applied) => {
                Round::Done(Box::new(self.applied(merged, snapshot.clone(), applied)))
            }
        })
    }

    fn take_snapshot(
        &self,
        store: &CustomerStore,
        stored: &Profile,
        merged: &Merged,
    ) -> Result<PathBuf, Failure> {
        let new_snapshot = NewSnapshot {
            operation: self.change.operation(),
            customer: stored.customer(),
            merged: &merged.customer,
        };
        store.take(&new_snapshot, self.service.settings.retention_days)
    }

    /// Replacements of unknown outcome that speak against sending this one.
    fn open(&self, store: &CustomerStore, stored: &Profile, merged: &Merged) -> Result<Vec<Open>, Failure> {
        let mut open = pending::open(self.service, store, stored)?;
        open.retain(|open| {
            !self.change.replacement_args().after_unknown
                && !self.accepted.iter().any(|name| name == open.snapshot.name())
                && open.endangers(stored.customer(), merged)
        });
        Ok(open)
    }

    fn store(&self, stored: &Profile) -> Result<CustomerStore, Failure> {
        CustomerStore::of(self.service.session.context, &self.service.settings, &stored.customer_key())
    }

    fn merge(&self, stored: &Profile) -> Result<Merged, Failure> {
        let mut merged = self.change.merge(stored.customer(), self.region_directory())?;
        let warnings = self.change.warnings(&merged);
        merged.notes.extend(warnings);
        Ok(merged)
    }

    fn warn(&self, merged: &Merged) {
        let report = self.service.session.report;
        merged.notes.iter().for_each(|note| self.prompt.warn(report, note));
    }

    fn unchanged(&self, merged: &Merged) -> Outcome {
        self.warn(merged);
        let unchanged = self.change.describe_unchanged(merged);
        let unchanged = unchanged.map(|text| hint_target::for_command(&text, self.service.session.global));
        Outcome { reason: Some("unchanged"), unchanged, ..self.outcome(merged, None) }
    }

    fn applied(&self, merged: &Merged, snapshot: PathBuf, applied: AppliedReplacement) -> Outcome {
        let were_shown = self.confirmed.is_some() && self.service.session.context.stdout_is_terminal;
        let mut outcome = self.outcome(merged, Some(snapshot));
        outcome.applied = Applied::Yes;
        outcome.status = applied.status;
        outcome.response = applied.response;
        outcome.verified = Some(applied.verified);
        if let Some(profile) = &mut outcome.profile {
            profile.new_ids = applied.new_ids;
            profile.were_shown = were_shown;
        }
        outcome
    }

    fn outcome(&self, merged: &Merged, snapshot: Option<PathBuf>) -> Outcome {
        let profile = ProfileOutcome {
            changes: merged.changes.clone(),
            were_shown: false,
            summary: merged.summary.clone(),
            snapshot,
            new_ids: Vec::new(),
        };
        Outcome { profile: Some(profile), ..Outcome::not_sent(self.change.operation()) }
    }
}
