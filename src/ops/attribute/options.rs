//! Adding options to an attribute, which keeps its default option: Magento's own call loses it.

use std::collections::HashSet;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use super::calls::{Calls, interrupted, preview};
use super::names::{resolve_store_views, routes};
use super::{code_of, read_all, read_existing};
use crate::failure::{Applied, Failure, FailureKind};
use crate::http::Effect;
use crate::input::Draft;
use crate::ops::{read_until, target_without_customer};
use crate::plan::attribute::{Named, NewOption, StoredOptions};
use crate::plan::operation::{ATTRIBUTE_OPTION_ADD, Success};
use crate::plan::request::{Bearer, Request};
use crate::plan::validate::attribute::in_reply;
use crate::report::outcome::Outcome;
use crate::session::service::Service;
use crate::state::default_note::{DefaultNote, DefaultNotes};
use crate::state::{LockName, acquire};
use crate::system::storage::Lock;

/// `attribute option default`, as it is reported.
const SET_DEFAULT: &str = "attribute option default";

/// An attribute whose options are changed: no other command of this machine changes them meanwhile.
struct Locked<'a> {
    service: &'a Service<'a>,
    code: &'a str,
    notes: DefaultNotes,
    /// What an earlier command has left.
    noted: Option<DefaultNote>,
    /// As it was read before the first call.
    before: StoredOptions,
    _lock: Lock,
}

impl<'a> Locked<'a> {
    async fn open(service: &'a Service<'a>, code: &'a str) -> Result<Self, Failure> {
        let (context, settings) = (service.session.context, &service.settings);
        routes(service)?;
        let waiting = || {
            service
                .session
                .report
                .status("waiting for another storefront process to finish with this attribute");
        };
        let (lock, _) =
            acquire(context, settings, &LockName::attribute(code), settings.lock_timeout, waiting).await?;
        let notes = DefaultNotes::of(context, settings, code)?;
        let noted = notes.load()?;
        let before = StoredOptions::of(&read_existing(service, code).await?)?;
        Ok(Self { service, code, notes, noted, before, _lock: lock })
    }

    /// The default option to keep: that of the attribute, or the one that an earlier command has lost.
    fn former(&self) -> Option<&str> {
        let noted = self.noted.as_ref().map(|note| note.default.as_str());
        self.before.default.as_deref().or(noted.filter(|id| self.before.has(id)))
    }

    /// Labels of earlier commands of which it is not known whether they will be added.
    fn pending(&self) -> impl Iterator<Item = &String> {
        let labels = self.noted.iter().flat_map(|note| &note.labels);
        labels.filter(|label| self.before.options.iter().all(|option| option.name.trim() != *label))
    }

    /// The call that sets the default option and changes nothing else.
    fn default_request(&self, id: &str) -> Result<Request, Failure> {
        let path = read_all(self.service, self.code)?.path;
        let body = self.before.default_body(id).into();
        Ok(Request { method: Method::PUT, ..Request::post(path, body, Bearer::Admin) })
    }

    /// Sets the default option, and reads until it is shown.
    async fn set_default(&self, calls: &mut Calls<'_>, id: &str, label: &str) -> Result<(), Failure> {
        let name = format!("set the default {label}");
        let sent = calls.send(name, &self.default_request(id)?, Effect::State).await;
        if let Err(failure) = &sent
            && failure.applied != Applied::Unknown
        {
            return sent.map(drop);
        }
        let is_set = |shown: &StoredOptions| shown.default.as_deref() == Some(id);
        match (self.read_until(is_set).await, sent) {
            (Some(shown), Err(_)) if is_set(&shown) => calls.last_is_applied(),
            (Some(shown), Ok(_)) if is_set(&shown) => {}
            (_, Err(failure)) => return Err(failure),
            (_, Ok(_)) => {
                let message = format!("the default option `{label}` was set, and is not shown");
                return Err(Failure::new(FailureKind::Mismatch, message));
            }
        }
        Ok(())
    }

    /// Reads until the options are as wanted, for `settle` at most: the last ones that could be read.
    async fn read_until(&self, is_wanted: impl Fn(&StoredOptions) -> bool) -> Option<StoredOptions> {
        let options = |reply: &Value| StoredOptions::of(&in_reply(reply.clone())?).ok();
        let request = read_all(self.service, self.code).ok()?;
        let is_so = |reply: &Value| options(reply).as_ref().is_some_and(&is_wanted);
        let limit: Duration = self.service.settings.settle;
        read_until(self.service, &request, limit, is_so).await.0.as_ref().and_then(options)
    }
}

