//! The custom attributes that this shop has for customers and addresses.

use serde_json::{Value, json};

use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// Codes of the customer's custom attributes; this shop knows no others.
pub const CUSTOMER_ATTRIBUTES: &[&str] = &["loyalty_no", LANGUAGE];
/// Codes of an address's custom attributes.
pub const ADDRESS_ATTRIBUTES: &[&str] = &["door_code", "firstname_kana", "lastname_kana"];

/// The only attribute with options.
const LANGUAGE: &str = "preferred_language";
const LANGUAGES: [[&str; 2]; 4] = [["", " "], ["en", "English"], ["fr", "French"], ["de", "German"]];

/// The custom attributes of customers or of addresses.
pub fn list(_: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let codes = match call.parameter(0) {
        "customer" => CUSTOMER_ATTRIBUTES,
        "customerAddress" => ADDRESS_ATTRIBUTES,
        _ => return Err(ApiError::no_route()),
    };
    Ok(codes.iter().map(|code| described(code)).collect())
}

/// An attribute as Magento 2.4.6 describes it.
fn described(code: &str) -> Value {
    let mut label = code.replace('_', " ");
    label[..1].make_ascii_uppercase();
    let (input, options) = match code {
        LANGUAGE => {
            ("select", LANGUAGES.map(|[value, label]| json!({"label": label, "value": value})).to_vec())
        }
        _ => ("text", Vec::new()),
    };
    json!({
        "frontend_input": input, "input_filter": "", "store_label": label, "validation_rules": [],
        "multiline_count": 0, "visible": true, "required": false, "data_model": "", "options": options,
        "frontend_class": "", "user_defined": true, "sort_order": 200, "frontend_label": label, "note": "",
        "system": false, "backend_type": "varchar", "is_used_in_grid": false, "is_visible_in_grid": false,
        "is_filterable_in_grid": false, "is_searchable_in_grid": false, "attribute_code": code,
    })
}

/// Checks that every custom attribute of the customer has a value, even null, that none is a list, and that the value of
/// one with options is an option.
pub fn check(sent: &Document) -> Result<(), ApiError> {
    for attribute in sent.get("custom_attributes").and_then(Value::as_array).into_iter().flatten() {
        let code = as_text(&attribute["attribute_code"]);
        if attribute.get("value").is_some_and(Value::is_array) {
            let message = format!(
                "Error occurred during \"custom_attributes\" processing. Attribute \"{code}\" has invalid value. The \"array\" \
                 value's type is invalid. The \"string\" type was expected. Verify and try again."
            );
            return Err(ApiError::new(400, &message));
        }
        let Some(value) = attribute.get("value").map(as_text) else {
            return Err(ApiError::new(
                400,
                &format!(
                    "Error occurred during \"custom_attributes\" processing. The \"{code}\" attribute code doesn't \
                     have a value set. Enter the value and try again."
                ),
            ));
        };
        if code == LANGUAGE && !LANGUAGES.iter().any(|[option, _]| *option == value) {
            let message = format!("Attribute {code} does not contain option with Id {value}");
            return Err(ApiError::new(400, &message));
        }
    }
    Ok(())
}
