//! The steps before the lock: a dry run, and on a terminal the change that is shown and confirmed. A person is asked only
//! here.

use super::messages::{Doubt, addresses};
use super::remove::{Dispatch, planned};
use super::steps::{Next, Steps};
use super::undo::Undo;
use super::{ProfileChange, Update};
use crate::ops::calls;
use crate::ops::shown::show_edits_of_profile;
use crate::prompt::Prompt;
use crate::report::outcome::Outcome;
use crate::report::style::TextStyle;
use crate::report::{changes, profile};
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::profile::address::addresses_by_id;
use storefront_core::profile::merge::Merged;
use storefront_core::profile::stored::Profile;

/// Shows the change and asks whether to commit it.
///
/// # Errors
/// [`Failure::cancelled`] for a no, and what the steps refuse.
pub async fn preview(steps: &mut Steps<'_>, prompt: &Prompt) -> Result<Next, Failure> {
    let looked = steps.read(|steps, doubt| accepts(steps, prompt, &doubt)).await?;
    let Some(loaded) = looked else { return Err(Failure::cancelled()) };
    let service = loaded.service(steps.service);
    let mut proposal = steps.propose(&service, &loaded).await?;
    let is_asked = steps.answers.delete_newer.is_none() && prompt.can_ask() && !prompt.assume_yes();
    let mut shown = None;
    if is_asked && !proposal.newer.is_empty() {
        show(steps, prompt, &loaded.stored, &proposal.merged);
        show_newer(prompt, &loaded.stored, &proposal.newer);
        shown = Some(proposal.merged.changes.clone());
        let question = format!("Also delete {}, added since?", addresses(&proposal.newer));
        let number = if prompt.agrees(&question)? { proposal.newer.len() } else { 0 };
        steps.answers.delete_newer = Some(number);
        proposal = steps.propose(&service, &loaded).await?;
    }
    if proposal.merged.changes.is_empty() {
        return Ok(Next::done(steps.unchanged(&proposal)));
    }
    let dispatch = steps.dispatch(&service, &loaded, &proposal.merged)?;
    steps.service.announce(steps.change.operation(), dispatch.first());
    if steps.answers.agreed.as_ref() != Some(&proposal.merged.changes) {
        if shown.as_ref() != Some(&proposal.merged.changes) {
            show(steps, prompt, &loaded.stored, &proposal.merged);
        }
        if !confirms(steps, prompt, &proposal.merged)? {
            return Ok(Next::WentBack);
        }
        steps.answers.agreed = Some(proposal.merged.changes);
    }
    Ok(Next::Commit)
}

/// Shows what would be sent.
///
/// # Errors
/// What the steps refuse; a doubt is a warning.
pub async fn dry_run(steps: &mut Steps<'_>) -> Result<Outcome, Failure> {
    let warned = |steps: &mut Steps<'_>, doubt: Doubt| {
        steps.warn_once(&doubt.refusal.message);
        Ok(true)
    };
    let Some(loaded) = steps.read(warned).await? else { return Err(Failure::cancelled()) };
    let service = loaded.service(steps.service);
    let proposal = steps.propose(&service, &loaded).await?;
    let merged = &proposal.merged;
    if merged.changes.is_empty() {
        return Ok(steps.unchanged(&proposal));
    }
    let dispatch = steps.dispatch(&service, &loaded, merged)?;
    steps.check_deletions(merged, None, true)?;
    steps.warn(merged);
    let mut outcome = steps.outcome(merged);
    if let Some(profile) = &mut outcome.profile {
        profile.owner = loaded.stored.owner();
    }
    match dispatch {
        Dispatch::Put(call) => Ok(Outcome { request: Some(service.preview(call.request)), ..outcome }),
        Dispatch::Removals(removals) => {
            let shown = calls::preview(&service, steps.change.operation(), planned(&removals));
            Ok(Outcome { request: shown.request, calls: shown.calls, ..outcome })
        }
    }
}

/// Whether a person continues despite a doubt; `--yes` does not answer it.
fn accepts(steps: &mut Steps<'_>, prompt: &Prompt, doubt: &Doubt) -> Result<bool, Failure> {
    let fact = &doubt.refusal.message;
    if steps.answers.accepted.contains(fact) {
        return Ok(true);
    }
    if !prompt.can_ask() {
        return Err(doubt.refusal.clone());
    }
    if !doubt.about.is_empty() {
        let style = steps.service.session.report.stderr_style;
        prompt.show(&style.paint(TextStyle::Head, "What the earlier update changes:"));
        prompt.show(&changes::text(&doubt.about, style));
    }
    let accepts = prompt.agrees(&format!("{fact}. {}", doubt.question))?;
    if accepts {
        steps.answers.accepted.insert(fact.clone());
    }
    Ok(accepts)
}

/// Shows a change.
fn show(steps: &Steps<'_>, prompt: &Prompt, stored: &Profile, merged: &Merged) {
    let style = steps.service.session.report.stderr_style;
    prompt.show(&style.paint(TextStyle::Head, &style.wrapped(&profile::owner(stored.customer()))));
    if !merged.changes.is_empty() {
        prompt.show(&changes::text(&merged.changes, style));
    }
    prompt.show(&changes::summary(&merged.summary, &[]));
    show_edits_of_profile(steps.service, stored);
}

/// Shows the addresses that an undo of the whole profile may also delete.
fn show_newer(prompt: &Prompt, stored: &Profile, newer: &[AddressId]) {
    const SHOWN: usize = 10;
    let addresses = addresses_by_id(stored.addresses()).filter(|(id, _)| newer.contains(id));
    for (id, address) in addresses.take(SHOWN) {
        let address = address.as_object().map(profile::place_first).unwrap_or_default();
        prompt.show(&format!("added since: address {id}, {address}"));
    }
    if newer.len() > SHOWN {
        prompt.show(&format!("and {} more", newer.len() - SHOWN));
    }
}

/// Asks whether to send a change that was shown; `false` for Esc.
fn confirms(steps: &mut Steps<'_>, prompt: &Prompt, merged: &Merged) -> Result<bool, Failure> {
    let deleted = merged.summary.removed.len();
    match (steps.check_deletions(merged, None, true), steps.change) {
        (Err(_), ProfileChange::Update(Update { patch, allow_delete: None, .. }))
            if patch.replace && prompt.can_ask() =>
        {
            steps.check_deletions(merged, Some(prompt.number_of_deletions(deleted)?), true)?;
        }
        // The question below states the number.
        (Err(_), ProfileChange::Undo(Undo { allow_delete: None, .. }))
            if prompt.can_ask() && !prompt.assume_yes() => {}
        (checked, _) => checked?,
    }
    steps.warn(merged);
    prompt.confirm_or_back(&match deleted {
        0 => "Send it?".to_owned(),
        1 => "Delete 1 address and send it?".to_owned(),
        many => format!("Delete {many} addresses and send it?"),
    })
}
