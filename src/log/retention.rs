//! What is deleted from the log: old rows, at most once a day or, where nothing is to be kept, with each command; and what a person
//! asks for.
//!
//! A write is kept for the `retention-days` of the profile that it was made with. What later commands need stays longer:
//! a write whose outcome is open or a mismatch for 90 days, and every write for 10 minutes. The row of a run without
//! writes stays for a year, without anything that names people: its journal is known by it.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use super::names::email_hash;
use super::writes::unwritable;
use super::{RunId, WriteId, WriteLog, WriteName, stored};
use crate::system::database::Durability;
use storefront_core::failure::Failure;
use storefront_core::outcome::MAX_LATENESS;

/// How often old rows are looked for.
const INTERVAL: SignedDuration = SignedDuration::from_hours(24);
/// The least number of days that a write is kept whose outcome is open or a mismatch.
const OPEN_DAYS: i64 = 90;
/// The number of days that the row of a run is kept.
const RUN_DAYS: i64 = 365;
const DAY: i64 = 86_400_000_000;

/// Whether the outcome of a write is open or a mismatch.
const IS_OPEN: &str = "(write.outcome IS NULL OR write.outcome ->> 'outcome' IN ('unknown', 'mismatch'))";
/// The log's key for the person whose data a write holds.
const PERSON: &str = "iif(write.owner_kind = 'customer', coalesce(write.owner, ''), write.customer)";
/// When something last happened to a write.
const TOUCHED: &str = "max(write.left_at, coalesce(write.closed_at, write.left_at))";

/// Whose data is deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// That of these customers, by their keys in the log, and of the person with this email.
    Customers(Vec<String>, Option<String>),
    /// That of the order with this id.
    Order(u64),
    /// Everybody's, if it is older.
    Before(Timestamp),
    /// Everybody's.
    Everybody,
}

/// What is deleted, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of writes.
    pub writes: usize,
    /// The customers of these writes.
    pub customers: BTreeSet<String>,
    /// How many of these writes are of the last 10 minutes.
    pub recent: usize,
    /// How many tokens and emails lead to these customers.
    pub names: usize,
    /// The journals of the runs.
    pub journals: BTreeSet<String>,
}

/// Which writes are meant, in SQL; `?1` is the service, `?2` a list of customers or orders, `?3` the hash of an email, `?4` a time.
fn is_meant(whose: &Whose) -> &'static str {
    match whose {
        Whose::Customers(..) => {
            "write.service = ?1 AND (write.owner_kind = 'customer' AND write.owner IN (SELECT value FROM json_each(?2)) \
             OR write.customer IN (SELECT value FROM json_each(?2)) OR write.email = ?3 OR write.email_after = ?3) \
             AND ?4 IS NULL"
        }
        Whose::Order(_) => {
            "write.service = ?1 AND write.owner_kind = 'order' AND write.owner IN (SELECT value FROM json_each(?2)) \
             AND ?3 IS NULL AND ?4 IS NULL"
        }
        Whose::Before(_) => "write.service = ?1 AND ?2 IS NOT NULL AND ?3 IS NULL AND write.left_at < ?4",
        Whose::Everybody => "write.service = ?1 AND ?2 IS NOT NULL AND ?3 IS NULL AND ?4 IS NULL",
    }
}

/// The parameters of [`is_meant`].
struct Meant {
    service: String,
    customers: String,
    email: Option<Vec<u8>>,
    before: Option<i64>,
}

impl Meant {
    fn of(connection: &Connection, service: &str, whose: &Whose) -> rusqlite::Result<Self> {
        let (customers, email, before) = match whose {
            Whose::Customers(customers, email) => (customers.clone(), email.as_deref(), None),
            Whose::Order(order) => (vec![order.to_string()], None, None),
            Whose::Before(limit) => (Vec::new(), None, Some(stored(*limit))),
            Whose::Everybody => (Vec::new(), None, None),
        };
        let email = email.map(|email| email_hash(connection, email)).transpose()?;
        Ok(Self { service: service.to_owned(), customers: Value::from(customers).to_string(), email, before })
    }
}

impl WriteLog {
    /// Deletes old rows, of all customers of all services, at most once a day, or at once with 0 days, if the clock
    /// is right. `days` is how long the profile of this command keeps rows of `service_name`. What cannot be deleted now is
    /// deleted the next day.
    pub fn expire(&self, service_name: &str, days: u32) {
        let now = self.clock.now();
        let service_name = service_name.to_owned();
        self.commit_later(move |connection| expire(connection, now, &service_name, days));
    }

