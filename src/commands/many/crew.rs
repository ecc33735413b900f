//! The run itself: takes records in, keeps as many under way as the pace allows, and writes down what becomes of each.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::check::{self, Doubles};
use super::feed::Feed;
use super::intake::{self, Intake};
use super::signals::Signals;
use super::task::{Ended, Shared, Task};
use crate::batch::failed::FailedFile;
use crate::batch::fingerprint::Fingerprint;
use crate::batch::journal::Journal;
use crate::batch::ledger::{Slot, Slots};
use crate::batch::pace::Pace;
use crate::batch::past::Past;
use crate::batch::queue::Queue;
use crate::batch::verdict::{State, state_of};
use crate::cli::run::RunArgs;
use crate::failure::{Applied, Failure, Kind};
use crate::input::records::{Content, Record, Source};
use crate::report::outcome::Outcome;
use crate::report::progress::{Count, Progress};
use crate::report::records::{Place, Results};
use crate::report::summary::{self, Reasons};

/// Records under way where `--jobs` says nothing.
const JOBS: u16 = 8;
/// How often progress is shown and standard output flushed.
const TICK: Duration = Duration::from_millis(200);

/// A run over many records.
pub struct Crew<'a> {
    shared: Shared<'a>,
    journal: &'a Journal,
    intake: &'a Intake<'a>,
    args: &'a RunArgs,
    source: &'a Source,
    past: Past,
    slots: Slots,
    feed: Feed,
    queue: Queue<Task>,
    pace: Pace,
    doubles: Doubles,
    results: Results,
    failed: Option<FailedFile>,
    count: Count,
    reasons: Reasons,
    progress: Progress,
    /// The input has come to its end.
    exhausted: bool,
    stop: Option<Stop>,
}

/// Why no more records are taken.
#[derive(Debug)]
enum Stop {
    /// `--stop-on-error`.
    OnError,
    /// Ctrl-C.
    Interrupted,
    /// The run cannot go on.
    Broken(Failure),
}

