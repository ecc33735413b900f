//! Runs: the commands that wrote.

use std::fmt::{self, Display, Formatter};

use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::writes::{MAY_BE_APPLIED, unwritable};
use super::{Durability, Owner, WriteLog, stored, time};
use storefront_core::failure::Failure;
use storefront_core::text::hash::hex;

/// The id of a run: what people name a command by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

impl Display for RunId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl RunId {
    /// The name of the run, or of one of its records: `1042`, `1042:7`.
    pub fn name(self, record: Option<u64>) -> String {
        record.map_or_else(|| self.to_string(), |record| format!("{self}:{record}"))
    }
}

/// A random name for a run, 32 hexadecimal digits: it is in the journal, too.
pub fn new_uuid() -> String {
    let mut bytes = [0; 16];
    // Without random numbers the system has no TLS either.
    let _ = SystemRandom::new().fill(&mut bytes);
    hex(&bytes)
}

/// A command that is about to write.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Its random name.
    pub uuid: String,
    /// The service, as [`crate::config::ServiceId`] names it.
    pub service: String,
    /// The store view.
    pub store_view: Option<String>,
    /// The profile.
    pub profile: Option<String>,
    /// The operation.
    pub operation: String,
    /// The arguments, without what is secret.
    pub arguments: Vec<String>,
    /// The path of its journal with the header of that, if it has one.
    pub journal: Option<(String, Value)>,
    /// For how many days it is kept.
    pub retention_days: u32,
    /// The run that it undoes.
    pub undoes: Option<RunId>,
    /// Whether it was killed before it was in the log, which then does not have all that it may have sent.
    pub is_lost: bool,
}

/// A member of the header of a run's journal in the log: whether the run began the journal, whatever was in its place.
pub const BEGINS: &str = "begins";

/// What a run wrote into its journal.
#[derive(Debug, Clone)]
pub struct Wrote {
    /// The run.
    pub id: RunId,
    /// Its random name.
    pub uuid: String,
    /// How long the journal was when its last request left, in bytes.
    pub length: u64,
}

/// A run that is in the log.
#[derive(Debug, Clone)]
pub struct LoggedRun {
    /// Its id.
    pub id: RunId,
    /// The service.
    pub service: String,
    /// The profile.
    pub profile: Option<String>,
    /// The operation.
    pub operation: String,
    /// The arguments, without what is secret.
    pub arguments: Vec<String>,
    /// The path of its journal with the header of that, if it has one.
    pub journal: Option<(String, Value)>,
    /// How long the journal was when its last request left, in bytes.
    pub journal_length: u64,
    /// When it began.
    pub began: Timestamp,
    /// When it ended; `None` if it runs or was killed.
    pub ended: Option<Timestamp>,
    /// The run that it undoes.
    pub undoes: Option<RunId>,
}

const COLUMNS: &str =
    "id, service, profile, operation, journal, header, journal_length, began, ended, undoes, arguments";

fn read(row: &Row<'_>) -> rusqlite::Result<LoggedRun> {
    let (journal, header): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
    let header = header.and_then(|header| serde_json::from_str(&header).ok());
    Ok(LoggedRun {
        id: RunId(row.get(0)?),
        service: row.get(1)?,
        profile: row.get(2)?,
        operation: row.get(3)?,
        journal: journal.zip(header),
        journal_length: row.get::<_, i64>(6)?.cast_unsigned(),
        began: time(row.get(7)?),
        ended: row.get::<_, Option<i64>>(8)?.map(time),
        undoes: row.get::<_, Option<i64>>(9)?.map(RunId),
        arguments: row
            .get::<_, Option<String>>(10)?
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default(),
    })
}

impl LoggedRun {
    /// Whether this is the path of its journal.
    pub fn is_over(&self, journal: &str) -> bool {
        self.journal.as_ref().is_some_and(|(own, _)| own == journal)
    }
}

