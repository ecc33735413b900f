use serde_json::{Map, Value, json};

use super::{OwnCall, not_shown};
use crate::effect::{Before, Change, Effect, Kind, Owner, Sent};
use crate::id::AddressId;
use crate::outcome::Extent;
use crate::profile::path::FieldPath;

/// What leads from one state of a profile to another one.
fn between(before: &Value, after: &Value) -> Effect {
    Effect::of_profile(Owner::new(Kind::Customer, 7), &object(before), &object(after))
}

fn object(state: &Value) -> Map<String, Value> {
    state.as_object().unwrap().clone()
}

fn call(effect: &Effect, extent: Extent) -> OwnCall<'_> {
    OwnCall { effect, extent, was_seen: false }
}

/// What is not shown of calls, newest first, each from one state to the next.
fn missing(states: &[&Value], now: &Value) -> Vec<String> {
    let effects: Vec<Effect> = states.windows(2).map(|pair| between(pair[1], pair[0])).collect();
    let calls: Vec<OwnCall<'_>> = effects.iter().map(|effect| call(effect, Extent::Whole)).collect();
    not_shown(&calls, None, &object(now))
}

#[test]
fn a_read_that_lags_behind_lacks_what_our_writes_left() {
    let old = json!({"email": "a", "addresses": [{"id": 1, "city": "A"}, {"id": 2, "city": "B"}]});
    let new = json!({"email": "b", "addresses": [{"id": 2, "city": "B2"}, {"city": "C"}]});
    assert_eq!(
        missing(&[&new, &old], &old),
        [
            "email has its old value",
            "address 2 city has its old value",
            "address 1, which was removed, is still there",
            "the address that was added is missing"
        ]
    );
    let mut now = new.clone();
    now["addresses"][1]["id"] = json!(3);
    assert_eq!(missing(&[&new, &old], &now), [""; 0]);
    now["email"] = "by somebody else".into();
    assert_eq!(missing(&[&new, &old], &now), [""; 0], "a third value is newer");
}

#[test]
fn a_newer_write_overrides_an_older_one() {
    let (old, new) = (json!({"email": "a", "addresses": []}), json!({"email": "b", "addresses": []}));
    assert_eq!(missing(&[&old, &new, &old], &old), [""; 0]);
    assert_eq!(missing(&[&old, &new, &old], &new), ["email has its old value"]);
}

#[test]
fn a_write_that_was_applied_in_part_overrides_an_older_one_and_need_not_be_shown() {
    let [old, new] = ["a", "b"].map(|email| json!({"email": email, "addresses": []}));
    let not_shown = |calls: &[OwnCall<'_>], email: &str| {
        not_shown(calls, None, &object(&json!({"email": email, "addresses": []})))
    };
    let back = between(&old, &new);
    let there = between(&new, &old);
    let writes = [call(&back, Extent::Part), call(&there, Extent::Whole)];
    assert_eq!(not_shown(&writes[1..], "b"), ["email has its old value"]);
    assert_eq!(not_shown(&writes, "b"), [""; 0]);
    assert_eq!(not_shown(&writes, "a"), [""; 0]);
}

#[test]
fn a_write_that_was_applied_in_part_may_leave_what_was_there_before_it_and_nothing_older() {
    let [one, two, three] = ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}));
    let newer = between(&two, &three);
    let older = between(&one, &two);
    let writes = [call(&newer, Extent::Part), call(&older, Extent::Whole)];
    for (email, missing) in [("1", &["email has its old value"][..]), ("2", &[]), ("3", &[]), ("4", &[])] {
        let shown = object(&json!({"email": email, "addresses": []}));
        assert_eq!(not_shown(&writes, None, &shown), missing, "{email}");
    }
}

#[test]
fn an_unknown_write_was_applied_where_a_newer_one_has_found_it() {
    let [one, two, three] = ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}));
    let first = between(&one, &two);
    let second = between(&two, &three);
    let unknown = call(&first, Extent::Unknown);
    let shown = object(&json!({"email": "1", "addresses": []}));
    assert_eq!(not_shown(&[unknown], None, &shown), [""; 0]);
    let newer = call(&second, Extent::Whole);
    assert_eq!(not_shown(&[newer, unknown], None, &shown), ["email has its old value"]);
}

#[test]
fn the_value_before_the_older_of_two_writes_is_too_old_as_well() {
    let email = |email: &str| json!({"email": email, "addresses": []});
    let one = email("one");
    let two = email("two");
    let three = email("three");
    assert_eq!(missing(&[&three, &two, &one], &one), ["email has its old value"]);
    assert_eq!(missing(&[&three, &two, &one], &two), ["email has its old value"]);
    assert_eq!(missing(&[&three, &two, &one], &three), [""; 0]);
    assert_eq!(missing(&[&one, &two, &one, &two], &two), ["email has its old value"]);
    let cleared = json!({"email": null, "addresses": []});
    assert_eq!(missing(&[&cleared, &two, &one], &one), [""; 0], "the service may have filled it in");
}

