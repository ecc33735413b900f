//! Replacing a profile without losing an address, step by step (DESIGN 5).
//!
//! read → merge → guard → show and confirm → lock → read again → snapshot → PUT → read back and verify → unlock

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use super::reading;
use super::verdict::{self, Verdict};
use crate::commands::service::Service;
use crate::failure::{Applied, Failure};
use crate::history::{Archive, Taken};
use crate::plan::check::Warnings;
use crate::plan::diff::Change;
use crate::plan::merge::Merged;
use crate::plan::profile::Profile;
use crate::plan::request::Request;
use crate::prompt::{Answer, Prompt};
use crate::report::changes;
use crate::report::outcome::{Outcome, ProfileOutcome};

/// A way to change a profile: a wish laid over it, or a snapshot put back.
pub trait Edit {
    /// What results call it: `customer update`.
    fn operation(&self) -> &'static str;

    /// The profile as it is to be.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely.
    fn merge(&self, stored: &Map<String, Value>) -> Result<Merged, Failure>;

    /// Refuses deletions that were not spelled out; on a terminal the number can be typed.
    ///
    /// # Errors
    /// `guard`, naming the addresses.
    fn allow(&self, merged: &Merged, prompt: &Prompt) -> Result<(), Failure>;

    /// Told of the profile as it was found.
    fn saw(&self, _: &Service<'_>, _: &Profile) {}

    /// What is worth a second look, and no more than that.
    fn doubts(&self, _: &Merged) -> Warnings {
        Vec::new()
    }

    /// What asked for the change, and asks again when the person goes back from the confirmation.
    fn prompt(&self) -> Option<&Prompt> {
        None
    }

    /// Told that the person goes back from the confirmation; what asks nothing is cancelled by it.
    fn went_back(&self) {}

    /// The body's members beside the customer.
    fn beside(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The existing profile, given by hand.
    fn base(&self) -> Option<&Profile> {
        None
    }
}

/// A replacement that came to its end.
#[derive(Debug)]
pub struct Replaced {
    /// What it did.
    pub outcome: Outcome,
    /// The profile as it was read last.
    pub now: Option<Profile>,
}

/// Runs all the steps.
///
/// # Errors
/// What each step refuses: see DESIGN 5.
pub async fn replace(service: &Service<'_>, edit: &dyn Edit) -> Result<Outcome, Failure> {
    Ok(replace_known(service, edit, None).await?.outcome)
}

/// Runs all the steps; `known` is the customer's profile as somebody has just read it, and saves the first reading.
///
/// # Errors
/// As [`replace`].
pub async fn replace_known(
    service: &Service<'_>,
    edit: &dyn Edit,
    known: Option<Profile>,
) -> Result<Replaced, Failure> {
    let report = service.session.report;
    let (stored, readable) = match known {
        Some(known) => (known, true),
        None => first_reading(service, edit).await?,
    };
    edit.saw(service, &stored);
    let mut merged = edit.merge(stored.customer())?;
    let doubts = edit.doubts(&merged);
    merged.notes.extend(doubts);
    if merged.changes.is_empty() {
        merged.notes.iter().for_each(|note| report.warn(note));
        let outcome = Outcome { reason: Some("unchanged"), ..outcome(edit, &merged, None) };
        return Ok(Replaced { outcome, now: readable.then_some(stored) });
    }
    let own = Prompt::new(service.session.context, service.session.global, report);
    let prompt = edit.prompt().unwrap_or(&own);
    let request = put(service, edit, &merged)?;
    if service.session.global.dry_run {
        edit.allow(&merged, &Prompt::silent())?;
        merged.notes.iter().for_each(|note| report.warn(note));
        let outcome = Outcome { request: Some(service.shown(request)), ..outcome(edit, &merged, None) };
        return Ok(Replaced { outcome, now: None });
    }
    let were_shown = show(service, &merged, prompt);
    edit.allow(&merged, prompt)?;
    merged.notes.iter().for_each(|note| prompt.warn(report, note));
    let answer = prompt.confirm("Send it?")?;
    if answer == Answer::Back {
        edit.went_back();
    }
    answer.or_cancel()?;
    let archive = Archive::of(service.session.context, &service.settings, &stored.customer_key())?;
    let lock = archive
        .lock(|| report.note("another storefront command is writing to this customer; waiting for it"));
    let lock = lock.await?;
    if readable {
        reading::unchanged_since(service, &stored).await?;
    }
    let changes = merged.changes.iter().map(Change::to_json).collect();
    let taken = Taken { operation: edit.operation(), customer: stored.customer(), changes };
    let snapshot = archive.take(&taken, service.settings.retention_days)?;
    let sent =
        verdict::Sent { edit, request: &request, merged: &merged, stored: &stored, snapshot: &snapshot };
    let mut verdict = sent.put(service, readable).await?;
    drop(lock);
    let now = verdict.now.take();
    Ok(Replaced { outcome: applied(edit, &merged, snapshot, verdict, were_shown), now })
}

/// The profile to merge with, and whether the service itself can be read.
async fn first_reading(service: &Service<'_>, edit: &dyn Edit) -> Result<(Profile, bool), Failure> {
    let Some(base) = edit.base() else { return Ok((reading::read_profile(service).await?, true)) };
    match reading::read_profile(service).await {
        Err(failure) => {
            service.session.report.warn(&format!(
                "the profile cannot be read ({}): the base is taken as it is, and nothing will be checked afterwards",
                failure.message
            ));
            Ok((base.clone(), false))
        }
        Ok(stored) => {
            let ignore = &service.settings.read.ignore;
            let differences = reading::differences(base.customer(), stored.customer(), ignore);
            if differences.is_empty() {
                return Ok((stored, true));
            }
            Err(Failure::guard(format!(
                "the base is stale: {}; replacing by it would delete what is newer, so nothing was written",
                reading::named(&differences)
            ))
            .hint("leave --base out: the profile can be read; or save it anew with `storefront customer show -o json`"))
        }
    }
}

fn put(service: &Service<'_>, edit: &dyn Edit, merged: &Merged) -> Result<Request, Failure> {
    let body = Body { customer: &merged.customer, beside: edit.beside() };
    let body = serde_json::to_string(&body).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Request::replace_profile(service.store_view()?, body))
}

/// The body of the PUT; a customer of ten thousand addresses is not copied for it.
#[derive(Serialize)]
struct Body<'a> {
    customer: &'a Map<String, Value>,
    #[serde(flatten)]
    beside: Map<String, Value>,
}

