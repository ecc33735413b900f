//! Creating a product attribute (docs/interface.md, "Operations").

use serde_json::{Value, json};

use crate::sandbox::call::Call;
use crate::sandbox::coerce;
use crate::sandbox::fault::spec::FaultKind;
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::{Database, Document};
use crate::wire::{self, MARKETPLACE_FIELDS};

/// Longest attribute code, after Magento (ours).
pub const MAX_CODE_LENGTH: usize = 60;

/// Input kinds of Magento. The interface shows `select` only; anything else than these is refused (ours).
pub const FRONTEND_INPUTS: &[&str] = &[
    "boolean",
    "date",
    "datetime",
    "gallery",
    "hidden",
    "image",
    "media_image",
    "multiline",
    "multiselect",
    "pagebuilder",
    "price",
    "select",
    "swatch_text",
    "swatch_visual",
    "text",
    "textarea",
    "texteditor",
    "weee",
    "weight",
];

/// Creates the attribute in `attribute`; a code that exists is refused (ours).
pub fn create(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let attribute = call.wrapped("attribute")?;
    coerce::check(&attribute, MARKETPLACE_FIELDS.attribute)?;
    let code = code(&attribute)?.to_owned();
    check_kind(&attribute)?;
    let existing = records.attribute_id(&code)?;
    if existing.is_some() && !call.struck.has(FaultKind::SilentUpdate) {
        return Err(ApiError::new(400, "%1 already exists.").with(json!(["Attribute with the same code"])));
    }
    let id = store(records, existing, &code, &attribute)?;
    Ok(Reply::ok(Value::Object(records.attribute(id)?)))
}

/// Stores an attribute and its options, in the order they come in.
pub fn store(
    records: &Database<'_>,
    id: Option<i64>,
    code: &str,
    attribute: &Document,
) -> Result<i64, ApiError> {
    let id = records.put_attribute(id, code, attribute)?;
    let options = attribute.get("options").and_then(Value::as_array);
    for option in options.into_iter().flatten().filter_map(Value::as_object) {
        records.add_option(id, None, option)?;
    }
    Ok(id)
}

/// `[a-z][a-z0-9_]{0,59}` (ours, after Magento).
fn code(attribute: &Document) -> Result<&str, ApiError> {
    let code = attribute
        .get("attribute_code")
        .and_then(Value::as_str)
        .ok_or_else(|| ApiError::required("attribute_code"))?;
    let (first, rest) = code.as_bytes().split_first().unwrap_or((&b'_', &[]));
    let sound = first.is_ascii_lowercase()
        && rest.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_');
    if !sound {
        return Err(ApiError::new(
            400,
            "Attribute code \"%1\" is invalid. Please use only letters (a-z), numbers (0-9) or underscore (_) in \
             this field, and the first character should be a letter.",
        )
        .with(json!([code])));
    }
    if code.len() > MAX_CODE_LENGTH {
        return Err(ApiError::new(
            400,
            "The attribute code needs to be %1 characters or fewer. Re-enter the code and try again.",
        )
        .with(json!([MAX_CODE_LENGTH])));
    }
    Ok(code)
}

/// A product attribute (docs/interface.md, "Attribute") of an existing input type.
fn check_kind(attribute: &Document) -> Result<(), ApiError> {
    match attribute.get("entity_type_id") {
        None | Some(Value::Null) => {}
        Some(id) if id == wire::PRODUCT_ENTITY_TYPE_ID => {}
        Some(other) => return Err(ApiError::invalid_value("entity_type_id", other)),
    }
    match attribute.get("frontend_input") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(kind)) if FRONTEND_INPUTS.contains(&kind.as_str()) => Ok(()),
        Some(other) => Err(ApiError::invalid_value("frontend_input", other)),
    }
}
