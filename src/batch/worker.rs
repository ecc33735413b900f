//! One record in flight. It is performed once: what may be repeated is repeated inside the client.

use std::rc::Rc;

use super::run_token::RunToken;
use super::token_locks::{TokenLocks, Turn};
use crate::batch::customer_name::CustomerName;
use crate::batch::prepare::PreparedRecord;
use crate::batch::record_token::TokenSource;
use crate::cli::GlobalArgs;
use crate::failure::{Applied, Failure, FailureKind};
use crate::journal::replay::HalfDone;
use crate::journal::write_ahead::{RecordWriteAhead, WriteAhead};
use crate::ops::customers;
use crate::ops::record::RecordOperation;
use crate::redact::{Masked, secrets};
use crate::report::ordered_results::RecordLocation;
use crate::report::outcome::Outcome;
use crate::session::Session;
use crate::session::service::Service;

/// A record that is to be run.
#[derive(Debug)]
pub struct Job {
    /// Its turn among the results.
    pub sequence: u64,
    /// Where it stands.
    pub location: RecordLocation,
    /// Its hash in the journal.
    pub hash: u64,
    /// What it replaces, as far as that is known before it begins: it may hold up later records of this key.
    pub key: u64,
    /// What is sent.
    pub prepared: PreparedRecord,
    /// How it stands in the input; kept where it may be given back.
    pub content: Option<crate::input::records::Content>,
    /// What an earlier run left unknown about it.
    pub unresolved: Option<Box<Unresolved>>,
    /// What an earlier run left half done of it.
    pub half_done: Option<HalfDone>,
}

/// A record that an earlier run sent, with unknown outcome.
#[derive(Debug, Clone)]
pub struct Unresolved {
    /// What is reported as long as it stays unknown.
    pub failure: Failure,
    /// The snapshot taken before it was sent.
    pub snapshot: Option<String>,
    /// Whether it is sent again when nothing can be found out.
    pub retry: bool,
}

/// A record that has ended.
#[derive(Debug)]
pub struct JobResult {
    /// Its turn among the results.
    pub sequence: u64,
    /// What became of it.
    pub result: Result<Outcome, Failure>,
    /// Whether nothing was sent now: the outcome is that of an earlier run.
    pub was_left: bool,
    /// Whether the run stopped while it waited for its turn: it is as if it had not begun.
    pub was_not_begun: bool,
    /// Whether the service refuses the batch's own token.
    pub is_unauthorized: bool,
    /// Keeps the record's own token masked until its report is written.
    pub masked: Option<Masked>,
}

/// What all records of a run share.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// The flags, with every question answered.
    pub global: &'a GlobalArgs,
    /// What is done.
    pub operation: RecordOperation<'a>,
    /// The batch's own token.
    pub run_token: &'a RunToken,
    /// The administrator's, of records that name a customer.
    pub admin_run_token: &'a RunToken,
    /// Where tokens are printed one by one and are what keeps records apart.
    pub token_locks: Option<&'a TokenLocks>,
}

