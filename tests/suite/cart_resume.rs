//! A batch of `quote ship` in which only the payment failed, and its resumption.

use serde_json::json;

use crate::cart_reports::{JSON, found, impatient, json, on};
use crate::support::magento::{done, run};
use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::{CUSTOMER, ORDER};
use crate::support::storefront::Outcome;
use crate::support::test_env::TestEnv;

const SHIP_PLANNED: &str =
    "quote ship --ship-to-address 2 --bill-same-as-ship --carrier flatrate --method flatrate --no-payment";

/// A file with one record of `quote ship`, for an administrator or for the token's own customer.
fn shipping(customer: Option<u64>) -> String {
    let address = json!({"firstname": "Ann", "lastname": "Ray", "street": ["Main St 1"], "city": "Austin",
        "postcode": "73301", "country_id": "US", "region_id": 57, "telephone": "5125550100"});
    let mut record = json!({"addressInformation": {"shipping_address": address, "shipping_carrier_code": "flatrate",
        "shipping_method_code": "flatrate"}, "paymentMethod": {"method": "checkmo"}});
    if let Some(customer) = customer {
        record["customer"] = customer.into();
    }
    format!("{record}\n")
}

/// Runs a record of which only the payment fails, lets `meanwhile` happen, and resumes; the second run, and its writes.
fn resumed(customer: Option<u64>, meanwhile: impl Fn(&TestEnv)) -> (Outcome, Vec<String>) {
    let env = TestEnv::with_faults(&["PUT:429=0x1"]);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    env.file("ship.ndjson", shipping(customer));
    let first = run(&env, "quote ship -i ship.ndjson -y --retry 0");
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    meanwhile(&env);
    env.requests();
    let second = run(&env, "quote ship -i ship.ndjson -y --resume");
    let sent = env.requests().into_iter().filter(|request| !request.starts_with("GET")).collect();
    let selected = env.sandbox.get(CUSTOMER, "/rest/V1/carts/mine/selected-payment-method").json();
    assert_eq!(selected["method"] == "checkmo", second.code == 0, "{second:?}");
    (second, sent)
}

/// The customer orders, and begins a new cart.
fn order(env: &TestEnv) {
    env.sandbox.sql(ORDER);
    done(env, "quote add-item --sku mug-blue --qty 1");
}

#[test]
fn a_resumed_run_sends_both_calls() {
    for customer in [None, Some(1)] {
        // The first POST asks for the methods to the address.
        let calls = ["POST 200", "POST 200", "PUT 200"];
        let (second, sent) = resumed(customer, |_| {});
        assert_eq!((second.code, &sent[..]), (0, &calls.map(str::to_owned)[..]), "{customer:?}: {second:?}");
    }
}

