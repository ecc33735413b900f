//! What a Magento shop accepts with status 200 and should not, seen from the client: it does not fall into it.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program, run};
use crate::support::raw_http::ADMIN;
use crate::support::test_env::TestEnv;

/// The customer's own token, and an administrator's.
const WAYS: [&str; 2] = ["", "--customer 1"];

fn stored(env: &TestEnv) -> Value {
    env.sandbox.get(ADMIN, "/rest/V1/customers/1").json()
}

/// Ids of the addresses, and the two defaults.
fn addresses_and_defaults(env: &TestEnv) -> (Vec<i64>, [Value; 2]) {
    let stored = stored(env);
    let addresses = stored["addresses"].as_array().unwrap();
    let flagged = |name: &str| {
        let one = addresses.iter().find(|address| address[name] == true);
        assert_eq!(one.map(|one| one["id"].to_string()).as_deref(), stored[name].as_str(), "{stored}");
        stored[name].clone()
    };
    let ids = addresses.iter().map(|address| address["id"].as_i64().unwrap()).collect();
    (ids, ["default_billing", "default_shipping"].map(flagged))
}

/// An empty list deletes all addresses, and null or an empty text deletes both defaults.
#[test]
fn an_empty_address_list_deletes_nothing() {
    for way in WAYS {
        let env = TestEnv::new();
        let before = addresses_and_defaults(&env);
        for (addresses, code) in [(json!([]), 0), (json!({}), 2), (json!(null), 2), (json!(""), 2)] {
            env.file("in.json", json!({"middlename": "M", "addresses": addresses}).to_string());
            let outcome = run(&env, &format!("customer update {way} -i in.json -y"));
            assert_eq!(outcome.code, code, "{way} {addresses}: {outcome:?}");
            assert_eq!(addresses_and_defaults(&env), before, "{way} {addresses}");
        }
        assert_eq!(stored(&env)["middlename"], "M");
    }
}

/// Where neither the flags nor the top level name the defaults, both are lost.
#[test]
fn a_list_without_defaults_keeps_them() {
    for way in WAYS {
        let env = TestEnv::new();
        let (ids, defaults) = addresses_and_defaults(&env);
        let mut list = stored(&env)["addresses"].clone();
        for address in list.as_array_mut().unwrap() {
            let address = address.as_object_mut().unwrap();
            address.shift_remove("default_billing");
            address.shift_remove("default_shipping");
        }
        list[3]["city"] = "Potsdam".into();
        env.file("in.json", json!({"addresses": list}).to_string());
        done(&env, &format!("customer update {way} -i in.json --replace-addresses -y"));
        assert_eq!(addresses_and_defaults(&env), (ids, defaults), "{way}");
        assert_eq!(stored(&env)["addresses"][3]["city"], "Potsdam");
    }
}

/// Removing the address that is the default takes the default with it, in both places.
#[test]
fn a_default_address_that_is_removed_leaves_no_default_that_is_not_the_customers() {
    for way in WAYS {
        let env = TestEnv::new();
        // Magento 2.4.7 compares with the addresses sent, and takes a default that is left out from the stored profile.
        let shown = run(&env, &format!("customer update {way} --remove-address 1 --dry-run -y"));
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        let (request, is_own) = (&shown["request"], way.is_empty());
        let default = request["body"]["customer"].get("default_billing");
        assert_eq!(default, is_own.then_some(&Value::Null), "{shown}");
        assert_eq!(request["method"], if is_own { "PUT" } else { "DELETE" }, "{shown}");
        let result = run(&env, &format!("customer update {way} --remove-address 1 -y"));
        assert_eq!(result.code, 0, "{result:?}");
        let after = stored(&env);
        assert_eq!(after.get("default_billing").filter(|id| !id.is_null()), None, "{after}");
        assert_eq!(
            (&after["default_shipping"], after["addresses"].as_array().unwrap().len()),
            (&json!("2"), 3)
        );
    }
}

/// A name in another spelling is a server error in 2.4.6; an unknown custom attribute is ignored with status 200.
#[test]
fn a_field_in_camel_case_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"firstName": "Ann"}"#);
    let error = fails(&env, 2, "customer update --customer 1 -i in.json -y");
    assert!(error["message"].as_str().unwrap().contains("`firstname`"), "{error}");
    assert!(env.requests().iter().all(|request| request == "GET 200"));
}

/// An id of 0 or null is a new address to Magento.
#[test]
fn an_address_id_of_0_adds_no_address() {
    let env = TestEnv::new();
    let before = addresses_and_defaults(&env);
    env.file("in.json", r#"{"addresses": [{"id": 0, "city": "Rome"}]}"#);
    for way in WAYS {
        let outcome = run(&env, &format!("customer update {way} -i in.json -y"));
        assert!(outcome.code == 2 || outcome.code == 3, "{outcome:?}");
    }
    assert_eq!(addresses_and_defaults(&env), before);
}

const SHIP: &str = r#"{"addressInformation": {"shipping_address": {"firstname": "Ann", "lastname": "Ray", "street": ["1"],
    "city": "Austin", "postcode": "73301", "country_id": "US", "telephone": "5125550100", "REGION": "VALUE"},
    "shipping_carrier_code": "flatrate", "shipping_method_code": "flatrate"}}"#;

