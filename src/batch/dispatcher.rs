//! The run itself: takes records in, keeps as many in flight as the pace allows, and writes down what becomes of each.

mod admit;
mod finish;
mod settling;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;

use crate::batch::blocked::Blocked;
use crate::batch::failed_file::{FailedFile, InputForm};
use crate::batch::keyed_queue::KeyedQueue;
use crate::batch::prepare::RecordPreparer;
use crate::batch::reader::RecordStream;
use crate::batch::text_style::TextStyle;
use crate::batch::throttle::Throttle;
use crate::batch::warnings::WarningCollector;
use crate::batch::worker::{Job, RunContext, Unresolved};
use crate::cli::batch::BatchArgs;
use crate::failure::Failure;
use crate::input::records::{Content, Record, Source};
use crate::journal::entry::FailedFileEntry;
use crate::journal::replay::{AllSlots, PreviousRun};
use crate::journal::write_ahead::RecordWriteAhead;
use crate::journal::writer::Journal;
use crate::report::ordered_results::{OrderedResults, RecordLocation};
use crate::report::progress::{Count, Progress};
use crate::report::summary::{self, Reasons};
use crate::session::runtime::Signals;

/// Records in flight where `--jobs` says nothing.
const JOBS: u16 = 8;
/// How often progress is shown and standard output flushed.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// What a run works on.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Where the records come from.
    pub source: &'a Source,
    /// How they are understood.
    pub preparer: &'a RecordPreparer<'a>,
    /// The flags of the run.
    pub args: &'a BatchArgs,
    /// How many records there are, where that is known.
    pub records: Option<u64>,
    /// What is left of an earlier run's file of failed records.
    pub earlier_failed: Option<&'a FailedFileEntry>,
}

/// A run over many records.
pub struct Dispatcher<'a> {
    shared: RunContext<'a>,
    journal: &'a Journal,
    input: Input<'a>,
    past: PreviousRun,
    entries: AllSlots,
    reader: RecordStream,
    queue: KeyedQueue<Job>,
    /// Records that have begun and not ended, by their turn.
    in_flight: BTreeMap<u64, InFlight<'a>>,
    /// Records that hold up later ones of their key.
    blocked: Blocked,
    throttle: Rc<RefCell<Throttle>>,
    /// Of an input that could not be looked through before.
    warnings: Option<WarningCollector>,
    results: OrderedResults,
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
    /// Its key in the queue.
    queue_key: u64,
    place: RecordLocation,
    hash: u64,
    content: Option<Content>,
    gate: Rc<RecordWriteAhead<'a>>,
    /// What an earlier run left unknown about it.
    unresolved: Option<Box<Unresolved>>,
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
    /// The reader of the results went away.
    OutputClosed,
    /// The run cannot go on.
    Broken(Failure),
}

