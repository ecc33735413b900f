//! What differs between two profiles, field by field: the differences, where they are, the ids of addresses, and when two
//! values mean the same.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Number, Value};

use crate::exact_json;
use crate::failure::Failure;

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

    /// Writes a value at this place into a draft: of the customer, or of the address that the place is in.
    pub fn set_in(&self, draft: &mut Map<String, Value>, value: Value) {
        fn set(steps: &[Step], object: &mut Map<String, Value>, value: Value) {
            let empty = |holder: &mut Value, new: Value| {
                if std::mem::discriminant(holder) != std::mem::discriminant(&new) {
                    *holder = new;
                }
            };
            match steps {
                [Step::Member(name)] => drop(object.insert(name.clone(), value)),
                [Step::Member(name), Step::Code(code), inner @ ..] => {
                    let holder = object.entry(name.clone()).or_insert(Value::Null);
                    empty(holder, Value::Array(Vec::new()));
                    let Some(attributes) = holder.as_array_mut() else { return };
                    if inner.is_empty() {
                        return attributes.push(value);
                    }
                    let is_it = |one: &Value| one.get("attribute_code").is_some_and(|own| own == code);
                    let at = attributes.iter().position(is_it).unwrap_or(attributes.len());
                    if at == attributes.len() {
                        attributes.push(exact_json::object([("attribute_code", code.as_str().into())]));
                    }
                    attributes[at].as_object_mut().into_iter().for_each(|one| set(inner, one, value.clone()));
                }
                [Step::Member(name), inner @ ..] => {
                    let holder = object.entry(name.clone()).or_insert(Value::Null);
                    empty(holder, Value::Object(Map::new()));
                    holder.as_object_mut().into_iter().for_each(|one| set(inner, one, value.clone()));
                }
                _ => {}
            }
        }
        let steps = if self.address_id().is_some() { &self.0[2..] } else { &self.0[..] };
        set(steps, draft, value);
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

/// One difference. `None` means that the field is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, such as `addresses[id=12].postcode`.
    pub path: FieldPath,
    /// The stored value.
    pub before: Option<Value>,
    /// The new value.
    pub after: Option<Value>,
}

impl Change {
    /// As results show it; a missing field is null.
    pub fn to_json(&self) -> Value {
        let value = |value: &Option<Value>| value.clone().unwrap_or_default();
        exact_json::object([
            ("path", self.path.to_string().into()),
            ("before", value(&self.before)),
            ("after", value(&self.after)),
        ])
    }
}

