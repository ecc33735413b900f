use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    Before, Change, Created, Document, Effect, Kept, Kind, Owner, Seen, Sent, Side, Told, are_shown, composed,
};
use crate::profile::diff;
use crate::profile::equal::is_content;
use crate::profile::path::{FieldPath, List};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn owner() -> Owner {
    Owner::new(Kind::Customer, 7)
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["Bonn", "Lyon", "Oslo", "10119", "75002", "x"]).prop_map(str::to_owned)
}

/// An address without an id.
fn address() -> impl Strategy<Value = Map<String, Value>> {
    (word(), word(), word(), option::of(word())).prop_map(|(street, city, postcode, company)| {
        let mut address = object(&json!({"street": [street], "city": city, "postcode": postcode}));
        address.extend(company.map(|company| ("company".to_owned(), company.into())));
        address
    })
}

fn with_id(mut address: Map<String, Value>, id: i64) -> Value {
    address.insert("id".to_owned(), id.into());
    address.into()
}

/// A stored profile whose addresses have the ids 1, 2, ….
fn stored() -> impl Strategy<Value = Map<String, Value>> {
    (word(), vec(address(), 0..4)).prop_map(|(name, addresses)| {
        let addresses: Vec<Value> =
            addresses.into_iter().zip(1..).map(|(one, id)| with_id(one, id)).collect();
        object(&json!({"id": 7, "firstname": name, "addresses": addresses}))
    })
}

/// What is done with each stored address.
#[derive(Debug, Clone)]
enum Do {
    Keep,
    Remove,
    Set(Map<String, Value>),
}

fn edits() -> impl Strategy<Value = (Option<String>, Vec<Do>, Vec<Map<String, Value>>)> {
    let one = prop_oneof![Just(Do::Keep), Just(Do::Remove), address().prop_map(Do::Set)];
    (option::of(word()), vec(one, 4), vec(address(), 0..3))
}

fn edited(
    stored: &Map<String, Value>,
    (name, edits, added): (Option<String>, Vec<Do>, Vec<Map<String, Value>>),
) -> Map<String, Value> {
    let mut after = stored.clone();
    after.extend(name.map(|name| ("firstname".to_owned(), name.into())));
    let list = stored["addresses"].as_array().unwrap().iter().zip(edits);
    let staying = list.filter_map(|(address, edit)| match edit {
        Do::Keep => Some(address.clone()),
        Do::Remove => None,
        Do::Set(fields) => Some(with_id(fields, address["id"].as_i64().unwrap())),
    });
    let addresses: Value = staying.chain(added.into_iter().map(Value::Object)).collect();
    after.insert("addresses".to_owned(), addresses);
    after
}

/// What the service makes of a profile that was sent: new addresses get ids.
fn saved(sent: &Map<String, Value>, first: i64) -> Map<String, Value> {
    let mut now = sent.clone();
    let mut next = first;
    for address in now["addresses"].as_array_mut().unwrap() {
        if address.get("id").is_none() {
            address["id"] = next.into();
            next += 1;
        }
    }
    now
}

/// The profile with what stands in it apart from the ids of its addresses, in an order of its own.
fn contents(profile: &Map<String, Value>) -> (Value, Vec<String>) {
    let mut whole = profile.clone();
    let list = whole.shift_remove("addresses").unwrap();
    let text = |address: &Value| {
        let mut address = object(address);
        address.shift_remove("id");
        address.sort_keys();
        Value::Object(address).to_string()
    };
    let mut addresses: Vec<String> = list.as_array().unwrap().iter().map(text).collect();
    addresses.sort();
    (whole.into(), addresses)
}

