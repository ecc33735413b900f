//! An address, or the profile itself, as fields to be edited; only what was edited becomes the draft.

use serde_json::{Map, Value, json};

use crate::exact_json;
use crate::plan::check::is_whole;
use crate::plan::region;
use crate::plan::roster::id_of;
use crate::redact::secrets;
use crate::report::changes::shown;
use crate::wire::{CUSTOMER, Holds, Member, PROFILE_ADDRESS};

/// The fields of an address in the order they are read out on a telephone.
const ADDRESS_FIELDS: [&str; 8] =
    ["firstname", "lastname", "street", "postcode", "city", "region", "country_id", "telephone"];

/// What is edited.
#[derive(Debug, Clone)]
pub struct Form {
    /// What it is, for the question.
    pub title: String,
    /// Its fields.
    pub fields: Vec<Field>,
    owner: Owner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Profile,
    Address(i64),
    NewAddress,
}

/// One member and its value.
#[derive(Debug, Clone)]
pub struct Field {
    /// The member (interface 2.2, 2.3).
    pub member: &'static Member,
    stored: Value,
    edited: Option<Value>,
}

impl Form {
    /// A stored address; `None` without a usable id.
    pub fn of_address(stored: &Map<String, Value>) -> Option<Self> {
        let id = stored.get("id").and_then(id_of)?;
        Some(Self::new(format!("Address {id}"), Owner::Address(id), address_members(), stored))
    }

    /// An address that is not there yet.
    pub fn of_new_address() -> Self {
        Self::new("New address".to_owned(), Owner::NewAddress, address_members(), &Map::new())
    }

    /// The profile without its addresses.
    pub fn of_profile(customer: &Map<String, Value>) -> Self {
        let members = CUSTOMER.members.iter().filter(|member| member.name != "addresses");
        Self::new("Profile".to_owned(), Owner::Profile, members, customer)
    }

    fn new(
        title: String,
        owner: Owner,
        members: impl Iterator<Item = &'static Member>,
        stored: &Map<String, Value>,
    ) -> Self {
        let field = |member: &'static Member| Field {
            member,
            stored: stored.get(member.name).cloned().unwrap_or(Value::Null),
            edited: None,
        };
        Self { title, owner, fields: members.map(field).collect() }
    }

    /// Whether it is an address that is not there yet.
    pub fn is_new(&self) -> bool {
        self.owner == Owner::NewAddress
    }

    /// One line for each field: what it is, its value, and the stored one where it differs.
    pub fn lines(&self) -> Vec<String> {
        self.fields.iter().map(Field::line).collect()
    }

    /// Whether the country was edited and a stored region stands beside it, of which nothing was said.
    pub fn leaves_region_in_doubt(&self) -> bool {
        let field = |name: &str| self.fields.iter().find(|field| field.member.name == name);
        let (Some(country), Some(region)) = (field("country_id"), field("region")) else { return false };
        let stored = Map::from_iter([("region".to_owned(), region.stored.clone())]);
        country.edited.is_some() && region.edited.is_none() && region::is_stored(&stored)
    }

    /// Members of the customer that were edited, an address in its list; empty when nothing was.
    pub fn draft(&self) -> Map<String, Value> {
        let edited = self.fields.iter().filter_map(|field| {
            field.edited.as_ref().map(|value| (field.member.name.to_owned(), value.clone()))
        });
        let mut members: Map<String, Value> = edited.collect();
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
}

impl Field {
    /// The value as it is to be.
    pub fn value(&self) -> &Value {
        self.edited.as_ref().unwrap_or(&self.stored)
    }

    /// Sets it; what is stored already is no edit.
    pub fn set(&mut self, value: Value) {
        let nothing = self.stored.is_null() && (value == "" || value == json!([]));
        self.edited = (value != self.stored && !nothing).then_some(value);
    }

    /// The value as a line of text to be edited. A token in it is masked; what comes back masked is no edit.
    pub fn text(&self) -> String {
        match self.value() {
            Value::Null => String::new(),
            Value::String(text) => secrets().text(text).into_owned(),
            other => other.to_string(),
        }
    }

