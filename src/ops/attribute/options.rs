//! Adds options to an attribute and keeps its default option, which Magento's own call loses.

use serde_json::Value;

use super::names::{path, resolve_store_views};
use super::option_owner::OptionOwner;
use super::{read_all, read_existing};
use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::log::{DefaultNote, WriteLog};
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::{found_in_part, lock, seen_earlier};
use crate::report::outcome::Outcome;
use crate::state::LockName;
use crate::system::storage::Lock;
use crate::write::{self, Call, LeftCall, Written};
use storefront_core::attribute::view::{Attribute, NewOption};
use storefront_core::attribute::{Named, StoredOptions};
use storefront_core::effect::{Effect, composed};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::id::integer;
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::operation::{ATTRIBUTE_OPTION_ADD, ATTRIBUTE_OPTION_DEFAULT, Success};

/// `attribute option default`, as it is reported.
const SET_DEFAULT: &str = ATTRIBUTE_OPTION_DEFAULT.name;

/// How many labels a message names.
const MAX_NAMED: usize = 10;

/// An attribute whose options are changed: no other command of this machine changes them meanwhile.
pub(super) struct Locked<'a> {
    pub(super) service: &'a Service<'a>,
    pub(super) code: &'a str,
    /// `None` in a dry run on a machine without a log.
    log: Option<WriteLog>,
    /// The note that an earlier command has left.
    noted: Option<DefaultNote>,
    /// As it was read before the first call.
    pub(super) before: StoredOptions,
    /// `None` if the caller holds the lock.
    _lock: Option<Lock>,
}

/// An option that is to be added, and the call that does it.
struct Addition<'b> {
    label: &'b str,
    call: Call,
}

/// What became of additions.
#[derive(Default)]
struct Added<'b> {
    /// The calls that were applied.
    calls: Vec<LeftCall>,
    /// What the applied calls change, in their order.
    effects: Vec<Effect>,
    /// Their labels, with the ids that an answer or a look has shown.
    labels: Vec<(&'b str, Option<i64>)>,
    /// The labels of the one that failed and of those that were not sent after it.
    left: Vec<&'b str>,
    /// Why it failed.
    failure: Option<Failure>,
}

impl<'a> Locked<'a> {
    async fn open(service: &'a Service<'a>, code: &'a str) -> Result<Self, Failure> {
        let (lock, _) = lock(service, &LockName::attribute(code), service.settings.lock_timeout).await?;
        Ok(Self { _lock: Some(lock), ..Self::under_lock(service, code).await? })
    }

    /// The attribute, whose lock the caller holds.
    pub(super) async fn under_lock(service: &'a Service<'a>, code: &'a str) -> Result<Self, Failure> {
        let session = service.session;
        let settings = &service.settings;
        let log = if session.global.dry_run {
            WriteLog::to_read(session.context).ok().flatten()
        } else {
            Some(WriteLog::open(session.context)?)
        };
        let of_service = settings.service_id().to_string();
        let noted = log.as_ref().map(|log| log.default_note(&of_service, code)).transpose()?.flatten();
        let before = StoredOptions::of(Attribute(&read_existing(service, code).await?))?;
        Ok(Self { service, code, log, noted, before, _lock: None })
    }

    pub(super) fn owner(&self) -> Result<OptionOwner<'a>, Failure> {
        let read = read_all(self.service, self.code)?;
        Ok(OptionOwner::new(self.service, self.code, read, self.before.clone()))
    }

    /// The default option to keep: the attribute's, or the one that an earlier command has lost.
    fn previous_default(&self) -> Option<&Named> {
        let noted = self.noted.as_ref().map(|note| note.default.as_str());
        let own = self.before.default.as_deref();
        own.or(noted).and_then(|id| self.before.with_id(id))
    }

    /// Notes the default option as long as some of these labels, or of those of earlier commands, are not among the
    /// options: they may still be added, and then it is lost. Deletes the note if all are there.
    pub(super) async fn note(
        &self,
        default: Option<&str>,
        labels: &[&str],
        shown: &StoredOptions,
    ) -> Result<(), Failure> {
        let Some(log) = &self.log else { return Ok(()) };
        let of_service = self.service.settings.service_id().to_string();
        let earlier = self.noted.iter().flat_map(|note| &note.labels).map(String::as_str);
        let labels = earlier.chain(labels.iter().copied()).filter(|label| shown.get(label).is_none());
        let labels: Vec<String> = labels.map(str::to_owned).collect();
        if let Some(default) = default.filter(|_| !labels.is_empty()) {
            let note = DefaultNote { default: default.to_owned(), labels };
            return log.note_default(&of_service, self.code, &note).await;
        }
        log.forget_default(&of_service, self.code);
        Ok(())
    }

    /// The call that makes this option the default in place of `before`, and changes nothing else. It may be sent again
    /// after an unknown outcome.
    pub(super) fn default_call(
        &self,
        owner: &OptionOwner<'_>,
        before: Option<&String>,
        option: &Named,
    ) -> Result<Call, Failure> {
        let path = read_all(self.service, self.code)?.path;
        let body = self.before.default_body(&option.id).into();
        let request = Request::put(path, body, Bearer::Admin).setting_a_state();
        let name = format!("set the default {}", option.name);
        let effect = owner.new_default(before, &option.id);
        Ok(Call::new(name, request, effect))
    }
}

