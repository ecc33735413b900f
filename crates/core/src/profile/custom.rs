//! The custom attributes of customers and addresses: those that the shop has, and the options of those that are lists.
//! A shop ignores an attribute that it does not have, and takes an option only by its value.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::address::{address_list, find_address};
use super::equal::same_value;
use crate::failure::Failure;
use crate::id::AddressId;
use crate::text::fold::folded;
use crate::text::sanitize::quoted;
use crate::text::suggestion::closest_match;

const ATTRIBUTES: &str = "custom_attributes";
/// How many names a hint lists.
const LISTED: usize = 12;

/// Whose attributes they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The customer's own.
    Customer,
    /// An address's.
    Address,
}

impl Owner {
    /// What the path of the shop's list calls it.
    pub const fn in_path(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Address => "customerAddress",
        }
    }

    const fn in_words(self) -> &'static str {
        match self {
            Self::Customer => "customers",
            Self::Address => "addresses",
        }
    }
}

/// An attribute that the shop has.
#[derive(Debug)]
struct Attribute {
    code: String,
    /// Its input type, such as `select`.
    input: String,
    /// Label and value of each option.
    options: Vec<(String, String)>,
}

/// What was read of the shop's attributes.
#[derive(Debug, Default)]
pub struct AttributeDirectory(HashMap<Owner, Option<Vec<Attribute>>>);

impl AttributeDirectory {
    /// Whose attributes a draft names with a value that is not stored: a value that is sent back as it was read needs
    /// no check.
    pub fn needed(draft: &Map<String, Value>, stored: &Map<String, Value>) -> Vec<Owner> {
        let is_new = |owner: Owner| {
            let mut objects = objects(draft, stored).into_iter().filter(|(of, ..)| *of == owner);
            objects.any(|(_, object, stored)| attributes(object).any(|one| !is_stored(one, stored)))
        };
        [Owner::Customer, Owner::Address].into_iter().filter(|owner| is_new(*owner)).collect()
    }

    /// Whether the list of this owner was asked for.
    pub fn knows(&self, owner: Owner) -> bool {
        self.0.contains_key(&owner)
    }

    /// Takes the shop's list; without a list nothing is checked.
    pub fn insert(&mut self, owner: Owner, list: Option<&Value>) {
        let list = list.and_then(Value::as_array);
        let list = list.and_then(|list| list.iter().map(Attribute::of).collect::<Option<Vec<_>>>());
        self.0.insert(owner, list);
    }

    /// The codes of the attributes, where the shop has shown its list.
    pub fn codes(&self, owner: Owner) -> Option<Vec<&str>> {
        Some(self.0.get(&owner)?.as_ref()?.iter().map(|attribute| &*attribute.code).collect())
    }

    /// A draft in which the options of its attributes are given by value.
    ///
    /// # Errors
    /// `usage` for a code that the shop does not have, and for a value that is not an option.
    pub fn resolve(
        &self,
        draft: &Map<String, Value>,
        stored: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Failure> {
        let mut resolved = draft.clone();
        self.resolve_object(Owner::Customer, &mut resolved, Some(stored))?;
        let addresses = resolved.get_mut("addresses").and_then(Value::as_array_mut).into_iter().flatten();
        for address in addresses.filter_map(Value::as_object_mut) {
            let own = stored_address(address, stored);
            self.resolve_object(Owner::Address, address, own)?;
        }
        Ok(resolved)
    }

    fn resolve_object(
        &self,
        owner: Owner,
        object: &mut Map<String, Value>,
        stored: Option<&Map<String, Value>>,
    ) -> Result<(), Failure> {
        let Some(Some(known)) = self.0.get(&owner) else { return Ok(()) };
        let list = object.get_mut(ATTRIBUTES).and_then(Value::as_array_mut).into_iter().flatten();
        for element in list.filter(|element| !is_stored(element, stored)) {
            let Some(code) = code_of(element).map(str::to_owned) else { continue };
            match known.iter().find(|attribute| attribute.code == code) {
                Some(attribute) => {
                    if let Some(value) = element.get_mut("value") {
                        attribute.resolve(value)?;
                    }
                }
                None if stored_value(&code, stored).is_some() => {}
                None => return Err(self.unknown(owner, &code, known)),
            }
        }
        Ok(())
    }

    fn unknown(&self, owner: Owner, code: &str, known: &[Attribute]) -> Failure {
        let message = format!("the shop has no custom attribute `{code}` for {}", owner.in_words());
        let codes = || known.iter().map(|attribute| attribute.code.as_str());
        let other = match owner {
            Owner::Customer => Owner::Address,
            Owner::Address => Owner::Customer,
        };
        let is_others = self.0.get(&other).and_then(Option::as_ref);
        let is_others = is_others.is_some_and(|list| list.iter().any(|attribute| attribute.code == code));
        let hint = match (closest_match(code, codes()), known.is_empty()) {
            _ if is_others => format!("`{code}` is an attribute of {}", other.in_words()),
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, true) => format!("it has none for {}", owner.in_words()),
            (None, false) => format!("it has {}", listed(codes())),
        };
        let hint = match (is_others, owner) {
            (true, Owner::Customer) => format!("{hint}: add --address ID"),
            (true, Owner::Address) => format!("{hint}: leave out the address"),
            (false, _) => hint,
        };
        Failure::usage(message).hint(hint)
    }
}

