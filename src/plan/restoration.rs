//! Putting a snapshot back: a merge of the snapshot over what is stored now.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::diff::{self, Change};
use super::merge::{Merged, Tally};
use super::path::Path;
use super::roster::{Roster, id_of};
use crate::failure::Failure;

/// Lays a snapshot over the stored profile. With `delete_newer`, addresses the snapshot does not have are left out;
/// otherwise they are kept. A deleted address comes back without its id, for the service gives ids; one that came
/// back already, equal but for its id, is not made again.
///
/// # Errors
/// `guard` for a snapshot of another customer, and when either list is not there or has addresses without a usable id of
/// their own.
pub fn restore(
    stored: &Map<String, Value>,
    snapshot: &Map<String, Value>,
    delete_newer: bool,
) -> Result<Merged, Failure> {
    same_customer(stored, snapshot)?;
    let (now, then) = (whole_list(stored)?, whole_list(snapshot)?);
    let (roster, old) = (Roster::of(now)?, Roster::of(then)?);
    let mut restored =
        Restored { tally: Tally::default(), changes: members(stored, snapshot), notes: Vec::new() };
    let mut newer: Vec<i64> = roster.ids().iter().copied().filter(|id| !old.has(*id)).collect();
    let mut lost = Vec::new();
    for (id, address) in old.ids().iter().zip(then) {
        if !roster.has(*id) {
            match newer
                .iter()
                .position(|id| same_but_for_id(&now[roster.position(*id).unwrap_or_default()], address))
            {
                Some(position) => restored.came_back(*id, newer.remove(position)),
                None => lost.push((*id, address)),
            }
        }
    }
    let mut result = Vec::with_capacity(now.len() + lost.len());
    for (id, address) in roster.ids().iter().zip(now) {
        if newer.contains(id) && delete_newer {
            restored.remove(*id, address);
        } else {
            let then = old.position(*id).map(|position| &then[position]);
            result.push(restored.keep(*id, address, then));
        }
    }
    for (id, address) in lost {
        result.push(restored.bring_back(id, address, snapshot));
    }
    let mut customer = stored.clone();
    for (name, value) in snapshot.iter().filter(|(name, _)| is_restored(name)) {
        customer.insert(name.clone(), value.clone());
    }
    customer.insert("addresses".to_owned(), Value::Array(result));
    restored.mend_defaults(&mut customer, stored);
    Ok(Merged { customer, changes: restored.changes, tally: restored.tally, notes: restored.notes })
}

/// Whether a snapshot is plainly of this customer: the same id; or, where there are none, the same e-mail address or an
/// address in common, whose ids no two customers share.
pub fn is_of(stored: &Map<String, Value>, snapshot: &Map<String, Value>) -> bool {
    let both = |name: &str| Some((stored.get(name)?, snapshot.get(name)?));
    let ids = |customer| {
        diff::address_list(customer)
            .iter()
            .filter_map(|address| id_of(address.get("id")?))
            .collect::<HashSet<_>>()
    };
    both("id").is_some_and(|(now, then)| id_of(now).is_some() && id_of(now) == id_of(then))
        || both("email").is_some_and(|(now, then)| now.is_string() && now == then)
        || !ids(stored).is_disjoint(&ids(snapshot))
}

/// Ids that contradict each other are never overlooked.
fn same_customer(stored: &Map<String, Value>, snapshot: &Map<String, Value>) -> Result<(), Failure> {
    let id = |customer: &Map<String, Value>| customer.get("id").and_then(id_of);
    match (id(stored), id(snapshot)) {
        (Some(own), Some(other)) if own != other => Err(Failure::guard(format!(
            "the snapshot is of customer {other}, but the token belongs to customer {own}; nothing was written"
        ))
        .hint("use the token of that customer; `storefront customer history` lists this one's snapshots")),
        _ => Ok(()),
    }
}

struct Restored {
    tally: Tally,
    changes: Vec<Change>,
    notes: Vec<String>,
}

impl Restored {
    fn keep(&mut self, id: i64, now: &Value, then: Option<&Value>) -> Value {
        let known = self.changes.len();
        let kept = then.unwrap_or(now);
        diff::address(id, now, kept, &mut self.changes);
        if self.changes.len() > known { &mut self.tally.changed } else { &mut self.tally.kept }.push(id);
        kept.clone()
    }

    fn remove(&mut self, id: i64, address: &Value) {
        self.changes.push(Change { path: Path::address(id), before: Some(address.clone()), after: None });
        self.tally.removed.push(id);
    }

    fn bring_back(&mut self, id: i64, address: &Value, snapshot: &Map<String, Value>) -> Value {
        let mut address = address.clone();
        if let Value::Object(members) = &mut address {
            members.shift_remove("id");
        }
        self.notes.push(format!("address {id} comes back under a new id{}", defaults(snapshot, id)));
        self.changes.push(diff::added(Path::new_address(), &address));
        self.tally.added += 1;
        address
    }

    fn came_back(&mut self, old: i64, new: i64) {
        self.notes.push(format!("address {old} came back already, as {new}; it is not made again"));
    }

    /// A default whose address is gone cannot be put back: the present one stays, unless its address goes now.
    fn mend_defaults(&mut self, customer: &mut Map<String, Value>, stored: &Map<String, Value>) {
        let there: Vec<i64> =
            [&self.tally.kept, &self.tally.changed].into_iter().flatten().copied().collect();
        for name in ["default_billing", "default_shipping"] {
            let dead = |value: &&Value| id_of(value).is_some_and(|id| !there.contains(&id));
            let Some(gone) = customer.get(name).filter(dead) else { continue };
            self.notes.push(format!("{name} cannot be put back: address {gone} is not there"));
            let path = Path::default().member(name);
            self.changes.retain(|change| change.path != path);
            let goes = |value: &Value| id_of(value).is_some_and(|id| self.tally.removed.contains(&id));
            match stored.get(name) {
                Some(present) if !goes(present) => drop(customer.insert(name.to_owned(), present.clone())),
                before => {
                    customer.shift_remove(name);
                    let before = before.cloned();
                    self.changes.extend(before.map(|before| Change {
                        path,
                        before: Some(before),
                        after: None,
                    }));
                }
            }
        }
    }
}

