//! What a preview and a commit share: a read, whether it can be relied on, and what is sent from it.
//!
//! Nobody is asked here. A doubt that only a person may accept is a [`Doubt`], and the caller decides about it.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::custom::read_attributes;
use super::earlier::{is_shown, note_saved_refusal, removed_earlier};
use super::lag::Recent;
use super::messages::{self, Doubt};
use super::read::{self, LoadedProfile};
use super::remove::{self, Dispatch};
use super::undo::{Proposal, Target, Undo};
use super::{ProfileChange, Update};
use crate::cli::hint::for_command;
use crate::client::Attempts;
use crate::client::service::Service;
use crate::log::{UPDATE, WriteName};
use crate::ops::attribute::names::ensure_stores;
use crate::ops::{Reads, read_country};
use crate::prompt::Unasked;
use crate::report::outcome::{Outcome, ProfileOutcome};
use crate::write::Call;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::interface::request::Request;
use storefront_core::lint;
use storefront_core::profile::merge::{self, Merged};
use storefront_core::profile::patch::ProfilePatch;
use storefront_core::profile::region::RegionDirectory;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::lost_addresses;
use storefront_core::profile::{diff, magento};
use storefront_core::text::exact_json;

/// What a person has answered so far. An answer counts as long as its facts are the same.
#[derive(Default)]
pub struct Answers {
    /// The changes that were shown and confirmed.
    pub agreed: Option<Vec<diff::FieldChange>>,
    /// The doubts that were accepted, by their messages.
    pub accepted: HashSet<String>,
    /// How many addresses an undo deletes.
    pub delete_newer: Option<usize>,
}

/// What a preview or a commit lets the replacement do next.
pub enum Next {
    /// A person is asked, without the lock.
    Preview,
    /// The profile is read again under the lock, and the change is sent.
    Commit,
    /// Nothing: the profile was replaced, or had nothing to change.
    Done(Box<Outcome>),
    /// Nothing: a person went back to an earlier question.
    WentBack,
}

impl Next {
    /// The end of the replacement.
    pub fn done(outcome: Outcome) -> Self {
        Self::Done(Box::new(outcome))
    }
}

/// One command that replaces a profile.
pub struct Steps<'a> {
    /// The service, with the customer as they were named.
    pub service: &'a Service<'a>,
    /// What is asked for.
    pub change: ProfileChange<'a>,
    /// What was answered.
    pub answers: Answers,
    /// What `--yes`, or a missing person, permits.
    pub unasked: Unasked,
    /// What our own writes of the last minute left.
    pub recent: Recent,
    /// The requests that were sent.
    pub attempts: Attempts,
    /// The addresses that are to be removed and that an earlier command has removed.
    gone: Vec<AddressId>,
    /// Since when the log is busy, if it is.
    pub log_busy_since: Option<tokio::time::Instant>,
    /// The warnings that were shown.
    warned: HashSet<String>,
    /// What the last read of this command showed.
    earlier: Option<Map<String, Value>>,
    /// The update that is undone, found once.
    target: Option<Target>,
}

impl<'a> Steps<'a> {
    /// Steps of which nothing is done.
    pub fn new(service: &'a Service<'a>, change: ProfileChange<'a>, unasked: Unasked) -> Self {
        let delete_newer = match change {
            ProfileChange::Update(_) => None,
            ProfileChange::Undo(undo) => undo.allow_delete,
        };
        Self {
            service,
            change,
            answers: Answers { delete_newer, ..Answers::default() },
            unasked,
            recent: Recent::default(),
            attempts: Attempts::default(),
            gone: Vec::new(),
            log_busy_since: None,
            warned: change.warned().iter().cloned().collect(),
            earlier: None,
            target: None,
        }
    }

    /// Reads the profile without the lock. `accept` decides for each doubt whether to continue; `None` if it does not.
    ///
    /// # Errors
    /// As [`LoadedProfile::read`], and what `accept` refuses.
    pub async fn read(
        &mut self,
        accept: impl Fn(&mut Self, Doubt) -> Result<bool, Failure>,
    ) -> Result<Option<LoadedProfile>, Failure> {
        let loaded = LoadedProfile::read(self.service, self.change.base()).await?;
        self.resolve_doubts(loaded, accept).await
    }