proptest! {
    #[test]
    fn what_is_sent_is_made_of_a_read_and_the_effect_alone(before in stored(), edits in edits()) {
        let after = edited(&before, edits);
        let effect = Effect::of_profile(owner(), &before, &after);
        let sent = effect.applied_to(&before);
        let differences = diff::customers(&after, &sent);
        let are_new = |change: &diff::FieldChange| change.path.is_new_address();
        prop_assert!(differences.iter().all(are_new), "{differences:?}");
        prop_assert_eq!(contents(&sent), contents(&after));
    }

    #[test]
    fn a_read_shows_the_side_that_it_is_of(before in stored(), edits in edits()) {
        let after = edited(&before, edits);
        let mut effect = Effect::of_profile(owner(), &before, &after);
        prop_assume!(!effect.is_empty());
        let now = saved(&after, 100);
        let look = effect.look(&now);
        prop_assert_eq!(look.side(), Side::After, "{:?}", look);
        prop_assert!(look.lost.is_empty(), "{:?}", look);
        let earlier = effect.look(&before);
        prop_assert!(!earlier.shows_any(), "{:?}", earlier);
        effect.close(&now);
        prop_assert_eq!(effect.look(&now).side(), Side::After);
        prop_assert!(effect.creates.iter().all(|created| created.id.is_some_and(|id| id >= 100)));
    }

    #[test]
    fn applied_and_inverted_is_nothing(before in stored(), edits in edits()) {
        let after = edited(&before, edits);
        let mut effect = Effect::of_profile(owner(), &before, &after);
        let now = saved(&effect.applied_to(&before), 100);
        effect.close(&now);
        let inverse = effect.inverse(&now);
        // An address that was removed and has a twin is there all the same.
        let is_twin = |left: &super::Left| left.why == super::inverse::IS_THERE_AGAIN;
        prop_assume!(!inverse.left.iter().any(is_twin));
        prop_assert_eq!(&inverse.left, &[]);
        prop_assert_eq!(contents(&inverse.effect.applied_to(&now)), contents(&before));
        // And back again.
        let mut back = inverse.effect;
        let restored = saved(&back.applied_to(&now), 200);
        back.close(&restored);
        let again = back.inverse(&restored);
        prop_assume!(!again.left.iter().any(is_twin));
        prop_assert_eq!(contents(&again.effect.applied_to(&restored)), contents(&now));
    }

    #[test]
    fn several_effects_are_one(before in stored(), first in edits(), second in edits()) {
        let mut one = Effect::of_profile(owner(), &before, &edited(&before, first));
        let between = saved(&one.applied_to(&before), 100);
        one.close(&between);
        let mut other = Effect::of_profile(owner(), &between, &edited(&between, second));
        let after = saved(&other.applied_to(&between), 200);
        other.close(&after);
        let whole = composed(&[one, other]).unwrap();
        prop_assert_eq!(contents(&whole.applied_to(&before)), contents(&after), "{:?}", whole);
        prop_assert_ne!(whole.look(&after).side(), Side::Before);
    }

    #[test]
    fn it_is_read_as_it_was_written(before in stored(), edits in edits()) {
        let after = edited(&before, edits);
        let mut effect = Effect::of_profile(owner(), &before, &after);
        effect.close(&saved(&after, 100));
        let text = serde_json::to_string(&effect).unwrap();
        prop_assert_eq!(serde_json::from_str::<Effect>(&text).unwrap(), effect);
    }
}

fn set(path: FieldPath, before: Value, after: Value) -> Change {
    Change { path, before: Before::Read(Some(before)), sent: Sent::Value(Some(after)), seen: None }
}

#[test]
fn a_part_of_a_call_is_neither_before_nor_after() {
    let city = |id| List::Addresses.element(id).member("city");
    let effect = Effect {
        changes: vec![set(city(1), json!("Bonn"), json!("Oslo")), set(city(2), json!("Rome"), json!("Lyon"))],
        ..Effect::on(owner())
    };
    let read = |one: &str, other: &str| {
        object(&json!({"addresses": [{"id": 1, "city": one}, {"id": 2, "city": other}]}))
    };
    assert_eq!(effect.look(&read("Oslo", "Lyon")).side(), Side::After);
    assert_eq!(effect.look(&read("Bonn", "Rome")).side(), Side::Before);
    assert_eq!(effect.look(&read("Oslo", "Rome")).side(), Side::Other);
    let third = effect.look(&read("Oslo", "Nice"));
    assert_eq!((third.side(), third.third[0].now.clone()), (Side::Other, Some(json!("Nice"))));
    assert!(third.shows_any() && !third.is_proof());
}

