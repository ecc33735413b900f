use serde_json::{Map, Value, json};

use super::{OwnCall, not_shown};
use crate::effect::{Before, Change, Effect, Kind, Owner, Sent};
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
    let (back, there) = (between(&old, &new), between(&new, &old));
    let writes = [call(&back, Extent::Part), call(&there, Extent::Whole)];
    assert_eq!(not_shown(&writes[1..], "b"), ["email has its old value"]);
    assert_eq!(not_shown(&writes, "b"), [""; 0]);
    assert_eq!(not_shown(&writes, "a"), [""; 0]);
}

#[test]
fn a_write_that_was_applied_in_part_may_leave_what_was_there_before_it_and_nothing_older() {
    let [one, two, three] = ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}));
    let (newer, older) = (between(&two, &three), between(&one, &two));
    let writes = [call(&newer, Extent::Part), call(&older, Extent::Whole)];
    for (email, missing) in [("1", &["email has its old value"][..]), ("2", &[]), ("3", &[]), ("4", &[])] {
        let shown = object(&json!({"email": email, "addresses": []}));
        assert_eq!(not_shown(&writes, None, &shown), missing, "{email}");
    }
}

#[test]
fn an_unknown_write_was_applied_where_a_newer_one_has_found_it() {
    let [one, two, three] = ["1", "2", "3"].map(|email| json!({"email": email, "addresses": []}));
    let (first, second) = (between(&one, &two), between(&two, &three));
    let unknown = call(&first, Extent::Unknown);
    let shown = object(&json!({"email": "1", "addresses": []}));
    assert_eq!(not_shown(&[unknown], None, &shown), [""; 0]);
    let newer = call(&second, Extent::Whole);
    assert_eq!(not_shown(&[newer, unknown], None, &shown), ["email has its old value"]);
}

#[test]
fn the_value_before_the_older_of_two_writes_is_too_old_as_well() {
    let email = |email: &str| json!({"email": email, "addresses": []});
    let (one, two, three) = (email("one"), email("two"), email("three"));
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

/// A look has shown what the service made of a value: that is there, and not what was sent.
#[test]
fn what_a_look_has_shown_is_what_a_call_left() {
    let [old, new] = ["OSLO", "Oslo"].map(|city| json!({"addresses": [{"id": 1, "city": city}]}));
    let mut effect = between(&old, &new);
    assert_eq!(
        not_shown(&[call(&effect, Extent::Whole)], None, &object(&old)),
        [""; 0],
        "it may write it so"
    );
    effect.close(&object(&new));
    let missing = not_shown(&[call(&effect, Extent::Whole)], None, &object(&old));
    assert_eq!(missing, ["address 1 city has its old value"]);
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
