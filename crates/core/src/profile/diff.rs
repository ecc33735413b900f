//! What differs between two profiles, field by field: the differences, where they are, the ids of addresses, and when two
//! values mean the same.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::text::exact_json;

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

    /// Reads a place as it is printed. A name with dots or brackets comes out as other steps, which are printed alike.
    fn parse(text: &str) -> Self {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, inner) = part.strip_suffix(']').and_then(|part| part.split_once('[')).unzip();
            let name = name.unwrap_or(part);
            steps.push(Step::Member(name.to_owned()));
            let id = inner.and_then(|inner| inner.strip_prefix("id=")?.parse().ok());
            steps.extend(inner.map(|inner| match id {
                Some(id) => Step::Address(id),
                None if name == "addresses" => Step::New,
                None => Step::Code(inner.to_owned()),
            }));
        }
        Self(steps)
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
    pub fn last_name(&self) -> &str {
        match self.0.last() {
            Some(Step::Member(name)) => name,
            _ => "",
        }
    }

    /// A draft, of the customer or of the address that the place is in, that names this value alone.
    pub fn draft(&self, value: Value) -> Value {
        self.below_address().iter().rev().fold(value, |mut inside, step| match step {
            Step::Member(name) => exact_json::object([(name, inside)]),
            Step::Code(code) => {
                inside["attribute_code"] = code.as_str().into();
                Value::Array(vec![inside])
            }
            Step::Address(_) | Step::New => inside,
        })
    }

    /// Whether one of the two places is, or is inside, the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }

    /// Whether this is an address that has no id yet.
    pub fn is_new_address(&self) -> bool {
        self.0.get(1) == Some(&Step::New)
    }

    fn below_address(&self) -> &[Step] {
        match &self.0[..] {
            [_, Step::Address(_) | Step::New, below @ ..] => below,
            all => all,
        }
    }

    /// The path inside its address, or the whole path outside the addresses.
    pub fn inside(&self) -> String {
        Self(self.below_address().to_vec()).to_string()
    }

    /// The place as a person reads it: `address 12 postcode`.
    pub fn in_words(&self) -> String {
        match self.address_id() {
            Some(id) => format!("address {id} {}", self.inside()).trim_end().to_owned(),
            None => self.to_string(),
        }
    }

    /// Whether this is, or is inside, what a JSON pointer from the customer object names. An element of a list stands for
    /// all of them.
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

impl Serialize for FieldPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One difference, as results have it. `None` means that the field is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Where, such as `addresses[id=12].postcode`.
    pub path: FieldPath,
    /// The stored value.
    pub before: Option<Value>,
    /// The new value.
    pub after: Option<Value>,
}

impl Change {
    /// Reads a difference as results have it; a value of `null` is one that is not there.
    pub fn parse(value: &Value) -> Option<Self> {
        let side = |name| value.get(name).filter(|value| !value.is_null()).cloned();
        let path = FieldPath::parse(value.get("path")?.as_str()?);
        Some(Self { path, before: side("before"), after: side("after") })
    }

    /// Whether results have both alike.
    fn is_printed_as(&self, other: &Self) -> bool {
        let value = |side: &Option<Value>| side.clone().unwrap_or_default();
        self.path.to_string() == other.path.to_string()
            && value(&self.before) == value(&other.before)
            && value(&self.after) == value(&other.after)
    }

    /// Whether both values are the same ([`same_value`]), so that no read tells them apart.
    pub fn is_same(&self) -> bool {
        !self.path.is_address()
            && same_value(self.path.last_name(), self.before.as_ref(), self.after.as_ref())
    }

    /// Whether one of these JSON pointers from the customer object names it.
    pub fn is_ignored(&self, ignore: &[String]) -> bool {
        ignore.iter().any(|pointer| self.path.is_in(pointer))
    }
}

/// Differences between two customer objects. Addresses are matched by id; one without id, or with an id
/// the other side does not have, is an addition or a removal.
pub fn customers(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Change> {
    let mut changes = Vec::new();
    members(before, after, |name| FieldPath::default().member(name), &mut changes);
    address_lists(address_list(before), address_list(after), &mut changes);
    changes
}

/// What a plan expects of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// What says whose profile is changed; empty where that is not known.
    pub owner: Map<String, Value>,
    /// What is changed of it.
    pub changes: Vec<Change>,
}

