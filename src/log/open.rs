//! How the log is set up, and the failures of one that cannot be used.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Connection;

use super::FILE_NAME;
use crate::system::database::{DatabaseError, use_write_ahead_log};
use crate::system::environment::STATE_HOME;
use crate::system::shell::Shell;
use crate::system::storage::parent;
use storefront_core::failure::{Failure, FailureKind};

/// Marks a SQLite file as a log (`PRAGMA application_id`): "SFLG".
const APPLICATION_ID: i64 = 0x5346_4c47;

/// The migrations, in the order in which they were added. Do not change them or their order: `user_version` counts those
/// that a log has had.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("schema.sql"), include_str!("runs.sql")];

/// Sets a connection up, and brings the tables up to date.
///
/// # Errors
/// `Newer` and `Foreign` for a file that this version does not read, and SQLite's errors.
pub fn prepare(connection: &mut Connection) -> Result<(), DatabaseError> {
    let found = identify(connection)?;
    if found < MIGRATIONS.len() {
        use_write_ahead_log(connection)?;
    }
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if found < MIGRATIONS.len() {
        migrate(connection)?;
    }
    Ok(())
}

/// How many migrations it has had.
fn identify(connection: &Connection) -> Result<usize, DatabaseError> {
    let (application, version, tables): (i64, i64, i64) = connection.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION_ID, 0..) => match usize::try_from(version) {
            Ok(version) if version <= MIGRATIONS.len() => Ok(version),
            _ => Err(DatabaseError::Newer),
        },
        _ => Err(DatabaseError::Foreign),
    }
}

fn migrate(connection: &mut Connection) -> Result<(), DatabaseError> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have migrated it while this one waited.
    for migration in MIGRATIONS.iter().skip(identify(&transaction)?) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX))?;
    Ok(transaction.commit()?)
}

/// The failure of a log that cannot be used.
pub fn unusable(path: &Path, error: &DatabaseError, now: Timestamp) -> Failure {
    let failure = Failure::guard(format!("the log `{}` cannot be used: {error}", path.display()));
    match error {
        DatabaseError::Busy => Failure { kind: FailureKind::Unavailable, ..failure }.hint("try again"),
        DatabaseError::Full => failure.hint("nothing is sent that cannot be noted: free some disk space"),
        DatabaseError::Newer => failure.hint(format!(
            "use the newer version, or start a new log with `{}`; {LOST}",
            set_aside(path, now)
        )),
        DatabaseError::Damaged => failure.hint(damaged(path, now)),
        DatabaseError::Foreign => {
            failure.hint(format!("move that file away with `{}`", set_aside(path, now)))
        }
        DatabaseError::Network(_) => {
            failure.hint(format!("set {STATE_HOME} to a directory on a disk of this machine"))
        }
        DatabaseError::Other(_) => failure.hint(format!(
            "nothing is sent that cannot be noted: check the directory, or set {STATE_HOME} to another one"
        )),
    }
}

/// What a new log lacks.
const LOST: &str = "the new one has no history and no undo, does not know which outcomes are open nor what was written in \
     the last minutes, and would let the same input or a copy of an applied plan be sent again";

/// The hint about a damaged log.
pub fn damaged(path: &Path, now: Timestamp) -> String {
    format!(
        "put back a copy of it and of its two companions, or start a new log with `{}`; {LOST}",
        set_aside(path, now)
    )
}

/// The command that moves the file and its two companions away.
fn set_aside(path: &Path, now: Timestamp) -> String {
    let away = parent(path).join(now.strftime("log-%Y%m%dT%H%M%SZ").to_string());
    let quote = |path: &Path| Shell::NATIVE.quote(&path.display().to_string()).to_string();
    let away = quote(&away);
    let here = quote(parent(path));
    if cfg!(windows) {
        let all = quote(&path.with_file_name(format!("{FILE_NAME}*")));
        format!("mkdir {away}; mv {all} {away}")
    } else {
        format!("mkdir {away} && mv {here}/{FILE_NAME}* {away}")
    }
}
