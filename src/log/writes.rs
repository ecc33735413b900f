//! Writes: the calls that change something, from the gate to what became of them.

use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use rusqlite::types::Null;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::names::{email_hash, keyed_hash};
use super::{Durability, RunId, WriteLog, stored, time};
use crate::system::database::DatabaseError;
use crate::system::environment::STATE_HOME;
use storefront_core::effect::Effect;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::outcome::WriteOutcome;
use storefront_core::text::exact_json;

/// The id of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(pub i64);

impl Display for WriteId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// What a write changes: the kind of thing, and which one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// `customer`, …
    pub kind: &'static str,
    /// Its id at the service; `None` until the call creates it.
    pub id: Option<String>,
    /// The store view, if it has a value for each.
    pub scope: Option<String>,
}

impl Owner {
    /// A customer, by the id, or by the email of one who has none.
    pub fn customer(key: &str) -> Self {
        Self { kind: "customer", id: Some(key.to_owned()), scope: None }
    }
}

/// Whose data a write holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    /// The id of the customer.
    pub customer: Option<String>,
    /// Their email, which is kept as a hash.
    pub email: Option<String>,
    /// Their email after the write.
    pub email_after: Option<String>,
}

impl People {
    /// The person whose profile this is; `customer` is the id, or the email of a customer without an id.
    pub fn of(customer: &str, profile: &Document) -> Self {
        let email = |of: &Map<String, Value>| of.get("email").and_then(Value::as_str).map(str::to_owned);
        Self {
            customer: Some(customer.to_owned()).filter(|customer| !customer.contains('@')),
            email: email(&profile.stored),
            email_after: email(&profile.sent),
        }
    }
}

/// The whole document of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// As it was stored.
    pub stored: Map<String, Value>,
    /// As it was sent.
    pub sent: Map<String, Value>,
}

/// A write that is about to leave.
#[derive(Debug, Clone)]
pub struct NewWrite {
    /// The command.
    pub run: RunId,
    /// Whether it is made from the same read as the first write that passes the gate with it.
    pub is_part: bool,
    /// For a batch: the line that names the record, and its hash.
    pub record: Option<(u64, u64)>,
    /// The length of the journal with the record's `sending`.
    pub journal_length: Option<u64>,
    /// The name of the call.
    pub call: String,
    /// The service.
    pub service: String,
    /// What it changes.
    pub owner: Owner,
    /// The change, as JSON.
    pub effect: String,
    /// The whole document of a replacement.
    pub document: Option<Document>,
    /// Whose data it holds.
    pub people: People,
}

/// The name of a write for people: the id of its run, with the number of the record in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WriteName {
    /// A write of this name.
    pub id: WriteId,
    /// The run.
    pub run: RunId,
    /// The number of the record.
    pub record: Option<u64>,
}

impl Display for WriteName {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.run.name(self.record).fmt(out)
    }
}

/// A write that is in the log.
#[derive(Debug, Clone)]
pub struct Write {
    /// Its id.
    pub id: WriteId,
    /// The command.
    pub run: RunId,
    /// The first of the calls that are made from the same read; `None` if this is the first.
    pub part_of: Option<WriteId>,
    /// The line that names its record.
    pub record: Option<u64>,
    /// The name of the call.
    pub call: String,
    /// The operation of the command.
    pub operation: String,
    /// The service.
    pub service: String,
    /// What kind of thing its owner is.
    pub owner_kind: String,
    /// The id of its owner.
    pub owner: Option<String>,
    /// The customer whose data it holds, if known.
    pub customer: Option<String>,
    /// The change.
    pub effect: Value,
    /// When it left.
    pub left_at: Timestamp,
    /// What became of it; unknown while it is open.
    pub outcome: WriteOutcome,
    /// Whether its outcome was not noted.
    pub is_open: bool,
    /// Whether its command has ended: of one that was killed, nobody knows what it said.
    pub has_ended: bool,
}

