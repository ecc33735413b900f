//! One record in flight. It is performed once, and once more with a new token if its token was refused; requests are repeated inside
//! the client only.

use std::cell::RefCell;
use std::rc::Rc;

use crate::batch::pace::Pace;
use crate::batch::queue::Blocked;
use crate::batch::record::{PreparedRecord, RecordPreparer, SENDING_AGAIN};
use crate::batch::token::{RecordToken, RunToken};
use crate::cli::GlobalArgs;
use crate::client::Session;
use crate::client::service::{CallToken, Service};
use crate::journal::write::WriteAhead;
use crate::ops::{self, customers};
use crate::report::ordered_results::RecordLocation;
use crate::report::outcome::Outcome;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::HintCommand;
use storefront_core::text::hash::fnv1a;
use storefront_core::text::redact::{Masked, secrets};
use storefront_core::text::token::Credential;

/// Where a record is, and its content.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// Its place in the input.
    pub location: RecordLocation,
    /// Its hash in the journal.
    pub hash: u64,
}

/// A record that is to be run.
#[derive(Debug)]
pub struct Job {
    /// Its place.
    pub position: Position,
    /// The hash of what it replaces: records with one key run one after another.
    pub key: u64,
    /// What is sent.
    pub prepared: PreparedRecord,
    /// Its own token, or why it could not be had.
    pub token: Result<Option<Credential>, Failure>,
    /// What an earlier run left of it.
    pub earlier: Option<Earlier>,
    /// Its part of the journal; `None` if nothing is sent.
    pub write_ahead: Option<WriteAhead>,
}

impl Job {
    /// The hash of what it replaces, without its token.
    pub fn input_key(&self) -> u64 {
        fnv1a(self.prepared.key.as_bytes())
    }
}

/// What an earlier run left of a record that is run.
#[derive(Debug)]
pub enum Earlier {
    /// It was sent, with unknown outcome.
    Unknown {
        /// The failure to report as long as it stays unknown.
        failure: Box<Failure>,
    },
    /// The first of its calls was applied; with the attribute that it created, if known.
    Partial(Option<u64>),
}

/// A record that has ended.
#[derive(Debug)]
pub struct JobResult {
    /// Its number in the input.
    pub record: u64,
    /// What became of it.
    pub result: Result<Outcome, Failure>,
    /// Whether a signal ended it before anything of it left.
    pub was_stopped: bool,
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
    /// How the records are prepared.
    pub preparer: &'a RecordPreparer<'a>,
    /// The batch's own token.
    pub run_token: &'a RunToken,
    /// The administrator's, of records that name a customer.
    pub admin_run_token: &'a RunToken,
    /// How many are in flight, and when the next may start.
    pub pace: &'a RefCell<Pace>,
}

