//! An address, or the profile itself, as fields to be edited; only what was edited becomes the draft.

use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::edit::Edit;
use super::field::Field;
use crate::plan::profile::diff::id_of;
use crate::plan::profile::merge::DefaultAddress;
use crate::plan::validate::lint;
use crate::prompt::Objection;
use crate::sanitize::sanitize_line;
use crate::wire::{self, FieldType, MARKETPLACE_FIELDS, ObjectSchema, Origin};

#[cfg(test)]
mod tests;

/// The fields of an address in the order they are asked: the country decides how postcode and region look.
const ADDRESS_FIELDS: [&str; 8] =
    ["firstname", "lastname", "street", "country_id", "postcode", "city", "region", "telephone"];

/// What names an address, or is asked as part of its region.
const NOT_EDITED: [&str; 3] = ["id", "customer_id", "region_id"];

/// How many fields of a new address are asked one after another; the others are left to the list.
pub const ASKED_OF_NEW_ADDRESS: usize = ADDRESS_FIELDS.len();

/// Labels that are shorter than the documented ones, and those of fields that Magento has and the interface does not list.
const LABELS: [(&str, &str); 14] = [
    ("street", "Street"),
    ("country_id", "Country code"),
    ("region", "Region"),
    ("telephone", "Telephone"),
    ("disable_auto_group_change", "Keep group (1: yes)"),
    ("prefix", "Name prefix"),
    ("middlename", "Middle name"),
    ("suffix", "Name suffix"),
    ("company", "Company"),
    ("vat_id", "VAT number"),
    ("fax", "Fax"),
    ("taxvat", "Tax/VAT number"),
    ("default_shipping", "Default shipping"),
    ("default_billing", "Default billing"),
];

const CUSTOM_ATTRIBUTES: &str = "custom_attributes";

/// What is edited.
#[derive(Debug, Clone)]
pub struct Form {
    /// What it is, for the question.
    pub title: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Whose fields they are.
    pub owner: Owner,
}

/// In the order in which edits are reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The profile without its addresses.
    Profile,
    /// The stored address with this id.
    Address(i64),
    /// An address that is not there yet.
    NewAddress,
}

impl Form {
    /// A stored address; `None` without a usable id. It has every field that one of the `addresses` has.
    pub fn of_address(stored: &Map<String, Value>, addresses: &[Value]) -> Option<Self> {
        let id = stored.get("id").and_then(id_of)?;
        Some(Self::new(format!("Address {id}"), Owner::Address(id), address_fields(addresses), stored))
    }

    /// An address that is not there yet.
    pub fn of_new_address(addresses: &[Value]) -> Self {
        Self::new("New address".to_owned(), Owner::NewAddress, address_fields(addresses), &Map::new())
    }

    /// The profile without its addresses.
    pub fn of_profile(customer: &Map<String, Value>) -> Self {
        let listed =
            MARKETPLACE_FIELDS.customer.own_fields.iter().filter(|member| member.name != "addresses");
        let fields = known_fields(MARKETPLACE_FIELDS.customer, listed, [customer]);
        Self::new("Profile".to_owned(), Owner::Profile, fields, customer)
    }

    fn new(title: String, owner: Owner, mut fields: Vec<Field>, stored: &Map<String, Value>) -> Self {
        for field in &mut fields {
            let value = if field.is_custom {
                custom_attributes(stored).find(|(code, _)| *code == field.name).map(|(_, value)| value)
            } else {
                stored.get(&field.name)
            };
            field.stored = value.cloned().unwrap_or(Value::Null);
        }
        Self { title, fields, owner }
    }

    /// Whether it is an address that is not there yet.
    pub fn is_new(&self) -> bool {
        self.owner == Owner::NewAddress
    }

    /// The first field that an address to be added lacks.
    pub fn missing(&self) -> Option<usize> {
        let is_missing = |field: &Field| field.is_required() && field.is_empty();
        self.fields.iter().position(is_missing).filter(|_| self.is_new() && self.is_edited())
    }

    /// How a field is asked for.
    pub fn label(&self, field: &Field) -> String {
        let is_optional = self.is_new() && !field.is_required() && field.name != "postcode";
        format!("{}{}", field.label, if is_optional { " (optional)" } else { "" })
    }

    /// Takes back what was edited: an address to be added, or the defaults that another form sets.
    pub fn discard(&mut self, is_discarded: impl Fn(&Field) -> bool) {
        self.fields.iter_mut().filter(|field| is_discarded(field)).for_each(|field| field.edited = None);
    }

    /// Whether a field of it was edited.
    pub fn is_edited(&self) -> bool {
        self.fields.iter().any(|field| field.edited.is_some())
    }

