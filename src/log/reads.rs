//! The last read of each customer that was relied on: a later read must not lack what it showed.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value};

use super::{WriteId, WriteLog, stored, time};
use storefront_core::failure::Failure;
use storefront_core::text::exact_json;

/// What the last read of a customer showed that was relied on.
#[derive(Debug, Clone)]
pub struct LastRead {
    /// When.
    pub at: Timestamp,
    /// The newest write of the customer at that time: it and all before it are seen in the profile.
    pub newest: WriteId,
    /// The profile.
    pub customer: Map<String, Value>,
}

impl WriteLog {
    /// Keeps what a read of a customer has shown, in place of the earlier one. If it cannot be written, it is left out.
    pub fn note_read(&self, service: &str, customer: &str, profile: &Map<String, Value>) {
        let service = service.to_owned();
        let customer = customer.to_owned();
        let at = stored(self.clock.now());
        let document = Value::Object(profile.clone()).to_string();
        self.commit_later(move |connection| {
            let newest: i64 = connection
                .prepare_cached(
                    "SELECT coalesce(max(id), 0) FROM write \
                     WHERE service = ?1 AND owner_kind = 'customer' AND owner = ?2",
                )?
                .query_row(params![service, customer], |row| row.get(0))?;
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO last_read (service, customer, at, newest, document) \
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![service, customer, at, newest, document])
                .map(drop)
        });
    }

    /// What the last read of a customer showed.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn last_read(&self, service: &str, customer: &str) -> Result<Option<LastRead>, Failure> {
        let found: Option<(i64, i64, String)> = self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT at, newest, document FROM last_read WHERE service = ?1 AND customer = ?2",
                )?
                .query_row(params![service, customer], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()
        })?;
        Ok(found.and_then(|(at, newest, document)| {
            let customer = exact_json::parse_object(document.as_bytes()).ok()?;
            Some(LastRead { at: time(at), newest: WriteId(newest), customer })
        }))
    }
}
