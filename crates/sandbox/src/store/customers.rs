//! Customers, their addresses and their tokens.

use rusqlite::params;
use serde_json::Value;

use super::{Document, document, text_without};
use crate::store::{Database, StoreResult};

/// Fields of an address that are columns.
const ADDRESS_COLUMNS: &[&str] = &["id", "customer_id"];

/// The fields by which customers can be searched, besides their ids, with their places in the documents. Those of
/// addresses are of the default billing address.
pub const SEARCHED: &[(&str, &str)] = &[
    ("email", "customers.body ->> 'email'"),
    ("firstname", "customers.body ->> 'firstname'"),
    ("group_id", "customers.body ->> 'group_id'"),
    ("lastname", "customers.body ->> 'lastname'"),
    (
        "name",
        "coalesce(nullif(customers.body ->> 'prefix', '') || ' ', '') || coalesce(customers.body ->> 'firstname', '') \
         || ' ' || coalesce(nullif(customers.body ->> 'middlename', '') || ' ', '') \
         || coalesce(customers.body ->> 'lastname', '') || coalesce(' ' || nullif(customers.body ->> 'suffix', ''), '')",
    ),
    ("store_id", "customers.body ->> 'store_id'"),
    ("website_id", "coalesce(customers.body ->> 'website_id', 1)"),
    ("billing_city", "billing.body ->> 'city'"),
    ("billing_company", "billing.body ->> 'company'"),
    ("billing_country_id", "billing.body ->> 'country_id'"),
    ("billing_postcode", "billing.body ->> 'postcode'"),
    ("billing_region", "billing.body ->> '$.region.region'"),
    ("billing_telephone", "billing.body ->> 'telephone'"),
];

/// The account of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The customer with this id.
    Customer(i64),
    /// An administrator.
    Admin,
}

/// A token that the sandbox accepts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct IssuedToken {
    /// The text after `Bearer` in the Authorization header.
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
    /// All its fields; `id` and `customer_id` are columns, so their values here are not stored.
    pub body: Document,
}