/// Adds the options that the attribute does not have, or shows the calls; its default option is there in the end.
///
/// # Errors
/// As [`Service::write`]; `usage` for what cannot be added; `partial` where a later call was refused.
pub async fn add(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let mut fields = draft.fields.clone();
    resolve_store_views(service, &mut fields).await?;
    let locked = Locked::open(service, code_of(&draft.fields)).await?;
    let asked = NewOption::all(&fields);
    let mut calls = Calls::new(service, ATTRIBUTE_OPTION_ADD.name);
    let mut left = Vec::new();
    for option in &asked {
        match locked.before.find(option.label())? {
            Some(_) => calls.already_there(call_name(option.label())),
            None => left.push(*option),
        }
    }
    let path = target_without_customer(service).path(routes(service)?.options, &[("code", locked.code)]);
    let first = locked.before.options.len() + 1;
    let request = |(at, option): (usize, &NewOption<'_>)| {
        let body = option.body(first + at).into();
        (call_name(option.label()), Request::post(path.clone(), body, Bearer::Admin))
    };
    let requests: Vec<(String, Request)> = left.iter().enumerate().map(request).collect();
    let wanted = asked.iter().find(|option| option.is_default()).map(|option| option.label());
    if service.session.global.dry_run {
        return Ok(preview(service, ATTRIBUTE_OPTION_ADD.name, locked.with_default(requests, wanted)?));
    }
    locked.note(left.iter().map(|option| option.label()))?;
    let labels: Vec<&str> = left.iter().map(|option| option.label()).collect();
    let added = locked.add(&mut calls, &requests, &labels).await;
    let kept = locked.keep_default(&mut calls, &added, wanted).await;
    let not_sent = requests.iter().skip(added.sent).map(|(name, _)| name.clone());
    let failure = match (added.failure, kept) {
        (None, Ok(())) => None,
        (Some(failure), Ok(())) | (None, Err(failure)) => Some(failure),
        (Some(failure), Err(kept)) => {
            let both = format!("{}; the default option was not set again: {}", failure.message, kept.message);
            Some(Failure { message: both, ..failure })
        }
    };
    if let Some(failure) = failure {
        return Err(with_hint(calls.failed(failure, not_sent), locked.code));
    }
    let count = labels.len();
    let text = format!("Added {count} {} to {}", if count == 1 { "option" } else { "options" }, locked.code);
    let unchanged = Some(format!("`{}` has these options already", locked.code));
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { success, unchanged, verified: Some(true), ..calls.finish() })
}

/// What became of the calls that add options.
struct Added {
    /// The options as they were read afterwards; those from before where nothing was sent.
    shown: Option<StoredOptions>,
    /// Whether all options that were added are among them.
    is_current: bool,
    /// Labels of which it is not known whether they will be added.
    unknown: Vec<String>,
    /// How many calls were sent.
    sent: usize,
    /// Why the rest was not.
    failure: Option<Failure>,
}

