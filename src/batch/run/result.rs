//! What became of a record that was run: written down, counted, printed.

use futures_util::FutureExt;

use super::{Dispatcher, InFlight, Job, JobResult, Stop, half_done_still};
use crate::batch::command_line;
use crate::failure::{Applied, Failure, FailureKind};
use crate::input::records::Content;
use crate::journal::{RecordState, state_after};
use crate::report::ordered_results::RecordLocation;
use crate::report::outcome::Outcome;
use crate::report::summary::{self, NextSteps};
use crate::session::runtime::Signals;

impl Dispatcher<'_> {
    /// Writes down what became of a record.
    pub(super) fn record_result(&mut self, ended: JobResult) {
        let Some(begun) = self.in_flight.remove(&ended.sequence) else { return };
        if ended.was_not_begun {
            return self.leave(ended.sequence, begun);
        }
        let InFlight { key, queue_key, place, hash, content, gate, unresolved } = begun;
        let settled = match ended.result {
            Ok(outcome) => {
                self.journal.done(place.record, hash, outcome.status);
                self.throttle.borrow_mut().on_success();
                self.count.done += 1;
                self.queue.release(queue_key);
                let text = self.results.outcome(place, &outcome, false);
                self.results.push(ended.sequence, text)
            }
            Err(failure) => {
                self.queue.release(queue_key);
                if !ended.was_left {
                    // Where it was not sent again, the snapshot of the earlier run still has what it asked for.
                    let snapshot =
                        gate.snapshot().or_else(|| unresolved.and_then(|earlier| earlier.snapshot));
                    let state = state_after(&failure);
                    self.journal.failed(place.record, hash, state, &failure, snapshot.as_deref());
                }
                self.block(key, place, &failure);
                if ended.is_unauthorized {
                    self.request_stop(Stop::Unauthorized(failure.clone()));
                } else if self.input.args.stop_on_error && !ended.was_left {
                    self.request_stop(Stop::OnError);
                }
                self.fail(ended.sequence, place, content.as_ref(), &failure)
            }
        };
        self.stop_if_broken(settled);
    }

    /// Takes note of a failed record that may hold up later ones of its key.
    pub(super) fn block(&self, key: u64, place: RecordLocation, failure: &Failure) {
        self.blocked.note(self.input.preparer.operation.operation(), key, place.record, failure);
    }

    /// A record behind one that is unknown, or is to be sent again.
    pub(super) fn refuse_blocked(&mut self, queue_key: u64, task: Job, failure: Failure) {
        self.queue.release(queue_key);
        if let Some(unresolved) = task.unresolved {
            let settled = self.fail(task.sequence, task.location, None, &unresolved.failure);
            return self.stop_if_broken(settled);
        }
        let failure = half_done_still(failure, task.half_done);
        self.journal.failed(task.location.record, task.hash, RecordState::FailedTemporary, &failure, None);
        let settled = self.fail(task.sequence, task.location, task.content.as_ref(), &failure);
        self.stop_if_broken(settled);
    }

    /// Counts and prints a record that failed.
    pub(super) fn fail(
        &mut self,
        turn: u64,
        place: RecordLocation,
        content: Option<&Content>,
        failure: &Failure,
    ) -> Result<(), Failure> {
        self.reasons.count(failure);
        match (failure.applied, state_after(failure)) {
            (Applied::Unknown, _) => self.count.unknown += 1,
            (applied, state) => {
                self.count.failed += 1;
                self.count.temporary += u64::from(state == RecordState::FailedTemporary);
                self.count.mismatched += u64::from(matches!(applied, Applied::Yes | Applied::Partial));
                // What was applied, or will be sent by --resume, is not given back to be run again.
                if let (Some(file), Some(content), Applied::No, RecordState::FailedPermanent) =
                    (&mut self.failed, content, applied, state)
                {
                    file.add(content, &failure.message)?;
                }
            }
        }
        let text = self.results.failure(place, self.input.preparer.operation.operation().name(), failure);
        self.results.push(turn, text)
    }

    /// Records that were in flight when a second signal came: what may have left is unknown.
    pub(super) fn abandon(&mut self) {
        for (turn, begun) in std::mem::take(&mut self.in_flight) {
            if !begun.gate.has_passed() {
                self.leave(turn, begun);
                continue;
            }
            self.queue.release(begun.queue_key);
            let failure = Failure::new(
                FailureKind::Unknown,
                "interrupted while the request was in flight: it may have been applied",
            )
            .hint("check whether it took effect; --resume --retry-unknown sends it again");
            let snapshot = begun.gate.snapshot();
            let (place, state) = (begun.place, RecordState::Unknown);
            self.journal.failed(place.record, begun.hash, state, &failure, snapshot.as_deref());
            let settled = self.fail(turn, place, None, &failure);
            self.stop_if_broken(settled);
        }
    }

    /// A record of which nothing left: it stays what it was.
    fn leave(&mut self, turn: u64, begun: InFlight<'_>) {
        self.queue.release(begun.queue_key);
        let settled = match begun.unresolved {
            Some(unresolved) => self.fail(turn, begun.place, None, &unresolved.failure),
            None => self.print_not_sent(turn, begun.place),
        };
        self.stop_if_broken(settled);
    }

    /// Counts and prints a record that is never sent.
    pub(super) fn print_not_sent(&mut self, turn: u64, place: RecordLocation) -> Result<(), Failure> {
        self.count.not_sent += 1;
        let operation = self.input.preparer.operation.operation().name();
        let outcome = Outcome { reason: Some("not sent"), ..Outcome::not_sent(operation) };
        let text = self.results.outcome(place, &outcome, false);
        self.results.push(turn, text)
    }
}