impl Database<'_> {
    /// The account of `token`, if it is valid and has not expired.
    pub fn caller(&self, token: &str) -> StoreResult<Option<Caller>> {
        let sql = "SELECT customer_id FROM tokens
                   WHERE token = ? AND (expires_at IS NULL OR expires_at > unixepoch())";
        self.row(sql, [token], |row| {
            Ok(row.get::<_, Option<i64>>(0)?.map_or(Caller::Admin, Caller::Customer))
        })
    }

    /// Every token that does not expire, customers in the order of their ids, then administrators.
    pub fn tokens(&self) -> StoreResult<Vec<IssuedToken>> {
        let sql = "SELECT token, kind, customer_id, body ->> 'email'
                   FROM tokens LEFT JOIN customers ON customers.id = customer_id
                   WHERE expires_at IS NULL
                   ORDER BY customer_id IS NULL, customer_id";
        self.rows(sql, [], |row| {
            let token = row.get(0)?;
            let kind = row.get(1)?;
            let customer_id = row.get(2)?;
            Ok(IssuedToken { token, kind, customer_id, email: row.get(3)? })
        })
    }

    /// Makes `token` valid for `caller`, until `expires_at` (seconds since 1970) if it is given.
    pub fn issue_token(&self, token: &str, caller: Caller, expires_at: Option<i64>) -> StoreResult<()> {
        let (kind, customer) = match caller {
            Caller::Customer(id) => ("customer", Some(id)),
            Caller::Admin => ("admin", None),
        };
        let sql = "INSERT INTO tokens (token, kind, customer_id, expires_at) VALUES (?, ?, ?, ?)";
        self.run(sql, params![token, kind, customer, expires_at]).map(drop)
    }

    /// 32 random bytes in hexadecimal, from SQLite's generator.
    pub fn random_hex(&self) -> StoreResult<String> {
        let hex = self.row("SELECT lower(hex(randomblob(32)))", [], |row| Ok(row.get(0)?))?;
        Ok(hex.unwrap_or_default())
    }

    /// Whether the customer `id` exists.
    pub fn customer_exists(&self, id: i64) -> StoreResult<bool> {
        self.exists("SELECT 1 FROM customers WHERE id = ?", [id])
    }

    /// Ids of all customers.
    pub fn customer_ids(&self) -> StoreResult<Vec<i64>> {
        self.rows("SELECT id FROM customers ORDER BY id", [], |row| Ok(row.get(0)?))
    }

    /// The ids of all customers, with their values of these [`SEARCHED`] fields.
    pub fn searched_customers(&self, fields: &[&str]) -> StoreResult<Vec<Document>> {
        let columns = fields.iter().filter_map(|field| SEARCHED.iter().find(|(name, _)| name == field));
        let columns: Vec<&(&str, &str)> = columns.collect();
        let texts = columns.iter().map(|(_, column)| format!("CAST({column} AS TEXT)"));
        let selected = std::iter::once("customers.id".to_owned()).chain(texts).collect::<Vec<_>>().join(", ");
        let join = if selected.contains("billing.") {
            "LEFT JOIN addresses AS billing ON billing.customer_id = customers.id
             AND billing.id = CAST(customers.body ->> 'default_billing' AS INTEGER)"
        } else {
            ""
        };
        self.rows(&format!("SELECT {selected} FROM customers {join} ORDER BY customers.id"), [], |row| {
            let mut searched = Document::from_iter([("entity_id".to_owned(), row.get::<_, i64>(0)?.into())]);
            for (at, (name, _)) in (1..).zip(&columns) {
                searched.insert((*name).to_owned(), row.get::<_, Option<String>>(at)?.into());
            }
            Ok(searched)
        })
    }

    /// The fields of customer `id`, without the addresses.
    pub fn customer(&self, id: i64) -> StoreResult<Document> {
        let sql = "SELECT body FROM customers WHERE id = ?";
        Ok(self.row(sql, [id], |row| document(row, 0, [("id", Value::from(id))]))?.unwrap_or_default())
    }

    /// Stores the fields of customer `id`; a new id makes a new customer.
    pub fn put_customer(&self, id: i64, body: &Document) -> StoreResult<()> {
        let sql = "INSERT INTO customers (id, body) VALUES (?, ?)
                   ON CONFLICT (id) DO UPDATE SET body = excluded.body";
        self.run(sql, params![id, text_without(body, &["id", "addresses"])?]).map(drop)
    }

    /// The addresses of a customer in their order.
    pub fn addresses(&self, customer: i64) -> StoreResult<Vec<StoredAddress>> {
        let sql = "SELECT id, body FROM addresses WHERE customer_id = ? ORDER BY position, id";
        self.rows(sql, [customer], |row| {
            let id: i64 = row.get(0)?;
            let columns = [("id", Value::from(id)), ("customer_id", Value::from(customer))];
            Ok(StoredAddress { id, body: document(row, 1, columns)? })
        })
    }

    /// The customer of the address `id`.
    pub fn address_owner(&self, id: i64) -> StoreResult<Option<i64>> {
        self.row("SELECT customer_id FROM addresses WHERE id = ?", [id], |row| Ok(row.get(0)?))
    }

    /// Stores a new address and returns its id; ids are never used twice.
    pub fn add_address(&self, customer: i64, position: u32, body: &Document) -> StoreResult<i64> {
        let sql = "INSERT INTO addresses (customer_id, position, body) VALUES (?, ?, ?)";
        self.insert(sql, params![customer, position, text_without(body, ADDRESS_COLUMNS)?])
    }

    /// Stores the place and the fields of an existing address.
    pub fn put_address(&self, position: u32, address: &StoredAddress) -> StoreResult<()> {
        let text = text_without(&address.body, ADDRESS_COLUMNS)?;
        let sql = "UPDATE addresses SET position = ?, body = ? WHERE id = ?";
        self.run(sql, params![position, text, address.id]).map(drop)
    }

    /// Deletes an address.
    pub fn remove_address(&self, id: i64) -> StoreResult<()> {
        self.run("DELETE FROM addresses WHERE id = ?", [id]).map(drop)
    }
}
