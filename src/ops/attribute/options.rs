//! Adding options to an attribute, which keeps its default option: Magento's own call loses it.

use reqwest::Method;
use serde_json::Value;

use super::names::{path, resolve_store_views};
use super::{read_all, read_existing};
use crate::client::service::Service;
use crate::client::{Effect, may_be_saved};
use crate::input::Draft;
use crate::log::{DefaultNote, WriteLog};
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::{found_in_part, read_until};
use crate::report::outcome::Outcome;
use crate::state::{LockName, acquire};
use crate::system::storage::Lock;
use storefront_core::attribute::view::{Attribute, NewOption};
use storefront_core::attribute::{Named, StoredOptions};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::operation::{ATTRIBUTE_OPTION_ADD, Success};

/// `attribute option default`, as it is reported.
const SET_DEFAULT: &str = "attribute option default";

/// An attribute whose options are changed: no other command of this machine changes them meanwhile.
struct Locked<'a> {
    service: &'a Service<'a>,
    code: &'a str,
    /// None in a dry run on a machine that has none.
    log: Option<WriteLog>,
    /// What an earlier command has left.
    noted: Option<DefaultNote>,
    /// As it was read before the first call.
    before: StoredOptions,
    _lock: Lock,
}

impl<'a> Locked<'a> {
    async fn open(service: &'a Service<'a>, code: &'a str) -> Result<Self, Failure> {
        let (session, settings) = (service.session, &service.settings);
        let waiting =
            || session.report.status("waiting for another storefront process to finish with this attribute");
        let name = LockName::attribute(code);
        let (lock, _) = acquire(session.context, settings, &name, settings.lock_timeout, waiting).await?;
        let log = WriteLog::to_write(session.context, session.global.dry_run)?;
        let of_service = settings.service_id().to_string();
        let noted = log.as_ref().map(|log| log.default_note(&of_service, code)).transpose()?.flatten();
        let before = StoredOptions::of(Attribute(&read_existing(service, code).await?))?;
        Ok(Self { service, code, log, noted, before, _lock: lock })
    }

    /// The default option to keep: that of the attribute, or the one that an earlier command has lost.
    fn previous_default(&self) -> Option<&str> {
        let noted = self.noted.as_ref().map(|note| note.default.as_str());
        self.before.default.as_deref().or(noted.filter(|id| self.before.with_id(id).is_some()))
    }

