//! A place in a profile, a cart, an attribute, an order or a product.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::address::{AddressIndex, own_id};
use super::equal::{PLACE, same_value};
use super::region::TEXTS;
use crate::id::{self, AddressId};
use crate::interface::label::label;
use crate::text::exact_json;

/// The two addresses of an order, which are not a list, and what people call them.
const OF_ORDER: [(&str, &str); 2] =
    [("shipping_address", "shipping address"), ("billing_address", "billing address")];

/// The fields beside [`PLACE`] that say where an address is.
const REGION_AND_COUNTRY: [&str; 3] = ["region", "region_id", "country_id"];

/// The values of a product, by the codes of their attributes.
const VALUES: &str = "values";

/// One step down into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field of an object.
    Member(String),
    /// The address with this id.
    Address(AddressId),
    /// An element of a list that has no id yet.
    New,
    /// The custom attribute with this code.
    Code(String),
    /// The element with this id of another list: an item of a cart, an option of an attribute.
    Element(i64),
}

/// A list of an owner whose elements the service gives ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// The addresses of a customer.
    Addresses,
    /// The items of a cart.
    Items,
    /// The options of an attribute.
    Options,
    /// The attribute sets that have an attribute.
    Sets,
    /// The comments of an order.
    Comments,
}

impl List {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Addresses, Self::Items, Self::Options, Self::Sets, Self::Comments];

    /// The field that has the list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Addresses => "addresses",
            Self::Items => "items",
            Self::Options => "options",
            Self::Sets => "sets",
            Self::Comments => "status_histories",
        }
    }

    /// The field that has the id of an element.
    pub const fn id_field(self) -> &'static str {
        match self {
            Self::Addresses => "id",
            Self::Items => "item_id",
            Self::Options => "value",
            Self::Sets => "attribute_set_id",
            Self::Comments => "entity_id",
        }
    }

    /// The list with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.name() == name)
    }

    /// The list that a place is in.
    pub fn of(path: &FieldPath) -> Option<Self> {
        match path.steps() {
            [Step::Member(name), _, ..] => Self::named(name),
            _ => None,
        }
    }

    /// The place of the element with this id.
    pub fn element(self, id: i64) -> FieldPath {
        FieldPath::default().member(self.name()).step(match self {
            Self::Addresses => Step::Address(AddressId(id)),
            _ => Step::Element(id),
        })
    }

    /// The id of an element.
    pub fn id_of(self, element: &Value) -> Option<i64> {
        element.get(self.id_field()).and_then(id::integer)
    }
}

/// A place in a document, printed as `addresses[id=12].postcode` or `items[id=3].qty`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldPath(Vec<Step>);

impl FieldPath {
    /// The address with this id.
    pub fn address(id: AddressId) -> Self {
        List::Addresses.element(id.0)
    }

    /// An address that has no id yet.
    pub fn new_address() -> Self {
        Self::new_in(List::Addresses.name())
    }

    /// The item of a cart with this id.
    pub fn item(id: i64) -> Self {
        List::Items.element(id)
    }

    /// The value of a product's attribute with this code.
    pub fn value_of(code: &str) -> Self {
        Self::default().member(VALUES).member(code)
    }

    /// Whether this is a value of a product.
    pub fn is_value(&self) -> bool {
        matches!(&self.0[..], [Step::Member(list), _] if list == VALUES)
    }

    /// An element that has no id yet, of the list with this name.
    pub fn new_in(list: &str) -> Self {
        Self::default().member(list).step(Step::New)
    }

    /// Whether the other place is this one, or is inside it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The place relative to `above`, which contains it.
    #[must_use]
    pub fn below(&self, above: &Self) -> Self {
        Self(self.0.get(above.0.len()..).unwrap_or_default().to_vec())
    }

    /// Sets or removes the value at this place in a value, as [`Self::set`] does; an empty place is the value itself.
    pub fn set_in(&self, within: &mut Value, value: Option<&Value>) {
        if self.0.is_empty() {
            *within = value.cloned().unwrap_or_default();
        } else {
            set_at(None, &self.0, within, value);
        }
    }

