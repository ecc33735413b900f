//! The log: what this machine wrote to shops, one SQLite database `log.db` in the state directory.
//!
//! # What is stored
//!
//! *Runs*, one for each command that wrote, and their *writes*, one for each call that changes something. A write has its
//! owner (a customer, a cart, an attribute, an order, a product), what it changes and what became of it; a replacement of
//! a profile also has the whole document as it was stored and as it was sent. Other tables have the last read of each
//! customer that was relied on, the customers of tokens and emails, ids for completion, default options that must be set
//! again, and plans that were started. Only locks, the copy of a running input, journals of batches from standard input,
//! plans of assistants and the page file of a review are separate files.
//!
//! People use the ids of runs. Ids are counted up and never given twice, even after rows are deleted: an id in a mail
//! from last month must not name another write.
//!
//! What finds a person or a record by a token, an email or a content is a hash with a random key that is in the database: nobody
//! can look up from a journal or a message whose they are. Documents, and the names of customers without an id, have the email
//! itself; both are deleted when a customer is forgotten.
//!
//! # Order at the gate
//!
//! A request leaves only after its write is in the log, synced ([`WriteLog::gate`]). In a batch the journal's `sending`
//! line is on disk before that, and the log has the length of the journal with that line. So only what the log has can
//! have been sent from this machine, and a journal that is shorter than the log says was cut or replaced by an older one.
//! A record that its journal shows as `sending` and that has no write in the log was not sent, if the log has all runs of
//! that journal and no write of theirs was deleted ([`WriteLog::unsent`]). The outcome of a write is committed at once,
//! before the owner's lock is released, but not synced: after a power cut the write is open, and the next command finds
//! out what became of it, as it does if the process dies between the answer and the commit.
//!
//! # Locking
//!
//! Only the holder of an owner's lock ([`crate::state::acquire`]) writes about that owner. SQLite's own lock is held for
//! the time of a commit: no transaction is open while the program waits for the network, a person or a lock. A commit
//! waits at most a second for that of another process. If the gate has to give up, nothing is in the log, and the steps
//! start again at the read, for at most half a minute; an outcome is tried ten times.
//!
//! Writes go through one thread with a queue: a commit takes all that is in the queue, so that records that are sent at
//! the same time share a sync. There is no timer: the queue fills during a sync. Reads have a connection of their own, on
//! the calling thread: a read waits for this process's own commits that are queued, and for no other.
//!
//! # Files and disks
//!
//! The database is private (0600, as are `log.db-wal` and `log.db-shm`, to which SQLite gives the same mode) in a private
//! directory. It uses a write-ahead log, because a rollback journal costs two more syncs for each commit and holds
//! readers up. A write-ahead log needs memory that processes share, which a network file system does not have: there two
//! machines would damage it, so the log refuses such a disk. `secure_delete` overwrites what is deleted, and
//! [`WriteLog::truncate`] removes it from the write-ahead log.
//!
//! Without a log nothing is sent that changes something: a command that cannot open it ends with exit code 3, or 5 if
//! another process is in the way. Reads, dry runs and `show` do without it.
//!
//! # Compatibility
//!
//! `application_id` marks a database as ours; `user_version` counts the migrations that it has had. A newer version is
//! refused, because it may describe writes differently; so the program never meets unknown columns.
//!
//! # Performance
//!
//! There is one sync for each group of writes that are about to leave, none for their outcomes, and none when the program
//! ends: the write-ahead log stays, and SQLite moves it into the database every thousand pages, in a batch every eight
//! thousand and at its end. A command lists the writes of one owner by an index, newest first, and reads only the
//! documents that it needs.

mod customers;
mod lag;
mod names;
mod open;
mod reads;
mod replacement;
mod retention;
mod runs;
mod sent;
mod small;
#[cfg(test)]
mod tests;
mod writes;

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::Connection;

pub use customers::{CustomerStore, Entry, PendingWrite, Reach, RecentCall, UPDATE};
pub use lag::{MAX_LAG, is_younger};
pub use names::{Name, NameKind};
pub use reads::LastRead;
pub use replacement::Replacement;
pub use retention::{Forgotten, Whose};
pub use runs::{BEGINS, LoggedRun, NewRun, RunId, Wrote, new_uuid};
pub use sent::{SentBy, SentRecords};
pub use small::{DefaultNote, SeenAddresses};
pub use writes::{Document, NewWrite, OpenWrite, Owner, People, Write, WriteId, WriteName};

use crate::system::clock::Clock;
use crate::system::context::Context;
use crate::system::database::{Database, DatabaseError, Durability};
use storefront_core::failure::Failure;

