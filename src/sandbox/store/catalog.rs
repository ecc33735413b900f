//! What a marketplace offers: store views, attributes, products, carriers and payment methods.

use rusqlite::types::Value as Column;
use rusqlite::{OptionalExtension as _, params};
use serde_json::{Value, json};

use super::{Document, document, text_without};
use crate::sandbox::store::{Database, StoreResult};

/// How a product is bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductKind {
    /// As it is.
    Simple,
    /// With one value chosen for each of its attributes.
    Configurable,
}

impl ProductKind {
    /// Name in the JSON of the service.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Configurable => "configurable",
        }
    }
}

/// A product of the catalog.
#[derive(Debug, Clone)]
pub struct Product {
    /// Its SKU.
    pub sku: String,
    /// How it is bought.
    pub kind: ProductKind,
    /// Its name.
    pub name: String,
    /// Its price as decimal text.
    pub price: String,
    /// How many there are; only Magento's interface looks at it.
    pub stock: i64,
}

impl Database<'_> {
    /// Whether there is a store view of this code.
    pub fn store_view_exists(&self, code: &str) -> StoreResult<bool> {
        self.exists("SELECT 1 FROM store_views WHERE code = ?", [code])
    }

    /// Whether a carrier has this method.
    pub fn carrier_method_exists(&self, carrier: &str, method: &str) -> StoreResult<bool> {
        self.exists("SELECT 1 FROM carrier_methods WHERE carrier = ? AND method = ?", [carrier, method])
    }

    /// Whether there is a payment method of this code.
    pub fn payment_method_exists(&self, code: &str) -> StoreResult<bool> {
        self.exists("SELECT 1 FROM payment_methods WHERE code = ?", [code])
    }

    fn exists(&self, query: &str, params: impl rusqlite::Params) -> StoreResult<bool> {
        Ok(self.transaction.prepare_cached(query)?.exists(params)?)
    }

    /// The payment methods as the service lists them: `code` and `title`.
    pub fn payment_methods(&self) -> StoreResult<Vec<Value>> {
        let mut query =
            self.transaction.prepare_cached("SELECT code, title FROM payment_methods ORDER BY position")?;
        let rows = query.query_map([], |row| {
            Ok(json!({"code": row.get::<_, String>(0)?, "title": row.get::<_, String>(1)?}))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The store views: `id`, `code` and `name`.
    pub fn store_views(&self) -> StoreResult<Vec<Value>> {
        let mut query =
            self.transaction.prepare_cached("SELECT id, code, name FROM store_views ORDER BY id")?;
        let rows = query.query_map([], |row| {
            Ok(json!({
                "id": row.get::<_, i64>(0)?,
                "code": row.get::<_, String>(1)?,
                "name": row.get::<_, String>(2)?,
            }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Ids and codes of all attributes.
    pub fn attribute_codes(&self) -> StoreResult<Vec<(i64, String)>> {
        let mut query = self.transaction.prepare_cached("SELECT id, code FROM attributes ORDER BY id")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Id of the attribute with this code.
    pub fn attribute_id(&self, code: &str) -> StoreResult<Option<i64>> {
        Ok(self
            .transaction
            .prepare_cached("SELECT id FROM attributes WHERE code = ?")?
            .query_row([code], |row| row.get(0))
            .optional()?)
    }

    /// The attribute with its options, each with the `value` by which it is chosen.
    pub fn attribute(&self, id: i64) -> StoreResult<Document> {
        let (code, text): (String, String) = self
            .transaction
            .prepare_cached("SELECT code, body FROM attributes WHERE id = ?")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut attribute =
            document(&text, [("attribute_id", Value::from(id)), ("attribute_code", Value::from(code))])?;
        attribute.insert("options".to_owned(), Value::Array(self.attribute_options(id)?));
        Ok(attribute)
    }

    fn attribute_options(&self, attribute: i64) -> StoreResult<Vec<Value>> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT id, body FROM attribute_options WHERE attribute_id = ? ORDER BY id")?;
        let mut rows = query.query([attribute])?;
        let mut options = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let mut option = document(text, [])?;
            option.insert("value".to_owned(), Value::from(id.to_string()));
            options.push(Value::Object(option));
        }
        Ok(options)
    }

    /// Stores an attribute, under `id` when that is given; its options are stored apart.
    pub fn put_attribute(&self, id: Option<i64>, code: &str, body: &Document) -> StoreResult<i64> {
        let columns = ["attribute_id", "attribute_code", "options"];
        self.transaction
            .prepare_cached(
                "INSERT INTO attributes (id, code, body) VALUES (?, ?, ?)
                 ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            )?
            .execute(params![id, code, text_without(body, &columns)?])?;
        Ok(id.unwrap_or_else(|| self.transaction.last_insert_rowid()))
    }

    /// Deletes an attribute and its options.
    pub fn remove_attribute(&self, id: i64) -> StoreResult<()> {
        self.transaction.prepare_cached("DELETE FROM attributes WHERE id = ?")?.execute([id])?;
        Ok(())
    }

    /// Stores an option of an attribute, under `id` when that is given.
    pub fn add_option(&self, attribute: i64, id: Option<i64>, body: &Document) -> StoreResult<()> {
        self.transaction
            .prepare_cached("INSERT INTO attribute_options (id, attribute_id, body) VALUES (?, ?, ?)")?
            .execute(params![id, attribute, text_without(body, &["value"])?])?;
        Ok(())
    }

    /// The product with this SKU.
    pub fn product(&self, sku: &str) -> StoreResult<Option<Product>> {
        Ok(self
            .transaction
            .prepare_cached("SELECT sku, type, name, price, stock FROM products WHERE sku = ?")?
            .query_row([sku], product)
            .optional()?)
    }

    /// The SKU that equals `sku` but for the case of its letters.
    pub fn sku_in_any_case(&self, sku: &str) -> StoreResult<Option<String>> {
        let wanted = sku.to_lowercase();
        Ok(self.products()?.into_iter().map(|product| product.sku).find(|sku| sku.to_lowercase() == wanted))
    }

    /// The shipping methods: carrier, method and title.
    pub fn carrier_methods(&self) -> StoreResult<Vec<(String, String, String)>> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT carrier, method, title FROM carrier_methods ORDER BY carrier, method")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All products by SKU.
    pub fn products(&self) -> StoreResult<Vec<Product>> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT sku, type, name, price, stock FROM products ORDER BY sku")?;
        let rows = query.query_map([], product)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What can be chosen of a product: pairs of attribute id and option value, by attribute.
    pub fn product_options(&self, sku: &str) -> StoreResult<Vec<(i64, i64)>> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT attribute_id, value FROM product_options WHERE sku = ? ORDER BY 1, 2")?;
        let rows = query.query_map([sku], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Fills `table` with one row; for the seed, which knows the tables by name.
    pub fn add_row(&self, table: &str, columns: &[(&str, Value)]) -> StoreResult<()> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let values = columns.iter().map(|(_, value)| match value {
            Value::String(text) => Column::Text(text.clone()),
            value => value.as_i64().map_or_else(|| Column::Text(value.to_string()), Column::Integer),
        });
        self.transaction
            .prepare_cached(&format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", ")))?
            .execute(rusqlite::params_from_iter(values))?;
        Ok(())
    }
}

fn product(row: &rusqlite::Row<'_>) -> rusqlite::Result<Product> {
    let kind = match row.get_ref(1)?.as_str()? {
        "configurable" => ProductKind::Configurable,
        _ => ProductKind::Simple,
    };
    Ok(Product { sku: row.get(0)?, kind, name: row.get(2)?, price: row.get(3)?, stock: row.get(4)? })
}
