//! The run itself: admits records, keeps as many in flight as the pace allows, and writes down what becomes of each.

mod in_a_row;
mod result;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::FusedFuture;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;

use self::in_a_row::InARow;
use crate::batch::check;
use crate::batch::decide::{Decided, Decision};
use crate::batch::looks::{Found, Looked, Looks};
use crate::batch::pace::Pace;
use crate::batch::queue::{Blocked, KeyedQueue};
use crate::batch::record::{self, PreparedRecord};
use crate::batch::send::{Earlier, Job, Position, RunContext};
use crate::batch::sent::ToSend;
use crate::client::runtime::Signals;
use crate::input::records::{Record, RecordReader};
use crate::journal::read::{LatestEntry, PreviousRuns};
use crate::journal::write::{Journal, WriteAhead};
use crate::journal::{Ahead, Entry, State};
use crate::plan::{Seen, Step, Watcher};
use crate::report::ordered_results::OrderedResults;
use crate::report::progress::Progress;
use crate::report::summary::{self, Failed, NextSteps};
use storefront_core::failure::{Applied, Failure, FailureKind, RecordCounts};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::OperationSpec;
use storefront_core::text::hash::fnv1a;
use storefront_core::text::token::Credential;

/// How often progress is shown and standard output flushed.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// How many records are read before signals are checked again.
const READ_TOGETHER: usize = 256;

/// The input of a run.
pub struct RunInput {
    /// How many records are in flight at most.
    pub jobs: u16,
    /// How many records there are.
    pub records: u64,
    /// How many of them are sent.
    pub to_send: u64,
    /// Those of an operation that adds something.
    pub additions: ToSend,
    /// What earlier runs left, and what looks have found.
    pub past: PreviousRuns,
    /// The looks.
    pub looks: Looks,
    /// Reads the records from the first one on.
    pub reader: RecordReader,
    /// The commands that continue the run.
    pub next: NextSteps,
}

/// A token that is being fetched.
type Fetched = Pin<Box<dyn Future<Output = Result<Option<Credential>, Failure>>>>;

/// A run over many records.
pub struct Run<'a> {
    shared: RunContext<'a>,
    journal: Journal,
    input: RunInput,
    /// Records whose tokens a command prints, in the order of the input, and these tokens.
    waiting: VecDeque<Job>,
    tokens: FuturesOrdered<Fetched>,
    queue: KeyedQueue<Job>,
    /// Records that have started and not ended, by their number.
    in_flight: BTreeMap<u64, Rc<Job>>,
    /// Records that hold up later ones with their key.
    blocked: Blocked,
    /// Failures with one cause, with nothing else between them.
    in_a_row: InARow,
    pace: &'a RefCell<Pace>,
    results: OrderedResults,
    count: RecordCounts,
    /// The records that have failed permanently.
    failed: Failed,
    progress: Progress,
    /// Whether the input is read to its end.
    exhausted: bool,
    stop: Option<Stop>,
    /// Whether a signal was received.
    was_interrupted: bool,
}

/// Why no more records are started.
#[derive(Debug)]
enum Stop {
    /// `--stop-on-error`.
    OnError,
    /// A signal.
    Interrupted,
    /// The service was failing for too long, or standard output was closed.
    Because(&'static str),
    /// The service refuses the run's own token.
    Unauthorized(Failure),
    /// The service refuses what the run does, or the tokens of its records, this many times in a row.
    Forbidden(Failure, u64),
    /// Something else than the service answers, whatever the record.
    NotTheService(Failure),
    /// The run cannot continue.
    Broken(Failure),
}

impl<'a> Run<'a> {
    /// A run that has not started.
    pub fn new(shared: RunContext<'a>, journal: Journal, input: RunInput) -> Self {
        let session = shared.service.session;
        let operation = shared.preparer.operation.spec();
        let mut blocked = Blocked::default();
        let args = shared.preparer.args;
        let is_settled = |line| args.marks_done(line) || args.retries(line, State::Unknown);
        let is_open =
            |(line, looked): &(&u64, &Looked)| matches!(looked.found, Found::Open) && !is_settled(**line);
        for (line, looked) in input.looks.iter().filter(is_open) {
            blocked.note_open(operation, looked.key, *line, looked.is_stuck);
        }
        Self {
            progress: Progress::new(session.report, input.records, input.to_send),
            shared,
            journal,
            input,
            waiting: VecDeque::new(),
            tokens: FuturesOrdered::new(),
            queue: KeyedQueue::default(),
            in_flight: BTreeMap::new(),
            blocked,
            in_a_row: InARow::default(),
            pace: shared.pace,
            results: OrderedResults::new(session.report),
            count: RecordCounts::default(),
            failed: Failed::default(),
            exhausted: false,
            stop: None,
            was_interrupted: false,
        }
    }