impl Write {
    /// The name that people know it by.
    pub const fn name(&self) -> WriteName {
        WriteName { id: self.id, run: self.run, record: self.record }
    }

    /// The first of the calls that were made from the same read.
    pub fn first(&self) -> WriteId {
        self.part_of.unwrap_or(self.id)
    }

    /// Whether it changes this owner.
    pub fn is_to(&self, owner: &Owner) -> bool {
        self.owner_kind == owner.kind && self.owner == owner.id
    }

    /// What it changed, in words: `cart 4`.
    pub fn owner_in_words(&self) -> String {
        match &self.owner {
            Some(owner) => format!("{} {owner}", self.owner_kind),
            None => self.owner_kind.clone(),
        }
    }

    /// What it changes, with what was seen of that; `None` for a call of which nobody knows what it changes.
    pub fn changes(&self) -> Option<Effect> {
        serde_json::from_value(self.effect.clone()).ok()
    }

    /// As [`Self::changes`]; after a mismatch a place where the look showed the value before counts as not seen: what was sent is what
    /// was written.
    pub fn asked(&self) -> Option<Effect> {
        let mut effect = self.changes()?;
        if self.outcome.is_mismatch() {
            let unseen = effect.changes.iter_mut().filter(|change| change.was_seen_as_before());
            unseen.for_each(|change| change.seen = None);
        }
        Some(effect)
    }
}

/// Whether a write may have been applied, as a condition on its row; one without an outcome may have been.
pub(super) const MAY_BE_APPLIED: &str =
    "coalesce(outcome ->> 'outcome', 'unknown') NOT IN ('not sent', 'refused')";

/// The last run that may have applied something.
fn last_that_sent(writes: &[Write]) -> Option<RunId> {
    writes.iter().filter(|write| write.outcome.may_be_applied()).map(|write| write.run).max()
}

const SELECT: &str = "SELECT write.id, run, part_of, record, call, operation, write.service, owner, effect, left_at, \
     outcome, owner_kind, customer, ended IS NOT NULL FROM write JOIN run ON run.id = write.run";

fn read(row: &Row<'_>) -> rusqlite::Result<Write> {
    let json = |text: Option<String>| text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let left_at = time(row.get(9)?);
    let outcome: Option<WriteOutcome> =
        row.get::<_, Option<String>>(10)?.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Write {
        id: WriteId(row.get(0)?),
        run: RunId(row.get(1)?),
        part_of: row.get::<_, Option<i64>>(2)?.map(WriteId),
        record: row.get::<_, Option<i64>>(3)?.map(i64::cast_unsigned),
        call: row.get(4)?,
        operation: row.get(5)?,
        service: row.get(6)?,
        owner: row.get(7)?,
        effect: json(row.get(8)?).unwrap_or_default(),
        left_at,
        outcome: outcome.unwrap_or(WriteOutcome::Unknown { sent_at: left_at }),
        is_open: outcome.is_none(),
        owner_kind: row.get(11)?,
        customer: row.get(12)?,
        has_ended: row.get(13)?,
    })
}

/// A write that is in the log and has not left. If the command ends before it leaves, by an error or a signal, that is
/// noted. Only a process that dies leaves it open.
#[derive(Debug)]
pub struct OpenWrite {
    log: WriteLog,
    id: Arc<OnceLock<i64>>,
    has_left: bool,
}

impl OpenWrite {
    /// Its id.
    pub fn id(&self) -> WriteId {
        WriteId(self.id.get().copied().unwrap_or_default())
    }

    /// The call leaves now.
    pub fn leaves(mut self) -> WriteId {
        self.has_left = true;
        self.id()
    }
}

impl Drop for OpenWrite {
    fn drop(&mut self) {
        if !self.has_left {
            let closing = Closing::of(WriteOutcome::NotSent, stored(self.log.clock.now()), None);
            let id = self.id.clone();
            // The commit of the write may still be under way: this one comes after it.
            self.log.commit_later(move |connection| match id.get() {
                Some(id) => closing.note(connection, *id),
                None => Ok(()),
            });
        }
    }
}