#[test]
fn what_was_sent_to_a_cart_is_not_resumed_in_the_next_one() {
    for customer in [None, Some(1)] {
        let (second, sent) = resumed(customer, order);
        assert_eq!((second.code, sent.len()), (7, 0), "{customer:?}: {second:?}");
        let message = "cart 1 is not the active cart, that is ";
        assert!(second.stdout.contains(message), "{second:?}");
        assert!(second.stdout.contains(r#""applied":"partial""#), "{second:?}");
    }
}

#[test]
fn an_addition_to_a_cart_is_not_sent_again_to_the_next_one() {
    for (customer, verify) in [(r#""customer": 1, "#, ""), ("", " --verify")] {
        let env = TestEnv::with_faults(&["POST:reset-after-commitx1"]);
        env.file("items.ndjson", format!("{{{customer}\"sku\": \"mug-blue\", \"qty\": 1}}\n"));
        let first = run(&env, &format!("quote add-item -i items.ndjson -y --retry 0{verify}"));
        assert_eq!(first.code, 8, "{first:?}");
        order(&env);
        env.requests();
        let again = run(&env, &format!("quote add-item -i items.ndjson -y --resume --retry-unknown{verify}"));
        assert_eq!(again.code, 8, "{again:?}");
        assert!(again.stdout.contains("cart 1 is not the active cart, that is "), "{again:?}");
        assert!(env.requests().iter().all(|request| request.starts_with("GET")), "nothing is sent");
    }
}

/// Were only its payment sent, the address of the record before it would stay.
#[test]
fn a_half_done_record_is_sent_whole_behind_one_that_was_corrected() {
    let env = TestEnv::with_faults(&["PUT:429=0x1"]);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    let nowhere = shipping(Some(1)).replace("\"US\"", "\"XX\"").replace("Austin", "Nowhere");
    env.file("ship.ndjson", format!("{nowhere}{}", shipping(Some(1))));
    let first = run(&env, "quote ship -i ship.ndjson -y --retry 0 --skip-invalid");
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    env.file(
        "ship.ndjson",
        format!("{}{}", shipping(Some(1)).replace("Austin", "Dallas"), shipping(Some(1))),
    );
    assert_eq!(run(&env, "quote ship -i ship.ndjson -y --resume").code, 0);
    let cart = env.sandbox.get(CUSTOMER, "/rest/V1/carts/mine").json();
    let shipping = &cart["extension_attributes"]["shipping_assignments"][0]["shipping"];
    assert_eq!(shipping["address"]["city"], "Austin", "{cart}");
}

/// What was saved by the first run is not undone by a second one that saves nothing.
#[test]
fn a_half_done_record_stays_half_done_where_the_resumed_run_applies_nothing() {
    let refused = answer("400 Bad Request", JSON, r#"{"message": "no"}"#);
    let none = json(&json!({"items": []}));
    let saved = || json(&json!({}));
    let after = || json(&json!({}));
    let script =
        vec![found(), saved(), refused, after(), after(), none, found(), saved(), json(&json!("1")), after()];
    let server = MockServer::start(script);
    let home = impatient(&server);
    std::fs::write(home.dir.path().join("ship.ndjson"), shipping(Some(1))).unwrap();
    for flags in ["", "--resume"] {
        let line = format!("quote ship -i ship.ndjson -y {flags}");
        let outcome = on(&home, &server, &line);
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.stdout.contains(r#""applied":"partial""#), "{outcome:?}");
        let error = outcome.error();
        assert_eq!((&error["records"]["failed"], &error["resume"]), (&json!(1), &json!(false)), "{error}");
        assert!(error["hint"].as_str().unwrap().starts_with("correct the records that"), "{error}");
    }
    let outcome = on(&home, &server, "quote ship -i ship.ndjson -y --resume");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

/// What is planned for a cart is not sent to another one.
#[test]
fn a_plan_for_a_cart_is_not_applied_to_another_one() {
    for line in ["quote add-item --sku mug-blue --qty 1", SHIP_PLANNED] {
        for customer in ["", " --customer 1"] {
            let env = TestEnv::new();
            done(&env, "quote add-item --sku mug-blue --qty 1");
            for plan in ["cart", "kept"] {
                let planned = run(&env, &format!("{line}{customer} --plan {plan}.plan"));
                assert_eq!(planned.code, 0, "{planned:?}");
            }
            let kept = run(&env, "apply kept.plan -y");
            assert_eq!(kept.code, 0, "{line}{customer}: {kept:?}");
            order(&env);
            env.requests();
            let other = run(&env, "apply cart.plan -y");
            assert_eq!(other.code, 7, "{line}{customer}: {other:?}");
            assert!(other.stdout.contains("cart 1 is not the active cart, that is "), "{other:?}");
            assert!(env.requests().iter().all(|request| request.starts_with("GET")), "nothing is sent");
        }
    }
}

/// Where there was no cart, one that somebody made since is another one; what the plan itself makes is not.
#[test]
fn a_plan_without_a_cart_makes_its_own_and_takes_no_other() {
    let env = TestEnv::new();
    let item = r#"{"customer": 6, "sku": "mug-blue", "qty": 1}"#;
    env.file("items.ndjson", format!("{item}\n{item}\n"));
    for plan in ["own", "other"] {
        let planned = run(&env, &format!("quote add-item -i items.ndjson --plan {plan}.plan"));
        assert_eq!(planned.code, 0, "{planned:?}");
    }
    let own = run(&env, "apply own.plan -y");
    assert_eq!(own.code, 0, "{own:?}");
    env.requests();
    let other = run(&env, "apply other.plan -y --restart");
    assert!(other.code != 0, "{other:?}");
    assert!(env.requests().iter().all(|request| request.starts_with("GET")), "nothing is sent: {other:?}");
}