/// What a person has to see before saying yes; whether it stands where the result will stand.
fn show(service: &Service<'_>, merged: &Merged, prompt: &Prompt) -> bool {
    if prompt.can_ask() {
        prompt.show(&changes::table(&merged.changes, service.session.report.stderr()));
        prompt.show(&changes::summary(&merged.tally, &[]));
    }
    prompt.can_ask() && service.session.context.stdout_is_terminal
}

fn applied(
    edit: &dyn Edit,
    merged: &Merged,
    snapshot: PathBuf,
    verdict: Verdict,
    were_shown: bool,
) -> Outcome {
    let mut outcome = outcome(edit, merged, Some(snapshot));
    outcome.applied = Applied::Yes;
    outcome.status = verdict.status;
    outcome.response = verdict.response;
    if let Some(profile) = &mut outcome.profile {
        profile.new_ids = verdict.new_ids;
        profile.were_shown = were_shown;
    }
    outcome
}

fn outcome(edit: &dyn Edit, merged: &Merged, snapshot: Option<PathBuf>) -> Outcome {
    let profile = ProfileOutcome {
        changes: merged.changes.clone(),
        were_shown: false,
        tally: merged.tally.clone(),
        snapshot,
        new_ids: Vec::new(),
    };
    Outcome { profile: Some(profile), ..Outcome::nothing_sent(edit.operation()) }
}
