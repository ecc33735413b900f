//! Which fields a refusal of a Magento shop is about: stored ones that it gives and does not take back, and those that a
//! new address lacks.

use serde_json::{Map, Value};

use super::diff;
use crate::plan::profile::address_ids::id_of;

/// The required fields of an address, with the label that the shop's messages have. A postcode is required in some
/// countries only.
const ADDRESS: [(&str, &str); 6] = [
    ("firstname", "First Name"),
    ("lastname", "Last Name"),
    ("street", "Street Address"),
    ("city", "City"),
    ("telephone", "Phone Number"),
    ("postcode", "Zip/Postal Code"),
];

/// What the service does not take of the profile that was sent, for a hint: only the fields that its message names, where
/// it names any. `None` where nothing is found.
pub fn explain(customer: &Map<String, Value>, message: &str) -> Option<String> {
    let is_asked = |name: &str| is_asked(name, message);
    let mut stored = Vec::new();
    for name in ["firstname", "lastname", "email"] {
        if is_asked(name) && customer.contains_key(name) && is_empty(customer.get(name)) {
            stored.push(format!("{name} is empty"));
        }
    }
    let mut parts = Vec::new();
    let is_new = |address: &&Value| address.get("id").and_then(id_of).is_none();
    // What a new address lacks explains the refusal: a stored one without it may be valid in its country.
    let new: Vec<&Value> = diff::address_list(customer).iter().filter(is_new).collect();
    for address in diff::address_list(customer) {
        let empty = ADDRESS.map(|(name, _)| name).into_iter();
        let empty = empty.filter(|name| is_asked(name) && is_empty(address.get(name)));
        let Some(id) = address.get("id").and_then(id_of) else {
            let needed: Vec<&str> = empty.collect();
            if !needed.is_empty() {
                parts.push(format!("the new address needs {}", needed.join(", ")));
            }
            continue;
        };
        let empty = empty.filter(|name| !new.iter().any(|new| is_empty(new.get(*name))));
        stored.extend(empty.map(|name| format!("addresses[id={id}].{name} is empty")));
        let lines = address.get("street").and_then(Value::as_array).map_or(0, Vec::len);
        if is_asked("street") && lines > 2 {
            stored.push(format!("addresses[id={id}].street has {lines} lines"));
        }
    }
    if !stored.is_empty() {
        parts.push(format!(
            "the shop stores what it does not take back: {}; correct it in the same command",
            stored.join(", ")
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether a field may be what a message is about: it is named, or no field is and it is required everywhere.
fn is_asked(name: &str, message: &str) -> bool {
    let message = message.to_lowercase();
    let is_named =
        |name: &str, label: &str| message.contains(name) || message.contains(&label.to_lowercase());
    match ADDRESS.into_iter().find(|(field, _)| *field == name) {
        Some((name, label)) if is_named(name, label) => true,
        None if is_named(name, name) => true,
        _ => {
            name != "postcode"
                && !is_named("email", "email")
                && !ADDRESS.into_iter().any(|(name, label)| is_named(name, label))
        }
    }
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(lines)) => lines.is_empty(),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::explain;

    #[test]
    fn only_what_the_message_names_is_explained_and_new_addresses_apart() {
        let customer = json!({"firstname": "A", "lastname": "B", "email": "c", "addresses": [
            {"id": 3, "firstname": "A", "lastname": "B", "street": ["x"], "city": "C", "telephone": "", "postcode": ""},
            {"city": "Bonn"}]});
        let mut stored = customer.clone();
        stored["addresses"].as_array_mut().unwrap().pop();
        assert_eq!(
            explain(stored.as_object().unwrap(), "\"Phone Number\" is a required value.").unwrap(),
            "the shop stores what it does not take back: addresses[id=3].telephone is empty; correct it in the same command"
        );
        let said = |message: &str| explain(customer.as_object().unwrap(), message).unwrap_or_default();
        assert_eq!(said("\"Phone Number\" is a required value."), "the new address needs telephone");
        assert_eq!(
            said("\"firstname\" is required. \"lastname\" is required."),
            "the new address needs firstname, lastname"
        );
        assert!(!said("the address is not valid").contains("postcode"));
        assert_eq!(said("the email is not valid"), "");
    }
}
