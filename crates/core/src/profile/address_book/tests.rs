use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Finding, Kind, Shop, Twins, check, removal, twins};
use crate::id::AddressId;
use crate::interface::dialect::{MAGENTO, MARKETPLACE};
use crate::profile::address::own_id;
use crate::profile::region::RegionDirectory;
use crate::profile::stored::{Pointers, Profile};

fn customer(addresses: Value) -> Map<String, Value> {
    let customer = json!({"id": 7, "email": "a@example.com", "default_billing": "1", "addresses": addresses});
    customer.as_object().unwrap().clone()
}

fn address(id: i64) -> Value {
    json!({"id": id, "customer_id": 7, "firstname": "Zoë", "lastname": "Straße", "street": ["12 rue de la Paix"],
        "city": "Paris", "postcode": "75002", "country_id": "FR", "telephone": "5550100", "region_id": 0})
}

fn with(id: i64, changes: &Value) -> Value {
    let mut address = address(id);
    for (name, value) in changes.as_object().unwrap() {
        address[name] = value.clone();
    }
    address
}

fn ids(ids: &[i64]) -> Vec<AddressId> {
    ids.iter().copied().map(AddressId).collect()
}

fn directory() -> RegionDirectory {
    let mut directory = RegionDirectory::default();
    let region = |id: &str, code: &str, name: &str| json!({"id": id, "code": code, "name": name});
    directory.insert("FR", &json!({"available_regions": [region("182", "75", "Paris")]}));
    directory.insert("US", &json!({"available_regions": [region("57", "TX", "Texas")]}));
    directory.insert("GB", &json!({}));
    directory
}

fn found_in(customer: &Map<String, Value>) -> Vec<Finding> {
    let unknown = HashSet::from(["AQ".to_owned()]);
    let shop = Shop { dialect: &MAGENTO, regions: &directory(), unknown: &unknown };
    check(customer, &twins(customer), &shop)
}

fn messages(addresses: Value) -> Vec<String> {
    found_in(&customer(addresses)).into_iter().map(|finding| finding.message).collect()
}

#[test]
fn addresses_that_a_person_cannot_tell_apart_look_equal() {
    for (one, other) in [
        (json!({"city": "PARIS"}), json!({"city": " Paris\u{a0}"})),
        (json!({"city": "París"}), json!({"city": "Pari\u{301}s"})),
        (json!({"lastname": "STRASSE"}), json!({"lastname": "Straße"})),
        (json!({"firstname": "Zoe"}), json!({"firstname": "Zoë\u{200b}"})),
        (json!({"street": ["12 rue", "de la Paix"]}), json!({"street": ["12  rue de la Paix", ""]})),
        (json!({"company": null}), json!({"company": ""})),
        (json!({"region_id": "0"}), json!({"region": {"region": null, "region_code": null, "region_id": 0}})),
        (
            json!({"region": {"region": "Texas", "region_id": 57}}),
            json!({"region": {"region": "texas", "region_id": 0}}),
        ),
        (
            json!({"custom_attributes": [{"attribute_code": "gln", "value": ""}]}),
            json!({"custom_attributes": []}),
        ),
        (json!({"postcode": 75002}), json!({})),
        (json!({"default_shipping": true}), json!({"default_shipping": false})),
    ] {
        let said = messages(json!([with(1, &one), with(3, &other)]));
        assert!(
            said.first().is_some_and(|it| it.starts_with("addresses 1 and 3 ")),
            "{one} {other}: {said:?}"
        );
    }
}

#[test]
fn addresses_that_differ_do_not_look_equal() {
    for other in [
        json!({"street": ["12 St. Paul"]}),
        json!({"telephone": "5550101"}),
        json!({"postcode": "7 5002"}),
        json!({"street": ["1 2 rue de la Paix"]}),
        // The marks of other scripts are not accents.
        json!({"city": "パリ"}),
        json!({"company": "ACME"}),
        json!({"custom_attributes": [{"attribute_code": "gln", "value": "1"}]}),
        json!({"extension_attributes": {"door": "2"}}),
        json!({"region": {"region": "Texas", "region_id": 57}}),
        json!({"vat_id": "FR1"}),
    ] {
        let said = messages(json!([address(1), with(3, &other)]));
        assert!(!said.iter().any(|it| it.contains("equal")), "{other}: {said:?}");
    }
    let said = messages(json!([with(1, &json!({"city": "ハリ"})), with(3, &json!({"city": "パリ"}))]));
    assert!(!said.iter().any(|it| it.contains("equal")), "{said:?}");
    let said = messages(json!([
        with(1, &json!({"street": ["1 Main St."]})),
        with(3, &json!({"street": ["1 Main Street"]}))
    ]));
    assert!(!said.iter().any(|it| it.contains("equal")), "{said:?}");
}

