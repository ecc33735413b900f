//! Replacing a profile without losing an address, step by step:
//!
//! lock → read → merge → diff → guard → log → PUT → verify → unlock
//!
//! If addresses are only removed, [`super::remove`] makes a call for each in place of the PUT.
//!
//! Nothing waits for people, other records or rate limits between the read and the PUT. On a terminal the lock is not
//! held while a person thinks: the change is shown and confirmed before, and again if it comes out differently under the
//! lock.

use std::time::Duration;

use tokio::time::Instant;

use super::ProfileChange;
use super::messages::Doubt;
use super::owner::Replaced;
use super::preview::{dry_run, preview};
use super::read::LoadedProfile;
use super::remove::{Dispatch, remove};
use super::steps::{Next, Steps};
use crate::client::pause;
use crate::client::service::Service;
use crate::log::Document;
use crate::ops::{PATIENCE, PAUSE};
use crate::report::outcome::Outcome;
use crate::write::{Ended, Place, gate, send_once};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::profile::merge::Merged;

/// Runs all the steps.
///
/// # Errors
/// What each step refuses.
pub async fn replace(service: &Service<'_>, change: ProfileChange<'_>) -> Result<Outcome, Failure> {
    replace_or_back(service, change).await?.ok_or_else(Failure::cancelled)
}

/// Runs all the steps; `None` if a person went back from the confirmation.
///
/// # Errors
/// As [`replace`].
pub async fn replace_or_back(
    service: &Service<'_>,
    change: ProfileChange<'_>,
) -> Result<Option<Outcome>, Failure> {
    let prompt = service.session.prompt();
    let mut steps = Steps::new(service, change, prompt.unasked());
    if service.session.global.dry_run {
        return dry_run(&mut steps).await.map(Some);
    }
    let mut next = if prompt.is_attended() { Next::Preview } else { Next::Commit };
    loop {
        next = match next {
            Next::Preview => preview(&mut steps, &prompt).await?,
            Next::Commit => commit(&mut steps).await?,
            Next::Done(outcome) => return Ok(Some(*outcome)),
            Next::WentBack => return Ok(None),
        };
    }
}

/// The change that would be sent; nothing is sent.
///
/// # Errors
/// As [`replace`].
pub async fn shown(service: &Service<'_>, change: ProfileChange<'_>) -> Result<Merged, Failure> {
    let mut steps = Steps::new(service, change, service.session.prompt().unasked());
    let Some(loaded) = steps.read(|_, doubt| Err(doubt.refusal)).await? else {
        return Err(Failure::cancelled());
    };
    Ok(steps.propose(&loaded.service(service), &loaded).await?.merged)
}

/// The steps under the lock. Nobody is asked: there is no [`Prompt`](crate::prompt::Prompt) here.
async fn commit(steps: &mut Steps<'_>) -> Result<Next, Failure> {
    let Some(loaded) = steps.lock(was_accepted).await? else { return Ok(Next::Preview) };
    if !loaded.is_readable && steps.answers.agreed.is_none() {
        steps.unasked.given_to("Replace a profile that cannot be read?")?;
    }
    let service = loaded.service(steps.service);
    let proposal = steps.propose(&service, &loaded).await?;
    if loaded.is_old() {
        // The shop was asked for regions or custom attributes, and was slow.
        return Ok(Next::Commit);
    }
    let merged = &proposal.merged;
    if merged.changes.is_empty() {
        return Ok(Next::done(steps.unchanged(&proposal)));
    }
    let dispatch = steps.dispatch(&service, &loaded, merged)?;
    match &steps.answers.agreed {
        Some(agreed) if *agreed != merged.changes => {
            steps.service.session.report.status("the profile changed; here is the updated change");
            return Ok(Next::Preview);
        }
        Some(_) => {}
        None => {
            steps.check_deletions(merged, None, steps.unasked.is_given())?;
            steps.warn(merged);
        }
    }
    Box::pin(send(steps, &service, loaded, merged, dispatch)).await
}