impl Locked<'_> {
    /// The call that makes a former default option the default again.
    ///
    /// # Errors
    /// `guard` if that option is gone.
    pub(super) fn back_to(&self, former: &str) -> Result<Planned, Failure> {
        let owner = self.owner()?;
        let option = self.former(former)?;
        Ok(planned(&self.default_call(&owner, self.before.default.as_ref(), option)?))
    }

    /// Makes a former default option the default again.
    ///
    /// # Errors
    /// As [`Self::back_to`], and [`Calls::carry_out`].
    pub(super) async fn set_back(&self, former: &str, calls: &mut Calls<'_>) -> Result<Written, Failure> {
        let owner = self.owner()?;
        let option = self.former(former)?;
        let call = self.default_call(&owner, self.before.default.as_ref(), option)?;
        let written = calls.carry_out(&owner, call).await?;
        self.note(Some(&option.id), &[], &self.before).await?;
        Ok(written)
    }

    fn former(&self, id: &str) -> Result<&Named, Failure> {
        let gone = || Failure::guard(format!("the former default option {id} is gone")).for_good();
        self.before.with_id(id).ok_or_else(gone)
    }
}

/// A call, to be shown.
fn planned(call: &Call) -> Planned {
    (call.name.clone(), call.request.clone())
}

/// The question before several options are added: how many the attribute does not have yet.
///
/// # Errors
/// As [`add`], for what it refuses before the first call.
pub async fn question(service: &Service<'_>, draft: &Draft, forced: bool) -> Result<Option<String>, Failure> {
    let asked = Attribute(&draft.fields).new_options();
    if asked.len() < 2 {
        return Ok(None);
    }
    resolve_store_views(service, &mut draft.fields.clone()).await?;
    let code = Attribute(&draft.fields).code();
    let shown = StoredOptions::of(Attribute(&read_existing(service, code).await?))?;
    let mut count = 0;
    for option in &asked {
        count += usize::from(is_missing(&shown, *option, forced)?);
    }
    Ok((count > 1).then(|| format!("Add {count} options to {code}?")))
}

/// Whether the attribute with the options `shown` lacks this one.
///
/// # Errors
/// `usage` for a label that cannot be added to them; `forced` permits one that only looks like another.
fn is_missing(shown: &StoredOptions, option: NewOption<'_>, forced: bool) -> Result<bool, Failure> {
    if shown.find(option.label())?.is_some() {
        return Ok(false);
    }
    shown.refuse_taken(option.label(), forced).map(|()| true)
}