impl<'a> Dispatcher<'a> {
    /// Makes everything ready.
    ///
    /// # Errors
    /// `usage` when the input cannot be read again or `--failed` cannot be written.
    pub fn new(
        shared: RunContext<'a>,
        journal: &'a Journal,
        input: Input<'a>,
        past: PreviousRun,
        results: OrderedResults,
    ) -> Result<Self, Failure> {
        let Input { source, preparer, args, records, .. } = input;
        let reader = RecordStream::open(source, preparer)?;
        let create = |path: &std::path::PathBuf| {
            let style =
                if source.is_stream() { Ok(TextStyle::default()) } else { TextStyle::of(source.path()) };
            let style = style.map_err(|error| Failure::usage(format!("{}: {error}", source.name())))?;
            let form = InputForm { format: source.format, columns: reader.columns(), style };
            FailedFile::create(path, form, input.earlier_failed.cloned())
        };
        let failed = args.failed.as_ref().map(create).transpose()?;
        let session = shared.service.session;
        let throttle = Rc::new(RefCell::new(Throttle::new(args.jobs.unwrap_or(JOBS), args.rate)));
        let paced = throttle.clone();
        shared
            .service
            .observe(Box::new(move |signal| paced.borrow_mut().on_throttled(signal, Instant::now())));
        Ok(Self {
            shared,
            journal,
            input,
            entries: past.entries(),
            past,
            reader,
            queue: KeyedQueue::default(),
            in_flight: BTreeMap::new(),
            blocked: Blocked::default(),
            throttle,
            warnings: records
                .is_none()
                .then(|| WarningCollector::new(session.report, preparer.operation.operation())),
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
        let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
        let mut journal = pin!(self.journal.flush_loop().fuse());
        loop {
            while let Some((queue_key, task)) = self.next_task().await {
                running.push(Box::pin(self.start(queue_key, task)));
            }
            if running.is_empty() && self.is_finished() {
                break;
            }
            let pause = self.next_delay();
            let wants_record = self.has_capacity();
            tokio::select! {
                biased;
                failure = &mut journal => self.request_stop(Stop::Broken(failure)),
                Some(ended) = running.next() => self.record_result(ended),
                record = self.reader.next(), if wants_record => self.admit_or_stop(record),
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
        self.finish(&mut signals).await
    }

    /// Begins a record.
    fn start(
        &mut self,
        queue_key: u64,
        mut task: Job,
    ) -> impl Future<Output = crate::batch::worker::JobResult> + use<'a> {
        self.throttle.borrow_mut().on_start(Instant::now());
        let gate = Rc::new(RecordWriteAhead::new(self.journal, task.location.record, task.hash));
        let content = task.content.take();
        let unresolved = task.unresolved.clone();
        let (key, place, hash) = (task.key, task.location, task.hash);
        let begun = InFlight { key, queue_key, place, hash, content, gate: gate.clone(), unresolved };
        self.in_flight.insert(task.sequence, begun);
        self.shared.run(Box::new(task), Some(gate))
    }

    /// The next record that may begin now. A file is read on until there is one.
    async fn next_task(&mut self) -> Option<(u64, Job)> {
        loop {
            let now = Instant::now();
            if self.throttle.borrow().is_exhausted() {
                self.request_stop(Stop::Unavailable);
            }
            if self.stop.is_some() || !self.has_room() || self.throttle.borrow().delay(now).is_some() {
                return None;
            }
            if let Some((queue_key, task)) = self.queue.pop() {
                let operation = self.input.preparer.operation.operation();
                match self.blocked.refusal(operation, task.key, task.location.record) {
                    Some(failure) => self.refuse_blocked(queue_key, task, failure),
                    None => return Some((queue_key, task)),
                }
                continue;
            }
            if !self.has_capacity() || self.input.source.is_stream() {
                return None;
            }
            let record = self.reader.next().await;
            self.admit_or_stop(record);
        }
    }

    fn has_room(&self) -> bool {
        self.throttle.borrow_mut().has_capacity(self.in_flight.len(), Instant::now())
    }

    fn has_capacity(&self) -> bool {
        self.stop.is_none()
            && !self.exhausted
            && self.has_room()
            && !self.queue.has_ready()
            && !self.queue.is_full()
            && !self.results.is_full()
    }

    fn is_finished(&self) -> bool {
        self.stop.is_some() || self.exhausted && !self.queue.has_ready()
    }

    /// How long the next record is held back.
    fn next_delay(&self) -> Option<Duration> {
        self.throttle.borrow().delay(Instant::now()).filter(|_| self.stop.is_none())
    }

    fn admit_or_stop(&mut self, record: Result<Option<Record>, Failure>) {
        let taken = match record {
            Ok(None) => {
                self.exhausted = true;
                Ok(())
            }
            Ok(Some(record)) => self.admit(record),
            Err(failure) => Err(failure),
        };
        self.stop_if_broken(taken);
    }

    fn stop_if_broken(&mut self, done: Result<(), Failure>) {
        if let Err(failure) = done {
            self.request_stop(Stop::Broken(failure));
        } else if self.results.is_closed() {
            self.request_stop(Stop::OutputClosed);
        }
    }

    /// Takes no more records. What broke the run weighs more than a wish to stop, and the first reason more than later
    /// ones.
    fn request_stop(&mut self, stop: Stop) {
        let outweighs = match &self.stop {
            None => true,
            Some(Stop::Broken(_)) => false,
            Some(_) => matches!(stop, Stop::Broken(_) | Stop::Interrupted),
        };
        if outweighs {
            self.stop = Some(stop);
            self.shared.token_locks.inspect(|locks| locks.close());
        }
    }

    fn interrupted(&mut self) {
        self.was_interrupted = true;
        self.shared.service.stop();
        self.request_stop(Stop::Interrupted);
        self.shared.service.session.report.status(&format!(
            "stopping: waiting for {} in flight; press Ctrl-C again to stop at once",
            summary::count_records(self.in_flight.len() as u64)
        ));
    }

    fn show_progress(&mut self) {
        self.progress.show(self.count);
        let flushed = self.results.flush();
        self.stop_if_broken(flushed);
    }
}
