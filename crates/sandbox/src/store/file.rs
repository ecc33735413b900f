//! The database file: made private, recognized as ours, given its tables and its seed.

use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::store::{Database, StoreResult};

/// Marks a SQLite file as a sandbox database (`PRAGMA application_id`): "SFSB".
const APPLICATION_ID: i64 = 0x5346_5342;
/// Version of the tables; a file of another version is refused, and `sandbox reset` renews it.
const SCHEMA_VERSION: i64 = 9;
/// How long a transaction waits for one of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The capacity of the statement cache: more than there are different queries, so that each is compiled once.
const CACHED_STATEMENTS: usize = 64;

/// What happens to the records of an existing database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Keep,
    Drop,
}

/// Opens `path`, creating missing files and directories.
pub(super) fn connect(path: &Path) -> anyhow::Result<Connection> {
    create_private(path)
        .map_err(
            // Windows only says that access is denied.
            |error| if path.is_dir() { ErrorKind::IsADirectory.into() } else { error },
        )
        .with_context(|| format!("cannot use `{}` as the database of the sandbox", path.display()))?;
    let connection = Connection::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    Ok(connection)
}

/// Makes missing tables and the seed, in one transaction.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    existing: Existing,
    seed: impl FnOnce(&Database<'_>) -> StoreResult<()>,
) -> anyhow::Result<()> {
    let state = identify(connection, path)?;
    if state == DatabaseState::Empty || existing == Existing::Drop {
        // An empty file has nothing to lose, and a new sandbox mostly waits for the disk.
        connection.pragma_update(
            None,
            "synchronous",
            if state == DatabaseState::Empty { "OFF" } else { "NORMAL" },
        )?;
        use_write_ahead_log(connection)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        create(connection, path, existing, seed)
            .with_context(|| format!("cannot set up `{}`", path.display()))?;
    }
    if identify(connection, path)? == DatabaseState::OtherVersion {
        bail!(
            "`{}` was created by another version of the sandbox; recreate it with `storefront sandbox reset`",
            path.display()
        );
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// The state of a database file.
#[derive(PartialEq, Eq)]
enum DatabaseState {
    Empty,
    Current,
    OtherVersion,
}

fn identify(connection: &Connection, path: &Path) -> anyhow::Result<DatabaseState> {
    let (application, version, tables): (i64, i64, i64) = connection
        .query_row(
            "SELECT (SELECT application_id FROM pragma_application_id),
                    (SELECT user_version FROM pragma_user_version),
                    (SELECT count(*) FROM sqlite_schema)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .with_context(|| format!("`{}` is not a readable SQLite database", path.display()))?;
    match (application, version) {
        (0, _) if tables == 0 => Ok(DatabaseState::Empty),
        (APPLICATION_ID, SCHEMA_VERSION) => Ok(DatabaseState::Current),
        (APPLICATION_ID, _) => Ok(DatabaseState::OtherVersion),
        _ => {
            bail!("`{}` is not a sandbox database; choose another file", path.display())
        }
    }
}

fn create(
    connection: &mut Connection,
    path: &Path,
    existing: Existing,
    seed: impl FnOnce(&Database<'_>) -> StoreResult<()>,
) -> anyhow::Result<()> {
    // Tables are dropped in any order here; the setting has no effect inside a transaction.
    connection.pragma_update(None, "foreign_keys", false)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first while this one waited for its turn.
    if existing == Existing::Keep && identify(&transaction, path)? != DatabaseState::Empty {
        return Ok(());
    }
    drop_tables(&transaction)?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    seed(&Database { transaction: &transaction })?;
    check_references(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Refuses rows that refer to missing rows.
fn check_references(connection: &Connection) -> anyhow::Result<()> {
    let mut find = connection.prepare("SELECT \"table\", parent FROM pragma_foreign_key_check")?;
    let mut broken = find.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    match broken.next().transpose()? {
        None => Ok(()),
        Some((table, parent)) => bail!("one of its `{table}` names one of `{parent}` that there is not"),
    }
}

/// Drops the tables. Ids begin again after the seed, because SQLite drops the count of a table with the table.
fn drop_tables(connection: &Connection) -> rusqlite::Result<()> {
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for table in tables {
        connection.execute_batch(&format!("DROP TABLE \"{table}\""))?;
    }
    Ok(())
}

/// Sets the journal mode. SQLite does not wait when the mode changes, so this does.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(2);
    let mut patience = BUSY_TIMEOUT.as_millis() / PAUSE.as_millis();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if patience > 0 && is_busy(&error) => {
                patience -= 1;
                std::thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// The pause before a database is opened again after an I/O error.
pub(super) const REOPEN_PAUSE: Duration = Duration::from_millis(100);

/// Whether SQLite met a system error, which may be gone a moment later.
pub(super) fn is_io_error(error: &anyhow::Error) -> bool {
    let code = error.chain().find_map(|cause| cause.downcast_ref::<rusqlite::Error>()?.sqlite_error_code());
    matches!(code, Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Creates an empty file that only its owner may read, in a directory that only its owner can enter; SQLite gives the
/// files beside it the same mode.
fn create_private(path: &Path) -> std::io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let builder = &mut DirBuilder::new();
    let options = &mut OpenOptions::new();
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    }
    builder.recursive(true).create(directory).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            let above = directory.ancestors().find(|above| above.is_file()).unwrap_or(directory);
            std::io::Error::new(ErrorKind::NotADirectory, format!("`{}` is not a directory", above.display()))
        }
        _ => error,
    })?;
    options.create(true).truncate(false).write(true).open(path).map(drop)
}
