//! Values of products: one for all store views, and others of store views.

use rusqlite::params;

use crate::store::{Database, StoreResult};

/// A value of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductValue {
    /// SKU of the product.
    pub sku: String,
    /// Code of the attribute.
    pub code: String,
    /// Id of the store view; 0 is for all without a value of their own.
    pub store: i64,
    /// The value; none if it is empty.
    pub value: Option<String>,
}

const COLUMNS: &str = "SELECT sku, attribute_code, store_id, value FROM product_values";

impl Database<'_> {
    /// All values of a product, the attributes in the order in which they were created.
    pub fn values(&self, sku: &str) -> StoreResult<Vec<ProductValue>> {
        let sql = format!(
            "{COLUMNS} LEFT JOIN attributes ON code = attribute_code WHERE sku = ?
             ORDER BY id, attribute_code, store_id"
        );
        self.rows(&sql, [sku], value)
    }

    /// All values that products have of an attribute.
    pub fn values_of(&self, code: &str) -> StoreResult<Vec<ProductValue>> {
        self.rows(&format!("{COLUMNS} WHERE attribute_code = ? ORDER BY sku, store_id"), [code], value)
    }

    /// Stores a value.
    pub fn put_value(&self, value: &ProductValue) -> StoreResult<()> {
        let sql = "INSERT OR REPLACE INTO product_values (sku, attribute_code, store_id, value)
                   VALUES (?, ?, ?, ?)";
        self.run(sql, params![value.sku, value.code, value.store, value.value]).map(drop)
    }

    /// Deletes a value.
    pub fn remove_value(&self, sku: &str, code: &str, store: i64) -> StoreResult<()> {
        let sql = "DELETE FROM product_values WHERE sku = ? AND attribute_code = ? AND store_id = ?";
        self.run(sql, params![sku, code, store]).map(drop)
    }

    /// Deletes the values of an attribute, of the products of one set or of all.
    pub fn remove_values(&self, code: &str, set: Option<i64>) -> StoreResult<()> {
        let sql = "DELETE FROM product_values WHERE attribute_code = ?1
                   AND (?2 IS NULL OR sku IN (SELECT sku FROM products WHERE attribute_set_id = ?2))";
        self.run(sql, params![code, set]).map(drop)
    }
}

fn value(row: &rusqlite::Row<'_>) -> StoreResult<ProductValue> {
    Ok(ProductValue { sku: row.get(0)?, code: row.get(1)?, store: row.get(2)?, value: row.get(3)? })
}
