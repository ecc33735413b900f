//! A state of the database kept for later reads, as a replica that lags behind keeps one.

use std::ops::Deref;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::sandbox::store::StoreResult;

/// One consistent state, on a connection of its own whose read transaction holds it, for a number of reads.
pub(super) struct Snapshot {
    connection: Connection,
    reads: u32,
}

/// A connection lent for one read: the snapshot's last one ends it.
pub(super) enum Lent<'snapshot> {
    Borrowed(&'snapshot Connection),
    Last(Connection),
}

impl Snapshot {
    /// The state of the database in `path` as it is now, for the next `reads` reads.
    pub(super) fn of(path: &Path, reads: u32) -> StoreResult<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // A transaction of SQLite begins with its first read.
        connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
        Ok(Self { connection, reads })
    }
}

/// The connection for one more stale read, if there is to be one.
pub(super) fn take(held: &mut Option<Snapshot>) -> Option<Lent<'_>> {
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
