use serde_json::{Map, Value, json};

use super::{Change, Inverse, Undo, belongs_to, inverse};
use crate::id::AddressId;
use crate::interface::dialect::{MAGENTO, MARKETPLACE};
use crate::profile::merge::{Merged, merge};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The undo of an update that sent `sent` for `before`, as `change` sets it.
fn undo(now: &Value, before: &Value, sent: &Value, change: impl Fn(&mut Undo<'_>)) -> (Inverse, Merged) {
    let (now, before, sent) = (object(now.clone()), object(before.clone()), object(sent.clone()));
    let mut undo = Undo {
        before: &before,
        sent: &sent,
        rewritten: &[],
        all: false,
        lost_addresses: false,
        delete_newer: false,
        dialect: &MARKETPLACE,
    };
    change(&mut undo);
    let inverse = inverse(undo, &now).unwrap();
    let merged = merge(&now, &inverse.patch).unwrap();
    (inverse, merged)
}

fn customer((_, merged): &(Inverse, Merged)) -> Value {
    Value::Object(merged.customer.clone())
}

#[test]
fn only_what_the_update_changed_goes_back_where_it_still_stands() {
    let before =
        json!({"email": "a", "gender": 1, "addresses": [{"id": 1, "city": "Paris", "vat": 1}, {"id": 2}]});
    let sent =
        json!({"email": "b", "gender": 2, "addresses": [{"id": 1, "city": "Lyon", "vat": 1}, {"id": 2}]});
    let now = json!({"email": "b", "gender": 3, "addresses": [{"id": 1, "city": "Lyon", "vat": 9}, {"id": 2}, {"id": 9}]});
    let undone = undo(&now, &before, &sent, |_| ());
    assert_eq!(
        customer(&undone),
        json!({"email": "a", "gender": 3, "addresses": [{"id": 1, "city": "Paris", "vat": 9}, {"id": 2}, {"id": 9}]})
    );
    assert_eq!(undone.0.notes, ["gender has changed since; left as is"]);
    let whole = undo(&now, &before, &sent, |undo| undo.all = true);
    assert_eq!(
        customer(&whole),
        json!({"email": "a", "gender": 1, "addresses": [{"id": 1, "city": "Paris", "vat": 1}, {"id": 2}, {"id": 9}]})
    );
    let again = undo(&customer(&undone), &before, &sent, |_| ());
    assert!(again.1.changes.is_empty() && again.0.is_overwritten());
}

#[test]
fn a_deleted_address_comes_back_once() {
    let before = json!({"default_billing": "1", "addresses": [{"id": 1, "city": "Paris", "default_billing": true}, {"id": 2}]});
    let sent = json!({"addresses": [{"id": 2}]});
    let undone = undo(&sent, &before, &sent, |_| ());
    assert_eq!(
        customer(&undone)["addresses"],
        json!([{"id": 2}, {"city": "Paris", "default_billing": true}])
    );
    let now = json!({"addresses": [{"id": 2}, {"id": 7, "customer_id": 4, "city": "Paris", "default_billing": true}]});
    for all in [false, true] {
        let again = undo(&now, &before, &sent, |undo| undo.all = all);
        assert!(again.1.changes.is_empty(), "{:?}", again.1.changes);
        assert_eq!(again.0.notes, ["address 1 was already recreated as 7"]);
        assert!(again.0.newer.is_empty(), "it is not newer");
    }
}

#[test]
fn an_address_that_was_kept_and_lost_comes_back_after_a_mismatch_only() {
    let before = json!({"addresses": [{"id": 1, "city": "Paris"}, {"id": 2, "city": "Rome"}]});
    let sent = json!({"addresses": [{"id": 1, "city": "Paris"}, {"id": 2, "city": "Bonn"}]});
    let now = json!({"addresses": [{"id": 2, "city": "Bonn"}]});
    let lost = undo(&now, &before, &sent, |undo| undo.lost_addresses = true);
    assert_eq!(customer(&lost)["addresses"], json!([{"id": 2, "city": "Rome"}, {"city": "Paris"}]));
    let other = undo(&now, &before, &sent, |_| ());
    assert_eq!(customer(&other)["addresses"], json!([{"id": 2, "city": "Rome"}]));
    assert_eq!(other.0.notes, ["address 1 is no longer there; --all brings back all"]);
    let renumbered = json!({"addresses": [{"id": 5, "city": "Paris"}, {"id": 2, "city": "Bonn"}]});
    assert!(undo(&renumbered, &before, &sent, |_| ()).0.notes.is_empty(), "it has a new ID");
}

#[test]
fn an_added_field_is_kept_and_said_and_an_added_address_goes_only_when_asked() {
    let before = json!({"addresses": [{"id": 1}]});
    let sent = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"city": "Nice"}]});
    let now = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"id": 4, "city": "Nice"}, {"id": 5, "city": "Bonn"}]});
    for (all, newer) in [(false, vec![AddressId(4)]), (true, vec![AddressId(4), AddressId(5)])] {
        let kept = undo(&now, &before, &sent, |undo| undo.all = all);
        assert_eq!((&kept.1.changes[..], &kept.0.newer), (&[][..], &newer));
        assert_eq!(kept.0.notes[0], "vat was not there before, and an update cannot remove it; it is kept");
        let gone = undo(&now, &before, &sent, |undo| (undo.all, undo.delete_newer) = (all, true));
        assert_eq!(gone.1.summary.removed, newer);
    }
    let cleared = undo(&now, &before, &sent, |undo| undo.dialect = &MAGENTO);
    assert_eq!(customer(&cleared)["addresses"][0]["telephone"], Value::Null);
}

