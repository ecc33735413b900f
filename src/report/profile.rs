//! A stored profile for a person: who it is, then the addresses, with every stored field that has a value.

use serde_json::{Map, Value};

use crate::report::fields::{fields, member, region};
use crate::report::style::{self, OutputStyle, TextStyle, cell};
use storefront_core::id::AddressId;
use storefront_core::interface::label::label;
use storefront_core::profile::stored::Profile;

/// Fields of an address that its card begins with, or that add nothing to those.
const AT_THE_BEGINNING: &str = "id customer_id firstname lastname company street postcode city region region_id \
    country_id telephone default_billing default_shipping";

/// Fields of the profile that are in its heading or with the addresses.
const IN_HEADING: &str = "id firstname lastname email addresses default_billing default_shipping";

/// The profile as text, ending in a newline.
pub fn text(profile: &Profile, screen: OutputStyle) -> String {
    let customer = profile.customer();
    let addresses = profile.addresses().iter().filter_map(Value::as_object);
    let owner = screen.paint(TextStyle::Head, &screen.wrapped(&owner(customer)));
    let mut blocks = vec![block(&owner, screen, fields(customer, IN_HEADING))];
    blocks.extend(addresses.map(|address| card(customer, address, screen)));
    if blocks.len() == 1 {
        blocks.push("No addresses".to_owned());
    }
    blocks.join("\n\n") + "\n"
}

/// An address with its fields below each other, without the missing ones.
fn card(customer: &Map<String, Value>, address: &Map<String, Value>, screen: OutputStyle) -> String {
    let head = screen.paint(TextStyle::Id, &format!("address {}", member(address, "id")));
    let head = format!("{head}{}", defaults(customer, address));
    let member = |name: &str| member(address, name);
    let first = [
        ("Name", name(address)),
        (label("company"), member("company")),
        (label("street"), member("street")),
        (label("city"), joined([member("postcode"), member("city")], " ")),
        (label("region"), region(address).unwrap_or_default()),
        (label("country_id"), member("country_id")),
        (label("telephone"), member("telephone")),
    ];
    let first = first.into_iter().filter(|(_, value)| !value.is_empty());
    let first = first.map(|(name, value)| (name.to_owned(), value));
    block(&head, screen, first.chain(fields(address, AT_THE_BEGINNING)))
}

/// Fields and their values below a line.
pub fn block(head: &str, screen: OutputStyle, fields: impl IntoIterator<Item = (String, String)>) -> String {
    let row = |(name, value): (String, String)| [cell(TextStyle::Dim, name), value.into()];
    style::block(head, screen, fields.into_iter().map(row))
}

fn name(owner: &Map<String, Value>) -> String {
    joined([member(owner, "firstname"), member(owner, "lastname")], " ")
}

/// An address in one line: `Amina Haddad, 12 rue de la Paix, 75002 Paris, FR`.
pub fn one_liner(address: &Map<String, Value>) -> String {
    let member = |name: &str| member(address, name);
    let city = joined([member("postcode"), member("city")], " ");
    joined([name(address), member("street"), city, member("country_id")], ", ")
}

/// An address in one line that begins with what tells it from others: `75002 Paris, 12 rue de la Paix, Amina Haddad, FR`.
pub fn place_first(address: &Map<String, Value>) -> String {
    let member = |name: &str| member(address, name);
    let city = joined([member("postcode"), member("city")], " ");
    joined([city, member("street"), name(address), member("country_id")], ", ")
}

/// Whose profile or order it is, in one line: `Amina Haddad <amina@example.com> (customer 1)`.
pub fn owner(customer: &Map<String, Value>) -> String {
    let [email, id] = [("<", "email", ">"), ("(customer ", "id", ")")].map(|(before, name, behind)| {
        let value = member(customer, name);
        if value.is_empty() { value } else { format!("{before}{value}{behind}") }
    });
    let order = member(customer, "order");
    let order = if order.is_empty() { order } else { format!("order {order},") };
    joined([order, name(customer), email, id], " ")
}

fn joined<const N: usize>(parts: [String; N], by: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(by)
}

/// What an address is the default for, by the profile's own fields or by its flags: `, default billing, shipping`.
pub fn defaults(customer: &Map<String, Value>, address: &Map<String, Value>) -> String {
    let id = address.get("id").and_then(AddressId::of);
    let is = |name: &str| {
        id.is_some() && customer.get(name).and_then(AddressId::of) == id
            || address.get(name) == Some(&Value::Bool(true))
    };
    let names = [("billing", "default_billing"), ("shipping", "default_shipping")];
    let names = names.iter().filter(|(_, name)| is(name)).map(|(label, _)| *label);
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { names } else { format!(", default {names}") }
}
