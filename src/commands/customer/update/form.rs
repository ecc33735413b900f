//! An address, or the profile, as a form: the fields that have a flag. Edits become flags.

use serde_json::{Map, Value, json};

use super::{AddressFlags, ProfileFlags};
use crate::cli::command_line::flag;
use crate::cli::field_flags::{FieldFlags, whole_number};
use crate::prompt::Objection;
use crate::report::fields::{EMPTY, format_value};
use crate::report::style::{OutputStyle, table};
use storefront_core::check::body::country;
use storefront_core::id::AddressId;
use storefront_core::interface::fields::{self, FieldType, MARKETPLACE_FIELDS, ObjectSchema};
use storefront_core::interface::label::label;
use storefront_core::lint;
use storefront_core::profile::address::own_id;
use storefront_core::profile::region::{self, RegionDirectory};
use storefront_core::profile::stored::Profile;
use storefront_core::text::redact::secrets;
use storefront_core::text::sanitize::sanitize_line;

/// The fields of an address in the order they are asked: the country decides how postcode and region look.
const ADDRESS: &str = "firstname lastname street country_id postcode city region telephone \
    company vat_id default_shipping default_billing";

/// Numbers that nobody knows by heart: only flags set them.
const NUMBERS: [&str; 4] = ["group_id", "store_id", "website_id", "disable_auto_group_change"];

/// The flag of those fields that have none of their own.
const CUSTOM: &str = "custom-attribute";

/// How many fields of a new address are asked one after another; the others are left to the list.
pub const ASKED_OF_NEW_ADDRESS: usize = 8;

/// The fields of an address or the profile.
#[derive(Debug, Clone)]
pub struct Form {
    /// The title of the question.
    pub title: String,
    /// The stored address.
    pub id: Option<AddressId>,
    /// Whether it is a new address.
    pub is_new: bool,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Debug, Clone)]
pub struct Field {
    /// The long name of its flag.
    flag: String,
    /// Its name in the JSON; of a custom attribute its code.
    name: String,
    /// Its name for a person.
    pub label: String,
    /// Its type.
    pub holds: FieldType,
    stored: Value,
    edited: Option<Value>,
}

impl Form {
    /// The fields of a stored address, or of a new one.
    pub fn of_address(id: Option<AddressId>, addresses: &[Value]) -> Self {
        let is_meant = |address: &&Value| id.is_some() && own_id(address) == id;
        let nothing = Map::new();
        let stored = addresses.iter().find(is_meant).and_then(Value::as_object).unwrap_or(&nothing);
        let mut fields =
            fields::<AddressFlags>(MARKETPLACE_FIELDS.address, ADDRESS.split_whitespace(), stored);
        let custom = stored.get("custom_attributes").and_then(Value::as_array).into_iter().flatten();
        fields.extend(custom.filter_map(|attribute| {
            let name = attribute.get("attribute_code")?.as_str()?;
            let stored = attribute.get("value")?;
            let label = sanitize_line(name);
            let name = name.to_owned();
            let stored = stored.clone();
            let field =
                Field { flag: CUSTOM.to_owned(), name, label, holds: FieldType::Text, stored, edited: None };
            field.stored.is_string().then_some(field)
        }));
        let title = id.map_or_else(|| "New address".to_owned(), |id| format!("Address {id}"));
        Self { title, id, is_new: id.is_none(), fields }
    }

    /// The fields of the profile without its addresses.
    pub fn of_profile(customer: &Map<String, Value>, schema: &'static ObjectSchema) -> Self {
        let names = ProfileFlags::flags().map(|flag| flag.field.name).filter(|name| !NUMBERS.contains(name));
        let fields = fields::<ProfileFlags>(schema, names, customer);
        Self { title: "Profile".to_owned(), id: None, is_new: false, fields }
    }

    /// Whether a field of it was edited.
    pub fn is_edited(&self) -> bool {
        self.fields.iter().any(|field| field.edited.is_some())
    }

    /// The first field that an address to be added lacks, or the region that a new country needs.
    pub fn missing(&self) -> Option<usize> {
        let is_missing = |field: &Field| self.is_new && field.is_required() && field.is_empty();
        self.fields.iter().position(is_missing).or_else(|| self.region_in_doubt())
    }

