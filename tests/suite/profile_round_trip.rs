//! A profile that is shown, edited and sent back.

use serde_json::{Value, json};

use crate::support::test_env::TestEnv;

fn update(env: &TestEnv, profile: &Value, flags: &str) -> crate::support::storefront::Outcome {
    env.storefront(&format!("customer update -i - -q -o json {flags}")).stdin(profile.to_string()).run()
}

#[test]
fn a_shown_profile_is_accepted_without_allow_unknown() {
    let env = TestEnv::new();
    let mut profile = env.done("customer show");
    assert_eq!(update(&env, &profile, "").done()["reason"], "unchanged");
    profile["addresses"][1]["city"] = json!("Albany");
    let result = update(&env, &profile, "").done();
    assert_eq!(result["changes"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(env.address(2)["city"], "Albany");
}

#[test]
fn numbers_that_jq_has_rounded_are_unchanged() {
    let env = TestEnv::new();
    let shown = env.run("customer show -o json").stdout;
    assert!(shown.contains("12345678901234567890"), "{shown}");
    let rounded = shown.replace("12345678901234567890", "12345678901234567000");
    let outcome = env.storefront("customer update -i - -q -o json").stdin(rounded).run();
    assert_eq!(outcome.done()["reason"], "unchanged");
}

#[test]
fn a_field_that_the_profile_does_not_have_is_refused_after_it_was_read() {
    let env = TestEnv::new();
    let draft =
        json!({"addresses": [{"id": 2, "citty": "x"}], "extension_atributes": {"is_subscribed": true}});
    let outcome = update(&env, &draft, "");
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let error = outcome.error();
    assert_eq!(
        error["problems"],
        json!([
            "customer.addresses[0].citty: unknown field; did you mean `city`?",
            "customer.extension_atributes: unknown field; did you mean `extension_attributes`?"
        ])
    );
    assert!(env.requests().iter().all(|call| call.starts_with("GET")));
}

#[test]
fn unnamed_fields_of_an_object_are_kept() {
    let env = TestEnv::new();
    let before = env.profile()["extension_attributes"].clone();
    let draft = json!({"extension_attributes": {"is_subscribed": false}});
    update(&env, &draft, "").done();
    let after = env.profile()["extension_attributes"].clone();
    assert_eq!(after["is_subscribed"], false);
    assert_eq!(after["loyalty_points"].to_string(), before["loyalty_points"].to_string());
    assert_ne!(before["loyalty_points"], Value::Null);
}

#[test]
fn a_duplicate_address_is_added_only_with_allow_duplicate() {
    let env = TestEnv::new();
    let mut copy = env.address(2);
    copy.as_object_mut().unwrap().retain(|name, _| !name.starts_with("default_") && name != "id");
    let draft = json!({"addresses": [copy]});
    let outcome = update(&env, &draft, "");
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stderr.contains("--allow-duplicate"), "{outcome:?}");
    assert_eq!(update(&env, &draft, "--allow-duplicate").done()["addresses"]["added"], 1);
}

#[test]
fn a_mask_never_replaces_a_value() {
    let env = TestEnv::new();
    let outcome = update(&env, &json!({"addresses": [{"id": 2, "city": "•••"}]}), "");
    assert!(outcome.code == 2 && outcome.stderr.contains("•••"), "{outcome:?}");
    env.fails(2, "quote add-item --sku a•••b --qty 1 --quote-id 1");
    assert!(env.requests().iter().all(|call| call.starts_with("GET")));
}

#[test]
fn default_flags_move_the_default() {
    let env = TestEnv::new();
    env.done("customer update --address 2 --default-shipping --default-billing");
    let profile = env.profile();
    let with = |name: &str| {
        let addresses = profile["addresses"].as_array().unwrap().iter();
        addresses
            .filter(|address| address[name] == true)
            .map(|address| address["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!((with("default_shipping"), with("default_billing")), (vec![json!(2)], vec![json!(2)]));
    assert_eq!((&profile["default_shipping"], &profile["default_billing"]), (&json!("2"), &json!("2")));
}

#[test]
fn a_country_is_its_code_or_its_name() {
    let env = TestEnv::new();
    for named in ["us", "United States", "Estados Unidos"] {
        let outcome = env
            .storefront(&["customer", "update", "--address", "2", "--country", named, "-o", "json"])
            .run()
            .done();
        assert_eq!(outcome["reason"], "unchanged", "{named}: {outcome}");
    }
    let quote = "quote ship --ship-country Narnia --carrier f --method f --payment-method x";
    let refused = env.fails(2, quote)["message"].as_str().unwrap().to_owned();
    assert!(refused.contains("expected a country's code of two letters or its name"), "{refused}");
}
