//! What became of a record that was run: written down, counted, printed.

use super::{InFlight, Stop};
use crate::batch::dispatcher::Dispatcher;
use crate::batch::worker::{Job, JobResult, half_done_still};
use crate::failure::{Applied, Failure, FailureKind};
use crate::input::records::Content;
use crate::journal::record_state::{RecordState, state_after};
use crate::report::ordered_results::RecordLocation;
use crate::report::outcome::Outcome;

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
