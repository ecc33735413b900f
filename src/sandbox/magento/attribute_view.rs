//! A stored attribute as Magento answers it.

use serde_json::{Value, json};

use super::coerce::as_text;
use crate::sandbox::store::Document;

/// Input kinds with options.
pub const WITH_OPTIONS: &[&str] = &["multiselect", "select", "swatch_text", "swatch_visual"];

/// The attribute with the fields that Magento always answers; options without `is_default`, a blank one before them.
pub fn attribute(stored: &Document) -> Value {
    let mut view = defaults();
    for (name, value) in &mut view {
        if let Some(stored) = stored.get(name.as_str()).filter(|stored| !stored.is_null()) {
            *value = stored.clone();
        }
    }
    let input = stored.get("frontend_input").map(as_text).unwrap_or_default();
    let has_options = WITH_OPTIONS.contains(&input.as_str());
    view.insert("options".to_owned(), if has_options { options(stored) } else { json!([]) });
    view.insert("frontend_labels".to_owned(), labels(stored));
    view.insert("backend_type".to_owned(), Value::from(backend_type(&input)));
    if has_options {
        let table = "Magento\\Eav\\Model\\Entity\\Attribute\\Source\\Table";
        view.insert("source_model".to_owned(), Value::from(table));
        view.insert("default_value".to_owned(), Value::from(default_value(stored)));
    }
    Value::Object(view)
}

fn defaults() -> Document {
    let rows = json!({
        "is_wysiwyg_enabled": false, "is_html_allowed_on_front": false, "used_for_sort_by": false,
        "is_filterable": false, "is_filterable_in_search": false, "is_used_in_grid": false,
        "is_visible_in_grid": false, "is_filterable_in_grid": false, "position": 0, "apply_to": [],
        "is_searchable": "0", "is_visible_in_advanced_search": "0", "is_comparable": "0",
        "is_used_for_promo_rules": "0", "is_visible_on_front": "0", "used_in_product_listing": "0",
        "is_visible": true, "scope": "global", "attribute_id": null, "attribute_code": null,
        "frontend_input": "text", "entity_type_id": "4", "is_required": false, "options": [],
        "is_user_defined": true, "default_frontend_label": "", "frontend_labels": [], "backend_type": "varchar",
        "is_unique": "0", "validation_rules": [],
    });
    rows.as_object().cloned().unwrap_or_default()
}

fn options(stored: &Document) -> Value {
    let blank = json!({"label": " ", "value": ""});
    let mut options: Vec<&Value> =
        stored.get("options").and_then(Value::as_array).into_iter().flatten().collect();
    options.sort_by_key(|option| option["sort_order"].as_i64().unwrap_or(0));
    let shown = options
        .into_iter()
        .map(|option| json!({"label": as_text(&option["label"]), "value": as_text(&option["value"])}));
    std::iter::once(blank).chain(shown).collect()
}

/// The labels of the store views; that of store 0 is the default label.
fn labels(stored: &Document) -> Value {
    let labels = stored.get("frontend_labels").and_then(Value::as_array).into_iter().flatten();
    labels
        .filter(|label| label["store_id"].as_i64() != Some(0))
        .map(|label| json!({"store_id": label["store_id"], "label": label["label"]}))
        .collect()
}

fn default_value(stored: &Document) -> String {
    let options = stored.get("options").and_then(Value::as_array).into_iter().flatten();
    let chosen: Vec<String> = options
        .filter(|option| option["is_default"] == true)
        .map(|option| as_text(&option["value"]))
        .collect();
    chosen.join(",")
}

fn backend_type(input: &str) -> &'static str {
    match input {
        "select" | "boolean" | "swatch_text" | "swatch_visual" => "int",
        "multiselect" | "textarea" | "texteditor" | "pagebuilder" => "text",
        "date" | "datetime" => "datetime",
        "price" | "weight" => "decimal",
        _ => "varchar",
    }
}
