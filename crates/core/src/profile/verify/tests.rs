use serde_json::{Value, json};

use super::{Extent, Verification, Write, not_shown, verify};
use crate::id::AddressId;
use crate::profile::diff::Change;
use crate::profile::merge::ProfilePatch;
use crate::profile::merge::merge;
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

fn paths(changes: &[Change]) -> Vec<String> {
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

/// What is not shown of writes, newest first, each from one state to the next; `seen` are the addresses of the last read.
fn missing(states: &[&Value], seen: &[Value], now: Value) -> Vec<String> {
    let object = |state: &Value| state.as_object().unwrap().clone();
    let states: Vec<_> = states.iter().map(|state| object(state)).collect();
    let accepted = json!({"addresses": seen});
    let writes: Vec<Write<'_>> = states
        .windows(2)
        .map(|pair| Write { before: &pair[1], sent: &pair[0], was_seen: false, extent: Extent::Whole })
        .collect();
    not_shown(&writes, accepted.as_object(), &[AddressId(9)], &profile(now)).unwrap()
}

#[test]
fn a_read_that_lags_behind_lacks_what_our_writes_left() {
    let old = json!({"email": "a", "addresses": [{"id": 1, "city": "A"}, {"id": 2, "city": "B"}]});
    let new = json!({"email": "b", "addresses": [{"id": 2, "city": "B2"}, {"city": "C"}]});
    assert_eq!(
        missing(&[&new, &old], &[], old.clone()),
        [
            "email has its old value",
            "addresses[id=2].city has its old value",
            "the address that was added is missing",
            "address 1, which was removed, is still there"
        ]
    );
    let mut now = new.clone();
    now["addresses"][1]["id"] = json!(3);
    assert_eq!(missing(&[&new, &old], &[], now.clone()), [""; 0]);
    now["email"] = "by somebody else".into();
    assert_eq!(missing(&[&new, &old], &[], now), [""; 0], "a third value is newer");
}

#[test]
fn a_newer_write_overrides_an_older_one() {
    let (old, new) = (json!({"email": "a", "addresses": []}), json!({"email": "b", "addresses": []}));
    assert_eq!(missing(&[&old, &new, &old], &[], old.clone()), [""; 0]);
    assert_eq!(missing(&[&old, &new, &old], &[], new.clone()), ["email has its old value"]);
}

#[test]
fn a_write_that_was_applied_in_part_overrides_an_older_one_and_need_not_be_shown() {
    let [old, new] =
        ["a", "b"].map(|email| json!({"email": email, "addresses": []}).as_object().unwrap().clone());
    let write = |before, sent, extent| Write { before, sent, was_seen: false, extent };
    let not_shown = |writes: &[Write<'_>], email: &str| {
        not_shown(writes, None, &[], &profile(json!({"email": email, "addresses": []}))).unwrap()
    };
    let writes = [write(&old, &new, Extent::Part), write(&new, &old, Extent::Whole)];
    assert_eq!(not_shown(&writes[1..], "b"), ["email has its old value"]);
    assert_eq!(not_shown(&writes, "b"), [""; 0]);
    assert_eq!(not_shown(&writes, "a"), [""; 0]);
}

#[test]
fn a_write_that_was_applied_in_part_may_leave_what_was_there_before_it_and_nothing_older() {
    let [one, two, three] =
        ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}).as_object().unwrap().clone());
    let write = |before, sent, extent| Write { before, sent, was_seen: false, extent };
    let writes = [write(&two, &three, Extent::Part), write(&one, &two, Extent::Whole)];
    for (email, missing) in [("1", &["email has its old value"][..]), ("2", &[]), ("3", &[]), ("4", &[])] {
        let shown = profile(json!({"email": email, "addresses": []}));
        assert_eq!(not_shown(&writes, None, &[], &shown).unwrap(), missing, "{email}");
    }
}

#[test]
fn an_unknown_write_was_applied_where_a_newer_one_has_found_it() {
    let [one, two, three] =
        ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}).as_object().unwrap().clone());
    let write = |before, sent, extent| Write { before, sent, was_seen: false, extent };
    let unknown = write(&one, &two, Extent::Unknown);
    let shown = profile(json!({"email": "1", "addresses": []}));
    assert_eq!(not_shown(&[unknown], None, &[], &shown).unwrap(), [""; 0]);
    let newer = write(&two, &three, Extent::Whole);
    assert_eq!(not_shown(&[newer, unknown], None, &[], &shown).unwrap(), ["email has its old value"]);
}

#[test]
fn the_value_before_the_older_of_two_writes_is_too_old_as_well() {
    let email = |email: &str| json!({"email": email, "addresses": []});
    let (one, two, three) = (email("one"), email("two"), email("three"));
    assert_eq!(missing(&[&three, &two, &one], &[], one.clone()), ["email has its old value"]);
    assert_eq!(missing(&[&three, &two, &one], &[], two.clone()), ["email has its old value"]);
    assert_eq!(missing(&[&three, &two, &one], &[], three.clone()), [""; 0]);
    assert_eq!(missing(&[&one, &two, &one, &two], &[], two.clone()), ["email has its old value"]);
    let cleared = json!({"email": null, "addresses": []});
    assert_eq!(
        missing(&[&cleared, &two, &one], &[], one.clone()),
        [""; 0],
        "the service may have filled it in"
    );
}

#[test]
fn an_address_that_was_seen_is_there_by_its_id_or_its_content_unless_it_was_removed() {
    let seen = |ids: &[i64]| -> Vec<Value> {
        ids.iter().map(|id| json!({"id": id, "city": format!("City {id}")})).collect()
    };
    let now = |ids: &[i64]| json!({"addresses": seen(ids)});
    assert_eq!(missing(&[], &seen(&[1, 2, 9]), now(&[2])), ["address 1 is missing"]);
    let renumbered = json!({"addresses": [{"id": 21, "city": "City 1"}, {"id": 22, "city": "City 2"}]});
    assert_eq!(missing(&[], &seen(&[1, 2]), renumbered), [""; 0]);
    let twins = vec![json!({"id": 1, "city": "A"}), json!({"id": 2, "city": "A"})];
    assert_eq!(missing(&[], &twins, json!({"addresses": [twins[1]]})), ["address 1 is missing"]);
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
    assert_eq!(not_shown(&[], stored.as_object(), &[], &profile(now)).unwrap(), [""; 0]);
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
