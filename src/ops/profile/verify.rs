//! Finds out what became of a replacement: by the service's reply, or by reading the profile again.

use std::pin::pin;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::earlier::{tells_of_it, was_so_before};
use super::lag::Recent;
use super::messages::{self, Unproven};
use super::read::LoadedProfile;
use crate::client::service::Service;
use crate::client::{Reply, may_be_saved};
use crate::log::WriteName;
use crate::ops::Reads;
use crate::ops::profile::read;
use crate::report::outcome::Outcome;
use crate::state::{self, LockName};
use storefront_core::email::Email;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::merge::Merged;
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::{Proof, ShownBy, Verification, is_provable, verify};
use storefront_core::text::exact_json;

/// Two reads that prove that a request of unknown outcome was applied are at least so far apart.
const PROOF_INTERVAL: Duration = Duration::from_secs(1);

/// A replacement that was sent, with all that is needed to judge it.
pub struct Sent<'a> {
    /// What results call it.
    pub operation: &'static str,
    /// The service, with the customer's id where it was named.
    pub service: &'a Service<'a>,
    /// How long the profile is read until it shows what was sent.
    pub settle: Duration,
    /// The profile it was made from.
    pub loaded: &'a LoadedProfile,
    /// What was sent.
    pub merged: &'a Merged,
    /// What the log has of it.
    pub write: WriteName,
    /// What our own writes of the minute before left.
    pub recent: &'a Recent,
    /// When it left.
    pub sent_at: Timestamp,
}

