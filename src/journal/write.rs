//! The journal of a batch while it is written: NDJSON, appended to and never changed.
//!
//! A line `{"record":N,"state":"sending","hash":"…"}` is on disk before the record's request leaves; a line with its
//! outcome follows. Records that begin together share one sync.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::{fmt, io};

use serde::Serialize;
use tokio::sync::{Notify, oneshot};

use super::{Done, Failed, FailedFileEntry, FailedFileLine, Sending};
use crate::failure::{Applied, Failure};
use crate::journal::RecordState;
use crate::storage::Log;

/// A journal that is being written. Nobody else can write it meanwhile.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    log: Arc<dyn Log>,
    buffer: RefCell<Vec<u8>>,
    /// How many `sending` lines were appended, and how many of them are on disk.
    appended: Cell<u64>,
    synced: Cell<u64>,
    broken: RefCell<Option<Failure>>,
    pending: Notify,
    /// The records that wait until their line is on disk, by its number.
    waiting: RefCell<VecDeque<(u64, oneshot::Sender<()>)>>,
}

impl Journal {
    /// A journal whose header is on disk.
    pub(crate) fn new(path: PathBuf, log: Arc<dyn Log>) -> Self {
        Self {
            path,
            log,
            buffer: RefCell::default(),
            appended: Cell::default(),
            synced: Cell::default(),
            broken: RefCell::default(),
            pending: Notify::new(),
            waiting: RefCell::default(),
        }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that a record is about to be sent, with the snapshot taken for it, if any; returns when that is on disk.
    ///
    /// # Errors
    /// `internal` when it cannot be written: the request must not leave then.
    pub async fn sending(&self, record: u64, hash: u64, snapshot: Option<&str>) -> Result<(), Failure> {
        self.append(&Sending::new(record, hash, snapshot));
        let line = self.appended.get() + 1;
        self.appended.set(line);
        if let Some(broken) = &*self.broken.borrow() {
            return Err(broken.clone());
        }
        let (on_disk, waits) = oneshot::channel();
        self.waiting.borrow_mut().push_back((line, on_disk));
        // Only a journal that cannot be written lets go of those who wait.
        waits.await.map_err(|_| {
            self.broken.borrow().clone().unwrap_or_else(|| Failure::internal("the journal was closed"))
        })
    }

    /// Notes that a record was applied, or that nothing was to be changed.
    pub fn done(&self, record: u64, hash: u64, status: Option<u16>) {
        self.append(&Done::new(record, hash, status));
    }

    /// Notes that a record failed, or that its outcome is unknown.
    pub fn failed(
        &self,
        record: u64,
        hash: u64,
        state: RecordState,
        failure: &Failure,
        snapshot: Option<&str>,
    ) {
        self.append(&Failed::new(record, hash, state, failure, snapshot));
    }

    /// Notes how the file of failed records was left.
    pub fn failed_file(&self, entry: &FailedFileEntry) {
        self.append(&FailedFileLine { failed_file: entry });
    }

    /// Keeps the file up with what is appended, as long as it is polled: outcomes are written when there is nothing
    /// else to do, and synced together with the next record that is about to be sent.
    ///
    /// # Errors
    /// `internal` when the file cannot be written; everyone who waits for a line gets the error too.
    pub async fn flush_loop(&self) -> Failure {
        loop {
            self.pending.notified().await;
            if let Err(failure) = self.flush().await {
                return failure;
            }
        }
    }

    /// Writes what is appended, and syncs it if somebody waits for that.
    async fn flush(&self) -> Result<(), Failure> {
        let waited_for = self.appended.get();
        self.write()?;
        if self.synced.get() < waited_for {
            let synced = self.log.clone().sync_concurrently().await;
            self.latch_error(synced)?;
            self.synced.set(waited_for);
            self.release(waited_for);
        }
        Ok(())
    }

    /// Lets those go on whose lines are on disk, and wakes no others.
    fn release(&self, on_disk: u64) {
        let mut waiting = self.waiting.borrow_mut();
        let ready = waiting.partition_point(|(line, _)| *line <= on_disk);
        for (_, record) in waiting.drain(..ready) {
            // One that was dropped meanwhile has no use for it.
            let _ = record.send(());
        }
    }

    /// Writes and syncs everything: the run is over.
    pub fn close(&self) -> Result<(), Failure> {
        self.write()?;
        self.latch_error(self.log.sync())
    }

    fn append(&self, line: &impl Serialize) {
        let mut buffer = self.buffer.borrow_mut();
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut *buffer, line);
        buffer.push(b'\n');
        self.pending.notify_one();
    }

    fn write(&self) -> Result<(), Failure> {
        if let Some(broken) = &*self.broken.borrow() {
            return Err(broken.clone());
        }
        let mut lines = self.buffer.borrow_mut();
        if lines.is_empty() {
            return Ok(());
        }
        let written = self.log.append(&lines);
        lines.clear();
        self.latch_error(written)
    }

    /// After the first failure nothing is written any more.
    fn latch_error(&self, done: io::Result<()>) -> Result<(), Failure> {
        done.map_err(|error| {
            let failure = unwritable(&self.path, &error);
            *self.broken.borrow_mut() = Some(failure.clone());
            self.waiting.borrow_mut().clear();
            failure
        })
    }
}

/// The failure of a journal that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write journal `{}`: {error}", path.display()))
        .hint("free some disk space or choose another file with --journal")
        .applied(Applied::No)
}

/// The journal of a batch, as one record sees it.
pub trait WriteAhead: fmt::Debug {
    /// Notes that the record's request is about to leave, with the name of the snapshot taken for it, if any; returns
    /// when that is on disk. Called again, with another snapshot, where the steps start again.
    fn log_before_send<'a>(&'a self, snapshot: Option<&'a str>) -> Logged<'a>;
}

/// See [`WriteAhead::log_before_send`]; the request must not leave when it fails.
pub type Logged<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// Writes a record's `sending` line before its write leaves, and again where the steps start again with another snapshot.
#[derive(Debug)]
pub struct RecordWriteAhead<'a> {
    journal: &'a Journal,
    record: u64,
    hash: u64,
    passed: Cell<bool>,
    snapshot: RefCell<Option<String>>,
}

impl<'a> RecordWriteAhead<'a> {
    /// For one record.
    pub fn new(journal: &'a Journal, record: u64, hash: u64) -> Self {
        Self { journal, record, hash, passed: Cell::new(false), snapshot: RefCell::default() }
    }

    /// Whether a `sending` line was written, or is being written: the request may have left.
    pub fn has_passed(&self) -> bool {
        self.passed.get()
    }

    /// The snapshot that the last `sending` line names.
    pub fn snapshot(&self) -> Option<String> {
        self.snapshot.borrow().clone()
    }

    async fn pass(&self, snapshot: Option<&str>) -> Result<(), Failure> {
        let is_renewed = snapshot.is_some() && self.snapshot.borrow().as_deref() != snapshot;
        if self.passed.replace(true) && !is_renewed {
            return Ok(());
        }
        if is_renewed {
            *self.snapshot.borrow_mut() = snapshot.map(str::to_owned);
        }
        self.journal.sending(self.record, self.hash, snapshot).await
    }
}

impl WriteAhead for RecordWriteAhead<'_> {
    fn log_before_send<'a>(&'a self, snapshot: Option<&'a str>) -> Logged<'a> {
        Box::pin(self.pass(snapshot))
    }
}