    /// The text that a field is asked for with: its value; a new address begins with its customer's name.
    pub fn initial(&self, field: &Field, customer: &Profile) -> String {
        let is_name = lint::REQUIRED[..2].contains(&field.name.as_str());
        let name = customer.text(&field.name).filter(|_| self.is_new && is_name && field.value().is_null());
        name.unwrap_or_else(|| field.text())
    }

    /// The question for a field.
    pub fn question(&self, field: &Field) -> String {
        let is_optional = self.is_new && !field.is_required() && field.name != "postcode";
        let note = match field.name.as_str() {
            "gender" => " (1 male, 2 female, 3 not specified)",
            _ if is_optional => " (optional)",
            _ => "",
        };
        format!("{}{note}", field.label)
    }

    /// One line for each field: what it is, its value, and the stored one where it differs.
    pub fn lines(&self) -> Vec<String> {
        let line = |field: &Field| [field.label.clone(), field.shown()];
        let table = table(OutputStyle::default(), &[], self.fields.iter().map(line));
        table.lines().map(str::to_owned).collect()
    }

    /// The value of the field of this name.
    pub fn value(&self, name: &str) -> &Value {
        let field = self.fields.iter().find(|field| field.name == name && field.flag != CUSTOM);
        field.map_or(&Value::Null, Field::value)
    }

    /// The place of the region, if the country was edited and the region was not.
    pub fn region_in_doubt(&self) -> Option<usize> {
        let is_edited =
            |name: &str| self.fields.iter().any(|field| field.name == name && field.edited.is_some());
        let is_in_doubt = is_edited("country_id") && !is_edited("region") && is_region(self.value("region"));
        self.region().filter(|_| is_in_doubt)
    }

    /// Whether this field is the country, and was edited.
    pub fn is_new_country(&self, position: usize) -> bool {
        let field = &self.fields[position];
        field.name == "country_id" && field.edited.is_some()
    }

    /// The place of the region.
    pub fn region(&self) -> Option<usize> {
        self.fields.iter().position(|field| field.name == "region" && field.flag != CUSTOM)
    }

    /// The edits, as flags. A region of a list is named once.
    pub fn words(&self, directory: &RegionDirectory) -> Vec<String> {
        let country = self.value("country_id").as_str().unwrap_or_default();
        let address = self.id.map(|id| flag("address", &id.to_string())).unwrap_or_default();
        let add = self.is_new.then(|| "--add-address".to_owned());
        let edits = self.fields.iter().filter_map(|field| {
            Some(match field.edited.as_ref()? {
                Value::Object(region) => field.words(&Value::Object(directory.shortest(country, region))),
                value => field.words(value),
            })
        });
        address.into_iter().chain(add).chain(edits.flatten()).collect()
    }

    /// Checks a text that was typed for a field. A person can overrule some objections.
    ///
    /// # Errors
    /// The objection.
    pub fn check(&self, field: &Field, text: &str) -> Result<(), Objection> {
        let value = field.parse(text)?;
        if text.is_empty() && field.is_required() && (self.is_new || value != *field.value()) {
            return Err("required".to_owned().into());
        }
        if self.is_new && text.is_empty() && field.name == "postcode" {
            return Err(Objection::Doubt("most countries require a postcode".to_owned()));
        }
        if value == *field.value() {
            return Ok(());
        }
        let mut address = Map::from_iter([("country_id".to_owned(), self.value("country_id").clone())]);
        address.insert(field.name.clone(), value);
        match lint::of_field(&address, &field.name) {
            None => Ok(()),
            Some(unknown) if field.name == "country_id" => Err(unknown.into()),
            Some(doubt) => Err(Objection::Doubt(doubt)),
        }
    }

    /// Checks one line of the street.
    ///
    /// # Errors
    /// The objection.
    pub fn check_street(&self, field: &Field, number: usize, text: &str) -> Result<(), Objection> {
        let is_missing = text.is_empty() && number == 1 && (self.is_new || !field.is_empty());
        Objection::unless(!is_missing, "required")
    }
}

impl Field {
    /// The value after the edit.
    pub fn value(&self) -> &Value {
        self.edited.as_ref().unwrap_or(&self.stored)
    }

    /// Sets it; a value that equals the stored one is not an edit.
    pub fn set(&mut self, value: Value) {
        let is_nothing = value == "" || value == json!([]) || value == false;
        let nothing =
            self.stored.is_null() && is_nothing || value == region::none() && !is_region(&self.stored);
        self.edited = (value != self.stored && !nothing).then_some(value);
    }