#[test]
fn calls_are_shown_together_where_each_is_and_nothing_that_stays_is_lost() {
    let city = |id| List::Addresses.element(id).member("city");
    let gone = |id| Change {
        path: List::Addresses.element(id),
        before: Before::Read(Some(json!({"id": id, "city": "Rome"}))),
        sent: Sent::Value(None),
        seen: None,
    };
    let keep = |id| Kept { path: List::Addresses.element(id), content: json!({"id": id, "city": "Rome"}) };
    let call = |change, keeps| Effect { changes: vec![change], keeps, ..Effect::on(owner()) };
    // The second removes what the first one keeps.
    let calls = [
        call(set(city(1), json!("Bonn"), json!("Oslo")), vec![keep(2), keep(3)]),
        call(gone(2), vec![keep(3)]),
    ];
    let shown = |ids: &[i64]| {
        let list: Vec<Value> =
            ids.iter().map(|id| json!({"id": id, "city": if *id == 1 { "Oslo" } else { "Rome" }})).collect();
        are_shown(&calls, &object(&json!({"addresses": list})))
    };
    assert!(shown(&[1, 3]));
    assert!(!shown(&[1, 2, 3]), "the second one is not shown");
    assert!(!shown(&[1]), "address 3 was lost");
    assert!(!are_shown(&[], &Map::new()));
}

#[test]
fn a_value_that_was_not_read_proves_nothing_and_is_not_set_back() {
    let effect = Effect {
        changes: vec![Change {
            path: FieldPath::default().member("shipping_method"),
            before: Before::NotRead,
            sent: Sent::Value(Some(json!("flatrate_flatrate"))),
            seen: None,
        }],
        ..Effect::on(Owner::new(Kind::Cart, 4))
    };
    let now = object(&json!({"shipping_method": "flatrate_flatrate"}));
    let look = effect.look(&now);
    assert_eq!((look.side(), look.is_proof()), (Side::After, false));
    let inverse = effect.inverse(&now);
    assert!(inverse.effect.is_empty());
    assert_eq!(inverse.left[0].to_string(), "shipping_method was not read before it was changed");
}

#[test]
fn a_quantity_that_was_added_is_known_where_the_quantity_before_was() {
    let path = FieldPath::item(3).member("qty");
    let added = |before| Effect {
        changes: vec![Change { path: path.clone(), before, sent: Sent::Plus(json!(3)), seen: None }],
        ..Effect::on(Owner::new(Kind::Cart, 4))
    };
    let read = |qty: i64| object(&json!({"items": [{"item_id": 3, "sku": "mug", "qty": qty}]}));
    let mut known = added(Before::Read(Some(json!("2"))));
    assert_eq!(known.look(&read(5)).side(), Side::After);
    assert_eq!(known.look(&read(2)).side(), Side::Before);
    assert_eq!(known.look(&read(4)).side(), Side::Other);
    assert_eq!(added(Before::NotRead).look(&read(5)).side(), Side::Other);
    known.close(&read(5));
    assert_eq!(
        known.inverse(&read(5)).effect.applied_to(&read(5)),
        object(&json!({"items": [{"item_id": 3, "sku": "mug", "qty": "2"}]}))
    );
    assert_eq!(known.inverse(&read(6)).left[0].to_string(), "items[id=3].qty has changed since");
    assert_eq!(known.in_words(), ["items[id=3].qty: 2 + 3"]);
}

