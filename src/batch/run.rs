//! The run itself: takes records in, keeps as many in flight as the pace allows, and writes down what becomes of each.

mod result;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;

use super::token::RunToken;
use super::token_locks::{TokenLocks, Turn};
use crate::batch::check::WarningCollector;
use crate::batch::failed_file::{FailedFile, InputForm, TextStyle};
use crate::batch::pace::Throttle;
use crate::batch::queue::{Blocked, KeyedQueue};
use crate::batch::reader::RecordStream;
use crate::batch::record::{CustomerName, PreparedRecord, RecordPreparer};
use crate::batch::token::TokenSource;
use crate::batch::{check, record};
use crate::cli::GlobalArgs;
use crate::cli::batch::BatchArgs;
use crate::failure::{Applied, Failure, FailureKind};
use crate::input::records::{Content, Record, Source};
use crate::journal::read::{AllSlots, HalfDone, IndexEntry, PreviousRun};
use crate::journal::write::{Journal, RecordWriteAhead, WriteAhead};
use crate::journal::{FailedFileEntry, Fnv1a, RecordState};
use crate::ops::customers;
use crate::ops::record::RecordOperation;
use crate::redact::{Masked, secrets};
use crate::report::ordered_results::{OrderedResults, RecordLocation};
use crate::report::outcome::Outcome;
use crate::report::progress::{Count, Progress};
use crate::report::summary::{self, Reasons};
use crate::session::Session;
use crate::session::runtime::Signals;
use crate::session::service::Service;

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
    ) -> impl Future<Output = crate::batch::run::JobResult> + use<'a> {
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

