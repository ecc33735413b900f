//! Creating a product attribute (docs/interface.md, "Operations").

use serde_json::{Value, json};

use crate::call::Call;
use crate::fault::spec::FaultKind;
use crate::reply::ApiError;
use crate::store::{Database, Document};
use storefront_core::interface::fields;

/// Longest attribute code.
const MAX_CODE_LENGTH: usize = 60;

/// Some of the codes that the catalog needs: Magento derives its list from the methods of its product.
const RESERVED: &str = "attributes category category_id category_ids category_name created_at \
    custom_attributes data description id image name options position price qty sku status store store_id \
    type_id updated_at visibility weight";

/// Input types of Magento. The interface shows only `select`; types that are not listed here are refused (ours).
const FRONTEND_INPUTS: &str = "boolean date datetime gallery hidden image media_image multiline \
    multiselect pagebuilder price select swatch_text swatch_visual text textarea texteditor weee weight";

/// Whether this is an input kind.
pub fn is_input(kind: &str) -> bool {
    FRONTEND_INPUTS.split(' ').any(|input| input == kind)
}

/// Creates the attribute in `attribute`; a code that exists is refused (ours).
pub fn create(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let attribute = &call.sent;
    let code = attribute.get("attribute_code").and_then(Value::as_str);
    let code = code.ok_or_else(|| ApiError::required("attribute_code"))?;
    check_code(code)?;
    check_kind(attribute)?;
    let existing = unused(records, &call, code)?;
    let id = store(records, existing, code, attribute)?;
    Ok(Value::Object(records.attribute(id)?))
}

/// 400 for a code that exists. With the fault `silent-update` it is updated instead: then the id of its attribute.
pub fn unused(records: &Database<'_>, call: &Call, code: &str) -> Result<Option<i64>, ApiError> {
    match records.attribute_id(code)? {
        Some(_) if !call.struck.has(FaultKind::SilentUpdate) => Err(already_exists()),
        existing => Ok(existing),
    }
}

/// 400: another attribute has the code.
pub fn already_exists() -> ApiError {
    ApiError::new(400, "%1 already exists.").with(json!(["Attribute with the same code"]))
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

/// `[a-z][a-z0-9_]{0,59}`, and none of the catalog's own (on the marketplace ours, after Magento).
pub fn check_code(code: &str) -> Result<(), ApiError> {
    if code.len() > MAX_CODE_LENGTH {
        let message = "An attribute code must not be less than 1 and more than 60 characters.";
        return Err(ApiError::new(400, message));
    }
    let is_sound = code.starts_with(|first: char| first.is_ascii_lowercase())
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_sound {
        return Err(ApiError::invalid_value("attribute_code", &json!(code)));
    }
    if RESERVED.split(' ').any(|reserved| reserved == code) {
        let message = "The attribute code '%1' is reserved by system. Please try another attribute code";
        return Err(ApiError::new(400, message).with(json!([code])));
    }
    Ok(())
}

/// Checks that it is a product attribute of an existing input type.
fn check_kind(attribute: &Document) -> Result<(), ApiError> {
    match attribute.get("entity_type_id") {
        None | Some(Value::Null) => {}
        Some(id) if id == fields::PRODUCT_ENTITY_TYPE_ID => {}
        Some(other) => return Err(ApiError::invalid_value("entity_type_id", other)),
    }
    match attribute.get("frontend_input") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(kind)) if is_input(kind) => Ok(()),
        Some(other) => Err(ApiError::invalid_value("frontend_input", other)),
    }
}
