//! The results of each record and of the run: written down, counted, printed, and how to continue.

use std::pin::Pin;

use futures_util::FutureExt;
use futures_util::future::FusedFuture;

use super::{Run, Stop, stop_for};
use crate::batch::looks::Found;
use crate::batch::record::PreparedRecord;
use crate::batch::send::{Earlier, Job, JobResult, Position};
use crate::cli::hint::for_command;
use crate::client::runtime::Signals;
use crate::journal::write::WriteAhead;
use crate::journal::{Entry, State};
use crate::report::outcome::Outcome;
use crate::report::summary::{self, Failed, NextSteps};
use storefront_core::failure::{Applied, Failure, FailureKind, Persistence, RecordCounts};

impl Run<'_> {
    /// Writes down the result of a record.
    pub(super) fn record_result(&mut self, ended: JobResult) {
        let Some(job) = self.in_flight.remove(&ended.record) else { return };
        self.queue.release(job.key);
        if ended.was_stopped {
            return self.leave(&job);
        }
        match ended.result {
            Ok(outcome) => {
                let entry = Entry::new(job.position.location.line, job.position.hash, State::Done);
                self.journal.append(Entry { status: outcome.status, ..entry });
                self.pace.borrow_mut().on_success();
                self.in_a_row.end();
                match outcome.applied {
                    Applied::Yes => self.count.done += 1,
                    _ => self.count.unchanged += 1,
                }
                self.print(job.position, outcome);
            }
            Err(failure) => {
                self.note_failed(&job, &failure);
                let key = if job.token.is_ok() { job.key } else { job.input_key() };
                self.blocked.note(self.operation(), key, job.position.location, &failure, false);
                if ended.is_unauthorized {
                    self.request_stop(Stop::Unauthorized(failure.clone()));
                } else if self.shared.preparer.args.stop_on_error {
                    self.request_stop(Stop::OnError);
                }
                self.note_in_a_row(&failure);
                self.fail(job.position, Some(&job.prepared), &failure);
            }
        }
    }

    pub(super) fn note_failed(&self, job: &Job, failure: &Failure) {
        let Position { location, hash, .. } = job.position;
        self.journal.append(Entry::failed(location.line, hash, failure));
    }

    /// Refuses a record behind one that is unknown, or is to be sent again.
    pub(super) fn refuse_blocked(&mut self, job: &Job, failure: &Failure, waits_for_person: bool) {
        self.queue.release(job.key);
        if matches!(job.earlier, Some(Earlier::Unknown { .. })) {
            return self.leave(job);
        }
        self.count.waiting_for_unknown += u64::from(waits_for_person);
        self.note_failed(job, failure);
        self.fail(job.position, Some(&job.prepared), failure);
    }

    /// Refuses a record that cannot be sent.
    pub(super) fn invalid(&mut self, position: Position, failure: &Failure) {
        let Position { location, hash, .. } = position;
        self.journal.append(Entry::failed(location.line, hash, failure));
        self.fail(position, None, failure);
        if !self.shared.preparer.args.skip_invalid || self.shared.preparer.args.stop_on_error {
            self.request_stop(Stop::OnError);
        }
    }

    /// Counts and prints a record that failed.
    pub(super) fn fail(&mut self, position: Position, prepared: Option<&PreparedRecord>, failure: &Failure) {
        self.count.is_partly_applied |= matches!(failure.applied, Applied::Yes | Applied::Partial);
        match State::after(failure) {
            State::Unknown => self.count.unknown += 1,
            State::Mismatch => self.count.mismatch += 1,
            State::FailedTemporary => {
                self.count.temporary += 1;
                let is_refused = failure.persistence == Persistence::Permanent
                    || matches!(failure.status, Some(400..=428 | 430..=499));
                self.count.refused_in_part += u64::from(is_refused && failure.applied == Applied::Partial);
            }
            _ => {
                self.count.failed += 1;
                let Failed { at_fault, of_shop } = &mut self.failed;
                let lines = if failure.is_of_shop() { of_shop } else { at_fault };
                lines.add(position.location);
            }
        }
        let mut shown = failure.clone();
        shown.hint = shown.hint.map(|hint| match prepared {
            Some(prepared) => prepared.hint(hint, self.shared.global),
            None => for_command(hint, self.shared.global),
        });
        let is_in_part = failure.applied == Applied::Partial;
        let state = if is_in_part { "applied in part" } else { State::after(failure).name() };
        self.tell(position, state, Some(&shown));
        let text = self.results.failure(position.location, self.operation().name, &shown);
        let printed = self.results.push(position.location.record, text);
        self.stop_if_broken(printed);
    }

    fn print(&mut self, position: Position, outcome: Outcome) {
        self.tell(position, outcome.reason.unwrap_or(State::Done.name()), None);
        let text = self.results.outcome(position.location, outcome, false);
        let printed = self.results.push(position.location.record, text);
        self.stop_if_broken(printed);
    }

    /// Counts and prints a record that is done: according to an earlier run, or to a look, which is then noted.
    pub(super) fn done(&mut self, position: Position, status: u16) {
        match self.input.looks.remove(&position.location.line).map(|looked| looked.found) {
            Some(Found::Done(outcome)) => {
                let entry = Entry::new(position.location.line, position.hash, State::Done);
                self.journal.append(Entry { status: outcome.status, ..entry });
                self.count.done += 1;
                self.print(position, *outcome);
            }
            _ => self.print_done(position, status),
        }
    }

    /// Counts and prints a record that an earlier run has done.
    pub(super) fn print_done(&mut self, position: Position, status: u16) {
        self.count.done_earlier += 1;
        let status = Some(status).filter(|status| *status > 0);
        let outcome = Outcome { status, ..Outcome::done_earlier(self.operation().name) };
        self.print(position, outcome);
    }

    /// Counts and prints a record that was not sent.
    pub(super) fn print_not_sent(&mut self, position: Position) {
        self.count.not_sent += 1;
        let outcome = Outcome { reason: Some("not sent"), ..Outcome::not_sent(self.operation().name) };
        self.print(position, outcome);
    }

    /// Records that were in flight at a second signal: if they may have been sent, their outcome is unknown.
    pub(super) fn abandon(&mut self) {
        for job in std::mem::take(&mut self.in_flight).into_values() {
            // The journal ends when nothing is queued any more.
            self.queue.release(job.key);
            if !job.write_ahead.as_ref().is_some_and(WriteAhead::has_passed) {
                self.leave(&job);
                continue;
            }
            let failure = Failure::new(
                FailureKind::Unknown,
                "interrupted while the request was in flight: it may have been applied",
            )
            .hint(self.input.next.for_unknown());
            self.note_failed(&job, &failure);
            self.fail(job.position, Some(&job.prepared), &failure);
        }
    }

    /// A record of which nothing left keeps its earlier state.
    pub(super) fn leave(&mut self, job: &Job) {
        match &job.earlier {
            Some(Earlier::Unknown { failure }) => self.fail(job.position, Some(&job.prepared), failure),
            Some(Earlier::Partial(created)) => {
                let message = "an earlier run applied it in part, and what is missing was not sent";
                let failure = Failure::new(FailureKind::Partial, message).applied(Applied::Partial);
                let failure = Failure { created: *created, ..failure.lasting(Persistence::Temporary) };
                self.fail(job.position, Some(&job.prepared), &failure);
            }
            None => self.print_not_sent(job.position),
        }
    }

    /// After the run has stopped, the rest of the input is reported, and not sent. A signal ends that.
    async fn print_the_rest(&mut self, signals: &mut Signals) {
        // A failure to read or print here does not replace the reason to stop.
        while !self.results.is_closed()
            && let Ok(Some(record)) = self.input.reader.read()
        {
            let number = record.number;
            self.admit(&record);
            // A signal is only noticed when the runtime gets its turn.
            if number % 256 == 0 {
                tokio::task::yield_now().await;
                if signals.next().now_or_never().is_some() {
                    break;
                }
            }
        }
    }

    /// Closes the files, and reports the result of the records and the next command.
    pub(super) async fn finish(
        mut self,
        signals: &mut Signals,
        mut writer: Pin<&mut impl FusedFuture<Output = Result<(), Failure>>>,
    ) -> Result<(), Failure> {
        self.note_unanswered();
        self.tokens.clear();
        let mut left: Vec<Job> = std::mem::take(&mut self.waiting).into();
        while let Some(job) = self.queue.pop() {
            self.queue.release(job.key);
            left.push(job);
        }
        if self.stop.is_some() && !self.results.is_closed() {
            for job in &left {
                self.leave(job);
            }
            self.print_the_rest(signals).await;
        }
        let printed = self.results.close();
        let Self { journal, shared, count, failed, mut progress, input, mut stop, .. } = self;
        // Nobody can append any more, so the writer ends.
        drop((journal, left));
        let written = if writer.is_terminated() { None } else { Some(writer.as_mut().await) };
        for done in [written.unwrap_or(Ok(())), printed] {
            if let Err(failure) = done {
                stop_for(&mut stop, Stop::Broken(failure));
            }
        }
        let took = progress.finish();
        let not_sent = count.not_sent + input.records.saturating_sub(count.total());
        let count = RecordCounts { not_sent, ..count };
        let report = shared.service.session.report;
        report.status(&summary::sentence(shared.preparer.operation.spec().name, count, took));
        verdict(stop, count, &failed, &input.next)
            .map_err(|failure| Failure { records: Some(count.into()), ..failure })
    }
}

