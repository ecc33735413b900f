//! What is wrong with a customer's address book, and which addresses are stored twice.
//!
//! There are two relations. Addresses *look equal* if a person who reads them sees no difference; this is only
//! reported. *Twins* are equal in every field; all but one of them may be removed.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization as _;

use super::address::{AddressIndex, DEFAULTS, address_list, addresses_by_id, find_address, join_ids};
use super::diff::{Expected, FieldChange, Required};
use super::equal::same_flag;
use super::path::FieldPath;
use super::region::{self, RegionDirectory};
use super::stored::{Profile, find_masked};
use crate::check::accepted::{self, Refused, Version};
use crate::check::country::{Country, unknown_country};
use crate::id::AddressId;
use crate::interface::dialect::Dialect;
use crate::text::sanitize::quoted;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Addresses look equal.
    Equal,
    /// A value of an address with which the shop refuses every update of the customer.
    Locked,
    /// A required field is empty.
    Missing,
    /// The region is not one of the country's.
    Region,
    /// The country is unknown.
    Country,
    /// A default is an address that the customer does not have.
    Default,
    /// The shop does not have the customer.
    UnknownCustomer,
}

/// Something that a person should check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// The addresses that it is about.
    pub addresses: Vec<AddressId>,
    /// The field, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// The versions of Magento that refuse it, where not every one does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<&'static str>,
    /// What is wrong, as a clause.
    pub message: String,
}

impl Finding {
    /// Whether it applies to this version of Magento, or to every one if none is named.
    pub fn holds_in(&self, version: Option<Version>) -> bool {
        self.versions.is_empty() || version.is_some_and(|version| self.versions.contains(&version.name()))
    }

    /// Whether the shop refuses every update of the customer because of it.
    pub fn locks(&self) -> bool {
        matches!(self.kind, Kind::Locked | Kind::Missing)
    }
}

/// Addresses that are equal in every field but the id and what they are the default for: two or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twins {
    /// Those that stay: every default, else the one with the lowest id.
    pub keep: Vec<AddressId>,
    /// The others.
    pub remove: Vec<AddressId>,
}

/// What is known of the shop.
pub struct Shop<'a> {
    /// Its interface.
    pub dialect: &'a Dialect,
    /// The regions of its countries, as far as they were read.
    pub regions: &'a RegionDirectory,
    /// Countries that it does not know.
    pub unknown: &'a HashSet<String>,
}

/// Everything that can be found in an address book without further calls. `twins` are those of the same customer.
pub fn check(customer: &Map<String, Value>, twins: &[Twins], shop: &Shop<'_>) -> Vec<Finding> {
    let mut found = equal(customer, twins);
    for (id, address) in addresses_by_id(address_list(customer)) {
        if let Some(address) = address.as_object() {
            found.extend(of_address(id, address, shop));
        }
    }
    found.extend(DEFAULTS.into_iter().filter_map(|name| {
        let id = customer.get(name).and_then(AddressId::of).filter(|id| id.0 != 0)?;
        let message = format!("{name} is address {id}, which the customer does not have");
        find_address(customer, id).is_none().then(|| Finding {
            kind: Kind::Default,
            addresses: vec![id],
            field: Some(name),
            versions: Vec::new(),
            message,
        })
    }));
    found
}

/// The countries whose regions the check needs.
pub fn countries(customer: &Map<String, Value>) -> BTreeSet<&str> {
    let addresses = address_list(customer).iter();
    let codes = addresses.filter_map(|address| address.get("country_id")?.as_str());
    codes.filter(|code| unknown_country(code).is_none()).collect()
}

