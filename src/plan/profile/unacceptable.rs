//! Which fields a refusal of a Magento shop is about: stored ones that it gives and does not take back, and those that the
//! command itself left empty.

use serde_json::{Map, Value};

use super::diff;
use crate::plan::profile::address_ids::id_of;

/// The required fields of an address, with the label that the shop's messages about stored addresses have. A postcode is
/// required in some countries only.
const ADDRESS: [(&str, &str); 6] = [
    ("firstname", "First Name"),
    ("lastname", "Last Name"),
    ("street", "Street Address"),
    ("city", "City"),
    ("telephone", "Phone Number"),
    ("postcode", "Zip/Postal Code"),
];

/// Fields of an address that the shop checks against its lists, with the name that its messages have.
const LISTED: [(&str, &str); 2] = [("country_id", "countryId"), ("region_id", "regionId")];

/// Street lines of an address, unless the shop is set up for more.
const STREET_LINES: usize = 2;

/// What the service does not take, for a hint: only the fields that its message names, where it names any. `stored` is the
/// profile as it was read, `sent` the merged one. `None` where nothing is found.
///
/// Magento saves the stored addresses before it looks at those sent. With a stored address that it does not take, every
/// PUT of the customer fails, also one that corrects or removes that address.
pub fn explain(stored: &Map<String, Value>, sent: &Map<String, Value>, message: &str) -> Option<String> {
    let blocked = blocking_addresses(stored, message);
    if !blocked.is_empty() {
        return Some(format!(
            "the shop checks the stored addresses first, and {}: correct this in the admin panel",
            blocked.join(", ")
        ));
    }
    let mut parts = missing_in_addresses(sent, message);
    let mut unlisted = not_in_lists(sent, message);
    for name in ["firstname", "lastname", "email"] {
        if is_asked(name, message) && sent.contains_key(name) && is_empty(sent.get(name)) {
            unlisted.push(format!("{name} is empty"));
        }
    }
    if !unlisted.is_empty() {
        parts.push(format!("{}; correct it in the same command", unlisted.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What keeps every PUT of this customer from being taken.
fn blocking_addresses(stored: &Map<String, Value>, message: &str) -> Vec<String> {
    let mut found = Vec::new();
    for address in diff::address_list(stored) {
        let Some(id) = address.get("id").and_then(id_of) else { continue };
        for (name, label) in ADDRESS {
            let is_named = message.contains(&format!("\"{label}\" is a required value"));
            if is_named && is_empty(address.get(name)) {
                found.push(format!("addresses[id={id}].{name} is empty"));
            }
        }
        if let Some(lines) = refused_lines(address, message) {
            found.push(format!("addresses[id={id}].street has {lines} lines"));
        }
    }
    found
}

/// What the addresses sent lack, or have too much of.
fn missing_in_addresses(sent: &Map<String, Value>, message: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_new = |address: &&Value| address.get("id").and_then(id_of).is_none();
    // What a new address lacks explains the refusal: a stored one without it may be valid in its country.
    let new: Vec<&Value> = diff::address_list(sent).iter().filter(is_new).collect();
    for address in diff::address_list(sent) {
        let needed = ADDRESS.map(|(name, _)| name).into_iter();
        let needed = needed.filter(|name| is_asked(name, message) && is_empty(address.get(*name)));
        let (subject, needed): (String, Vec<&str>) = match address.get("id").and_then(id_of) {
            None => ("the new address".to_owned(), needed.collect()),
            Some(id) => (
                format!("address {id}"),
                needed.filter(|name| !new.iter().any(|new| is_empty(new.get(*name)))).collect(),
            ),
        };
        if !needed.is_empty() {
            found.push(format!("{subject} needs {}", needed.join(", ")));
        }
        if let Some(lines) = refused_lines(address, message) {
            found.push(format!("{subject} has {lines} street lines"));
        }
    }
    found
}

/// Countries and regions that the shop does not have, as its message quotes them.
fn not_in_lists(sent: &Map<String, Value>, message: &str) -> Vec<String> {
    let mut found = Vec::new();
    for address in diff::address_list(sent) {
        let Some(id) = address.get("id").and_then(id_of) else { continue };
        for (name, label) in LISTED {
            let value = address.get(name).map(|value| value.to_string().replace('"', "")).unwrap_or_default();
            if message.contains(&format!("Invalid value of \"{value}\" provided for the {label} field")) {
                found.push(format!("addresses[id={id}].{name} is `{value}`"));
            }
        }
    }
    found
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

/// How many street lines an address has, where that is what the message refuses.
fn refused_lines(address: &Value, message: &str) -> Option<usize> {
    let lines = address.get("street").and_then(Value::as_array).map_or(0, Vec::len);
    (lines > STREET_LINES && message.contains("cannot contain more than")).then_some(lines)
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(lines)) => lines.iter().all(|line| is_empty(Some(line))),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::explain;

    fn said(stored: &Value, sent: &Value, message: &str) -> String {
        explain(stored.as_object().unwrap(), sent.as_object().unwrap(), message).unwrap_or_default()
    }

    #[test]
    fn a_stored_address_that_blocks_every_update_is_named() {
        let stored = json!({"firstname": "A", "lastname": "B", "email": "c", "addresses": [
            {"id": 3, "firstname": "A", "lastname": "B", "street": ["x", "y", "z"], "city": "C", "telephone": ""}]});
        let mut sent = stored.clone();
        sent["addresses"][0]["telephone"] = json!("5550100");
        assert_eq!(
            said(&stored, &sent, "\"Phone Number\" is a required value."),
            "the shop checks the stored addresses first, and addresses[id=3].telephone is empty: correct this in the admin panel"
        );
        assert_eq!(
            said(&stored, &sent, "\"Street Address\" cannot contain more than 2 lines."),
            "the shop checks the stored addresses first, and addresses[id=3].street has 3 lines: correct this in the admin panel"
        );
        assert_eq!(said(&stored, &sent, "the email is not valid"), "");
    }

    #[test]
    fn what_the_command_itself_left_empty_is_no_fault_of_the_shop() {
        let stored = json!({"addresses": [{"id": 3, "street": ["x"], "city": "C", "telephone": "1", "postcode": "2"}]});
        let mut sent = stored.clone();
        sent["addresses"][0]["postcode"] = json!("");
        let required = "\"postcode\" is required. Enter and try again.";
        assert_eq!(said(&stored, &sent, required), "address 3 needs postcode");
        sent["addresses"].as_array_mut().unwrap().push(json!({"city": "Bonn"}));
        assert_eq!(said(&stored, &sent, required), "the new address needs postcode");
        assert_eq!(
            said(&stored, &sent, "\"firstname\" is required. \"lastname\" is required."),
            "the new address needs firstname, lastname"
        );
        assert!(!said(&stored, &sent, "the address is not valid").contains("postcode"));
        sent["addresses"][1]["street"] = json!(["x", "y", "z"]);
        let lines = "\"Street Address\" cannot contain more than 2 lines.";
        assert_eq!(said(&stored, &sent, lines), "the new address has 3 street lines");
    }

    #[test]
    fn a_stored_name_country_or_region_can_be_corrected() {
        let stored = json!({"lastname": "L", "addresses": [{"id": 3, "country_id": "XX", "region_id": 81,
            "firstname": "F", "lastname": "L", "street": ["x"], "city": "C", "telephone": "1"}]});
        let name = "\"Last Name\" is a required value.";
        let stored_name = json!({"lastname": "", "addresses": []});
        assert_eq!(
            said(&stored_name, &stored_name, name),
            "lastname is empty; correct it in the same command"
        );
        for (field, value, named) in [("regionId", "81", "region_id"), ("countryId", "XX", "country_id")] {
            assert_eq!(
                said(
                    &stored,
                    &stored,
                    &format!("Invalid value of \"{value}\" provided for the {field} field.")
                ),
                format!("addresses[id=3].{named} is `{value}`; correct it in the same command")
            );
        }
    }
}
