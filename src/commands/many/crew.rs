//! The run itself: takes records in, keeps as many under way as the pace allows, and writes down what becomes of each.

mod ending;
mod taking;

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

use super::doubts::Doubts;
use super::feed::Feed;
use super::intake::Intake;
use super::signals::Signals;
use super::task::{Ended, Shared, Task};
use crate::batch::failed::FailedFile;
use crate::batch::journal::Journal;
use crate::batch::ledger::Slots;
use crate::batch::pace::Pace;
use crate::batch::past::Past;
use crate::batch::queue::Queue;
use crate::batch::verdict::state_of;
use crate::cli::run::RunArgs;
use crate::failure::{Applied, Failure};
use crate::http::ServiceSignal;
use crate::input::records::{Content, Record, Source};
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
    /// How often the service has asked for fewer requests.
    complaints: Rc<Cell<u64>>,
    /// Of an input that could not be looked through before.
    doubts: Option<Doubts>,
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
        let complaints = Rc::new(Cell::new(0));
        let counted = complaints.clone();
        shared.service.observe(Box::new(move |signal| {
            counted.set(counted.get() + u64::from(matches!(signal, ServiceSignal::Throttled(_))));
        }));
        Ok(Self {
            complaints,
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
            doubts: records.is_none().then(|| Doubts::new(session.report, intake.work.operation())),
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
        let mut journal = pin!(self.journal.keep_up().fuse());
        loop {
            while let Some((key, task)) = self.next_task(under_way.len()).await {
                self.pace.begun(Instant::now());
                under_way.push(Box::pin(self.shared.run(key, task)));
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
                failure = &mut journal => self.stop(Stop::Broken(failure)),
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
        self.pace.heed(self.complaints.get(), Instant::now());
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
}