    /// As [`Self::read`], under the customer's lock.
    ///
    /// # Errors
    /// As [`LoadedProfile::lock`], and what `accept` refuses.
    pub async fn lock(
        &mut self,
        accept: impl Fn(&mut Self, Doubt) -> Result<bool, Failure>,
    ) -> Result<Option<LoadedProfile>, Failure> {
        let loaded = LoadedProfile::lock(self.service, self.change.base()).await?;
        self.resolve_doubts(loaded, accept).await
    }

    /// Finds the doubts about what was read.
    async fn resolve_doubts(
        &mut self,
        mut loaded: LoadedProfile,
        accept: impl Fn(&mut Self, Doubt) -> Result<bool, Failure>,
    ) -> Result<Option<LoadedProfile>, Failure> {
        let behind = self.catch_up(&mut loaded).await?;
        let was_behind = behind.is_some();
        if let Some(doubt) = behind
            && !accept(self, doubt)?
        {
            return Ok(None);
        }
        self.keep_read(&loaded, was_behind);
        if let Some(doubt) = self.pending(&loaded)?
            && !accept(self, doubt)?
        {
            return Ok(None);
        }
        if let ProfileChange::Undo(undo) = self.change {
            if let Some(doubt) = self.target(undo, &loaded)?.doubt.clone()
                && !accept(self, doubt)?
            {
                return Ok(None);
            }
            let customer = loaded.stored.customer_key();
            undo.tell(self.target(undo, &loaded)?, &customer);
        }
        Ok(Some(loaded))
    }

    /// Whether a profile given by hand is used although it does not show the newest update.
    fn ignores_lag(&self) -> bool {
        self.change.base().is_some() && self.change.replacement_args().after_unknown
    }

    /// Reads until the profile shows what our own writes left, for at most `--settle`; returns a doubt about what it does
    /// not show then.
    async fn catch_up(&mut self, loaded: &mut LoadedProfile) -> Result<Option<Doubt>, Failure> {
        let mut missing = self.not_shown(loaded)?;
        if self.ignores_lag() {
            return Ok(None);
        }
        let is_dry = self.service.session.global.dry_run;
        let mut reads = Reads::new(self.service.settings.settle);
        while !missing.is_empty() {
            if is_dry || !loaded.is_readable || !reads.wait().await {
                return Ok(Some(messages::lags_behind(&missing, self.recent.is_any())));
            }
            loaded.read_again(self.service, self.change.base()).await?;
            missing = self.not_shown(loaded)?;
        }
        Ok(None)
    }

    /// Keeps what the read showed, which is relied on from here.
    fn keep_read(&mut self, loaded: &LoadedProfile, was_behind: bool) {
        if self.ignores_lag() {
            return;
        }
        // A dry run only warns of a doubt: that does not accept the read.
        if !was_behind || !self.service.session.global.dry_run {
            loaded.store.note_read(loaded.stored.customer());
        }
        self.earlier = Some(loaded.stored.customer().clone());
        if let (ProfileChange::Update(_), None) = (self.change, self.service.session.report.line) {
            // Completion is for commands about one customer; a batch sees many.
            read::remember(self.service, &loaded.stored);
        }
    }

    /// What the read does not show although our own writes, or an earlier read of this command, left it.
    fn not_shown(&mut self, loaded: &LoadedProfile) -> Result<Vec<String>, Failure> {
        if loaded.is_readable {
            note_saved_refusal(self.service, &loaded.store, &loaded.stored)?;
        }
        self.recent = Recent::of(loaded, self.change.base().is_some())?;
        let mut missing = self.recent.missing_in(&loaded.stored)?;
        if let Some(earlier) = &self.earlier {
            let lost = lost_addresses(earlier, &self.recent.removed, &loaded.stored)?;
            missing.extend(lost.into_iter().filter(|lost| !missing.contains(lost)).collect::<Vec<_>>());
        }
        Ok(missing)
    }

