//! The run itself: takes records in, keeps as many in flight as the pace allows, and writes down what becomes of each.

mod ending;
mod settling;
mod taking;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;

use super::doubts::Doubts;
use super::feed::Feed;
use super::intake::Intake;
use super::signals::Signals;
use super::task::{Shared, Task, Unresolved};
use crate::batch::entry::FailedFileEntry;
use crate::batch::failed::{FailedFile, InputForm};
use crate::batch::gate::Gate;
use crate::batch::journal::Journal;
use crate::batch::pace::Pace;
use crate::batch::past::{AllSlots, Past};
use crate::batch::queue::Queue;
use crate::batch::text_style::TextStyle;
use crate::cli::run::RunArgs;
use crate::failure::Failure;
use crate::input::records::{Content, Record, Source};
use crate::report::progress::{Count, Progress};
use crate::report::records::{Place, Results};
use crate::report::summary::{self, Reasons};

/// Records in flight where `--jobs` says nothing.
const JOBS: u16 = 8;
/// How often progress is shown and standard output flushed.
const TICK: Duration = Duration::from_millis(200);

/// What a run works on.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Where the records come from.
    pub source: &'a Source,
    /// How they are understood.
    pub intake: &'a Intake<'a>,
    /// The flags of the run.
    pub args: &'a RunArgs,
    /// How many records there are, where that is known.
    pub records: Option<u64>,
    /// What is left of an earlier run's file of failed records.
    pub earlier_failed: Option<&'a FailedFileEntry>,
}

/// A run over many records.
pub struct Crew<'a> {
    shared: Shared<'a>,
    journal: &'a Journal,
    input: Input<'a>,
    past: Past,
    slots: AllSlots,
    feed: Feed,
    queue: Queue<Task>,
    /// Records that have begun and not ended, by their turn.
    in_flight: BTreeMap<u64, InFlight<'a>>,
    /// Keys of which a record ended with unknown outcome, where later ones must not be sent; and that record.
    blocked: HashMap<u64, u64>,
    pace: Rc<RefCell<Pace>>,
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
    /// Whether a signal came.
    was_interrupted: bool,
}

/// A record that has begun.
struct InFlight<'a> {
    key: u64,
    place: Place,
    hash: u64,
    content: Option<Content>,
    gate: Rc<Gate<'a>>,
    /// What an earlier run left unknown about it.
    unresolved: Option<Unresolved>,
}

