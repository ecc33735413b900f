//! The address merge: its laws on any stored profile and any wish.

use std::collections::HashSet;

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};
use crate::json;
use storefront::plan::profile::address_ids::id_of;
use storefront::plan::profile::diff::{self, Change};
use storefront::plan::profile::merge::{merge, Merged};
use storefront::plan::profile::patch::ProfilePatch;
use storefront::plan::profile::read_back::{Expectation, ReadBack};
use storefront::plan::profile::stored::{Pointers, Profile};


/// Names of the fields a profile has, and some that nobody documents.
pub const NAMES: [&str; 14] = [
    "id",
    "email",
    "addresses",
    "custom_attributes",
    "attribute_code",
    "value",
    "region",
    "region_id",
    "region_code",
    "country_id",
    "default_billing",
    "default_shipping",
    "city",
    "x_unlisted",
];

/// Lays a wish over a profile, both made of the bytes, and sees the laws kept.
pub fn hold(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (Ok(stored), Ok(wish)) = (customer(&mut bytes), wish(&mut bytes)) else { return };
    let empty = ProfilePatch::default();
    if let Ok(same) = merge(stored.clone(), &empty) {
        assert_eq!(text(&same.customer), text(&stored), "an empty wish changes nothing");
        assert!(same.changes.is_empty() && same.tally.kept == ids(&stored));
    }
    let Ok(merged) = merge(stored.clone(), &wish) else { return };
    sound_list(&stored, &wish, &merged);
    if !wish.replace {
        unnamed_stays(&stored, &wish, &merged);
        once_is_twice(&wish, &merged);
        // A list sent exactly as given tells only of the fields it names.
        told(&stored, &merged);
    }
    verified(&stored, &merged);
}

/// A stored customer: a list of addresses with ids more often than not.
pub fn customer(bytes: &mut Unstructured<'_>) -> Result<Map<String, Value>> {
    let mut customer = json::object(bytes, &NAMES)?;
    if !bytes.ratio(1, 16)? {
        customer.insert("addresses".to_owned(), addresses(bytes)?);
    }
    Ok(customer)
}

fn addresses(bytes: &mut Unstructured<'_>) -> Result<Value> {
    let count = bytes.int_in_range(0..=4)?;
    (0..count)
        .map(|position| {
            let mut address = json::object(bytes, &NAMES)?;
            match bytes.int_in_range(0..=7)? {
                0 => {}
                1 => drop(address.insert("id".to_owned(), (position + 1).to_string().into())),
                2 => drop(address.insert("id".to_owned(), bytes.int_in_range(0..=9)?.into())),
                _ => drop(address.insert("id".to_owned(), (position + 1).into())),
            }
            Ok(Value::Object(address))
        })
        .collect()
}

fn wish(bytes: &mut Unstructured<'_>) -> Result<ProfilePatch> {
    let mut draft = json::object(bytes, &NAMES)?;
    if bytes.arbitrary()? {
        draft.insert("addresses".to_owned(), addresses(bytes)?);
    }
    let removals = bytes.int_in_range(0..=2)?;
    let remove = (0..removals).map(|_| bytes.int_in_range(0..=5)).collect::<Result<_>>()?;
    Ok(ProfilePatch { draft, remove, replace: bytes.ratio(1, 8)?, allow_duplicate: true, ..ProfilePatch::default() })
}

/// Law 1 and 4: every stored id stays in stored order unless it was removed, and what is new comes last.
fn sound_list(stored: &Map<String, Value>, wish: &ProfilePatch, merged: &Merged) {
    let tally = &merged.tally;
    let mut all = [&tally.kept[..], &tally.changed, &tally.removed].concat();
    let mut before = ids(stored);
    (all.sort_unstable(), before.sort_unstable());
    assert_eq!(all, before, "each stored address is kept, changed or removed");
    let list = list(&merged.customer);
    assert_eq!(list.len(), tally.kept.len() + tally.changed.len() + tally.added);
    if !wish.replace {
        let expected: Vec<i64> = ids(stored).into_iter().filter(|id| !wish.remove.contains(id)).collect();
        assert_eq!(ids(&merged.customer), expected, "no id is lost, and their order stays");
        assert!(
            list[expected.len()..].iter().all(|address| address.get("id").is_none()),
            "new ones come last"
        );
    }
}

