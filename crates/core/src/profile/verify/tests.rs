use serde_json::{Value, json};

use super::{Verification, lost_addresses, verify};
use crate::id::AddressId;
use crate::profile::diff::FieldChange;
use crate::profile::merge::merge;
use crate::profile::patch::ProfilePatch;
use crate::profile::stored::{Pointers, Profile};

fn read(stored: &Value, patch: &ProfilePatch, now: Value) -> Verification {
    let before = stored.as_object().unwrap();
    let merged = merge(before, patch).unwrap();
    verify(before, &merged.customer, &profile(now), &[], &["/updated_at".to_owned()]).unwrap()
}

fn profile(customer: Value) -> Profile {
    Profile::find(customer, &Pointers::default()).unwrap()
}

fn draft(draft: &Value) -> ProfilePatch {
    ProfilePatch { draft: draft.as_object().unwrap().clone(), ..ProfilePatch::default() }
}

fn paths(changes: &[FieldChange]) -> Vec<String> {
    changes.iter().map(|change| change.path.to_string()).collect()
}

#[test]
fn a_kept_address_that_is_gone_or_another_one_is_missing() {
    let address = |id: i64, city: &str| json!({"id": id, "street": [city], "city": city, "postcode": city});
    let stored = json!({"addresses": [address(1, "Rome"), address(2, "Paris"), address(3, "Bonn")]});
    let change = draft(&json!({"addresses": [{"id": 2, "city": "Lyon"}]}));
    let after = |one: Value| {
        let mut two = address(2, "Paris");
        two["city"] = "Lyon".into();
        let list = [one, two, address(3, "Bonn")].into_iter().filter(|address| !address.is_null());
        read(&stored, &change, json!({"addresses": list.collect::<Vec<Value>>()}))
    };
    assert!(after(address(1, "Rome")).is_shown());
    assert_eq!(after(Value::Null).missing, [AddressId(1)]);
    assert_eq!(after(json!({"id": 1, "street": [], "city": ""})).replaced, [AddressId(1)], "emptied");
    assert_eq!(after(address(1, "Bonn")).replaced, [AddressId(1)], "in another one's place");
    let mut edited = address(1, "Rome");
    edited["city"] = "Milan".into();
    let edited = after(edited);
    assert!(edited.is_shown(), "somebody's edit of another address is no loss");
    assert_eq!(paths(&edited.foreign), ["addresses[id=1].city"]);
}

#[test]
fn no_ignored_pointer_hides_an_address_that_was_lost_kept_or_not_added() {
    let stored = json!({"email": "a", "addresses": [{"id": 1, "city": "Rome"}, {"id": 2, "city": "Paris"}]});
    let mut patch = draft(&json!({"email": "b", "addresses": [{"city": "Bonn"}]}));
    patch.remove = vec![AddressId(2)];
    let merged = merge(stored.as_object().unwrap(), &patch).unwrap();
    let now = profile(json!({"email": "b", "addresses": [{"id": 2, "city": "Paris"}]}));
    for pointer in ["", "/addresses", "/addresses/0", "/addresses/0/city", "/addresses/1/id"] {
        let ignore = [pointer.to_owned()];
        let verification = verify(stored.as_object().unwrap(), &merged.customer, &now, &[], &ignore).unwrap();
        assert_eq!(verification.missing, [AddressId(1)], "{pointer}");
        assert_eq!(paths(&verification.undone), ["addresses[new]", "addresses[id=2]"], "{pointer}");
    }
}

#[test]
fn an_address_that_was_asked_to_move_and_did_not_is_undone_and_not_missing() {
    let stored = json!({"addresses": [{"id": 1, "street": ["a"], "city": "A", "postcode": "1"}]});
    let moved = json!({"addresses": [{"id": 1, "street": ["b"], "city": "B", "postcode": "2"}]});
    let verification = read(&stored, &draft(&moved), stored.clone());
    assert_eq!((verification.missing.len(), verification.undone.len()), (0, 3));
}