    /// Notes the default option as long as some of these labels, or of those of earlier commands, are not among the
    /// options: they may still be added, and it is lost then. Forgets it where there are none.
    async fn note(
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

    /// The call that sets the default option and changes nothing else.
    fn default_call(&self, option: &Named) -> Result<Planned, Failure> {
        let path = read_all(self.service, self.code)?.path;
        let request = Request::post(path, self.before.default_body(&option.id).into(), Bearer::Admin);
        Ok((format!("set the default {}", option.name), Request { method: Method::PUT, ..request }))
    }

    /// Sets the default option, and reads until it is shown.
    async fn set_default(&self, calls: &mut Calls<'_>, option: &Named) -> Result<(), Failure> {
        let sent = calls.send(&self.default_call(option)?, Effect::State).await;
        if sent.as_ref().is_err_and(|failure| failure.applied != Applied::Unknown) {
            return sent.map(drop);
        }
        let is_set = |shown: &StoredOptions| shown.default.as_ref() == Some(&option.id);
        match (sent, self.read_until(is_set).await.1) {
            (Ok(_), true) => Ok(()),
            (Err(lost), true) => {
                calls.last_is_applied(&lost);
                Ok(())
            }
            (Err(lost), false) => Err(lost),
            (Ok(_), false) => {
                let message = format!("the default option `{}` was set, and is not shown", option.name);
                Err(Failure::new(FailureKind::Mismatch, message))
            }
        }
    }

    /// The options as one read shows them.
    async fn read_once(&self) -> Option<StoredOptions> {
        let reply = self.service.read(&read_all(self.service, self.code).ok()?).await.ok()?;
        StoredOptions::of(Attribute::in_reply(&reply.value)?).ok()
    }

    /// Reads until the options are as wanted, for `settle` at most: the last ones, and whether they are so.
    async fn read_until(&self, is_wanted: impl Fn(&StoredOptions) -> bool) -> (Option<StoredOptions>, bool) {
        let options = |reply: &Value| StoredOptions::of(Attribute::in_reply(reply)?).ok();
        let Ok(request) = read_all(self.service, self.code) else { return (None, false) };
        let is_so = |reply: &Value| options(reply).as_ref().is_some_and(&is_wanted);
        let (shown, is_so) = read_until(self.service, &request, self.service.settings.settle, is_so).await;
        (shown.as_ref().and_then(options), is_so)
    }
}

/// What a person is asked before several options are added: how many the attribute does not have yet.
///
/// # Errors
/// As [`add`], for what it refuses before the first call.
pub async fn question(service: &Service<'_>, draft: &Draft) -> Result<Option<String>, Failure> {
    let asked = Attribute(&draft.fields).new_options();
    if asked.len() < 2 {
        return Ok(None);
    }
    resolve_store_views(service, &mut draft.fields.clone()).await?;
    let code = Attribute(&draft.fields).code();
    let shown = StoredOptions::of(Attribute(&read_existing(service, code).await?))?;
    let mut count = 0;
    for option in &asked {
        count += usize::from(is_missing(&shown, *option)?);
    }
    Ok((count > 1).then(|| format!("Add {count} options to {code}?")))
}

/// The failure of an option that was refused, and that a look shows all the same, or that could not be looked for.
fn refused_or_added(failure: Failure, is_shown: bool) -> Failure {
    let applied = Applied::Unknown;
    if is_shown {
        let message = format!("refused, but added: {}", failure.message);
        return Failure { kind: FailureKind::Mismatch, applied, message, ..failure };
    }
    let message = format!("{}; whether it was added all the same could not be read", failure.message);
    Failure { applied, message, ..failure }
}

/// Whether an attribute with these options lacks this one.
///
/// # Errors
/// `usage` for a label that cannot be added to them.
fn is_missing(shown: &StoredOptions, option: NewOption<'_>) -> Result<bool, Failure> {
    if shown.find(option.label())?.is_some() {
        return Ok(false);
    }
    shown.refuse_taken(option.label()).map(|()| true)
}

/// Adds the options that the attribute does not have, or shows the calls; its default option is there in the end.
///
/// # Errors
/// As [`Service::write`]; `usage` for what cannot be added; `partial` where a later call was refused.
pub async fn add(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let mut fields = draft.fields.clone();
    resolve_store_views(service, &mut fields).await?;
    let locked = Locked::open(service, Attribute(&draft.fields).code()).await?;
    let asked = Attribute(&fields).new_options();
    let wanted = asked.iter().find(|option| option.is_default()).map(|option| option.label());
    let mut calls = Calls::new(service, ATTRIBUTE_OPTION_ADD.name);
    let (labels, mut planned) = locked.plan(&asked, &mut calls)?;
    if service.session.global.dry_run {
        // The id of an option that is added is not known before.
        let kept = match wanted {
            Some(label) => locked.before.get(label),
            None => locked.previous_default().and_then(|id| locked.before.with_id(id)),
        };
        let is_set = |option: &&Named| locked.before.default.as_ref() == Some(&option.id);
        if let Some(option) = kept.filter(|option| !planned.is_empty() || !is_set(option)) {
            planned.push(locked.default_call(option)?);
        }
        return Ok(preview(service, ATTRIBUTE_OPTION_ADD.name, planned));
    }
    let (added, failure) = locked.add(&mut calls, &planned, &labels).await?;
    let is_unknown = failure.as_ref().is_some_and(|failure| failure.applied == Applied::Unknown);
    let sent = &labels[..added + usize::from(is_unknown)];
    let kept = locked.keep_default(&mut calls, !labels.is_empty(), sent.split_at(added), wanted).await;
    let failure = match (failure, kept) {
        (Some(failure), Err(kept)) => {
            let both = format!("{}; the default option was not set again: {}", failure.message, kept.message);
            Some(Failure { message: both, ..failure })
        }
        (failure, kept) => failure.or(kept.err()),
    };
    if let Some(failure) = failure {
        let again = hint!(
            "check with ",
            storefront("attribute show").arg(locked.code),
            ", then run the command again: it adds what is missing and sets the default option"
        );
        return Err(calls.failed(failure, &planned, Some(again)));
    }
    let count = labels.len();
    let text = format!("Added {count} {} to {}", if count == 1 { "option" } else { "options" }, locked.code);
    let unchanged = Some(format!("`{}` has these options already", locked.code));
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { success, unchanged, verified: Some(true), ..calls.finish() })
}

