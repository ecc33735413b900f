//! Warnings about an address before it is sent, never errors: the interface names no form of any of these
//! (docs/interface.md, "Address").

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::plan::profile::diff::id_of;
use crate::plan::profile::merge::Merged;
use crate::plan::validate::body::Warnings;
use crate::plan::validate::country::{Country, country_code};

/// Fewest and most digits of a telephone number: five for a short national one, fifteen by E.164.
const DIGITS: std::ops::RangeInclusive<usize> = 5..=15;

/// Warnings about the addresses a profile update adds or changes. A field that stays as it is stored is
/// not looked at.
pub fn of_profile(merged: &Merged) -> Warnings {
    let mut changed: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    let mut warnings = Vec::new();
    for change in &merged.changes {
        match (change.path.address_id(), &change.after) {
            (None, Some(Value::Object(new))) if change.path.is_new_address() => {
                warnings.extend(misplaced_names(merged, new));
                warnings.extend(lint("the new address", new, |_| true));
            }
            (Some(id), Some(_)) => changed.entry(id).or_default().push(change.path.inside()),
            _ => {}
        }
    }
    let addresses = merged.customer.get("addresses").and_then(Value::as_array);
    for address in addresses.into_iter().flatten().filter_map(Value::as_object) {
        let Some((id, named)) = address.get("id").and_then(id_of).and_then(|id| changed.get_key_value(&id))
        else {
            continue;
        };
        warnings
            .extend(lint(&format!("address {id}"), address, |member| named.iter().any(|it| it == member)));
    }
    warnings
}

/// A name that was given for the customer and is missing in the new address was perhaps meant for that.
fn misplaced_names(merged: &Merged, new: &Map<String, Value>) -> Warnings {
    let is_changed = |name: &str| merged.changes.iter().any(|change| change.path.to_string() == name);
    let misplaced =
        ["firstname", "lastname"].into_iter().filter(|name| is_changed(name) && !new.contains_key(*name));
    let warning = |name| {
        format!(
            "this changes the customer's own {name}, and the new address has none: its flag is --address-{name}"
        )
    };
    misplaced.map(warning).collect()
}

/// Warnings about the addresses of a quote (docs/interface.md, "Shipping information").
pub fn of_quote(body: &Map<String, Value>) -> Warnings {
    let information = body.get("addressInformation").and_then(Value::as_object);
    let sides =
        ["shipping_address", "billing_address"].map(|side| (side, information.and_then(|it| it.get(side))));
    let outer = ("billingAddress", body.get("billingAddress"));
    let addresses = sides.into_iter().chain([outer]);
    let addresses = addresses.filter_map(|(side, address)| Some((side, address?.as_object()?)));
    addresses.flat_map(|(side, address)| lint(side, address, |_| true)).collect()
}

/// The warning about one field of an address that is being typed; `address` has this field and its country.
pub fn of_field(address: &Map<String, Value>, field: &str) -> Option<String> {
    let doubt = lint("", address, |member| member == field).into_iter().next()?;
    doubt.strip_prefix(": ").map(str::to_owned)
}

fn lint(label: &str, address: &Map<String, Value>, is_named: impl Fn(&str) -> bool) -> Warnings {
    let text =
        |name: &str| address.get(name).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty());
    let code = text("country_id");
    let country = code.and_then(Country::find);
    let mut found = Vec::new();
    let is_unknown = |code: &&str| country.is_none() || code.chars().any(char::is_lowercase);
    if let Some(code) = code.filter(is_unknown).filter(|_| is_named("country_id")) {
        found.push(unknown_country(code));
    }
    if let (Some(country), Some(postcode)) = (&country, text("postcode"))
        && (is_named("postcode") || is_named("country_id"))
    {
        found.extend(invalid_postcode(country, postcode));
    }
    if let Some(telephone) = text("telephone").filter(|_| is_named("telephone")) {
        found.extend(invalid_telephone(telephone));
    }
    found.into_iter().map(|doubt| format!("{label}: {doubt}")).collect()
}

fn unknown_country(code: &str) -> String {
    let meant = country_code(code).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("`{code}` is not an ISO 3166 country code{meant}")
}

