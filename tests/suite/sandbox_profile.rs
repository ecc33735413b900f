//! Rules of the customer profile over raw HTTP.

use serde_json::{Value, json};

use crate::support::raw_http::{CUSTOMER, PROFILE, Sandbox, ids};

const SECOND: &str = "sandbox-customer-2";

/// The service deletes addresses that are not sent, without a warning.
#[test]
fn a_naive_put_with_one_address_deletes_all_others() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.address_ids(CUSTOMER), [1, 2, 3, 4]);
    let naive = json!({"addresses": [{"id": 2, "postcode": "10119"}]});
    assert_eq!(sandbox.put_profile(CUSTOMER, &naive).status, 200);
    assert_eq!(sandbox.address_ids(CUSTOMER), [2]);
    assert_eq!(sandbox.profile(CUSTOMER)["addresses"][0]["postcode"], "10119");
}

#[test]
fn the_profile_is_read_in_its_envelope() {
    let sandbox = Sandbox::new();
    let answer = sandbox.get(CUSTOMER, PROFILE);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    let customer = &answer.json()["customer"];
    assert_eq!(customer["id"], 1);
    assert_eq!(customer["addresses"][0]["customer_id"], 1);
    assert_eq!(customer["addresses"][2]["city"], "بيروت");
}

#[test]
fn an_address_with_an_id_is_changed_and_keeps_what_is_not_sent() {
    let sandbox = Sandbox::new();
    let mut expected = sandbox.profile(CUSTOMER)["addresses"].clone();
    expected[0]["city"] = json!("Lyon");
    let list = json!([{"id": 1, "city": "Lyon"}, {"id": 2}, {"id": 3}, {"id": 4}]);
    let answer = sandbox.put_profile(CUSTOMER, &json!({"addresses": list}));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["addresses"], expected);
    assert_eq!(sandbox.profile(CUSTOMER)["addresses"], expected);
}

#[test]
fn the_order_sent_is_the_order_kept() {
    let sandbox = Sandbox::new();
    let list = json!([{"id": 4}, {"id": 1}, {"id": 3}, {"id": 2}]);
    sandbox.put_profile(CUSTOMER, &json!({"addresses": list}));
    assert_eq!(sandbox.address_ids(CUSTOMER), [4, 1, 3, 2]);
}

#[test]
fn an_address_without_an_id_is_created_under_one_never_used() {
    let sandbox = Sandbox::new();
    let seeded = 12;
    let add = json!({"addresses": [{"id": 1}, {"city": "Oran", "customer_id": 99}]});
    let answer = sandbox.put_profile(CUSTOMER, &add);
    assert_eq!(ids(&answer.json()), [1, seeded + 1]);
    assert_eq!(answer.json()["addresses"][1], json!({"id": 13, "customer_id": 1, "city": "Oran"}));
    sandbox.put_profile(CUSTOMER, &json!({"addresses": []}));
    sandbox.put_profile(CUSTOMER, &json!({"addresses": [{"city": "Oran"}]}));
    assert_eq!(sandbox.address_ids(CUSTOMER), [seeded + 2]);
}

#[test]
fn addresses_absent_stay_an_empty_list_deletes_null_is_refused() {
    let sandbox = Sandbox::new();
    let before = sandbox.profile(CUSTOMER);
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"lastname": "Haddad-Roy"})).status, 200);
    let after = sandbox.profile(CUSTOMER);
    assert_eq!(after["addresses"], before["addresses"]);
    assert_eq!(after["lastname"], "Haddad-Roy");
    assert_eq!(after["default_billing"], "1");
    assert_ne!(after["updated_at"], before["updated_at"]);
    let null = sandbox.put_profile(CUSTOMER, &json!({"addresses": null, "lastname": "X"}));
    null.refuses(400, "Not all parameters valid.", Value::Null);
    assert_eq!(sandbox.profile(CUSTOMER), after);
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"addresses": []})).status, 200);
    assert_eq!(sandbox.profile(CUSTOMER)["addresses"], json!([]));
}

#[test]
fn a_refused_list_changes_nothing() {
    let sandbox = Sandbox::new();
    let before = sandbox.profile(CUSTOMER);
    let put = |last: Value| {
        let list = json!([{"id": 1, "city": "Elsewhere"}, {"city": "New"}, last]);
        sandbox.put_profile(CUSTOMER, &json!({"firstname": "Changed", "addresses": list}))
    };
    put(json!({"id": 999})).refuses(
        404,
        "No such entity with %fieldName = %fieldValue",
        json!({"fieldName": "addressId", "fieldValue": 999}),
    );
    put(json!({"id": 5})).refuses(
        400,
        "Provided customer ID \"%customer_id\" isn't related to current customer address.",
        json!({"customer_id": 1}),
    );
    put(json!({"id": 1})).refuses(
        400,
        "The address with ID \"%id\" is listed more than once.",
        json!({"id": 1}),
    );
    put(json!({"id": 2, "country_id": "France"})).refuses(
        400,
        "Invalid value of \"%value\" provided for the %fieldName field.",
        json!({"fieldName": "countryId", "value": "France"}),
    );
    assert_eq!(put(json!({"id": 2, "firstname": null})).status, 400);
    assert_eq!(put(json!({"id": "two"})).status, 400);
    assert_eq!(put(json!("two")).status, 400);
    assert_eq!(sandbox.profile(CUSTOMER), before);
    assert_eq!(sandbox.address_ids(SECOND), [5, 6]);
}

