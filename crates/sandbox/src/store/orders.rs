//! Orders: the contents of ordered carts, their addresses and comments, and the list of the admin panel.

use rusqlite::params;
use serde_json::Value;

use super::{Document, document, text_without};
use crate::store::{Database, StoreResult};

/// Fields of an order that are columns.
const COLUMNS: &[&str] =
    &["entity_id", "increment_id", "customer_id", "state", "status", "created_at", "updated_at"];
/// Fields of an item that are columns.
const ITEM_COLUMNS: &[&str] = &["item_id", "order_id"];
/// Fields of an address that are columns.
const ADDRESS_COLUMNS: &[&str] = &["entity_id", "parent_id", "address_type"];
/// Fields of a comment that are columns.
const COMMENT_COLUMNS: &[&str] = &["entity_id", "parent_id", "created_at"];

impl Database<'_> {
    /// Ids of all orders.
    pub fn order_ids(&self) -> StoreResult<Vec<i64>> {
        self.rows("SELECT id FROM orders ORDER BY id", [], |row| Ok(row.get(0)?))
    }

    /// The fields of an order, without its items and addresses.
    pub fn order(&self, id: i64) -> StoreResult<Option<Document>> {
        let sql = "SELECT body, increment_id, customer_id, state, status, created_at, updated_at
                   FROM orders WHERE id = ?";
        self.row(sql, [id], |row| {
            let text = |column| row.get::<_, String>(column).map(Value::from);
            let columns = [
                ("entity_id", Value::from(id)),
                ("increment_id", text(1)?),
                ("customer_id", Value::from(row.get::<_, Option<i64>>(2)?)),
                ("state", text(3)?),
                ("status", text(4)?),
                ("created_at", text(5)?),
                ("updated_at", text(6)?),
            ];
            document(row, 0, columns)
        })
    }

    /// Stores a new order, which gets the next number, and returns its id.
    pub fn add_order(
        &self,
        customer: Option<i64>,
        [state, status]: [&str; 2],
        body: &Document,
    ) -> StoreResult<i64> {
        let sql = "INSERT INTO orders (increment_id, customer_id, state, status, body)
                   VALUES ('', ?, ?, ?, ?)";
        let id = self.insert(sql, params![customer, state, status, text_without(body, COLUMNS)?])?;
        self.run("UPDATE orders SET increment_id = printf('%09d', id) WHERE id = ?", [id])?;
        Ok(id)
    }

    /// The items of an order in the order they were added.
    pub fn order_items(&self, order: i64) -> StoreResult<Vec<Document>> {
        self.rows("SELECT body, id FROM order_items WHERE order_id = ? ORDER BY id", [order], |row| {
            let columns = [("item_id", Value::from(row.get::<_, i64>(1)?)), ("order_id", Value::from(order))];
            document(row, 0, columns)
        })
    }

    /// Stores a new item of an order.
    pub fn add_order_item(&self, order: i64, body: &Document) -> StoreResult<i64> {
        let sql = "INSERT INTO order_items (order_id, body) VALUES (?, ?)";
        self.insert(sql, params![order, text_without(body, ITEM_COLUMNS)?])
    }

    /// The addresses of an order by their ids.
    pub fn order_addresses(&self, order: i64) -> StoreResult<Vec<Document>> {
        let sql = "SELECT body, id, type FROM order_addresses WHERE order_id = ? ORDER BY id";
        self.rows(sql, [order], |row| {
            let columns = [
                ("entity_id", Value::from(row.get::<_, i64>(1)?)),
                ("parent_id", Value::from(order)),
                ("address_type", Value::from(row.get::<_, String>(2)?)),
            ];
            document(row, 0, columns)
        })
    }

    /// The order whose address this is.
    pub fn order_of_address(&self, id: i64) -> StoreResult<Option<i64>> {
        self.row("SELECT order_id FROM order_addresses WHERE id = ?", [id], |row| Ok(row.get(0)?))
    }

    /// Stores an existing address as one of this order.
    pub fn put_order_address(&self, id: i64, order: i64, kind: &str, body: &Document) -> StoreResult<()> {
        let sql = "UPDATE order_addresses SET order_id = ?, type = ?, body = ? WHERE id = ?";
        self.run(sql, params![order, kind, text_without(body, ADDRESS_COLUMNS)?, id]).map(drop)
    }

    /// Stores a new address of an order: `billing` or `shipping`.
    pub fn add_order_address(&self, order: i64, kind: &str, body: &Document) -> StoreResult<i64> {
        let sql = "INSERT INTO order_addresses (order_id, type, body) VALUES (?, ?, ?)";
        self.insert(sql, params![order, kind, text_without(body, ADDRESS_COLUMNS)?])
    }

    /// The comments of an order, the newest first.
    pub fn order_comments(&self, order: i64) -> StoreResult<Vec<Document>> {
        let sql = "SELECT body, id, created_at FROM order_comments WHERE order_id = ? ORDER BY id DESC";
        self.rows(sql, [order], |row| {
            let columns = [
                ("entity_id", Value::from(row.get::<_, i64>(1)?)),
                ("parent_id", Value::from(order)),
                ("created_at", Value::from(row.get::<_, String>(2)?)),
            ];
            document(row, 0, columns)
        })
    }

    /// Stores a new comment; without a time, its time is the present.
    pub fn add_order_comment(&self, order: i64, body: &Document) -> StoreResult<i64> {
        let sql = "INSERT INTO order_comments (order_id, body, created_at)
                   VALUES (?, ?, coalesce(?, CURRENT_TIMESTAMP))";
        let at = body.get("created_at").and_then(Value::as_str);
        self.insert(sql, params![order, text_without(body, COMMENT_COLUMNS)?, at])
    }

    /// The two addresses of an order in the list of the admin panel: billing, shipping.
    pub fn order_in_grid(&self, order: i64) -> StoreResult<Option<[String; 2]>> {
        let sql = "SELECT billing_address, shipping_address FROM order_grid WHERE order_id = ?";
        self.row(sql, [order], |row| Ok([row.get(0)?, row.get(1)?]))
    }

    /// Renews the row of an order in the list of the admin panel.
    pub fn put_order_in_grid(&self, order: i64, [billing, shipping]: [&str; 2]) -> StoreResult<()> {
        let sql = "INSERT OR REPLACE INTO order_grid VALUES (?, ?, ?)";
        self.run(sql, params![order, billing, shipping]).map(drop)
    }

    /// Sets the email of all orders of a customer.
    pub fn put_order_emails(&self, customer: i64, email: &str) -> StoreResult<()> {
        let sql = "UPDATE orders SET body = json_set(body, '$.customer_email', ?) WHERE customer_id = ?";
        self.run(sql, params![email, customer]).map(drop)
    }
}