#[test]
fn only_what_is_equal_to_the_letter_is_removed_and_the_message_says_so() {
    let three = json!([address(4), with(3, &json!({"city": "PARIS"})), address(2)]);
    let stored = customer(three.clone());
    assert_eq!(twins(&stored), [Twins { keep: ids(&[2]), remove: ids(&[4]) }]);
    assert_eq!(messages(three)[0], "addresses 4, 3 and 2 look equal; 4 and 2 are equal in every field");
    for other in [
        json!({"custom_attributes": [{"attribute_code": "gln", "value": ""}]}),
        json!({"extension_attributes": {"door": "2"}}),
        json!({"telephone": 5_550_100}),
        json!({"fax": null}),
        json!({"city": "Paris "}),
        json!({"customer_id": 8}),
    ] {
        assert_eq!(twins(&customer(json!([address(2), with(3, &other)]))), [], "{other}");
    }
    for none in [
        json!({"region_id": "0"}),
        json!({"region_id": null, "region": null}),
        json!({"region": {"region": null, "region_code": "", "region_id": 0}}),
    ] {
        assert_eq!(twins(&customer(json!([address(2), with(3, &none)]))).len(), 1, "{none}");
    }
    for region in
        [json!({"region_id": 57}), json!({"region": {"region": "Texas"}}), json!({"region": {"door": 0}})]
    {
        assert_eq!(twins(&customer(json!([address(2), with(3, &region)]))), [], "{region}");
    }
    // Masks may hide what differs.
    let masked = json!({"street": ["1*** Paix"]});
    assert_eq!(twins(&customer(json!([with(2, &masked), with(3, &masked)]))), []);
    // Ids do not tell these apart.
    assert_eq!(twins(&customer(json!([address(2), address(2), address(3)]))), []);
    assert_eq!(twins(&customer(json!([address(2), {"city": "Paris"}, address(3)]))), []);
}

#[test]
fn a_default_is_kept_and_two_defaults_are_both_kept() {
    assert_eq!(
        twins(&customer(json!([address(3), address(2), address(1)]))),
        [Twins { keep: ids(&[1]), remove: ids(&[3, 2]) }],
        "by the field of the customer"
    );
    let shipping = json!({"default_shipping": true});
    let flagged = customer(json!([address(2), with(4, &shipping), address(3)]));
    assert_eq!(twins(&flagged), [Twins { keep: ids(&[4]), remove: ids(&[2, 3]) }], "by the flag");
    let both = json!([address(1), with(2, &shipping), address(3)]);
    assert_eq!(twins(&customer(both.clone())), [Twins { keep: ids(&[1, 2]), remove: ids(&[3]) }]);
    assert_eq!(
        messages(both)[0],
        "addresses 1, 2 and 3 are equal in every field; 1 and 2 are defaults and would be kept"
    );
}

