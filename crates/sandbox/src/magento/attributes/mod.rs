//! `products/attributes`.

pub mod list;
pub mod options;

use serde_json::{Value, json};

use crate::call::Call;
use crate::coerce::as_text;
use crate::marketplace::attribute::{self, already_exists, check_code, is_input, unused};
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// Input types that cannot be filtered.
const NOT_FILTERABLE: &[&str] = &["date", "datetime", "text", "textarea", "texteditor"];

/// GET `products/attributes/{attributeCode}`.
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let id = named(records, &call)?;
    shown(records, &records.attribute(id)?, &call.store_view)
}

/// POST `products/attributes`. A code that exists is refused (Mage-OS updates it: the fault `silent-update`).
pub fn create(records: &Database<'_>, mut call: Call) -> Result<Value, ApiError> {
    let mut sent = std::mem::take(&mut call.sent);
    check_filterable(&sent)?;
    let label = label(&sent)?;
    let input = input(&sent)?;
    let code = match sent.get("attribute_code").map(as_text).filter(|code| !code.is_empty()) {
        Some(code) => code,
        None => code_of(&label),
    };
    check_code(&code)?;
    let existing = unused(records, &call, &code)?;
    check_store_views(records, &sent)?;
    complete(&mut sent, &label, &input, &code);
    let id = attribute::store(records, existing, &code, &sent)?;
    shown(records, &records.attribute(id)?, &call.store_view)
}

/// PUT `products/attributes/{attributeCode}`. An unknown code creates the attribute; a known one is refused as if it were
/// to be created, unless the body has its id.
pub fn update(records: &Database<'_>, mut call: Call) -> Result<Value, ApiError> {
    let mut sent = std::mem::take(&mut call.sent);
    let code = call.parameter(0);
    let Some(id) = records.attribute_id(code)? else {
        let label = label(&sent)?;
        let input = input(&sent)?;
        check_code(code)?;
        complete(&mut sent, &label, &input, code);
        let id = attribute::store(records, None, code, &sent)?;
        return shown(records, &records.attribute(id)?, &call.store_view);
    };
    let mut stored = records.attribute(id)?;
    let is_of_stored = |name: &str| sent.get(name).is_none_or(|value| stored.get(name) == Some(value));
    if !sent.contains_key("attribute_id") || !is_of_stored("attribute_id") || !is_of_stored("frontend_input")
    {
        return Err(already_exists());
    }
    let options = sent.shift_remove("options");
    let default = sent.shift_remove("default_value");
    stored.extend(sent.into_iter().filter(|(_, value)| !value.is_null()));
    records.put_attribute(Some(id), code, &stored)?;
    let written = options::reorder(records, id, options.as_ref())?;
    if let Some(default) = default {
        options::set_default(records, id, &as_text(&default))?;
    }
    options::lose_others(records, &call, id, &written)?;
    shown(records, &records.attribute(id)?, &call.store_view)
}

/// DELETE `products/attributes/{attributeCode}`: the values of products go with it.
pub fn remove(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let id = named(records, &call)?;
    if !is_user_defined(&records.attribute(id)?) {
        return Err(ApiError::new(400, "The system attribute can't be deleted."));
    }
    records.remove_attribute(id)?;
    records.remove_values(call.parameter(0), None)?;
    Ok(json!(true))
}

/// Whether a user created it: attributes of the catalog itself cannot be deleted.
pub fn is_user_defined(attribute: &Document) -> bool {
    attribute.get("is_user_defined") != Some(&json!(false))
}

/// The attribute whose code is in the path.
pub fn named(records: &Database<'_>, call: &Call) -> Result<i64, ApiError> {
    coded(records, call.parameter(0))
}

/// The attribute with this code.
pub fn coded(records: &Database<'_>, code: &str) -> Result<i64, ApiError> {
    let message =
        "The attribute with a \"%1\" attributeCode doesn't exist. Verify the attribute and try again.";
    records.attribute_id(code)?.ok_or_else(|| ApiError::new(404, message).with(json!([code])))
}