/// Adds the options that the attribute lacks, or shows the calls, and keeps its default option. For n options that takes
/// at most n + 3 requests if nothing fails: a read, the calls, one that sets the default option, and a read.
///
/// # Errors
/// As [`write::send_and_look`]; `usage` for an option that cannot be added; `partial` if a later call was refused.
pub async fn add(service: &Service<'_>, draft: &Draft, forced: bool) -> Result<Outcome, Failure> {
    let mut fields = draft.fields.clone();
    resolve_store_views(service, &mut fields).await?;
    let locked = Locked::open(service, Attribute(&draft.fields).code()).await?;
    let owner = locked.owner()?;
    let asked = Attribute(&fields).new_options();
    let wanted = asked.iter().find(|option| option.is_default()).map(|option| option.label());
    let mut calls = Calls::new(service, ATTRIBUTE_OPTION_ADD.name);
    let additions = locked.plan(&owner, (&asked, forced), &mut calls)?;
    let mut all: Vec<Planned> = additions.iter().map(|addition| planned(&addition.call)).collect();
    if service.session.global.dry_run {
        all.extend(locked.planned_default(&owner, wanted, !additions.is_empty())?);
        return Ok(preview(service, ATTRIBUTE_OPTION_ADD.name, all));
    }
    let count = additions.len();
    let added = locked.add(&owner, &mut calls, additions).await?;
    let kept = locked.keep_default(&owner, &mut calls, &added, wanted).await;
    let (failure, verified) = match (added.failure, kept) {
        (None, Ok(verified)) => (None, verified),
        (Some(failure), Err(kept)) => {
            let both = format!("{}; the default option was not set again: {}", failure.message, kept.message);
            (Some(Failure { message: both, ..failure }), false)
        }
        (Some(failure), Ok(_)) | (None, Err(failure)) => (Some(failure), false),
    };
    if let Some(failure) = failure {
        let again = hint!(
            "check with ",
            storefront("attribute show").arg(locked.code),
            ", then run the command again: it adds what is missing and sets the default option"
        );
        return Err(calls.failed(failure, &all, Some(again)));
    }
    let text = format!("Added {count} {} to {}", if count == 1 { "option" } else { "options" }, locked.code);
    let unchanged = Some(format!("`{}` has these options already", locked.code));
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { success, unchanged, verified: Some(verified), ..calls.finish() })
}

