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
    assert_eq!((merged.changes.len(), merged.notes.len()), (0, 2), "{:?}", merged.notes);
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