    /// An earlier replacement that may still take effect and undo this one: only the newest counts.
    fn pending(&self, loaded: &LoadedProfile) -> Result<Option<Doubt>, Failure> {
        let pending = loaded.store.newest_pending()?;
        let Some(pending) = pending.filter(|_| !self.change.replacement_args().after_unknown) else {
            return Ok(None);
        };
        let replacement = loaded.store.read(&pending.entry).ok();
        if let Some(replacement) = replacement.as_ref().filter(|_| loaded.is_readable)
            && is_shown(self.service, &loaded.store, replacement, &loaded.stored, pending.proof())?
        {
            return Ok(None);
        }
        Ok(Some(messages::still_open(&pending, replacement.as_ref(), self.change.is_planned())))
    }

    /// The updates that an undo undoes.
    fn target(&mut self, undo: &Undo<'_>, loaded: &LoadedProfile) -> Result<&mut Target, Failure> {
        let found = match self.target.take() {
            Some(found) => found,
            None => undo.find(&loaded.store, &loaded.stored)?,
        };
        Ok(self.target.insert(found))
    }

    /// Makes the change to be sent from what was read.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely.
    pub async fn propose(
        &mut self,
        service: &Service<'_>,
        loaded: &LoadedProfile,
    ) -> Result<Proposal, Failure> {
        let dialect = service.settings.dialect;
        match self.change {
            ProfileChange::Update(update) => {
                for country in RegionDirectory::needed(&update.patch.draft, loaded.stored.customer()) {
                    read_country(service, &country).await?;
                }
                read_attributes(service, &update.patch.draft, loaded.stored.customer()).await?;
                self.gone = removed_earlier(&update.patch.remove, loaded)?;
                let mut merged = {
                    let regions = service.regions.borrow();
                    let attributes = service.custom_attributes.borrow();
                    update.merge(&loaded.stored, dialect, &regions, &attributes, &self.gone)?
                };
                ensure_stores(service, &merged.changes).await?;
                if let Some(version) = service.settings.magento_version {
                    merged.notes.extend(lint::of_version(&merged, version));
                }
                merged.notes.extend(self.gone.iter().map(|id| format!("address {id} was removed already")));
                Ok(Proposal::of(merged))
            }
            ProfileChange::Undo(undo) => {
                let delete_newer = self.answers.delete_newer;
                undo.merge(self.target(undo, loaded)?, &loaded.stored, dialect, delete_newer)
            }
        }
    }

    /// Refuses deletions that nobody has stated: by a number, that of the flag or `typed`, or by name if somebody
    /// `agrees`.
    ///
    /// # Errors
    /// `guard`, naming the addresses.
    pub fn check_deletions(
        &self,
        merged: &Merged,
        typed: Option<usize>,
        agrees: bool,
    ) -> Result<(), Failure> {
        match self.change {
            ProfileChange::Update(Update { patch, allow_delete, .. }) => {
                let deleted = merged.summary.removed.len();
                // A given number also counts the addresses that are gone already.
                let allowed = typed
                    .or(*allow_delete)
                    .map(|allowed| if allowed == deleted + self.gone.len() { deleted } else { allowed });
                merge::check(patch, &merged.summary, allowed, agrees)
            }
            // The deletions of a plan were counted when it was agreed to.
            ProfileChange::Undo(Undo { planned: Some(_), .. }) => Ok(()),
            ProfileChange::Undo(_) => {
                let whole = ProfilePatch { replace: true, ..ProfilePatch::default() };
                merge::check(&whole, &merged.summary, self.answers.delete_newer, false)
            }
        }
    }

    /// The request that replaces the profile.
    ///
    /// # Errors
    /// `guard` for a profile that looks masked, `usage` if the interface needs something that is not known.
    fn request(&self, service: &Service<'_>, stored: &Profile, merged: &Merged) -> Result<Request, Failure> {
        self.refuse_masked(stored, merged)?;
        let customer = if service.settings.dialect.merges_profiles {
            magento::completed(stored.customer(), &merged.customer)
        } else {
            merged.customer.clone()
        };
        let body = exact_json::object([("customer", Value::Object(customer))]).to_string();
        Ok(Request::replace_profile(&service.target()?, body.into()))
    }