impl Dispatcher<'_> {
    /// Admits a record: it is run, or reported as it is.
    pub(super) fn admit(&mut self, record: Record) -> Result<(), Failure> {
        let hash = record::hash(&record.content);
        let slot = self.entries.read(hash)?;
        let place = RecordLocation { record: record.number, line: record.line };
        let shard = self.input.args.shard;
        if check::is_changed(slot, hash)
            && matches!(slot.state, RecordState::Done | RecordState::Sending | RecordState::Unknown)
        {
            return Err(check::changed(&self.input.source.name(), place.record, place.line, ""));
        }
        if slot.state == RecordState::Done && shard.is_none() {
            return self.print_done(place, slot);
        }
        let prepared = match self.input.preparer.prepare(&record, self.reader.columns()) {
            Ok(prepared) if check::in_shard(shard, &prepared) => prepared,
            Ok(_) => return Ok(()),
            Err(_) if !check::is_first_shard(shard) => return Ok(()),
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
                // Which others have its token is only known when it is printed.
                let holds_up_unknown = self.shared.token_locks.is_some();
                if self.stop.is_some() || !can_resolve && !retry && !holds_up_unknown {
                    self.block(key, place, &failure);
                    return self.print_failure(place, None, &failure);
                }
                let snapshot = self.past.entry_at(slot).snapshot;
                unresolved = Some(Box::new(Unresolved { failure, snapshot, retry }));
            }
            RecordState::FailedPermanent if !check::is_changed(slot, hash) => {
                return self.print_failure(place, Some(&record.content), &self.past.failure(slot));
            }
            RecordState::FailedTemporary if !check::is_changed(slot, hash) => {
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
        let size = record::size(&record.content);
        let content = self.failed.is_some().then_some(record.content);
        let sequence = self.results.next_sequence();
        // Records whose tokens are printed wait for each other after they have begun, all in the order of the input.
        let waits_for_token = self.shared.token_locks.is_some() && prepared.customer.is_none();
        let queue_key = if waits_for_token { sequence } else { key };
        let job = Job { sequence, location: place, hash, key, prepared, content, unresolved, half_done };
        self.queue.push(queue_key, size, job);
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

/// A record that is to be run.
#[derive(Debug)]
pub struct Job {
    /// Its turn among the results.
    pub sequence: u64,
    /// Where it stands.
    pub location: RecordLocation,
    /// Its hash in the journal.
    pub hash: u64,
    /// What it replaces, as far as that is known before it begins: it may hold up later records of this key.
    pub key: u64,
    /// What is sent.
    pub prepared: PreparedRecord,
    /// How it stands in the input; kept where it may be given back.
    pub content: Option<crate::input::records::Content>,
    /// What an earlier run left unknown about it.
    pub unresolved: Option<Box<Unresolved>>,
    /// What an earlier run left half done of it.
    pub half_done: Option<HalfDone>,
}

/// A record that an earlier run sent, with unknown outcome.
#[derive(Debug, Clone)]
pub struct Unresolved {
    /// What is reported as long as it stays unknown.
    pub failure: Failure,
    /// The snapshot taken before it was sent.
    pub snapshot: Option<String>,
    /// Whether it is sent again when nothing can be found out.
    pub retry: bool,
}

/// A record that has ended.
#[derive(Debug)]
pub struct JobResult {
    /// Its turn among the results.
    pub sequence: u64,
    /// What became of it.
    pub result: Result<Outcome, Failure>,
    /// Whether nothing was sent now: the outcome is that of an earlier run.
    pub was_left: bool,
    /// Whether the run stopped while it waited for its turn: it is as if it had not begun.
    pub was_not_begun: bool,
    /// Whether the service refuses the batch's own token.
    pub is_unauthorized: bool,
    /// Keeps the record's own token masked until its report is written.
    pub masked: Option<Masked>,
}

/// What all records of a run share.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// The flags, with every question answered.
    pub global: &'a GlobalArgs,
    /// What is done.
    pub operation: RecordOperation<'a>,
    /// The batch's own token.
    pub run_token: &'a RunToken,
    /// The administrator's, of records that name a customer.
    pub admin_run_token: &'a RunToken,
    /// Where tokens are printed one by one and are what keeps records apart.
    pub token_locks: Option<&'a TokenLocks>,
}

impl<'a> RunContext<'a> {
    /// Runs one record to its end; `gate` is its part of the journal, none where nothing is sent.
    pub fn run<'g>(
        self,
        task: Box<Job>,
        gate: Option<Rc<RecordWriteAhead<'g>>>,
    ) -> impl Future<Output = JobResult> + use<'a, 'g> {
        // Records begin in the order of the input, and may be polled in another.
        let turn = self.token_locks.map(|locks| locks.begin(task.location.record));
        self.run_in_turn(task, gate, turn)
    }

    async fn run_in_turn(
        self,
        task: Box<Job>,
        gate: Option<Rc<RecordWriteAhead<'_>>>,
        turn: Option<Turn<'_>>,
    ) -> JobResult {
        let (sequence, unresolved, half_done) = (task.sequence, task.unresolved.clone(), task.half_done);
        let mut ended = JobResult {
            sequence,
            result: Err(Failure::internal("the record was not run")),
            was_left: false,
            was_not_begun: false,
            is_unauthorized: false,
            masked: None,
        };
        let result = self.result(task, gate, turn, &mut ended).await;
        ended.result = result
            .map_err(|failure| half_done_still(unresolved_again(failure, unresolved.as_deref()), half_done));
        ended
    }

    async fn result(
        self,
        task: Box<Job>,
        gate: Option<Rc<RecordWriteAhead<'_>>>,
        turn: Option<Turn<'_>>,
        ended: &mut JobResult,
    ) -> Result<Outcome, Failure> {
        let Job { location: place, key: input_key, prepared, unresolved, half_done, .. } = *task;
        let operation = self.operation.operation();
        let report = self.service.session.report.for_record(place.record);
        let session = Session { report: &report, global: self.global, ..*self.service.session };
        let write_ahead = gate.as_deref().map(|gate| gate as &dyn WriteAhead);
        let customer = prepared.customer.as_ref().map(CustomerName::text);
        let run_token = if customer.is_some() { self.admin_run_token } else { self.run_token };
        let is_run_token = prepared.token_source == TokenSource::Shared;
        let token = prepared.token_source.token().await.inspect_err(|failure| {
            // Noted while later records still wait for their turn.
            if let Some(locks) = self.token_locks {
                let failure = unresolved_again(failure.clone(), unresolved.as_deref());
                locks.blocked.note(operation, input_key, place.record, &half_done_still(failure, half_done));
            }
        });
        let mut token = match token? {
            None => run_token.renewed(),
            own => own,
        };
        ended.masked = token.as_ref().map(|token| secrets().add_while(token));
        let own_key =
            token.as_ref().zip(self.token_locks).map(|(token, locks)| (locks, TokenLocks::key(token)));
        let _alone = match (turn, own_key) {
            (Some(turn), Some((_, key))) => Some(turn.lock(key).await),
            _ => None,
        };
        if own_key.is_some_and(|(locks, _)| locks.is_closed()) {
            ended.was_not_begun = true;
            return Err(Failure::internal("the run stopped before the record's turn"));
        }
        let run = async {
            if let Some(unresolved) = &unresolved {
                let service = self.service.for_record(&session, token.clone(), None);
                let snapshot = unresolved.snapshot.as_deref();
                // Where the customer cannot be found now, nothing can be found out.
                if let Ok(service) = customers::select(&service, customer.as_deref())
                    && let Some(found) =
                        Box::pin(self.operation.resolve_unknown(&service, &prepared.body, snapshot)).await
                {
                    return Ok(found);
                }
                if !unresolved.retry {
                    ended.was_left = true;
                    return Err(unresolved.failure.clone());
                }
            }
            if let Some(refusal) = own_key.and_then(|(locks, key)| {
                [key, input_key]
                    .into_iter()
                    .find_map(|key| locks.blocked.refusal(operation, key, place.record))
            }) {
                return Err(refusal);
            }
            loop {
                let service = self.service.for_record(&session, token.clone(), write_ahead);
                let performed = match customers::select(&service, customer.as_deref()) {
                    Ok(service) => {
                        let cart = half_done.and_then(|half| half.cart);
                        Box::pin(self.operation.perform(&service, &prepared.body, cart)).await
                    }
                    Err(failure) => Err(failure),
                };
                let failure = match performed {
                    Err(failure) if is_run_token && is_unauthorized(&failure) => failure,
                    // What was applied before is kept; the rest would be refused as well.
                    Err(failure) if is_run_token && is_unauthorized_half_way(&failure) => {
                        ended.is_unauthorized = true;
                        return Err(failure);
                    }
                    done => return done,
                };
                // A refused token means that nothing was applied: the record may be performed with another.
                let Ok(Some(renewed)) = run_token.after(token.as_ref()).await else {
                    ended.is_unauthorized = true;
                    return Err(failure);
                };
                ended.masked = Some(secrets().add_while(&renewed));
                token = Some(renewed);
            }
        };
        let done = run.await;
        // Noted while the lock is held.
        if let (Err(failure), Some((locks, key))) = (&done, own_key) {
            let failure = unresolved_again(failure.clone(), unresolved.as_deref());
            let failure = half_done_still(failure, half_done);
            locks.blocked.note(operation, key, place.record, &failure);
        }
        done
    }
}