/// What is noted of a write once its outcome is known.
struct Closing {
    outcome: String,
    at: i64,
    /// The effect with what was seen, and the id of its owner, if they are known.
    effect: Option<String>,
    owner: Option<String>,
}

impl Closing {
    fn of(outcome: WriteOutcome, at: i64, effect: Option<&Effect>) -> Self {
        Self {
            outcome: serde_json::to_string(&outcome).unwrap_or_default(),
            at,
            effect: effect.and_then(|effect| serde_json::to_string(effect).ok()),
            owner: effect.and_then(|effect| effect.owner.id.clone()),
        }
    }

    fn note(&self, connection: &Connection, id: i64) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "UPDATE write SET outcome = ?2, closed_at = ?3, effect = coalesce(?4, effect), \
                                  owner = coalesce(owner, ?5) WHERE id = ?1",
            )?
            .execute(params![id, self.outcome, self.at, self.effect, self.owner])
            .map(drop)
    }
}

impl WriteLog {
    /// Puts a write into the log, synced; after that its call may leave.
    ///
    /// # Errors
    /// `unavailable` if another process was in the way for a second, `guard` if the log cannot be written. Then nothing
    /// of it is in the log, and the call must not leave.
    pub async fn gate(&self, write: NewWrite) -> Result<OpenWrite, Failure> {
        let opened = self.gate_all(vec![write]).await?.pop();
        opened.ok_or_else(|| Failure::internal("the log gave no answer"))
    }

    /// As [`Self::gate`], for several writes at once.
    ///
    /// # Errors
    /// As [`Self::gate`].
    pub async fn gate_all(&self, writes: Vec<NewWrite>) -> Result<Vec<OpenWrite>, Failure> {
        let left_at = stored(self.clock.now());
        let new = |write: NewWrite| (write, Arc::<OnceLock<i64>>::default());
        let writes: Vec<_> = writes.into_iter().map(new).collect();
        let open = |(_, id): &(NewWrite, Arc<OnceLock<i64>>)| OpenWrite {
            log: self.clone(),
            id: id.clone(),
            has_left: false,
        };
        let opened = writes.iter().map(open).collect();
        let insert_all = move |connection: &Connection| {
            let mut first = None;
            for (write, id) in &writes {
                let given = insert(connection, write, first.filter(|_| write.is_part), left_at)?;
                id.get_or_init(|| given);
                first.get_or_insert(given);
            }
            Ok(())
        };
        self.commit(Durability::Synced, insert_all).await.map_err(|error| unwritable(&error))?;
        Ok(opened)
    }

    /// Notes the outcome of a write, and its effect with what was seen, if a look has closed it. This does not wait: it is in
    /// the log before later commits, before later reads, and before the process ends. If it cannot be noted, the write
    /// stays open, and the next command finds out for itself, as it does if the process dies before this.
    pub fn close(&self, id: WriteId, outcome: WriteOutcome, effect: Option<&Effect>) {
        let closing = Closing::of(outcome, stored(self.clock.now()), effect);
        self.commit_later(move |connection| closing.note(connection, id.0));
    }