    /// What would be deleted at this service.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn forgettable(&self, service: &str, whose: &Whose) -> Result<Forgotten, Failure> {
        let recent = stored(self.clock.now()) - MAX_LATENESS.as_micros().try_into().unwrap_or(i64::MAX);
        self.read(|connection| {
            let meant = Meant::of(connection, service, whose)?;
            let find = format!(
                "SELECT {PERSON}, {TOUCHED} > {recent}, run.journal \
                 FROM write JOIN run ON run.id = write.run WHERE {}",
                is_meant(whose)
            );
            let mut find = connection.prepare(&find)?;
            let mut rows = find.query(params![meant.service, meant.customers, meant.email, meant.before])?;
            let mut found = Forgotten::default();
            while let Some(row) = rows.next()? {
                found.writes += 1;
                found.customers.extend(row.get::<_, Option<String>>(0)?);
                found.recent += usize::from(row.get::<_, bool>(1)?);
                found.journals.extend(row.get::<_, Option<String>>(2)?);
            }
            let names = format!("SELECT count(*) FROM name WHERE {}", is_named(whose));
            found.names = connection
                .query_row(&names, params![meant.service, meant.customers, meant.email], |row| {
                    row.get::<_, i64>(0)
                })?
                .try_into()
                .unwrap_or(usize::MAX);
            Ok(found)
        })
    }

    /// Deletes what is kept of these customers, from the database and from its write-ahead log. The caller holds their locks.
    ///
    /// # Errors
    /// `guard` where that is not possible.
    pub async fn forget(&self, service: &str, service_name: &str, whose: &Whose) -> Result<(), Failure> {
        let service = service.to_owned();
        let service_name = service_name.to_owned();
        let whose = whose.clone();
        let forget = move |connection: &Connection| forget(connection, &service, &service_name, &whose);
        self.commit(Durability::Synced, forget).await.map_err(|error| unwritable(&error))?;
        self.truncate()
    }

    /// Deletes all that is kept of a service, in its turn among other commits.
    pub fn forget_later(&self, service: &str) {
        let service = service.to_owned();
        self.commit_later(move |connection| forget(connection, &service, &service, &Whose::Everybody));
    }

    /// The customers of a service for whom this machine has a replacement, in no order.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn customers(&self, service: &str) -> Result<Vec<String>, Failure> {
        let find = "SELECT DISTINCT owner FROM write WHERE service = ?1 AND owner_kind = 'customer' \
                    AND owner IS NOT NULL";
        self.read(|connection| {
            connection.prepare_cached(find)?.query_map([service], |row| row.get(0))?.collect()
        })
    }

    /// The customers of a service who had this email before or after a replacement, or to whom it has led.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn customers_with_email(&self, service: &str, email: &str) -> Result<Vec<String>, Failure> {
        let find = format!(
            "SELECT {PERSON} AS person FROM write WHERE service = ?1 AND email = ?2 AND person IS NOT NULL \
             UNION SELECT {PERSON} AS person FROM write \
             WHERE service = ?1 AND email_after = ?2 AND person IS NOT NULL \
             UNION SELECT customer FROM name WHERE service = ?1 AND hash = ?2"
        );
        self.read(|connection| {
            let hash = email_hash(connection, email)?;
            connection.prepare(&find)?.query_map(params![service, hash], |row| row.get(0))?.collect()
        })
    }

    /// The writes of a service whose outcome is open or a mismatch, each with its owner in words, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn open_writes(&self, service: &str) -> Result<Vec<(String, WriteName)>, Failure> {
        let find = format!(
            "SELECT write.id, run, record, trim(owner_kind || ' ' || coalesce(owner, '')) FROM write \
             WHERE service = ?1 AND {IS_OPEN} ORDER BY write.id DESC"
        );
        let read = |row: &Row<'_>| Ok((row.get(3)?, name(row)?));
        self.read(|connection| connection.prepare(&find)?.query_map([service], read)?.collect())
    }

    /// The names of the replacements of a service, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn write_names(&self, service: &str) -> Result<Vec<WriteName>, Failure> {
        let find = "SELECT max(id), run, record FROM write WHERE service = ?1 AND owner_kind = 'customer' \
             GROUP BY run, record ORDER BY 1 DESC";
        self.read(|connection| connection.prepare(find)?.query_map([service], name)?.collect())
    }

    /// The customers whose replacements belong to a run.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn customers_of_run(&self, service: &str, run: RunId) -> Result<Vec<String>, Failure> {
        let find = "SELECT DISTINCT owner FROM write WHERE service = ?1 AND run = ?2 \
                    AND owner_kind = 'customer' AND owner IS NOT NULL";
        self.read(|connection| {
            connection.prepare(find)?.query_map(params![service, run.0], |row| row.get(0))?.collect()
        })
    }
}

fn name(row: &Row<'_>) -> rusqlite::Result<WriteName> {
    let record = row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned);
    Ok(WriteName { id: WriteId(row.get(0)?), run: RunId(row.get(1)?), record })
}

/// Which names are meant; `?1` to `?3` as in [`is_meant`].
fn is_named(whose: &Whose) -> &'static str {
    match whose {
        Whose::Customers(..) => {
            "service = ?1 AND (customer IN (SELECT value FROM json_each(?2)) OR hash = ?3)"
        }
        Whose::Before(_) | Whose::Order(_) => "service = ?1 AND ?2 IS NULL AND ?3 IS NULL",
        Whose::Everybody => "service = ?1 AND ?2 IS NOT NULL AND ?3 IS NULL",
    }
}

