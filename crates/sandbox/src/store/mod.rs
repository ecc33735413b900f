//! The sandbox's database: the only user of `rusqlite`.
//!
//! SQLite in WAL mode with `synchronous=NORMAL`: every answered write is in the write-ahead log and survives a crash of
//! the process. A power cut may lose the last writes (those that the system had not yet put on the disk), never the
//! integrity of the database. Any number of processes may use one file at once.

mod catalog;
mod customers;
mod file;
mod orders;
mod quotes;
mod values;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, Params, Row, TransactionBehavior};
use serde_json::{Map, Value};

use crate::Emulation;
use storefront_core::text::exact_json;

pub use catalog::Product;
pub use customers::{Caller, IssuedToken, SEARCHED, StoredAddress};
pub use quotes::QuoteLine;
pub use values::ProductValue;

/// A stored JSON object.
pub type Document = Map<String, Value>;

/// The database could not do what was asked, in SQLite's words (`database or disk is full`).
#[derive(Debug)]
pub struct StoreError(String);

/// Result of a query.
pub type StoreResult<T> = Result<T, StoreError>;

/// An open database.
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// The earlier state that the next reads show.
    stale: Mutex<Option<Snapshot>>,
    /// The shop that is emulated.
    pub emulation: Emulation,
}

/// The kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Read one consistent state.
    Read,
    /// Read and write; other writers wait.
    Write,
}

/// The records as one transaction sees them; every query of the sandbox is a method of it.
pub struct Database<'connection> {
    transaction: &'connection Connection,
}

impl Store {
    /// Opens the database in `path`, and makes and seeds it if it is missing.
    ///
    /// Fails on a file that is not a sandbox database, that another version made, or that cannot be opened.
    pub fn open(path: &Path, seed: impl Fn(&Database<'_>) -> StoreResult<()>) -> anyhow::Result<Self> {
        let open = || -> anyhow::Result<Connection> {
            let mut connection = file::connect(path)?;
            file::prepare(&mut connection, path, file::Existing::Keep, &seed)?;
            Ok(connection)
        };
        // On a busy system, looking at a file may fail while another process sets it up.
        let connection = match open() {
            Err(error) if file::is_io_error(&error) => {
                std::thread::sleep(file::REOPEN_PAUSE);
                open()?
            }
            opened => opened?,
        };
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            stale: Mutex::new(None),
            emulation: Emulation::default(),
        })
    }

    /// Drops everything in the database in `path` and seeds it, in one transaction.
    pub fn reset(path: &Path, seed: impl FnOnce(&Database<'_>) -> StoreResult<()>) -> anyhow::Result<()> {
        let mut connection = file::connect(path)?;
        file::prepare(&mut connection, path, file::Existing::Drop, seed)
    }

    /// Runs `work` in one transaction: committed when it succeeds, undone when it fails or panics.
    pub fn transact<T, E: From<StoreError>>(
        &self,
        intent: AccessMode,
        work: impl FnOnce(&Database<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let behavior = match intent {
            AccessMode::Read => TransactionBehavior::Deferred,
            AccessMode::Write => TransactionBehavior::Immediate,
        };
        let transaction = connection.transaction_with_behavior(behavior).map_err(StoreError::from)?;
        let outcome = work(&Database { transaction: &transaction })?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(outcome)
    }

    /// [`Store::transact`] for a request. After a successful write, the next `stale_reads` reads of this `Store` show the
    /// state before it.
    pub fn serve<T, E: From<StoreError>>(
        &self,
        intent: AccessMode,
        stale_reads: u32,
        work: impl FnOnce(&Database<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if intent == AccessMode::Read {
            let mut stale = self.stale.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(earlier) = take(&mut stale) {
                return work(&Database { transaction: &earlier });
            }
            drop(stale);
            return self.transact(intent, work);
        }
        let before = match stale_reads {
            0 => None,
            reads => Some(Snapshot::of(&self.path, reads)?),
        };
        let outcome = self.transact(intent, work)?;
        if before.is_some() {
            *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = before;
        }
        Ok(outcome)
    }
}

impl Database<'_> {
    /// Runs a statement and returns how many rows it changed.
    fn run(&self, sql: &str, params: impl Params) -> StoreResult<usize> {
        Ok(self.transaction.prepare_cached(sql)?.execute(params)?)
    }

    /// Inserts a row and returns its id.
    fn insert(&self, sql: &str, params: impl Params) -> StoreResult<i64> {
        Ok(self.transaction.prepare_cached(sql)?.insert(params)?)
    }

    /// Whether there is a row.
    fn exists(&self, sql: &str, params: impl Params) -> StoreResult<bool> {
        Ok(self.transaction.prepare_cached(sql)?.exists(params)?)
    }

    /// Every row, converted by `read`.
    fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        let mut query = self.transaction.prepare_cached(sql)?;
        let mut rows = query.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// The first row, if there is one.
    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        Ok(self.rows(sql, params, read)?.into_iter().next())
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<exact_json::Error> for StoreError {
    fn from(error: exact_json::Error) -> Self {
        Self(format!("a stored document is corrupt: {error}"))
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("a stored document is corrupt: {error}"))
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

/// One consistent state, on a connection of its own whose read transaction holds it, for a number of reads.
struct Snapshot {
    connection: Connection,
    reads: u32,
}

/// A connection lent for one read; the last read of the snapshot ends it.
enum Lent<'snapshot> {
    Borrowed(&'snapshot Connection),
    Last(Connection),
}

impl Snapshot {
    /// The state of the database in `path` as it is now, for the next `reads` reads.
    fn of(path: &Path, reads: u32) -> StoreResult<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // A transaction of SQLite begins with its first read.
        connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
        Ok(Self { connection, reads })
    }
}

/// The connection for one more stale read, if one is left.
fn take(held: &mut Option<Snapshot>) -> Option<Lent<'_>> {
    let left = held.as_mut().map(|snapshot| {
        snapshot.reads = snapshot.reads.saturating_sub(1);
        snapshot.reads
    })?;
    if left == 0 {
        return held.take().map(|snapshot| Lent::Last(snapshot.connection));
    }
    held.as_ref().map(|snapshot| Lent::Borrowed(&snapshot.connection))
}

impl Deref for Lent<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Borrowed(connection) => connection,
            Self::Last(connection) => connection,
        }
    }
}

/// The document in a row's `column`, with `first` before its own fields.
fn document(
    row: &Row<'_>,
    column: usize,
    first: impl IntoIterator<Item = (&'static str, Value)>,
) -> StoreResult<Document> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    let stored = exact_json::parse_object(text.as_bytes())?;
    let mut whole: Document = first.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    whole.extend(stored);
    Ok(whole)
}

/// The text of `body` without the fields that have columns of their own.
fn text_without(body: &Document, columns: &[&str]) -> Result<String, serde_json::Error> {
    let mut rest = body.clone();
    rest.retain(|name, _| !columns.contains(&name.as_str()));
    serde_json::to_string(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_that_fails_writes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let store =
            Store::open(&directory.path().join("a.db"), |records| records.put_customer(1, &Document::new()))
                .unwrap();
        let failed: StoreResult<()> = store.transact(AccessMode::Write, |records| {
            records.put_customer(2, &Document::new())?;
            Err(StoreError("the disk is full".to_owned()))
        });
        assert!(failed.is_err());
        let ids = store.transact(AccessMode::Read, |records: &Database<'_>| records.customer_ids());
        assert_eq!(ids.unwrap(), [1]);
    }
}