/// The address of a cart takes any region: a code that the country does not have is no region, with status 200.
#[test]
fn a_region_of_a_cart_is_resolved_or_refused() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku mug-blue --qty 1");
    let ship = |field: &str, value: &str| {
        env.file("s.json", SHIP.replace("REGION", field).replace("VALUE", value));
    };
    for (field, value) in [("region_code", "TX"), ("region", "texas")] {
        ship(field, value);
        let dry = done(&env, "quote ship -i s.json --no-payment -n");
        let address = &dry["request"]["body"]["addressInformation"]["shipping_address"];
        assert_eq!(
            [&address["region_id"], &address["region_code"], &address["region"]],
            [&json!(57), &json!("TX"), &json!("Texas")],
            "{dry}"
        );
        done(&env, "quote ship -i s.json --no-payment");
        let cart = done(&env, "quote show");
        let saved = &cart["cart"]["extension_attributes"]["shipping_assignments"][0]["shipping"]["address"];
        assert_eq!((&saved["region"], &saved["region_id"]), (&json!("Texas"), &json!(57)), "{saved}");
    }
    ship("region_code", "ZZ");
    env.requests();
    let error = fails(&env, 2, "quote ship -i s.json --no-payment");
    assert_eq!((&error["message"], &error["applied"]), (&json!("US has no region `ZZ`"), &json!("no")));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.starts_with("use one of ") && hint.contains("directory/countries/US"), "{error}");
    assert_eq!(env.requests(), ["GET 200"; 2], "the cart and the country");
}

/// A scalar goes out as it was written, in each type that Magento takes.
#[test]
fn scalars_are_sent_as_they_are_written() {
    let env = TestEnv::new();
    for (value, kind) in [("true", "4"), ("\"1\"", "\"4\""), ("1", "4")] {
        env.file(
            "a.json",
            format!(r#"{{"attribute_code": "fabric", "frontend_input": "text", "default_frontend_label": "F", "is_searchable": {value}, "entity_type_id": {kind}}}"#),
        );
        let sent = &done(&env, "attribute create -i a.json -n")["request"]["body"]["attribute"];
        assert_eq!(sent["is_searchable"].to_string(), value);
        assert_eq!(sent["entity_type_id"].to_string(), kind);
    }
    for id in ["1", "\"1\""] {
        env.file("i.json", format!(r#"{{"sku": "mug-blue", "qty": "2", "quote_id": {id}}}"#));
        let sent = &done(&env, "quote add-item -i i.json -n")["request"]["body"]["cartItem"];
        assert_eq!((sent["quote_id"].to_string(), &sent["qty"]), (id.to_owned(), &json!("2")));
        done(&env, "quote add-item -i i.json");
    }
    env.file("w.json", r#"{"sku": "mug-blue", "qty": [2]}"#);
    assert_eq!(fails(&env, 2, "quote add-item -i w.json")["kind"], "usage");
}

/// The templates, their columns and the schemas are those of Magento's interface.
#[test]
fn a_template_runs_as_it_is() {
    for operation in ["quote ship", "quote add-item", "customer update", "attribute create"] {
        for format in ["json", "csv"] {
            let env = TestEnv::new();
            done(&env, "quote add-item --sku mug-blue --qty 1");
            let template = program(&env, &format!("template {operation} --format {format}")).run();
            env.file(&format!("in.{format}"), &template.stdout);
            let outcome = run(&env, &format!("{operation} -i in.{format} -y"));
            assert_eq!(outcome.code, 0, "{operation} {format}: {template:?} {outcome:?}");
            assert!(outcome.stdout.contains(r#""applied":"yes""#), "{outcome:?}");
        }
    }
}

#[test]
fn a_schema_takes_what_the_check_takes() {
    use crate::support::json_schema::accepts;
    let env = TestEnv::new();
    let schema = |operation: &str| -> Value {
        serde_json::from_str(&program(&env, &format!("schema {operation}")).run().stdout).unwrap()
    };
    let ship = schema("quote ship");
    let takes = |value: Value| accepts(&ship, &ship, &value);
    assert!(takes(json!({"shipping_carrier_code": 7, "shipping_method_code": true})));
    assert!(takes(json!([{"customer": 7, "shipping_carrier_code": "flatrate"}])));
    assert!(!takes(json!({"shipping_carrier_code": "flatrate", "billingAddress": {}})));
    let update = schema("customer update");
    assert!(accepts(&update, &update, &json!([{"customer": "a@example.com", "middlename": "M"}])));
}