#[test]
fn what_blocks_updates_and_what_is_missing_is_told_of_each_address() {
    let kinds = |changes: Value| {
        let stored = customer(json!([with(1, &changes)]));
        found_in(&stored).into_iter().map(|it| (it.kind, it.field.unwrap_or_default())).collect::<Vec<_>>()
    };
    for (changes, expected) in [
        (json!({}), &[][..]),
        (json!({"city": "St. Louis"}), &[(Kind::Locked, "city")]),
        (json!({"telephone": "555.0100"}), &[(Kind::Locked, "telephone")]),
        (json!({"street": ["a", "b", "c"]}), &[(Kind::Locked, "street")]),
        (json!({"telephone": ""}), &[(Kind::Missing, "telephone")]),
        (json!({"street": [" "]}), &[(Kind::Missing, "street")]),
        (json!({"country_id": ""}), &[(Kind::Missing, "country_id")]),
        (json!({"postcode": null}), &[(Kind::Missing, "postcode")]),
        (json!({"postcode": null, "country_id": "IE"}), &[]),
        (json!({"country_id": "fr"}), &[(Kind::Country, "country_id")]),
        (json!({"country_id": "Narnia"}), &[(Kind::Country, "country_id")]),
        (json!({"country_id": "AQ"}), &[(Kind::Country, "country_id")]),
        (json!({"region_id": 57}), &[(Kind::Region, "region")]),
        (
            json!({"region": {"region": "Texas", "region_code": "TX", "region_id": 57}}),
            &[(Kind::Region, "region")],
        ),
        (json!({"region": {"region": "Texas"}}), &[(Kind::Region, "region")]),
        (json!({"region": {"region": "paris"}}), &[]),
        (json!({"region_id": "182"}), &[]),
        (json!({"country_id": "GB", "region": {"region": "Kent"}}), &[]),
        (json!({"country_id": "GB", "region_id": 57}), &[(Kind::Region, "region")]),
        // Its regions were not read.
        (json!({"country_id": "DE", "region_id": 57}), &[]),
    ] {
        assert_eq!(kinds(changes.clone()), expected, "{changes}");
    }
    let bare = customer(json!([{"id": 1, "country_id": "XX"}]));
    let regions = RegionDirectory::default();
    let unknown = HashSet::new();
    let marketplace = Shop { dialect: &MARKETPLACE, regions: &regions, unknown: &unknown };
    let found = check(&bare, &[], &marketplace);
    assert_eq!(
        found.iter().map(|it| it.kind).collect::<Vec<_>>(),
        [Kind::Country],
        "it shows no required fields"
    );
}