/// The classes of twins. Empty if the ids do not tell the addresses apart. Addresses that look masked are left out: the
/// masks may hide a difference.
pub fn twins(customer: &Map<String, Value>) -> Vec<Twins> {
    let addresses = address_list(customer);
    if addresses.len() < 2 || AddressIndex::of(addresses).is_err() {
        return Vec::new();
    }
    let classes = classes(addresses, |address| (!is_masked(address)).then(|| exact(address)));
    let default =
        |id: &AddressId| find_address(customer, *id).is_some_and(|it| is_default(customer, *id, it));
    let twins = classes.into_iter().map(|class| {
        let (mut keep, mut remove): (Vec<_>, Vec<_>) = class.into_iter().partition(default);
        if keep.is_empty()
            && let Some(lowest) = remove.iter().copied().min()
        {
            remove.retain(|id| *id != lowest);
            keep.push(lowest);
        }
        Twins { keep, remove }
    });
    twins.collect()
}

/// What a plan that removes twins expects: each is stored as it was read, and so is what is kept in its place. `None`
/// if there is nothing to remove.
pub fn removal(profile: &Profile, twins: &[Twins]) -> Option<Expected> {
    let customer = profile.customer();
    let stored = |id: &AddressId| find_address(customer, *id).cloned();
    let removed = twins.iter().flat_map(|twins| &twins.remove);
    let changes: Vec<FieldChange> = removed
        .map(|id| FieldChange { path: FieldPath::address(*id), before: stored(id), after: None })
        .collect();
    let kept = twins.iter().filter(|twins| !twins.remove.is_empty()).flat_map(|twins| &twins.keep);
    let kept = kept.map(|id| Required { path: FieldPath::address(*id), value: stored(id) });
    let defaults = DEFAULTS
        .into_iter()
        .map(|name| Required { path: FieldPath::default().member(name), value: customer.get(name).cloned() });
    let required = kept.chain(defaults).collect();
    (!changes.is_empty()).then(|| Expected { owner: profile.owner(), changes, required })
}

/// The ids of addresses with the same key: each class with two or more, in the order of their first addresses.
fn classes(addresses: &[Value], key: impl Fn(&Map<String, Value>) -> Option<String>) -> Vec<Vec<AddressId>> {
    let (mut classes, mut places): (Vec<Vec<AddressId>>, HashMap<String, usize>) = Default::default();
    for (id, address) in addresses_by_id(addresses) {
        let Some(key) = address.as_object().and_then(&key) else { continue };
        let place = *places.entry(key).or_insert(classes.len());
        match classes.get_mut(place) {
            Some(class) => class.push(id),
            None => classes.push(vec![id]),
        }
    }
    classes.retain(|class| class.len() > 1);
    classes
}

/// Whether a field says what an address is.
fn is_content(name: &str) -> bool {
    name != "id" && !DEFAULTS.contains(&name)
}

/// An address to the letter. All spellings of "no region" are one: Magento gives the address a `region_id` of 0 at the
/// next update of the customer.
fn exact(address: &Map<String, Value>) -> String {
    let says_no_region = |name: &str, value: &Value| {
        let is_known = |name: &String| ["region", "region_code", "region_id"].contains(&name.as_str());
        let has_others = value.as_object().is_some_and(|region| !region.keys().all(is_known));
        ["region", "region_id"].contains(&name) && !has_others && !region::is_stored(address)
    };
    let fields = address.iter().filter(|(name, value)| is_content(name) && !says_no_region(name, value));
    object(fields.map(|(name, value)| (name.as_str(), in_order(value))).collect()).to_string()
}

/// A value with its fields sorted by name: their order does not tell addresses apart.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            object(fields.iter().map(|(name, value)| (name.as_str(), in_order(value))).collect())
        }
        Value::Array(values) => values.iter().map(in_order).collect(),
        other => other.clone(),
    }
}

fn is_masked(address: &Map<String, Value>) -> bool {
    let mut found = Vec::new();
    address.iter().for_each(|(name, value)| find_masked(value, &|| name.clone(), &mut found));
    !found.is_empty()
}

fn is_default(customer: &Map<String, Value>, id: AddressId, address: &Value) -> bool {
    DEFAULTS.into_iter().any(|name| {
        customer.get(name).and_then(AddressId::of) == Some(id)
            || same_flag(Some(&Value::Bool(true)), address.get(name))
    })
}