    /// Notes that a read shows these writes: those of unknown outcome are closed with what it shows of them. From then on
    /// they are what a later read has to show.
    pub fn note_shown<'a>(&self, writes: impl IntoIterator<Item = &'a Write>, document: &Map<String, Value>) {
        let at = self.clock.now();
        let is_unknown = |write: &&Write| matches!(write.outcome, WriteOutcome::Unknown { .. });
        for write in writes.into_iter().filter(is_unknown) {
            let Some(mut effect) = write.changes() else { continue };
            effect.close(document);
            self.close(write.id, WriteOutcome::Applied { at, verified: true }, Some(&effect));
        }
    }

    /// At most `limit` writes of an owner that are older than `before`, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn newest(
        &self,
        service: &str,
        owner: &Owner,
        before: Option<WriteId>,
        limit: usize,
    ) -> Result<Vec<Write>, Failure> {
        let before = before.map_or(i64::MAX, |before| before.0);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let find = format!(
            "{SELECT} WHERE write.service = ?1 AND owner_kind = ?2 AND owner = ?3 AND write.id < ?4 \
             ORDER BY write.id DESC LIMIT ?5"
        );
        self.read(|connection| {
            let mut find = connection.prepare_cached(&find)?;
            find.query_map(params![service, owner.kind, owner.id, before, limit], read)?.collect()
        })
    }

    /// The writes to things of this kind that left after `since`, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub(super) fn newest_of_kind(
        &self,
        service: &str,
        kind: &str,
        since: Timestamp,
    ) -> Result<Vec<Write>, Failure> {
        let find = format!(
            "{SELECT} WHERE write.service = ?1 AND owner_kind = ?2 AND left_at > ?3 ORDER BY write.id DESC"
        );
        self.read(|connection| {
            let mut find = connection.prepare_cached(&find)?;
            find.query_map(params![service, kind, stored(since)], read)?.collect()
        })
    }

    /// The write with this id.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn write(&self, id: WriteId) -> Result<Option<Write>, Failure> {
        let find = format!("{SELECT} WHERE write.id = ?1");
        self.read(|connection| connection.prepare_cached(&find)?.query_row([id.0], read).optional())
    }

    /// The writes of a run, or of one of its records, in their order.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn writes_of(&self, run: RunId, record: Option<u64>) -> Result<Vec<Write>, Failure> {
        let find = format!("{SELECT} WHERE run = ?1 AND (?2 IS NULL OR record = ?2) ORDER BY write.id");
        self.read(|connection| {
            let mut find = connection.prepare_cached(&find)?;
            find.query_map(params![run.0, record.map(u64::cast_signed)], read)?.collect()
        })
    }

    /// The last write of a run.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn last_of(&self, run: RunId) -> Result<Option<Write>, Failure> {
        // The index has the ids of a run in the order of its records: sorting the rows would read all of them.
        let find = format!("{SELECT} WHERE write.id = (SELECT max(id) FROM write WHERE run = ?1)");
        self.read(|connection| connection.prepare_cached(&find)?.query_row([run.0], read).optional())
    }

    /// Whether a write of a run may have been applied.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn may_be_applied(&self, run: RunId) -> Result<bool, Failure> {
        let find = format!("SELECT EXISTS (SELECT 1 FROM write WHERE run = ?1 AND {MAY_BE_APPLIED})");
        self.read(|connection| connection.prepare_cached(&find)?.query_row([run.0], |row| row.get(0)))
    }

    /// The other calls that were made from the same read as this one, which is the first of them.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn parts_of(&self, first: WriteId) -> Result<Vec<Write>, Failure> {
        let find = format!("{SELECT} WHERE part_of = ?1 ORDER BY write.id");
        self.read(|connection| connection.prepare_cached(&find)?.query_map([first.0], read)?.collect())
    }

    /// The calls that these runs, by their random names, made for a record, in their order.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn writes_of_record(&self, uuids: &[String], record: u64) -> Result<Vec<Write>, Failure> {
        let find = format!(
            "{SELECT} WHERE run.uuid IN (SELECT value FROM json_each(?1)) AND record = ?2 ORDER BY write.id"
        );
        let uuids = Value::from(uuids).to_string();
        self.read(|connection| {
            let mut find = connection.prepare_cached(&find)?;
            find.query_map(params![uuids, record.cast_signed()], read)?.collect()
        })
    }

    /// The writes of a record by the last of these runs that may have applied something of it, in their order.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn last_sent(&self, uuids: &[String], record: u64) -> Result<Vec<Write>, Failure> {
        let mut writes = self.writes_of_record(uuids, record)?;
        let last = last_that_sent(&writes);
        writes.retain(|write| Some(write.run) == last);
        Ok(writes)
    }

    /// The writes of a record that may have been applied. If a run before the last one left one unknown, the last run has
    /// found it out, or sent it again.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn standing(&self, uuids: &[String], record: u64) -> Result<Vec<Write>, Failure> {
        let mut writes = self.writes_of_record(uuids, record)?;
        let last = last_that_sent(&writes);
        writes.retain(|write| {
            let is_unknown = matches!(write.outcome, WriteOutcome::Unknown { .. });
            write.outcome.may_be_applied() && (!is_unknown || Some(write.run) == last)
        });
        Ok(writes)
    }

    /// The whole document of a replacement, by the first of its calls.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn document(&self, first: WriteId) -> Result<Option<Document>, Failure> {
        let found: Option<(String, String)> = self.read(|connection| {
            connection
                .prepare_cached("SELECT stored, sent FROM document WHERE write = ?1")?
                .query_row([first.0], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })?;
        let object = |text: String| {
            exact_json::parse_object(text.as_bytes())
                .map_err(|error| Failure::guard(format!("a document in the log cannot be read: {error}")))
        };
        found.map(|(stored, sent)| Ok(Document { stored: object(stored)?, sent: object(sent)? })).transpose()
    }

    /// Deletes rows; returns their number.
    pub(super) async fn delete(
        &self,
        step: impl FnOnce(&Connection) -> rusqlite::Result<usize> + Send + 'static,
    ) -> Result<usize, Failure> {
        self.commit(Durability::Buffered, step).await.map_err(|error| unwritable(&error))
    }
}