impl Dispatcher<'_> {
    /// Closes the files, reports the outcome of the records and the next command.
    pub(super) async fn finish(mut self, signals: &mut Signals) -> Result<(), Failure> {
        if self.stop.is_some() && !matches!(self.stop, Some(Stop::OutputClosed)) {
            self.rest(signals).await;
        }
        let failed = self.close_failed();
        let closed = self.journal.close();
        let printed = self.results.close();
        let took = self.progress.elapsed();
        self.progress.finish();
        let report = self.shared.service.session.report;
        if let Some(doubts) = &self.warnings {
            doubts.emit_suppressed_count();
        }
        let operation = self.input.preparer.operation.operation().name();
        report.status(&summary::sentence(operation, self.count, took));
        for line in self.reasons.lines() {
            report.status(&line);
        }
        let next = command_line::next_steps(
            self.shared.service.session,
            self.input.source,
            self.input.args,
            self.journal.path(),
        );
        for ended in [closed, failed, printed] {
            if let Err(failure) = ended {
                self.request_stop(Stop::Broken(failure));
            }
        }
        self.verdict(&next)
    }

    /// Every record has its line, those that are never sent too. A signal ends that.
    async fn rest(&mut self, signals: &mut Signals) {
        let signals = std::cell::RefCell::new(signals);
        let is_over = || signals.borrow_mut().next().now_or_never().is_some();
        let rest = self.print_the_rest(is_over).await;
        // What cannot be read or printed now is not worth more than the reason to stop.
        if let Err(failure) = rest
            && self.stop.is_none()
        {
            self.request_stop(Stop::Broken(failure));
        }
    }

    /// Gives the file of failed records its name, and writes down how it was left.
    fn close_failed(&mut self) -> Result<(), Failure> {
        let Some(failed) = self.failed.take() else { return Ok(()) };
        let (entry, place) = failed.close()?;
        self.journal.failed_file(&entry);
        if self.input.args.failed.as_ref().is_some_and(|path| place.file_name() != path.file_name()) {
            self.shared.service.session.report.warn(&format!(
                "the file given with --failed was changed during the run: the failed records are in `{}`",
                place.display()
            ));
        }
        Ok(())
    }

    fn verdict(self, next: &NextSteps) -> Result<(), Failure> {
        self.outcome(next).map_err(|failure| Failure { is_batch: true, ..failure })
    }

    fn outcome(self, next: &NextSteps) -> Result<(), Failure> {
        let count = self.count;
        let go_on = summary::hint(count, next);
        let ended = |kind, message: String| Failure::new(kind, message).applied(count.applied()).hint(&go_on);
        match self.stop {
            None | Some(Stop::OnError) => summary::partial(count, next).map_or(Ok(()), Err),
            Some(Stop::Interrupted) => {
                Err(ended(FailureKind::Interrupted, format!("interrupted: {}", summary::counts(count))))
            }
            Some(Stop::Unavailable) => Err(ended(
                FailureKind::Partial,
                format!("stopped because the service is failing: {}", summary::counts(count)),
            )),
            Some(Stop::OutputClosed) => Err(ended(
                FailureKind::Partial,
                format!("stopped because standard output was closed: {}", summary::counts(count)),
            )),
            Some(Stop::Unauthorized(failure)) => {
                let applied = count.applied();
                let kind = if applied == Applied::No { FailureKind::Auth } else { FailureKind::Partial };
                let first = failure.hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
                Err(Failure { kind, applied, hint: None, ..failure }.hint(format!("{first}{go_on}")))
            }
            Some(Stop::Broken(failure)) => {
                let first = failure.hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
                let hint = format!("{first}{go_on}");
                Err(Failure { applied: count.applied(), hint: Some(hint), ..failure })
            }
        }
    }
}