#[test]
fn addresses_under_new_ids_are_renumbered_and_not_missing() {
    let stored =
        json!({"addresses": [{"id": 1, "city": "Rome", "postcode": "1"}, {"id": 2, "city": "Bonn"}]});
    let change = draft(&json!({"addresses": [{"id": 2, "city": "Köln"}, {"city": "Nice"}]}));
    let now = json!({"addresses": [{"id": 11, "city": "Rome", "postcode": "1", "default_billing": true},
        {"id": 12, "city": "Köln"}, {"id": 13, "city": "Nice"}]});
    let verification = read(&stored, &change, now);
    assert!(verification.is_shown(), "{verification:?}");
    assert_eq!(
        (&verification.renumbered[..], &verification.new_ids[..]),
        (&[(AddressId(1), AddressId(11)), (AddressId(2), AddressId(12))][..], &[AddressId(13)][..])
    );
    let now = json!({"addresses": [{"id": 11, "city": "Rome", "postcode": "9"}, {"id": 2, "city": "Köln"},
        {"id": 13, "city": "Nice"}]});
    assert_eq!(read(&stored, &change, now).missing, [AddressId(1)], "another content is another address");
}

#[test]
fn old_new_and_third_values_are_told_apart() {
    let stored =
        json!({"email": "a", "gender": 1, "addresses": [{"id": 2, "city": "Paris", "postcode": "1"}]});
    let change = draft(
        &json!({"email": "b", "gender": 2, "addresses": [{"id": 2, "city": "Lyon ", "postcode": "2"}]}),
    );
    let now =
        json!({"email": "a", "gender": "2", "addresses": [{"id": 2, "city": "Lyon", "postcode": "02"}]});
    let found = read(&stored, &change, now);
    assert_eq!(paths(&found.undone), ["email"]);
    assert_eq!(paths(&found.altered), ["addresses[id=2].postcode"]);
    assert!(!found.is_applied());
    assert_eq!(read(&stored, &change, stored.clone()).undone.len(), 4);
}

#[test]
fn only_an_address_that_is_new_and_equal_proves_that_ours_was_added() {
    let stored = json!({"addresses": [{"id": 1, "city": "Nice"}]});
    let add = draft(&json!({"addresses": [{"city": "Nice", "street": ["5 Quai"], "postcode": "06000"}]}));
    let with =
        |address: Value| read(&stored, &add, json!({"addresses": [{"id": 1, "city": "Nice"}, address]}));
    let ours =
        with(json!({"id": 8, "customer_id": 1, "city": "Nice ", "street": ["5 Quai"], "postcode": "06000"}));
    assert_eq!((ours.is_shown(), ours.new_ids.as_slice()), (true, [AddressId(8)].as_slice()));
    let rewritten = with(json!({"id": 8, "city": "NICE", "street": ["5, quai"], "postcode": "06000"}));
    assert!(rewritten.is_applied() && !rewritten.is_shown());
    assert!(ours.shows_sent && !rewritten.shows_sent);
    let foreign = with(json!({"id": 8, "city": "Cannes", "street": ["1 Rue"], "postcode": "06100"}));
    assert_eq!((foreign.undone.len(), foreign.altered.len(), foreign.new_ids.len()), (1, 0, 0));
    assert_eq!(read(&stored, &add, stored.clone()).undone.len(), 1);
}

#[test]
fn an_address_that_was_removed_and_is_shown_again_is_not_the_one_that_was_recreated() {
    let stored = json!({"addresses": []});
    let merged =
        merge(stored.as_object().unwrap(), &draft(&json!({"addresses": [{"city": "Nice"}]}))).unwrap();
    let seen = |id: i64| {
        let now = profile(json!({"addresses": [{"id": id, "city": "Nice"}]}));
        verify(stored.as_object().unwrap(), &merged.customer, &now, &[AddressId(8)], &[]).unwrap()
    };
    assert_eq!((seen(8).is_shown(), seen(9).is_shown()), (false, true));
}