/// Refuses changes that are not those that were planned, and approved. `stored` is what they are made to.
///
/// # Errors
/// `guard`, with the first that differs: its place, and both values.
pub fn ensure_planned(
    planned: &[Change],
    changes: &[Change],
    stored: &Map<String, Value>,
) -> Result<(), Failure> {
    let is_in = |list: &[Change], change: &Change| list.iter().any(|other| other.is_printed_as(change));
    let shown =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
    let lost = planned.iter().find(|change| !is_in(changes, change));
    let message = match (lost, changes.iter().find(|change| !is_in(planned, change))) {
        (None, None) => return Ok(()),
        (None, Some(added)) => {
            let after = shown(added.after.as_ref());
            format!("`{}` would become {after}, which is not in the plan", added.path)
        }
        (Some(lost), _) => {
            let index = AddressIndex::of(address_list(stored))?;
            let now = lost.path.find(stored, &index).filter(|value| !value.is_null());
            let (path, before, now) = (&lost.path, shown(lost.before.as_ref()), shown(now));
            if now == before {
                let after = shown(lost.after.as_ref());
                format!("`{path}` would not become {after} as planned: {now} is stored")
            } else {
                format!("`{path}` is {now}, and was {before} when it was planned")
            }
        }
    };
    Err(Failure::guard(message).hint("make the plan again with --plan").for_good())
}

/// The addresses of a customer object; none where the field is no list.
pub fn address_list(customer: &Map<String, Value>) -> &[Value] {
    customer.get("addresses").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The addresses that have an id, each with it.
pub fn addresses_by_id(addresses: &[Value]) -> impl DoubleEndedIterator<Item = (i64, &Value)> {
    addresses.iter().filter_map(|address| Some((own_id(address)?, address)))
}

/// The address of a customer that has this id.
pub fn find_address(customer: &Map<String, Value>, id: i64) -> Option<&Value> {
    address_list(customer).iter().find(|address| own_id(address) == Some(id))
}

fn address_lists(before: &[Value], after: &[Value], changes: &mut Vec<Change>) {
    let [old, new]: [Vec<&Value>; 2] =
        [before, after].map(|list| list.iter().filter(|address| address.get("id").is_some()).collect());
    let (Ok(stored), Ok(now)) = (AddressIndex::of(old.iter().copied()), AddressIndex::of(new)) else {
        let path = FieldPath::default().member("addresses");
        return changes.push(Change { path, before: Some(before.into()), after: Some(after.into()) });
    };
    for address in after {
        let (path, position) = match own_id(address) {
            Some(id) => (FieldPath::address(id), stored.position(id)),
            None => (FieldPath::new_address(), None),
        };
        value(path, position.map(|position| old[position]), Some(address), changes);
    }
    for address in before {
        match own_id(address) {
            Some(id) if now.contains(id) => {}
            id => value(
                id.map_or_else(FieldPath::new_address, FieldPath::address),
                Some(address),
                None,
                changes,
            ),
        }
    }
}

/// Differences of two objects; `path` leads to a field of them.
fn members(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: impl Fn(&str) -> FieldPath,
    changes: &mut Vec<Change>,
) {
    for (name, old) in before {
        value(path(name), Some(old), after.get(name), changes);
    }
    for (name, new) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        value(path(name), None, Some(new), changes);
    }
}

fn value(path: FieldPath, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    let is_address_list = matches!(&path.0[..], [Step::Member(name)] if name == "addresses");
    if before == after || is_address_list {
        return;
    }
    // A list that is not there is an empty one.
    let coded = |value: Option<&Value>| match value {
        _ if path.last_name() != "custom_attributes" => None,
        None => Some(Map::new()),
        Some(list) => by_code(list.as_array()?),
    };
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            members(before, after, |name| path.member(name), changes);
        }
        _ => match coded(before).zip(coded(after)) {
            Some((before, after)) => {
                members(&before, &after, |code| path.step(Step::Code(code.to_owned())), changes);
            }
            None => changes.push(Change { path, before: before.cloned(), after: after.cloned() }),
        },
    }
}