/// Differences between two customer objects. Addresses are matched by id; one without id, or with an id
/// the other side does not have, is an addition or a removal.
pub fn customers(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Change> {
    compare(before, after, &[], |_| true)
}

/// The same, without what `ignore` names: JSON pointers from the customer object.
pub fn customers_except(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    ignore: &[String],
) -> Vec<Change> {
    compare(before, after, ignore, |_| true)
}

/// Differences between a customer as it was sent and as it was read, addresses that were sent without an id left out.
pub fn sent_except(sent: &Map<String, Value>, read: &Map<String, Value>, ignore: &[String]) -> Vec<Change> {
    compare(sent, read, ignore, |address| address.get("id").is_some())
}

/// Only what pointers lead to is copied: of a long list of addresses a copy takes longer than the comparison.
fn compare(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    ignore: &[String],
    takes_part: fn(&Value) -> bool,
) -> Vec<Change> {
    if ignore.iter().any(|pointer| pointer.starts_with("/addresses")) {
        return compare(&without(before, ignore), &without(after, ignore), &[], takes_part);
    }
    let mut changes = Vec::new();
    let [own, now] = [before, after].map(|customer| without(&fields_of(customer), ignore));
    objects_except(&FieldPath::default(), &own, &now, None, &mut changes);
    let known: Vec<&Value> = address_list(before).iter().filter(|address| takes_part(address)).collect();
    address_lists(&known, address_list(after), &mut changes);
    changes
}

/// A copy of a customer's fields, without the addresses.
fn fields_of(customer: &Map<String, Value>) -> Map<String, Value> {
    let fields = customer.iter().filter(|(name, _)| *name != "addresses");
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The addresses of a customer object; none where the field is no list.
pub fn address_list(customer: &Map<String, Value>) -> &[Value] {
    customer.get("addresses").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The addresses that have an id, each with it.
pub fn addresses_by_id(addresses: &[Value]) -> impl DoubleEndedIterator<Item = (i64, &Value)> {
    addresses.iter().filter_map(|address| Some((id_of(address.get("id")?)?, address)))
}

fn address_lists(before: &[&Value], after: &[Value], changes: &mut Vec<Change>) {
    let stored = AddressIndex::of(before.iter().copied());
    let (Ok(stored), Ok(now)) = (stored, AddressIndex::of(identified(after))) else {
        let before = before.iter().copied().cloned().collect();
        value(&FieldPath::default().member("addresses"), Some(&before), Some(&after.into()), changes);
        return;
    };
    for address in after {
        match address.get("id").and_then(id_of) {
            Some(id) => match stored.position(id) {
                Some(position) if before[position] == address => {}
                Some(position) => self::address(id, before[position], address, changes),
                None => changes.push(added(FieldPath::address(id), address)),
            },
            None => changes.push(added(FieldPath::new_address(), address)),
        }
    }
    for (id, address) in stored.ids().iter().zip(before) {
        if !now.contains(*id) {
            changes.push(Change {
                path: FieldPath::address(*id),
                before: Some((*address).clone()),
                after: None,
            });
        }
    }
}

fn identified(addresses: &[Value]) -> impl Iterator<Item = &Value> {
    addresses.iter().filter(|address| address.get("id").is_some())
}

/// An address that is new.
pub fn added(path: FieldPath, address: &Value) -> Change {
    Change { path, before: None, after: Some(address.clone()) }
}

/// Differences inside one address.
pub fn address(id: i64, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    value(&FieldPath::address(id), Some(before), Some(after), changes);
}

/// Differences between two objects, one field left out.
pub fn objects_except(
    path: &FieldPath,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    except: Option<&str>,
    changes: &mut Vec<Change>,
) {
    for (name, old) in before.iter().filter(|(name, _)| Some(name.as_str()) != except) {
        value(&path.member(name), Some(old), after.get(name), changes);
    }
    for (name, new) in after.iter().filter(|(name, _)| Some(name.as_str()) != except) {
        if !before.contains_key(name) {
            value(&path.member(name), None, Some(new), changes);
        }
    }
}

fn value(path: &FieldPath, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    match (before, after) {
        _ if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            objects_except(path, before, after, None, changes);
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => match (by_code(old), by_code(new)) {
            (Some(old), Some(new)) => coded(path, &old, &new, changes),
            _ => changes.push(Change { path: path.clone(), before: before.cloned(), after: after.cloned() }),
        },
        _ => changes.push(Change { path: path.clone(), before: before.cloned(), after: after.cloned() }),
    }
}

/// Custom attributes by code, when every element has a code of its own.
fn by_code(elements: &[Value]) -> Option<Map<String, Value>> {
    let mut coded = Map::new();
    for element in elements {
        let code = element.get("attribute_code")?.as_str()?;
        if coded.insert(code.to_owned(), element.clone()).is_some() {
            return None;
        }
    }
    Some(coded)
}

fn coded(
    path: &FieldPath,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    changes: &mut Vec<Change>,
) {
    for (code, old) in before {
        value(&path.code(code), Some(old), after.get(code), changes);
    }
    for (code, new) in after.iter().filter(|(code, _)| !before.contains_key(*code)) {
        value(&path.code(code), None, Some(new), changes);
    }
}

/// A copy of the customer without what comparisons leave out: JSON pointers from the customer object.
fn without(customer: &Map<String, Value>, ignore: &[String]) -> Map<String, Value> {
    let mut whole = Value::Object(customer.clone());
    for pointer in ignore {
        let Some((parent, name)) = pointer.rsplit_once('/') else {
            continue;
        };
        let name = name.replace("~1", "/").replace("~0", "~");
        match whole.pointer_mut(parent) {
            Some(Value::Object(object)) => {
                object.shift_remove(&name);
            }
            Some(Value::Array(elements)) => {
                if let Some(index) = name.parse().ok().filter(|index: &usize| *index < elements.len()) {
                    elements.remove(index);
                }
            }
            _ => {}
        }
    }
    match whole {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Where each address id stands in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressIndex {
    position: HashMap<i64, usize>,
    in_order: Vec<i64>,
}

impl AddressIndex {
    /// Reads the ids off a stored list.
    ///
    /// # Errors
    /// `guard` when an address has no id, one that is no integer (or integer text), or one that another has too:
    /// replacing such a list would lose ids.
    pub fn of<'a>(addresses: impl IntoIterator<Item = &'a Value>) -> Result<Self, Failure> {
        let mut roster = Self::default();
        for (index, address) in addresses.into_iter().enumerate() {
            let id = address.get("id").unwrap_or(&Value::Null);
            let Some(id) = id_of(id) else {
                return Err(unsafe_list_error(&format!(
                    "stored address {} has an invalid ID ({id})",
                    index + 1
                )));
            };
            if roster.position.insert(id, index).is_some() {
                return Err(unsafe_list_error(&format!("duplicate stored address ID {id}")));
            }
            roster.in_order.push(id);
        }
        Ok(roster)
    }

    /// Position of an id in the list.
    pub fn position(&self, id: i64) -> Option<usize> {
        self.position.get(&id).copied()
    }

    /// Whether the list has this id.
    pub fn contains(&self, id: i64) -> bool {
        self.position.contains_key(&id)
    }

    /// The ids in the list's order.
    pub fn ids(&self) -> &[i64] {
        &self.in_order
    }

    /// Looks up an id that the user named.
    ///
    /// # Errors
    /// `guard` when the profile has no such address: the service would create one or reject the call.
    pub fn find(&self, id: i64) -> Result<usize, Failure> {
        self.position(id).ok_or_else(|| {
            let stored = match self.in_order.as_slice() {
                [] => "the profile has no addresses".to_owned(),
                ids => format!("the profile has {}", join_ids(ids)),
            };
            Failure::guard(format!("no address {id} ({stored})"))
                .hint("list the addresses with `storefront customer show`, or add one with --add-address")
                .needs_correction()
        })
    }
}

/// An address id: an integer, or integer text. `None` for anything else.
pub fn id_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        // `parse` takes a plus sign too, which no id has.
        Value::String(text) => text.parse().ok().filter(|_| !text.starts_with('+')),
        _ => None,
    }
}

/// Ids as a sentence has them: `1, 2 and 3`.
pub fn join_ids(ids: &[i64]) -> String {
    match ids {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(ToString::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

fn unsafe_list_error(what: &str) -> Failure {
    Failure::guard(format!("{what}; replacing the list would lose an address"))
        .hint("inspect it with `storefront customer show -o json` and fix it in the service first")
}

/// Flags that services write as a boolean, a number, a text, or not at all; 0 is also "no region".
const FLAG_LIKE: [&str; 3] = ["default_billing", "default_shipping", "region_id"];

/// Whether two numbers have the same text, or are the same double: jq 1.6 rounds every number that it passes on.
pub fn is_same_number(left: &Number, right: &Number) -> bool {
    let doubles = || Some((left.as_f64()?, right.as_f64()?));
    // The comparison is meant to be exact: rounding a number twice gives the same bits.
    left == right || doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
}

/// Whether two values are the same but for the texts of their numbers and the order of their fields.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => is_same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_in_right =
                |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| is_same(value, other));
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        _ => left == right,
    }
}

/// Whether the field `name` has all that is `expected` of it: of an object the expected fields, of `custom_attributes` the
/// expected codes, of anything else the same value.
pub fn contains(name: &str, actual: Option<&Value>, expected: Option<&Value>) -> bool {
    let nothing = Map::new();
    match (actual.unwrap_or(&Value::Null), expected.unwrap_or(&Value::Null)) {
        (Value::Object(_) | Value::Null, Value::Object(expected)) => {
            let actual = actual.and_then(Value::as_object).unwrap_or(&nothing);
            expected.iter().all(|(name, value)| contains(name, actual.get(name), Some(value)))
        }
        (Value::Array(actual), Value::Array(expected)) if name == "custom_attributes" => {
            expected.iter().all(|attribute| has_attribute(actual, attribute))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            let same = |(actual, expected)| contains("", Some(actual), Some(expected));
            actual.len() == expected.len() && actual.iter().zip(expected).all(same)
        }
        (actual, expected) => same_value(name, Some(actual), Some(expected)),
    }
}

fn has_attribute(actual: &[Value], expected: &Value) -> bool {
    let code = expected.get("attribute_code");
    let is_it = |attribute: &&Value| attribute.get("attribute_code") == code;
    match actual.iter().find(is_it) {
        Some(attribute) => contains("", Some(attribute), Some(expected)),
        None => same_value("", None, Some(expected)),
    }
}

/// Whether two values of the field `name` are the same. Equal are absent, null and `""`; a number and its text; texts
/// after trimming; for default flags and `region_id` also `false`, 0 and absent, `true` and 1. Objects and lists are
/// compared field by field and element by element.
pub fn same_value(name: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    match (present(name, left), present(name, right)) {
        (None, None) => true,
        (Some(left), Some(right)) => same_present(name, left, right),
        _ => false,
    }
}

fn present<'a>(name: &str, value: Option<&'a Value>) -> Option<&'a Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::String(text) if text.trim().is_empty() => false,
        // A service shows no custom attribute that is empty.
        Value::Object(attribute) if attribute.contains_key("attribute_code") => {
            present("value", attribute.get("value")).is_some()
        }
        Value::Array(attributes) if name == "custom_attributes" => {
            attributes.iter().any(|attribute| present("", Some(attribute)).is_some())
        }
        Value::Bool(false) => !FLAG_LIKE.contains(&name),
        Value::String(text) if ["0", "false"].contains(&text.trim()) => !FLAG_LIKE.contains(&name),
        Value::Number(number) if number.as_f64() == Some(0.0) => !FLAG_LIKE.contains(&name),
        _ => true,
    })
}