#[test]
fn a_default_that_is_gone_is_told() {
    let mut stored = customer(json!([address(2)]));
    let said = |stored: &Map<String, Value>| {
        found_in(stored).into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    assert_eq!(said(&stored), ["default_billing is address 1, which the customer does not have"]);
    for none in [json!(null), json!("0"), json!(""), json!("2")] {
        stored.insert("default_billing".to_owned(), none.clone());
        assert_eq!(said(&stored), Vec::<String>::new(), "{none}");
    }
}

fn planned(stored: &Map<String, Value>) -> crate::profile::diff::Expected {
    let reply = Value::Object(stored.clone());
    let profile = Profile::find(reply, &Pointers::default()).unwrap();
    removal(&profile, &twins(stored)).unwrap()
}

/// Whatever somebody changes between the plan and its application that could make the removed address the last of its kind.
#[test]
fn a_removal_requires_what_it_keeps_and_both_defaults() {
    let stored = customer(json!([address(1), address(3), address(5)]));
    let plan = planned(&stored);
    assert_eq!(plan.removed().collect::<Vec<_>>(), ids(&[3, 5]));
    assert!(plan.ensure_required(&stored).is_ok());
    let edited = |edit: &dyn Fn(&mut Map<String, Value>)| {
        let mut stored = stored.clone();
        edit(&mut stored);
        plan.ensure_required(&stored).map_err(|failure| failure.message)
    };
    assert_eq!(
        edited(&|it| it["addresses"][0]["city"] = "Lyon".into()).unwrap_err(),
        "`addresses[id=1].city` is `\"Lyon\"`, and was `\"Paris\"` when it was planned"
    );
    let gone = edited(&|it| drop(it["addresses"].as_array_mut().unwrap().remove(0)));
    assert!(
        gone.unwrap_err().starts_with("`addresses[id=1]` is nothing, and was `{"),
        "the kept one is gone"
    );
    for (name, value) in [("default_billing", json!("3")), ("default_shipping", json!("5"))] {
        let moved = edited(&|it| drop(it.insert(name.to_owned(), value.clone())));
        assert!(moved.unwrap_err().contains(name), "{name}");
    }
    assert!(edited(&|it| it["email"] = "b@example.com".into()).is_ok(), "other fields may change");
    assert!(edited(&|it| it["addresses"].as_array_mut().unwrap().push(address(9))).is_ok());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Few values, so that there are twins, and addresses that only look equal.
    fn one() -> impl Strategy<Value = Value> {
        let city = prop::sample::select(vec!["Paris", "PARIS", "París", "Lyon", "Ly***on"]);
        let flag = prop::sample::select(vec![json!(null), json!(true), json!(false), json!("1"), json!(0)]);
        (city, flag.clone(), flag).prop_map(|(city, billing, shipping)| {
            with(0, &json!({"city": city, "default_billing": billing, "default_shipping": shipping}))
        })
    }

    fn books() -> impl Strategy<Value = Map<String, Value>> {
        let default = prop::option::of(0..12i64);
        let numbers: Vec<i64> = (1..12).collect();
        let ids = prop::sample::subsequence(numbers, 0..=9).prop_shuffle();
        (ids, prop::collection::vec(one(), 9), default.clone(), default).prop_map(
            |(ids, ones, billing, shipping)| {
                let addresses: Value = ids
                    .iter()
                    .zip(ones)
                    .map(|(id, mut one)| {
                        one["id"] = (*id).into();
                        one
                    })
                    .collect();
                let mut customer = customer(addresses);
                customer.insert("default_billing".to_owned(), json!(billing.map(|id| id.to_string())));
                customer.insert("default_shipping".to_owned(), json!(shipping));
                customer
            },
        )
    }

    fn content(address: &Value) -> Value {
        let mut address = address.as_object().unwrap().clone();
        address.retain(|name, _| super::super::is_content(name));
        Value::Object(address)
    }

    fn addresses(customer: &Map<String, Value>) -> Vec<Value> {
        customer["addresses"].as_array().unwrap().clone()
    }

    fn without(customer: &Map<String, Value>, removed: &[AddressId]) -> Map<String, Value> {
        let mut customer = customer.clone();
        let left: Vec<Value> = addresses(&customer)
            .into_iter()
            .filter(|address| !removed.contains(&own_id(address).unwrap()))
            .collect();
        customer.insert("addresses".to_owned(), left.into());
        customer
    }

    fn removed(customer: &Map<String, Value>) -> Vec<AddressId> {
        twins(customer).into_iter().flat_map(|twins| twins.remove).collect()
    }

    /// Findings whose order and ids do not depend on that of the list.
    fn in_order(customer: &Map<String, Value>) -> HashSet<(Kind, Vec<AddressId>, Option<&'static str>)> {
        let key = |mut it: Finding| {
            it.addresses.sort();
            (it.kind, it.addresses, it.field)
        };
        found_in(customer).into_iter().map(key).collect()
    }

    proptest! {
        #[test]
        fn no_address_is_the_last_of_its_content_when_it_is_removed(book in books()) {
            let left = without(&book, &removed(&book));
            for address in addresses(&book) {
                let has_same = addresses(&left).iter().any(|other| content(other) == content(&address));
                prop_assert!(has_same, "{}", address);
            }
        }

        #[test]
        fn no_default_is_removed(book in books()) {
            for address in addresses(&book) {
                let id = own_id(&address).unwrap();
                let is_default = ["default_billing", "default_shipping"].into_iter().any(|name| {
                    let flag = &address[name];
                    book[name].as_str() == Some(&id.to_string())
                        || book[name].as_i64() == Some(id.0)
                        || *flag == json!(true)
                        || *flag == json!("1")
                });
                prop_assert!(!(is_default && removed(&book).contains(&id)), "{}", address);
            }
        }

        #[test]
        fn a_second_removal_has_nothing_left(book in books()) {
            prop_assert_eq!(removed(&without(&book, &removed(&book))), []);
        }

        #[test]
        fn the_order_of_the_list_changes_nothing(book in books(), seed in any::<u64>()) {
            let mut shuffled = addresses(&book);
            shuffled.sort_by_key(|address| own_id(address).unwrap().0.wrapping_mul(i64::from_ne_bytes((seed | 1).to_ne_bytes())));
            let mut other = book.clone();
            other.insert("addresses".to_owned(), shuffled.into());
            prop_assert_eq!(in_order(&book), in_order(&other));
            let sorted = |mut ids: Vec<AddressId>| { ids.sort(); ids };
            prop_assert_eq!(sorted(removed(&book)), sorted(removed(&other)));
        }

        #[test]
        fn twins_are_told_and_look_equal(book in books()) {
            let found = found_in(&book);
            for twins in twins(&book) {
                let all: Vec<AddressId> = twins.keep.iter().chain(&twins.remove).copied().collect();
                let is_it = |it: &Finding| it.kind == Kind::Equal && all.iter().all(|id| it.addresses.contains(id));
                prop_assert_eq!(found.iter().filter(|it| is_it(it)).count(), 1);
            }
        }
    }
}