impl WriteLog {
    /// Notes that a command is about to write. It is synced with its first write; that of a batch at once, because a journal
    /// that notes records of a run which is not in the log counts as an older one.
    ///
    /// # Errors
    /// `guard` where the log cannot be written.
    pub async fn begin_run(&self, run: NewRun) -> Result<RunId, Failure> {
        let now = stored(self.clock.now());
        let durability = if run.journal.is_some() { Durability::Synced } else { Durability::Buffered };
        let begin = move |connection: &Connection| {
            let arguments = Value::from(run.arguments).to_string();
            let (journal, header) = run.journal.unzip();
            connection
                .prepare_cached(
                    "INSERT INTO run (uuid, service, store_view, profile, operation, arguments, journal, header, began, \
                                      retention_days, undoes, is_whole) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                )?
                .execute(params![
                    run.uuid,
                    run.service,
                    run.store_view,
                    run.profile,
                    run.operation,
                    arguments,
                    journal,
                    header.map(|header| header.to_string()),
                    now,
                    run.retention_days,
                    run.undoes.map(|undone| undone.0),
                    !run.is_lost
                ])?;
            Ok(RunId(connection.last_insert_rowid()))
        };
        self.commit(durability, begin).await.map_err(|error| unwritable(&error))
    }

    /// Notes that a run ended, and whether it left nothing to do.
    pub fn end_run(&self, run: RunId, is_complete: bool) {
        let now = stored(self.clock.now());
        self.commit_later(move |connection| {
            let end = "UPDATE run SET ended = ?2, is_complete = ?3 WHERE id = ?1";
            connection.execute(end, params![run.0, now, is_complete]).map(drop)
        });
    }

    /// The run with this id.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn run(&self, id: RunId) -> Result<Option<LoggedRun>, Failure> {
        let find = format!("SELECT {COLUMNS} FROM run WHERE id = ?1");
        self.read(|connection| connection.prepare_cached(&find)?.query_row([id.0], read).optional())
    }