impl Locked<'_> {
    /// The labels that are missing, and the calls that add them, in the order given; what is there is skipped.
    fn plan<'b>(
        &self,
        asked: &[NewOption<'b>],
        calls: &mut Calls<'_>,
    ) -> Result<(Vec<&'b str>, Vec<Planned>), Failure> {
        let path = path(self.service, "/all/V1/products/attributes/{code}/options", &[("code", self.code)])?;
        let (mut labels, mut planned) = (Vec::new(), Vec::new());
        for option in asked {
            let name = format!("add {}", option.label());
            if !is_missing(&self.before, *option)? {
                let has_labels = option.has_store_labels();
                let reason =
                    if has_labels { "already there; its labels are unchanged" } else { "already there" };
                calls.skip(name, reason);
                continue;
            }
            labels.push(option.label());
            let body = option.body(self.before.options.len() + labels.len());
            planned.push((name, Request::post(path.clone(), body.into(), Bearer::Admin)));
        }
        Ok((labels, planned))
    }

    /// Notes the default option and adds the options, up to the first that fails: how many were added, and that failure.
    async fn add(
        &self,
        calls: &mut Calls<'_>,
        planned: &[Planned],
        labels: &[&str],
    ) -> Result<(usize, Option<Failure>), Failure> {
        if let Some(previous_default) = self.previous_default().and_then(|id| self.before.with_id(id)) {
            if self.before.default.is_none() {
                self.service.session.report.warn(&format!(
                    "an earlier command lost the default option `{}` of `{}`: it is set again",
                    previous_default.name, self.code
                ));
            }
            if !labels.is_empty() {
                self.note(Some(&previous_default.id), labels, &self.before).await?;
            }
        }
        for (count, (call, label)) in planned.iter().zip(labels).enumerate() {
            let Err(failure) = calls.send_next(call, Effect::Write).await else { continue };
            let is_there = |shown: &StoredOptions| shown.get(label).is_some();
            if may_be_saved(&failure) {
                let failure = match self.read_once().await {
                    Some(shown) if !is_there(&shown) => failure,
                    seen => {
                        calls.last_is(Applied::Unknown);
                        refused_or_added(failure, seen.is_some())
                    }
                };
                return Ok((count, Some(failure)));
            }
            if failure.applied != Applied::Unknown || !self.read_until(is_there).await.1 {
                return Ok((count, Some(failure)));
            }
            calls.last_is_applied(&failure);
        }
        Ok((labels.len(), None))
    }

    /// Sets the default option that is wanted, or the previous one where the attribute has none any more, and forgets the
    /// note once nothing can change it: no option of those that were not `added` for certain may still come.
    async fn keep_default(
        &self,
        calls: &mut Calls<'_>,
        was_sent: bool,
        (added, unknown): (&[&str], &[&str]),
        wanted: Option<&str>,
    ) -> Result<(), Failure> {
        let has_all = |shown: &StoredOptions| added.iter().all(|label| shown.get(label).is_some());
        // After a refusal, too: a command that was killed a moment ago may have added options since the first read.
        let (shown, is_current) =
            if was_sent { self.read_until(has_all).await } else { (Some(self.before.clone()), true) };
        let Some(shown) = shown else {
            let message = "the options could not be read afterwards, nor whether the default option is kept";
            return Err(Failure::new(FailureKind::Mismatch, message));
        };
        // One that is shown by a read of before is not known to be kept.
        let goal = self.goal(&shown, wanted).filter(|_| is_current || shown.default.is_none());
        if let Some(option) = goal.filter(|option| shown.default.as_ref() != Some(&option.id)) {
            self.set_default(calls, option).await?;
        }
        if !is_current {
            let message = "the options were added, and reading them back does not show all of them";
            return Err(Failure::new(FailureKind::Mismatch, message));
        }
        let goal = goal.map(|option| option.id.as_str());
        self.note(goal.or(shown.default.as_deref()).or(self.previous_default()), unknown, &shown).await
    }

    /// The default option that is to be there: the one that is wanted, or the previous one where the attribute has none any
    /// more. Where the one that is wanted was not added, the previous one stays.
    fn goal<'b>(&self, shown: &'b StoredOptions, wanted: Option<&str>) -> Option<&'b Named> {
        let lost =
            self.previous_default().filter(|_| shown.default.is_none()).and_then(|id| shown.with_id(id));
        wanted.and_then(|label| shown.get(label)).or(lost)
    }
}

