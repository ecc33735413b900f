//! Where a run takes its records from: a file, read when a record is wanted; or a pipe is read on a separate
//! thread, so that a slow writer does not block the dispatcher.

use tokio::sync::mpsc;

use crate::batch::record::RecordPreparer;
use crate::failure::Failure;
use crate::input::records::{Columns, Record, RecordReader, Source};

/// How many records a pipe may be ahead of the run.
const READ_AHEAD: usize = 64;

/// A supply of records.
pub enum RecordStream {
    /// Read in place.
    File(RecordReader),
    /// Read separately.
    Pipe(mpsc::Receiver<Result<Record, Failure>>, Option<Columns>),
}

impl RecordStream {
    /// Opens a source.
    ///
    /// # Errors
    /// `usage` when it cannot be read, or its header is not understood.
    pub fn open(source: &Source, preparer: &RecordPreparer<'_>) -> Result<Self, Failure> {
        let mut records = RecordReader::open(source, |header| preparer.columns(header))?;
        if !source.is_stream() {
            return Ok(Self::File(records));
        }
        let columns = records.columns().cloned();
        let (sender, receiver) = mpsc::channel(READ_AHEAD);
        std::thread::spawn(move || {
            while let Some(record) = records.read().transpose() {
                let failed = record.is_err();
                if sender.blocking_send(record).is_err() || failed {
                    return;
                }
            }
        });
        Ok(Self::Pipe(receiver, columns))
    }

    /// The next record; `None` at the end. Can be dropped while it waits.
    ///
    /// # Errors
    /// As [`RecordReader::read`].
    pub async fn next(&mut self) -> Result<Option<Record>, Failure> {
        match self {
            Self::File(records) => records.read(),
            Self::Pipe(receiver, _) => receiver.recv().await.transpose(),
        }
    }

    /// Columns of a CSV.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Self::File(records) => records.columns(),
            Self::Pipe(_, columns) => columns.as_ref(),
        }
    }
}