/// Why no more records are taken.
#[derive(Debug)]
enum Stop {
    /// `--stop-on-error`.
    OnError,
    /// A signal.
    Interrupted,
    /// The service was failing for too long.
    Unavailable,
    /// The service refuses the run's own token.
    Unauthorized(Failure),
    /// Nobody reads the results any more.
    OutputClosed,
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
        input: Input<'a>,
        past: Past,
        results: Results,
    ) -> Result<Self, Failure> {
        let Input { source, intake, args, records, .. } = input;
        let feed = Feed::open(source, intake)?;
        let create = |path: &std::path::PathBuf| {
            let style =
                if source.is_stream() { Ok(TextStyle::default()) } else { TextStyle::of(source.path()) };
            let style = style.map_err(|error| Failure::usage(format!("{}: {error}", source.name())))?;
            let form = InputForm { format: source.format, columns: feed.columns(), style };
            FailedFile::create(path, form, input.earlier_failed.cloned())
        };
        let failed = args.failed.as_ref().map(create).transpose()?;
        let session = shared.service.session;
        let pace = Rc::new(RefCell::new(Pace::new(args.jobs.unwrap_or(JOBS), args.rate)));
        let paced = pace.clone();
        shared.service.observe(Box::new(move |signal| paced.borrow_mut().heed(signal, Instant::now())));
        Ok(Self {
            shared,
            journal,
            input,
            slots: past.slots(),
            past,
            feed,
            queue: Queue::default(),
            in_flight: BTreeMap::new(),
            blocked: HashMap::new(),
            pace,
            doubts: records.is_none().then(|| Doubts::new(session.report, intake.work.operation())),
            results,
            failed,
            count: Count::default(),
            reasons: Reasons::default(),
            progress: Progress::new(session.report, session.context.stderr_is_terminal, records),
            exhausted: false,
            stop: None,
            was_interrupted: false,
        })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// `partial` when some records did not go through, `interrupted` after a signal, and what broke the run off.
    pub async fn run(mut self) -> Result<(), Failure> {
        let mut running = FuturesUnordered::new();
        let mut signals = Signals::listen()?;
        let mut tick = tokio::time::interval(TICK);
        let mut journal = pin!(self.journal.keep_up().fuse());
        loop {
            while let Some((key, task)) = self.next_task().await {
                running.push(Box::pin(self.start(key, task)));
            }
            if running.is_empty() && self.is_over() {
                break;
            }
            let pause = self.pause();
            let wants_record = self.wants_record();
            tokio::select! {
                biased;
                Some(ended) = running.next() => self.settle(ended),
                record = self.feed.next(), if wants_record => self.take_or_stop(record),
                failure = &mut journal => self.stop(Stop::Broken(failure)),
                () = signals.next() => {
                    if self.was_interrupted {
                        break;
                    }
                    self.interrupted();
                }
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                _ = tick.tick() => self.show_progress(),
            }
        }
        drop(running);
        self.abandon();
        self.end(&mut signals).await
    }

    /// Begins a record.
    fn start(&mut self, key: u64, mut task: Task) -> impl Future<Output = super::task::Ended> + use<'a> {
        self.pace.borrow_mut().begun(Instant::now());
        let gate = Rc::new(Gate::new(self.journal, task.place.record, task.hash));
        let content = task.content.take();
        let unresolved = task.unresolved.clone();
        let begun =
            InFlight { key, place: task.place, hash: task.hash, content, gate: gate.clone(), unresolved };
        self.in_flight.insert(task.turn, begun);
        self.shared.run(task, Some(gate))
    }

    /// The next record that may begin now. A file is read on until there is one.
    async fn next_task(&mut self) -> Option<(u64, Task)> {
        loop {
            let now = Instant::now();
            if self.pace.borrow().is_exhausted() {
                self.stop(Stop::Unavailable);
            }
            if self.stop.is_some() || !self.has_room() || self.pace.borrow().wait(now).is_some() {
                return None;
            }
            if let Some((key, task)) = self.queue.pop() {
                match self.blocked.get(&key).copied().filter(|record| *record < task.place.record) {
                    Some(record) => self.refuse_blocked(key, task, record),
                    None => return Some((key, task)),
                }
                continue;
            }
            if !self.wants_record() || self.input.source.is_stream() {
                return None;
            }
            let record = self.feed.next().await;
            self.take_or_stop(record);
        }
    }

    fn has_room(&self) -> bool {
        self.pace.borrow_mut().has_room(self.in_flight.len(), Instant::now())
    }

    fn wants_record(&self) -> bool {
        self.stop.is_none()
            && !self.exhausted
            && self.has_room()
            && !self.queue.has_ready()
            && !self.queue.is_full()
            && !self.results.is_full()
    }

    fn is_over(&self) -> bool {
        self.stop.is_some() || self.exhausted && !self.queue.has_ready()
    }

    /// How long the next record is held back.
    fn pause(&self) -> Option<Duration> {
        self.pace.borrow().wait(Instant::now()).filter(|_| self.stop.is_none())
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
        self.stop_if_broken(taken);
    }

    fn stop_if_broken(&mut self, done: Result<(), Failure>) {
        if let Err(failure) = done {
            self.stop(Stop::Broken(failure));
        } else if self.results.is_closed() {
            self.stop(Stop::OutputClosed);
        }
    }

    /// Takes no more records. What broke the run weighs more than a wish to stop, and the first reason more than later
    /// ones.
    fn stop(&mut self, stop: Stop) {
        let outweighs = match &self.stop {
            None => true,
            Some(Stop::Broken(_)) => false,
            Some(_) => matches!(stop, Stop::Broken(_) | Stop::Interrupted),
        };
        if outweighs {
            self.stop = Some(stop);
        }
    }

    fn interrupted(&mut self) {
        self.was_interrupted = true;
        self.shared.service.stop();
        self.stop(Stop::Interrupted);
        self.shared.service.session.report.note(&format!(
            "stopping: waiting for {} in flight; press Ctrl-C again to stop at once",
            summary::records(self.in_flight.len() as u64)
        ));
    }

    fn show_progress(&mut self) {
        self.progress.show(self.count);
        let flushed = self.results.flush();
        self.stop_if_broken(flushed);
    }
}
