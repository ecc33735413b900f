//! What Magento needs in every profile that is sent, besides the changes (docs/magento.md).

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::address::{DEFAULTS, address_list, addresses_by_id, find_address, own_id};
use super::defaults::DefaultAddress;
use super::diff::FieldChange;
use super::equal::same_value;
use super::verify::Verification;
use crate::id::{self, AddressId};

/// The merged profile as it is sent. `stored` is the profile it was merged with.
pub fn completed(stored: &Map<String, Value>, merged: &Map<String, Value>) -> Map<String, Value> {
    let mut customer = merged.clone();
    clear_by_empty_text(&mut customer, stored);
    for name in DEFAULTS {
        DefaultAddress::of(&customer, name).write_both_ways(&mut customer, stored, name);
    }
    let old: HashMap<AddressId, &Value> = addresses_by_id(address_list(stored)).collect();
    if let Some(Value::Array(addresses)) = customer.get_mut("addresses") {
        for address in addresses {
            let before = own_id(address).and_then(|id| old.get(&id)?.as_object());
            let Value::Object(address) = address else { continue };
            clear_attributes_by_null(address);
            if let Some(before) = before {
                clear_by_empty_text(address, before);
            }
            agree_on_region(address);
        }
    }
    leave_out_kept(&mut customer, stored);
    clear_attributes_by_null(&mut customer);
    customer
}

/// Magento keeps some fields that are left out; of these, only changes are sent. An extension attribute may be shown
/// wrongly, and setting it has effects (`is_subscribed` subscribes). A custom attribute without a value, or with a list
/// as its value, makes Magento refuse the PUT. All other custom attributes are sent as read: a date that is left out is
/// deleted, and a required attribute would be missing.
fn leave_out_kept(customer: &mut Map<String, Value>, stored: &Map<String, Value>) {
    const EXTENSION: &str = "extension_attributes";
    if let (Some(Value::Object(now)), Some(Value::Object(old))) =
        (customer.get_mut(EXTENSION), stored.get(EXTENSION))
    {
        now.retain(|name, value| old.get(name) != Some(value));
    }
    let is_empty = customer.get(EXTENSION).and_then(Value::as_object).is_some_and(Map::is_empty);
    if is_empty || customer.get(EXTENSION) == stored.get(EXTENSION) {
        customer.shift_remove(EXTENSION);
    }
    let old = stored.get("custom_attributes").and_then(Value::as_array);
    if let (Some(Value::Array(now)), Some(old)) = (customer.get_mut("custom_attributes"), old) {
        let is_taken = |value: &Value| !value.is_array() && !value.is_object();
        now.retain(|attribute| attribute.get("value").is_some_and(is_taken) || !old.contains(attribute));
    }
}

/// Clears custom attributes by null: Magento takes the empty text for 0 or refuses it, unless the attribute is a text.
fn clear_attributes_by_null(object: &mut Map<String, Value>) {
    let attributes = object.get_mut("custom_attributes").and_then(Value::as_array_mut);
    for value in attributes.into_iter().flatten().filter_map(|attribute| attribute.get_mut("value")) {
        if value.as_str().is_some_and(str::is_empty) {
            *value = Value::Null;
        }
    }
}

/// The hint if the only fields that did not change are those of the own profile that only administrators may change.
pub fn ignored_on_own_profile(verification: &Verification, administrators: &[&str]) -> Option<String> {
    let mut undone = verification.undone.iter().map(|change| change.path.to_string());
    let only_those = undone.all(|path| administrators.contains(&path.as_str()));
    (only_those
        && !verification.undone.is_empty()
        && verification.missing.is_empty()
        && verification.replaced.is_empty())
    .then(|| {
        format!(
            "the service takes {} with an administrator's token only: name the customer with \
             --customer ID|EMAIL",
            administrators.join(", ")
        )
    })
}

/// Takes out of a draft what the service sets itself, whatever is sent: a profile that was read before another update
/// has an older time.
pub fn drop_service_fields(draft: &mut Map<String, Value>) {
    for name in ["created_at", "updated_at"] {
        draft.shift_remove(name);
    }
}

/// Whether a change is that of a stored default that is not one of the stored addresses, and that [`completed`] clears.
pub fn is_lost_default(change: &FieldChange, stored: &Map<String, Value>) -> bool {
    let id = change.before.as_ref().and_then(AddressId::of);
    DEFAULTS.contains(&change.path.to_string().as_str())
        && change.after.as_ref().is_none_or(Value::is_null)
        && id.is_none_or(|id| find_address(stored, id).is_none())
}

/// Clears texts by the empty text: Magento keeps a text on null.
fn clear_by_empty_text(object: &mut Map<String, Value>, stored: &Map<String, Value>) {
    for (name, value) in object {
        let was_text = stored.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if value.is_null() && was_text && !DEFAULTS.contains(&name.as_str()) {
            *value = Value::from("");
        }
    }
}

