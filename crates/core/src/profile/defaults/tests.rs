use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::id::AddressId;
use crate::interface::dialect::MAGENTO;
use crate::profile::address::{DEFAULTS, address_list, addresses_by_id, find_address};
use crate::profile::diff::FieldChange;
use crate::profile::magento::completed;
use crate::profile::merge::{Merged, merge};
use crate::profile::patch::ProfilePatch;
use crate::profile::restore::{Undo, inverse};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// A profile with three addresses as Magento shows it.
fn profile(defaults: [Option<i64>; 2]) -> Map<String, Value> {
    let cities = ["Bonn", "Rome", "Oslo"];
    let list = cities.into_iter().zip(1..).map(|(city, id)| json!({"id": id, "street": ["x"], "city": city}));
    shown(list.map(object).collect(), defaults)
}

fn shown(mut list: Vec<Map<String, Value>>, defaults: [Option<i64>; 2]) -> Map<String, Value> {
    let mut customer = object(json!({"id": 7, "firstname": "Kai"}));
    for (name, default) in DEFAULTS.into_iter().zip(defaults) {
        let Some(id) = default else { continue };
        customer.insert(name.to_owned(), id.to_string().into());
        let own = list.iter_mut().find(|one| one["id"] == id).unwrap();
        own.insert(name.to_owned(), true.into());
    }
    customer.insert("addresses".to_owned(), list.into_iter().map(Value::Object).collect());
    customer
}

/// What Magento makes of a body: the last flag counts, then the top; a default that is not an address in the body is
/// dropped.
fn saved(body: &Map<String, Value>) -> Map<String, Value> {
    let mut list: Vec<Map<String, Value>> = address_list(body).iter().cloned().map(object).collect();
    let next = 100.max(1 + addresses_by_id(address_list(body)).map(|(id, _)| id.0).max().unwrap_or(0));
    for (next, address) in (next..).zip(&mut list) {
        address.entry("id").or_insert_with(|| next.into());
    }
    let defaults = DEFAULTS.map(|name| {
        let flagged = list.iter().rfind(|one| one.get(name) == Some(&json!(true)));
        let top = body.get(name).and_then(AddressId::of).map(|id| id.0);
        let there = |id: &i64| list.iter().any(|one| one["id"] == *id);
        flagged.and_then(|one| one["id"].as_i64()).or(top).filter(there)
    });
    for one in &mut list {
        one.retain(|name, _| !DEFAULTS.contains(&name.as_str()));
    }
    shown(list, defaults)
}

fn defaults(customer: &Map<String, Value>) -> [Option<i64>; 2] {
    DEFAULTS.map(|name| customer.get(name).and_then(AddressId::of).map(|id| id.0))
}

/// How an input says what a default is to be.
#[derive(Debug, Clone, Copy)]
enum Said {
    /// Nothing.
    Not,
    /// By the flag of a stored address.
    Flag(i64, bool),
    /// By the flag of an address that is added.
    New,
    /// At the top.
    Top(Option<i64>),
    /// At the top of a document that has everything else as it is stored.
    TopOfAll(Option<i64>),
    /// By the flag of an address, in a document that has everything else as it is stored.
    FlagOfAll(i64, bool),
}

fn said() -> impl Strategy<Value = Said> {
    let id = 1..4_i64;
    prop_oneof![
        Just(Said::Not),
        (id.clone(), any::<bool>()).prop_map(|(id, on)| Said::Flag(id, on)),
        Just(Said::New),
        proptest::option::of(id.clone()).prop_map(Said::Top),
        proptest::option::of(id.clone()).prop_map(Said::TopOfAll),
        (id, any::<bool>()).prop_map(|(id, on)| Said::FlagOfAll(id, on)),
    ]
}

fn flag_of(draft: &mut Map<String, Value>, id: Option<i64>, name: &str, on: bool) {
    let list = draft.entry("addresses").or_insert_with(|| json!([])).as_array_mut().unwrap();
    let is_it = |one: &&mut Value| one.get("id").and_then(Value::as_i64) == id;
    match list.iter_mut().find(is_it) {
        Some(one) => one[name] = on.into(),
        None => list.push(match id {
            Some(id) => json!({"id": id, name: on}),
            None => json!({"street": ["y"], "city": "Lima", name: on}),
        }),
    }
}