#[test]
fn the_customer_is_that_of_the_token() {
    let sandbox = Sandbox::new();
    let other = sandbox.profile(SECOND);
    let answer = sandbox.put_profile(CUSTOMER, &json!({"id": 2, "customer_id": 2, "firstname": "Amina B."}));
    assert_eq!(answer.json()["id"], 1);
    assert_eq!(sandbox.profile(CUSTOMER)["firstname"], "Amina B.");
    assert_eq!(sandbox.profile(CUSTOMER)["customer_id"], 2, "unlisted, so stored as it came");
    assert_eq!(sandbox.profile(SECOND), other);
}

#[test]
fn unlisted_fields_and_numbers_are_returned_unchanged() {
    let sandbox = Sandbox::new();
    let sent = r#"{"customer":{"gender":2,"x":{"a":1.50,"b":12345678901234567890,"d":-0.0,"e":"\u00fc"},
        "addresses":[{"id":1,"geo":[48.8500,2.0],"z":null},{"id":2},{"id":3},{"id":4}]}}"#;
    assert_eq!(sandbox.call(CUSTOMER, "PUT", PROFILE, sent).status, 200);
    let text = sandbox.get(CUSTOMER, PROFILE).body;
    for part in [
        r#""x":{"a":1.50,"b":12345678901234567890,"d":-0.0,"e":"ü"}"#,
        r#""geo":[48.8500,2.0],"z":null"#,
        r#""gender":2,"#,
        r#""loyalty_points":12345678901234567890"#,
        r#""latitude":40.748400"#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn sending_back_what_was_read_changes_nothing_but_the_time() {
    let sandbox = Sandbox::new();
    for customer in 1..=6 {
        let token = format!("sandbox-customer-{customer}");
        let mut before = sandbox.profile(&token);
        let answer = sandbox.put_profile(&token, &before);
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut after = sandbox.profile(&token);
        before["updated_at"].take();
        after["updated_at"].take();
        assert_eq!(after, before);
    }
}

#[test]
fn defaults_and_other_unlisted_fields_are_stored_unchanged() {
    let sandbox = Sandbox::new();
    let before = sandbox.profile(CUSTOMER);
    let sent = json!({"default_billing": "999999", "default_shipping": null, "updated_at": "soon"});
    assert_eq!(sandbox.put_profile(CUSTOMER, &sent).status, 200);
    let after = sandbox.profile(CUSTOMER);
    for (name, value) in sent.as_object().unwrap() {
        assert_eq!(&after[name], value, "{name}");
    }
    assert_eq!(after["addresses"], before["addresses"], "addresses absent are untouched");
    let list =
        json!([{"id": 2}, {"id": 1}, {"city": "Tunis", "default_shipping": true, "default_billing": "true"}]);
    sandbox.put_profile(CUSTOMER, &json!({"addresses": list}));
    let addresses = &sandbox.profile(CUSTOMER)["addresses"];
    assert_eq!((&addresses[0], &addresses[1]), (&before["addresses"][1], &before["addresses"][0]));
    assert_eq!(addresses[2]["default_billing"], "true");
}

#[test]
fn an_omitted_default_is_removed_with_its_address() {
    let sandbox = Sandbox::new();
    sandbox.put_profile(CUSTOMER, &json!({"addresses": [{"id": 2}]}));
    let after = sandbox.profile(CUSTOMER);
    assert_eq!((after.get("default_billing"), &after["default_shipping"]), (None, &json!("2")));
    sandbox.put_profile(CUSTOMER, &json!({"addresses": [], "default_shipping": "2"}));
    assert_eq!(sandbox.profile(CUSTOMER)["default_shipping"], "2", "what is sent is stored");
}

#[test]
fn wrong_types_of_listed_members_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.put_profile(CUSTOMER, &json!({"group_id": "staff"})).refuses(
        400,
        "Error occurred during \"group_id\" processing. The \"staff\" value's type is invalid. The \"int\" type was \
         expected. Verify and try again.",
        Value::Null,
    );
    for wrong in [
        json!({"addresses": {"id": 1}}),
        json!({"addresses": [{"id": 1, "street": "18 rue de la Paix"}]}),
        json!({"addresses": [{"id": 1, "region": "Paris"}]}),
        json!({"addresses": [{"id": 1, "custom_attributes": [{"attribute_code": "a", "value": ["b"]}]}]}),
        json!({"store_id": 1.5}),
        json!({"email": null}),
        json!({"group_id": "3"}),
        json!({"firstname": 5}),
        json!({"addresses": [{"id": "2"}]}),
        json!({"addresses": [{"id": 2, "city": 5}]}),
    ] {
        assert_eq!(sandbox.put_profile(CUSTOMER, &wrong).status, 400, "{wrong}");
    }
    let body = json!({"profile": {}}).to_string();
    sandbox.call(CUSTOMER, "PUT", PROFILE, &body).refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "customer"}),
    );
}

#[test]
fn ten_thousand_addresses_are_replaced_at_once() {
    let sandbox = Sandbox::new();
    let list: Vec<Value> =
        (0..10_000).map(|number| json!({"street": [format!("{number} Main St")]})).collect();
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"addresses": list})).status, 200);
    let stored = sandbox.profile(CUSTOMER);
    assert_eq!(stored["addresses"].as_array().unwrap().len(), 10_000);
    assert_eq!(stored["addresses"][9_999]["street"][0], "9999 Main St");
}
