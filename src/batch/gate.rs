//! The gate before a record's write.

use std::cell::Cell;

use super::journal::Journal;
use crate::commands::service::{Logged, WriteAhead};
use crate::failure::Failure;

/// What a record's write has to pass: it is written down, once, before it leaves.
#[derive(Debug)]
pub struct Gate<'a> {
    journal: &'a Journal,
    record: u64,
    hash: u64,
    passed: Cell<bool>,
}

impl<'a> Gate<'a> {
    /// The gate of one record.
    pub fn new(journal: &'a Journal, record: u64, hash: u64) -> Self {
        Self { journal, record, hash, passed: Cell::new(false) }
    }

    /// Returns when the record may leave.
    ///
    /// # Errors
    /// As [`Journal::sending`].
    pub async fn pass(&self) -> Result<(), Failure> {
        if !self.passed.get() {
            self.journal.sending(self.record, self.hash).await?;
            self.passed.set(true);
        }
        Ok(())
    }
}

impl WriteAhead for Gate<'_> {
    fn log_before_send<'a>(&'a self, _: Option<&'a str>) -> Logged<'a> {
        Box::pin(self.pass())
    }
}