/// Whether a person has accepted a doubt; it is refused if nobody can be asked.
fn was_accepted(steps: &mut Steps<'_>, doubt: Doubt) -> Result<bool, Failure> {
    let was_accepted = steps.answers.accepted.contains(&doubt.refusal.message);
    if was_accepted || steps.unasked.can_be_asked() { Ok(was_accepted) } else { Err(doubt.refusal) }
}

/// How a PUT ends.
enum Put {
    /// It was applied.
    Applied(Box<Outcome>),
    /// The service applied nothing of it, and it may be sent again after this time.
    Again(Duration, Box<Failure>),
}

/// Puts the replacement into the log, sends it, and finds out what became of it. All of that is in the log before the
/// customer's lock is released.
async fn send(
    steps: &mut Steps<'_>,
    service: &Service<'_>,
    loaded: LoadedProfile,
    merged: &Merged,
    dispatch: Dispatch,
) -> Result<Next, Failure> {
    let store = loaded.store.clone();
    let sent = send_locked(steps, service, &loaded, merged, dispatch).await;
    store.flush().await;
    drop(loaded);
    match sent? {
        Put::Applied(outcome) => Ok(Next::Done(outcome)),
        Put::Again(wait, unsent) => {
            pause(wait, || service.stopping.get()).await;
            // After a signal nothing is sent again.
            if service.stopping.get() { Err(*unsent) } else { Ok(Next::Commit) }
        }
    }
}

async fn send_locked(
    steps: &mut Steps<'_>,
    service: &Service<'_>,
    loaded: &LoadedProfile,
    merged: &Merged,
    mut dispatch: Dispatch,
) -> Result<Put, Failure> {
    let operation = steps.change.operation();
    let whole = Document { stored: loaded.stored.customer().clone(), sent: merged.customer.clone() };
    if let Err(failure) = gate(service, operation, dispatch.calls(), Some(whole)).await {
        return start_again(steps, failure);
    }
    if loaded.is_old() {
        // Dropping the calls notes that nothing has left.
        return start_again(steps, too_late());
    }
    let place = dispatch.calls().first().and_then(|call| call.place.as_ref());
    let Some(write) = place.map(Place::name) else { return start_again(steps, too_late()) };
    let reported = steps.sent(merged, write);
    let owner = Replaced::new(service, loaded, merged, write, &steps.recent);
    let call = match dispatch {
        Dispatch::Put(call) => call,
        Dispatch::Removals(removals) => {
            let removed = remove(operation, &owner, removals, reported).await;
            return removed.map(|outcome| Put::Applied(Box::new(outcome)));
        }
    };
    let ended = match send_once(service, operation, &owner, *call, &mut steps.attempts).await {
        Ok(Ended::Again(wait, unsent)) => return Ok(Put::Again(wait, unsent)),
        Ok(Ended::Written(written)) => Ok(*written),
        Err(failure) => Err(failure),
    };
    let new_ids = owner.keep(ended.as_ref().err());
    let written = ended?;
    let mut outcome = Outcome {
        applied: Applied::Yes,
        verified: Some(written.verified),
        status: written.status,
        response: written.reply.map(|reply| reply.value),
        ..reported
    };
    if let Some(profile) = &mut outcome.profile {
        profile.new_ids = new_ids;
    }
    Ok(Put::Applied(Box::new(outcome)))
}

/// Starts the steps again for a while if the log was busy: nothing has left, and the read is old.
fn start_again(steps: &mut Steps<'_>, failure: Failure) -> Result<Put, Failure> {
    let since = *steps.log_busy_since.get_or_insert_with(Instant::now);
    if failure.kind == FailureKind::Unavailable && since.elapsed() < PATIENCE {
        Ok(Put::Again(PAUSE, Box::new(failure)))
    } else {
        Err(failure)
    }
}

/// The failure if another process or the disk held up the log until the read was too old.
fn too_late() -> Failure {
    Failure::new(FailureKind::Unavailable, "the log of this machine was busy for too long")
        .hint("try again")
        .applied(Applied::No)
}