impl<'a> Crew<'a> {
    /// Makes everything ready.
    ///
    /// # Errors
    /// `usage` when the input cannot be read again or `--failed` cannot be written.
    pub fn new(
        shared: Shared<'a>,
        journal: &'a Journal,
        source: &'a Source,
        intake: &'a Intake<'a>,
        args: &'a RunArgs,
        mut past: Past,
        records: Option<u64>,
    ) -> Result<Self, Failure> {
        let feed = Feed::open(source, intake)?;
        let create = |path: &std::path::PathBuf| {
            FailedFile::create(path, source.format, feed.columns(), &[source.path(), journal.path()])
        };
        let failed = args.failed.as_ref().map(create).transpose()?;
        let session = shared.service.session;
        Ok(Self {
            shared,
            journal,
            intake,
            args,
            source,
            slots: past.slots()?,
            past,
            feed,
            queue: Queue::default(),
            pace: Pace::new(args.jobs.unwrap_or(JOBS), args.rate),
            // A file was searched for them before.
            doubles: Doubles::new(records.is_none().then(|| intake.work.operation())),
            results: Results::new(session.report),
            failed,
            count: Count::default(),
            reasons: Reasons::default(),
            progress: Progress::new(session.report, session.context.stderr_is_terminal, records),
            exhausted: false,
            stop: None,
        })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// `partial` when some records did not go through, `interrupted` after Ctrl-C, and what broke the run off.
    pub async fn run(mut self) -> Result<(), Failure> {
        let mut under_way = FuturesUnordered::new();
        let mut signals = Signals::listen()?;
        let mut tick = tokio::time::interval(TICK);
        loop {
            while let Some((key, task)) = self.next_task(under_way.len()).await {
                self.pace.begun(Instant::now());
                under_way.push(self.shared.run(key, task));
            }
            if under_way.is_empty() && self.is_over() {
                break;
            }
            let pause = self.pause(under_way.len());
            let wants_record = self.wants_record(under_way.len());
            tokio::select! {
                biased;
                Some(ended) = under_way.next() => self.settle(ended),
                record = self.feed.next(), if wants_record => self.take_or_stop(record),
                failure = self.journal.keep_up() => self.stop(Stop::Broken(failure)),
                () = signals.next() => {
                    if matches!(self.stop, Some(Stop::Interrupted)) {
                        break;
                    }
                    self.interrupted(under_way.len());
                }
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                _ = tick.tick() => self.show_progress(),
            }
        }
        let left = under_way.len();
        drop(under_way);
        self.end(left).await
    }

    /// The next record that may begin now. A file is read on until there is one.
    async fn next_task(&mut self, under_way: usize) -> Option<(u64, Task)> {
        self.pace.heed(self.shared.service.complaints(), Instant::now());
        loop {
            if self.stop.is_some()
                || !self.pace.has_room(under_way)
                || self.pace.wait(Instant::now()).is_some()
            {
                return None;
            }
            if let Some(next) = self.queue.pop() {
                return Some(next);
            }
            if !self.wants_record(under_way) || self.source.is_stream() {
                return None;
            }
            let record = self.feed.next().await;
            self.take_or_stop(record);
        }
    }

    fn wants_record(&self, under_way: usize) -> bool {
        self.stop.is_none()
            && !self.exhausted
            && self.pace.has_room(under_way)
            && !self.queue.has_ready()
            && !self.queue.is_full()
            && !self.results.is_full()
    }

    fn is_over(&self) -> bool {
        self.stop.is_some() || self.exhausted && !self.queue.has_ready()
    }

    /// How long the rate holds the next record back.
    fn pause(&self, under_way: usize) -> Option<Duration> {
        let waits = self.stop.is_none() && self.pace.has_room(under_way);
        self.pace.wait(Instant::now()).filter(|_| waits)
    }

    fn take_or_stop(&mut self, record: Result<Option<Record>, Failure>) {
        let taken = match record {
            Ok(None) => {
                self.exhausted = true;
                Ok(())
            }
            Ok(Some(record)) => self.take(record),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = taken {
            self.stop(Stop::Broken(failure));
        }
    }

    /// Takes a record in: to be run, or told of as it is.
    fn take(&mut self, record: Record) -> Result<(), Failure> {
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
        if let Some(warning) = self.doubles.find(&prepared.key) {
            self.shared.service.session.report.of_record(place.record).warn(&warning);
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

    /// Writes down what became of a record.
    fn settle(&mut self, ended: Ended) {
        let Ended { key, turn, place, hash, content, result } = ended;
        let settled = match result {
            Ok(replaced) => {
                self.journal.done(place.record, hash, replaced.outcome.status);
                self.pace.went_through();
                self.count.done += 1;
                if let Some(next) = self.queue.finished(key) {
                    next.known = replaced.now;
                }
                let text = self.results.outcome(place, &replaced.outcome, false);
                self.results.put(turn, text)
            }
            Err(failure) => {
                self.queue.finished(key);
                self.journal.failed(place.record, hash, state_of(&failure), &failure);
                if self.args.stop_on_error {
                    self.stop(Stop::OnError);
                }
                self.fail(turn, place, content.as_ref(), &failure)
            }
        };
        if let Err(failure) = settled {
            self.stop(Stop::Broken(failure));
        }
    }

    fn fail(
        &mut self,
        turn: u64,
        place: Place,
        content: Option<&Content>,
        failure: &Failure,
    ) -> Result<(), Failure> {
        self.reasons.count(failure);
        if failure.applied == Applied::Unknown {
            self.count.unknown += 1;
        } else {
            self.count.failed += 1;
            // What may have been applied is not given back to be run again.
            if let (Some(file), Some(content), Applied::No) = (&mut self.failed, content, failure.applied) {
                file.add(content, &failure.message)?;
            }
        }
        let text = self.results.failure(place, self.intake.work.operation().name(), failure);
        self.results.put(turn, text)
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

    /// Takes no more records. What broke the run weighs more than the wish to stop.
    fn stop(&mut self, stop: Stop) {
        if !matches!(self.stop, Some(Stop::Broken(_))) {
            self.stop = Some(stop);
        }
    }

    fn interrupted(&mut self, under_way: usize) {
        self.stop(Stop::Interrupted);
        self.shared.service.session.report.note(&format!(
            "stopping: waiting for {} under way; Ctrl-C again does not wait",
            summary::records(under_way as u64)
        ));
    }

    fn show_progress(&mut self) {
        self.progress.show(self.count);
        if let Err(failure) = self.results.flush() {
            self.stop(Stop::Broken(failure));
        }
    }

    /// Closes the files, tells what became of the records and how to go on.
    async fn end(mut self, left: usize) -> Result<(), Failure> {
        if matches!(self.stop, Some(Stop::OnError)) {
            self.tell_the_rest().await?;
        }
        let closed = self.journal.close();
        self.results.close()?;
        if let Some(failed) = self.failed.take() {
            failed.close()?;
        }
        let took = self.progress.elapsed();
        drop(self.progress);
        let report = self.shared.service.session.report;
        let operation = self.intake.work.operation().name();
        report.note(&summary::sentence(operation, self.count, took));
        for line in self.reasons.lines() {
            report.note(&line);
        }
        let resume = super::resume_command(self.shared.service.session, self.source);
        match self.stop {
            Some(Stop::Broken(failure)) => Err(failure),
            Some(Stop::Interrupted) => Err(interrupted(self.count, left, &resume)),
            _ => closed.and_then(|()| summary::partial(self.count, &resume).map_or(Ok(()), Err)),
        }
    }

    /// After `--stop-on-error` the rest of the input is told of, and not sent.
    async fn tell_the_rest(&mut self) -> Result<(), Failure> {
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

fn interrupted(count: Count, left: usize, resume: &str) -> Failure {
    let applied = match (left as u64 + count.unknown, count.done) {
        (1.., _) => Applied::Unknown,
        (_, 1..) => Applied::Yes,
        _ => Applied::No,
    };
    let abandoned = if left > 0 {
        format!("; {} under way may have been applied", summary::records(left as u64))
    } else {
        String::new()
    };
    Failure::new(
        Kind::Interrupted,
        format!("interrupted after {}{abandoned}", summary::records(count.total())),
    )
    .applied(applied)
    .hint(resume)
}