/// Sets the fields that Magento fills in.
fn complete(sent: &mut Document, label: &str, input: &str, code: &str) {
    sent.retain(|_, value| !value.is_null());
    for (name, value) in [
        ("attribute_code", json!(code)),
        ("frontend_input", json!(input)),
        ("default_frontend_label", json!(label)),
        ("entity_type_id", json!("4")),
        ("is_user_defined", json!(true)),
    ] {
        sent.insert(name.to_owned(), value);
    }
    sent.entry("is_required").or_insert(json!(false));
    if sent.get("is_wysiwyg_enabled") == Some(&json!(true)) {
        sent.insert("is_html_allowed_on_front".to_owned(), json!(true));
    }
    // A swatch is stored as another form of a list, and its default option is not.
    if input.starts_with("swatch_") {
        sent.insert("frontend_input".to_owned(), json!("select"));
        let options = sent.get_mut("options").and_then(Value::as_array_mut).into_iter().flatten();
        options.filter_map(Value::as_object_mut).for_each(|option| drop(option.shift_remove("is_default")));
    }
}

/// The default label, or that of store 0; PHP takes `0` for none.
fn label(sent: &Document) -> Result<String, ApiError> {
    let of_store_0 = || {
        let labels = sent.get("frontend_labels").and_then(Value::as_array).into_iter().flatten();
        labels.filter(|label| label["store_id"] == 0).map(|label| as_text(&label["label"])).next()
    };
    let is_given = |label: &String| !["", "0"].contains(&label.as_str());
    let default = sent.get("default_frontend_label").map(as_text).filter(is_given);
    match default.or_else(of_store_0).filter(is_given) {
        Some(label) => Ok(label),
        None if sent
            .get("frontend_labels")
            .and_then(Value::as_array)
            .is_some_and(|labels| !labels.is_empty()) =>
        {
            Err(ApiError::invalid_value("frontend_label", &Value::Null))
        }
        None => Err(ApiError::required("frontend_label")),
    }
}

/// 400 for a filter of an input type that cannot have one.
fn check_filterable(sent: &Document) -> Result<(), ApiError> {
    let input = sent.get("frontend_input").map(as_text).unwrap_or_default();
    if !NOT_FILTERABLE.contains(&input.as_str()) {
        return Ok(());
    }
    for name in ["is_filterable", "is_filterable_in_search"] {
        if sent.get(name).is_some_and(|value| ["true", "1"].contains(&as_text(value).as_str())) {
            return Err(ApiError::invalid_value(name, &json!(true)));
        }
    }
    Ok(())
}

/// 500 for the label of an unknown store view: the database refuses it, and the transaction is rolled back.
pub fn check_store_views(records: &Database<'_>, sent: &Document) -> Result<(), ApiError> {
    let list = |object: Option<&Value>| object.and_then(Value::as_array).cloned().unwrap_or_default();
    let of_options =
        list(sent.get("options")).into_iter().flat_map(|option| list(option.get("store_labels")));
    let labels: Vec<Value> = list(sent.get("frontend_labels")).into_iter().chain(of_options).collect();
    let known = records.store_views()?;
    let is_known = |id: i64| id == 0 || known.iter().any(|view| view["id"] == id);
    let mut ids = labels.iter().filter_map(|label| label.get("store_id").and_then(Value::as_i64));
    if ids.all(is_known) { Ok(()) } else { Err(ApiError::internal()) }
}

fn input(sent: &Document) -> Result<String, ApiError> {
    let input = sent.get("frontend_input").map(as_text);
    match &input {
        Some(kind) if is_input(kind) => Ok(kind.clone()),
        _ => Err(ApiError::invalid_value("frontend_input", &json!(input))),
    }
}

