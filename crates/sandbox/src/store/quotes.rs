//! Quotes: their items and their shipping information.

use rusqlite::params;

use super::Document;
use crate::store::{Database, StoreResult};
use storefront_core::text::exact_json;

/// One line of a quote.
#[derive(Debug, Clone)]
pub struct QuoteLine {
    /// Its id.
    pub item_id: i64,
    /// SKU of the product.
    pub sku: String,
    /// The chosen options as canonical JSON text, `[]` where there are none.
    pub options: String,
    /// Quantity as decimal text.
    pub qty: String,
}

impl Database<'_> {
    /// All quotes: id and customer.
    pub fn quotes(&self) -> StoreResult<Vec<(i64, i64)>> {
        self.rows("SELECT id, customer_id FROM quotes ORDER BY id", [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The active quote of a customer.
    pub fn active_quote(&self, customer: i64) -> StoreResult<Option<i64>> {
        let sql = "SELECT id FROM quotes WHERE customer_id = ? AND is_active";
        self.row(sql, [customer], |row| Ok(row.get(0)?))
    }

    /// The customer of a quote, and whether it is still active.
    pub fn quote(&self, id: i64) -> StoreResult<Option<(i64, bool)>> {
        let sql = "SELECT customer_id, is_active FROM quotes WHERE id = ?";
        self.row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// When a quote was created and last changed: UTC, to the second.
    pub fn quote_times(&self, id: i64) -> StoreResult<(String, String)> {
        let sql = "SELECT created_at, updated_at FROM quotes WHERE id = ?";
        Ok(self.row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?.unwrap_or_default())
    }

    /// Makes an active quote for a customer who has none, and returns its id.
    pub fn add_quote(&self, customer: i64) -> StoreResult<i64> {
        self.insert("INSERT INTO quotes (customer_id) VALUES (?)", [customer])
    }

    /// Ends a quote: the customer may have another one.
    pub fn end_quote(&self, id: i64) -> StoreResult<()> {
        self.run("UPDATE quotes SET is_active = 0 WHERE id = ?", [id]).map(drop)
    }

    /// The shipping information saved on a quote.
    pub fn shipping(&self, quote: i64) -> StoreResult<Option<Document>> {
        let text = self.row("SELECT shipping FROM quotes WHERE id = ?", [quote], |row| {
            Ok(row.get::<_, Option<String>>(0)?)
        })?;
        Ok(text.flatten().map(|text| exact_json::parse_object(text.as_bytes())).transpose()?)
    }

    /// Saves shipping information on a quote.
    pub fn put_shipping(&self, quote: i64, shipping: &Document) -> StoreResult<()> {
        let text = serde_json::to_string(shipping)?;
        self.run("UPDATE quotes SET shipping = ? WHERE id = ?", params![text, quote]).map(drop)
    }

    /// The lines of a quote in the order they were added.
    pub fn lines(&self, quote: i64) -> StoreResult<Vec<QuoteLine>> {
        let sql = "SELECT id, sku, options, qty FROM quote_items WHERE quote_id = ? ORDER BY id";
        self.rows(sql, [quote], |row| {
            Ok(QuoteLine { item_id: row.get(0)?, sku: row.get(1)?, options: row.get(2)?, qty: row.get(3)? })
        })
    }

    /// The line of a quote with this SKU and these options.
    pub fn line(&self, quote: i64, sku: &str, options: &str) -> StoreResult<Option<QuoteLine>> {
        let is_it = |line: &QuoteLine| line.sku == sku && line.options == options;
        Ok(self.lines(quote)?.into_iter().find(is_it))
    }

    /// Adds a line and returns its id.
    pub fn add_line(&self, quote: i64, sku: &str, options: &str, qty: &str) -> StoreResult<i64> {
        let sql = "INSERT INTO quote_items (quote_id, sku, options, qty) VALUES (?, ?, ?, ?)";
        self.insert(sql, params![quote, sku, options, qty])
    }

    /// Deletes a line.
    pub fn remove_line(&self, item_id: i64) -> StoreResult<()> {
        self.run("DELETE FROM quote_items WHERE id = ?", [item_id]).map(drop)
    }

    /// Sets the quantity of a line.
    pub fn put_quantity(&self, item_id: i64, qty: &str) -> StoreResult<()> {
        self.run("UPDATE quote_items SET qty = ? WHERE id = ?", params![qty, item_id]).map(drop)
    }
}
