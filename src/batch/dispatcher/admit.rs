//! Admission: decides whether a record is queued, skipped (already done) or reported as failed.

use super::Stop;
use crate::batch::dispatcher::Dispatcher;
use crate::batch::preflight;
use crate::batch::prepare;
use crate::batch::worker::{Job, Unresolved};
use crate::failure::{Applied, Failure};
use crate::input::records::{Content, Record};
use crate::journal::fnv::Fnv1a;
use crate::journal::record_index::IndexEntry;
use crate::journal::record_state::RecordState;
use crate::report::ordered_results::RecordLocation;
use crate::report::outcome::Outcome;

impl Dispatcher<'_> {
    /// Admits a record: it is run, or reported as it is.
    pub(super) fn admit(&mut self, record: Record) -> Result<(), Failure> {
        let hash = prepare::hash(&record.content);
        let slot = self.entries.read(hash)?;
        let place = RecordLocation { record: record.number, line: record.line };
        let shard = self.input.args.shard;
        if preflight::is_changed(slot, hash)
            && matches!(slot.state, RecordState::Done | RecordState::Sending | RecordState::Unknown)
        {
            return Err(preflight::changed(&self.input.source.name(), place.record, place.line, ""));
        }
        if slot.state == RecordState::Done && shard.is_none() {
            return self.print_done(place, slot);
        }
        let prepared = match self.input.preparer.prepare(&record, self.reader.columns()) {
            Ok(prepared) if preflight::in_shard(shard, &prepared) => prepared,
            Ok(_) => return Ok(()),
            Err(_) if !preflight::is_first_shard(shard) => return Ok(()),
            Err(failure) => return self.invalid(place, hash, &record.content, &failure),
        };
        let key = Fnv1a::new().update(prepared.key.as_bytes()).finish();
        let (mut unresolved, mut half_done) = (None, None);
        match slot.state {
            RecordState::Done => return self.print_done(place, slot),
            RecordState::Sending | RecordState::Unknown => {
                let (can_resolve, retry) =
                    (self.input.preparer.operation.can_resolve(), self.input.args.retry_unknown);
                let failure = self.past.failure(slot);
                if self.stop.is_some() || !can_resolve && !retry {
                    self.block(key, place, &failure);
                    return self.print_failure(place, None, &failure);
                }
                let snapshot = self.past.entry_at(slot).snapshot;
                unresolved = Some(Box::new(Unresolved { failure, snapshot, retry }));
            }
            RecordState::FailedPermanent if !preflight::is_changed(slot, hash) => {
                return self.print_failure(place, Some(&record.content), &self.past.failure(slot));
            }
            RecordState::FailedTemporary if !preflight::is_changed(slot, hash) => {
                half_done = self.past.entry_at(slot).half_done();
            }
            _ => {}
        }
        if self.stop.is_some() {
            let turn = self.results.next_sequence();
            return self.print_not_sent(turn, place);
        }
        if let Some(doubts) = &mut self.warnings {
            doubts.emit(place.record, &prepared);
        }
        let size = prepare::size(&record.content);
        let content = self.failed.is_some().then_some(record.content);
        let sequence = self.results.next_sequence();
        let job = Job { sequence, location: place, hash, prepared, content, unresolved, half_done };
        self.queue.push(key, size, job);
        Ok(())
    }

    /// A record that cannot be sent. Where the input could not be checked before, it ends the run.
    fn invalid(
        &mut self,
        place: RecordLocation,
        hash: u64,
        content: &Content,
        failure: &Failure,
    ) -> Result<(), Failure> {
        self.journal.failed(place.record, hash, RecordState::FailedPermanent, failure, None);
        self.print_failure(place, Some(content), failure)?;
        if !self.input.args.skip_invalid || self.input.args.stop_on_error {
            self.request_stop(Stop::OnError);
        }
        Ok(())
    }

    fn print_failure(
        &mut self,
        place: RecordLocation,
        content: Option<&Content>,
        failure: &Failure,
    ) -> Result<(), Failure> {
        let turn = self.results.next_sequence();
        self.fail(turn, place, content, failure)
    }

    fn print_done(&mut self, place: RecordLocation, slot: IndexEntry) -> Result<(), Failure> {
        self.count.already_done += 1;
        let outcome = Outcome {
            applied: Applied::Yes,
            reason: Some("done earlier"),
            status: Some(slot.status).filter(|status| *status > 0),
            ..Outcome::not_sent(self.input.preparer.operation.operation().name())
        };
        let turn = self.results.next_sequence();
        let text = self.results.outcome(place, &outcome, false);
        self.results.push(turn, text)
    }

    /// After the run has stopped the rest of the input is reported, and not sent.
    pub(super) async fn print_the_rest(&mut self, is_over: impl Fn() -> bool) -> Result<(), Failure> {
        while let Some((key, task)) = self.queue.pop() {
            self.queue.release(key);
            match task.unresolved {
                Some(unresolved) => self.fail(task.sequence, task.location, None, &unresolved.failure)?,
                None => self.print_not_sent(task.sequence, task.location)?,
            }
        }
        while !self.input.source.is_stream()
            && !self.results.is_closed()
            && !is_over()
            && let Some(record) = self.reader.next().await?
        {
            let number = record.number;
            self.admit(record)?;
            // A signal is only heard where the runtime has its turn.
            if number % 256 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }
}
