//! Replacing a profile without losing an address, step by step:
//!
//! lock → read → merge → diff → guard → snapshot → PUT → verify → unlock
//!
//! Nothing that waits for people, other records or rate limits stands between the read and the PUT. On a terminal the lock is
//! not held while a person thinks: the change is shown and confirmed before, and once more where it came out differently
//! under the lock.

use std::time::Duration;

use tokio::time::Instant;

use super::Change;
use super::messages::{self, Doubt};
use super::preview::{Preview, dry_run, preview};
use super::read::Held;
use super::steps::Steps;
use super::verify::Sent;
use crate::client::service::Service;
use crate::client::{Attempt, Effect, pause};
use crate::report::outcome::Outcome;
use crate::state::stem;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Request;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::merge::Merged;

/// Runs all the steps.
///
/// # Errors
/// What each step refuses.
pub async fn replace(service: &Service<'_>, change: Change<'_>) -> Result<Outcome, Failure> {
    replace_or_back(service, change).await?.ok_or_else(Failure::cancelled)
}

/// The same; `None` where a person went back from the confirmation.
///
/// # Errors
/// As [`replace`].
pub async fn replace_or_back(service: &Service<'_>, change: Change<'_>) -> Result<Option<Outcome>, Failure> {
    let prompt = service.session.prompt();
    let mut steps = Steps::new(service, change, prompt.consent());
    if service.session.global.dry_run {
        return dry_run(&mut steps).await.map(Some);
    }
    let mut is_asked = prompt.is_attended();
    loop {
        if is_asked {
            match preview(&mut steps, &prompt).await? {
                Preview::Unchanged(outcome) => return Ok(Some(*outcome)),
                Preview::WentBack => return Ok(None),
                Preview::Agreed => {}
            }
        }
        match commit(&mut steps).await? {
            Commit::Done(outcome) => return Ok(Some(*outcome)),
            Commit::AskAgain => is_asked = true,
            Commit::ReadAgain => is_asked = false,
        }
    }
}

/// As old as this a read is no basis for a PUT.
const MAX_READ_AGE: Duration = Duration::from_secs(2);

/// How the steps under the lock end.
enum Commit {
    /// The profile is as it was to be, or had nothing to change.
    Done(Box<Outcome>),
    /// A person has to be asked first, which is not done under the lock.
    AskAgain,
    /// Nothing of the request was sent, or the read is too old for one.
    ReadAgain,
}

impl Commit {
    fn done(outcome: Outcome) -> Self {
        Self::Done(Box::new(outcome))
    }
}

/// The steps under the lock. Nobody is asked: there is no [`Prompt`](crate::prompt::Prompt) here.
async fn commit(steps: &mut Steps<'_>) -> Result<Commit, Failure> {
    let Some(held) = steps.look(true, was_accepted).await? else { return Ok(Commit::AskAgain) };
    if !held.is_readable && steps.answers.agreed.is_none() {
        steps.consent.given_to("Replace a profile that cannot be read?")?;
    }
    let service = held.service(steps.service);
    let begun = Instant::now();
    let proposal = steps.propose(&service, &held).await?;
    if begun.elapsed() > MAX_READ_AGE {
        // The shop was asked for regions, and made it wait.
        return Ok(Commit::ReadAgain);
    }
    let merged = &proposal.merged;
    if merged.changes.is_empty() {
        return Ok(Commit::done(steps.unchanged(&proposal)));
    }
    let request = steps.request(&service, &held.stored, merged)?;
    match &steps.answers.agreed {
        Some(agreed) if *agreed != merged.changes => {
            steps.service.session.report.status("the profile changed; here is the updated change");
            return Ok(Commit::AskAgain);
        }
        Some(_) => {}
        None => {
            steps.check_deletions(merged, None, steps.consent.is_given())?;
            steps.warn(merged);
        }
    }
    send(steps, &service, held, merged, &request).await
}

/// Whether a person has accepted a doubt; refused where nobody can be asked.
fn was_accepted(steps: &mut Steps<'_>, doubt: Doubt) -> Result<bool, Failure> {
    let was_accepted = steps.answers.accepted.contains(&doubt.refusal.message);
    if was_accepted || steps.consent.can_be_asked() { Ok(was_accepted) } else { Err(doubt.refusal) }
}

/// Takes a snapshot, sends the request once, and finds out what became of it.
async fn send(
    steps: &mut Steps<'_>,
    service: &Service<'_>,
    held: Held,
    merged: &Merged,
    request: &Request,
) -> Result<Commit, Failure> {
    let (operation, clock) = (steps.change.operation(), service.session.context.clock);
    let unsent = held.store.take(operation, held.stored.customer(), &merged.customer).await?;
    service.log_before_send(Some(stem(&unsent.path))).await?;
    let path = unsent.leaves();
    let sent_at = clock.now();
    let attempt = service.attempt(operation, request).await;
    let (store, settle) = (&held.store, steps.change.settle(service));
    let outcome =
        attempt.as_ref().map_or(WriteOutcome::NotSent, |attempt| attempt.outcome(sent_at, clock.now()));
    // What the reply to an applied one shows is looked at first.
    if !matches!(attempt, Ok(Attempt::Applied(_))) {
        store.set_outcome(&path, outcome, &[]);
    }
    let sent = Sent { service, settle, held: &held, merged, snapshot: &path, recent: &steps.recent, sent_at };
    let reported = || steps.sent(merged, &path).of(outcome);
    let (wait, unsent) = match attempt? {
        Attempt::Applied(reply) => return sent.verify(reply, reported()).await.map(Commit::done),
        Attempt::Unknown { failure, .. } => return sent.resolve(failure, reported()).await.map(Commit::done),
        Attempt::Rejected(failure) => {
            let refused = messages::refused(service, &held.stored, merged, failure);
            return Err(sent.look_after_refusal(refused).await);
        }
        unsent @ (Attempt::NotSent { .. } | Attempt::Throttled { .. }) => {
            let wait = service.delay(&steps.attempts, &unsent, Effect::Write);
            let failure = steps.attempts.fail(unsent);
            match wait {
                Some(wait) => (wait, failure),
                None => return Err(failure),
            }
        }
    };
    drop(held);
    pause(wait, || service.stopping.get()).await;
    // After a signal nothing is sent again.
    if service.stopping.get() { Err(unsent) } else { Ok(Commit::ReadAgain) }
}