    /// One line for each field: what it is, its value, and the stored one where it differs.
    pub fn lines(&self) -> Vec<String> {
        let width = self.fields.iter().map(|field| field.label.width()).max().unwrap_or(0);
        self.fields.iter().map(|field| field.line(width)).collect()
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Whether the country was edited and the stored region was not.
    pub fn region_is_ambiguous(&self) -> bool {
        let (Some(country), Some(region)) = (self.field("country_id"), self.field("region")) else {
            return false;
        };
        country.edited.is_some() && region.edited.is_none() && region.is_region()
    }

    /// What is to be said against a text typed for a field: some of it can be kept all the same.
    ///
    /// # Errors
    /// The objection.
    pub fn check(&self, field: &Field, text: &str) -> Result<(), Objection> {
        let value = field.parse(text)?;
        let is_missing = text.is_empty() && self.owner != Owner::Profile && field.is_required();
        if is_missing && (self.is_new() || value != *field.value()) {
            return Err("required".to_owned().into());
        }
        if self.is_new() && text.is_empty() && field.name == "postcode" {
            return Err(Objection::Doubt("most countries require a postcode".to_owned()));
        }
        if value == *field.value() {
            return Ok(());
        }
        if self.owner == Owner::Profile {
            return Ok(());
        }
        let country = self.field("country_id").map_or(&Value::Null, Field::value).clone();
        let mut address = Map::from_iter([("country_id".to_owned(), country)]);
        address.insert(field.name.clone(), value);
        match lint::of_field(&address, &field.name) {
            None => Ok(()),
            Some(_) if field.name == "country_id" => {
                Err(format!("unknown country `{text}`: enter its two letters, such as DE, or its name")
                    .into())
            }
            Some(doubt) => Err(Objection::Doubt(doubt)),
        }
    }

    /// What was edited.
    pub fn edit(&self) -> Edit {
        Edit { draft: self.draft(), default_addresses: self.default_address().into_iter().collect() }
    }

    fn draft(&self) -> Map<String, Value> {
        let edited = |is_custom: bool| {
            let fields = self.fields.iter().filter(move |field| field.is_custom == is_custom);
            fields.filter_map(|field| Some((field.name.clone(), field.edited.clone()?)))
        };
        let mut members: Map<String, Value> = edited(false).collect();
        let custom: Vec<Value> =
            edited(true).map(|(code, value)| json!({"attribute_code": code, "value": value})).collect();
        if !custom.is_empty() {
            members.insert(CUSTOM_ATTRIBUTES.to_owned(), custom.into());
        }
        match self.owner {
            _ if members.is_empty() => members,
            Owner::Profile => members,
            Owner::NewAddress => Map::from_iter([("addresses".to_owned(), vec![members].into())]),
            Owner::Address(id) => {
                members.insert("id".to_owned(), id.into());
                Map::from_iter([("addresses".to_owned(), vec![members].into())])
            }
        }
    }

    /// An address that becomes a default takes it from the one that was.
    fn default_address(&self) -> Option<DefaultAddress> {
        let address = match self.owner {
            Owner::Profile => return None,
            Owner::NewAddress => None,
            Owner::Address(id) => Some(id),
        };
        let becomes = |name: &str| {
            self.field(name).is_some_and(|field| field.edited.as_ref().is_some_and(|value| *value == true))
        };
        let default = DefaultAddress {
            address,
            shipping: becomes("default_shipping"),
            billing: becomes("default_billing"),
        };
        (default.shipping || default.billing).then_some(default)
    }
}

fn address_fields(addresses: &[Value]) -> Vec<Field> {
    let listed = ADDRESS_FIELDS.iter().filter_map(|name| MARKETPLACE_FIELDS.address.field(name));
    let listed = listed
        .chain(MARKETPLACE_FIELDS.address.own_fields.iter().filter(|member| member.origin == Origin::Ours));
    known_fields(MARKETPLACE_FIELDS.address, listed, addresses.iter().filter_map(Value::as_object))
}

/// The listed fields, and then those that were found stored and hold one value, custom attributes last.
fn known_fields<'a>(
    shape: &ObjectSchema,
    listed: impl IntoIterator<Item = &'a wire::Field>,
    stored: impl IntoIterator<Item = &'a Map<String, Value>> + Clone,
) -> Vec<Field> {
    let label = |name: &str| LABELS.iter().find(|(known, _)| *known == name).map(|(_, label)| *label);
    let mut fields: Vec<Field> = listed
        .into_iter()
        .map(|member| Field::new(member.name, label(member.name).unwrap_or(member.doc), member.field_type))
        .collect();
    for (name, value) in stored.clone().into_iter().flatten() {
        let Some(holds) = kind_of(value) else { continue };
        let is_there = fields.iter().any(|field| field.name == *name) || shape.field(name).is_some();
        if !is_there && !NOT_EDITED.contains(&name.as_str()) {
            let label = label(name).map_or_else(|| sanitize_line(name), str::to_owned);
            fields.push(Field::new(name, &label, holds));
        }
    }
    for (code, value) in stored.into_iter().flat_map(custom_attributes) {
        let is_there = fields.iter().any(|field| field.is_custom && field.name == code);
        if let (false, Some(holds)) = (is_there, kind_of(value)) {
            let field = Field::new(code, &sanitize_line(code), holds);
            fields.push(Field { is_custom: true, ..field });
        }
    }
    fields
}

/// What a field holds that the interface does not list; `None` for what is no single value.
fn kind_of(value: &Value) -> Option<FieldType> {
    match value {
        Value::String(_) => Some(FieldType::TextOrNull),
        Value::Number(_) => Some(FieldType::Number),
        Value::Bool(_) => Some(FieldType::Boolean),
        _ => None,
    }
}

/// The custom attributes of an address or a customer, by code.
fn custom_attributes(owner: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let attributes = owner.get(CUSTOM_ATTRIBUTES).and_then(Value::as_array).into_iter().flatten();
    attributes
        .filter_map(|attribute| Some((attribute.get("attribute_code")?.as_str()?, attribute.get("value")?)))
}
