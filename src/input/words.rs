//! The admin panel's words in an attribute, as spreadsheets have them: the interface's names are sent, and compared with
//! the stored ones.

use serde_json::{Map, Value};

use storefront_core::attribute::rules::FrontendInput;
use storefront_core::sheet::cells::flag;

/// Replaces the admin panel's words for the input type, a default of yes or no, and the scope by the interface's names.
pub fn resolve(attribute: &mut Map<String, Value>) {
    if let Some(Value::String(kind)) = attribute.get_mut("frontend_input")
        && let Some(meant) = FrontendInput::by_label(kind)
    {
        meant.name.clone_into(kind);
    }
    // The shop takes any other text for 0.
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