#[test]
fn two_equal_new_addresses_need_two() {
    let stored = json!({"addresses": []});
    let add = draft(&json!({"addresses": [{"city": "Nice"}, {"city": "Nice"}]}));
    let one = read(&stored, &add, json!({"addresses": [{"id": 8, "city": "Nice"}]}));
    assert_eq!((one.new_ids.len(), one.undone.len()), (1, 1));
    let two =
        read(&stored, &add, json!({"addresses": [{"id": 8, "city": "Nice"}, {"id": 9, "city": "Nice"}]}));
    assert!(two.is_shown());
}

#[test]
fn a_removed_address_that_is_still_there_is_undone_and_a_kept_default_is_not() {
    let stored = json!({"default_billing": "1", "addresses": [{"id": 1}, {"id": 2}]});
    let removal = ProfilePatch { remove: vec![AddressId(1)], ..ProfilePatch::default() };
    assert_eq!(paths(&read(&stored, &removal, stored.clone()).undone), ["addresses[id=1]"]);
    let merged = read(&stored, &removal, json!({"default_billing": "1", "addresses": [{"id": 2}]}));
    assert!(merged.is_shown(), "a service that merges keeps what was left out");
}

#[test]
fn an_address_that_was_seen_is_there_by_its_id_or_its_content_unless_it_was_removed() {
    let seen = |ids: &[i64]| -> Vec<Value> {
        ids.iter().map(|id| json!({"id": id, "city": format!("City {id}")})).collect()
    };
    let now = |ids: &[i64]| json!({"addresses": seen(ids)});
    let missing = |earlier: &[Value], now: Value| {
        let earlier = json!({"addresses": earlier});
        lost_addresses(earlier.as_object().unwrap(), &[AddressId(9)], &profile(now)).unwrap()
    };
    assert_eq!(missing(&seen(&[1, 2, 9]), now(&[2])), ["address 1 is missing"]);
    let renumbered = json!({"addresses": [{"id": 21, "city": "City 1"}, {"id": 22, "city": "City 2"}]});
    assert_eq!(missing(&seen(&[1, 2]), renumbered), [""; 0]);
    let twins = vec![json!({"id": 1, "city": "A"}), json!({"id": 2, "city": "A"})];
    assert_eq!(missing(&twins, json!({"addresses": [twins[1]]})), ["address 1 is missing"]);
}

#[test]
fn renumbered_addresses_are_found_in_any_order_and_notation() {
    let one = json!({"street": ["Main 1 "], "city": "Ulm", "postcode": 1.5, "fax": null});
    let two = json!({"street": ["Main 2"], "city": "", "postcode": "00501"});
    let nowhere = json!({"telephone": "3"});
    let with_ids = |list: [(i64, &Value); 3]| -> Vec<Value> {
        let with_id = |(id, address): (i64, &Value)| {
            let mut address = address.clone();
            address["id"] = json!(id);
            address
        };
        list.into_iter().map(with_id).collect()
    };
    let stored = json!({"email": "a", "addresses": with_ids([(1, &one), (2, &two), (3, &nowhere)])});
    let other_one = json!({"street": ["Main 1"], "city": " Ulm", "postcode": "1.5"});
    let other_two = json!({"street": ["Main 2"], "postcode": "00501", "company": ""});
    let list = with_ids([(13, &nowhere), (12, &other_two), (11, &other_one)]);
    let now = json!({"email": "b", "addresses": list});
    let verification = read(&stored, &draft(&json!({"email": "b"})), now.clone());
    assert_eq!(
        (&verification.missing[..], &verification.renumbered[..]),
        (
            &[][..],
            &[(AddressId(1), AddressId(11)), (AddressId(2), AddressId(12)), (AddressId(3), AddressId(13))][..]
        )
    );
    assert_eq!(lost_addresses(stored.as_object().unwrap(), &[], &profile(now)).unwrap(), [""; 0]);
}

#[test]
fn an_address_that_is_gone_does_not_tell_that_its_change_was_saved() {
    let stored = json!({"addresses": [{"id": 1, "city": "Rome"}, {"id": 2}]});
    let verification = read(
        &stored,
        &draft(&json!({"addresses": [{"id": 1, "city": "Nice"}]})),
        json!({"addresses": [{"id": 2}]}),
    );
    assert_eq!((&verification.missing[..], verification.tells_apart()), (&[AddressId(1)][..], false));
}
