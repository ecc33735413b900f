//! What became of a record that was run: written down, counted, printed.

use super::{Crew, InFlight, Stop};
use crate::batch::verdict::{State, state_of};
use crate::commands::many::task::{Ended, Task, behind_unknown};
use crate::failure::{Applied, Failure, Kind};
use crate::input::records::Content;
use crate::plan::operation::Operation;
use crate::report::outcome::Outcome;
use crate::report::records::Place;

impl Crew<'_> {
    /// Writes down what became of a record.
    pub(super) fn settle(&mut self, ended: Ended) {
        let Some(begun) = self.in_flight.remove(&ended.turn) else { return };
        let InFlight { key, place, hash, content, gate, unresolved } = begun;
        let settled = match ended.result {
            Ok(outcome) => {
                self.journal.done(place.record, hash, outcome.status);
                self.pace.borrow_mut().went_through();
                self.count.done += 1;
                self.queue.finished(key);
                let text = self.results.outcome(place, &outcome, false);
                self.results.put(ended.turn, text)
            }
            Err(failure) => {
                self.queue.finished(key);
                if !ended.was_left {
                    // Where it was not sent again, the snapshot of the earlier run still tells what it asked for.
                    let snapshot =
                        gate.snapshot().or_else(|| unresolved.and_then(|earlier| earlier.snapshot));
                    let state = state_of(&failure);
                    self.journal.failed(place.record, hash, state, &failure, snapshot.as_deref());
                }
                self.block(key, place, &failure);
                if ended.is_unauthorized {
                    self.stop(Stop::Unauthorized(failure.clone()));
                } else if self.input.args.stop_on_error && !ended.was_left {
                    self.stop(Stop::OnError);
                }
                self.fail(ended.turn, place, content.as_ref(), &failure)
            }
        };
        self.stop_if_broken(settled);
    }

    /// After an unknown outcome, later records that replace the same thing are not sent: the unknown request may still
    /// take effect, and undo what they do.
    pub(super) fn block(&mut self, key: u64, place: Place, failure: &Failure) {
        let operation = self.input.intake.work.operation();
        let replaces = matches!(operation, Operation::CustomerUpdate | Operation::QuoteShip);
        if replaces && failure.applied == Applied::Unknown {
            let first = self.blocked.entry(key).or_insert(place.record);
            *first = place.record.min(*first);
        }
    }

    /// A record behind one of unknown outcome.
    pub(super) fn refuse_blocked(&mut self, key: u64, task: Task, unknown: u64) {
        self.queue.finished(key);
        if let Some(unresolved) = task.unresolved {
            let settled = self.fail(task.turn, task.place, None, &unresolved.failure);
            return self.stop_if_broken(settled);
        }
        let failure = behind_unknown(self.input.intake.work.operation(), unknown);
        self.journal.failed(task.place.record, task.hash, State::FailedPassing, &failure, None);
        let settled = self.fail(task.turn, task.place, task.content.as_ref(), &failure);
        self.stop_if_broken(settled);
    }

    /// Counts and prints a record that failed.
    pub(super) fn fail(
        &mut self,
        turn: u64,
        place: Place,
        content: Option<&Content>,
        failure: &Failure,
    ) -> Result<(), Failure> {
        self.reasons.count(failure);
        match (failure.applied, state_of(failure)) {
            (Applied::Unknown, _) => self.count.unknown += 1,
            (applied, state) => {
                self.count.failed += 1;
                self.count.temporary += u64::from(state == State::FailedPassing);
                self.count.mismatched += u64::from(applied == Applied::Yes);
                // What was applied, or will be sent by --resume, is not given back to be run again.
                if let (Some(file), Some(content), Applied::No, State::FailedLasting) =
                    (&mut self.failed, content, applied, state)
                {
                    file.add(content, &failure.message)?;
                }
            }
        }
        let text = self.results.failure(place, self.input.intake.work.operation().name(), failure);
        self.results.put(turn, text)
    }

    /// Records that were in flight when a second signal came: what may have left is unknown.
    pub(super) fn abandon(&mut self) {
        for (turn, begun) in std::mem::take(&mut self.in_flight) {
            self.queue.finished(begun.key);
            let settled = if begun.gate.has_passed() {
                let failure = Failure::new(
                    Kind::Unknown,
                    "interrupted while the request was in flight: it may have been applied",
                )
                .hint("check whether it took effect; --resume --retry-unknown sends it again");
                let snapshot = begun.gate.snapshot();
                self.journal.failed(
                    begun.place.record,
                    begun.hash,
                    State::Unknown,
                    &failure,
                    snapshot.as_deref(),
                );
                self.fail(turn, begun.place, None, &failure)
            } else if let Some(unresolved) = begun.unresolved {
                self.fail(turn, begun.place, None, &unresolved.failure)
            } else {
                self.print_not_sent(turn, begun.place)
            };
            self.stop_if_broken(settled);
        }
    }

    /// Counts and prints a record that is never sent.
    pub(super) fn print_not_sent(&mut self, turn: u64, place: Place) -> Result<(), Failure> {
        self.count.untaken += 1;
        let operation = self.input.intake.work.operation().name();
        let outcome = Outcome { reason: Some("not sent"), ..Outcome::nothing_sent(operation) };
        let text = self.results.outcome(place, &outcome, false);
        self.results.put(turn, text)
    }
}
