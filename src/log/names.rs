//! The customers of tokens and emails, as verified writes have shown. Names are stored as hashes with the key of the log.

use ring::hmac;
use rusqlite::{Connection, OptionalExtension, params};

use super::{WriteLog, stored};
use storefront_core::email::Email;
use storefront_core::failure::Failure;
use storefront_core::text::token::Credential;

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A token.
    Token,
    /// An email.
    Email,
}

/// A token or an email that leads to a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    kind: NameKind,
    text: String,
}

impl Name {
    /// A token.
    pub fn token(token: &Credential) -> Self {
        Self { kind: NameKind::Token, text: token.expose().into_owned() }
    }

    /// An email.
    pub fn email(email: &Email) -> Self {
        Self { kind: NameKind::Email, text: email.folded() }
    }
}

impl NameKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Email => "email",
        }
    }
}

/// The hash of a text of this kind with the key of the log.
pub(super) fn keyed_hash(connection: &Connection, kind: &str, text: &str) -> rusqlite::Result<Vec<u8>> {
    let key: Vec<u8> = connection.prepare_cached("SELECT key FROM log")?.query_row([], |row| row.get(0))?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let hash = hmac::sign(&key, format!("{kind}\n{text}").as_bytes());
    Ok(hash.as_ref()[..16].to_vec())
}

fn hash_of(connection: &Connection, name: &Name) -> rusqlite::Result<Vec<u8>> {
    keyed_hash(connection, name.kind.name(), &name.text)
}

/// The hash of an email, as writes have it.
pub(super) fn email_hash(connection: &Connection, email: &str) -> rusqlite::Result<Vec<u8>> {
    hash_of(connection, &Name::email(&Email::new(email)))
}

impl WriteLog {
    /// Notes the customer of a service to whom a name leads.
    pub fn note_name(&self, service: &str, name: &Name, customer: &str) {
        if self.named(service, name).is_ok_and(|known| known.as_deref() == Some(customer)) {
            return;
        }
        let service = service.to_owned();
        let name = name.clone();
        let customer = customer.to_owned();
        let now = stored(self.clock.now());
        // This saves a look-up: what is not noted is found out again.
        self.commit_later(move |connection| {
            let hash = hash_of(connection, &name)?;
            connection
                .prepare_cached("INSERT OR REPLACE INTO name (service, hash, kind, customer, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![service, hash, name.kind.name(), customer, now])?;
            Ok(())
        });
    }

    /// The customer to whom a name has led.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn named(&self, service: &str, name: &Name) -> Result<Option<String>, Failure> {
        self.read(|connection| {
            let hash = hash_of(connection, name)?;
            connection
                .prepare_cached("SELECT customer FROM name WHERE service = ?1 AND hash = ?2")?
                .query_row(params![service, hash], |row| row.get(0))
                .optional()
        })
    }

    /// Forgets where a name leads; returns whether that was known.
    ///
    /// # Errors
    /// `guard` where the log cannot be written.
    pub async fn forget_name(&self, service: &str, name: &Name) -> Result<bool, Failure> {
        let service = service.to_owned();
        let name = name.clone();
        let forget = move |connection: &Connection| {
            let hash = hash_of(connection, &name)?;
            connection.execute("DELETE FROM name WHERE service = ?1 AND hash = ?2", params![service, hash])
        };
        Ok(self.delete(forget).await? > 0)
    }

    /// Forgets the names that lead to a customer; returns their number.
    ///
    /// # Errors
    /// `guard` where the log cannot be written.
    pub async fn forget_names_of(&self, service: &str, customer: &str) -> Result<usize, Failure> {
        let service = service.to_owned();
        let customer = customer.to_owned();
        let forget = "DELETE FROM name WHERE service = ?1 AND customer = ?2";
        self.delete(move |connection| connection.execute(forget, params![service, customer])).await
    }
}