    /// What a typed line stands for.
    ///
    /// # Errors
    /// What is wrong with it, in a few words.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        match self.member.holds {
            Holds::Integer if text.is_empty() && self.stored.is_null() => Ok(Value::Null),
            Holds::Integer => whole_number(text),
            Holds::TextOrNull if text.is_empty() => Ok(Value::Null),
            _ => Ok(text.into()),
        }
    }

    fn line(&self) -> String {
        let before = match &self.edited {
            Some(_) if !self.stored.is_null() => format!("  (was {})", short(&self.stored)),
            _ => String::new(),
        };
        format!("{:<26}  {}{before}", self.member.doc, short(self.value()))
    }
}

/// A whole number as JSON, with its exact text.
///
/// # Errors
/// What to type instead.
pub fn whole_number(text: &str) -> Result<Value, String> {
    let number = exact_json::number(text).filter(|_| is_whole(text));
    number.map(Value::Number).ok_or_else(|| "type a whole number".to_owned())
}

fn address_members() -> impl Iterator<Item = &'static Member> {
    ADDRESS_FIELDS.iter().filter_map(|name| PROFILE_ADDRESS.member(name))
}

fn short(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(region) => {
            let texts = ["region", "region_code"].iter().find_map(|name| region.get(*name)?.as_str());
            texts.unwrap_or_default().to_owned()
        }
        other => shown(Some(other)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::Form;

    fn address() -> Form {
        let stored = json!({"id": 2, "city": "Paris", "postcode": null, "street": ["a"], "company": "X",
            "country_id": "FR", "region": {"region": "Île-de-France", "region_id": 182}});
        Form::of_address(stored.as_object().unwrap()).unwrap()
    }

    fn set(form: &mut Form, name: &str, value: Value) {
        form.fields.iter_mut().find(|field| field.member.name == name).unwrap().set(value);
    }

    #[test]
    fn only_what_was_edited_becomes_the_draft() {
        let mut form = address();
        set(&mut form, "city", "Paris".into());
        set(&mut form, "telephone", "".into());
        assert!(form.draft().is_empty());
        set(&mut form, "city", "Lyon".into());
        assert_eq!(Value::Object(form.draft()), json!({"addresses": [{"city": "Lyon", "id": 2}]}));
        assert!(form.lines().iter().any(|line| line.ends_with("Lyon  (was Paris)")), "{:?}", form.lines());
        set(&mut form, "city", "Paris".into());
        assert!(form.draft().is_empty());
    }

    #[test]
    fn a_new_address_has_no_id_and_the_profile_no_addresses() {
        let mut new = Form::of_new_address();
        set(&mut new, "city", "Oslo".into());
        assert_eq!(Value::Object(new.draft()), json!({"addresses": [{"city": "Oslo"}]}));
        let mut profile = Form::of_profile(&Map::new());
        set(&mut profile, "gender", 1.into());
        assert_eq!(Value::Object(profile.draft()), json!({"gender": 1}));
    }

    #[test]
    fn another_country_puts_the_stored_region_in_doubt() {
        let mut form = address();
        assert!(!form.leaves_region_in_doubt());
        set(&mut form, "country_id", "DE".into());
        assert!(form.leaves_region_in_doubt());
        set(&mut form, "region", crate::plan::region::none());
        assert!(!form.leaves_region_in_doubt());
    }

    #[test]
    fn typed_text_becomes_what_the_member_holds() {
        let profile = Form::of_profile(&Map::new());
        let gender = profile.fields.iter().find(|field| field.member.name == "gender").unwrap();
        assert_eq!(gender.parse("2"), Ok(json!(2)));
        assert_eq!(gender.parse(""), Ok(Value::Null));
        assert!(gender.parse("female").is_err());
        let address = address();
        let postcode = address.fields.iter().find(|field| field.member.name == "postcode").unwrap();
        assert_eq!((postcode.parse(""), postcode.parse("02138")), (Ok(Value::Null), Ok("02138".into())));
    }
}