    /// Whether it says that this address is a default. Only another address can take that from it.
    pub fn is_stored_default(&self) -> bool {
        self.name.starts_with("default_") && self.stored == true
    }

    /// The warning about so many lines of a street, if the shop may not accept them.
    pub fn too_many_lines(&self, lines: usize) -> Option<String> {
        let stored = self.stored.as_array().map_or(0, Vec::len);
        lint::too_many_lines(lines, stored)
    }

    /// Whether it is asked again when it is left empty.
    fn is_required(&self) -> bool {
        self.name == "email" || lint::REQUIRED.contains(&self.name.as_str())
    }

    fn is_empty(&self) -> bool {
        let value = self.value();
        value.is_null() || *value == "" || value.as_array().is_some_and(Vec::is_empty)
    }

    /// The value as a line of text. A token in it is masked; what comes back masked is not an edit.
    fn text(&self) -> String {
        match self.value() {
            Value::Null => String::new(),
            Value::String(text) => secrets().text(text).into_owned(),
            other => other.to_string(),
        }
    }

    /// The value of a typed line.
    ///
    /// # Errors
    /// What is wrong with it, in a few words.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        // A text that was not changed keeps its value exactly.
        if text == self.text().trim() {
            return Ok(self.value().clone());
        }
        match self.holds {
            FieldType::Integer if text.is_empty() && self.stored.is_null() => Ok(Value::Null),
            FieldType::Integer => whole_number(text),
            FieldType::TextOrNull if text.is_empty() => Ok(Value::Null),
            _ if self.name == "country_id" && !text.is_empty() => country(text).map(Value::from),
            _ => Ok(text.into()),
        }
    }

    /// Its value, and the stored one where it differs.
    fn shown(&self) -> String {
        match &self.edited {
            Some(edited) if !self.stored.is_null() => {
                let before = short(&self.stored);
                format!("{}  (was {})", short(edited), if before == EMPTY { "empty" } else { &before })
            }
            // An address without the flag is not a default.
            None if matches!(self.holds, FieldType::Boolean) && self.stored.is_null() => {
                short(&Value::Bool(false))
            }
            _ => short(self.value()),
        }
    }

    /// Its flags; an emptied field is cleared.
    fn words(&self, value: &Value) -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match value {
            Value::Object(_) if *value == region::none() => vec!["--no-region".to_owned()],
            Value::Object(region) => {
                let parts = region.iter().filter(|(_, value)| !value.is_null());
                parts.flat_map(|(name, value)| flag(&name.replace('_', "-"), &text(value))).collect()
            }
            Value::Array(lines) => lines.iter().flat_map(|line| flag(&self.flag, &text(line))).collect(),
            Value::Bool(_) => vec![format!("--{}", self.flag)],
            value if self.flag == CUSTOM => flag(&self.flag, &format!("{}={}", self.name, text(value))),
            value if value.is_null() || *value == "" => flag("clear", &self.flag),
            value => flag(&self.flag, &text(value)),
        }
    }
}

/// Whether a value names a region.
fn is_region(value: &Value) -> bool {
    region::is_stored(&Map::from_iter([("region".to_owned(), value.clone())]))
}

fn fields<'a, F: FieldFlags>(
    schema: &'static ObjectSchema,
    names: impl Iterator<Item = &'a str>,
    stored: &Map<String, Value>,
) -> Vec<Field> {
    let field = |field: &fields::Field| Field {
        flag: F::flags()
            .find(|flag| flag.field.name == field.name)
            .map_or_else(|| field.name.replace('_', "-"), |flag| flag.long.to_owned()),
        name: field.name.to_owned(),
        label: label(field.name).to_owned(),
        holds: field.field_type,
        stored: stored.get(field.name).cloned().unwrap_or_default(),
        edited: None,
    };
    names.filter_map(|name| schema.field(name)).map(field).collect()
}

/// A region by its name, else by its code.
pub fn region_text(region: &Value) -> &str {
    let mut texts = ["region", "region_code"].iter().filter_map(|name| region.get(*name)?.as_str());
    texts.find(|text| !text.is_empty()).unwrap_or_default()
}

fn short(value: &Value) -> String {
    match value {
        Value::Object(_) => format_value(Some(&region_text(value).into())),
        other => format_value(Some(other)),
    }
}