#[test]
fn of_two_equal_ones_the_first_has_the_lower_id() {
    let created = || Created {
        list: List::Addresses,
        content: json!({"city": "Oslo"}),
        known: vec![1],
        id: None,
        seen: None,
    };
    let mut effect = Effect { creates: vec![created(), created()], ..Effect::on(owner()) };
    let read = |ids: &[i64]| {
        let list: Vec<Value> = ids.iter().map(|id| json!({"id": id, "city": "Oslo"})).collect();
        object(&json!({"addresses": list}))
    };
    let half = effect.look(&read(&[1, 9]));
    assert_eq!((half.after, half.before, half.side()), (1, 1, Side::Other));
    effect.close(&read(&[9, 1, 8]));
    assert_eq!(effect.creates.iter().map(|one| one.id).collect::<Vec<_>>(), [Some(8), Some(9)]);
    // One that is removed and typed in again is another one.
    let typed = effect.inverse(&read(&[1, 9, 12]));
    assert_eq!(typed.effect.deletions(), 1);
    assert_eq!(typed.left, [], "the one that is gone is as it was");
}

#[test]
fn a_default_names_the_address_that_the_call_makes() {
    let default = FieldPath::default().member("default_billing");
    let mut effect = Effect {
        changes: vec![Change {
            path: default,
            before: Before::Read(Some(json!("1"))),
            sent: Sent::IdOf(0),
            seen: None,
        }],
        creates: vec![Created {
            list: List::Addresses,
            content: json!({"city": "Oslo"}),
            known: vec![1],
            id: None,
            seen: None,
        }],
        ..Effect::on(owner())
    };
    let read = |default: &str| {
        object(
            &json!({"default_billing": default, "addresses": [{"id": 1, "city": "Bonn"}, {"id": 8, "city": "Oslo"}]}),
        )
    };
    assert_eq!(effect.look(&read("8")).side(), Side::After);
    assert_eq!(effect.look(&read("1")).side(), Side::Other);
    assert_eq!(effect.in_words()[0], "default_billing: 1 → the new one");
    effect.close(&read("8"));
    let inverse = effect.inverse(&read("8"));
    assert_eq!((inverse.effect.changes.len(), inverse.left.len()), (2, 0));
    assert_eq!(inverse.effect.applied_to(&read("8"))["default_billing"], json!("1"));
}

#[test]
fn what_is_kept_is_part_of_every_look() {
    let before = object(&json!({"addresses": [
        {"id": 1, "street": ["a"], "city": "Bonn", "postcode": "1"},
        {"id": 2, "street": ["b"], "city": "Rome", "postcode": "2"}]}));
    let mut after = before.clone();
    after["addresses"].as_array_mut().unwrap().remove(0);
    let effect = Effect::of_profile(owner(), &before, &after);
    let mut lost = after.clone();
    lost["addresses"].as_array_mut().unwrap().clear();
    let look = effect.look(&lost);
    assert_eq!((look.side(), look.lost.len()), (Side::After, 1));
    assert_eq!(look.lost[0].to_string(), "addresses[id=2]");
    // The service gave it another id.
    let mut renumbered = after.clone();
    renumbered["addresses"][0]["id"] = json!(9);
    assert!(effect.look(&renumbered).lost.is_empty());
    // It is another address now.
    let mut moved = after;
    moved["addresses"][0] = json!({"id": 2, "street": ["x"], "city": "Y", "postcode": "9"});
    assert_eq!(effect.look(&moved).lost.len(), 1);
}

#[test]
fn an_address_goes_back_as_a_whole_or_not_at_all() {
    let before =
        object(&json!({"addresses": [{"id": 2, "city": "Paris", "postcode": "75001", "company": "A"}]}));
    let after =
        object(&json!({"addresses": [{"id": 2, "city": "Lyon", "postcode": "69001", "company": "B"}]}));
    let mut effect = Effect::of_profile(owner(), &before, &after);
    effect.close(&after);
    let mut now = after;
    now["addresses"][0]["city"] = json!("Dijon");
    let inverse = effect.inverse(&now);
    let places: Vec<String> = inverse.effect.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(places, ["addresses[id=2].company"]);
    assert_eq!(inverse.left.len(), 2);
}

