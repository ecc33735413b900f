//! Replacing a profile without losing an address, step by step:
//!
//! lock → read → merge → diff → guard → snapshot → PUT → verify → unlock
//!
//! Nothing that waits for people, other records or rate limits stands between the read and the PUT. On a terminal the lock is
//! not held while a person thinks: the change is shown and confirmed before, and once more where it came out differently
//! under the lock.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::lag::Recent;
use super::read::Held;
use super::verify::{Sent, is_shown, note_saved_refusal};
use super::{Change, messages};
use crate::client::service::Service;
use crate::client::{Attempt, Attempts, Effect, pause};
use crate::ops::profile::read;
use crate::ops::{Reads, read_country};
use crate::prompt::Prompt;
use crate::report::outcome::{Outcome, ProfileOutcome};
use crate::report::style::TextStyle;
use crate::report::{changes, hint_target, profile};
use crate::state::stem;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Request;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::merge::Merged;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::not_shown;
use storefront_core::profile::{diff, magento};
use storefront_core::text::exact_json;

/// Runs all the steps.
///
/// # Errors
/// What each step refuses.
pub async fn replace(service: &Service<'_>, change: Change<'_>) -> Result<Outcome, Failure> {
    let session = service.session;
    let prompt = session.prompt();
    let mut steps = Steps {
        service,
        change,
        prompt: &prompt,
        agreed: None,
        must_ask: session.global.dry_run || prompt.is_attended(),
        accepted: HashSet::new(),
        shown: HashSet::new(),
        earlier: None,
        recent: Recent::default(),
        attempts: Attempts::default(),
    };
    loop {
        if let Some(outcome) = steps.round().await? {
            return Ok(outcome);
        }
    }
}

/// As old as this a read is no basis for a PUT.
const MAX_PAUSE: Duration = Duration::from_secs(2);

struct Steps<'a> {
    service: &'a Service<'a>,
    change: Change<'a>,
    prompt: &'a Prompt,
    /// The changes that a person has seen and agreed to.
    agreed: Option<Vec<diff::Change>>,
    /// The next round takes no lock: something has to be shown or asked first.
    must_ask: bool,
    /// What a person wants to go on in spite of: an answer counts while its facts are the same.
    accepted: HashSet<String>,
    /// The warnings that were shown.
    shown: HashSet<String>,
    /// What the last read of this command showed.
    earlier: Option<Map<String, Value>>,
    /// What our own writes of the last minute left.
    recent: Recent,
    attempts: Attempts,
}