    /// The steps that lead there.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// A field below this place.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        self.step(Step::Member(name.to_owned()))
    }

    /// Reads a place as it is printed. A name with dots or brackets gives different steps that print alike.
    pub(crate) fn parse(text: &str) -> Self {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, inner) = part.strip_suffix(']').and_then(|part| part.split_once('[')).unzip();
            let name = name.unwrap_or(part);
            steps.push(Step::Member(name.to_owned()));
            let id = inner.and_then(|inner| inner.strip_prefix("id=")?.parse().ok());
            steps.extend(inner.map(|inner| match id {
                Some(id) if name == List::Addresses.name() => Step::Address(AddressId(id)),
                Some(id) => Step::Element(id),
                None if inner == "new" => Step::New,
                None => Step::Code(inner.to_owned()),
            }));
        }
        Self(steps)
    }

    pub(super) fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The id of the address that this place is in, if it has one.
    pub fn address_id(&self) -> Option<AddressId> {
        match self.0.get(1) {
            Some(Step::Address(id)) => Some(*id),
            _ => None,
        }
    }

    /// The address, of a customer or of an order, whose location this field is part of. Street, city, postcode, region
    /// and country are restored together or not at all: if one of them has changed since, restoring the others would
    /// make an address that nobody wrote.
    pub fn place_of(&self) -> Option<Self> {
        let below = self.below_address();
        let [Step::Member(name), ..] = below else { return None };
        let is_place = PLACE.contains(&&**name) || REGION_AND_COUNTRY.contains(&&**name);
        let is_of_address = self.address_id().is_some() || self.order_address().is_some();
        let address = self.0.get(..self.0.len() - below.len())?;
        (is_place && is_of_address).then(|| Self(address.to_vec()))
    }

    /// Whether the service fills in what `sent` empties here: a text of a region that is sent by its id, which `id_at` gives.
    pub(crate) fn is_filled_in<'a>(
        &self,
        sent: Option<&Value>,
        id_at: impl FnOnce(&Self) -> Option<&'a Value>,
    ) -> bool {
        let has_id = |id: &Self| !same_value(id.last_name(), id_at(id), None);
        same_value(self.last_name(), sent, None) && self.region_id_beside().as_ref().is_some_and(has_id)
    }

    /// Whether this is, or is in, the region of an address, whose parts a service completes.
    pub(crate) fn is_in_region(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Member(name) if name == "region"))
    }

    /// The place of the id beside the text of a region, if this is such a text.
    fn region_id_beside(&self) -> Option<Self> {
        let [above @ .., Step::Member(name)] = &self.0[..] else { return None };
        let is_text =
            TEXTS.contains(&&**name) && matches!(above.last(), Some(Step::Member(of)) if of == "region");
        is_text.then(|| Self(above.to_vec()).member("region_id"))
    }

    /// The id of the list element that this place is in.
    pub fn element_id(&self) -> Option<i64> {
        match self.0.get(1) {
            Some(Step::Address(id)) => Some(id.0),
            Some(Step::Element(id)) => Some(*id),
            _ => None,
        }
    }

    /// The id of the element of a list other than addresses, such as an item of a cart, that this place is in.
    pub fn item_id(&self) -> Option<i64> {
        match self.0.get(1) {
            Some(Step::Element(id)) => Some(*id),
            _ => None,
        }
    }

    /// Whether this is such an element as a whole, such as an item of a cart.
    pub fn is_item(&self) -> bool {
        matches!(self.0[..], [_, Step::Element(_)])
    }

    /// Whether this is an element of a list as a whole, by its id.
    pub fn is_element(&self) -> bool {
        matches!(self.0[..], [_, Step::Address(_) | Step::Element(_)])
    }

    /// Whether this is the code of an attribute; removing it removes the attribute.
    pub fn is_code(&self) -> bool {
        matches!(&self.0[..], [Step::Member(name)] if name == "attribute_code")
    }

    /// Whether this is an element of a list that has no id yet.
    pub fn is_new(&self) -> bool {
        matches!(self.0[..], [_, Step::New])
    }

    /// Whether this is an address as a whole.
    pub fn is_address(&self) -> bool {
        matches!(self.0[..], [_, Step::Address(_) | Step::New])
    }

    /// Whether this is the list of all addresses.
    pub(super) fn is_address_list(&self) -> bool {
        matches!(&self.0[..], [Step::Member(name)] if name == "addresses")
    }

    /// The name of the innermost field; empty for an address as a whole.
    pub fn last_name(&self) -> &str {
        match self.0.last() {
            Some(Step::Member(name)) => name,
            _ => "",
        }
    }

    /// A draft of the customer or of the address that the place is in, which names this value only.
    pub fn draft(&self, value: Value) -> Value {
        self.below_address().iter().rev().fold(value, |mut inside, step| match step {
            Step::Member(name) => exact_json::object([(name, inside)]),
            Step::Code(code) => {
                if let Value::Object(attribute) = &mut inside {
                    attribute.insert("attribute_code".to_owned(), code.as_str().into());
                }
                Value::Array(vec![inside])
            }
            Step::Address(_) | Step::Element(_) | Step::New => inside,
        })
    }

    /// Whether one of the two places is, or is inside, the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }

    /// Whether this is, or is inside, an address that has no id yet.
    pub fn is_new_address(&self) -> bool {
        self.0.get(1) == Some(&Step::New)
    }

    /// What people call the address of an order that this is in, if it is in one.
    pub fn order_address(&self) -> Option<&'static str> {
        let [Step::Member(name), Step::Member(_), ..] = &self.0[..] else { return None };
        OF_ORDER.iter().find(|(own, _)| own == name).map(|(_, words)| *words)
    }

    /// The steps below the address or the element that it is in.
    fn below_address(&self) -> &[Step] {
        match &self.0[..] {
            [_, Step::Address(_) | Step::Element(_) | Step::New, below @ ..] => below,
            [_, below @ ..] if self.order_address().is_some() => below,
            all => all,
        }
    }

    /// The path inside its address, or the whole path outside the addresses.
    pub fn inside(&self) -> String {
        Self(self.below_address().to_vec()).to_string()
    }

    /// What a person calls the field: its label, or the code of a custom or extension attribute.
    pub fn label(&self) -> String {
        match self.below_address() {
            [Step::Member(name)] => label(name).to_owned(),
            [Step::Member(_), Step::Code(code)] => code.clone(),
            [Step::Member(list), Step::Member(code)] if list == VALUES => code.clone(),
            [Step::Member(_), Step::Code(code), Step::Member(value)] if value == "value" => code.clone(),
            [Step::Member(name), inside @ ..] if name == "extension_attributes" => {
                let inside = Self(inside.to_vec()).to_string();
                label(&inside).to_owned()
            }
            _ => self.inside(),
        }
    }

    /// The place as a person reads it: `address 12 postcode`.
    pub fn in_words(&self) -> String {
        match (self.address_id(), self.order_address()) {
            (Some(id), _) => format!("address {id} {}", self.inside()).trim_end().to_owned(),
            (None, Some(address)) => format!("{address} {}", self.inside()),
            (None, None) if self.is_value() => self.label(),
            (None, None) => self.to_string(),
        }
    }

    /// Whether this is, or is inside, what a JSON pointer from the customer object names. A step into a list matches
    /// every element.
    pub fn is_in(&self, pointer: &str) -> bool {
        let mut steps = self.0.iter();
        pointer.split('/').skip(1).all(|name| match steps.next() {
            Some(Step::Member(own)) => *own == name.replace("~1", "/").replace("~0", "~"),
            step => step.is_some(),
        })
    }

    /// The value at this place. `index` is that of the customer's addresses.
    pub fn find<'a>(&self, customer: &'a Map<String, Value>, index: &AddressIndex) -> Option<&'a Value> {
        let (first, rest) = self.0.split_first()?;
        let Step::Member(name) = first else { return None };
        rest.iter().try_fold(customer.get(name)?, |value, step| match step {
            Step::Member(name) => value.get(name),
            Step::Address(id) => value.get(index.position(*id)?),
            Step::New | Step::Element(_) => None,
            Step::Code(code) => value
                .as_array()?
                .iter()
                .find(|attribute| attribute.get("attribute_code").and_then(Value::as_str) == Some(code)),
        })
    }
}

