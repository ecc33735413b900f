use serde_json::{Map, Value, json};

use super::{Extent, restore};
use crate::plan::profile::merge::Merged;
use crate::plan::profile::restore::belongs_to;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn put_back(now: &Value, before: &Value, sent: &Value, extent: Extent, delete: bool) -> Merged {
    restore(&object(now.clone()), &object(before.clone()), &object(sent.clone()), extent, delete, false)
        .unwrap()
}

#[test]
fn only_what_the_update_changed_goes_back_where_it_still_stands() {
    let before =
        json!({"email": "a", "gender": 1, "addresses": [{"id": 1, "city": "Paris", "vat": 1}, {"id": 2}]});
    let sent =
        json!({"email": "b", "gender": 2, "addresses": [{"id": 1, "city": "Lyon", "vat": 1}, {"id": 2}]});
    let now = json!({"email": "b", "gender": 3, "addresses": [{"id": 1, "city": "Lyon", "vat": 9}, {"id": 2}, {"id": 9}]});
    let merged = put_back(&now, &before, &sent, Extent::Update, false);
    assert_eq!(
        Value::Object(merged.customer),
        json!({"email": "a", "gender": 3, "addresses": [{"id": 1, "city": "Paris", "vat": 9}, {"id": 2}, {"id": 9}]})
    );
    assert_eq!(
        (merged.summary.changed.as_slice(), merged.summary.kept.as_slice()),
        ([1].as_slice(), [2, 9].as_slice())
    );
    assert_eq!(merged.notes, ["gender was changed again since, and is left as it is"]);
    let whole = put_back(&now, &before, &sent, Extent::All, false);
    assert_eq!(
        Value::Object(whole.customer),
        json!({"email": "a", "gender": 1, "addresses": [{"id": 1, "city": "Paris", "vat": 1}, {"id": 2}, {"id": 9}]})
    );
}

#[test]
fn a_deleted_address_comes_back_once_although_the_service_adds_fields() {
    let before = json!({"default_billing": "1", "addresses": [{"id": 1, "city": "Paris", "default_billing": true}, {"id": 2}]});
    let sent = json!({"addresses": [{"id": 2}]});
    let now = json!({"addresses": [{"id": 2}]});
    let merged = put_back(&now, &before, &sent, Extent::Update, false);
    assert_eq!(merged.customer["addresses"], json!([{"id": 2}, {"city": "Paris", "default_billing": true}]));
    assert_eq!((merged.summary.added, merged.customer.get("default_billing")), (1, None));
    let again =
        json!({"addresses": [{"id": 2}, {"id": 7, "customer_id": 4, "city": "Paris", "created": "x"}]});
    let merged = put_back(&again, &before, &sent, Extent::Update, false);
    // The default that its address had, and that no other has taken.
    assert_eq!((merged.changes.len(), merged.notes.len()), (2, 1), "{:?}", merged.notes);
    assert_eq!(merged.customer["addresses"][1]["default_billing"], true);
    let complete = object(Value::Object(merged.customer));
    let merged = put_back(&Value::Object(complete), &before, &sent, Extent::Update, false);
    assert_eq!((merged.changes.len(), merged.notes.len()), (0, 1), "{:?}", merged.notes);
}

#[test]
fn an_added_field_is_kept_and_said_and_an_added_address_goes_only_when_asked() {
    let before = json!({"addresses": [{"id": 1}]});
    let sent = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"city": "Nice"}]});
    let now = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"id": 4, "city": "Nice"}, {"id": 5, "city": "Bonn"}]});
    for extent in [Extent::Update, Extent::All] {
        let merged = put_back(&now, &before, &sent, extent, false);
        assert_eq!(merged.changes, [], "{extent:?}");
        assert!(
            merged.notes[0].starts_with("vat was added later and cannot be removed by an update"),
            "{:?}",
            merged.notes
        );
    }
    let merged = put_back(&now, &before, &sent, Extent::Update, true);
    assert_eq!(merged.summary.removed, [4], "only the one that update added");
    assert_eq!(put_back(&now, &before, &sent, Extent::All, true).summary.removed, [4, 5]);
}

#[test]
fn a_snapshot_of_another_customer_is_refused() {
    let other = object(json!({"id": 2, "addresses": []}));
    assert!(
        restore(&object(json!({"id": 1, "addresses": []})), &other, &other, Extent::All, false, false)
            .is_err()
    );
    assert!(belongs_to(&object(json!({"id": "1"})), &object(json!({"id": 1}))));
    assert!(!belongs_to(&object(json!({"id": 1, "email": "a"})), &object(json!({"id": 2, "email": "a"}))));
    assert!(belongs_to(
        &object(json!({"addresses": [{"id": 4}]})),
        &object(json!({"addresses": [{"id": 4}]}))
    ));
    assert!(!belongs_to(&object(json!({"email": "a"})), &object(json!({"email": "b"}))));
}