/// A record that an earlier run may have applied is not known to be unapplied because it could not be sent again: it stays
/// unknown.
fn unresolved_again(failure: Failure, unresolved: Option<&Unresolved>) -> Failure {
    match unresolved {
        Some(Unresolved { failure: earlier, .. }) if failure.applied == Applied::No => Failure {
            kind: FailureKind::Unknown,
            applied: Applied::Unknown,
            message: format!("{}; sending it again: {}", earlier.message, failure.message),
            hint: earlier.hint.clone(),
            ..failure
        },
        _ => failure,
    }
}

/// A record of which an earlier run made one of two calls is not unapplied because nothing of it was applied now.
pub fn half_done_still(failure: Failure, half_done: Option<HalfDone>) -> Failure {
    match half_done {
        Some(HalfDone { cart }) if failure.applied == Applied::No => Failure {
            kind: match failure.kind {
                FailureKind::Interrupted => FailureKind::Interrupted,
                _ => FailureKind::Partial,
            },
            applied: Applied::Partial,
            message: format!(
                "an earlier run saved the shipping information, and not the payment; now: {}",
                failure.message
            ),
            cart,
            ..failure
        },
        _ => failure,
    }
}

fn is_unauthorized(failure: &Failure) -> bool {
    failure.status == Some(401) && failure.applied == Applied::No
}

/// The token was refused for the second of two calls.
fn is_unauthorized_half_way(failure: &Failure) -> bool {
    failure.status == Some(401) && failure.applied == Applied::Partial
}