/// Which default flags an address had in the snapshot.
fn defaults(snapshot: &Map<String, Value>, id: i64) -> String {
    let had = |name: &str| snapshot.get(name).and_then(id_of) == Some(id);
    match (had("default_billing"), had("default_shipping")) {
        (true, true) => "; it was the default billing and shipping address".to_owned(),
        (true, false) => "; it was the default billing address".to_owned(),
        (false, true) => "; it was the default shipping address".to_owned(),
        (false, false) => String::new(),
    }
}

/// A list that is not there is not the same as one without addresses.
fn whole_list(customer: &Map<String, Value>) -> Result<&[Value], Failure> {
    match customer.get("addresses") {
        Some(Value::Array(addresses)) => Ok(addresses),
        _ => Err(Failure::guard("a profile without an address list cannot be put back; nothing was written")),
    }
}

fn members(stored: &Map<String, Value>, snapshot: &Map<String, Value>) -> Vec<Change> {
    let chosen = |customer: &Map<String, Value>| {
        let members = customer.iter().filter(|(name, _)| is_restored(name) && snapshot.contains_key(*name));
        members.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>()
    };
    let mut changes = Vec::new();
    diff::objects_except(&Path::default(), &chosen(stored), &chosen(snapshot), None, &mut changes);
    changes
}

/// The service's own bookkeeping is not put back.
fn is_restored(name: &str) -> bool {
    !matches!(name, "addresses" | "updated_at" | "created_at" | "id")
}

fn same_but_for_id(one: &Value, other: &Value) -> bool {
    let bare = |address: &Value| {
        let mut address = address.clone();
        if let Value::Object(members) = &mut address {
            members.shift_remove("id");
        }
        address
    };
    bare(one) == bare(other)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{is_of, restore};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_changed_goes_back_and_what_is_newer_stays() {
        let then = object(json!({"email": "a", "addresses": [{"id": 1, "city": "Paris"}, {"id": 2}]}));
        let now =
            object(json!({"email": "b", "addresses": [{"id": 1, "city": "Lyon"}, {"id": 2}, {"id": 9}]}));
        let merged = restore(&now, &then, false).unwrap();
        assert_eq!(
            Value::Object(merged.customer),
            json!({"email": "a", "addresses": [{"id": 1, "city": "Paris"}, {"id": 2}, {"id": 9}]})
        );
        assert_eq!((merged.tally.kept, merged.tally.changed), (vec![2, 9], vec![1]));
        let exact = restore(&now, &then, true).unwrap();
        assert_eq!(exact.tally.removed, [9]);
    }

    #[test]
    fn a_deleted_address_comes_back_once_without_its_id() {
        let then =
            object(json!({"default_billing": "2", "addresses": [{"id": 1}, {"id": 2, "city": "Nice"}]}));
        let now = object(json!({"addresses": [{"id": 1}]}));
        let merged = restore(&now, &then, false).unwrap();
        assert_eq!(merged.customer["addresses"], json!([{"id": 1}, {"city": "Nice"}]));
        assert!(merged.notes[0].contains("default billing"), "{:?}", merged.notes);
        assert!(!merged.customer.contains_key("default_billing"));
        let back = object(json!({"addresses": [{"id": 1}, {"id": 7, "city": "Nice"}]}));
        let again = restore(&back, &then, true).unwrap();
        assert!(again.changes.is_empty(), "{:?}", again.changes);
        assert_eq!(again.tally.kept, [1, 7]);
    }

    #[test]
    fn a_list_that_is_not_there_is_no_empty_list() {
        let (lost, empty) = (object(json!({"id": 1})), object(json!({"id": 1, "addresses": []})));
        assert!(restore(&lost, &empty, false).is_err() && restore(&empty, &lost, true).is_err());
    }

    #[test]
    fn a_snapshot_of_another_customer_is_refused() {
        let profile = |id: i64, address: i64| object(json!({"id": id, "addresses": [{"id": address}]}));
        assert!(restore(&profile(1, 5), &profile(2, 5), false).is_err());
        assert!(restore(&profile(1, 5), &profile(1, 6), false).is_ok());
        let nameless = |address: i64| object(json!({"addresses": [{"id": address}]}));
        assert!(is_of(&nameless(5), &nameless(5)) && !is_of(&nameless(5), &nameless(6)));
        assert!(is_of(&profile(1, 5), &profile(1, 6)) && is_of(&profile(1, 5), &nameless(5)));
    }

    #[test]
    fn a_default_whose_address_is_gone_stays_as_it_is_or_goes_and_is_told() {
        let then = object(json!({"default_billing": 7, "addresses": [{"id": 1}]}));
        let dead = object(json!({"default_billing": 5, "addresses": [{"id": 1}]}));
        let merged = restore(&dead, &then, false).unwrap();
        assert_eq!((&merged.customer["default_billing"], merged.changes.len()), (&json!(5), 0));
        let newer = object(json!({"default_billing": 9, "addresses": [{"id": 1}, {"id": 9}]}));
        let merged = restore(&newer, &then, true).unwrap();
        assert!(!merged.customer.contains_key("default_billing"));
        assert!(merged.changes.iter().any(|change| change.path.to_string() == "default_billing"));
    }
}
