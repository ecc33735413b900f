//! A SQLite database of this machine, as [`super::storage`] opens it: reads, and commits that share a sync.
//! [`crate::log`] defines what is in it, and why it may be relied on. This file only opens and writes it, so that tests
//! can replace it by a modelled one: one whose commits fail, or whose machine loses power.

use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::oneshot;

/// How long a transaction waits for one of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a group without a gate is tried again: its outcomes would be lost otherwise.
const OUTCOME_ATTEMPTS: u32 = 10;
/// The capacity of the statement cache: more than there are different statements, so that each is compiled once.
const CACHED_STATEMENTS: usize = 64;

/// One step of a commit.
pub type Step = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;

/// Sets up a connection: settings, and the tables where they are missing.
pub type Prepare = fn(&mut Connection) -> Result<(), DatabaseError>;

/// A commit that was started. It is made even if this is dropped.
pub type Committing = Pin<Box<dyn Future<Output = Result<(), DatabaseError>> + Send>>;

/// How a committed step is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut: a request is about to leave.
    Synced,
    /// It survives the death of the process. A power cut may take it, with all that came after it.
    Buffered,
}

/// After so many groups, a process is expected to commit many more.
const MANY_GROUPS: u32 = 32;
/// After so many pages, 32 MB, such a process checkpoints the write-ahead log. SQLite does so after a thousand.
const MANY_PAGES: u32 = 8_000;

/// A database as one process uses it.
pub trait Database: Debug + Send + Sync {
    /// Reads what is committed, after waiting for the unsynced steps that this process has put into the queue. Other
    /// commits do not hold it up.
    ///
    /// # Errors
    /// What SQLite says.
    fn read(&self, query: &mut dyn FnMut(&Connection) -> rusqlite::Result<()>) -> Result<(), DatabaseError>;

    /// Puts a step at the end of the queue; the future returns when it is committed.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if another process holds the database: the step is not in it then.
    fn commit(&self, step: Step, durability: Durability) -> Committing;
}

/// Why a database cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseError {
    /// Another process has been writing to it.
    Busy,
    /// The disk is full.
    Full,
    /// It is damaged, or the file is not a database.
    Damaged,
    /// A newer version of this program has written it.
    Newer,
    /// It is the database of another program.
    Foreign,
    /// It is on a network file system, with this name.
    Network(&'static str),
    /// Something else, in words.
    Other(String),
}

impl Display for DatabaseError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => out.write_str("another process is writing to it"),
            Self::Full => out.write_str("the disk is full"),
            Self::Damaged => out.write_str("it is damaged"),
            Self::Newer => out.write_str("a newer version of storefront has written it"),
            Self::Foreign => out.write_str("it is the database of another program"),
            Self::Network(name) => write!(out, "it is on a network file system ({name})"),
            Self::Other(what) => out.write_str(what),
        }
    }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            _ => Self::Other(error.to_string()),
        }
    }
}

impl From<io::Error> for DatabaseError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::StorageFull { Self::Full } else { Self::Other(error.to_string()) }
    }
}

/// Runs steps in one transaction.
///
/// # Errors
/// The failure of a step or of the transaction: then nothing of any step is in the database.
pub fn commit_together(
    connection: &Connection,
    steps: impl IntoIterator<Item = Step>,
) -> Result<(), DatabaseError> {
    execute(connection, BEGIN)?;
    commit_begun(connection, steps)
}

/// The transaction writes from its start: one that begins to write later could not wait for another process.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// As [`commit_together`], in a transaction that has started. A savepoint for each step would copy every page that it changes.
fn commit_begun(connection: &Connection, steps: impl IntoIterator<Item = Step>) -> Result<(), DatabaseError> {
    let done = steps.into_iter().try_for_each(|step| step(connection));
    let committed = done.and_then(|()| execute(connection, "COMMIT"));
    if committed.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    Ok(committed?)
}

/// Executes a statement that is executed again and again.
fn execute(connection: &Connection, statement: &'static str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

/// A database in a file.
pub struct DatabaseFile {
    reader: Mutex<Connection>,
    writer: Mutex<Writer>,
    /// How many unsynced steps are in the queue, and the signal that there are none.
    buffered: Arc<(Mutex<usize>, Condvar)>,
}

/// The connection that writes: idle until the first commit, then on a thread of its own.
enum Writer {
    Idle(Connection),
    Running(Sender<Job>, JoinHandle<()>),
    Ended,
}

struct Job {
    step: Step,
    durability: Durability,
    done: oneshot::Sender<Result<(), DatabaseError>>,
    counted: Option<Counted>,
}

/// An unsynced step, until it is committed or has failed.
struct Counted(Arc<(Mutex<usize>, Condvar)>);

impl Counted {
    fn new(buffered: &Arc<(Mutex<usize>, Condvar)>) -> Self {
        *buffered.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self(buffered.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut count = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if *count == 0 {
            self.0.1.notify_all();
        }
    }
}

impl Debug for DatabaseFile {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("DatabaseFile")
    }
}

impl DatabaseFile {
    /// Opens an existing file; an empty one becomes a database.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn open(path: &Path, prepare: Prepare) -> Result<Self, DatabaseError> {
        let mut writer = connect(path)?;
        prepare(&mut writer)?;
        let reader = connect(path)?;
        reader.pragma_update(None, "query_only", true)?;
        let reader = Mutex::new(reader);
        let writer = Mutex::new(Writer::Idle(writer));
        Ok(Self { reader, writer, buffered: Arc::default() })
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, job: Job) -> io::Result<()> {
        let mut writer = self.writer();
        *writer = match std::mem::replace(&mut *writer, Writer::Ended) {
            Writer::Idle(connection) => {
                let (queue, jobs) = channel();
                let work = move || write(connection, &jobs);
                let thread = std::thread::Builder::new().name("log".to_owned()).spawn(work)?;
                Writer::Running(queue, thread)
            }
            other => other,
        };
        if let Writer::Running(queue, _) = &*writer {
            // If the thread has ended, `done` is dropped, which tells so.
            let _ = queue.send(job);
        }
        Ok(())
    }
}

