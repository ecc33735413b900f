//! Where in a profile a difference is.

use std::fmt;

use serde_json::{Map, Value};

use crate::plan::profile::address_ids::AddressIndex;

/// One step down into a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field of an object.
    Member(String),
    /// The address with this id.
    Address(i64),
    /// An address that has no id yet.
    New,
    /// The custom attribute with this code.
    Code(String),
}

/// A place in a profile, printed as `addresses[id=12].postcode`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldPath(Vec<Step>);

impl FieldPath {
    /// The address with this id.
    pub fn address(id: i64) -> Self {
        Self::default().member("addresses").step(Step::Address(id))
    }

    /// An address that has no id yet.
    pub fn new_address() -> Self {
        Self::default().member("addresses").step(Step::New)
    }

    /// A field below this place.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        self.step(Step::Member(name.to_owned()))
    }

    /// A custom attribute below this place.
    #[must_use]
    pub fn code(&self, code: &str) -> Self {
        self.step(Step::Code(code.to_owned()))
    }

    fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The id of the address this is in, if it is in one that has an id.
    pub fn address_id(&self) -> Option<i64> {
        match self.0.get(1) {
            Some(Step::Address(id)) => Some(*id),
            _ => None,
        }
    }

    /// Whether this is an address as a whole.
    pub fn is_address(&self) -> bool {
        matches!(self.0[..], [_, Step::Address(_) | Step::New])
    }

    /// The name of the innermost field; empty for an address as a whole.
    pub fn last_name(&self) -> String {
        match self.0.last() {
            Some(Step::Member(name)) => name.clone(),
            _ => String::new(),
        }
    }

    /// Sets the value at this place, where the object that holds it exists; whether it does. `roster` is that of the
    /// customer's addresses.
    pub fn set(&self, customer: &mut Map<String, Value>, roster: &AddressIndex, value: &Value) -> bool {
        let Some((Step::Member(first), rest)) = self.0.split_first() else { return false };
        let Some((last, inner)) = rest.split_last() else {
            customer.insert(first.clone(), value.clone());
            return true;
        };
        let Some(mut holder) = customer.get_mut(first) else { return false };
        for step in inner {
            let next = match step {
                Step::Member(name) => holder.get_mut(name),
                Step::Address(id) => roster.position(*id).and_then(|position| holder.get_mut(position)),
                Step::New => None,
                Step::Code(code) => attribute_mut(holder, code),
            };
            let Some(next) = next else { return false };
            holder = next;
        }
        match (last, holder) {
            (Step::Member(name), Value::Object(object)) => {
                object.insert(name.clone(), value.clone());
                true
            }
            (Step::Code(code), Value::Array(attributes)) => {
                let same = |one: &&mut Value| one.get("attribute_code").and_then(Value::as_str) == Some(code);
                match attributes.iter_mut().find(same) {
                    Some(attribute) => *attribute = value.clone(),
                    None => attributes.push(value.clone()),
                }
                true
            }
            _ => false,
        }
    }

    /// Whether one of the two places is, or is inside, the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }

    /// Whether this is an address that has no id yet.
    pub fn is_new_address(&self) -> bool {
        self.0.get(1) == Some(&Step::New)
    }

    /// The path inside its address, or the whole path outside the addresses.
    pub fn inside(&self) -> String {
        let start = if self.0.len() > 1 && matches!(self.0[1], Step::Address(_) | Step::New) { 2 } else { 0 };
        Self(self.0[start..].to_vec()).to_string()
    }

    /// The place as a person reads it: `address 12 postcode`.
    pub fn in_words(&self) -> String {
        match self.address_id() {
            Some(id) => format!("address {id} {}", self.inside()).trim_end().to_owned(),
            None => self.to_string(),
        }
    }

    /// Whether a JSON pointer from the customer object names this place.
    pub fn is_at(&self, pointer: &str) -> bool {
        let steps = self.0.iter().map(|step| match step {
            Step::Member(name) => Some(format!("/{}", name.replace('~', "~0").replace('/', "~1"))),
            _ => None,
        });
        steps.collect::<Option<String>>().is_some_and(|own| own == pointer)
    }

    /// The value at this place. `roster` is that of the customer's addresses.
    pub fn find<'a>(&self, customer: &'a Map<String, Value>, roster: &AddressIndex) -> Option<&'a Value> {
        let (first, rest) = self.0.split_first()?;
        let Step::Member(name) = first else { return None };
        rest.iter().try_fold(customer.get(name)?, |value, step| match step {
            Step::Member(name) => value.get(name),
            Step::Address(id) => value.get(roster.position(*id)?),
            Step::New => None,
            Step::Code(code) => value
                .as_array()?
                .iter()
                .find(|attribute| attribute.get("attribute_code").and_then(Value::as_str) == Some(code)),
        })
    }
}

fn attribute_mut<'a>(attributes: &'a mut Value, code: &str) -> Option<&'a mut Value> {
    let same = |one: &&mut Value| one.get("attribute_code").and_then(Value::as_str) == Some(code);
    attributes.as_array_mut()?.iter_mut().find(same)
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Member(name) if index == 0 => out.write_str(name)?,
                Step::Member(name) => write!(out, ".{name}")?,
                Step::Address(id) => write!(out, "[id={id}]")?,
                Step::New => out.write_str("[new]")?,
                Step::Code(code) => write!(out, "[{code}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::plan::profile::address_ids::AddressIndex;
    use crate::plan::profile::field_path::FieldPath;

    #[test]
    fn a_path_prints_and_finds_its_value() {
        let customer = json!({"a.b": 1, "addresses": [
            {"id": 4},
            {"id": 12, "custom_attributes": [{"attribute_code": "floor", "value": "3"}]}]});
        let customer = customer.as_object().unwrap();
        let roster = AddressIndex::of(customer["addresses"].as_array().unwrap()).unwrap();
        let floor = FieldPath::address(12).member("custom_attributes").code("floor").member("value");
        assert_eq!(floor.to_string(), "addresses[id=12].custom_attributes[floor].value");
        assert_eq!(floor.inside(), "custom_attributes[floor].value");
        assert_eq!(floor.find(customer, &roster), Some(&json!("3")));
        assert_eq!(FieldPath::default().member("a.b").find(customer, &roster), Some(&json!(1)));
        assert_eq!(FieldPath::address(5).find(customer, &roster), None);
        assert!(FieldPath::default().member("x/y").is_at("/x~1y"));
        assert!(!floor.is_at("/addresses"));
    }
}