    /// Runs to the end; `writer` writes the journal.
    ///
    /// # Errors
    /// If some records failed, `interrupted` after a signal, and what ended the run early.
    pub async fn run(
        mut self,
        writer: impl FusedFuture<Output = Result<(), Failure>>,
    ) -> Result<(), Failure> {
        let mut running = FuturesUnordered::new();
        let mut signals = Signals::listen(self.shared.service.session.context)?;
        let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
        let mut writer = pin!(writer);
        loop {
            while let Some(job) = self.next_job() {
                running.push(Box::pin(self.shared.run(job)));
            }
            if running.is_empty() && self.is_finished() {
                break;
            }
            let pause = self.next_delay();
            tokio::select! {
                biased;
                Err(failure) = &mut writer, if !writer.is_terminated() => self.request_stop(Stop::Broken(failure)),
                Some(ended) = running.next() => self.record_result(ended),
                Some(token) = self.tokens.next(), if self.stop.is_none() => self.token_came(token),
                () = signals.next() => {
                    if self.was_interrupted {
                        break;
                    }
                    self.interrupted();
                }
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                () = tokio::task::yield_now(), if self.wants_record() => {}
                _ = tick.tick() => self.show_progress(),
            }
        }
        drop(running);
        self.abandon();
        self.finish(&mut signals, writer).await
    }

    /// The next record that may start. The input is read on until there is one, or signals are due; also while the rate
    /// holds the next one back, because after the last record there is nothing to wait for.
    fn next_job(&mut self) -> Option<Rc<Job>> {
        for _ in 0..READ_TOGETHER {
            if self.pace.borrow().is_exhausted() {
                self.request_stop(Stop::Because("the service is failing"));
            }
            if self.stop.is_some() || !self.has_room() {
                return None;
            }
            let job = if self.next_delay().is_none() { self.queue.pop() } else { None };
            if let Some(job) = job {
                let refusal = self.shared.refusal(&self.blocked, &job, &self.input.next.resume);
                if let Some((failure, waits_for_person)) = refusal {
                    self.refuse_blocked(&job, &failure, waits_for_person);
                    continue;
                }
                self.pace.borrow_mut().on_start(Instant::now());
                self.tell(job.position, "sending", None);
                let job = Rc::new(job);
                self.in_flight.insert(job.position.location.record, job.clone());
                return Some(job);
            }
            if !self.wants_record() {
                return None;
            }
            match self.input.reader.read() {
                Ok(Some(record)) => self.admit(&record),
                Ok(None) => self.exhausted = true,
                Err(failure) => self.request_stop(Stop::Broken(failure)),
            }
        }
        None
    }

    fn has_room(&self) -> bool {
        self.pace.borrow_mut().has_capacity(self.in_flight.len(), Instant::now())
    }

    fn wants_record(&self) -> bool {
        self.stop.is_none()
            && !self.exhausted
            && self.has_room()
            && !self.queue.has_ready()
            && !self.queue.is_full()
            && !self.results.is_full()
            && self.waiting.len() < usize::from(self.input.jobs)
    }

    fn is_finished(&self) -> bool {
        self.stop.is_some() || self.exhausted && self.waiting.is_empty() && !self.queue.has_ready()
    }

    /// How long the next record is held back.
    fn next_delay(&self) -> Option<Duration> {
        self.pace.borrow().delay(Instant::now()).filter(|_| self.stop.is_none())
    }

    /// Admits a record: it is queued, or reported as it is.
    fn admit(&mut self, record: &Record) {
        let preparer = self.shared.preparer;
        let columns = self.input.reader.columns();
        let decided = preparer.decide(&self.input.past, record, columns);
        let Decided { location, latest, hash, decision, prepared } = decided;
        let position = Position { location, hash };
        if decision == Decision::NotOurs {
            return;
        }
        self.results.begin(location.record);
        let entry = || self.input.past.entry(latest);
        match (decision, prepared) {
            (Decision::Refuse, _) => {
                let source = preparer.origin.source();
                let failure = check::changed(&source.name(), &format!("{} {}", source.place(), record.line));
                self.request_stop(Stop::Broken(failure));
            }
            (Decision::Mark, _) => {
                self.journal.append(Entry::by_hand(location.line, hash));
                self.print_done(position, 0);
            }
            (Decision::Report, _) | (_, None) if latest.state == State::Done => {
                self.done(position, latest.status);
            }
            (Decision::Report | Decision::Look, prepared) => {
                let failure = record::failure_of(&entry(), location, &self.input.next);
                let prepared = prepared.as_ref().and_then(|it| it.as_ref().ok());
                self.block(position, prepared, &failure);
                self.fail(position, prepared, &failure);
            }
            (Decision::Send, Some(Ok(prepared))) => {
                let identity = self.input.additions.identity(preparer, record, columns, position, &prepared);
                let earlier = latest.was_sent().then(|| self.earlier(position, latest, &entry()));
                let ahead = match &earlier {
                    Some(_) => self.shared.sent_earlier(&self.input.past, location.line),
                    None => Ok(Ahead::default()),
                };
                match ahead {
                    Ok(ahead) => self.enqueue(position, identity, prepared, earlier, ahead),
                    Err(failure) => self.request_stop(Stop::Broken(failure)),
                }
            }
            (_, Some(Ok(prepared))) => {
                self.fail(position, Some(&prepared), &created_from_another_record());
            }
            // The state of a record that was sent is not overwritten.
            (_, Some(Err(failure))) if latest.was_sent() => self.request_stop(Stop::Broken(failure)),
            (_, Some(Err(failure))) => self.invalid(position, &failure),
            (_, None) => {}
        }
    }