impl Locked<'_> {
    /// The calls that add what is missing, in the order given; existing options are skipped.
    fn plan<'b>(
        &self,
        owner: &OptionOwner<'_>,
        (asked, forced): (&[NewOption<'b>], bool),
        calls: &mut Calls<'_>,
    ) -> Result<Vec<Addition<'b>>, Failure> {
        let path = path(self.service, "/all/V1/products/attributes/{code}/options", &[("code", self.code)])?;
        let mut additions = Vec::new();
        for option in asked {
            let label = option.label();
            let name = format!("add {}", option.label());
            if !is_missing(&self.before, *option, forced)? {
                let has_labels = option.has_store_labels();
                let reason =
                    if has_labels { "already there; its labels are unchanged" } else { "already there" };
                calls.skip(name, reason);
                continue;
            }
            let effect = owner.addition(*option, additions.is_empty());
            let body = option.body(self.before.options.len() + additions.len() + 1);
            let request = Request::post(path.clone(), body.into(), Bearer::Admin);
            // One look shows all of them.
            let call = Call { is_looked_at_later: true, ..Call::new(name, request, effect) };
            additions.push(Addition { label, call });
        }
        Ok(additions)
    }

    /// The call that a dry run shows for the default option. The id of an option that is to be added is not known yet.
    fn planned_default(
        &self,
        owner: &OptionOwner<'_>,
        wanted: Option<&str>,
        adds: bool,
    ) -> Result<Option<Planned>, Failure> {
        let kept = match wanted {
            Some(label) => self.before.get(label),
            None => self.previous_default(),
        };
        let is_set = |option: &&Named| self.before.default.as_ref() == Some(&option.id);
        let kept = kept.filter(|option| adds || !is_set(option));
        kept.map(|option| Ok(planned(&self.default_call(owner, None, option)?))).transpose()
    }

    /// Notes the default option and adds the options, up to the first that fails.
    ///
    /// # Errors
    /// If nothing was sent because it could not be written down.
    async fn add<'b>(
        &self,
        owner: &OptionOwner<'_>,
        calls: &mut Calls<'_>,
        additions: Vec<Addition<'b>>,
    ) -> Result<Added<'b>, Failure> {
        let split = additions.into_iter().map(|Addition { label, call }| (label, call));
        let (mut labels, mut to_send): (Vec<&str>, Vec<Call>) = split.unzip();
        if !to_send.is_empty() {
            write::gate(self.service, calls.operation, &mut to_send, None).await?;
        }
        if let Some(previous_default) = self.previous_default() {
            if self.before.default.is_none() {
                self.service.session.report.warn(&format!(
                    "an earlier command lost the default option `{}` of `{}`: it is set again",
                    previous_default.name, self.code
                ));
            }
            if !labels.is_empty() {
                self.note(Some(&previous_default.id), &labels, &self.before).await?;
            }
        }
        let mut added = Added::default();
        for (label, call) in labels.clone().into_iter().zip(to_send) {
            let effect = call.effect.clone();
            match calls.carry_out(owner, call).await {
                Ok(written) => {
                    added.effects.push(effect);
                    added.labels.push((label, new_id(&written)));
                    added.calls.extend(written.left);
                }
                Err(failure) => {
                    added.left = labels.split_off(added.labels.len());
                    added.failure = Some(named(failure, &added.left));
                    break;
                }
            }
        }
        Ok(added)
    }

    /// Sets the default option that is wanted, or the previous one, which an addition loses, and reads until all
    /// additions and the default are shown; returns whether they are. Deletes the note once nothing can change the
    /// default option any more.
    async fn keep_default(
        &self,
        owner: &OptionOwner<'_>,
        calls: &mut Calls<'_>,
        added: &Added<'_>,
        wanted: Option<&str>,
    ) -> Result<bool, Failure> {
        if let (Some(mut whole), None) = (composed(&added.effects), &added.failure) {
            let goal = match wanted {
                Some(label) => added.option(label).or_else(|| self.before.get(label).cloned()),
                None => self.previous_default().cloned(),
            };
            if wanted.is_none() || goal.is_some() {
                let mut sent = added.calls.clone();
                if let Some(goal) = &goal {
                    let call = self.default_call(owner, None, goal)?;
                    whole.changes = call.effect.changes.clone();
                    let call = Call { is_looked_at_later: true, ..call };
                    sent.extend(calls.complete(owner, call).await?.left);
                }
                let verified = write::verify(self.service, owner, &mut whole, None, &sent).await?;
                let shown = owner.last().unwrap_or_else(|| self.before.clone());
                let default = goal.map(|goal| goal.id).or_else(|| shown.default.clone());
                self.note(default.as_deref(), &[], &shown).await?;
                return Ok(verified);
            }
        }
        self.look_and_keep(owner, calls, added, wanted).await
    }

    /// As [`Self::keep_default`], if a read must show what is there: after a failure, if the id of an option is not
    /// known, and if nothing was to be added.
    async fn look_and_keep(
        &self,
        owner: &OptionOwner<'_>,
        calls: &mut Calls<'_>,
        added: &Added<'_>,
        wanted: Option<&str>,
    ) -> Result<bool, Failure> {
        let is_sent = added.failure.is_some() || !added.effects.is_empty();
        let mut verified = Ok(true);
        if is_sent {
            // Also if no addition is certain: a command that was killed a moment ago may have added options since the
            // read.
            let mut whole = composed(&added.effects).unwrap_or_else(|| owner.unchanged());
            verified = write::verify(self.service, owner, &mut whole, None, &added.calls).await;
        }
        let shown = if is_sent { owner.last() } else { Some(self.before.clone()) };
        let Some(shown) = shown else {
            let message = "the options could not be read afterwards, nor whether the default option is kept";
            return Err(Failure::new(FailureKind::Mismatch, message));
        };
        // A default shown by a read that may be outdated is not known to be kept.
        let is_current = matches!(verified, Ok(true));
        let goal = self.goal(&shown, wanted).filter(|_| is_current || shown.default.is_none());
        if let Some(option) = goal.filter(|option| shown.default.as_ref() != Some(&option.id)) {
            let call = self.default_call(owner, shown.default.as_ref(), option)?;
            calls.complete(owner, call).await?;
        }
        let verified = verified?;
        let goal = goal.map(|option| option.id.as_str());
        let previous = self.previous_default().map(|option| option.id.as_str());
        let left: &[&str] = match &added.failure {
            Some(failure) if failure.applied == Applied::Unknown => &added.left[..1],
            _ => &[],
        };
        self.note(goal.or(shown.default.as_deref()).or(previous), left, &shown).await?;
        Ok(verified)
    }

    /// The default option that must be set: the one that is wanted, or the previous one if the attribute has none any
    /// more or the wanted one was not added.
    fn goal<'b>(&self, shown: &'b StoredOptions, wanted: Option<&str>) -> Option<&'b Named> {
        let previous = self.previous_default().filter(|_| shown.default.is_none());
        let lost = previous.and_then(|previous| shown.with_id(&previous.id));
        wanted.and_then(|label| shown.get(label)).or(lost)
    }
}

impl Added<'_> {
    /// The option that was added with this label, if an answer or a look has shown its id.
    fn option(&self, label: &str) -> Option<Named> {
        let (_, id) = self.labels.iter().find(|(own, _)| *own == label)?;
        Some(Named { id: (*id)?.to_string(), name: label.to_owned() })
    }
}

/// The id of an option that was added, if a look or the answer has shown it.
fn new_id(written: &Written) -> Option<i64> {
    let created = written.effect.creates.first()?;
    let answer = written.reply.as_ref().and_then(|reply| integer(&reply.value));
    created.id.or(answer.filter(|id| !created.known.contains(id)))
}