fn forget(connection: &Connection, service: &str, service_name: &str, whose: &Whose) -> rusqlite::Result<()> {
    let meant = Meant::of(connection, service, whose)?;
    let writes = format!("DELETE FROM write WHERE {}", is_meant(whose));
    connection.execute(&writes, params![meant.service, meant.customers, meant.email, meant.before])?;
    let names = format!("DELETE FROM name WHERE {}", is_named(whose));
    connection.execute(&names, params![meant.service, meant.customers, meant.email])?;
    match whose {
        Whose::Customers(..) => {
            let reads =
                "DELETE FROM last_read WHERE service = ?1 AND customer IN (SELECT value FROM json_each(?2))";
            connection.execute(reads, params![meant.service, meant.customers])?;
            connection.execute("DELETE FROM seen_address WHERE service = ?1", [service_name])?;
        }
        Whose::Order(_) => {}
        Whose::Before(_) => {
            connection.execute(
                "DELETE FROM last_read WHERE service = ?1 AND at < ?2",
                params![meant.service, meant.before],
            )?;
            connection.execute(
                "DELETE FROM seen_address WHERE service = ?1 AND at < ?2",
                params![service_name, meant.before],
            )?;
        }
        Whose::Everybody => {
            connection.execute("DELETE FROM last_read WHERE service = ?1", [service])?;
            connection.execute("DELETE FROM seen_address WHERE service = ?1", [service_name])?;
            connection.execute("DELETE FROM default_option WHERE service = ?1", [service])?;
            connection.execute("DELETE FROM run WHERE service = ?1", [service])?;
        }
    }
    // The arguments may name people.
    let blank = "UPDATE run SET arguments = NULL WHERE service = ?1 AND arguments IS NOT NULL \
                 AND NOT EXISTS (SELECT 1 FROM write WHERE write.run = run.id)";
    connection.execute(blank, [service]).map(drop)
}

fn expire(connection: &Connection, now: Timestamp, service_name: &str, days: u32) -> rusqlite::Result<()> {
    let looked_at: i64 = connection.query_row("SELECT looked_at FROM log", [], |row| row.get(0))?;
    let now = stored(now);
    let interval = i64::try_from(INTERVAL.as_micros()).unwrap_or(i64::MAX);
    let is_due = days == 0 || now < looked_at || now - looked_at >= interval;
    if !is_due {
        return Ok(());
    }
    connection.execute("UPDATE log SET looked_at = ?1", [now])?;
    if looked_at == 0 && days > 0 {
        return Ok(());
    }
    // The clock counts for at most a day after the last look: if it is set years ahead, nothing is deleted that would not
    // have been deleted soon anyway.
    let counted = if looked_at == 0 { now } else { now.min(looked_at.saturating_add(interval)) };
    let recent = now - i64::try_from(MAX_LATENESS.as_micros()).unwrap_or(i64::MAX);
    let delete = format!(
        "DELETE FROM write WHERE id IN (SELECT write.id FROM write JOIN run ON run.id = write.run \
           WHERE write.part_of IS NULL AND {TOUCHED} < ?2 AND write.left_at < ?1 - {DAY} * \
             CASE WHEN {IS_OPEN} OR EXISTS (SELECT 1 FROM write AS part \
                    WHERE part.part_of = write.id \
                    AND (part.outcome IS NULL OR part.outcome ->> 'outcome' IN ('unknown', 'mismatch'))) \
             THEN max(retention_days, {OPEN_DAYS}) ELSE retention_days END)"
    );
    connection.execute(&delete, params![counted, recent])?;
    connection.execute("DELETE FROM last_read WHERE at < ?1", [recent])?;
    let unused = "DELETE FROM name WHERE at < ?1 AND customer LIKE '%@%' AND NOT EXISTS \
                  (SELECT 1 FROM write WHERE write.service = name.service AND owner_kind = 'customer' \
                   AND owner = name.customer)";
    connection.execute(unused, [recent])?;
    let seen = "DELETE FROM seen_address WHERE service = ?1 AND at < ?2";
    connection.execute(seen, params![service_name, counted - DAY * i64::from(days)])?;
    let without_writes = "NOT EXISTS (SELECT 1 FROM write WHERE write.run = run.id)";
    let blank = format!(
        "UPDATE run SET arguments = NULL WHERE arguments IS NOT NULL AND began < ?1 - {DAY} * retention_days \
         AND {without_writes}"
    );
    connection.execute(&blank, [counted])?;
    let over = format!("DELETE FROM run WHERE began < ?1 - {DAY} * {RUN_DAYS} AND {without_writes}");
    connection.execute(&over, [counted]).map(drop)
}