impl Steps<'_> {
    /// The steps once; `None` where they start again.
    async fn round(&mut self) -> Result<Option<Outcome>, Failure> {
        let (is_locked, is_preview) = (!self.must_ask, self.service.session.global.dry_run);
        let lock_timeout = self.change.replacement_args().lock_timeout;
        let mut held = Held::read(self.service, self.change.base(), lock_timeout, is_locked).await?;
        if !held.is_readable && self.agreed.is_none() && is_locked {
            self.prompt.confirm_deletion("Replace a profile that cannot be read?")?;
        }
        if !self.is_current(&mut held).await? || !self.newest_is_settled(&held)? {
            self.must_ask = true;
            return Ok(None);
        }
        let service = held.service(self.service);
        let begun = Instant::now();
        let merged = self.merge(&service, &held).await?;
        if is_locked && begun.elapsed() > MAX_PAUSE {
            // The shop was asked for regions, and made it wait.
            return Ok(None);
        }
        if merged.changes.is_empty() {
            return Ok(Some(self.unchanged(&merged)));
        }
        self.refuse_masked(&held.stored, &merged)?;
        let request = put(&service, &held.stored, &merged)?;
        if is_preview {
            self.change.check_deletions(&merged, &Prompt::disabled(), true)?;
            self.warn(&merged);
            let mut outcome = self.outcome(&merged);
            if let Some(profile) = &mut outcome.profile {
                profile.owner = held.stored.owner();
            }
            return Ok(Some(Outcome { request: Some(service.preview(request)), ..outcome }));
        }
        if !is_locked {
            self.service.announce(self.change.operation(), Some(&request));
            self.confirm(&held.stored, merged)?;
            self.must_ask = false;
            return Ok(None);
        }
        if let Some(agreed) = &self.agreed {
            if *agreed != merged.changes {
                let report = self.service.session.report;
                report.status("the profile changed; here is the updated change");
                self.must_ask = true;
                return Ok(None);
            }
        } else {
            self.change.check_deletions(&merged, self.prompt, self.prompt.assume_yes())?;
            self.warn(&merged);
        }
        self.send(&service, held, &merged, &request).await
    }

    /// Whether the read shows what our own writes left; it is repeated until it does, for at most `--settle`. `false` where
    /// a person has to be asked, which is not done under the lock.
    async fn is_current(&mut self, held: &mut Held) -> Result<bool, Failure> {
        let change = self.change;
        let (settle, base) = (change.settle(self.service), change.base());
        let mut missing = self.not_shown(held)?;
        if base.is_some() && change.replacement_args().after_unknown {
            return Ok(true);
        }
        let mut reads = Reads::new(settle);
        while !missing.is_empty() {
            let is_dry = self.service.session.global.dry_run;
            if is_dry || !held.is_readable || !reads.wait().await {
                if !self.accept(messages::lags_behind(&missing, self.recent.is_any()))? {
                    return Ok(false);
                }
                break;
            }
            (held.stored, held.is_readable) = read::read_or_base(self.service, base).await?;
            missing = self.not_shown(held)?;
        }
        // What a dry run was only warned about is not accepted.
        if missing.is_empty() || !self.service.session.global.dry_run {
            held.store.note_read(held.stored.customer());
        }
        self.earlier = Some(held.stored.customer().clone());
        if let (Change::Update(_), None) = (self.change, self.service.session.report.line) {
            // Completion is for commands about one customer; a batch sees many.
            read::remember(self.service, &held.stored);
        }
        Ok(true)
    }

    /// What the read does not show although our own writes, or an earlier read of this command, left it.
    fn not_shown(&mut self, held: &Held) -> Result<Vec<String>, Failure> {
        if held.is_readable {
            note_saved_refusal(self.service, &held.store, &held.stored)?;
        }
        self.recent = Recent::of(held, self.change.base().is_some())?;
        let mut missing = self.recent.missing_in(&held.stored)?;
        for also in not_shown(&[], self.earlier.as_ref(), &self.recent.removed, &held.stored)? {
            if !missing.contains(&also) {
                missing.push(also);
            }
        }
        Ok(missing)
    }

    /// Whether no earlier replacement may still take effect and undo this one: only the newest counts. `false` where a
    /// person has to be asked, which is not done under the lock.
    fn newest_is_settled(&mut self, held: &Held) -> Result<bool, Failure> {
        let open = held.store.newest_pending()?;
        let Some(open) = open.filter(|_| !self.change.replacement_args().after_unknown) else {
            return Ok(true);
        };
        let snapshot = held.store.read(&open.entry.path).ok();
        let is_readable = snapshot.is_some();
        if let Some(snapshot) = snapshot.filter(|_| held.is_readable)
            && is_shown(self.service, &held.store, &snapshot, &held.stored, open.is_mismatch)?
        {
            return Ok(true);
        }
        self.accept(messages::still_open(&open, is_readable, self.change.is_planned()))
    }

    /// Asks whether to go on in spite of what would be refused; `--yes` does not answer it, and a dry run only warns. `false`
    /// under the lock, where nothing is asked.
    fn accept(&mut self, refusal: Failure) -> Result<bool, Failure> {
        let fact = &refusal.message;
        if self.service.session.global.dry_run {
            self.warn_once(fact);
            return Ok(true);
        }
        if self.accepted.contains(fact) {
            return Ok(true);
        }
        if !self.prompt.can_ask() {
            return Err(refusal);
        }
        if !self.must_ask {
            return Ok(false);
        }
        if !self.prompt.agrees(&format!("{fact}. Continue?"))? {
            return Err(Failure::cancelled());
        }
        self.accepted.insert(refusal.message);
        Ok(true)
    }

    async fn merge(&self, service: &Service<'_>, held: &Held) -> Result<Merged, Failure> {
        for country in self.change.countries(&held.stored) {
            read_country(service, &country).await?;
        }
        let (dialect, regions) = (service.settings.dialect, service.regions.borrow());
        self.change.merge(&held.store, &held.stored, dialect, &regions, self.prompt)
    }

    /// Refuses to write back values that look masked: the masks would replace what is stored. One may be a text of its own.
    fn refuse_masked(&self, stored: &Profile, merged: &Merged) -> Result<(), Failure> {
        const FEWEST: usize = 2;
        let is_replaced =
            |path: &String| merged.changes.iter().any(|change| change.path.to_string() == *path);
        let mut masked = stored.masked();
        masked.retain(|path| !is_replaced(path));
        if masked.len() < FEWEST || self.change.replacement_args().allow_masked {
            return Ok(());
        }
        let (count, places) = (masked.len(), masked.iter().take(4).cloned().collect::<Vec<_>>().join(", "));
        Err(Failure::guard(format!(
            "{count} stored values look masked, and would replace the real ones: {places}"
        ))
        .hint("check what stands between this machine and the shop, or go on with --allow-masked")
        .for_good())
    }

    /// Shows the change and asks.
    fn confirm(&mut self, stored: &Profile, merged: Merged) -> Result<(), Failure> {
        if self.agreed.as_ref() == Some(&merged.changes) {
            return Ok(());
        }
        let style = self.service.session.report.stderr_style;
        self.prompt.show(&style.paint(TextStyle::Head, &style.wrapped(&profile::owner(stored.customer()))));
        self.prompt.show(&changes::text(&merged.changes, style));
        self.prompt.show(&changes::summary(&merged.summary, &[]));
        self.change.check_deletions(&merged, self.prompt, true)?;
        self.warn(&merged);
        let question = match merged.summary.removed.len() {
            0 => "Send it?".to_owned(),
            1 => "Delete 1 address and send it?".to_owned(),
            many => format!("Delete {many} addresses and send it?"),
        };
        if !self.prompt.confirm_or_back(&question)? {
            if let Change::Update(update) = self.change {
                update.went_back.set(true);
            }
            return Err(Failure::cancelled());
        }
        self.agreed = Some(merged.changes);
        Ok(())
    }

    /// Takes a snapshot, sends the request once, and finds out what became of it. `None` where the steps start again,
    /// because nothing of it was sent.
    async fn send(
        &mut self,
        service: &Service<'_>,
        held: Held,
        merged: &Merged,
        request: &Request,
    ) -> Result<Option<Outcome>, Failure> {
        let (operation, clock) = (self.change.operation(), service.session.context.clock);
        let unsent = held.store.take(operation, held.stored.customer(), &merged.customer).await?;
        service.log_before_send(Some(stem(&unsent.path))).await?;
        let path = unsent.leaves();
        let sent_at = clock.now();
        let attempt = service.attempt(operation, request).await;
        let (store, settle) = (&held.store, self.change.settle(service));
        let outcome =
            attempt.as_ref().map_or(WriteOutcome::NotSent, |attempt| attempt.outcome(sent_at, clock.now()));
        // What the reply to an applied one shows is looked at first.
        if !matches!(attempt, Ok(Attempt::Applied(_))) {
            store.set_outcome(&path, outcome, &[]);
        }
        let sent =
            Sent { service, settle, held: &held, merged, snapshot: &path, recent: &self.recent, sent_at };
        let reported = || self.sent(merged, &path).of(outcome);
        let (wait, unsent) = match attempt? {
            Attempt::Applied(reply) => return sent.verify(reply, reported()).await.map(Some),
            Attempt::Unknown { failure, .. } => return sent.resolve(failure, reported()).await.map(Some),
            Attempt::Rejected(failure) => {
                let refused = messages::refused(service, &held.stored, merged, failure);
                return Err(sent.look_after_refusal(refused).await);
            }
            unsent @ (Attempt::NotSent { .. } | Attempt::Throttled { .. }) => {
                let wait = service.delay(&self.attempts, &unsent, Effect::Write);
                let failure = self.attempts.fail(unsent);
                match wait {
                    Some(wait) => (wait, failure),
                    None => return Err(failure),
                }
            }
        };
        drop(held);
        pause(wait, || service.stopping.get()).await;
        // After a signal nothing is sent again.
        if service.stopping.get() { Err(unsent) } else { Ok(None) }
    }

    fn warn(&mut self, merged: &Merged) {
        merged.notes.iter().for_each(|note| self.warn_once(note));
    }

    fn warn_once(&mut self, text: &str) {
        if self.shown.insert(text.to_owned()) {
            self.service.session.report.warn(text);
        }
    }

    fn unchanged(&mut self, merged: &Merged) -> Outcome {
        self.warn(merged);
        let unchanged = match self.change {
            Change::Update(_) => None,
            Change::Restore(restore) => restore.unchanged.borrow().clone(),
        };
        let unchanged = unchanged.map(|text| hint_target::for_command(&text, self.service.session.global));
        Outcome { reason: Some("unchanged"), unchanged, ..self.outcome(merged) }
    }

    fn sent(&self, merged: &Merged, snapshot: &Path) -> Outcome {
        let mut outcome = self.outcome(merged);
        outcome.snapshot = Some(snapshot.display().to_string().into());
        if let Some(profile) = &mut outcome.profile {
            profile.were_shown = self.agreed.is_some() && self.service.session.context.stdout_is_terminal;
        }
        outcome
    }

    fn outcome(&self, merged: &Merged) -> Outcome {
        let (changes, summary) = (merged.changes.clone(), merged.summary.clone());
        let (owner, were_shown, new_ids) = (Map::new(), false, Vec::new());
        let profile = ProfileOutcome { changes, summary, owner, were_shown, new_ids };
        Outcome {
            profile: Some(profile),
            snapshot: Some(Value::Null),
            ..Outcome::not_sent(self.change.operation())
        }
    }
}

/// The request that replaces the profile.
fn put(service: &Service<'_>, stored: &Profile, merged: &Merged) -> Result<Request, Failure> {
    let customer = if service.settings.dialect.merges_profiles {
        magento::completed(stored.customer(), &merged.customer)
    } else {
        merged.customer.clone()
    };
    let body = exact_json::object([("customer", Value::Object(customer))]).to_string();
    Ok(Request::replace_profile(&service.target()?, body.into()))
}
