//! The offer of a marketplace: store views, attributes, products, carriers and payment methods.

use rusqlite::params;
use rusqlite::types::Value as Column;
use serde_json::{Value, json};

use super::{Document, document, text_without};
use crate::store::{Database, StoreResult};

/// A product of the catalog.
#[derive(Debug, Clone)]
pub struct Product {
    /// Its id.
    pub id: i64,
    /// Its SKU.
    pub sku: String,
    /// `simple`, or `configurable`: bought with one value chosen for each of its attributes.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its price as decimal text.
    pub price: String,
    /// The stock; only Magento's interface checks it.
    pub stock: i64,
    /// Id of its attribute set.
    pub set: i64,
}

const PRODUCTS: &str = "SELECT id, sku, type, name, price, stock, attribute_set_id FROM products";

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

    /// The payment methods as the service lists them: `code` and `title`.
    pub fn payment_methods(&self) -> StoreResult<Vec<Value>> {
        self.rows("SELECT code, title FROM payment_methods ORDER BY position", [], |row| {
            Ok(json!({"code": row.get::<_, String>(0)?, "title": row.get::<_, String>(1)?}))
        })
    }

    /// The store views: `id`, `code` and `name`.
    pub fn store_views(&self) -> StoreResult<Vec<Value>> {
        self.rows("SELECT id, code, name FROM store_views ORDER BY id", [], |row| {
            let (id, code, name): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(json!({"id": id, "code": code, "name": name}))
        })
    }

    /// Ids of all attributes.
    pub fn attribute_ids(&self) -> StoreResult<Vec<i64>> {
        self.rows("SELECT id FROM attributes ORDER BY id", [], |row| Ok(row.get(0)?))
    }

    /// Id of the attribute with this code.
    pub fn attribute_id(&self, code: &str) -> StoreResult<Option<i64>> {
        self.row("SELECT id FROM attributes WHERE code = ?", [code], |row| Ok(row.get(0)?))
    }

    /// The attribute with its options, each with its `value`.
    pub fn attribute(&self, id: i64) -> StoreResult<Document> {
        let stored = self.row("SELECT code, body FROM attributes WHERE id = ?", [id], |row| {
            let columns = [
                ("attribute_id", Value::from(id)),
                ("attribute_code", Value::from(row.get::<_, String>(0)?)),
            ];
            document(row, 1, columns)
        })?;
        let mut attribute = stored.unwrap_or_default();
        let sql = "SELECT body, id FROM attribute_options WHERE attribute_id = ? ORDER BY id";
        let options = self.rows(sql, [id], |row| {
            let mut option = document(row, 0, [])?;
            option.insert("value".to_owned(), Value::from(row.get::<_, i64>(1)?.to_string()));
            Ok(Value::Object(option))
        })?;
        attribute.insert("options".to_owned(), Value::Array(options));
        Ok(attribute)
    }

    /// Stores an attribute, under `id` if it is given; its options are stored separately.
    pub fn put_attribute(&self, id: Option<i64>, code: &str, body: &Document) -> StoreResult<i64> {
        let text = text_without(body, &["attribute_id", "attribute_code", "options"])?;
        let sql = "INSERT INTO attributes (id, code, body) VALUES (?, ?, ?)
                   ON CONFLICT (id) DO UPDATE SET body = excluded.body";
        self.run(sql, params![id, code, text])?;
        Ok(id.unwrap_or_else(|| self.transaction.last_insert_rowid()))
    }

    /// Removes an attribute from a set.
    pub fn unassign(&self, set: i64, attribute: i64) -> StoreResult<()> {
        let sql = "DELETE FROM attribute_assignments WHERE attribute_set_id = ? AND attribute_id = ?";
        self.run(sql, [set, attribute]).map(drop)
    }

    /// Deletes an attribute and its options.
    pub fn remove_attribute(&self, id: i64) -> StoreResult<()> {
        self.run("DELETE FROM attributes WHERE id = ?", [id]).map(drop)
    }

    /// Stores an option of an attribute, under `id` if it is given.
    pub fn add_option(&self, attribute: i64, id: Option<i64>, body: &Document) -> StoreResult<i64> {
        let sql = "INSERT INTO attribute_options (id, attribute_id, body) VALUES (?, ?, ?)";
        self.insert(sql, params![id, attribute, text_without(body, &["value"])?])
    }

    /// Replaces an option.
    pub fn put_option(&self, id: &str, body: &Document) -> StoreResult<()> {
        let text = text_without(body, &["value"])?;
        self.run("UPDATE attribute_options SET body = ? WHERE id = ?", params![text, id]).map(drop)
    }

    /// Deletes an option.
    pub fn remove_option(&self, id: &str) -> StoreResult<()> {
        self.run("DELETE FROM attribute_options WHERE id = ?", [id]).map(drop)
    }

    /// The attribute sets of every kind: `attribute_set_id`, `attribute_set_name` and `entity_type_id`.
    pub fn attribute_sets(&self) -> StoreResult<Vec<Value>> {
        self.rows("SELECT id, name, entity_type_id FROM attribute_sets ORDER BY id", [], |row| {
            let (id, name, kind): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(json!({"attribute_set_id": id, "attribute_set_name": name, "entity_type_id": kind}))
        })
    }

    /// The groups of all sets: `attribute_group_id`, a text, `attribute_group_name` and `attribute_set_id`.
    pub fn attribute_groups(&self) -> StoreResult<Vec<Value>> {
        self.rows("SELECT id, name, attribute_set_id FROM attribute_groups ORDER BY id", [], |row| {
            let (id, name, set): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(json!({"attribute_group_id": id.to_string(), "attribute_group_name": name, "attribute_set_id": set}))
        })
    }

    /// The attributes of a set: pairs of attribute and group.
    pub fn assignments(&self, set: i64) -> StoreResult<Vec<(i64, i64)>> {
        let sql = "SELECT attribute_id, attribute_group_id FROM attribute_assignments
                   WHERE attribute_set_id = ? ORDER BY attribute_id";
        self.rows(sql, [set], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Puts an attribute into a group of a set, and removes it from the set's other groups; returns a new id.
    pub fn assign(&self, set: i64, group: i64, attribute: i64) -> StoreResult<i64> {
        let sql = "INSERT OR REPLACE INTO attribute_assignments
                   (attribute_set_id, attribute_group_id, attribute_id) VALUES (?, ?, ?)";
        self.insert(sql, params![set, group, attribute])
    }

    /// The product with this SKU.
    pub fn product(&self, sku: &str) -> StoreResult<Option<Product>> {
        self.row(&format!("{PRODUCTS} WHERE sku = ?"), [sku], product)
    }

    /// The SKU that equals `sku` except for the case of its letters.
    pub fn sku_in_any_case(&self, sku: &str) -> StoreResult<Option<String>> {
        let wanted = sku.to_lowercase();
        Ok(self.products()?.into_iter().map(|product| product.sku).find(|sku| sku.to_lowercase() == wanted))
    }

    /// The shipping methods: carrier, method and title.
    pub fn carrier_methods(&self) -> StoreResult<Vec<(String, String, String)>> {
        let sql = "SELECT carrier, method, title FROM carrier_methods ORDER BY carrier, method";
        self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// All products by SKU.
    pub fn products(&self) -> StoreResult<Vec<Product>> {
        self.rows(&format!("{PRODUCTS} ORDER BY sku"), [], product)
    }

    /// Stores a new simple product.
    pub fn add_product(&self, sku: &str, name: &str, price: &str, set: i64) -> StoreResult<()> {
        let sql = "INSERT INTO products (sku, type, name, price, attribute_set_id)
                   VALUES (?, 'simple', ?, ?, ?)";
        self.insert(sql, params![sku, name, price, set]).map(drop)
    }

    /// Stores the SKU, the name and the price of a product.
    pub fn put_product(&self, product: &Product) -> StoreResult<()> {
        let sql = "UPDATE products SET sku = ?, name = ?, price = ? WHERE id = ?";
        self.run(sql, params![product.sku, product.name, product.price, product.id]).map(drop)
    }

    /// The choices of a product: pairs of attribute id and option value, by attribute.
    pub fn product_options(&self, sku: &str) -> StoreResult<Vec<(i64, i64)>> {
        let sql = "SELECT attribute_id, value FROM product_options WHERE sku = ? ORDER BY 1, 2";
        self.rows(sql, [sku], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Adds a row to `table`; for the seed, which knows the tables by name.
    pub fn add_row(&self, table: &str, columns: &[(&str, Value)]) -> StoreResult<()> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let values = columns.iter().map(|(_, value)| match value {
            Value::String(text) => Column::Text(text.clone()),
            value => value.as_i64().map_or_else(|| Column::Text(value.to_string()), Column::Integer),
        });
        let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
        self.run(&sql, rusqlite::params_from_iter(values)).map(drop)
    }
}

impl Product {
    /// Whether options must be chosen.
    pub fn is_configurable(&self) -> bool {
        self.kind == "configurable"
    }
}

fn product(row: &rusqlite::Row<'_>) -> StoreResult<Product> {
    let id = row.get(0)?;
    let sku = row.get(1)?;
    let kind = row.get(2)?;
    let name = row.get(3)?;
    Ok(Product { id, sku, kind, name, price: row.get(4)?, stock: row.get(5)?, set: row.get(6)? })
}
