//! Default addresses in the sandbox's Magento interface, row by row as it was measured.

use serde_json::{Value, json};

use crate::sandbox_magento_customers::{WAYS, defaults, own, put, read, without};
use crate::support::raw_http::{CUSTOMER, PROFILE, Sandbox, ids};

const INVALID_DEFAULT: &str = "The %fieldName value is invalid. Set the correct value and try again.";

/// The profile with neither flags nor top-level defaults.
fn without_defaults(profile: &Value) -> Value {
    let mut profile = without(profile, &["default_billing", "default_shipping"]);
    for address in profile["addresses"].as_array_mut().unwrap() {
        *address = without(address, &["default_billing", "default_shipping"]);
    }
    profile
}

#[test]
fn addresses_null_or_empty_text_lose_the_own_defaults() {
    for nothing in [Value::Null, json!("")] {
        for (way, kept) in [(WAYS[0], (None, None)), (WAYS[1], (Some("1"), Some("2")))] {
            let sandbox = Sandbox::new();
            assert_eq!(put(&sandbox, way, &own(json!({"addresses": nothing}))).status, 200);
            assert_eq!(
                (ids(&read(&sandbox)), defaults(&read(&sandbox))),
                (vec![1, 2, 3, 4], kept),
                "{nothing} {way:?}"
            );
        }
    }
}

#[test]
fn defaults_that_are_sent_neither_way_are_lost_by_me_only() {
    for (way, kept) in [(WAYS[0], (None, None)), (WAYS[1], (Some("1"), Some("2")))] {
        let sandbox = Sandbox::new();
        let sent = without_defaults(&read(&sandbox));
        assert_eq!(put(&sandbox, way, &sent).status, 200);
        assert_eq!((ids(&read(&sandbox)), defaults(&read(&sandbox))), (vec![1, 2, 3, 4], kept));
    }
}

#[test]
fn flags_alone_and_the_top_level_alone_keep_the_defaults() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let before = read(&sandbox);
        let mut top_level = without_defaults(&before);
        top_level["default_billing"] = json!("1");
        top_level["default_shipping"] = json!("2");
        for sent in [without(&before, &["default_billing", "default_shipping"]), top_level] {
            assert_eq!(put(&sandbox, way, &sent).status, 200);
            assert_eq!(defaults(&read(&sandbox)), (Some("1"), Some("2")));
        }
    }
}

#[test]
fn a_flag_wins_over_the_top_level_and_the_last_flag_over_others() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let mut sent = read(&sandbox);
        sent["addresses"][2]["default_billing"] = json!(true);
        assert_eq!(put(&sandbox, way, &sent).status, 200);
        assert_eq!(defaults(&read(&sandbox)), (Some("3"), Some("2")));
        assert_eq!(read(&sandbox)["addresses"][0].get("default_billing"), None);
        // The marketplace's side sees it too.
        let stored = sandbox.profile(CUSTOMER);
        assert_eq!(
            (&stored["default_billing"], &stored["addresses"][2]["default_billing"]),
            (&json!("3"), &json!(true))
        );
        // A top level that changes without addresses counts for nothing.
        assert_eq!(put(&sandbox, way, &own(json!({"default_billing": "4"}))).status, 200);
        assert_eq!(defaults(&read(&sandbox)), (Some("3"), Some("2")));
    }
    let sandbox = Sandbox::new();
    let mut sent = without(&read(&sandbox), &["default_billing"]);
    sent["addresses"][0]["default_billing"] = json!(false);
    assert_eq!(put(&sandbox, WAYS[1], &sent).status, 200);
    assert_eq!(defaults(&read(&sandbox)), (None, Some("2")), "a flag of false takes it back");
}

#[test]
fn a_default_that_is_not_the_customers_is_refused_as_in_2_4_7() {
    let invalid = |name: &str| json!({"fieldName": name});
    for way in WAYS {
        let sandbox = Sandbox::new();
        let foreign = own(json!({"default_shipping": "5", "addresses": [{"id": 2}]}));
        put(&sandbox, way, &foreign).refuses(400, INVALID_DEFAULT, invalid("default_shipping"));
        let unknown = own(json!({"default_billing": "999999"}));
        put(&sandbox, way, &unknown).refuses(400, INVALID_DEFAULT, invalid("default_billing"));
        assert_eq!(ids(&read(&sandbox)), [1, 2, 3, 4]);
        // Also one that is stored so, as the marketplace's interface lets it be.
        sandbox.call(CUSTOMER, "PUT", PROFILE, r#"{"customer":{"default_billing":"77"}}"#);
        let mut stored = read(&sandbox);
        assert_eq!(stored["default_billing"], "77");
        assert_eq!(put(&sandbox, way, &stored).status, 400);
        // An administrator's PUT takes what is not sent from what is stored.
        let unnamed = without(&stored, &["default_billing"]);
        assert_eq!(put(&sandbox, way, &unnamed).status, if way == WAYS[0] { 200 } else { 400 });
        stored["default_billing"] = Value::Null;
        assert_eq!(put(&sandbox, way, &stored).status, 200);
        // Where no address is stored, nothing is compared.
        assert_eq!(put(&sandbox, way, &own(json!({"addresses": []}))).status, 200);
        assert_eq!(put(&sandbox, way, &own(json!({"default_billing": "5"}))).status, 200);
    }
}

#[test]
fn null_clears_a_default_and_an_empty_text_stores_0() {
    for way in WAYS {
        for (cleared, stored) in [(Value::Null, None), (json!(""), Some("0")), (json!("0"), Some("0"))] {
            let sandbox = Sandbox::new();
            let mut sent = without_defaults(&read(&sandbox));
            sent["default_billing"] = cleared;
            sent["default_shipping"] = json!("2");
            assert_eq!(put(&sandbox, way, &sent).status, 200);
            assert_eq!(defaults(&read(&sandbox)), (stored, Some("2")));
        }
    }
}