#[test]
fn custom_attributes_come_back_and_go_again() {
    let with = |attributes: Value| json!({"addresses": [{"id": 1, "custom_attributes": attributes}]});
    let door = json!({"attribute_code": "door_code", "value": "B1"});
    let other = json!({"attribute_code": "floor", "value": "3"});
    // The shop drops an attribute that is emptied.
    let (before, now) = (with(json!([door, other])), with(json!([other])));
    let sent = with(json!([{"attribute_code": "door_code", "value": ""}, other]));
    assert_eq!(customer(&undo(&now, &before, &sent, |_| ())), with(json!([other, door])));
    let none = json!({"addresses": [{"id": 1}]});
    let dropped = undo(
        &none,
        &with(json!([door])),
        &with(json!([{"attribute_code": "door_code", "value": ""}])),
        |_| (),
    );
    assert_eq!(customer(&dropped), with(json!([door])));
    // One that was added is emptied.
    let (before, sent) = (with(json!([other])), with(json!([other, door])));
    let emptied = json!({"attribute_code": "door_code", "value": ""});
    assert_eq!(customer(&undo(&sent, &before, &sent, |_| ())), with(json!([other, emptied])));
    let nothing = json!({"attribute_code": "door_code", "value": null});
    let cleared = undo(&sent, &before, &sent, |undo| undo.dialect = &MAGENTO);
    assert_eq!(customer(&cleared), with(json!([other, nothing])), "a number takes no text");
}

#[test]
fn what_the_service_rewrote_goes_back_and_so_do_blanks() {
    let [before, sent, now] = ["1990-01-01", "31.01.1991", "1991-01-31"]
        .map(|dob| json!({"dob": dob, "addresses": [{"id": 1, "city": "Reno"}]}));
    let kept = undo(&now, &before, &sent, |_| ());
    assert_eq!(
        (&kept.0.notes[..], kept.1.changes.len()),
        (&["dob has changed since; left as is".to_owned()][..], 0)
    );
    let rewritten =
        [Change::parse(&json!({"path": "dob", "before": "1990-01-01", "after": "1991-01-31"})).unwrap()];
    let (before, sent, now) = (object(before), object(sent), object(now));
    let of = |rewritten| Undo {
        before: &before,
        sent: &sent,
        rewritten,
        all: false,
        lost_addresses: false,
        delete_newer: false,
        dialect: &MAGENTO,
    };
    let inverse = inverse(of(&rewritten), &now).unwrap();
    assert_eq!(merge(&now, &inverse.patch).unwrap().customer["dob"], "1990-01-01");
    let city = |city: &str| json!({"addresses": [{"id": 1, "city": city}]});
    let blank = undo(&city("Reno "), &city("Reno"), &city("Reno "), |_| ());
    assert_eq!(customer(&blank), city("Reno"));
}