/// Custom attributes by code, when every element has a code of its own.
pub fn by_code(elements: &[Value]) -> Option<Map<String, Value>> {
    let entry = |one: &Value| Some((one.get("attribute_code")?.as_str()?.to_owned(), one.clone()));
    let coded: Map<String, Value> = elements.iter().map(entry).collect::<Option<_>>()?;
    (coded.len() == elements.len()).then_some(coded)
}

/// Where each address id stands in a list: the ids, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressIndex {
    ids: Vec<i64>,
    positions: HashMap<i64, usize>,
}

impl AddressIndex {
    /// Reads the ids off a stored list.
    ///
    /// # Errors
    /// `guard` when an address has no id, one that is no integer (or integer text), or one that another has too:
    /// replacing such a list would lose ids.
    pub fn of<'a>(addresses: impl IntoIterator<Item = &'a Value>) -> Result<Self, Failure> {
        let mut index = Self { ids: Vec::new(), positions: HashMap::new() };
        for address in addresses {
            let id = address.get("id").unwrap_or(&Value::Null);
            let what = match id_of(id) {
                None => format!("stored address {} has an invalid ID ({id})", index.ids.len() + 1),
                Some(id) if index.contains(id) => format!("duplicate stored address ID {id}"),
                Some(id) => {
                    index.positions.insert(id, index.ids.len());
                    index.ids.push(id);
                    continue;
                }
            };
            return Err(Failure::guard(format!("{what}; replacing the list would lose an address"))
                .hint("inspect it with `storefront customer show -o json` and fix it in the service first"));
        }
        Ok(index)
    }

    /// Position of an id in the list.
    pub fn position(&self, id: i64) -> Option<usize> {
        self.positions.get(&id).copied()
    }

    /// Whether the list has this id.
    pub fn contains(&self, id: i64) -> bool {
        self.positions.contains_key(&id)
    }

    /// The ids in the list's order.
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// Looks up an id that the user named.
    ///
    /// # Errors
    /// `guard` when the profile has no such address: the service would create one or reject the call.
    pub fn find(&self, id: i64) -> Result<usize, Failure> {
        self.position(id).ok_or_else(|| {
            let stored = match self.ids() {
                [] => "the profile has no addresses".to_owned(),
                [one] => format!("the profile has address {one}"),
                ids => format!("the profile has addresses {}", join_ids(ids)),
            };
            let hint = "list the addresses with `storefront customer show`, or add one with --add-address";
            Failure::guard(format!("no address {id} ({stored})")).hint(hint).for_good()
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

/// The id of an address.
pub fn own_id(address: &Value) -> Option<i64> {
    id_of(address.get("id")?)
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

/// Flags that services write as a boolean, a number, a text, or not at all; 0 is also "no region".
const FLAG_LIKE: [&str; 3] = ["default_billing", "default_shipping", "region_id"];

/// Whether two values are the same but for the texts of their numbers and the order of their fields.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            // jq 1.6 rounds every number that it passes on to a double; rounding it twice gives the same bits.
            let doubles = || Some((left.as_f64()?, right.as_f64()?));
            left == right || doubles().is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
        }
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
    agrees(name, actual, expected, false)
}

/// [`same_value`] of two flags.
pub fn same_flag(left: Option<&Value>, right: Option<&Value>) -> bool {
    same_value(FLAG_LIKE[0], left, right)
}

/// Whether two values of the field `name` are the same. Equal are absent, null and `""`; a number and its text; texts
/// after trimming; for default flags and `region_id` also `false`, 0 and absent, `true` and 1. Objects and lists are
/// compared field by field and element by element.
pub fn same_value(name: &str, left: Option<&Value>, right: Option<&Value>) -> bool {
    agrees(name, left, right, true)
}

/// Whether a draft's value changes nothing of the stored one: they are the same, and no texts differ by their outer blanks,
/// which a person may want to correct.
pub fn is_unchanged(name: &str, stored: &Value, draft: &Value) -> bool {
    is_same(stored, draft)
        || same_value(name, Some(stored), Some(draft)) && !differs_in_blanks(Some(stored), Some(draft))
}

/// Whether somewhere in two values that are the same a text has other outer blanks.
fn differs_in_blanks(left: Option<&Value>, right: Option<&Value>) -> bool {
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    };
    match (left, right) {
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            left.iter().zip(right).any(|(left, right)| differs_in_blanks(Some(left), Some(right)))
        }
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut names = left.keys().chain(right.keys());
            names.any(|name| differs_in_blanks(left.get(name), right.get(name)))
        }
        _ => text(left)
            .zip(text(right))
            .is_some_and(|(left, right)| left != right && left.trim() == right.trim()),
    }
}