/// Addresses that look equal.
fn equal(customer: &Map<String, Value>, twins: &[Twins]) -> Vec<Finding> {
    let addresses = address_list(customer);
    if addresses.len() < 2 {
        return Vec::new();
    }
    let classes = classes(addresses, |address| Some(visible(address)));
    let of_class = |class: Vec<AddressId>| {
        let inside: Vec<(&Twins, Vec<AddressId>)> = twins
            .iter()
            .filter(|twins| twins.keep.iter().all(|id| class.contains(id)))
            .map(|twins| (twins, class.iter().copied().filter(|id| twins.has(*id)).collect()))
            .collect();
        let ids = join_ids(&class);
        let mut message = match &inside[..] {
            [(_, all)] if *all == class => format!("addresses {ids} are equal in every field"),
            [] => format!("addresses {ids} look equal"),
            several => {
                let each =
                    several.iter().map(|(_, ids)| format!("{} are equal in every field", join_ids(ids)));
                format!("addresses {ids} look equal; {}", each.collect::<Vec<_>>().join("; "))
            }
        };
        for (twins, _) in inside.iter().filter(|(twins, _)| twins.keep.len() > 1) {
            let kept = join_ids(&twins.keep);
            message.push_str(&format!("; {kept} are defaults and would be kept"));
        }
        Finding { kind: Kind::Equal, addresses: class, field: None, versions: Vec::new(), message }
    };
    classes.into_iter().map(of_class).collect()
}

impl Twins {
    fn has(&self, id: AddressId) -> bool {
        self.keep.contains(&id) || self.remove.contains(&id)
    }
}

/// What is wrong with one address.
fn of_address(id: AddressId, address: &Map<String, Value>, shop: &Shop<'_>) -> Vec<Finding> {
    let finding = |kind, field, message| Finding {
        kind,
        addresses: vec![id],
        field: Some(field),
        versions: Vec::new(),
        message,
    };
    let mut found = Vec::new();
    if shop.dialect.requires_whole_addresses {
        found.extend(accepted::refused(address).iter().map(|refused| {
            let (kind, message) = of_refused(id, refused, address);
            let versions = refused.versions.iter().filter(|_| !refused.is_of_all());
            let versions = versions.map(|version| version.name()).collect();
            Finding { versions, ..finding(kind, refused.field, message) }
        }));
    }
    let code = address.get("country_id").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if code.is_empty() {
        let message = format!("address {id} has no country_id, which Magento requires");
        found.extend(
            shop.dialect.requires_whole_addresses.then(|| finding(Kind::Missing, "country_id", message)),
        );
        return found;
    }
    if let Some(problem) = unknown_country(code) {
        found.push(finding(Kind::Country, "country_id", format!("address {id}: {problem}")));
        return found;
    }
    if shop.unknown.contains(code) {
        let message = format!("address {id} is in {}, a country that the shop does not know", quoted(code));
        found.push(finding(Kind::Country, "country_id", message));
        return found;
    }
    let has_no_postcode = accepted::is_empty(address.get("postcode"));
    if let Some(country) = Country::find(code).filter(|country| {
        shop.dialect.requires_whole_addresses && has_no_postcode && country.requires_postcode()
    }) {
        let message = format!(
            "address {id} has no postcode, which Magento requires in {} unless the shop makes it optional",
            country.name
        );
        found.push(finding(Kind::Missing, "postcode", message));
    }
    if let Some(region) = shop.regions.misfit(code, address) {
        let message = format!("address {id} has the region {region}, which the shop does not have in {code}");
        found.push(finding(Kind::Region, "region", message));
    }
    found
}

