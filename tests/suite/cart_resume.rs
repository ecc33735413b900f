//! A batch of `quote ship` in which only the payment failed, and its resumption.

use serde_json::json;

use crate::cart_reports::{JSON, found, impatient, json, on};
use crate::support::magento::{done, run};
use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::{CUSTOMER, ORDER};
use crate::support::test_env::TestEnv;

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

/// Runs a record of which only the payment fails, lets `meanwhile` happen, and resumes; the writes of the second run.
fn resumed(customer: Option<u64>, meanwhile: impl Fn(&TestEnv)) -> Vec<String> {
    let env = TestEnv::with_faults(&["PUT:429=0x1"]);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    env.file("ship.ndjson", shipping(customer));
    let first = run(&env, "quote ship -i ship.ndjson -y --retry 0");
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    meanwhile(&env);
    env.requests();
    let second = run(&env, "quote ship -i ship.ndjson -y --resume");
    assert_eq!(second.code, 0, "{second:?}");
    let sent = env.requests();
    let selected = env.sandbox.get(CUSTOMER, "/rest/V1/carts/mine/selected-payment-method").json();
    assert_eq!(selected["method"], "checkmo");
    sent.into_iter().filter(|request| !request.starts_with("GET")).collect()
}

/// The customer orders, and begins a new cart.
fn order(env: &TestEnv) {
    env.sandbox.sql(ORDER);
    done(env, "quote add-item --sku mug-blue --qty 1");
}

#[test]
fn a_resumed_run_sends_only_the_payment_to_the_same_cart() {
    for customer in [None, Some(1)] {
        assert_eq!(resumed(customer, |_| {}), ["PUT 200"], "{customer:?}");
    }
}

#[test]
fn a_resumed_run_sends_both_calls_to_a_new_cart() {
    for customer in [None, Some(1)] {
        assert_eq!(resumed(customer, order), ["POST 200", "PUT 200"], "{customer:?}");
    }
}

/// What was saved by the first run is not undone by a second one that saves nothing.
#[test]
fn a_half_done_record_stays_half_done_where_the_resumed_run_applies_nothing() {
    let refused = answer("400 Bad Request", JSON, r#"{"message": "no"}"#);
    let none = json(&json!({"items": []}));
    let script = vec![found(), json(&json!({})), refused, none, found(), json(&json!("1"))];
    let server = MockServer::start(script);
    let home = impatient(&server);
    std::fs::write(home.dir.path().join("ship.ndjson"), shipping(Some(1))).unwrap();
    for flags in ["", "--resume"] {
        let line = format!("quote ship -i ship.ndjson -y --failed failed.ndjson {flags}");
        let outcome = on(&home, &server, &line);
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.stdout.contains(r#""applied":"partial""#), "{outcome:?}");
        assert_eq!(home.dir.path().join("failed.ndjson").metadata().unwrap().len(), 0, "not to be run again");
    }
    let outcome = on(&home, &server, "quote ship -i ship.ndjson -y --resume");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("done earlier"), "{outcome:?}");
}

#[test]
fn a_journal_that_names_no_cart_means_that_it_is_not_known() {
    let without_cart = |env: &TestEnv| {
        let path = env.home.dir.path().join("ship.ndjson.journal");
        let journal = std::fs::read_to_string(&path).unwrap();
        assert!(journal.contains(r#","cart":1}"#), "{journal}");
        std::fs::write(path, journal.replace(r#","cart":1}"#, "}")).unwrap();
    };
    assert_eq!(resumed(Some(1), without_cart), ["POST 200", "PUT 200"]);
}
