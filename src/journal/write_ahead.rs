//! One record's part of the journal: what is written down before its request leaves.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;

use crate::failure::Failure;
use crate::journal::writer::Journal;

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