impl FieldPath {
    /// Sets or removes the value at this place. A missing object, list of custom attributes or attribute on the way is
    /// created. A missing address or item is added if the place is all of it; inside a missing one nothing is set.
    pub fn set(&self, customer: &mut Map<String, Value>, value: Option<&Value>) {
        let mut whole = Value::Object(std::mem::take(customer));
        set_at(None, &self.0, &mut whole, value);
        if let Value::Object(whole) = whole {
            *customer = whole;
        }
    }
}

fn set_at(list: Option<List>, steps: &[Step], within: &mut Value, value: Option<&Value>) {
    let Some((step, rest)) = steps.split_first() else { return };
    match (step, within) {
        (Step::Member(name), Value::Object(object)) if rest.is_empty() => match value {
            Some(value) => drop(object.insert(name.clone(), value.clone())),
            None => drop(object.shift_remove(name)),
        },
        (Step::Member(name), Value::Object(object)) => {
            let is_there = object.get(name).is_some_and(|inside| !inside.is_null());
            let empty = match rest {
                [Step::Code(_), ..] => Some(Value::Array(Vec::new())),
                [Step::Member(_), ..] => Some(Value::Object(Map::new())),
                _ => None,
            };
            if let Some(empty) = empty.filter(|_| value.is_some() && !is_there) {
                object.insert(name.clone(), empty);
            }
            if let Some(inside) = object.get_mut(name) {
                set_at(List::named(name), rest, inside, value);
            }
        }
        (Step::Address(_) | Step::Element(_) | Step::Code(_), Value::Array(elements)) => {
            let is_it = |one: &Value| match step {
                Step::Address(id) => own_id(one) == Some(*id),
                Step::Element(id) => list.and_then(|list| list.id_of(one)) == Some(*id),
                Step::Code(code) => one.get("attribute_code").and_then(Value::as_str) == Some(code),
                _ => false,
            };
            match (elements.iter().position(is_it), value) {
                (Some(at), _) if !rest.is_empty() => set_at(None, rest, &mut elements[at], value),
                (Some(at), Some(value)) => elements[at] = value.clone(),
                (Some(at), None) => drop(elements.remove(at)),
                (None, Some(value)) if rest.is_empty() => elements.push(value.clone()),
                (None, Some(_)) if let Step::Code(code) = step => {
                    let mut attribute = exact_json::object([("attribute_code", code.as_str().into())]);
                    set_at(None, rest, &mut attribute, value);
                    elements.push(attribute);
                }
                (None, _) => {}
            }
        }
        _ => {}
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Member(name) if index == 0 => out.write_str(name)?,
                Step::Member(name) => write!(out, ".{name}")?,
                Step::Address(id) => write!(out, "[id={id}]")?,
                Step::Element(id) => write!(out, "[id={id}]")?,
                Step::New => out.write_str("[new]")?,
                Step::Code(code) => write!(out, "[{code}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for FieldPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::id::AddressId;
    use serde_json::json;

    use crate::profile::address::AddressIndex;
    use crate::profile::path::{FieldPath, Step};

    #[test]
    fn a_path_prints_and_finds_its_value() {
        let customer = json!({"a.b": 1, "addresses": [
            {"id": 4},
            {"id": 12, "custom_attributes": [{"attribute_code": "floor", "value": "3"}]}]});
        let customer = customer.as_object().unwrap();
        let roster = AddressIndex::of(customer["addresses"].as_array().unwrap()).unwrap();
        let floor = FieldPath::address(AddressId(12))
            .member("custom_attributes")
            .step(Step::Code("floor".to_owned()))
            .member("value");
        assert_eq!(floor.to_string(), "addresses[id=12].custom_attributes[floor].value");
        assert_eq!(floor.inside(), "custom_attributes[floor].value");
        assert_eq!(floor.label(), "floor");
        assert_eq!(FieldPath::address(AddressId(12)).member("vat_id").label(), "VAT number");
        let extension = FieldPath::default().member("extension_attributes");
        assert_eq!(extension.member("is_subscribed").label(), "Newsletter");
        assert_eq!(extension.member("x").member("y").label(), "x.y");
        assert_eq!(floor.find(customer, &roster), Some(&json!("3")));
        assert_eq!(FieldPath::default().member("a.b").find(customer, &roster), Some(&json!(1)));
        assert_eq!(FieldPath::address(AddressId(5)).find(customer, &roster), None);
        assert!(FieldPath::default().member("x/y").is_in("/x~1y"));
        assert!(
            floor.is_in("/addresses") && floor.is_in("/addresses/0/custom_attributes") && !floor.is_in("/a")
        );
    }

    #[test]
    fn an_item_of_a_cart_is_no_address() {
        let quantity = FieldPath::item(3).member("qty");
        assert_eq!((quantity.to_string().as_str(), quantity.inside().as_str()), ("items[id=3].qty", "qty"));
        assert_eq!(FieldPath::parse("items[id=3].qty"), quantity);
        assert_eq!((quantity.item_id(), quantity.address_id()), (Some(3), None));
        assert!(FieldPath::item(3).is_item() && !FieldPath::item(3).is_address() && !quantity.is_item());
    }
}
