//! What differs between two profiles, field by field.

use serde_json::{Map, Value};

use crate::exact_json;
use crate::plan::profile::address_ids::{AddressIndex, id_of};
use crate::plan::profile::field_path::FieldPath;

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

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{customers, customers_except, without};

    fn paths(before: Value, after: Value) -> Vec<String> {
        let (Value::Object(before), Value::Object(after)) = (before, after) else { panic!("two objects") };
        customers(&before, &after).into_iter().map(|change| change.path.to_string()).collect()
    }

    #[test]
    fn a_change_is_named_down_to_its_member() {
        let before = json!({"email": "a", "addresses": [
            {"id": 1, "city": "Paris"},
            {"id": 2, "region": {"region_id": 1}, "street": ["a"], "custom_attributes": [{"attribute_code": "x", "value": "1"}]},
            {"id": 3}]});
        let after = json!({"email": "b", "vat": 1, "addresses": [
            {"id": 2, "region": {"region_id": 2}, "street": ["b"], "custom_attributes": [{"attribute_code": "x", "value": "2"}]},
            {"id": 1, "city": "Paris"},
            {"city": "Rome"}]});
        assert_eq!(
            paths(before, after),
            [
                "email",
                "vat",
                "addresses[id=2].region.region_id",
                "addresses[id=2].street",
                "addresses[id=2].custom_attributes[x].value",
                "addresses[new]",
                "addresses[id=3]",
            ]
        );
    }

    #[test]
    fn numbers_differ_when_their_text_differs() {
        assert_eq!(paths(json!({"a": 1}), json!({"a": 1})), [""; 0]);
        let (one, other) = (serde_json::from_str("{\"a\": 1.0}"), serde_json::from_str("{\"a\": 1.00}"));
        assert_eq!(paths(one.unwrap(), other.unwrap()), ["a"]);
    }

    #[test]
    fn what_is_ignored_inside_addresses_is_left_out_too() {
        let [before, after] = [1, 2].map(|seen| {
            let addresses =
                json!([{"id": 1, "seen": seen, "city": format!("{seen}")}, {"id": 2, "seen": seen}]);
            Map::from_iter([("seen".to_owned(), seen.into()), ("addresses".to_owned(), addresses)])
        });
        let paths = |ignore: &[&str]| -> Vec<String> {
            let ignore: Vec<String> = ignore.iter().map(|&pointer| pointer.to_owned()).collect();
            let changes = customers_except(&before, &after, &ignore);
            changes.into_iter().map(|change| change.path.to_string()).collect()
        };
        assert_eq!(paths(&["/addresses"]), ["seen"]);
        let ignore = ["/seen", "/addresses/0/seen", "/addresses/1/seen"];
        assert_eq!(paths(&ignore), ["addresses[id=1].city"]);
        assert_eq!(paths(&ignore[1..]), ["seen", "addresses[id=1].city"]);
        assert_eq!(paths(&ignore[..1]).len(), 3);
    }

    #[test]
    fn ignored_pointers_are_left_out() {
        let customer = json!({"updated_at": 1, "extension_attributes": {"seen": 2, "kept": 3}, "a/b": 4});
        let ignore =
            ["/updated_at", "/extension_attributes/seen", "/a~1b", "/nothing/here"].map(str::to_owned);
        let left = without(customer.as_object().unwrap(), &ignore);
        assert_eq!(Value::Object(left), json!({"extension_attributes": {"kept": 3}}));
    }
}
