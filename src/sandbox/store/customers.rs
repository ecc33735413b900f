//! Customers, their addresses and their tokens.

use rusqlite::{OptionalExtension as _, params};
use serde_json::Value;

use super::{Document, document, text_without};
use crate::sandbox::store::{Database, StoreResult};

/// Fields of an address that are columns.
const ADDRESS_COLUMNS: &[&str] = &["id", "customer_id"];

/// The account of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The customer with this id.
    Customer(i64),
    /// An administrator.
    Admin,
}

/// A token the sandbox accepts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct IssuedToken {
    /// What stands after `Bearer` in the Authorization header.
    pub token: String,
    /// `customer` or `admin`.
    pub kind: String,
    /// Id of the customer, for a customer's token.
    pub customer_id: Option<i64>,
    /// E-mail address of the customer, for a customer's token.
    pub email: Option<String>,
}

/// An address with its place in the customer's list.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAddress {
    /// Its id.
    pub id: i64,
    /// All its fields; whatever `id` and `customer_id` say is not stored, they are columns.
    pub body: Document,
}

impl Database<'_> {
    /// The account of `token`, if it is valid and has not expired.
    pub fn caller(&self, token: &str) -> StoreResult<Option<Caller>> {
        let customer: Option<Option<i64>> = self
            .transaction
            .prepare_cached(
                "SELECT customer_id FROM tokens
                 WHERE token = ? AND (expires_at IS NULL OR expires_at > unixepoch())",
            )?
            .query_row([token], |row| row.get(0))
            .optional()?;
        Ok(customer.map(|id| id.map_or(Caller::Admin, Caller::Customer)))
    }

    /// Every token that does not expire, customers in the order of their ids, then administrators.
    pub fn tokens(&self) -> StoreResult<Vec<IssuedToken>> {
        let mut query = self.transaction.prepare_cached(
            "SELECT token, kind, customer_id, body ->> 'email'
             FROM tokens LEFT JOIN customers ON customers.id = customer_id
             WHERE expires_at IS NULL
             ORDER BY customer_id IS NULL, customer_id",
        )?;
        let rows = query.query_map([], |row| {
            Ok(IssuedToken {
                token: row.get(0)?,
                kind: row.get(1)?,
                customer_id: row.get(2)?,
                email: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Makes `token` valid for `caller`, until `expires_at` (seconds since 1970) where that is given.
    pub fn issue_token(&self, token: &str, caller: Caller, expires_at: Option<i64>) -> StoreResult<()> {
        let (kind, customer) = match caller {
            Caller::Customer(id) => ("customer", Some(id)),
            Caller::Admin => ("admin", None),
        };
        self.transaction
            .prepare_cached("INSERT INTO tokens (token, kind, customer_id, expires_at) VALUES (?, ?, ?, ?)")?
            .execute(params![token, kind, customer, expires_at])?;
        Ok(())
    }

    /// 32 random bytes in hexadecimal, from SQLite's generator, which the system seeds.
    pub fn random_hex(&self) -> StoreResult<String> {
        Ok(self.transaction.query_row("SELECT lower(hex(randomblob(32)))", [], |row| row.get(0))?)
    }

    /// How many logins of `username` have failed since the last one that did not.
    pub fn failed_logins(&self, username: &str) -> StoreResult<i64> {
        Ok(self
            .transaction
            .prepare_cached("SELECT failures FROM failed_logins WHERE username = ?")?
            .query_row([username], |row| row.get(0))
            .optional()?
            .unwrap_or(0))
    }

    /// Sets the number of failed logins of `username`.
    pub fn put_failed_logins(&self, username: &str, failures: i64) -> StoreResult<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO failed_logins (username, failures) VALUES (?, ?)
                 ON CONFLICT (username) DO UPDATE SET failures = excluded.failures",
            )?
            .execute(params![username, failures])?;
        Ok(())
    }

    /// Makes a customer and returns the id.
    pub fn add_customer(&self, body: &Document) -> StoreResult<i64> {
        let id = self
            .transaction
            .prepare_cached("INSERT INTO customers (body) VALUES (?)")?
            .insert([text_without(body, &["id", "addresses"])?])?;
        Ok(id)
    }

    /// Whether `password` is that of customer `id`.
    pub fn password_fits(&self, id: i64, password: &str) -> StoreResult<bool> {
        let mut query =
            self.transaction.prepare_cached("SELECT 1 FROM customers WHERE id = ? AND password = ?")?;
        Ok(query.exists(params![id, password])?)
    }

    /// Sets the password of customer `id`.
    pub fn put_password(&self, id: i64, password: &str) -> StoreResult<()> {
        self.transaction
            .prepare_cached("UPDATE customers SET password = ? WHERE id = ?")?
            .execute(params![password, id])?;
        Ok(())
    }

    /// Deletes a customer with everything that is theirs.
    pub fn remove_customer(&self, id: i64) -> StoreResult<()> {
        self.transaction.prepare_cached("DELETE FROM customers WHERE id = ?")?.execute([id])?;
        Ok(())
    }

    /// Whether there is a customer `id`.
    pub fn customer_exists(&self, id: i64) -> StoreResult<bool> {
        Ok(self.transaction.prepare_cached("SELECT 1 FROM customers WHERE id = ?")?.exists([id])?)
    }

    /// Ids of all customers.
    pub fn customer_ids(&self) -> StoreResult<Vec<i64>> {
        let mut query = self.transaction.prepare_cached("SELECT id FROM customers ORDER BY id")?;
        let ids = query.query_map([], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// The fields of customer `id`, without the addresses.
    pub fn customer(&self, id: i64) -> StoreResult<Document> {
        let text: String = self
            .transaction
            .prepare_cached("SELECT body FROM customers WHERE id = ?")?
            .query_row([id], |row| row.get(0))?;
        Ok(document(&text, [("id", Value::from(id))])?)
    }

    /// Stores the fields of customer `id`; a new id makes a new customer.
    pub fn put_customer(&self, id: i64, body: &Document) -> StoreResult<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO customers (id, body) VALUES (?, ?)
                 ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            )?
            .execute(params![id, text_without(body, &["id", "addresses"])?])?;
        Ok(())
    }

    /// The addresses of a customer in their order.
    pub fn addresses(&self, customer: i64) -> StoreResult<Vec<StoredAddress>> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT id, body FROM addresses WHERE customer_id = ? ORDER BY position, id")?;
        let mut rows = query.query([customer])?;
        let mut addresses = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let columns = [("id", Value::from(id)), ("customer_id", Value::from(customer))];
            let body = document(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?, columns)?;
            addresses.push(StoredAddress { id, body });
        }
        Ok(addresses)
    }

    /// The customer whose address `id` is.
    pub fn address_owner(&self, id: i64) -> StoreResult<Option<i64>> {
        Ok(self
            .transaction
            .prepare_cached("SELECT customer_id FROM addresses WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?)
    }

    /// Stores a new address and returns the id it got; ids are never used twice.
    pub fn add_address(&self, customer: i64, position: u32, body: &Document) -> StoreResult<i64> {
        let id = self
            .transaction
            .prepare_cached("INSERT INTO addresses (customer_id, position, body) VALUES (?, ?, ?)")?
            .insert(params![customer, position, text_without(body, ADDRESS_COLUMNS)?])?;
        Ok(id)
    }

    /// Stores the place and the fields of an existing address.
    pub fn put_address(&self, position: u32, address: &StoredAddress) -> StoreResult<()> {
        self.transaction
            .prepare_cached("UPDATE addresses SET position = ?, body = ? WHERE id = ?")?
            .execute(params![position, text_without(&address.body, ADDRESS_COLUMNS)?, address.id])?;
        Ok(())
    }

    /// Deletes an address.
    pub fn remove_address(&self, id: i64) -> StoreResult<()> {
        self.transaction.prepare_cached("DELETE FROM addresses WHERE id = ?")?.execute([id])?;
        Ok(())
    }
}