fn same_present(name: &str, left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.iter().all(|(name, value)| same_value(name, Some(value), right.get(name)))
                && right
                    .iter()
                    .all(|(name, value)| left.contains_key(name) || same_value(name, None, Some(value)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same_value(name, Some(left), Some(right)))
        }
        _ => left == right || same_scalar(name, left, right),
    }
}

fn same_scalar(name: &str, left: &Value, right: &Value) -> bool {
    match (scalar_text(name, left), scalar_text(name, right)) {
        (Some(left_text), Some(right_text)) if left_text == right_text => true,
        (Some(left_text), Some(right_text)) => {
            (left.is_number() || right.is_number()) && same_number(&left_text, &right_text)
        }
        _ => false,
    }
}

fn scalar_text(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim() == "true" && FLAG_LIKE.contains(&name) => Some("1".to_owned()),
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) if FLAG_LIKE.contains(&name) => Some("1".to_owned()),
        _ => None,
    }
}

/// Whether two spellings name one number. Beyond what a double holds exactly only the same digits do.
fn same_number(left: &str, right: &str) -> bool {
    const EXACT_DIGITS: usize = 15;
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let exact = digits(left) <= EXACT_DIGITS && digits(right) <= EXACT_DIGITS;
    let doubles = || Some((left.parse::<f64>().ok()?, right.parse::<f64>().ok()?));
    // The comparison is meant to be exact.
    exact && doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
}

#[cfg(test)]
mod tests;
