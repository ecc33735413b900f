//! What becomes of a record when its turn in the input comes: it is run, or told of as it is.

use super::{Crew, Stop};
use crate::batch::fingerprint::Fingerprint;
use crate::batch::ledger::Slot;
use crate::batch::verdict::State;
use crate::commands::many::task::Task;
use crate::commands::many::{check, intake};
use crate::failure::{Applied, Failure};
use crate::input::records::{Content, Record};
use crate::report::outcome::Outcome;
use crate::report::records::Place;

impl Crew<'_> {
    /// Takes a record in: to be run, or told of as it is.
    pub(super) fn take(&mut self, record: Record) -> Result<(), Failure> {
        let slot = self.slots.read().map_err(|error| {
            Failure::internal(format!("the table of the journal's records cannot be read: {error}"))
        })?;
        let hash = intake::hash(&record.content);
        let place = Place { record: record.number, line: record.line };
        if slot.hash != hash && matches!(slot.state, State::Done | State::Sending | State::Unknown) {
            return Err(check::changed(&self.source.name(), place.record, place.line, ""));
        }
        if slot.state == State::Done && self.args.shard.is_none() {
            return self.tell_done(place, slot);
        }
        let prepared = match self.intake.prepare(&record, self.feed.columns()) {
            Ok(prepared) if check::is_ours(self.args.shard, &prepared) => prepared,
            Ok(_) => return Ok(()),
            Err(_) if !check::is_first(self.args.shard) => return Ok(()),
            Err(failure) => return self.invalid(place, hash, &record.content, &failure),
        };
        match slot.state {
            State::Done => return self.tell_done(place, slot),
            State::Sending | State::Unknown if !self.args.retry_unknown => {
                return self.tell_failure(place, None, &self.past.failure(slot));
            }
            State::FailedLasting if slot.hash == hash => {
                return self.tell_failure(place, Some(&record.content), &self.past.failure(slot));
            }
            _ => {}
        }
        if matches!(self.stop, Some(Stop::OnError)) {
            return self.tell_untaken(place);
        }
        if let Some(doubts) = &mut self.doubts {
            doubts.tell(place.record, &prepared);
        }
        let key = Fingerprint::new().with(prepared.key.as_bytes()).finish();
        let size = intake::size(&record.content);
        let content = self.failed.is_some().then_some(record.content);
        let task = Task { turn: self.results.turn(), place, hash, prepared, content, known: None };
        self.queue.push(key, size, task);
        Ok(())
    }

    /// A record that cannot be sent. Where the input could not be checked before, it ends the run.
    fn invalid(
        &mut self,
        place: Place,
        hash: u64,
        content: &Content,
        failure: &Failure,
    ) -> Result<(), Failure> {
        self.journal.failed(place.record, hash, State::FailedLasting, failure);
        self.tell_failure(place, Some(content), failure)?;
        if !self.args.skip_invalid || self.args.stop_on_error {
            self.stop(Stop::OnError);
        }
        Ok(())
    }

    fn tell_failure(
        &mut self,
        place: Place,
        content: Option<&Content>,
        failure: &Failure,
    ) -> Result<(), Failure> {
        let turn = self.results.turn();
        self.fail(turn, place, content, failure)
    }

    fn tell_done(&mut self, place: Place, slot: Slot) -> Result<(), Failure> {
        self.count.earlier += 1;
        let outcome = Outcome {
            applied: Applied::Yes,
            reason: Some("already done"),
            status: self.past.status(slot),
            ..Outcome::nothing_sent(self.intake.work.operation().name())
        };
        self.tell(place, &outcome)
    }

    fn tell_untaken(&mut self, place: Place) -> Result<(), Failure> {
        self.count.untaken += 1;
        let operation = self.intake.work.operation().name();
        self.tell(place, &Outcome { reason: Some("not sent"), ..Outcome::nothing_sent(operation) })
    }

    fn tell(&mut self, place: Place, outcome: &Outcome) -> Result<(), Failure> {
        let turn = self.results.turn();
        let text = self.results.outcome(place, outcome, false);
        self.results.put(turn, text)
    }

    /// After `--stop-on-error` the rest of the input is told of, and not sent.
    pub(super) async fn tell_the_rest(&mut self) -> Result<(), Failure> {
        while let Some((key, task)) = self.queue.pop() {
            self.queue.finished(key);
            self.count.untaken += 1;
            let operation = self.intake.work.operation().name();
            let outcome = Outcome { reason: Some("not sent"), ..Outcome::nothing_sent(operation) };
            let text = self.results.outcome(task.place, &outcome, false);
            self.results.put(task.turn, text)?;
        }
        while !self.source.is_stream()
            && let Some(record) = self.feed.next().await?
        {
            self.take(record)?;
        }
        Ok(())
    }
}