/// Law 2: what the draft does not name keeps its exact text.
fn unnamed_stays(stored: &Map<String, Value>, wish: &ProfilePatch, merged: &Merged) {
    let dead = |name: &str, value: &Value| {
        name.starts_with("default_") && id_of(value).is_some_and(|id| wish.remove.contains(&id))
    };
    for (name, value) in stored {
        if name != "addresses" && !wish.draft.contains_key(name) && !dead(name, value) {
            assert_eq!(merged.customer.get(name).map(Value::to_string), Some(value.to_string()), "{name}");
        }
    }
    for before in list(stored) {
        let id = before.get("id").and_then(id_of);
        let same = |address: &&Value| address.get("id").and_then(id_of) == id;
        let Some(after) = list(&merged.customer).iter().find(same) else { continue };
        let draft = list(&wish.draft).iter().find(same);
        let region = draft.is_some_and(|draft| draft.get("region").or(draft.get("region_id")).is_some());
        for (name, value) in before.as_object().into_iter().flatten() {
            let named = draft.is_some_and(|draft| draft.get(name).is_some());
            if name == "id" || !(named || (region && name.starts_with("region"))) {
                assert_eq!(after.get(name).map(Value::to_string), Some(value.to_string()), "{id:?} {name}");
            } else if name == "custom_attributes" {
                attributes_stay(value, draft.and_then(|draft| draft.get(name)), after.get(name));
            }
        }
    }
}

/// Attributes of a code the draft does not name stay as they were.
fn attributes_stay(before: &Value, draft: Option<&Value>, after: Option<&Value>) {
    let (Value::Array(before), Some(Value::Array(draft))) = (before, draft) else { return };
    let after = after.and_then(Value::as_array).expect("an array laid over an array is one");
    for attribute in before {
        let code = attribute.get("attribute_code");
        if code.is_none() || draft.iter().all(|named| named.get("attribute_code") != code) {
            assert!(after.contains(attribute), "{attribute} is gone");
        }
    }
}

/// Law 3: a wish that only changes gives the same applied to once or twice.
fn once_is_twice(wish: &ProfilePatch, merged: &Merged) {
    if merged.tally.added > 0 || !wish.remove.is_empty() {
        return;
    }
    let twice = merge(merged.customer.clone(), wish).expect("what was merged can be merged again");
    assert_eq!(text(&twice.customer), text(&merged.customer), "twice is once");
    assert!(twice.changes.is_empty(), "{:?}", twice.changes);
}

/// What differs is told, and nothing else is. The order of addresses, and of attributes with codes, is no difference.
pub fn told(stored: &Map<String, Value>, merged: &Merged) {
    let paths =
        |changes: &[Change]| changes.iter().map(|change| change.path.to_string()).collect::<HashSet<_>>();
    let mut differences = diff::customers(stored, &merged.customer);
    // A default that is left out with its address is a note, and no change.
    differences.retain(|change| change.after.is_some() || !change.path.to_string().starts_with("default_"));
    assert_eq!(paths(&differences), paths(&merged.changes));
    for change in &merged.changes {
        assert_ne!(change.before, change.after, "{}", change.path);
    }
}

/// The profile as a service would keep it passes; one that lacks an address, or every change, does not.
pub fn verified(stored: &Map<String, Value>, merged: &Merged) {
    let mut kept = merged.customer.clone();
    let mut next = ids(stored).into_iter().chain(ids(&kept)).max().unwrap_or(0).max(0);
    if next > i64::MAX / 2 {
        return; // No service gives such ids, and there is no room above them for new ones.
    }
    next += 1;
    for address in kept.get_mut("addresses").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(address) = address.as_object_mut().filter(|address| !address.contains_key("id")) {
            address.insert("id".to_owned(), json!(next));
            next += 1;
        }
    }
    let found = held(stored, merged, &kept);
    assert!(found.is_shown(), "{found:?}");
    if !merged.changes.is_empty() {
        // Changes that a service shows in its own way may all be there already; a new address is not.
        assert!(merged.tally.added == 0 || !held(stored, merged, stored).is_shown(), "nothing arrived");
    }
    if let Some(Value::Array(list)) = kept.get_mut("addresses")
        && let Some(lost) = list.first().and_then(|address| id_of(address.get("id")?))
        && ids(stored).contains(&lost)
    {
        list.remove(0);
        assert_eq!(held(stored, merged, &kept).missing, [lost]);
    }
}

fn held(before: &Map<String, Value>, merged: &Merged, now: &Map<String, Value>) -> ReadBack {
    let now =
        Profile::find(json!({"customer": now}), &Pointers::default()).expect("a profile that was merged");
    Expectation { before, merged, ignore: &[] }.compare(&now).expect("a list with ids of its own")
}

/// The addresses of a customer.
pub fn list(customer: &Map<String, Value>) -> &[Value] {
    customer.get("addresses").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Their ids, where they have one.
pub fn ids(customer: &Map<String, Value>) -> Vec<i64> {
    list(customer).iter().filter_map(|address| id_of(address.get("id")?)).collect()
}

/// Exact text.
pub fn text(customer: &Map<String, Value>) -> String {
    Value::Object(customer.clone()).to_string()
}