/// [`same_value`] where `is_whole`, else [`contains`].
fn agrees(name: &str, actual: Option<&Value>, expected: Option<&Value>, is_whole: bool) -> bool {
    if let (Some(Value::Array(actual)), Some(Value::Array(expected)), "custom_attributes", false) =
        (actual, expected, name, is_whole)
    {
        return expected.iter().all(|expected| {
            let is_it = |own: &&Value| own.get("attribute_code") == expected.get("attribute_code");
            agrees("", actual.iter().find(is_it), Some(expected), false)
        });
    }
    match (present(name, actual), present(name, expected)) {
        (None, None) => true,
        (None, Some(Value::Object(expected))) if !is_whole => {
            expected.iter().all(|(name, value)| agrees(name, None, Some(value), false))
        }
        (Some(Value::Object(actual)), Some(Value::Object(expected))) => {
            let mut others = actual.iter().filter(|(name, _)| is_whole && !expected.contains_key(*name));
            expected.iter().all(|(name, value)| agrees(name, actual.get(name), Some(value), is_whole))
                && others.all(|(name, value)| agrees(name, Some(value), None, true))
        }
        (Some(Value::Array(actual)), Some(Value::Array(expected))) => {
            let mut pairs = actual.iter().zip(expected);
            actual.len() == expected.len()
                && pairs.all(|(actual, expected)| agrees("", Some(actual), Some(expected), is_whole))
        }
        (Some(actual), Some(expected)) => actual == expected || same_scalar(name, actual, expected),
        _ => false,
    }
}

/// The value, unless it stands for nothing.
fn present<'a>(name: &str, value: Option<&'a Value>) -> Option<&'a Value> {
    value.filter(|value| match value {
        Value::Null => false,
        // A service shows no custom attribute that is empty.
        Value::Object(attribute) if attribute.contains_key("attribute_code") => {
            present("value", attribute.get("value")).is_some()
        }
        Value::Array(attributes) if name == "custom_attributes" => {
            attributes.iter().any(|attribute| present("", Some(attribute)).is_some())
        }
        _ => scalar_text(name, value).is_none_or(|text| !text.is_empty()),
    })
}

fn same_scalar(name: &str, left: &Value, right: &Value) -> bool {
    match (scalar_text(name, left), scalar_text(name, right)) {
        (Some(left_text), Some(right_text)) => {
            let is_number = left.is_number() || right.is_number();
            left_text == right_text || is_number && same_number(&left_text, &right_text)
        }
        _ => false,
    }
}

/// The text of a scalar; of a flag `1` or nothing.
fn scalar_text<'a>(name: &str, value: &'a Value) -> Option<Cow<'a, str>> {
    let text = match value {
        Value::String(text) => Cow::from(text.trim()),
        Value::Number(number) => Cow::from(number.to_string()),
        Value::Bool(flag) if FLAG_LIKE.contains(&name) => Cow::from(flag.to_string()),
        _ => return None,
    };
    Some(match &*text {
        _ if !FLAG_LIKE.contains(&name) => text,
        "true" => "1".into(),
        "false" => "".into(),
        number if number.parse().ok() == Some(0.0) => "".into(),
        _ => text,
    })
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
