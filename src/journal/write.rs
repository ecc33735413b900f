//! The journal of a batch while it is written: NDJSON, appended to and never changed.
//!
//! A record's `sending` line is on disk before its request leaves; a line with its outcome follows. Lines that come while
//! the disk is busy are written together, with one sync.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::{Ahead, Entry, JournalLine, State};
use crate::system::clock::Clock;
use crate::system::storage::Log;
use storefront_core::failure::{Applied, Failure};

/// Where lines of a journal are handed in; the writer of [`journal`] writes them.
#[derive(Debug, Clone)]
pub struct Journal {
    lines: mpsc::UnboundedSender<Append>,
    clock: Clock,
    /// Its length on disk.
    length: Rc<Cell<u64>>,
}

/// A line, and who waits for it to be on disk.
#[derive(Debug)]
struct Append {
    text: Vec<u8>,
    on_disk: Option<Waiting>,
}

/// Tells a waiting record that its line is on disk.
type Waiting = oneshot::Sender<Result<(), Failure>>;

/// A journal whose header is on disk, and its writer. The writer writes what is appended as long as it is polled, and
/// ends with everything on disk once the journal is dropped. After the first error nothing is written. `clock` gives
/// entries their time.
pub fn journal(
    path: PathBuf,
    log: Arc<dyn Log>,
    clock: Clock,
) -> (Journal, impl Future<Output = Result<(), Failure>>) {
    const MAX_TOGETHER: usize = 4096;
    let (lines, mut received) = mpsc::unbounded_channel();
    let length = Rc::<Cell<u64>>::default();
    let on_disk = length.clone();
    (Journal { lines, clock, length }, async move {
        let mut group = Vec::new();
        while received.recv_many(&mut group, MAX_TOGETHER).await > 0 {
            let written = write(&path, &log, &group, &on_disk).await;
            for waiting in group.drain(..).filter_map(|line: Append| line.on_disk) {
                // A record that was dropped meanwhile does not need it.
                let _ = waiting.send(written.clone());
            }
            written?;
        }
        log.sync().map_err(|error| unwritable(&path, &error))
    })
}

async fn write(
    path: &Path,
    log: &Arc<dyn Log>,
    group: &[Append],
    on_disk: &Cell<u64>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritable(path, &error);
    let text: Vec<u8> = group.iter().flat_map(|line| line.text.iter().copied()).collect();
    log.append(&text).map_err(failed)?;
    if group.iter().all(|line| line.on_disk.is_none()) {
        return Ok(());
    }
    log.clone().sync_concurrently().await.map_err(failed)?;
    on_disk.set(log.length().map_err(failed)?);
    Ok(())
}

impl Journal {
    /// Appends an entry; it is synced together with the next record that is about to be sent.
    pub fn append(&self, entry: Entry) {
        self.push(entry, None);
    }

    fn push(&self, entry: Entry, on_disk: Option<Waiting>) {
        let second = Timestamp::from_second(self.clock.now().as_second()).ok();
        let line = JournalLine::Record(Entry { time: second.map(|second| second.to_string()), ..entry });
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        // If the writer has ended, its result says why.
        let _ = self.lines.send(Append { text, on_disk });
    }

    /// Appends an entry; returns when it is on disk, with everything that was appended before.
    ///
    /// # Errors
    /// `internal` if it cannot be written.
    pub async fn append_synced(&self, entry: Entry) -> Result<(), Failure> {
        let (told, waits) = oneshot::channel();
        self.push(entry, Some(told));
        waits.await.unwrap_or_else(|_| Err(Failure::internal("the journal was closed")))
    }
}

/// The journal of one record: what is written down before its request leaves.
#[derive(Debug)]
pub struct WriteAhead {
    journal: Journal,
    record: u64,
    hash: u64,
    /// The hash by which the log knows the record under any name.
    identity: u64,
    passed: Cell<bool>,
    earlier: Ahead,
}

impl WriteAhead {
    /// The journal of one record with its hash and its identity, which an earlier run may have sent.
    pub fn new(journal: &Journal, record: u64, [hash, identity]: [u64; 2], earlier: Ahead) -> Self {
        let journal = journal.clone();
        Self { journal, record, hash, identity, passed: Cell::new(false), earlier }
    }

    /// What an earlier run was to change, if it may have changed something.
    pub fn earlier(&self) -> &Ahead {
        &self.earlier
    }

    /// Whether a `sending` line was written, or is being written: then the request may have left.
    pub fn has_passed(&self) -> bool {
        self.passed.get()
    }

    /// The number that names the record, and the hash by which it is known under any name.
    pub fn place(&self) -> (u64, u64) {
        (self.record, self.identity)
    }

    /// The journal's length on disk, in bytes.
    pub fn journal_length(&self) -> u64 {
        self.journal.length.get()
    }

    /// Notes that the record's requests are about to be sent; returns when that is on disk. If the steps start again, the
    /// line is not repeated.
    ///
    /// # Errors
    /// `internal` if it cannot be written: the request must not leave then.
    pub async fn log_before_send(&self) -> Result<(), Failure> {
        if self.passed.replace(true) {
            return Ok(());
        }
        self.journal.append_synced(Entry::new(self.record, self.hash, State::Sending)).await
    }
}

/// The failure of a journal that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write journal `{}`: {error}", path.display()))
        .hint("free some disk space or choose another file with --journal")
        .applied(Applied::No)
}