/// The draft of an input, and what the defaults are to be by it; 0 is the address that is added.
fn draft(stored: &Map<String, Value>, said: [Said; 2]) -> (Map<String, Value>, [Option<i64>; 2]) {
    let is_whole = said.iter().any(|said| matches!(said, Said::TopOfAll(_) | Said::FlagOfAll(..)));
    let mut draft = if is_whole { stored.clone() } else { Map::new() };
    let mut wanted = defaults(stored);
    for ((name, said), wanted) in DEFAULTS.into_iter().zip(said).zip(&mut wanted) {
        match said {
            Said::Not => {}
            Said::New => {
                flag_of(&mut draft, None, name, true);
                *wanted = Some(0);
            }
            Said::Flag(id, on) | Said::FlagOfAll(id, on) => {
                flag_of(&mut draft, Some(id), name, on);
                match (on, *wanted == Some(id)) {
                    (true, _) => *wanted = Some(id),
                    (false, true) => *wanted = None,
                    (false, false) => {}
                }
            }
            Said::Top(id) | Said::TopOfAll(id) => {
                draft.insert(name.to_owned(), id.map_or(Value::Null, |id| id.to_string().into()));
                *wanted = id;
            }
        }
    }
    (draft, wanted)
}

fn updated(stored: &Map<String, Value>, draft: Map<String, Value>) -> Merged {
    let mut patch = ProfilePatch { draft, ..ProfilePatch::default() };
    patch.take_defaults(stored).unwrap();
    merge(stored, &patch).unwrap()
}

/// What is sent, made from the read and the changes alone.
fn made_from(stored: &Map<String, Value>, changes: &[FieldChange]) -> Map<String, Value> {
    let mut wanted = stored.clone();
    for change in changes {
        match (&change.after, change.path.is_new_address()) {
            (Some(new), true) => wanted["addresses"].as_array_mut().unwrap().push(new.clone()),
            (after, _) => change.path.set(&mut wanted, after.as_ref()),
        }
    }
    completed(stored, &wanted)
}

fn case() -> impl Strategy<Value = ([Option<i64>; 2], [Said; 2])> {
    let default = || proptest::option::of(1..4_i64);
    ([default(), default()], [said(), said()])
}

proptest! {
    #[test]
    fn an_update_of_a_default_is_in_its_changes((before, said) in case()) {
        let stored = profile(before);
        let (draft, wanted) = draft(&stored, said);
        let merged = updated(&stored, draft);
        let is_added = said.iter().any(|said| matches!(said, Said::New));
        prop_assert_eq!(merged.changes.is_empty(), wanted == before && !is_added, "{:?}", merged.changes);
        let body = completed(&stored, &merged.customer);
        prop_assert_eq!(&made_from(&stored, &merged.changes), &body, "{:?}", merged.changes);
        let known = |id: Option<i64>| id.map(|id| if id >= 100 { 0 } else { id });
        prop_assert_eq!(defaults(&saved(&body)).map(known), wanted);
    }

    #[test]
    fn a_restore_sets_every_default_back((before, said) in case(), newer in any::<bool>(), all in any::<bool>()) {
        let stored = profile(before);
        let (draft, wanted) = draft(&stored, said);
        let merged = updated(&stored, draft);
        let now = saved(&completed(&stored, &merged.customer));
        // The log has what was added as the shop stored it.
        let mut sent = merged.customer.clone();
        for (at, address) in sent["addresses"].as_array_mut().unwrap().iter_mut().enumerate() {
            if address.get("id").is_none() {
                address.clone_from(&address_list(&now)[at]);
            }
        }
        let undo = Undo {
            before: &stored,
            sent: &sent,
            rewritten: &[],
            all,
            lost_addresses: false,
            added_since: &[],
            delete_newer: newer,
            dialect: &MAGENTO,
        };
        let back = inverse(undo, &now).unwrap();
        prop_assert_eq!(&back.left, &Vec::<String>::new());
        let restored = merge(&now, &back.patch).unwrap();
        let is_left = wanted == before && (all && !newer || address_list(&now).len() == 3);
        prop_assert_eq!(restored.changes.is_empty(), is_left, "{:?}", restored.changes);
        let body = completed(&now, &restored.customer);
        prop_assert_eq!(&made_from(&now, &restored.changes), &body, "{:?}", restored.changes);
        prop_assert_eq!(defaults(&saved(&body)), before);
    }
}

#[test]
fn a_default_that_no_address_is_is_refused() {
    let stored = profile([Some(1), None]);
    let mut patch =
        ProfilePatch { draft: object(json!({"default_billing": "99"})), ..ProfilePatch::default() };
    let failure = patch.take_defaults(&stored).unwrap_err();
    assert!(failure.message.contains("no address 99"), "{}", failure.message);
    assert!(find_address(&stored, AddressId(99)).is_none());
}