    /// What an earlier run left of a record that is sent all the same.
    fn earlier(&self, position: Position, latest: LatestEntry, entry: &Entry) -> Earlier {
        if latest.is_partial {
            let found = self.input.looks.get(&position.location.line).map(|looked| &looked.found);
            let found = if let Some(Found::InPart(failure)) = found { failure.created } else { None };
            return Earlier::Partial(found.or(entry.created));
        }
        let failure = record::failure_of(entry, position.location, &self.input.next);
        Earlier::Unknown { failure: failure.into() }
    }

    /// Lets a record that stays unknown hold up later ones with its key. One of which a look has shown something does not, whatever its
    /// answer was.
    fn block(&mut self, position: Position, prepared: Option<&PreparedRecord>, failure: &Failure) {
        let is_open = failure.applied == Applied::Unknown && failure.kind != FailureKind::Mismatch;
        if let Some(prepared) = prepared.filter(|_| is_open) {
            let key = fnv1a(prepared.key.as_bytes());
            self.blocked.note(self.operation(), key, position.location, failure, true);
        }
    }

    /// Queues a record once its token is there. Tokens that a command prints arrive in the order of the input.
    fn enqueue(
        &mut self,
        position: Position,
        identity: u64,
        prepared: PreparedRecord,
        earlier: Option<Earlier>,
        ahead: Ahead,
    ) {
        let write_ahead =
            WriteAhead::new(&self.journal, position.location.line, [position.hash, identity], ahead);
        let fetched: Fetched = Box::pin(prepared.token_source.clone().token());
        let key = fnv1a(prepared.key.as_bytes());
        let write_ahead = Some(write_ahead);
        let job = Job { position, key, prepared, token: Ok(None), earlier, write_ahead };
        if self.stop.is_some() {
            return self.leave(&job);
        }
        self.waiting.push_back(job);
        if self.shared.preparer.prints_tokens() {
            self.tokens.push_back(fetched);
        } else if let Some(token) = fetched.now_or_never() {
            self.token_came(token);
        }
    }

    /// Queues the first record that waits for its token.
    fn token_came(&mut self, token: Result<Option<Credential>, Failure>) {
        let Some(mut job) = self.waiting.pop_front() else { return };
        job.key = job.prepared.key_with(self.operation(), token.as_ref().ok().and_then(Option::as_ref));
        job.token = token;
        self.queue.push(job.key, job);
    }

    /// Tells the watcher of the plan what became of a record.
    fn tell(&self, position: Position, state: &'static str, failure: Option<&Failure>) {
        if let Some(Watcher(tell)) = self.shared.preparer.origin.plan().and_then(|plan| plan.watcher.as_ref())
        {
            let step = Step { record: position.location.record, state, failure: failure.cloned() };
            tell(Seen::Step(Box::new(step)));
        }
    }

    fn operation(&self) -> &'static OperationSpec {
        self.shared.preparer.operation.spec()
    }

    fn stop_if_broken(&mut self, done: Result<(), Failure>) {
        if let Err(failure) = done {
            self.request_stop(Stop::Broken(failure));
        } else if self.results.is_closed() {
            self.request_stop(Stop::Because("standard output was closed"));
        }
    }

    /// Stops admitting records.
    fn request_stop(&mut self, stop: Stop) {
        stop_for(&mut self.stop, stop);
    }

    fn interrupted(&mut self) {
        self.was_interrupted = true;
        self.shared.service.stopping.set();
        self.request_stop(Stop::Interrupted);
        // The others end at once.
        let has_left = |job: &&Rc<Job>| job.write_ahead.as_ref().is_some_and(WriteAhead::has_passed);
        let in_flight = self.in_flight.values().filter(has_left).count();
        if in_flight > 0 {
            self.shared.service.session.report.status(&format!(
                "stopping: waiting for {} in flight; press Ctrl-C again to stop at once",
                summary::count_records(in_flight as u64)
            ));
        }
    }

    fn show_progress(&mut self) {
        self.progress.show(self.count);
        let flushed = self.results.flush();
        self.stop_if_broken(flushed);
    }
}

fn created_from_another_record() -> Failure {
    let message = "the attribute was created by an earlier run, and the record has changed since";
    Failure::new(FailureKind::Partial, message)
        .applied(Applied::Partial)
        .hint(hint!(
            "put the record back; or finish it with ",
            storefront("attribute assign"),
            ", and note it with --mark-done"
        ))
        .for_good()
}

/// A failure of the run takes precedence over a request to stop, and the first reason over later ones.
fn stop_for(reason: &mut Option<Stop>, stop: Stop) {
    let outweighs = matches!(stop, Stop::Broken(_) | Stop::Interrupted);
    if reason.is_none() || outweighs && !matches!(reason, Some(Stop::Broken(_))) {
        *reason = Some(stop);
    }
}