impl Sent<'_> {
    /// The service says that it has it: its reply shows that, or reads do.
    ///
    /// # Errors
    /// `mismatch` when an address or a change is missing.
    pub async fn verify(&self, reply: Reply, outcome: Outcome) -> Result<Outcome, Failure> {
        if let Some(warning) = &reply.warning {
            self.service.session.report.warn(warning);
        }
        let response = Some(reply.value.clone());
        let applied = Outcome { status: Some(reply.status), response, ..outcome };
        let shows_profile = self.service.settings.dialect.reply_shows_profile;
        let is_stored = shows_profile && reply.warning.is_none() && self.loaded.is_readable;
        let replied = if is_stored { reply.document().ok() } else { None };
        let replied = replied.and_then(|body| Profile::find(body, &Pointers::default()).ok());
        match replied.map(|now| self.compare(now)) {
            Some(Ok(replied)) => return self.judge(replied, applied, ShownBy::Reply),
            Some(Err(failure)) if failure.kind == FailureKind::Mismatch => return Err(self.mismatch(failure)),
            _ => {}
        }
        self.set_outcome(WriteOutcome::Applied { at: self.now(), verified: false }, None);
        if !self.loaded.is_readable {
            return Ok(applied);
        }
        match self.read_back().await {
            Ok(read) => self.judge(read, applied, ShownBy::Read),
            Err(failure) if failure.kind == FailureKind::Mismatch => Err(self.mismatch(failure)),
            Err(failure) => {
                let why = failure.message;
                let warning = format!("written, but it could not be read back to verify it: {why}");
                self.service.session.report.warn(&warning);
                Ok(applied)
            }
        }
    }

    /// Reads until the profile shows what was sent, or twice the same that the service made of it, for at most `--settle`: the
    /// last read.
    async fn read_back(&self) -> Result<(Verification, Profile), Failure> {
        let mut reads = Reads::new(self.settle);
        let mut last = self.read().await;
        loop {
            if last.as_ref().is_ok_and(|(verification, _)| verification.is_shown()) || !reads.wait().await {
                return last;
            }
            let read = self.read().await;
            if let (Ok((before, _)), Ok((verification, _))) = (&last, &read)
                && verification.is_applied()
                && verification.altered == before.altered
            {
                return read;
            }
            // A read that fails takes nothing from an earlier one.
            if read.is_ok() || last.is_err() {
                last = read;
            }
        }
    }

    /// Notes that something is missing, though it may still come.
    fn mismatch(&self, failure: Failure) -> Failure {
        self.set_outcome(WriteOutcome::Mismatch { sent_at: self.sent_at, is_final: false }, None);
        failure
    }

    /// What a read or the reply shows is the end: it is applied, or something is missing, which is from now on what there
    /// is.
    fn judge(
        &self,
        (verification, now): (Verification, Profile),
        applied: Outcome,
        shown_by: ShownBy,
    ) -> Result<Outcome, Failure> {
        let write = verification.outcome(self.sent_at, self.now(), shown_by);
        self.set_outcome(write, Some(now.customer()));
        self.note_read(&verification, &now, shown_by);
        if verification.is_applied() {
            return Ok(self.accept(&verification, &now, applied.of(write)));
        }
        let failure = messages::mismatch(self.service, self.write, &verification);
        Err(Failure { status: applied.status, ..failure })
    }

    /// Nobody said what became of it: it is applied where two reads show it.
    ///
    /// # Errors
    /// `unknown` where they do not.
    pub async fn resolve(&self, failure: Failure, outcome: Outcome) -> Result<Outcome, Failure> {
        let is_readable = self.loaded.is_readable;
        let report = self.service.session.report;
        let (before, sent) = (self.loaded.stored.customer(), &self.merged.customer);
        let unproven = if !is_readable {
            Unproven::Unreadable
        } else if !is_provable(before, sent, &self.service.settings.read.ignore) {
            Unproven::NothingToShow
        } else if was_so_before(self.service, &self.loaded.store, before, sent) {
            Unproven::SetsBack
        } else {
            Unproven::NotShown
        };
        let shown = match unproven {
            Unproven::NotShown => {
                report.while_waiting("checking whether it was saved", pin!(self.shown_twice())).await
            }
            _ => None,
        };
        let Some((verification, now)) = shown else {
            return Err(messages::unknown(self.write, failure, unproven));
        };
        self.service.session.report.warn(&format!("{}; verified as applied", failure.message));
        let applied = Outcome { status: failure.status, response: failure.service, ..outcome };
        self.judge((verification, now), applied, ShownBy::Read)
    }

    /// The service refused it. Some shops save a profile before they fail, such as at the email that they send: one read
    /// shows that.
    pub async fn look_after_refusal(&self, refused: Failure) -> Failure {
        if !may_be_saved(&refused) || !self.loaded.is_readable {
            return refused;
        }
        let (before, sent) = (self.loaded.stored.customer(), &self.merged.customer);
        let is_told = |verification: &Verification| {
            tells_of_it(verification) && !was_so_before(self.service, &self.loaded.store, before, sent)
        };
        match self.read_after_refusal().await {
            Ok((verification, now)) if is_told(&verification) => {
                self.set_outcome(
                    WriteOutcome::Mismatch { sent_at: self.sent_at, is_final: true },
                    Some(now.customer()),
                );
                self.note_read(&verification, &now, ShownBy::Read);
                messages::saved_though_refused(self.write, &verification, refused)
            }
            Ok((verification, _)) if verification.altered.is_empty() && !verification.has_lost() => refused,
            // Somebody else may have done that.
            Ok((verification, now)) => {
                self.set_outcome(WriteOutcome::Unknown { sent_at: self.sent_at }, Some(now.customer()));
                self.note_read(&verification, &now, ShownBy::Read);
                messages::refused_altered(self.write, refused, &verification)
            }
            Err(unread) => {
                self.set_outcome(WriteOutcome::Unknown { sent_at: self.sent_at }, None);
                messages::refused_unread(self.write, refused, &unread)
            }
        }
    }

    /// One read. One that lags behind may lack what was added a moment ago, and has values of an earlier time: what seems to be lost
    /// or another's is looked for again.
    async fn read_after_refusal(&self) -> Result<(Verification, Profile), Failure> {
        let mut reads = Reads::new(self.settle);
        loop {
            let read = self.read().await;
            let is_odd = |verification: &Verification| {
                verification.has_lost() || !verification.altered.is_empty() && !tells_of_it(verification)
            };
            if !read.as_ref().is_ok_and(|(verification, _)| is_odd(verification)) || !reads.wait().await {
                return read;
            }
        }
    }

    /// Reads for at most `--settle` until one has shown it, and once more when a second one proves it.
    async fn shown_twice(&self) -> Option<(Verification, Profile)> {
        let mut reads = Reads::new(self.settle);
        let mut proof: Option<Instant> = None;
        loop {
            if let Ok((verification, now)) = self.read().await
                && verification.is_proof(Proof::AsSent)
            {
                let proof = *proof.get_or_insert_with(|| Instant::now() + PROOF_INTERVAL);
                if proof <= Instant::now() {
                    return Some((verification, now));
                }
            }
            match proof.filter(|proof| *proof > Instant::now()) {
                Some(proof) => tokio::time::sleep_until(proof).await,
                None if reads.wait().await => {}
                None => return None,
            }
        }
    }

    /// Addresses were removed by calls of their own: reads show that, and every address that was to stay, for at most
    /// `--settle`.
    ///
    /// # Errors
    /// `mismatch` where one is still there at the end, or another one is gone.
    pub async fn verify_removed(&self, applied: Outcome) -> Result<Outcome, Failure> {
        let (verification, now) = match self.read_back().await {
            Ok(read) => read,
            Err(failure) => {
                let why = failure.message;
                let warning = format!("removed, but it could not be read back to verify it: {why}");
                self.service.session.report.warn(&warning);
                return Ok(Outcome { verified: Some(false), ..applied });
            }
        };
        let write = verification.outcome(self.sent_at, self.now(), ShownBy::Read);
        self.loaded.store.close_removals(self.write, write, now.customer());
        self.note_read(&verification, &now, ShownBy::Read);
        if !verification.is_applied() {
            let failure = messages::mismatch(self.service, self.write, &verification);
            let calls = applied.calls.iter().map(exact_json::of).collect();
            return Err(Failure { status: applied.status, calls, ..failure });
        }
        let verified = (applied.applied == Applied::Yes).then_some(true);
        Ok(Outcome { verified, ..self.accept(&verification, &now, applied) })
    }

    /// The profile after a call.
    ///
    /// # Errors
    /// As [`read::fetch`]; a mismatch where it is the profile of another customer.
    pub async fn fetch(&self) -> Result<Profile, Failure> {
        self.ensure_own(read::fetch(self.service).await?)
    }

    fn ensure_own(&self, now: Profile) -> Result<Profile, Failure> {
        match (self.loaded.stored.text("id"), now.text("id")) {
            (Some(own), Some(other)) if own != other => Err(messages::other_customer(self.write, &other)),
            _ => Ok(now),
        }
    }

    /// What a read after a call shows.
    async fn read(&self) -> Result<(Verification, Profile), Failure> {
        self.compare(read::fetch(self.service).await?)
    }

    fn compare(&self, now: Profile) -> Result<(Verification, Profile), Failure> {
        let (before, ignore) = (self.loaded.stored.customer(), &self.service.settings.read.ignore);
        let now = self.ensure_own(now)?;
        Ok((verify(before, &self.merged.customer, &now, &self.recent.removed, ignore)?, now))
    }

    /// Keeps what a look has shown as what is there now.
    pub fn note_shown(&self, now: Profile) {
        if let Ok((verification, now)) = self.compare(now) {
            self.note_read(&verification, &now, ShownBy::Read);
        }
    }

    /// A read shows it, perhaps with values that the service wrote in its own way.
    fn accept(&self, verification: &Verification, now: &Profile, mut applied: Outcome) -> Outcome {
        let dialect = self.service.settings.dialect;
        for warning in
            messages::of_verification(verification, self.merged, self.loaded.stored.customer(), dialect)
        {
            self.service.session.report.warn(&warning);
        }
        if verification.is_shown() {
            self.keep(now);
        }
        if let Some(profile) = &mut applied.profile {
            profile.new_ids.clone_from(&verification.new_ids);
        }
        applied
    }

    /// Keeps to whom the name of the customer has led.
    fn keep(&self, now: &Profile) {
        let (context, settings) = (self.service.session.context, &self.service.settings);
        state::save_customer(context, settings, &self.loaded.name, &now.customer_key());
    }

    /// Keeps what the reply or a read has shown as what this and the earlier writes left, unless the read may be older than one
    /// of them: a replica may lag behind where all that was asked for is there anyway.
    fn note_read(&self, verification: &Verification, now: &Profile, shown_by: ShownBy) {
        let renumbered = verification.renumbered.iter().map(|(old, _)| old);
        let gone = self.merged.summary.removed.iter().chain(&verification.missing).chain(renumbered);
        let gone: Vec<AddressId> = gone.copied().collect();
        let (stored, sent) = (self.loaded.stored.customer(), &self.merged.customer);
        let is_new = || verification.undone.is_empty() && self.recent.are_shown_in(now, stored, sent, &gone);
        if shown_by == ShownBy::Reply || is_new() {
            self.loaded.store.note_read(now.customer());
        }
    }

    fn set_outcome(&self, outcome: WriteOutcome, shown: Option<&Map<String, Value>>) {
        self.loaded.store.set_outcome(self.write, outcome, shown);
        let email = self.merged.customer.get("email").and_then(Email::of);
        if let Some(email) =
            email.filter(|_| outcome.may_be_applied() && self.loaded.stored.text("id").is_none())
        {
            let (context, settings) = (self.service.session.context, &self.service.settings);
            state::save_customer(context, settings, &LockName::email(&email), &self.loaded.store.key);
        }
    }

    fn now(&self) -> Timestamp {
        self.service.session.context.clock.now()
    }
}
