//! A stored profile for a person: who it is, then the addresses.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::plan::profile::address_ids::id_of;
use crate::plan::profile::stored::Profile;
use crate::report::changes::format_value;
use crate::report::table::{header, new_table, render};
use crate::report::terminal::{OutputStyle, TextStyle};
use crate::sanitize::sanitize_line;

/// Below this many columns six columns of a table are no longer read with ease.
const TABLE_COLUMNS: u16 = 76;

const HEADS: [&str; 6] = ["ADDRESS", "NAME", "STREET", "CITY", "COUNTRY", "TELEPHONE"];

/// The profile as text, ending in a newline.
pub fn text(profile: &Profile, screen: OutputStyle) -> String {
    let customer = profile.customer();
    let rows = profile.addresses().iter().filter_map(Value::as_object).map(|address| row(customer, address));
    let addresses = if profile.addresses().is_empty() {
        "No addresses".to_owned()
    } else if screen.is_narrower_than(TABLE_COLUMNS) {
        rows.map(|row| stacked(&row, screen)).collect::<Vec<_>>().join("\n\n")
    } else {
        let mut table = new_table(screen);
        table.set_header(header(&HEADS)).add_rows(rows);
        render(&table)
    };
    format!("{}\n\n{addresses}\n", screen.paint(TextStyle::Head, &heading(customer)))
}

fn row(customer: &Map<String, Value>, address: &Map<String, Value>) -> [String; 6] {
    [
        format!("{}{}", member(address, "id"), defaults(customer, address)),
        joined([member(address, "firstname"), member(address, "lastname")], " "),
        member(address, "street"),
        joined([member(address, "postcode"), member(address, "city")], " "),
        joined([region(address), member(address, "country_id")], ", "),
        member(address, "telephone"),
    ]
}

/// An address with its fields below each other; what it has not is left out.
fn stacked(row: &[String; 6], screen: OutputStyle) -> String {
    let head = format!("address {}", row[0].replace('\n', ", "));
    let mut table = new_table(screen);
    let members = HEADS.iter().zip(row).skip(1).filter(|(_, value)| !value.is_empty());
    table.add_rows(members.map(|(head, value)| [head.to_lowercase(), value.clone()]));
    let members = render(&table).replace('\n', "\n  ");
    format!("{}\n  {members}", screen.paint(TextStyle::Head, &head))
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
    object
        .get(name)
        .filter(|value| !value.is_null())
        .map(|value| format_value(Some(value)))
        .unwrap_or_default()
}

fn joined(parts: [String; 2], by: &str) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(by)
}

fn region(address: &Map<String, Value>) -> String {
    let region = match address.get("region") {
        Some(Value::Object(region)) => region.get("region").or_else(|| region.get("region_code")),
        other => other,
    };
    region.and_then(Value::as_str).map(sanitize_line).unwrap_or_default()
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