impl<'a> RunContext<'a> {
    /// Runs one record to its end; `gate` is its part of the journal, none where nothing is sent.
    pub fn run<'g>(
        self,
        task: Box<Job>,
        gate: Option<Rc<RecordWriteAhead<'g>>>,
    ) -> impl Future<Output = JobResult> + use<'a, 'g> {
        // Records begin in the order of the input, and may be polled in another.
        let turn = self.token_locks.map(|locks| locks.begin(task.location.record));
        self.run_in_turn(task, gate, turn)
    }

    async fn run_in_turn(
        self,
        task: Box<Job>,
        gate: Option<Rc<RecordWriteAhead<'_>>>,
        turn: Option<Turn<'_>>,
    ) -> JobResult {
        let (sequence, unresolved, half_done) = (task.sequence, task.unresolved.clone(), task.half_done);
        let mut ended = JobResult {
            sequence,
            result: Err(Failure::internal("the record was not run")),
            was_left: false,
            was_not_begun: false,
            is_unauthorized: false,
            masked: None,
        };
        let result = self.result(task, gate, turn, &mut ended).await;
        ended.result = result
            .map_err(|failure| half_done_still(unresolved_again(failure, unresolved.as_deref()), half_done));
        ended
    }

    async fn result(
        self,
        task: Box<Job>,
        gate: Option<Rc<RecordWriteAhead<'_>>>,
        turn: Option<Turn<'_>>,
        ended: &mut JobResult,
    ) -> Result<Outcome, Failure> {
        let Job { location: place, key: input_key, prepared, unresolved, half_done, .. } = *task;
        let operation = self.operation.operation();
        let report = self.service.session.report.for_record(place.record);
        let session = Session { report: &report, global: self.global, ..*self.service.session };
        let write_ahead = gate.as_deref().map(|gate| gate as &dyn WriteAhead);
        let customer = prepared.customer.as_ref().map(CustomerName::text);
        let run_token = if customer.is_some() { self.admin_run_token } else { self.run_token };
        let is_run_token = prepared.token_source == TokenSource::Shared;
        let token = prepared.token_source.token().await.inspect_err(|failure| {
            // Noted while later records still wait for their turn.
            if let Some(locks) = self.token_locks {
                let failure = unresolved_again(failure.clone(), unresolved.as_deref());
                locks.blocked.note(operation, input_key, place.record, &half_done_still(failure, half_done));
            }
        });
        let mut token = match token? {
            None => run_token.renewed(),
            own => own,
        };
        ended.masked = token.as_ref().map(|token| secrets().add_while(token));
        let own_key =
            token.as_ref().zip(self.token_locks).map(|(token, locks)| (locks, TokenLocks::key(token)));
        let _alone = match (turn, own_key) {
            (Some(turn), Some((_, key))) => Some(turn.lock(key).await),
            _ => None,
        };
        if own_key.is_some_and(|(locks, _)| locks.is_closed()) {
            ended.was_not_begun = true;
            return Err(Failure::internal("the run stopped before the record's turn"));
        }
        let run = async {
            if let Some(unresolved) = &unresolved {
                let service = self.service.for_record(&session, token.clone(), None);
                let snapshot = unresolved.snapshot.as_deref();
                // Where the customer cannot be found now, nothing can be found out.
                if let Ok(service) = customers::select(&service, customer.as_deref())
                    && let Some(found) =
                        Box::pin(self.operation.resolve_unknown(&service, &prepared.body, snapshot)).await
                {
                    return Ok(found);
                }
                if !unresolved.retry {
                    ended.was_left = true;
                    return Err(unresolved.failure.clone());
                }
            }
            if let Some(refusal) = own_key.and_then(|(locks, key)| {
                [key, input_key]
                    .into_iter()
                    .find_map(|key| locks.blocked.refusal(operation, key, place.record))
            }) {
                return Err(refusal);
            }
            loop {
                let service = self.service.for_record(&session, token.clone(), write_ahead);
                let performed = match customers::select(&service, customer.as_deref()) {
                    Ok(service) => {
                        let cart = half_done.and_then(|half| half.cart);
                        Box::pin(self.operation.perform(&service, &prepared.body, cart)).await
                    }
                    Err(failure) => Err(failure),
                };
                let failure = match performed {
                    Err(failure) if is_run_token && is_unauthorized(&failure) => failure,
                    // What was applied before is kept; the rest would be refused as well.
                    Err(failure) if is_run_token && is_unauthorized_half_way(&failure) => {
                        ended.is_unauthorized = true;
                        return Err(failure);
                    }
                    done => return done,
                };
                // A refused token means that nothing was applied: the record may be performed with another.
                let Ok(Some(renewed)) = run_token.after(token.as_ref()).await else {
                    ended.is_unauthorized = true;
                    return Err(failure);
                };
                ended.masked = Some(secrets().add_while(&renewed));
                token = Some(renewed);
            }
        };
        let done = run.await;
        // Noted while the lock is held.
        if let (Err(failure), Some((locks, key))) = (&done, own_key) {
            let failure = unresolved_again(failure.clone(), unresolved.as_deref());
            let failure = half_done_still(failure, half_done);
            locks.blocked.note(operation, key, place.record, &failure);
        }
        done
    }
}

/// A record that an earlier run may have applied is not known to be unapplied because it could not be sent again: it stays
/// unknown.
fn unresolved_again(failure: Failure, unresolved: Option<&Unresolved>) -> Failure {
    match unresolved {
        Some(Unresolved { failure: earlier, .. }) if failure.applied == Applied::No => Failure {
            kind: FailureKind::Unknown,
            applied: Applied::Unknown,
            message: format!("{}; sending it again: {}", earlier.message, failure.message),
            hint: earlier.hint.clone(),
            ..failure
        },
        _ => failure,
    }
}

/// A record of which an earlier run made one of two calls is not unapplied because nothing of it was applied now.
pub fn half_done_still(failure: Failure, half_done: Option<HalfDone>) -> Failure {
    match half_done {
        Some(HalfDone { cart }) if failure.applied == Applied::No => Failure {
            kind: match failure.kind {
                FailureKind::Interrupted => FailureKind::Interrupted,
                _ => FailureKind::Partial,
            },
            applied: Applied::Partial,
            message: format!(
                "an earlier run saved the shipping information, and not the payment; now: {}",
                failure.message
            ),
            cart,
            ..failure
        },
        _ => failure,
    }
}

fn is_unauthorized(failure: &Failure) -> bool {
    failure.status == Some(401) && failure.applied == Applied::No
}

/// The token was refused for the second of two calls.
fn is_unauthorized_half_way(failure: &Failure) -> bool {
    failure.status == Some(401) && failure.applied == Applied::Partial
}