/// A read of a moment ago has what a call of ours replaced or removed; what somebody else wrote since is none of that.
#[test]
fn a_read_that_is_older_than_our_own_calls_is_told_by_what_they_replaced() {
    let cart = Owner::new(Kind::Cart, 4);
    let qty = |before: i64, after: i64| Effect {
        changes: vec![Change {
            path: FieldPath::item(5).member("qty"),
            before: Before::Read(Some(before.into())),
            sent: Sent::Value(Some(after.into())),
            seen: None,
        }],
        ..Effect::on(cart.clone())
    };
    let removal = Effect {
        changes: vec![Change {
            path: FieldPath::item(6),
            before: Before::Read(Some(json!({"item_id": 6, "qty": 1}))),
            sent: Sent::Value(None),
            seen: None,
        }],
        ..Effect::on(cart.clone())
    };
    let not_shown = |effects: &[Effect], read: &Map<String, Value>| {
        let calls: Vec<OwnCall<'_>> = effects.iter().map(|effect| call(effect, Extent::Whole)).collect();
        not_shown(&calls, None, read)
    };
    let with = |quantity: i64| object(&json!({"items": [{"item_id": 5, "qty": quantity}]}));
    let both = object(&json!({"items": [{"item_id": 5, "qty": 5}, {"item_id": 6, "qty": 2}]}));
    assert_eq!(not_shown(&[qty(2, 5)], &with(2)).len(), 1);
    assert_eq!(not_shown(&[qty(5, 7), qty(2, 5)], &with(2)).len(), 1);
    assert_eq!(not_shown(&[qty(5, 7), qty(2, 5)], &with(5)).len(), 1);
    assert_eq!(not_shown(&[qty(2, 5)], &with(5)), Vec::<String>::new());
    assert_eq!(not_shown(&[qty(5, 2), qty(2, 5)], &with(2)), Vec::<String>::new(), "set back");
    assert_eq!(not_shown(&[qty(2, 5)], &with(9)), Vec::<String>::new(), "another's");
    assert_eq!(not_shown(&[qty(2, 5)], &object(&json!({"items": []}))), Vec::<String>::new());
    assert_eq!(not_shown(&[removal.clone(), qty(2, 5)], &both).len(), 1);
    assert_eq!(not_shown(&[removal], &with(5)), Vec::<String>::new());
}

#[test]
fn what_was_added_is_there_by_its_id_and_gone_where_a_newer_call_removed_it() {
    let new = json!({"addresses": [{"id": 1, "city": "Oslo"}]});
    let added = json!({"addresses": [{"id": 1, "city": "Oslo"}, {"city": "Rome"}]});
    let mut effect = between(&new, &added);
    let seen = json!({"addresses": [{"id": 1, "city": "Oslo"}, {"id": 2, "city": "Rome"}]});
    effect.close(&object(&seen));
    let rewritten = json!({"addresses": [{"id": 1, "city": "Oslo"}, {"id": 2, "city": "Roma"}]});
    let left = |read: &Value, calls: &[OwnCall<'_>]| not_shown(calls, None, &object(read));
    assert_eq!(left(&rewritten, &[call(&effect, Extent::Whole)]), [""; 0], "it is there by its id");
    assert_eq!(left(&new, &[call(&effect, Extent::Whole)]), ["address 2 is missing"]);
    let removal = between(&seen, &new);
    assert_eq!(left(&new, &[call(&removal, Extent::Whole), call(&effect, Extent::Whole)]), [""; 0]);
}

/// What was cleared is nothing on disk, as null is: a look that has shown it cleared tells it, and so does one that has shown that
/// the service keeps it.
#[test]
fn what_was_cleared_is_not_there_unless_the_service_keeps_it() {
    let with = |vat: Value| json!({"addresses": [{"id": 1, "vat_id": vat}]});
    let old = with("V12".into());
    let cleared = with(Value::Null);
    let on_disk = |effect: &Effect| -> Effect {
        serde_json::from_str(&serde_json::to_string(effect).unwrap()).unwrap()
    };
    let missing = |effect: &Effect| not_shown(&[call(effect, Extent::Whole)], None, &object(&old));
    let mut effect = between(&old, &cleared);
    assert_eq!(missing(&on_disk(&effect)), ["address 1 vat_id has its old value"]);
    effect.close(&object(&cleared));
    assert_eq!(missing(&on_disk(&effect)), ["address 1 vat_id has its old value"]);
    effect.close(&object(&old));
    assert_eq!(missing(&on_disk(&effect)), [""; 0]);
}

/// A look passes over what settings tell it to ignore: that it shows the old value says nothing.
#[test]
fn an_old_value_that_a_look_passed_over_is_not_what_a_call_left() {
    let [old, new] = ["a", "b"].map(|note| json!({"note": note, "addresses": []}));
    let mut effect = between(&old, &new);
    effect.close(&object(&old));
    let missing = not_shown(&[call(&effect, Extent::Whole)], None, &object(&old));
    assert_eq!(missing, ["note has its old value"]);
}

#[test]
fn an_address_that_was_to_be_removed_counts_as_removed_though_a_look_still_showed_it() {
    let (old, new) = (json!({"addresses": [{"id": 1}, {"id": 2}]}), json!({"addresses": [{"id": 2}]}));
    let mut effect = between(&old, &new);
    effect.close(&object(&old));
    assert_eq!(effect.removed_addresses().collect::<Vec<_>>(), [AddressId(1)]);
}

/// A replica that is behind may show, after a second write, what was there before the first one.
#[test]
fn a_look_that_was_older_than_the_calls_before_says_nothing_of_what_a_call_left() {
    let [one, two, three] = ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}));
    let first = between(&one, &two);
    let mut second = between(&two, &three);
    second.close(&object(&one));
    let calls = [call(&second, Extent::Whole), call(&first, Extent::Whole)];
    assert_eq!(not_shown(&calls, None, &object(&one)), ["email has its old value"]);
}