impl Attribute {
    fn of(value: &Value) -> Option<Self> {
        let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let options = value.get("options").and_then(Value::as_array).into_iter().flatten();
        // Options may be in groups; the first, with an empty value, stands for "nothing chosen".
        let options = options.flat_map(|option| match option.get("options").and_then(Value::as_array) {
            Some(inner) if !inner.is_empty() => inner.iter().collect(),
            _ => vec![option],
        });
        let options = options.filter_map(|option| Some((text(option, "label")?, text(option, "value")?)));
        Some(Self {
            code: text(value, "attribute_code")?,
            input: text(value, "frontend_input").unwrap_or_default(),
            options: options.filter(|(_, value)| !value.is_empty()).collect(),
        })
    }

    /// Gives the value that the shop takes; an empty one removes the attribute.
    fn resolve(&self, value: &mut Value) -> Result<(), Failure> {
        let text = match value {
            Value::String(text) if !text.trim().is_empty() => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => if *yes { "1" } else { "0" }.to_owned(),
            _ => return Ok(()),
        };
        let resolved = match self.input.as_str() {
            "boolean" => yes_or_no(&text).or_else(|| self.option(&text)),
            "select" if !self.options.is_empty() => self.option(&text),
            "multiselect" if !self.options.is_empty() => match self.option(&text) {
                Some(value) => Some(value),
                None => Some(self.several(&text)?),
            },
            _ => return Ok(()),
        };
        *value = resolved.ok_or_else(|| self.no_option(&text))?.into();
        Ok(())
    }

    /// The value of the option with this value or label.
    fn option(&self, text: &str) -> Option<String> {
        let by_value = self.options.iter().find(|(_, value)| value == text);
        let by_label = || self.options.iter().find(|(label, _)| label.trim() == text);
        let alike = || {
            let mut alike = self.options.iter().filter(|(label, _)| folded(label) == folded(text));
            alike.next().filter(|_| alike.next().is_none() && !folded(text).is_empty())
        };
        by_value.or_else(by_label).or_else(alike).map(|(_, value)| value.clone())
    }

    fn several(&self, text: &str) -> Result<String, Failure> {
        let value = |part: &str| self.option(part.trim()).ok_or_else(|| self.no_option(part.trim()));
        let values: Vec<String> = text.split(',').map(value).collect::<Result<_, _>>()?;
        Ok(values.join(","))
    }

    fn no_option(&self, text: &str) -> Failure {
        let labels = || self.options.iter().map(|(label, _)| label.trim());
        let hint = match closest_match(text, labels()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if self.options.is_empty() => "give yes or no".to_owned(),
            None => format!("its options are {}", listed(labels())),
        };
        Failure::usage(format!("{} is not an option of the custom attribute `{}`", quoted(text), self.code))
            .hint(hint)
    }
}

fn yes_or_no(text: &str) -> Option<String> {
    match text.to_lowercase().as_str() {
        "1" | "yes" | "true" => Some("1".to_owned()),
        "0" | "no" | "false" => Some("0".to_owned()),
        _ => None,
    }
}

/// A customer or an address of a draft, and what is stored of it.
type Named<'a> = (Owner, &'a Map<String, Value>, Option<&'a Map<String, Value>>);

/// The customer and the addresses of a draft, each with what is stored of it.
fn objects<'a>(draft: &'a Map<String, Value>, stored: &'a Map<String, Value>) -> Vec<Named<'a>> {
    let addresses = address_list(draft).iter().filter_map(Value::as_object);
    let addresses = addresses.map(|address| (Owner::Address, address, stored_address(address, stored)));
    std::iter::once((Owner::Customer, draft, Some(stored))).chain(addresses).collect()
}

fn stored_address<'a>(
    address: &Map<String, Value>,
    stored: &'a Map<String, Value>,
) -> Option<&'a Map<String, Value>> {
    find_address(stored, AddressId::of(address.get("id")?)?)?.as_object()
}

fn attributes(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    object.get(ATTRIBUTES).and_then(Value::as_array).into_iter().flatten()
}

fn code_of(element: &Value) -> Option<&str> {
    element.get("attribute_code")?.as_str()
}

fn stored_value<'a>(code: &str, stored: Option<&'a Map<String, Value>>) -> Option<&'a Value> {
    attributes(stored?).find(|own| code_of(own) == Some(code))
}

