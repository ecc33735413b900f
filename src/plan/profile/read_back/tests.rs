use serde_json::{Value, json};

use super::{Expectation, ReadBack};
use crate::plan::profile::diff::Change;
use crate::plan::profile::merge::merge;
use crate::plan::profile::patch::ProfilePatch;
use crate::plan::profile::stored::{Pointers, Profile};

fn read(stored: &Value, wish: &ProfilePatch, now: Value) -> ReadBack {
    let before = stored.as_object().unwrap();
    let merged = merge(before.clone(), wish).unwrap();
    let now = Profile::find(now, &Pointers::default()).unwrap();
    let ignore = ["/updated_at".to_owned()];
    Expectation { before, merged: &merged, ignore: &ignore }.compare(&now).unwrap()
}

fn draft(draft: &Value) -> ProfilePatch {
    ProfilePatch { draft: draft.as_object().unwrap().clone(), ..ProfilePatch::default() }
}

fn paths(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.path.to_string()).collect()
}

#[test]
fn a_kept_address_that_is_gone_emptied_or_swapped_is_reported() {
    let stored = json!({"addresses": [
        {"id": 1, "customer_id": 7, "city": "Rome", "street": ["a"]}, {"id": 2, "city": "Paris"}, {"id": 3, "city": "Bonn"}]});
    let change = draft(&json!({"addresses": [{"id": 2, "city": "Lyon"}]}));
    let after = |one: Value, three: Value| {
        let list: Vec<Value> = [one, json!({"id": 2, "city": "Lyon"}), three]
            .into_iter()
            .filter(|address| !address.is_null())
            .collect();
        read(&stored, &change, json!({"addresses": list}))
    };
    let one = || json!({"id": 1, "customer_id": 7, "city": "Rome", "street": ["a"]});
    let three = || json!({"id": 3, "city": "Bonn"});
    assert!(after(one(), three()).is_shown());
    assert_eq!(after(Value::Null, three()).missing, [1]);
    let emptied = after(json!({"id": 1, "customer_id": 7, "city": "", "street": [], "x": null}), three());
    assert_eq!((emptied.emptied.as_slice(), emptied.is_shown()), ([1].as_slice(), false));
    let swapped = after(
        json!({"id": 1, "customer_id": 7, "city": "Bonn"}),
        json!({"id": 3, "city": "Rome", "street": ["a"]}),
    );
    assert_eq!(swapped.swapped, [1, 3]);
    let edited = after(json!({"id": 1, "customer_id": 7, "city": "Milan", "street": ["a"]}), three());
    assert!(edited.is_shown(), "somebody's edit of another address is no loss");
    assert_eq!(paths(&edited.unrelated_changes), ["addresses[id=1].city"]);
}

#[test]
fn a_kept_address_whose_empty_region_is_written_in_another_way_is_not_swapped() {
    let stored = json!({"addresses": [{"id": 1, "city": "A"}, {"id": 2, "city": "A", "region_id": null},
        {"id": 3, "city": "A", "region_id": 0}]});
    let now = json!({"addresses": [{"id": 1, "city": "A"}, {"id": 2, "city": "A", "region_id": 0},
        {"id": 3, "city": "A", "region_id": 0}]});
    let found = read(&stored, &draft(&json!({"email": "b"})), now);
    assert_eq!(found.swapped, [] as [i64; 0]);
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
    assert_eq!((found.arrived, found.is_shown_with_other_values()), (2, false));
    assert_eq!(read(&stored, &change, stored.clone()).arrived, 0);
}

#[test]
fn only_an_address_that_is_new_and_equal_proves_that_ours_was_added() {
    let stored = json!({"addresses": [{"id": 1, "city": "Nice"}]});
    let add = draft(&json!({"addresses": [{"city": "Nice", "street": ["5 Quai"], "postcode": "06000"}]}));
    let with =
        |address: Value| read(&stored, &add, json!({"addresses": [{"id": 1, "city": "Nice"}, address]}));
    let ours =
        with(json!({"id": 8, "customer_id": 1, "city": "Nice ", "street": ["5 Quai"], "postcode": "06000"}));
    assert_eq!((ours.is_shown(), ours.new_ids.as_slice()), (true, [8].as_slice()));
    let rewritten = with(json!({"id": 8, "city": "NICE", "street": ["5, quai"], "postcode": "06000"}));
    assert!(rewritten.is_shown_with_other_values() && !rewritten.is_shown());
    let foreign = with(json!({"id": 8, "city": "Nice", "street": ["1 Rue"], "postcode": "06100"}));
    assert_eq!((foreign.undone.len(), foreign.altered.len(), foreign.new_ids.len()), (1, 0, 0));
    assert_eq!(read(&stored, &add, stored.clone()).undone.len(), 1);
}

#[test]
fn two_equal_new_addresses_need_two() {
    let stored = json!({"addresses": []});
    let add = draft(&json!({"addresses": [{"city": "Nice"}, {"city": "Nice"}]}));
    let one = read(&stored, &add, json!({"addresses": [{"id": 8, "city": "Nice"}]}));
    assert_eq!((one.arrived, one.undone.len()), (1, 1));
    let two =
        read(&stored, &add, json!({"addresses": [{"id": 8, "city": "Nice"}, {"id": 9, "city": "Nice"}]}));
    assert!(two.is_shown());
}

#[test]
fn a_removed_address_that_is_still_there_is_undone_and_a_kept_default_is_not() {
    let stored = json!({"default_billing": "1", "addresses": [{"id": 1}, {"id": 2}]});
    let removal = ProfilePatch { remove: vec![1], ..ProfilePatch::default() };
    assert_eq!(paths(&read(&stored, &removal, stored.clone()).undone), ["addresses[id=1]"]);
    let merged = read(&stored, &removal, json!({"default_billing": "1", "addresses": [{"id": 2}]}));
    assert!(merged.is_shown(), "a service that merges keeps what was left out");
}