impl Database for DatabaseFile {
    fn read(&self, query: &mut dyn FnMut(&Connection) -> rusqlite::Result<()>) -> Result<(), DatabaseError> {
        let (count, none_left) = &*self.buffered;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(none_left.wait_while(count, |count| *count > 0));
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(query(&reader)?)
    }

    fn commit(&self, step: Step, durability: Durability) -> Committing {
        let (done, committed) = oneshot::channel();
        let counted = (durability == Durability::Buffered).then(|| Counted::new(&self.buffered));
        let queued = self.enqueue(Job { step, durability, done, counted });
        Box::pin(async move {
            queued?;
            let ended = || DatabaseError::Other("the thread that writes it has ended".to_owned());
            committed.await.map_err(|_| ended())?
        })
    }
}

impl Drop for DatabaseFile {
    fn drop(&mut self) {
        // The steps in the queue are still committed.
        if let Writer::Running(queue, thread) = std::mem::replace(&mut *self.writer(), Writer::Ended) {
            drop(queue);
            let _ = thread.join();
        }
    }
}

/// Commits the steps in the queue until it is closed. With many groups, the write-ahead log is checkpointed less often,
/// because that costs syncs, and once more at the end: the next process would have to read all of it.
fn write(connection: Connection, jobs: &Receiver<Job>) {
    let mut groups: u32 = 0;
    let mut committer = Committer { connection, is_synced: None };
    while let Ok(first) = jobs.recv() {
        committer.commit_group(std::iter::once(first).chain(jobs.try_iter()).collect());
        groups = groups.saturating_add(1);
        if groups == MANY_GROUPS {
            let _ = committer.connection.pragma_update(None, "wal_autocheckpoint", MANY_PAGES);
        }
    }
    if groups >= MANY_GROUPS {
        let _ = committer.connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)");
    }
}

/// The connection that writes.
struct Committer {
    connection: Connection,
    /// Whether its commits are synced, once that was set.
    is_synced: Option<bool>,
}

impl Committer {
    /// Commits a group. If another process is in the way, steps that gate a request fail at once; the others, whose outcomes
    /// would be lost, are tried again.
    fn commit_group(&mut self, group: Vec<Job>) {
        let is_gate = |job: &Job| job.durability == Durability::Synced;
        let has_gate = group.iter().any(is_gate);
        if let Err(error) = self.begin(has_gate) {
            let (told, again): (Vec<Job>, Vec<Job>) =
                group.into_iter().partition(|job| !has_gate || is_gate(job));
            for job in told {
                let _ = job.done.send(Err(error.clone()));
            }
            if !again.is_empty() {
                self.commit_group(again);
            }
            return;
        }
        let split = group.into_iter().map(|job| (job.step, (job.done, job.counted)));
        let (steps, waiting): (Vec<Step>, Vec<_>) = split.unzip();
        let committed = commit_begun(&self.connection, steps);
        for (done, counted) in waiting {
            drop(counted);
            let _ = done.send(committed.clone());
        }
    }

    /// Begins a transaction; its commit is synced if it has a gate.
    fn begin(&mut self, has_gate: bool) -> Result<(), DatabaseError> {
        if self.is_synced != Some(has_gate) {
            let synchronous = if has_gate { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", synchronous)?;
            self.is_synced = Some(has_gate);
        }
        let attempts = if has_gate { 1 } else { OUTCOME_ATTEMPTS };
        let mut begun = Err(DatabaseError::Busy);
        for _ in 0..attempts {
            begun = execute(&self.connection, BEGIN).map_err(DatabaseError::from);
            if begun != Err(DatabaseError::Busy) {
                break;
            }
        }
        begun
    }
}

/// A connection to an existing file.
fn connect(path: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // The last process would wait for the disk without need: the next command reads the write-ahead log as well.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Puts a connection into the mode in which writers do not hold up readers. SQLite does not wait when the mode changes,
/// so this does.
///
/// # Errors
/// What SQLite says.
pub fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(2);
    let mut patience = BUSY_TIMEOUT.as_millis() / PAUSE.as_millis();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if patience > 0 && error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                patience -= 1;
                std::thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}
