//! A stored profile for a person: who it is, then the addresses.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::changes::{plain_table, shown, trimmed};
use super::escape::one_line;
use crate::plan::profile::Profile;
use crate::plan::roster::id_of;

/// The profile as text, ending in a newline. `width` is the terminal's.
pub fn text(profile: &Profile, width: Option<u16>) -> String {
    let customer = profile.customer();
    let mut table = plain_table(width);
    table.set_header(["ADDRESS", "NAME", "STREET", "POSTCODE", "CITY", "REGION", "COUNTRY", "TELEPHONE"]);
    for address in profile.addresses().iter().filter_map(Value::as_object) {
        table.add_row([
            format!("{}{}", member(address, "id"), defaults(customer, address)),
            format!("{} {}", member(address, "firstname"), member(address, "lastname")).trim().to_owned(),
            member(address, "street"),
            member(address, "postcode"),
            member(address, "city"),
            region(address),
            member(address, "country_id"),
            member(address, "telephone"),
        ]);
    }
    let addresses = if profile.addresses().is_empty() { "No addresses".to_owned() } else { trimmed(&table) };
    format!("{}\n\n{addresses}\n", heading(customer))
}

fn heading(customer: &Map<String, Value>) -> String {
    let name = format!("{} {}", member(customer, "firstname"), member(customer, "lastname"));
    let mut heading = format!("{} <{}>", name.trim(), member(customer, "email"));
    for (label, name) in
        [("customer", "id"), ("group", "group_id"), ("store", "store_id"), ("website", "website_id")]
    {
        if customer.contains_key(name) {
            let _ = write!(heading, ", {label} {}", member(customer, name));
        }
    }
    heading
}

fn member(object: &Map<String, Value>, name: &str) -> String {
    object.get(name).filter(|value| !value.is_null()).map(|value| shown(Some(value))).unwrap_or_default()
}

fn region(address: &Map<String, Value>) -> String {
    let region = match address.get("region") {
        Some(Value::Object(region)) => region.get("region").or_else(|| region.get("region_code")),
        other => other,
    };
    region.and_then(Value::as_str).map(one_line).unwrap_or_default()
}

/// Marks a default address: `billing`, `shipping` or both.
fn defaults(customer: &Map<String, Value>, address: &Map<String, Value>) -> String {
    let id = address.get("id").and_then(id_of);
    let is = |name: &str| {
        id.is_some() && customer.get(name).and_then(id_of) == id
            || address.get(name) == Some(&Value::Bool(true))
    };
    match (is("default_billing"), is("default_shipping")) {
        (true, true) => "\nbilling, shipping".to_owned(),
        (true, false) => "\nbilling".to_owned(),
        (false, true) => "\nshipping".to_owned(),
        (false, false) => String::new(),
    }
}