fn is_stored(element: &Value, stored: Option<&Map<String, Value>>) -> bool {
    let own = code_of(element).and_then(|code| stored_value(code, stored));
    own.is_some_and(|own| same_value("value", element.get("value"), own.get("value")))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(LISTED)].join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{AttributeDirectory, Owner};

    fn directory() -> AttributeDirectory {
        let mut directory = AttributeDirectory::default();
        let option = |label: &str, value: &str| json!({"label": label, "value": value});
        let list = json!([
            {"attribute_code": "loyalty_no", "frontend_input": "text", "options": []},
            {"attribute_code": "tier", "frontend_input": "select",
                "options": [option(" ", ""), option("Gold", "7"), option("Silver", "8"), option("8", "9")]},
            {"attribute_code": "topics", "frontend_input": "multiselect",
                "options": [option("News, weekly", "1"), option("Sales", "2"), option("Été", "3")]},
            {"attribute_code": "vip", "frontend_input": "boolean", "options": []}]);
        directory.insert(Owner::Customer, Some(&list));
        directory.insert(
            Owner::Address,
            Some(&json!([{"attribute_code": "door_code", "frontend_input": "text"}])),
        );
        directory
    }

    fn own(code: &str, value: &Value) -> Value {
        json!({"custom_attributes": [{"attribute_code": code, "value": value}]})
    }

    fn resolved(code: &str, value: &Value) -> Result<Value, String> {
        let draft = own(code, value);
        let resolved =
            directory().resolve(draft.as_object().unwrap(), &json!({}).as_object().unwrap().clone());
        let said = |failure: crate::failure::Failure| {
            format!("{}; {}", failure.message, failure.hint.unwrap_or_default())
        };
        resolved.map(|draft| draft["custom_attributes"][0]["value"].clone()).map_err(said)
    }

    #[test]
    fn an_option_is_taken_by_value_or_label() {
        for (code, given, value) in [
            ("tier", json!("7"), json!("7")),
            ("tier", json!(7), json!("7")),
            ("tier", json!("gold"), json!("7")),
            ("tier", json!("8"), json!("8")),
            ("tier", json!(""), json!("")),
            ("tier", Value::Null, Value::Null),
            ("topics", json!("Sales, ete"), json!("2,3")),
            ("topics", json!("News, weekly"), json!("1")),
            ("vip", json!(true), json!("1")),
            ("vip", json!("No"), json!("0")),
            ("loyalty_no", json!("L 1"), json!("L 1")),
        ] {
            assert_eq!(resolved(code, &given), Ok(value), "{code} {given}");
        }
        let refused = |code: &str, value: &str| resolved(code, &json!(value)).unwrap_err();
        assert_eq!(
            refused("tier", "Sliver"),
            "`Sliver` is not an option of the custom attribute `tier`; did you mean `Silver`?"
        );
        assert!(refused("topics", "Sales, x").starts_with("`x` is not an option"));
        assert!(refused("topics", "x").ends_with("its options are `News, weekly`, `Sales`, `Été`"));
        assert!(refused("vip", "perhaps").ends_with("give yes or no"));
    }

    #[test]
    fn an_unknown_code_is_refused_with_those_that_there_are() {
        let refused = |code: &str| resolved(code, &json!("1")).unwrap_err();
        assert_eq!(
            refused("loyality_no"),
            "the shop has no custom attribute `loyality_no` for customers; did you mean `loyalty_no`?"
        );
        assert!(refused("x").ends_with("it has `loyalty_no`, `tier`, `topics`, `vip`"));
        assert!(refused("door_code").ends_with("`door_code` is an attribute of addresses: add --address ID"));
    }

    #[test]
    fn what_is_stored_so_is_not_checked_and_a_shop_that_shows_no_list_is_not_asked_again() {
        let stored = json!({"custom_attributes": [{"attribute_code": "old", "value": "2"}],
            "addresses": [{"id": 1, "custom_attributes": [{"attribute_code": "bell", "value": "x"}]}]});
        let stored = stored.as_object().unwrap();
        let needed = |draft: &Value| AttributeDirectory::needed(draft.as_object().unwrap(), stored);
        assert_eq!(needed(&own("old", &json!("2"))), []);
        assert_eq!(needed(&own("old", &json!("3"))), [Owner::Customer]);
        let mut address = json!({"addresses": [{"id": 1}, {"id": "1"}]});
        address["addresses"][0]["custom_attributes"] = own("bell", &json!("x"))["custom_attributes"].clone();
        assert_eq!(needed(&address), []);
        address["addresses"][1]["custom_attributes"] = own("bell", &json!("y"))["custom_attributes"].clone();
        assert_eq!(needed(&address), [Owner::Address]);
        // A code that is stored is there, whatever the list says.
        assert!(directory().resolve(own("old", &json!("3")).as_object().unwrap(), stored).is_ok());
        let mut silent = AttributeDirectory::default();
        silent.insert(Owner::Customer, None);
        assert!(silent.knows(Owner::Customer) && !silent.knows(Owner::Address));
        assert!(silent.resolve(own("x", &json!("3")).as_object().unwrap(), stored).is_ok());
    }
}
