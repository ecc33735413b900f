//! One administrator's token for all customers: checks of the setup, the history, and hints that name the customer.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program, run};
use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

fn statuses(stdout: &str) -> Vec<(String, String)> {
    let shown: Value = serde_json::from_str(stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = shown["checks"].as_array().unwrap().iter();
    checks.map(|check| (text(&check["check"]), text(&check["status"]))).collect()
}

#[test]
fn a_setup_with_an_administrators_token_alone_is_whole() {
    let env = TestEnv::new();
    for command in ["doctor", "auth status"] {
        let outcome = program(&env, &format!("{command} -q -o json")).without("STOREFRONT_TOKEN").run();
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let found = statuses(&outcome.stdout);
        let status = |name: &str| {
            found.iter().find(|(check, _)| check == name).map_or("", |(_, status)| status.as_str())
        };
        assert_eq!((status("customer token"), status("admin token")), ("skipped", "ok"), "{outcome:?}");
        if command == "doctor" {
            assert_eq!((status("store view"), status("service")), ("ok", "ok"), "{outcome:?}");
        }
    }
    let refused = program(&env, "doctor -q -o json")
        .without("STOREFRONT_TOKEN")
        .env("STOREFRONT_ADMIN_TOKEN", "expired")
        .run();
    assert_eq!(refused.code, 6, "{refused:?}");
}

/// Support staff may not read attributes, and merchandisers no customers: a token that may do either is good.
#[test]
fn a_token_that_lacks_the_permission_of_one_check_is_kept() {
    let refused = json!({"message": "The consumer isn't authorized to access %resources.",
        "parameters": {"resources": "Magento_Catalog::attributes_attributes"}})
    .to_string();
    let json = "Content-Type: application/json\r\n";
    let unauthorized = || answer("401 Unauthorized", json, &refused);
    let found = || answer("200 OK", json, r#"{"items": [], "total_count": 0}"#);
    for (script, code) in [(vec![unauthorized(), found()], 0), (vec![unauthorized()], 6)] {
        let server = MockServer::start(script);
        let home = Home::with_config(&format!(
            "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{}\"\napi = \"magento\"\n",
            server.url("/rest")
        ));
        let outcome =
            home.storefront(&["auth", "login", "--admin", "--with-token"]).stdin("support-token\n").run();
        assert_eq!((outcome.code, server.requests().len()), (code, 2), "{outcome:?}");
        assert_eq!(home.path("credentials.toml").exists(), code == 0);
        assert!(!outcome.stderr.contains("could not be verified"), "{outcome:?}");
    }
}

#[test]
fn history_and_restore_are_of_the_named_customer() {
    let env = TestEnv::new();
    done(&env, "customer update --customer 2 --lastname Sato -y");
    // The token of the environment is customer 1's.
    for name in ["", "--customer 2", "--customer Sato.Kenji@example.jp"] {
        let listed = run(&env, &format!("history {name}"));
        assert_eq!(listed.stdout.lines().count(), 1, "{listed:?}");
        assert!(listed.stdout.contains(r#""path":"lastname""#), "{listed:?}");
        assert!(listed.stdout.contains(r#""owner":{"customer":2}"#), "{listed:?}");
    }
    assert_eq!(run(&env, "history --customer 3").stdout, "");
    fails(&env, 2, "undo -y");
    let error = fails(&env, 2, "undo 1 --customer 1 -y");
    assert_eq!(error["message"], "write 1 is none to customer 1");
    done(&env, "undo LAST --customer 2 -y");
    assert_eq!(done(&env, "customer show --customer 2")["lastname"], "佐藤");
    // Offline, and with no token of a customer.
    let url = env.url();
    let TestEnv { home, sandbox, .. } = env;
    drop(sandbox);
    let offline = home
        .storefront(&["customer", "history", "--customer", "2", "-q", "-o", "json"])
        .env("STOREFRONT_BASE_URL", &format!("{url}/rest"))
        .env("STOREFRONT_API", "magento")
        .env("STOREFRONT_ADMIN_TOKEN", "sandbox-admin")
        .run();
    assert_eq!((offline.code, offline.stdout.lines().count()), (0, 2), "{offline:?}");
}

/// The reply of the PUT is what verifies it, and the search reads a customer who is named by email.
#[test]
fn an_update_makes_two_requests() {
    let env = TestEnv::new();
    let named = ["", "--customer 2", "--customer sato.kenji@example.jp"];
    for (way, name) in named.iter().flat_map(|way| ["Ann", "Ben"].map(|name| (way, name))) {
        let update = format!("customer update {way} --firstname {name} -y");
        let done = done(&env, &update);
        assert_eq!((&done["applied"], &done["verified"]), (&json!("yes"), &json!(true)), "{way}");
        assert_eq!(env.requests(), ["GET 200", "PUT 200"], "{way}");
        assert_eq!(run(&env, &update).done()["reason"], "unchanged");
        assert_eq!(env.requests(), ["GET 200"], "{way}");
        run(&env, &format!("undo LAST {way} -y")).done();
        assert_eq!(env.requests(), ["GET 200", "PUT 200"], "{way}");
    }
}

/// The reply of the PUT shows what was not taken: nothing of it is still to come.
#[test]
fn what_the_reply_shows_as_not_taken_holds_nothing_back() {
    let env = TestEnv::new();
    fails(&env, 9, "customer update --group-id 2");
    assert_eq!(env.requests(), ["GET 200", "PUT 200"]);
    done(&env, "customer update --firstname Ann");
}

/// The command of a hint must not act on the token's own customer, nor on another interface.
#[test]
fn hints_name_the_customer_and_the_interface() {
    let env = TestEnv::with_faults(&["PUT:drop-address"]);
    let error = fails(&env, 9, "customer update --customer 1 --address 2 --city Utica -y --settle 1");
    let name = |error: &Value| error["write"].as_str().unwrap().to_owned();
    assert_eq!(
        error["hint"],
        json!(format!(
            "look again with `storefront customer show --customer 1`; if an address is still missing, restore the profile with `storefront undo {} --after-unknown`",
            name(&error)
        ))
    );
    let line = "--sandbox --api magento customer update --customer 1 --settle 1 --address 2 --city Utica \
        --fault PUT:drop-address -y -q -o json";
    let error = env.home.run(&line.split_whitespace().collect::<Vec<_>>()).error();
    assert_eq!(
        error["hint"],
        json!(format!(
            "look again with `storefront --sandbox --api magento customer show --customer 1`; if an address is still missing, restore the profile with `storefront --sandbox --api magento undo {} --after-unknown`",
            name(&error)
        ))
    );
}

/// What is to be done depends on why the payment was not saved.
#[test]
fn the_hint_after_half_a_shipment_fits_the_reason() {
    let ship = "quote ship --ship-city Austin --ship-country US --ship-region-id 57 --ship-firstname A --ship-lastname B \
        --ship-street x --ship-postcode 73301 --ship-telephone 5125550100 --carrier flatrate --method flatrate";
    let hint = |fault: &[&str], code: i32, payment: &str| {
        let env = TestEnv::with_faults(fault);
        done(&env, "quote add-item --customer 1 --sku mug-blue --qty 1");
        let line = format!("{ship} --customer 1 --payment-method {payment} --retry 0 --settle 1");
        fails(&env, code, &line)["hint"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        hint(&[], 7, "nosuch"),
        "run the command again with a payment that the shop takes; `storefront quote methods --customer 1` lists them"
    );
    assert_eq!(
        hint(&["PUT:reset-before-commit"], 8, "checkmo"),
        "run the command again: saving the same addresses, methods and payment a second time changes nothing"
    );
    let throttled = hint(&["PUT:429=0"], 7, "checkmo");
    assert!(throttled.ends_with("run the command again") && !throttled.contains("takes"), "{throttled}");
}
