//! The words of the admin panel in an attribute, which stand in spreadsheets: what the interface calls it is sent, and is compared with
//! what is stored.

use serde_json::{Map, Value};

use storefront_core::attribute::rules::FrontendInput;
use storefront_core::sheet::cells::flag;

/// Puts the names of the interface in place of what the admin panel calls the input type, a default of yes or no, and the scope.
pub fn resolve(attribute: &mut Map<String, Value>) {
    if let Some(Value::String(kind)) = attribute.get_mut("frontend_input")
        && let Some(meant) = FrontendInput::by_label(kind)
    {
        meant.name.clone_into(kind);
    }
    // Of any other text the shop makes 0.
    if attribute.get("frontend_input").is_some_and(|kind| kind == "boolean")
        && let Some(Value::String(default)) = attribute.get_mut("default_value")
        && let Ok(is_set) = flag(default)
    {
        *default = u8::from(is_set).to_string();
    }
    if let Some(Value::String(scope)) = attribute.get_mut("scope") {
        scope.make_ascii_lowercase();
        if scope.trim() == "store view" {
            "store".clone_into(scope);
        }
    }
}