impl Locked<'_> {
    /// The calls of a dry run: without its default option an attribute gets it again.
    fn with_default(
        &self,
        mut requests: Vec<(String, Request)>,
        wanted: Option<&str>,
    ) -> Result<Vec<(String, Request)>, Failure> {
        let existing = wanted.map(|label| self.before.find(label)).transpose()?.flatten();
        let kept = match (wanted, existing) {
            // The id of an option that is added is not known before.
            (Some(_), None) => None,
            (Some(_), Some(option)) => Some(option.id.as_str()),
            (None, _) => self.former(),
        };
        if let Some(id) =
            kept.filter(|id| !requests.is_empty() || self.before.default.as_deref() != Some(*id))
        {
            let name = format!("set the default {}", self.before.label(id));
            requests.push((name, self.default_request(id)?));
        }
        Ok(requests)
    }

    /// Notes the default option before the first option is added.
    fn note<'l>(&self, labels: impl Iterator<Item = &'l str>) -> Result<(), Failure> {
        let labels: Vec<String> = labels.map(str::to_owned).collect();
        let Some(former) = self.former() else { return Ok(()) };
        if self.before.default.is_none() {
            self.service.session.report.warn(&format!(
                "an earlier command lost the default option `{}` of `{}`: it is set again",
                self.before.label(former),
                self.code
            ));
        }
        if labels.is_empty() {
            return Ok(());
        }
        let labels = self.pending().cloned().chain(labels).collect();
        self.notes.save(&DefaultNote { default: former.to_owned(), labels })
    }

    async fn add(&self, calls: &mut Calls<'_>, requests: &[(String, Request)], labels: &[&str]) -> Added {
        let before: HashSet<&str> = self.before.options.iter().map(|option| option.id.as_str()).collect();
        let is_new = |shown: &StoredOptions, label: &str| {
            let is_it = |option: &Named| option.name.trim() == label && !before.contains(option.id.as_str());
            shown.options.iter().any(is_it)
        };
        let before_all = Some(self.before.clone());
        let mut added =
            Added { shown: before_all, is_current: true, unknown: Vec::new(), sent: 0, failure: None };
        let mut applied: Vec<&str> = Vec::new();
        for ((name, request), label) in requests.iter().zip(labels) {
            if self.service.stopping.get() {
                added.failure = Some(interrupted());
                break;
            }
            added.sent += 1;
            match calls.send(name.clone(), request, Effect::Write).await {
                Ok(_) => applied.push(label),
                Err(failure) if failure.applied == Applied::Unknown => {
                    let shown = self.read_until(|shown| is_new(shown, label)).await;
                    if shown.is_none_or(|shown| !is_new(&shown, label)) {
                        added.unknown.push((*label).to_owned());
                        added.failure = Some(failure);
                        break;
                    }
                    self.service.session.report.warn(&format!("{}; verified as applied", failure.message));
                    calls.last_is_applied();
                    applied.push(label);
                }
                Err(failure) => {
                    added.failure = Some(failure);
                    break;
                }
            }
        }
        if !applied.is_empty() || !added.unknown.is_empty() {
            let has_all = |shown: &StoredOptions| applied.iter().all(|label| is_new(shown, label));
            added.shown = self.read_until(has_all).await;
            added.is_current = added.shown.as_ref().is_some_and(has_all);
        }
        added
    }

    /// Sets the default option that is wanted, or the former one where the attribute has none any more, and forgets the
    /// note once nothing can change it.
    async fn keep_default(
        &self,
        calls: &mut Calls<'_>,
        added: &Added,
        wanted: Option<&str>,
    ) -> Result<(), Failure> {
        let former = self.former();
        let Some(shown) = added.shown.as_ref().filter(|shown| added.is_current || shown.default.is_none())
        else {
            let message = "the options could not be read afterwards, nor whether the default option is kept";
            return Err(Failure::new(FailureKind::Mismatch, message));
        };
        // Where it was not added, the former one stays.
        let chosen = wanted.map(|label| shown.find(label)).transpose()?.flatten();
        let goal = match (chosen, former) {
            (Some(option), _) => Some(option.id.as_str()),
            (None, Some(former)) if shown.default.is_none() => Some(former),
            _ => None,
        };
        if let Some(id) = goal.filter(|id| shown.default.as_deref() != Some(*id)) {
            self.set_default(calls, id, shown.label(id)).await?;
        }
        if !added.is_current {
            let message = "the options were added, and reading them back does not show all of them";
            return Err(Failure::new(FailureKind::Mismatch, message));
        }
        let is_shown = |label: &str| shown.options.iter().any(|option| option.name.trim() == label);
        let labels = self.pending().chain(&added.unknown).filter(|label| !is_shown(label));
        let labels: Vec<String> = labels.cloned().collect();
        let default = goal.or(shown.default.as_deref()).or(former);
        if let Some(default) = default.filter(|_| !labels.is_empty()) {
            return self.notes.save(&DefaultNote { default: default.to_owned(), labels });
        }
        self.notes.forget();
        Ok(())
    }
}

fn call_name(label: &str) -> String {
    format!("add {label}")
}

fn with_hint(failure: Failure, code: &str) -> Failure {
    if failure.applied == Applied::No && failure.hint.is_some() {
        return failure;
    }
    let hint = failure.hint.as_deref().map(|hint| format!("{hint}; ")).unwrap_or_default();
    failure.hint(format!(
        "{hint}check with `storefront attribute show {code}`, then run the command again: it adds what is missing and \
         sets the default option"
    ))
}

/// Whether the options of an earlier run are there; then the default option is looked after, too. `None` while that is
/// unknown.
pub async fn resolve_unknown(service: &Service<'_>, draft: &Draft) -> Option<Outcome> {
    let stored = StoredOptions::of(&read_existing(service, code_of(&draft.fields)).await.ok()?).ok()?;
    let is_there = |option: &NewOption<'_>| stored.find(option.label()).ok().flatten().is_some();
    if !NewOption::all(&draft.fields).iter().all(is_there) {
        return None;
    }
    let outcome = add(service, draft).await.ok()?;
    Some(Outcome { applied: Applied::Yes, reason: Some("done earlier"), ..outcome })
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
    let mut calls = Calls::new(service, SET_DEFAULT);
    let name = format!("set the default {}", option.name);
    let is_set = stored.default.as_deref() == Some(option.id.as_str());
    if service.session.global.dry_run {
        let requests = if is_set { Vec::new() } else { vec![(name, locked.default_request(&option.id)?)] };
        return Ok(preview(service, SET_DEFAULT, requests));
    }
    if is_set {
        calls.already_there(name);
    } else if let Err(failure) = locked.set_default(&mut calls, &option.id, &option.name).await {
        let again = format!("`storefront attribute show {code}` shows it; the command can be repeated");
        return Err(calls.failed(failure, []).hint(again));
    }
    let labels: Vec<String> = locked.pending().cloned().collect();
    if labels.is_empty() {
        locked.notes.forget();
    } else {
        locked.notes.save(&DefaultNote { default: option.id.clone(), labels })?;
    }
    let text = format!("The default option of {code} is {}", option.name);
    let unchanged = Some(format!("`{}` is the default already", option.name));
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { success, unchanged, verified: Some(true), ..calls.finish() })
}