/// A code made from a label: its letters and digits, in lower case.
fn code_of(label: &str) -> String {
    let latin = deunicode::deunicode(label).to_lowercase();
    let words: Vec<&str> =
        latin.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let code = words.join("_");
    let code = if code.starts_with(|first: char| first.is_ascii_lowercase()) {
        code
    } else {
        format!("attr_{code}")
    };
    code.chars().take(30).collect()
}

/// Where a stored attribute keeps the id of a default option that was deleted.
const GONE_DEFAULT: &str = "gone_default";

/// Input kinds with options.
pub const WITH_OPTIONS: &[&str] = &["multiselect", "select", "swatch_text", "swatch_visual"];

/// The attribute with the fields that Magento always answers; options without `is_default`, a blank one
/// before them, with the labels of the store view.
pub fn shown(records: &Database<'_>, stored: &Document, view: &str) -> Result<Value, ApiError> {
    let view = records.store_views()?.into_iter().find(|known| known["code"] == view);
    let mut shown = defaults();
    for (name, value) in &mut shown {
        if let Some(stored) = stored.get(name.as_str()).filter(|stored| !stored.is_null()) {
            *value = stored.clone();
        }
    }
    let input = stored.get("frontend_input").map(as_text).unwrap_or_default();
    let has_options = WITH_OPTIONS.contains(&input.as_str());
    shown.insert("options".to_owned(), if has_options { options(stored, view.as_ref()) } else { json!([]) });
    shown.insert("frontend_labels".to_owned(), labels(stored));
    // These are shown if they are set.
    for name in ["note", "frontend_class", "default_value", "extension_attributes"] {
        let is_shown = !(has_options && name == "default_value");
        if let Some(value) = stored.get(name).filter(|value| !value.is_null() && is_shown) {
            shown.insert(name.to_owned(), value.clone());
        }
    }
    shown.insert("backend_type".to_owned(), Value::from(backend_type(&input)));
    if has_options {
        let table = "Magento\\Eav\\Model\\Entity\\Attribute\\Source\\Table";
        shown.insert("source_model".to_owned(), Value::from(table));
        shown.insert("default_value".to_owned(), Value::from(default_value(stored)));
    }
    Ok(Value::Object(shown))
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
        "is_user_defined": true, "default_frontend_label": "", "frontend_labels": [],
        "backend_type": "varchar", "is_unique": "0", "validation_rules": [],
    });
    rows.as_object().cloned().unwrap_or_default()
}

fn options(stored: &Document, view: Option<&Value>) -> Value {
    let blank = json!({"label": " ", "value": ""});
    let mut options: Vec<&Value> =
        stored.get("options").and_then(Value::as_array).into_iter().flatten().collect();
    options.sort_by_key(|option| option["sort_order"].as_i64().unwrap_or(0));
    let own = |option: &Value| {
        let mut labels = option["store_labels"].as_array().into_iter().flatten();
        let of_view = labels.find(|label| view.is_some_and(|view| label["store_id"] == view["id"]));
        of_view.map_or_else(|| option["label"].clone(), |label| label["label"].clone())
    };
    let shown = options
        .into_iter()
        .map(|option| json!({"label": as_text(&own(option)), "value": as_text(&option["value"])}));
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

/// The ids of the options that are the default, also of one that was deleted.
pub fn default_value(stored: &Document) -> String {
    if let Some(gone) = stored.get(GONE_DEFAULT) {
        return as_text(gone);
    }
    let options = stored.get("options").and_then(Value::as_array).into_iter().flatten();
    let chosen: Vec<String> = options
        .filter(|option| option["is_default"] == true)
        .map(|option| as_text(&option["value"]))
        .collect();
    chosen.join(",")
}

/// The type in which values of an input type are stored.
pub fn backend_type(input: &str) -> &'static str {
    match input {
        "select" | "boolean" | "swatch_text" | "swatch_visual" => "int",
        "multiselect" | "textarea" | "texteditor" | "pagebuilder" => "text",
        "date" | "datetime" => "datetime",
        "price" | "weight" => "decimal",
        _ => "varchar",
    }
}
