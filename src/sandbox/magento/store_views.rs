//! `store/storeViews`.

use serde_json::{Value, json};

use super::call::Call;
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::Database;

/// All store views, the administrators' own first.
pub fn list(records: &Database<'_>, _: Call) -> Result<Reply, ApiError> {
    let view = |id: &Value, code: &Value, name: &Value, website: i64| json!({"id": id, "code": code, "name": name, "website_id": website, "store_group_id": website, "is_active": 1});
    let mut views = vec![view(&json!(0), &json!("admin"), &json!("Admin"), 0)];
    let stored = records.store_views()?;
    views.extend(stored.iter().map(|stored| view(&stored["id"], &stored["code"], &stored["name"], 1)));
    Ok(Reply::ok(Value::from(views)))
}
