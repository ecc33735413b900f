//! A stored profile for a person: who it is, then the addresses, with every stored field that has a value.

use serde_json::{Map, Value};

use crate::plan::profile::diff::id_of;
use crate::plan::profile::stored::Profile;
use crate::report::changes::format_value;
use crate::report::style::{self, OutputStyle, TextStyle, cell};
use crate::text::sanitize::sanitize_line;

/// Fields of an address that its card begins with, or that add nothing to those.
const AT_THE_BEGINNING: &str = "id customer_id firstname lastname company street postcode city region region_id \
    country_id telephone default_billing default_shipping";

/// Fields of the profile that stand in its heading or with the addresses.
const IN_HEADING: &str = "id firstname lastname email group_id store_id website_id addresses default_billing \
    default_shipping";

/// The profile as text, ending in a newline.
pub fn text(profile: &Profile, screen: OutputStyle) -> String {
    let customer = profile.customer();
    let addresses = profile.addresses().iter().filter_map(Value::as_object);
    let mut blocks = vec![heading(customer, screen)];
    blocks.extend(addresses.map(|address| card(customer, address, screen)));
    if blocks.len() == 1 {
        blocks.push("No addresses".to_owned());
    }
    blocks.join("\n\n") + "\n"
}

/// An address with its fields below each other; what it has not is left out.
fn card(customer: &Map<String, Value>, address: &Map<String, Value>, screen: OutputStyle) -> String {
    let head = screen.paint(TextStyle::Id, &format!("address {}", member(address, "id")));
    let member = |name: &str| member(address, name);
    let fields = [
        ("name", name(address)),
        ("company", member("company")),
        ("street", member("street")),
        ("city", joined([member("postcode"), member("city")], " ")),
        ("country", joined([region(address), member("country_id")], ", ")),
        ("telephone", member("telephone")),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).into_iter();
    let fields = fields.filter(|(_, value)| !value.is_empty()).chain(rest(address, AT_THE_BEGINNING));
    format!("{head}{}\n  {}", defaults(customer, address), pairs(fields, screen))
}

/// Two columns, indented by two but for the first line.
fn pairs(fields: impl Iterator<Item = (String, String)>, screen: OutputStyle) -> String {
    let fields = fields.map(|(name, value)| [cell(TextStyle::Dim, name), value.into()]);
    style::table(screen.indented(), &[], fields).replace('\n', "\n  ")
}

/// Name and email address, then every other field of the profile.
fn heading(customer: &Map<String, Value>, style: OutputStyle) -> String {
    let who = name_and_email(customer);
    let ids = [("customer", "id"), ("group", "group_id"), ("store", "store_id"), ("website", "website_id")];
    let ids = ids.iter().filter(|(_, name)| customer.contains_key(*name));
    let ids: Vec<String> = ids.map(|(label, name)| format!("{label} {}", member(customer, name))).collect();
    let mut text = style.paint(TextStyle::Head, &style.wrapped(&who));
    if !ids.is_empty() {
        text += &format!("\n{}", style.wrapped(&ids.join(", ")));
    }
    let others = rest(customer, IN_HEADING);
    if !others.is_empty() {
        text += &format!("\n  {}", pairs(others.into_iter(), style));
    }
    text
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

fn name_and_email(customer: &Map<String, Value>) -> String {
    let email = member(customer, "email");
    let email = if email.is_empty() { email } else { format!("<{email}>") };
    joined([name(customer), email], " ")
}

/// Whose profile it is, in one line: `Amina Haddad <amina@example.com> (customer 1)`.
pub fn owner(customer: &Map<String, Value>) -> String {
    let id = member(customer, "id");
    let id = if id.is_empty() { id } else { format!("(customer {id})") };
    joined([name_and_email(customer), id], " ")
}

fn member(object: &Map<String, Value>, name: &str) -> String {
    let value = object.get(name).filter(|value| !value.is_null());
    value.map(|value| format_value(Some(value))).unwrap_or_default()
}

fn joined<const N: usize>(parts: [String; N], by: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(by)
}

fn region(address: &Map<String, Value>) -> String {
    let region = match address.get("region") {
        Some(Value::Object(region)) => region.get("region").or_else(|| region.get("region_code")),
        other => other,
    };
    region.and_then(Value::as_str).map(sanitize_line).unwrap_or_default()
}

/// What an address is the default for, by the profile's own fields or by its flags: `, default billing, shipping`.
pub fn defaults(customer: &Map<String, Value>, address: &Map<String, Value>) -> String {
    let id = address.get("id").and_then(id_of);
    let is = |name: &str| {
        id.is_some() && customer.get(name).and_then(id_of) == id
            || address.get(name) == Some(&Value::Bool(true))
    };
    let names = [("billing", "default_billing"), ("shipping", "default_shipping")];
    let names = names.iter().filter(|(_, name)| is(name)).map(|(label, _)| *label);
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { names } else { format!(", default {names}") }
}

/// Every field with a value but those left out, in stored order. A nested object is taken apart (`window.from`); custom
/// and extension attributes go by their own names.
fn rest(object: &Map<String, Value>, left_out: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (name, value) in object.iter().filter(|(name, _)| !left_out.split(' ').any(|one| one == *name)) {
        collect(name, value, &mut fields);
    }
    fields
}

fn collect(name: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(inner) if name == "extension_attributes" => {
            inner.iter().for_each(|(member, value)| collect(member, value, fields));
        }
        Value::Object(inner) => {
            inner.iter().for_each(|(member, value)| collect(&format!("{name}.{member}"), value, fields));
        }
        Value::Array(elements) => {
            let coded =
                elements.iter().map(|one| Some((one.get("attribute_code")?.as_str()?, one.get("value")?)));
            match coded.collect::<Option<Vec<_>>>() {
                Some(coded) => coded.into_iter().for_each(|(code, value)| collect(code, value, fields)),
                None => fields.push((sanitize_line(name), format_value(Some(value)))),
            }
        }
        other => fields.push((sanitize_line(name), format_value(Some(other)))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rest;

    #[test]
    fn every_field_with_a_value_is_there() {
        let address = json!({"id": 1, "company": "A\u{1b}B", "fax": "", "prefix": null, "flag": false, "lines": ["a", "b"],
            "none": [], "extension_attributes": {"x": {"y": 1.50}}, "custom_attributes": [{"attribute_code": "door", "value": "7"}]});
        let fields = rest(address.as_object().unwrap(), "id");
        let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields, ["company=A\\u{1b}B", "flag=false", "lines=a / b", "x.y=1.5", "door=7"]);
    }
}