/// The failure of an option, with its label and those that were not sent.
fn named(failure: Failure, left: &[&str]) -> Failure {
    let is_interrupted = failure.kind == FailureKind::Interrupted;
    let (failed, rest) = left.split_at(usize::from(!is_interrupted).min(left.len()));
    let label = failed.first().map(|label| format!("option `{label}`: ")).unwrap_or_default();
    let quoted: Vec<String> = rest.iter().take(MAX_NAMED).map(|label| format!("`{label}`")).collect();
    let more = match rest.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let rest =
        if quoted.is_empty() { String::new() } else { format!("; not sent: {}{more}", quoted.join(", ")) };
    Failure { message: format!("{label}{}{rest}", failure.message), ..failure }
}

/// Whether the options of an earlier run, and the default option, are there; `ahead` is what was written down before it
/// sent. `None` while that is unknown: an option that this read does not show may be there all the same.
///
/// # Errors
/// [`found_in_part`] if the options are there, and the default option is not set.
pub async fn resolve_unknown(
    service: &Service<'_>,
    draft: &Draft,
    ahead: &Ahead,
) -> Result<Option<Outcome>, Failure> {
    let Ok(locked) = Locked::open(service, Attribute(&draft.fields).code()).await else { return Ok(None) };
    let asked = Attribute(&draft.fields).new_options();
    let shown = &locked.before;
    let is_other = |effect: &Effect| effect.owner.id.is_some() && effect.owner.id != shown.id();
    if ahead.effects().iter().any(is_other) || asked.iter().any(|option| shown.get(option.label()).is_none())
    {
        return Ok(None);
    }
    let wanted = asked.iter().find(|option| option.is_default()).map(|option| option.label());
    let is_set = |goal: &&Named| shown.default.as_ref() == Some(&goal.id);
    if let Some(goal) = locked.goal(shown, wanted).filter(|goal| !is_set(goal)) {
        let message = format!("the options were added, and the default option `{}` is not set", goal.name);
        return Err(found_in_part(message));
    }
    locked.note(shown.default.as_deref(), &[], shown).await?;
    Ok(Some(Outcome::seen_earlier(ATTRIBUTE_OPTION_ADD.name)))
}

/// Whether the default option that an earlier run set is the default; `ahead` is what was written down before it sent.
/// `None` while that is unknown.
///
/// # Errors
/// As the read.
pub async fn resolve_default(
    service: &Service<'_>,
    draft: &Draft,
    ahead: &Ahead,
) -> Result<Option<Outcome>, Failure> {
    let locked = Locked::open(service, Attribute(&draft.fields).code()).await?;
    let is_own = |effect: &Effect| effect.owner.id == locked.before.id();
    if !ahead.effects().iter().all(is_own) {
        return Ok(None);
    }
    seen_earlier(service, &ATTRIBUTE_OPTION_DEFAULT, &ahead.writes, &locked.before.document())
}

/// Makes the option with this label the default, or shows the call.
///
/// # Errors
/// As [`write::send_and_look`]; `usage` for a label that no option has, or several.
pub async fn set_default(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let code = Attribute(&draft.fields).code();
    let label = match draft.fields.get("label") {
        Some(Value::Number(number)) => &number.to_string(),
        label => label.and_then(Value::as_str).unwrap_or_default(),
    };
    let locked = Locked::open(service, code).await?;
    let owner = locked.owner()?;
    let stored = &locked.before;
    let option = match stored.find(label)? {
        Some(option) => option,
        None => Named::find(&stored.options, "option", label)?,
    };
    let is_set = stored.default.as_ref() == Some(&option.id);
    let call = locked.default_call(&owner, stored.default.as_ref(), option)?;
    let all = if is_set { Vec::new() } else { vec![planned(&call)] };
    if service.session.global.dry_run {
        return Ok(preview(service, SET_DEFAULT, all));
    }
    let mut calls = Calls::new(service, SET_DEFAULT);
    let mut verified = true;
    if is_set {
        calls.skip(call.name, "already there");
    } else {
        match calls.carry_out(&owner, call).await {
            Ok(written) => verified = written.verified,
            Err(failure) => {
                let again =
                    hint!(storefront("attribute show").arg(code), " shows it; the command can be repeated");
                return Err(calls.failed(failure, &all, Some(again)));
            }
        }
    }
    locked.note(Some(&option.id), &[], stored).await?;
    let text = format!("The default option of {code} is {}", option.name);
    let unchanged = Some(format!("`{}` is the default already", option.name));
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { success, unchanged, verified: Some(verified), ..calls.finish() })
}
