//! Small notes that commands leave for later ones: default options of attributes, plans that were started, and ids for
//! completion.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::names::{email_hash, keyed_hash};
use super::writes::unwritable;
use super::{Durability, WriteLog, stored};
use storefront_core::failure::Failure;

/// A note made before the first option is added to an attribute: Magento loses the default option with each added option,
/// and the program may die before it sets the default again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultNote {
    /// Id of the option that was the default.
    pub default: String,
    /// Labels of the options that were to be added; whether they were is not known.
    pub labels: Vec<String>,
}

/// The ids of addresses for completion.
#[derive(Debug, Clone, Default)]
pub struct SeenAddresses {
    /// The id of the customer, if an administrator named them.
    pub customer: Option<String>,
    /// Their email, if an administrator named them.
    pub email: Option<String>,
    /// The ids, each with words to recognize it by.
    pub addresses: Map<String, Value>,
}

impl WriteLog {
    /// The note about the default option of an attribute.
    ///
    /// # Errors
    /// `guard` if it cannot be read: options must not be added then.
    pub fn default_note(&self, service: &str, attribute: &str) -> Result<Option<DefaultNote>, Failure> {
        let text: Option<String> = self.read(|connection| {
            connection
                .prepare_cached("SELECT note FROM default_option WHERE service = ?1 AND attribute = ?2")?
                .query_row(params![service, attribute], |row| row.get(0))
                .optional()
        })?;
        let parsed = text.map(|text| serde_json::from_str(&text)).transpose();
        parsed.map_err(|error| Failure::guard(format!("the note of the default option: {error}")))
    }

    /// Stores this note, synced, in place of an earlier one.
    ///
    /// # Errors
    /// `guard` if that is not possible: options must not be added then.
    pub async fn note_default(
        &self,
        service: &str,
        attribute: &str,
        note: &DefaultNote,
    ) -> Result<(), Failure> {
        let note = serde_json::to_string(note).map_err(|error| Failure::internal(error.to_string()))?;
        let service = service.to_owned();
        let attribute = attribute.to_owned();
        let save = move |connection: &Connection| {
            let save = "INSERT OR REPLACE INTO default_option (service, attribute, note) VALUES (?1, ?2, ?3)";
            connection.execute(save, params![service, attribute, note])
        };
        self.commit(Durability::Synced, save).await.map_err(|error| unwritable(&error)).map(drop)
    }

    /// Deletes the note. A note that stays is used only if the attribute has no default.
    pub fn forget_default(&self, service: &str, attribute: &str) {
        let service = service.to_owned();
        let attribute = attribute.to_owned();
        self.commit_later(move |connection| {
            let forget = "DELETE FROM default_option WHERE service = ?1 AND attribute = ?2";
            connection.execute(forget, params![service, attribute]).map(drop)
        });
    }

    /// The journal of the plan with this id, if it was started on this machine; bytes of the path that are not text are
    /// replaced.
    ///
    /// # Errors
    /// `guard` if the log cannot be read: otherwise the plan would seem never to have been started.
    pub fn started_plan(&self, id: &str) -> Result<Option<String>, Failure> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT journal FROM applied_plan WHERE id = ?1")?
                .query_row([id], |row| row.get(0))
                .optional()
        })
    }

    /// Notes that a plan is started with this journal, synced; returns the journal that was noted before, if any.
    ///
    /// # Errors
    /// `guard` where it cannot be noted.
    pub async fn start_plan(&self, id: &str, journal: &str) -> Result<Option<String>, Failure> {
        let plan = id.to_owned();
        let path = journal.to_owned();
        let now = stored(self.clock.now());
        let start = move |connection: &Connection| {
            let start = "INSERT OR IGNORE INTO applied_plan (id, journal, at) VALUES (?1, ?2, ?3)";
            connection.execute(start, params![plan, path, now])
        };
        let started = self.commit(Durability::Synced, start).await;
        let is_new = started.map_err(|error| unwritable(&error))? > 0;
        if is_new { Ok(None) } else { self.started_plan(id) }
    }

    /// Keeps the ids of a profile's addresses for completion, in place of those seen before at this service.
    pub fn note_addresses(&self, service: &str, seen: SeenAddresses) {
        let service = service.to_owned();
        let now = stored(self.clock.now());
        self.commit_later(move |connection| {
            let customer = seen.customer.map(|id| keyed_hash(connection, "id", &id)).transpose()?;
            let email = seen.email.map(|email| email_hash(connection, &email)).transpose()?;
            let addresses = Value::Object(seen.addresses).to_string();
            let note = "INSERT OR REPLACE INTO seen_address (service, customer, email, at, addresses) \
                        VALUES (?1, ?2, ?3, ?4, ?5)";
            connection.execute(note, params![service, customer, email, now, addresses]).map(drop)
        });
    }

    /// The ids seen last at this service, if they are those of `customer` (an id or an email; without one, the token's
    /// own).
    pub fn seen_addresses(&self, service: &str, customer: Option<&str>) -> Map<String, Value> {
        let found = self.read(|connection| {
            let (id, email) = match customer {
                Some(name) => {
                    (Some(keyed_hash(connection, "id", name)?), Some(email_hash(connection, name)?))
                }
                None => (None, None),
            };
            let find = "SELECT addresses FROM seen_address WHERE service = ?1 AND \
                        (customer = ?2 OR email = ?3 OR ?2 IS NULL AND customer IS NULL AND email IS NULL)";
            connection.query_row(find, params![service, id, email], |row| row.get::<_, String>(0)).optional()
        });
        let text = found.ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Forgets the addresses seen at this service.
    pub fn forget_addresses(&self, service: &str) {
        let service = service.to_owned();
        self.commit_later(move |connection| {
            connection.execute("DELETE FROM seen_address WHERE service = ?1", [service]).map(drop)
        });
    }
}