/// Whether the options of an earlier run, and the default option, are there. `None` while that is unknown: an option that this
/// read does not show may be there all the same.
///
/// # Errors
/// [`found_in_part`] where the options are there, and the default option is not set.
pub async fn resolve_unknown(service: &Service<'_>, draft: &Draft) -> Result<Option<Outcome>, Failure> {
    let Ok(locked) = Locked::open(service, Attribute(&draft.fields).code()).await else { return Ok(None) };
    let (asked, shown) = (Attribute(&draft.fields).new_options(), &locked.before);
    if asked.iter().any(|option| shown.get(option.label()).is_none()) {
        return Ok(None);
    }
    let wanted = asked.iter().find(|option| option.is_default()).map(|option| option.label());
    let is_set = |goal: &&Named| shown.default.as_ref() == Some(&goal.id);
    if let Some(goal) = locked.goal(shown, wanted).filter(|goal| !is_set(goal)) {
        let message = format!("the options were added, and the default option `{}` is not set", goal.name);
        return Err(found_in_part(message));
    }
    locked.note(shown.default.as_deref(), &[], shown).await?;
    let (reason, verified) = (Some("done earlier"), Some(true));
    Ok(Some(Outcome {
        applied: Applied::Yes,
        reason,
        verified,
        ..Outcome::not_sent(ATTRIBUTE_OPTION_ADD.name)
    }))
}

/// Makes the option with this label the default, or shows the call.
///
/// # Errors
/// As [`Service::write`]; `usage` for a label that no option has, or several.
pub async fn set_default(service: &Service<'_>, code: &str, label: &str) -> Result<Outcome, Failure> {
    let locked = Locked::open(service, code).await?;
    let stored = &locked.before;
    let option = match stored.find(label)? {
        Some(option) => option,
        None => Named::find(&stored.options, "option", label)?,
    };
    let is_set = stored.default.as_ref() == Some(&option.id);
    let planned = if is_set { Vec::new() } else { vec![locked.default_call(option)?] };
    if service.session.global.dry_run {
        return Ok(preview(service, SET_DEFAULT, planned));
    }
    let mut calls = Calls::new(service, SET_DEFAULT);
    if is_set {
        calls.skip(format!("set the default {}", option.name), "already there");
    } else if let Err(failure) = locked.set_default(&mut calls, option).await {
        let again = hint!(storefront("attribute show").arg(code), " shows it; the command can be repeated");
        return Err(calls.failed(failure, &planned, Some(again)));
    }
    locked.note(Some(&option.id), &[], stored).await?;
    let text = format!("The default option of {code} is {}", option.name);
    let unchanged = Some(format!("`{}` is the default already", option.name));
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { success, unchanged, verified: Some(true), ..calls.finish() })
}