const NAME: &str = "default_billing";
/// The address that comes back has no id yet.
const NEW: i64 = -1;

/// A profile with these addresses, one of them the default, as services show it: a flag that is not set is not there.
fn with_default(ids: &[i64], default: Option<i64>) -> Value {
    let address = |id: &i64| {
        let mut address = json!({"id": id, "city": format!("City {id}")});
        if default == Some(*id) {
            address[NAME] = true.into();
        }
        address
    };
    let mut profile = json!({"addresses": ids.iter().map(address).collect::<Vec<_>>()});
    if let Some(default) = default {
        profile[NAME] = default.to_string().into();
    }
    profile
}

/// Where the default is by the flags, of which there must be one at most, and by the profile itself.
fn default_of(profile: &Map<String, Value>) -> Option<i64> {
    let addresses = profile["addresses"].as_array().unwrap().iter();
    let flagged: Vec<i64> =
        addresses.filter(|one| one[NAME] == true).map(|one| one["id"].as_i64().unwrap_or(NEW)).collect();
    assert!(flagged.len() <= 1, "{profile:?}");
    let own = profile.get(NAME).and_then(Value::as_str).and_then(|id| id.parse().ok());
    assert_eq!(own, flagged.first().copied().filter(|id| *id != NEW), "{profile:?}");
    flagged.first().copied()
}

#[test]
fn a_default_goes_back_only_where_it_still_is_where_the_update_put_it() {
    let places = [None, Some(1), Some(2), Some(3)];
    let cases = itertools(&[&places, &places, &[None, Some(1)], &[None, Some(1), Some(2), Some(3), Some(9)]]);
    let mut seen = [0; 3];
    for (case, can_clear) in cases.iter().flat_map(|case| [(case, false), (case, true)]) {
        let [was, put, removed, is] = case[..] else { unreachable!() };
        // No default is on an address that is gone.
        if removed.is_some() && (put == removed || is == removed) {
            continue;
        }
        let kept: Vec<i64> = [1, 2, 3].into_iter().filter(|id| Some(*id) != removed).collect();
        let before = with_default(&[1, 2, 3], was);
        let sent = with_default(&kept, put);
        let now = with_default(&[&kept[..], &[9]].concat(), is);
        let restored =
            restore(&object(now), &object(before), &object(sent), Extent::Update, false, can_clear);
        let merged = restored.unwrap();
        let is_taken = merged.notes.iter().any(|note| note.contains(NAME));
        let comes_back = removed.is_some() && was == removed;
        let (expected, is_noted) = match () {
            () if was == put => (is, false),
            () if comes_back && (is.is_none() || is == put) => (Some(NEW), !can_clear),
            // Where there was none, it is kept.
            () if was.is_none() && is == put => (is, true),
            () if is == put => (was, false),
            () => (is, is != was || comes_back),
        };
        let context = format!("{case:?} {can_clear}: {merged:?}");
        if expected == Some(NEW) && !can_clear {
            // The marketplace's own field names the address when it is known.
            assert_eq!(merged.customer.get(NAME), None, "{context}");
        }
        if was.is_none() && is == put && put.is_some() && !can_clear {
            continue;
        }
        assert_eq!((default_of(&merged.customer), is_taken), (expected, is_noted), "{context}");
        seen[usize::from(expected == Some(NEW)) + 2 * usize::from(expected == was && was != is)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn a_default_goes_back_from_an_address_that_the_update_added() {
    let before = with_default(&[1, 2], Some(1));
    let mut sent = with_default(&[1, 2], None);
    sent["addresses"].as_array_mut().unwrap().push(json!({"city": "City 9", "default_billing": true}));
    // A service sets its own field by the flag, or keeps the one that was left out.
    for own in ["9", "1"] {
        let mut now = with_default(&[1, 2, 9], Some(9));
        now[NAME] = own.into();
        for (can_clear, delete) in [(false, false), (true, false), (false, true), (true, true)] {
            let sent = object(sent.clone());
            let restored = restore(
                &object(now.clone()),
                &object(before.clone()),
                &sent,
                Extent::Update,
                delete,
                can_clear,
            );
            let merged = restored.unwrap();
            assert_eq!(default_of(&merged.customer), Some(1), "{own} {can_clear}: {merged:?}");
            assert_eq!(merged.summary.removed, if delete { vec![9] } else { vec![] });
        }
    }
}

/// Every combination of one of each.
fn itertools(choices: &[&[Option<i64>]]) -> Vec<Vec<Option<i64>>> {
    choices.iter().fold(vec![Vec::new()], |cases, choices| {
        let with = |case: Vec<Option<i64>>| {
            choices.iter().map(move |choice| case.iter().copied().chain([*choice]).collect())
        };
        cases.into_iter().flat_map(with).collect()
    })
}