#[test]
fn a_region_goes_back_as_a_whole() {
    let with = |id: i64, code: &str| json!({"addresses": [{"id": 1, "region": {"region_code": code, "region": code, "region_id": id}, "region_id": id}]});
    let (before, sent) = (with(12, "CA"), with(43, "NY"));
    assert_eq!(customer(&undo(&sent, &before, &sent, |_| ())), before);
    let changed = undo(&with(57, "TX"), &before, &sent, |_| ());
    assert!(changed.1.changes.is_empty());
    assert_eq!(changed.0.notes, ["address 1 region has changed since; left as is"]);
    let none = json!({"addresses": [{"id": 1}]});
    let cleared = undo(&sent, &none, &sent, |_| ());
    assert_eq!(customer(&cleared)["addresses"][0]["region_id"], 0);
}

/// A profile with these addresses, one of them the default: flags that are not set are not there.
fn with_default(ids: &[i64], default: Option<i64>) -> Value {
    let address = |id: &i64| {
        let mut address = json!({"id": id, "city": format!("City {id}")});
        if default == Some(*id) {
            address["default_billing"] = true.into();
        }
        address
    };
    let mut profile = json!({"addresses": ids.iter().map(address).collect::<Vec<_>>()});
    if let Some(default) = default {
        profile["default_billing"] = default.to_string().into();
    }
    profile
}

fn default_of(profile: &Value) -> Vec<Value> {
    let flagged = profile["addresses"].as_array().unwrap().iter();
    flagged.filter(|one| one["default_billing"] == true).map(|one| one["city"].clone()).collect()
}

#[test]
fn a_default_goes_back_only_where_it_still_is_where_the_update_put_it() {
    let (before, sent) = (with_default(&[1, 2, 3], Some(1)), with_default(&[1, 2, 3], Some(2)));
    let undone = undo(&sent, &before, &sent, |_| ());
    assert_eq!((default_of(&customer(&undone)), undone.0.notes.len()), (vec![json!("City 1")], 0));
    assert_eq!(customer(&undone)["default_billing"], "1");
    let moved = undo(&with_default(&[1, 2, 3], Some(3)), &before, &sent, |_| ());
    assert_eq!(default_of(&customer(&moved)), [json!("City 3")]);
    assert_eq!(moved.0.notes, ["default_billing has changed since; left as is"]);
    let whole = undo(&with_default(&[1, 2, 3], Some(3)), &before, &sent, |undo| undo.all = true);
    assert_eq!(default_of(&customer(&whole)), [json!("City 1")]);
    // The default goes with its address, and comes back with it.
    let removed = with_default(&[2, 3], None);
    assert_eq!(default_of(&customer(&undo(&removed, &before, &removed, |_| ()))), [json!("City 1")]);
    let lost = undo(&removed, &before, &before, |undo| undo.lost_addresses = true);
    assert_eq!(default_of(&customer(&lost)), [json!("City 1")], "the service dropped it");
    let chosen = undo(&with_default(&[2, 3], Some(3)), &before, &removed, |_| ());
    assert_eq!(default_of(&customer(&chosen)), [json!("City 3")], "somebody chose another one");
}

#[test]
fn a_default_goes_back_from_an_address_that_the_update_added() {
    let before = with_default(&[1, 2], Some(1));
    let mut sent = with_default(&[1, 2], None);
    sent["addresses"].as_array_mut().unwrap().push(json!({"city": "City 9", "default_billing": true}));
    let now = with_default(&[1, 2, 9], Some(9));
    for delete in [false, true] {
        let undone = undo(&now, &before, &sent, |undo| undo.delete_newer = delete);
        assert_eq!(default_of(&customer(&undone)), [json!("City 1")]);
        assert_eq!(undone.1.summary.removed, if delete { vec![AddressId(9)] } else { vec![] });
    }
}

#[test]
fn a_snapshot_belongs_to_the_customer_with_its_id_else_its_email_or_an_address() {
    assert!(belongs_to(&object(json!({"id": "1"})), &object(json!({"id": 1}))));
    assert!(!belongs_to(&object(json!({"id": 1, "email": "a"})), &object(json!({"id": 2, "email": "a"}))));
    let address = || object(json!({"addresses": [{"id": 4}]}));
    assert!(belongs_to(&address(), &address()));
    assert!(!belongs_to(&object(json!({"email": "a"})), &object(json!({"email": "b"}))));
}