#[test]
fn what_the_service_completed_is_known_as_ours() {
    let region = FieldPath::address(crate::id::AddressId(2)).member("region");
    let mut effect =
        Effect { changes: vec![set(region, json!("Bavaria"), json!("TX"))], ..Effect::on(owner()) };
    let now = object(&json!({"addresses": [{"id": 2, "region": "Texas"}]}));
    assert_eq!(effect.look(&now).side(), Side::Other);
    effect.close_by(&now, &effect.look(&now), Told::Shown);
    assert_eq!(effect.changes[0].seen, Some(Seen { value: Some(json!("Texas")) }));
    assert_eq!(effect.look(&now).side(), Side::After);
    assert!(effect.inverse(&now).left.is_empty());
}

/// A colleague was faster than the look: what stands there is not what the call left, and an undo leaves it.
#[test]
fn what_somebody_else_wrote_is_not_taken_for_ours() {
    let company = FieldPath::default().member("shipping_address").member("company");
    // Where nobody said that a profile was saved, the service has not rewritten anything, either; and a read after the answer
    // shows what others wrote, too.
    for (owner, told) in
        [(Owner::new(Kind::Order, 500), Told::Shown), (owner(), Told::Nothing), (owner(), Told::Accepted)]
    {
        let mut effect =
            Effect { changes: vec![set(company.clone(), json!("Co"), json!("Ours"))], ..Effect::on(owner) };
        let now = object(&json!({"shipping_address": {"company": "Foreign"}}));
        effect.close_by(&now, &effect.look(&now), told);
        assert_eq!(effect.changes[0].seen, None);
        let inverse = effect.inverse(&now);
        assert!(inverse.effect.changes.is_empty(), "{:?}", inverse.effect.changes);
        assert_eq!(inverse.left.len(), 1);
        let now = object(&json!({"shipping_address": {"company": "Ours"}}));
        effect.close_by(&now, &effect.look(&now), told);
        assert_eq!(effect.changes[0].seen, Some(Seen { value: Some(json!("Ours")) }));
    }
}

/// A colleague who typed in what was refused, with another number, has made another address.
#[test]
fn an_address_that_resembles_a_refused_one_is_not_ours() {
    let before = object(&json!({"addresses": []}));
    let sent = object(&json!({"addresses": [{"street": ["Main 1"], "city": "Reno", "telephone": "5"}]}));
    let there = json!({"id": 7, "street": ["Main 1"], "city": "Reno", "telephone": "6"});
    let now = object(&json!({ "addresses": [there] }));
    for (told, id) in [(Told::Accepted, Some(7)), (Told::Nothing, None)] {
        let mut effect = Effect::of_profile(owner(), &before, &sent);
        effect.close_by(&now, &effect.look(&now), told);
        assert_eq!(effect.creates[0].id, id);
    }
}

/// The shop fills in the texts of a region that was sent by its id, in an address that it has and in a new one.
#[test]
fn a_region_that_was_sent_by_its_id_is_recognized_with_its_texts() {
    let region = |texts: [Option<&str>; 2], id: u32| json!({"region_code": texts[0], "region": texts[1], "region_id": id});
    let address = |region: &Value| json!({"city": "A", "region": region, "region_id": region["region_id"]});
    let with = |id: u32, region: &Value| {
        let mut address = address(region);
        address["id"] = id.into();
        address
    };
    let before = object(&json!({"addresses": [with(2, &region([Some("NY"), Some("New York")], 43))]}));
    let open = region([None, None], 12);
    let sent = object(&json!({"addresses": [with(2, &open), address(&open)]}));
    let completed = region([Some("CA"), Some("California")], 12);
    let now = object(&json!({"addresses": [with(2, &completed), with(3, &completed)]}));
    let effect = Effect::of_profile(owner(), &before, &sent);
    assert!(effect.look(&now).is_proof(), "{:?}", effect.look(&now));
    let other = region([Some("TX"), Some("Texas")], 57);
    let now = object(&json!({"addresses": [with(2, &other), with(3, &completed)]}));
    assert_eq!(effect.look(&now).side(), Side::Other);
}