fn of_refused(id: AddressId, refused: &Refused, address: &Map<String, Value>) -> (Kind, String) {
    let field = refused.field;
    if let Some(warning) = refused.warning() {
        return (Kind::Locked, format!("address {id}: {warning}"));
    }
    if accepted::is_empty(address.get(field)) {
        let message = format!(
            "address {id} has no {field}, which Magento requires: it refuses every update of the customer"
        );
        return (Kind::Missing, message);
    }
    let lines = address.get(field).and_then(Value::as_array).map_or(0, Vec::len);
    let message = format!(
        "address {id} has {lines} street lines: unless the shop is set up for as many, it refuses every update of \
         the customer"
    );
    (Kind::Locked, message)
}

/// What a person sees of an address, as a key.
fn visible(address: &Map<String, Value>) -> String {
    let is_seen = |name: &str| is_content(name) && !["customer_id", "region", "region_id"].contains(&name);
    let fields = address.iter().filter(|(name, _)| is_seen(name));
    let mut seen: Vec<(&str, Value)> =
        fields.filter_map(|(name, value)| Some((name.as_str(), seen(name, value)?))).collect();
    seen.extend(region_seen(address).map(|region| ("region", region)));
    object(seen).to_string()
}

/// The region by the first of its name, code and id.
fn region_seen(address: &Map<String, Value>) -> Option<Value> {
    let region = address.get("region");
    let inner = |name: &str| region.and_then(|region| region.get(name));
    let places = [
        region.filter(|region| region.is_string()),
        inner("region"),
        inner("region_code"),
        inner("region_id"),
        address.get("region_id"),
    ];
    places.into_iter().flatten().find_map(|value| seen("region_id", value))
}

/// What a person sees of a value; `None` where that is nothing.
fn seen(name: &str, value: &Value) -> Option<Value> {
    let list = |values: &[Value]| values.iter().filter_map(|value| seen("", value)).collect::<Vec<_>>();
    match value {
        Value::Null => None,
        Value::String(text) => Some(as_read(text)).filter(|text| is_something(name, text)).map(Value::String),
        Value::Number(_) | Value::Bool(_) => {
            Some(value.to_string()).filter(|text| is_something(name, text)).map(Value::String)
        }
        Value::Array(lines) if name == "street" => {
            let lines = list(lines);
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            Some(lines.join(" ")).filter(|text| !text.is_empty()).map(Value::String)
        }
        Value::Array(attributes) if name == "custom_attributes" => {
            let has_value = |one: &&Value| one.get("value").is_some_and(|value| seen("", value).is_some());
            let mut texts: Vec<String> = attributes
                .iter()
                .filter(has_value)
                .filter_map(|one| Some(seen("", one)?.to_string()))
                .collect();
            texts.sort_unstable();
            (!texts.is_empty()).then(|| texts.into())
        }
        Value::Array(values) => Some(list(values)).filter(|list| !list.is_empty()).map(Value::Array),
        Value::Object(fields) => {
            let fields: Vec<(&str, Value)> =
                fields.iter().filter_map(|(name, value)| Some((name.as_str(), seen(name, value)?))).collect();
            (!fields.is_empty()).then(|| object(fields))
        }
    }
}

/// An object with its fields in the order of their names.
fn object(mut fields: Vec<(&str, Value)>) -> Value {
    fields.sort_by_key(|(name, _)| *name);
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Whether a text is not empty; a region id of 0 is empty.
fn is_something(name: &str, text: &str) -> bool {
    let is_no_region = name == "region_id" && text == "0";
    !(text.is_empty() || is_no_region)
}

/// A text without letter case, accents and invisible characters, with one blank between words. Only accents of
/// alphabets are dropped: in other scripts a mark makes another letter.
fn as_read(text: &str) -> String {
    let is_accent = |letter: &char| ('\u{300}'..='\u{36f}').contains(letter);
    let is_unseen = |letter: &char| {
        matches!(letter, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let plain: String = text.nfd().filter(|letter| !is_accent(letter) && !is_unseen(letter)).nfc().collect();
    // Through upper case, where `ß` is `SS`.
    let plain = plain.to_uppercase().to_lowercase();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
