//! Quotes: their items and their shipping information.

use rusqlite::{OptionalExtension as _, params};

use super::Document;
use crate::exact_json;
use crate::sandbox::store::{Database, StoreResult};

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
        let mut query = self.transaction.prepare_cached("SELECT id, customer_id FROM quotes ORDER BY id")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The active quote of a customer.
    pub fn active_quote(&self, customer: i64) -> StoreResult<Option<i64>> {
        Ok(self
            .transaction
            .prepare_cached("SELECT id FROM quotes WHERE customer_id = ? AND is_active")?
            .query_row([customer], |row| row.get(0))
            .optional()?)
    }

    /// The customer of a quote, and whether it is still active.
    pub fn quote(&self, id: i64) -> StoreResult<Option<(i64, bool)>> {
        Ok(self
            .transaction
            .prepare_cached("SELECT customer_id, is_active FROM quotes WHERE id = ?")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }

    /// When a quote was created and when it was changed last: UTC, to the second.
    pub fn quote_times(&self, id: i64) -> StoreResult<(String, String)> {
        Ok(self
            .transaction
            .prepare_cached("SELECT created_at, updated_at FROM quotes WHERE id = ?")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Makes an active quote for a customer who has none, and returns its id.
    pub fn add_quote(&self, customer: i64) -> StoreResult<i64> {
        let id = self
            .transaction
            .prepare_cached("INSERT INTO quotes (customer_id) VALUES (?)")?
            .insert([customer])?;
        Ok(id)
    }

    /// Ends a quote: an order was made of it.
    pub fn close_quote(&self, id: i64) -> StoreResult<()> {
        self.transaction.prepare_cached("UPDATE quotes SET is_active = 0 WHERE id = ?")?.execute([id])?;
        Ok(())
    }

    /// The shipping information saved on a quote.
    pub fn shipping(&self, quote: i64) -> StoreResult<Option<Document>> {
        let text: Option<String> = self
            .transaction
            .prepare_cached("SELECT shipping FROM quotes WHERE id = ?")?
            .query_row([quote], |row| row.get(0))?;
        Ok(text.map(|text| exact_json::parse_object(text.as_bytes())).transpose()?)
    }

    /// Saves shipping information on a quote.
    pub fn put_shipping(&self, quote: i64, shipping: &Document) -> StoreResult<()> {
        self.transaction
            .prepare_cached("UPDATE quotes SET shipping = ? WHERE id = ?")?
            .execute(params![serde_json::to_string(shipping)?, quote])?;
        Ok(())
    }

    /// The lines of a quote in the order they were added.
    pub fn lines(&self, quote: i64) -> StoreResult<Vec<QuoteLine>> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT id, sku, options, qty FROM quote_items WHERE quote_id = ? ORDER BY id")?;
        let rows = query.query_map([quote], line_of_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The line of a quote with this SKU and these options.
    pub fn line(&self, quote: i64, sku: &str, options: &str) -> StoreResult<Option<QuoteLine>> {
        Ok(self
            .transaction
            .prepare_cached(
                "SELECT id, sku, options, qty FROM quote_items WHERE quote_id = ? AND sku = ? AND options = ?",
            )?
            .query_row(params![quote, sku, options], line_of_row)
            .optional()?)
    }

    /// Adds a line and returns its id.
    pub fn add_line(&self, quote: i64, sku: &str, options: &str, qty: &str) -> StoreResult<i64> {
        let id = self
            .transaction
            .prepare_cached("INSERT INTO quote_items (quote_id, sku, options, qty) VALUES (?, ?, ?, ?)")?
            .insert(params![quote, sku, options, qty])?;
        Ok(id)
    }

    /// Deletes a line.
    pub fn remove_line(&self, item_id: i64) -> StoreResult<()> {
        self.transaction.prepare_cached("DELETE FROM quote_items WHERE id = ?")?.execute([item_id])?;
        Ok(())
    }

    /// Sets the quantity of a line.
    pub fn put_quantity(&self, item_id: i64, qty: &str) -> StoreResult<()> {
        self.transaction
            .prepare_cached("UPDATE quote_items SET qty = ? WHERE id = ?")?
            .execute(params![qty, item_id])?;
        Ok(())
    }
}

fn line_of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<QuoteLine> {
    Ok(QuoteLine { item_id: row.get(0)?, sku: row.get(1)?, options: row.get(2)?, qty: row.get(3)? })
}