#[test]
fn a_place_is_found_in_the_list_of_its_owner() {
    let cart =
        object(&json!({"items": [{"item_id": "3", "qty": 2}], "options": [{"value": "17", "label": "Red"}]}));
    assert_eq!(Document(&cart).at(&FieldPath::item(3).member("qty")), Some(&json!(2)));
    assert_eq!(Document(&cart).at(&List::Options.element(17).member("label")), Some(&json!("Red")));
    assert_eq!(Document(&cart).at(&List::Options.element(3)), None);
    let mut changed = cart.clone();
    List::Options.element(17).member("label").set(&mut changed, Some(&json!("Rot")));
    List::Items.element(3).set(&mut changed, None);
    assert_eq!(changed, object(&json!({"items": [], "options": [{"value": "17", "label": "Rot"}]})));
    assert!(is_content(&changed["options"][0], Some(&json!({"label": "Rot"}))));
}

/// A city in capitals is the service's own way, also in an address that is new; an address that is gone was not looked at.
#[test]
fn what_the_service_made_of_a_change_is_told_apart_from_what_is_missing() {
    let before = object(&json!({"firstname": "Ann", "addresses": [
        {"id": 1, "city": "Oslo", "postcode": "1"}, {"id": 2, "city": "Rome", "postcode": "2"}]}));
    let sent = object(&json!({"firstname": "Eve", "addresses": [
        {"id": 1, "city": "Troy", "postcode": "3"}, {"id": 2, "city": "Bonn", "postcode": "2"},
        {"city": "Lyon", "postcode": "4"}]}));
    let mut effect = Effect::of_profile(owner(), &before, &sent);
    let now = object(&json!({"firstname": "Ann", "addresses": [
        {"id": 1, "city": "TROY NY", "postcode": "3"}, {"id": 9, "city": "LYON 1", "postcode": "4"}]}));
    effect.close_by(&now, &effect.look(&now), Told::Shown);
    let rewritten: Vec<Value> =
        effect.rewritten().into_iter().map(|change| serde_json::to_value(change).unwrap()).collect();
    assert_eq!(
        rewritten,
        [
            json!({"path": "addresses[id=1].city", "before": "Oslo", "after": "TROY NY"}),
            json!({"path": "addresses[new]", "before": null,
                "after": {"id": 9, "city": "LYON 1", "postcode": "4"}}),
        ]
    );
    assert_eq!(effect.creates[0].id, Some(9));
    let gone = effect.changes.iter().find(|change| change.path.element_id() == Some(2)).unwrap();
    assert_eq!(gone.seen, None);
}

/// A value that was cleared without a read: nobody knows that it changed nothing.
#[test]
fn what_was_not_read_before_stays_in_several_effects() {
    let change = Change {
        path: FieldPath::value_of("color"),
        before: Before::NotRead,
        sent: Sent::Value(None),
        seen: None,
    };
    let effect = Effect { changes: vec![change], ..Effect::on(Owner::new(Kind::Product, 1)) };
    let whole = composed(std::slice::from_ref(&effect)).unwrap();
    assert_eq!(whole, effect);
    assert_eq!(whole.inverse(&Map::new()).left.len(), 1);
}

/// The answer shows no profile: only a notation of what was sent is the service's own.
#[test]
fn what_cannot_be_made_of_what_was_sent_is_somebody_elses() {
    for (sent, now, is_ours) in [
        ("Ours", "Foreign", false),
        ("Paris", "PARIS", true),
        ("+49 30 1", "+49301", true),
        ("1.5", "15", false),
        ("", "Foreign", false),
    ] {
        let city = FieldPath::address(crate::id::AddressId(2)).member("city");
        let mut effect =
            Effect { changes: vec![set(city, json!("Reno"), json!(sent))], ..Effect::on(owner()) };
        let read = object(&json!({"addresses": [{"id": 2, "city": now}]}));
        effect.close_by(&read, &effect.look(&read), Told::Accepted);
        assert_eq!(effect.changes[0].seen.is_some(), is_ours, "{sent} {now}");
    }
}