    /// How the change is sent.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn dispatch(
        &self,
        service: &Service<'_>,
        loaded: &LoadedProfile,
        merged: &Merged,
    ) -> Result<Dispatch, Failure> {
        let removals = self.removals(service, loaded, merged)?;
        if removals.is_empty() {
            let request = self.request(service, &loaded.stored, merged)?;
            let effect = Effect::of_profile(loaded.owner(), loaded.stored.customer(), &merged.customer);
            return Ok(Dispatch::Put(Box::new(Call::new(UPDATE, request, effect))));
        }
        Ok(Dispatch::Removals(removals))
    }

    /// The calls that remove addresses, if the interface has them and nothing else changes; otherwise none, because a PUT
    /// carries the whole list anyway.
    fn removals(
        &self,
        service: &Service<'_>,
        loaded: &LoadedProfile,
        merged: &Merged,
    ) -> Result<Vec<Call>, Failure> {
        let replaces_list = matches!(self.change, ProfileChange::Update(update) if update.patch.replace);
        let is_read = loaded.is_readable && self.change.base().is_none();
        if replaces_list || !is_read || !merged.changes.iter().all(diff::FieldChange::is_removal) {
            return Ok(Vec::new());
        }
        let removed = &merged.summary.removed;
        Ok(remove::removals(&service.target()?, &loaded.owner(), loaded.stored.customer(), removed))
    }

    /// Refuses to write back values that look masked: the masks would replace what is stored. A single one may be a real
    /// text.
    fn refuse_masked(&self, stored: &Profile, merged: &Merged) -> Result<(), Failure> {
        const FEWEST: usize = 2;
        let is_replaced =
            |path: &String| merged.changes.iter().any(|change| change.path.to_string() == *path);
        let mut masked = stored.masked();
        masked.retain(|path| !is_replaced(path));
        if masked.len() < FEWEST || self.change.replacement_args().allow_masked {
            return Ok(());
        }
        let count = masked.len();
        let places = masked.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        Err(Failure::guard(format!(
            "{count} stored values look masked, and would replace the real ones: {places}"
        ))
        .hint("check what stands between this machine and the shop, or continue with --allow-masked")
        .for_good())
    }

    /// Shows the warnings of a change, each once.
    pub fn warn(&mut self, merged: &Merged) {
        merged.notes.iter().for_each(|note| self.warn_once(note));
    }

    /// Shows a warning once.
    pub fn warn_once(&mut self, text: &str) {
        if self.warned.insert(text.to_owned()) {
            self.service.session.report.warn(text);
        }
    }

    /// The result if nothing has to change.
    pub fn unchanged(&mut self, proposal: &Proposal) -> Outcome {
        self.warn(&proposal.merged);
        let global = self.service.session.global;
        let unchanged = proposal.unchanged.clone().map(|text| for_command(text, global).to_string());
        Outcome { reason: Some("unchanged"), unchanged, ..self.outcome(&proposal.merged) }
    }

    /// The result of a change that was sent, without its outcome.
    pub fn sent(&self, merged: &Merged, write: WriteName) -> Outcome {
        let mut outcome = self.outcome(merged);
        outcome.write = Some(write.to_string().into());
        if let Some(profile) = &mut outcome.profile {
            profile.were_shown =
                self.answers.agreed.is_some() && self.service.session.context.stdout_is_terminal;
        }
        outcome
    }

    /// The result of a change, without its outcome.
    pub fn outcome(&self, merged: &Merged) -> Outcome {
        let changes = merged.changes.clone();
        let summary = merged.summary.clone();
        let owner = Map::new();
        let were_shown = false;
        let new_ids = Vec::new();
        let profile = ProfileOutcome { changes, summary, owner, were_shown, new_ids };
        Outcome {
            profile: Some(profile),
            write: Some(Value::Null),
            ..Outcome::not_sent(self.change.operation())
        }
    }
}