/// Makes the region ids equal in both places; the one beside the object takes precedence. If the ids differed, the
/// texts are those of another region.
fn agree_on_region(address: &mut Map<String, Value>) {
    let inner = address.get("region").and_then(|region| region.get("region_id")).filter(|id| !id.is_null());
    let outer = address.get("region_id").filter(|id| !id.is_null());
    let Some(id) = outer.or(inner).cloned() else { return };
    // A region that was read as a text has no object for an id, and without an id nothing else says what it is.
    if address.get("region").is_some_and(Value::is_string) && same_value("region_id", Some(&id), None) {
        return;
    }
    let differs = inner.is_some_and(|inner| id::integer(inner) != id::integer(&id));
    let has_object = address.get("region").is_some_and(Value::is_object);
    address.insert("region_id".to_owned(), id.clone());
    if !has_object {
        address.insert("region".to_owned(), Value::Object(Map::new()));
    }
    if let Some(Value::Object(region)) = address.get_mut("region") {
        for name in ["region_code", "region"] {
            if differs || !region.contains_key(name) {
                region.insert(name.to_owned(), Value::Null);
            }
        }
        region.insert("region_id".to_owned(), id);
    }
}

#[cfg(test)]
mod tests {
    mod profile_rules {
        use serde_json::{Map, Value, json};

        use crate::profile::magento::completed;

        fn object(value: &Value) -> Map<String, Value> {
            value.as_object().unwrap().clone()
        }

        fn sent(stored: &Value, merged: &Value) -> Value {
            Value::Object(completed(&object(stored), &object(merged)))
        }

        #[test]
        fn defaults_stand_at_the_top_and_as_flags() {
            let none = json!({"addresses": [{"id": 1}]});
            let flag = json!({"default_billing": "2", "addresses":
            [{"id": 1, "default_billing": false}, {"id": 2, "default_billing": true}]});
            assert_eq!(sent(&none, &flag), flag);
            let two = json!({"default_billing": "2", "addresses":
            [{"id": 1, "default_billing": 1}, {"id": 2, "default_billing": true}]});
            assert_eq!(sent(&flag, &two), flag);
            let only_top = json!({"default_billing": "1", "addresses": [{"id": 1}]});
            assert_eq!(sent(&only_top, &only_top)["addresses"][0]["default_billing"], true);
            let strange = json!({"default_billing": "99", "addresses": [{"id": 1}]});
            assert_eq!(sent(&strange, &strange)["default_billing"], json!(null));
            assert_eq!(sent(&none, &none).get("default_billing"), None);
            let moved = json!({"default_billing": "1", "addresses": [{"default_billing": true}]});
            assert_eq!(sent(&only_top, &moved)["default_billing"], json!(null));
        }

        #[test]
        fn custom_attributes_are_sent_as_read_but_for_lists_and_cleared_by_null() {
            let one = |code: &str, value: Value| json!({"attribute_code": code, "value": value});
            let stored = json!({"custom_attributes": [one("since", json!("2020-02-29 00:00:00")), one("tier", json!("4")),
                one("files", json!(["a"])), {"attribute_code": "none"}]});
            let mut merged = stored.clone();
            merged["custom_attributes"][1]["value"] = json!("");
            merged["addresses"] = json!([{"custom_attributes": [one("lift", json!(""))]}]);
            let out = sent(&stored, &merged);
            let since = one("since", json!("2020-02-29 00:00:00"));
            assert_eq!(out["custom_attributes"], json!([since, one("tier", json!(null))]));
            assert_eq!(out["addresses"][0]["custom_attributes"], json!([one("lift", json!(null))]));
            merged["custom_attributes"][2]["value"] = json!(["b"]);
            assert_eq!(sent(&stored, &merged)["custom_attributes"][2], one("files", json!(["b"])));
        }

        #[test]
        fn a_region_is_the_same_in_both_places() {
            let stored = json!({"addresses": [{"id": 1}]});
            let merged = |address: Value| json!({"addresses": [address]});
            let apart = merged(
                json!({"region_id": 12, "region": {"region_id": 57, "region_code": "TX", "region": "Texas"}}),
            );
            let agreed = json!({"region_id": 12, "region_code": null, "region": null});
            assert_eq!(sent(&stored, &apart)["addresses"][0]["region"], agreed);
            let alone = merged(json!({"region_id": 12}));
            assert_eq!(sent(&stored, &alone)["addresses"][0]["region"], agreed);
            assert_eq!(sent(&stored, &merged(json!({"city": "X"})))["addresses"][0].get("region"), None);
        }

        #[test]
        fn null_for_a_stored_text_goes_out_as_the_empty_text() {
            let stored =
                json!({"taxvat": "T", "gender": 1, "addresses": [{"id": 1, "company": "C", "fax": ""}]});
            let merged = json!({"taxvat": null, "gender": null, "addresses": [{"id": 1, "company": null, "fax": null}]});
            let out = sent(&stored, &merged);
            assert_eq!((&out["taxvat"], &out["gender"]), (&json!(""), &json!(null)));
            assert_eq!(
                (&out["addresses"][0]["company"], &out["addresses"][0]["fax"]),
                (&json!(""), &json!(null))
            );
        }
    }
}