fn invalid_postcode(country: &Country, postcode: &str) -> Option<String> {
    let form = Regex::new(&format!("(?i)^(?:{})$", country.postcode?)).ok()?;
    if form.is_match(postcode) {
        return None;
    }
    // A spreadsheet reads 02138 as a number.
    let padded = format!("{postcode:0>5}");
    let lost = postcode.len() < padded.len()
        && postcode.bytes().all(|it| it.is_ascii_digit())
        && form.is_match(&padded);
    let meant = if lost { format!(" (missing leading zero: {padded}?)") } else { String::new() };
    Some(format!("`{postcode}` is not a valid postcode for {}{meant}", country.name))
}

fn invalid_telephone(telephone: &str) -> Option<String> {
    let digits = telephone.chars().filter(|it| it.is_numeric()).count();
    let usual = |it: char| it.is_numeric() || it.is_whitespace() || "+-./()#*,;".contains(it);
    let number = telephone.split(['x', 'e']).next().unwrap_or_default();
    (!DIGITS.contains(&digits) || !number.chars().all(usual))
        .then(|| format!("`{telephone}` does not look like a phone number"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{of_profile, of_quote};
    use crate::plan::profile::merge::merge;
    use crate::plan::profile::patch::ProfilePatch;

    fn doubt(address: Value) -> String {
        let body = json!({"addressInformation": {"shipping_address": address}});
        of_quote(body.as_object().unwrap()).join("\n")
    }

    #[test]
    fn addresses_of_many_countries_raise_no_doubt() {
        for (country, postcode, telephone) in [
            ("FR", "75002", "+33 1 42 68 53 00"),
            ("US", "02138", "(617) 495-1000 ext. 12"),
            ("US", "02138-1234", "+1 617 495 1000"),
            ("GB", "sw1a 1aa", "020 7946 0000"),
            ("JP", "130-0015", "03-3623-1111"),
            ("LB", "", "+961 1 345 678"),
            ("CA", "K1A 0B1", "+1 613 992 4211"),
            ("EG", "11511", "٠٢ ٢٧٩٥ ٦٠٠٠"),
        ] {
            let address = json!({"country_id": country, "postcode": postcode, "telephone": telephone});
            assert_eq!(doubt(address), "", "{country}");
        }
        assert_eq!(doubt(json!({"country_id": "IE", "postcode": null})), "");
    }

    #[test]
    fn each_doubt_says_what_it_is_about() {
        for (address, told) in [
            (json!({"country_id": "UK"}), "`UK` is not an ISO 3166 country code"),
            (json!({"country_id": "fr"}), "did you mean `FR`?"),
            (json!({"country_id": "Germany"}), "did you mean `DE`?"),
            (json!({"country_id": "US", "postcode": "2138"}), "(missing leading zero: 02138?"),
            (json!({"country_id": "FR", "postcode": "7500"}), "`7500` is not a valid postcode for France"),
            (json!({"country_id": "GB", "postcode": "12345"}), "`12345` is not a valid postcode for "),
            (json!({"telephone": "see note"}), "`see note` does not look like a phone number"),
            (json!({"telephone": "+33 1 42 68 53 00 00 00 00"}), "does not look like a phone number"),
            (json!({"telephone": "12"}), "`12` does not look like a phone number"),
        ] {
            let doubt = doubt(address);
            assert!(doubt.starts_with("shipping_address: ") && doubt.contains(told), "{told}: {doubt}");
        }
    }

    #[test]
    fn only_what_an_update_changes_is_doubted() {
        let stored =
            json!({"addresses": [{"id": 1, "country_id": "FR", "postcode": "old", "telephone": "none"}]});
        let doubts = |draft: Value| {
            let wish = ProfilePatch {
                draft: json!({"addresses": [draft]}).as_object().unwrap().clone(),
                ..ProfilePatch::default()
            };
            of_profile(&merge(stored.as_object().unwrap(), &wish).unwrap()).join("\n")
        };
        assert_eq!(doubts(json!({"id": 1, "city": "Lyon"})), "");
        assert!(
            doubts(json!({"id": 1, "postcode": "6900"}))
                .starts_with("address 1: `6900` is not a valid postcode for France")
        );
        assert!(
            doubts(json!({"id": 1, "country_id": "DE"}))
                .contains("`old` is not a valid postcode for Germany")
        );
        assert!(
            doubts(json!({"country_id": "XX"}))
                .starts_with("the new address: `XX` is not an ISO 3166 country code")
        );
    }
}