    /// The runs that wrote to a service, and to this owner there, newest first; for a batch only the last one.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn runs(
        &self,
        service: &str,
        owner: Option<&Owner>,
        limit: Option<usize>,
    ) -> Result<Vec<LoggedRun>, Failure> {
        let is_meant = if owner.is_some() {
            "id IN (SELECT run FROM own UNION SELECT run.id FROM run JOIN run AS of ON run.journal = of.journal \
                    WHERE of.id IN own)"
        } else {
            "(journal IS NOT NULL OR EXISTS (SELECT 1 FROM write WHERE write.run = run.id))"
        };
        let find = format!(
            "WITH own AS (SELECT run FROM write WHERE service = ?1 AND owner_kind = ?2 AND owner = ?3) \
             SELECT {COLUMNS} FROM run WHERE service = ?1 AND {is_meant} \
             AND NOT EXISTS (SELECT 1 FROM run AS later WHERE later.journal = run.journal AND later.id > run.id) \
             ORDER BY id DESC LIMIT ?4"
        );
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let (kind, id) = owner.map(|owner| (owner.kind, owner.id.clone())).unzip();
        self.read(|connection| {
            let mut find = connection.prepare_cached(&find)?;
            find.query_map(params![service, kind, id.flatten(), limit], read)?.collect()
        })
    }

    /// The runs that undo this one and may have applied something, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn undos_of(&self, run: RunId) -> Result<Vec<RunId>, Failure> {
        let find = format!(
            "SELECT DISTINCT run FROM write WHERE run IN (SELECT id FROM run WHERE undoes = ?1) AND {MAY_BE_APPLIED} \
             ORDER BY run DESC"
        );
        self.read(|connection| {
            connection.prepare_cached(&find)?.query_map([run.0], |row| Ok(RunId(row.get(0)?)))?.collect()
        })
    }

    /// The last run over each journal, the one that began last first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn runs_with_journals(&self) -> Result<Vec<LoggedRun>, Failure> {
        let find = format!(
            "SELECT {COLUMNS} FROM run WHERE id IN \
             (SELECT max(id) FROM run WHERE journal IS NOT NULL GROUP BY journal) ORDER BY id DESC"
        );
        self.read(|connection| connection.prepare_cached(&find)?.query_map([], read)?.collect())
    }

    /// The last run over this journal.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn last_over(&self, journal: &str) -> Result<Option<RunId>, Failure> {
        let find = "SELECT max(id) FROM run WHERE journal = ?1";
        let found: Option<i64> =
            self.read(|connection| connection.prepare_cached(find)?.query_row([journal], |row| row.get(0)))?;
        Ok(found.map(RunId))
    }

    /// The last run of the batch whose first run has this random name. A batch that was started over in the same journal
    /// is a different batch.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn last_of_batch(&self, first: &str) -> Result<Option<RunId>, Failure> {
        let find = "SELECT max(run.id) FROM run JOIN run AS first ON run.journal = first.journal AND first.uuid = ?1 \
                    WHERE run.id >= first.id AND NOT EXISTS (SELECT 1 FROM run AS again \
                      WHERE again.journal = run.journal AND again.id > first.id AND again.id <= run.id \
                      AND again.header ->> ?2)";
        let last = |row: &Row<'_>| row.get(0);
        let found: Option<i64> =
            self.read(|connection| connection.prepare_cached(find)?.query_row([first, BEGINS], last))?;
        Ok(found.map(RunId))
    }

    /// The runs that sent something and that a complete journal at this place must have, newest first: those since it was
    /// started, and those of the batch of the `named` runs, wherever that had its journal.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn wrote(&self, journal: &str, named: &[String]) -> Result<Vec<Wrote>, Failure> {
        let find = "WITH first AS (\
                      SELECT max(id) AS id FROM run WHERE journal = ?1 AND header ->> ?3 \
                      UNION SELECT min(id) FROM run WHERE uuid IN (SELECT value FROM json_each(?2)) AND journal IS NOT NULL) \
                    SELECT DISTINCT run.id, run.uuid, run.journal_length FROM first JOIN run AS begun USING (id) \
                    JOIN run ON run.journal = begun.journal AND run.id >= begun.id \
                    WHERE run.journal_length > 0 AND NOT EXISTS (SELECT 1 FROM run AS again \
                      WHERE again.journal = run.journal AND again.id > begun.id AND again.id <= run.id \
                      AND again.header ->> ?3) ORDER BY run.id DESC";
        let wrote = |row: &Row<'_>| {
            let length = row.get::<_, i64>(2)?.cast_unsigned();
            Ok(Wrote { id: RunId(row.get(0)?), uuid: row.get(1)?, length })
        };
        let named = Value::from(named).to_string();
        self.read(|connection| {
            connection.prepare_cached(find)?.query_map(params![journal, named, BEGINS], wrote)?.collect()
        })
    }

    /// How many of the runs with these random names are in this log.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn known_runs(&self, uuids: &[String]) -> Result<usize, Failure> {
        let find = "SELECT count(*) FROM run WHERE uuid IN (SELECT value FROM json_each(?1))";
        let uuids = Value::from(uuids).to_string();
        let count: i64 =
            self.read(|connection| connection.prepare_cached(find)?.query_row([uuids], |row| row.get(0)))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Those of the records of a journal with these runs of which nothing was sent, whatever the journal says: what is
    /// sent is in the log first. None if the log does not have all of the runs, with all of their writes: another machine
    /// may have sent the records.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn unsent(&self, uuids: &[String], records: &[u64]) -> Result<Vec<u64>, Failure> {
        let find = "SELECT asked.value FROM json_each(?2) AS asked \
                    WHERE (SELECT count(*) FROM run WHERE is_whole AND uuid IN (SELECT value FROM json_each(?1))) = ?3 \
                    AND NOT EXISTS (SELECT 1 FROM write JOIN run ON run.id = write.run \
                      WHERE uuid IN (SELECT value FROM json_each(?1)) AND record = asked.value \
                      AND coalesce(outcome ->> 'outcome', '') != 'not sent')";
        let count = i64::try_from(uuids.len()).unwrap_or(i64::MAX);
        let uuids = Value::from(uuids).to_string();
        let records = Value::from(records).to_string();
        self.read(|connection| {
            let mut find = connection.prepare_cached(find)?;
            let number = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
            find.query_map(params![uuids, records, count], number)?.collect()
        })
    }
}