/// The result of a run.
fn verdict(
    stop: Option<Stop>,
    count: RecordCounts,
    failed: &Failed,
    next: &NextSteps,
) -> Result<(), Failure> {
    let kind = summary::kind(count);
    let stopped = |of, why: &str| match kind {
        Some(_) => Failure::new(of, format!("{why}: {}", summary::unsuccessful(count))),
        None => Failure::new(of, format!("{why} after the last record")),
    };
    let unavailable = kind.unwrap_or(FailureKind::Unavailable);
    let failure = match (stop, kind) {
        (None | Some(Stop::OnError), None) => return Ok(()),
        (None | Some(Stop::OnError), Some(kind)) => Failure::new(kind, summary::unsuccessful(count)),
        (Some(Stop::Interrupted), _) => stopped(FailureKind::Interrupted, "interrupted"),
        (Some(Stop::Because(why)), _) => stopped(unavailable, &format!("stopped because {why}")),
        (Some(Stop::Unauthorized(failure)), None | Some(FailureKind::Unavailable)) => {
            Failure { kind: FailureKind::Auth, ..failure }
        }
        // Nothing else has failed.
        (Some(Stop::Forbidden(failure, in_a_row)), _)
            if count.failed <= in_a_row && count.refused_in_part + count.unknown + count.mismatch == 0 =>
        {
            Failure { kind: FailureKind::Auth, ..failure }
        }
        (Some(Stop::NotTheService(failure)), None | Some(FailureKind::Unavailable)) => {
            let is_refused = failure.is_misdirected && failure.kind == FailureKind::Refused;
            let kind = if is_refused { FailureKind::Refused } else { FailureKind::Unavailable };
            Failure { kind, ..failure }
        }
        (
            Some(Stop::Unauthorized(failure) | Stop::Forbidden(failure, _) | Stop::NotTheService(failure)),
            kind,
        ) => Failure { kind: kind.unwrap_or(failure.kind), ..failure },
        (Some(Stop::Broken(failure)), _) => {
            // These two say that nothing was written.
            let is_before = matches!(failure.kind, FailureKind::Guard | FailureKind::Usage);
            let is_late = is_before && count.applied() != Applied::No;
            let kind = if is_late { FailureKind::Internal } else { failure.kind };
            Failure { kind, ..failure }
        }
    };
    let first = failure.hint.clone().map(|hint| hint.and("; ")).unwrap_or_default();
    if kind.is_none() && matches!(failure.kind, FailureKind::Interrupted) {
        return Err(Failure { applied: count.applied(), ..failure });
    }
    let hint = Some(first.and(summary::hint(count, failed, next)));
    Err(Failure { applied: count.applied(), hint, ..failure })
}