impl RunContext<'_> {
    /// Why a record is not sent, if an earlier one with its key holds it up, and whether that waits for a person.
    pub fn refusal(&self, blocked: &Blocked, job: &Job, resume: &HintCommand) -> Option<(Failure, bool)> {
        let operation = self.preparer.operation.spec();
        let place = self.preparer.origin.source().place();
        let find = |key| blocked.refusal(operation, key, job.position.location, place, resume);
        let failure = find(job.key).or_else(|| find(job.input_key()))?;
        let waits_for_person = failure.kind == FailureKind::Guard;
        Some((with_earlier(failure, job.earlier.as_ref()), waits_for_person))
    }

    /// Runs one record to its end.
    pub async fn run(self, job: Rc<Job>) -> JobResult {
        let mut ended = JobResult {
            record: job.position.location.record,
            result: Err(Failure::internal("the record was not run")),
            was_stopped: false,
            is_unauthorized: false,
            masked: None,
        };
        let result = self.result(&job, &mut ended).await;
        let has_left = job.write_ahead.as_ref().is_none_or(WriteAhead::has_passed);
        let is_interrupted =
            |failure: &Failure| failure.kind == FailureKind::Interrupted && failure.applied == Applied::No;
        ended.was_stopped = !has_left && result.as_ref().is_err_and(is_interrupted);
        // The first of several calls may have been applied all the same.
        let is_one_call = self.preparer.operation.spec().is_one_call;
        let is_excluded = is_one_call && self.preparer.args.excludes(job.position.location.line);
        let earlier =
            job.earlier.as_ref().filter(|it| !(is_excluded && matches!(it, Earlier::Unknown { .. })));
        ended.result = result.map_err(|failure| with_earlier(failure, earlier));
        ended
    }

    async fn result(self, job: &Job, ended: &mut JobResult) -> Result<Outcome, Failure> {
        let report = self.service.session.report.for_line(Some(job.position.location.line));
        let session = Session { report: &report, global: self.global, ..*self.service.session };
        let token = match job.token.clone()? {
            None => {
                let run_token = self.run_token(&job.prepared);
                self.service.unless_stopped(async { Ok(run_token.renewed().await) }).await?
            }
            own => own,
        };
        ended.masked = token.as_ref().map(|token| secrets().add_while(token));
        let created = match &job.earlier {
            Some(Earlier::Partial(known)) => *known,
            Some(Earlier::Unknown { .. }) | None => None,
        };
        self.perform(job, &session, token, created, ended).await
    }

    /// The run's token for a record without its own.
    pub(super) fn run_token(&self, prepared: &PreparedRecord) -> &RunToken {
        if prepared.customer.is_some() { self.admin_run_token } else { self.run_token }
    }

    /// Performs the record. If the run's token is refused and nothing was applied, it is performed again with a renewed
    /// token.
    async fn perform(
        self,
        job: &Job,
        session: &Session<'_>,
        mut token: Option<Credential>,
        created: Option<u64>,
        ended: &mut JobResult,
    ) -> Result<Outcome, Failure> {
        let operation = self.preparer.operation;
        let source = &job.prepared.token_source;
        loop {
            let own = call_token(token.as_ref(), source);
            let service = of_record(self.service, session, own, job.write_ahead.as_ref());
            let performed = match customers::select(&service, job.prepared.customer.as_deref()) {
                Ok(service) => {
                    let running = ops::run(operation, &service, &job.prepared.draft, created);
                    service.unless_stopped(running).await
                }
                Err(failure) => Err(failure),
            };
            // A page under 401 says nothing about the token.
            let is_refused = |failure: &Failure| failure.status == Some(401) && !failure.is_no_answer;
            let failure = match (performed, source) {
                (Err(failure), RecordToken::Shared) if is_refused(&failure) => failure,
                // Only another token in the input helps.
                (Err(failure), RecordToken::Given(_)) if is_refused(&failure) => {
                    return Err(failure.for_good());
                }
                (done, _) => return done,
            };
            let renewed = self.run_token(&job.prepared).after(token.as_ref()).await.ok().flatten();
            ended.is_unauthorized = renewed.is_none();
            if renewed.is_none() || failure.applied != Applied::No {
                return Err(failure);
            }
            token = renewed;
            ended.masked = token.as_ref().map(|token| secrets().add_while(token));
        }
    }
}

/// Keeps what an earlier run did: what may have been applied stays unknown, and what was applied in part stays so,
/// whatever fails now.
fn with_earlier(failure: Failure, earlier: Option<&Earlier>) -> Failure {
    match earlier {
        Some(Earlier::Unknown { failure: before }) if failure.applied == Applied::No => Failure {
            kind: FailureKind::Unknown,
            applied: Applied::Unknown,
            message: format!("{}{SENDING_AGAIN}{}", before.message, failure.message),
            hint: failure.hint.or_else(|| before.hint.clone()),
            ..failure
        },
        Some(Earlier::Partial(created)) if failure.applied == Applied::No => Failure {
            kind: match failure.kind {
                FailureKind::Interrupted => FailureKind::Interrupted,
                _ => FailureKind::Partial,
            },
            applied: Applied::Partial,
            message: format!("an earlier run was applied in part; now: {}", failure.message),
            created: *created,
            ..failure
        },
        _ => failure,
    }
}

/// The token of a record's calls, by its source.
pub(super) fn call_token(token: Option<&Credential>, source: &RecordToken) -> CallToken {
    match (token.cloned().map(Rc::new), source) {
        (None, _) => CallToken::OfSettings,
        (Some(token), RecordToken::Shared) => CallToken::OfRun(token),
        (Some(token), _) => CallToken::OfRecord(token),
    }
}

/// The service for one record.
pub(super) fn of_record<'a>(
    service: &Service<'a>,
    session: &'a Session<'a>,
    token: CallToken,
    write_ahead: Option<&'a WriteAhead>,
) -> Service<'a> {
    Service { session, token, stage: Rc::default(), write_ahead, ..service.clone() }
}