/// The failure of a commit before anything left.
pub(super) fn unwritable(error: &DatabaseError) -> Failure {
    let message = format!("the log of this machine cannot be written: {error}");
    match error {
        DatabaseError::Busy => Failure::new(FailureKind::Unavailable, message).hint("try again"),
        _ => Failure { cannot_be_noted: true, ..Failure::guard(message) }
            .hint(format!("nothing is sent that cannot be noted: free some disk space, or set {STATE_HOME}")),
    }
}

fn insert(
    connection: &Connection,
    write: &NewWrite,
    part_of: Option<i64>,
    left_at: i64,
) -> rusqlite::Result<i64> {
    let hash_of =
        |email: &Option<String>| email.as_deref().map(|email| email_hash(connection, email)).transpose();
    let email = hash_of(&write.people.email)?;
    let email_after = hash_of(&write.people.email_after)?;
    let (record, hash) = write.record.unzip();
    let record_hash =
        hash.map(|hash| keyed_hash(connection, "record", &format!("{hash:016x}"))).transpose()?;
    connection
        .prepare_cached(
            "INSERT INTO write (run, part_of, record, record_hash, call, service, owner_kind, owner, scope, effect, \
                                customer, email, email_after, left_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            write.run.0,
            part_of,
            record.map(u64::cast_signed),
            record_hash,
            write.call,
            write.service,
            write.owner.kind,
            write.owner.id,
            write.owner.scope,
            write.effect,
            write.people.customer,
            email,
            email_after,
            left_at
        ])?;
    let id = connection.last_insert_rowid();
    if let Some(Document { stored, sent }) = &write.document {
        connection
            .prepare_cached("INSERT INTO document (write, stored, sent) VALUES (?1, ?2, ?3)")?
            .execute(params![id, Text(stored), Text(sent)])?;
    }
    if let Some(length) = write.journal_length {
        connection
            .prepare_cached("UPDATE run SET journal_length = max(journal_length, ?2) WHERE id = ?1")?
            .execute(params![write.run.0, length.cast_signed()])?;
    }
    Ok(id)
}

/// An object, stored as its text.
struct Text<'a>(&'a Map<String, Value>);

impl rusqlite::ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        match serde_json::to_string(self.0) {
            Ok(text) => Ok(text.into()),
            Err(_) => Null.to_sql(),
        }
    }
}