/// The name of the file in the state directory.
pub const FILE_NAME: &str = "log.db";

/// The log of this machine.
#[derive(Debug, Clone)]
pub struct WriteLog {
    database: Arc<dyn Database>,
    clock: Clock,
}

impl WriteLog {
    /// Opens the log, and creates it if it does not exist.
    ///
    /// # Errors
    /// `guard` if it cannot be used: nothing must be sent then. `usage` if no state directory is known.
    pub fn open(context: &Context) -> Result<Self, Failure> {
        let path = context.directories()?.state.join(FILE_NAME);
        let opened = context.database(&path, open::prepare);
        let database = opened.map_err(|error| open::unusable(&path, &error, context.clock.now()))?;
        Ok(Self { database, clock: context.clock })
    }

    /// Opens the log if there is one; nothing is created.
    ///
    /// # Errors
    /// As [`Self::open`]. Callers that can do without a log treat the failure as no log.
    pub fn to_read(context: &Context) -> Result<Option<Self>, Failure> {
        let path = context.directories()?.state.join(FILE_NAME);
        if context.storage.has_database(&path) { Self::open(context).map(Some) } else { Ok(None) }
    }

    /// Opens the log for a command that writes; a dry run does without one that cannot be used.
    ///
    /// # Errors
    /// As [`Self::open`], except for a dry run.
    pub fn to_write(context: &Context, is_dry_run: bool) -> Result<Option<Self>, Failure> {
        if is_dry_run { Ok(Self::open(context).ok()) } else { Self::open(context).map(Some) }
    }

    /// The hint about a damaged log.
    pub fn set_aside(context: &Context) -> String {
        let path = context.directories().map(|directories| directories.state.join(FILE_NAME));
        path.map(|path| open::damaged(&path, context.clock.now())).unwrap_or_default()
    }

    /// The random id of this log, 32 hexadecimal digits.
    ///
    /// # Errors
    /// `guard` where it cannot be read.
    pub fn id(&self) -> Result<String, Failure> {
        self.read(|connection| connection.query_row("SELECT lower(hex(id)) FROM log", [], |row| row.get(0)))
    }

    /// Reads.
    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Failure> {
        let mut query = Some(query);
        let mut found = None;
        let read = self.database.read(&mut |connection| {
            if let Some(query) = query.take() {
                found = Some(query(connection)?);
            }
            Ok(())
        });
        read.map_err(unreadable)?;
        found.ok_or_else(|| Failure::internal("the log gave no answer"))
    }

    /// Commits a step, and returns its result.
    async fn commit<T: Send + 'static>(
        &self,
        durability: Durability,
        step: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let (given, taken) = tokio::sync::oneshot::channel();
        let step = move |connection: &Connection| {
            // The receiver may have been dropped.
            let _ = given.send(step(connection)?);
            Ok(())
        };
        self.database.commit(Box::new(step), durability).await?;
        taken.await.map_err(|_| DatabaseError::Other("a commit gave no answer".to_owned()))
    }

    /// Commits a step without waiting; it keeps its place before later commits.
    fn commit_later(&self, step: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static) {
        drop(self.database.commit(Box::new(step), Durability::Buffered));
    }

    /// Returns once everything that was queued before is committed, or has failed.
    pub async fn flush(&self) {
        let _ = self.database.commit(Box::new(|_| Ok(())), Durability::Buffered).await;
    }

    /// Moves the write-ahead log into the database and empties it: what was deleted is then gone from both.
    ///
    /// # Errors
    /// `guard` where another process is in the way.
    pub fn truncate(&self) -> Result<(), Failure> {
        let is_busy: bool = self.read(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        })?;
        if is_busy { Err(unreadable(DatabaseError::Busy)) } else { Ok(()) }
    }

    /// The damage that SQLite finds; `None` if it finds none.
    ///
    /// # Errors
    /// `guard` where it cannot be read.
    pub fn damage(&self) -> Result<Option<String>, Failure> {
        let found: String =
            self.read(|connection| connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
        Ok((found != "ok").then_some(found))
    }
}

/// The failure of a log that cannot be read.
fn unreadable(error: DatabaseError) -> Failure {
    Failure::guard(format!("the log of this machine cannot be read: {error}"))
}

/// A time as it is stored: microseconds, which are in order.
fn stored(time: Timestamp) -> i64 {
    time.as_microsecond()
}

/// A time as it was stored.
fn time(stored: i64) -> Timestamp {
    Timestamp::from_microsecond(stored).unwrap_or(if stored < 0 { Timestamp::MIN } else { Timestamp::MAX })
}
