//! What a read shows after an address was removed by a call of its own: whatever the answer was, and of the other addresses, too.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::{ADMIN, ids};
use crate::support::scripted::ok;
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, serve};

const UPDATE: &str = "customer update --customer 1 -y";

fn stored(env: &TestEnv) -> Value {
    env.sandbox.get(ADMIN, "/rest/V1/customers/1").json()
}

/// The cities of the addresses, sorted: an address that comes back has a new id.
fn cities(customer: &Value) -> Vec<String> {
    let addresses = customer["addresses"].as_array().unwrap().iter();
    let mut cities: Vec<String> =
        addresses.map(|address| address["city"].as_str().unwrap().to_owned()).collect();
    cities.sort();
    cities
}

/// The outcome of the newest update in the history.
fn outcome(env: &TestEnv) -> String {
    let newest: Value = run(env, "history --customer 1 --limit 1").stdout.parse().unwrap();
    newest["outcome"].as_str().unwrap().to_owned()
}

/// Runs the command in a hint that undoes.
fn undo(env: &TestEnv, error: &Value) -> Outcome {
    let hint = error["hint"].as_str().unwrap();
    let command = hint
        .split('`')
        .find(|part| part.starts_with("storefront") && part.contains(" undo "))
        .unwrap_or_else(|| panic!("{hint}"));
    run(env, &format!("{} -y", command.trim_start_matches("storefront ")))
}

#[test]
fn a_removal_that_loses_another_address_is_a_mismatch_and_can_be_undone() {
    let env = TestEnv::with_faults(&["DELETE:lose=1x1"]);
    let before = cities(&stored(&env));
    let error = fails(&env, 9, &format!("{UPDATE} --remove-address 3 --settle 0"));
    assert_eq!(ids(&stored(&env)), [1, 2]);
    assert_eq!(error["missing"], json!(["addresses[id=4]"]), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("address 4 is missing afterwards"), "{error}");
    assert_eq!((&error["applied"], &*outcome(&env)), (&json!("yes"), "mismatch"), "{error}");
    let undone = undo(&env, &error);
    assert_eq!((undone.code, cities(&stored(&env))), (0, before), "{undone:?}");
}

/// The twin that was to be kept is gone with the one that was removed.
#[test]
fn a_planned_removal_of_twins_that_loses_the_kept_one_is_a_mismatch() {
    let env = TestEnv::with_options(|options| {
        options.customers = 20;
        options.faults = vec!["DELETE:lose=1".parse().unwrap()];
    });
    env.sandbox.sql(
        "INSERT INTO addresses (customer_id, position, body) SELECT customer_id, position + 1, body FROM addresses \
         WHERE customer_id = 20",
    );
    run(&env, "customer check --customer 20 --plan a.plan");
    env.home.write("config.toml", "default-profile = \"p\"\n[profiles.p]\nsettle = 0\n", 0o600);
    let applied = run(&env, "apply a.plan -y");
    assert_eq!(applied.code, 9, "{applied:?}");
    assert!(applied.stdout.contains("is missing afterwards"), "{applied:?}");
    let error = applied.error();
    assert_eq!(error["records"]["mismatch"], 1, "{error}");
}

#[test]
fn a_removal_that_was_refused_but_made_is_told_and_can_be_undone() {
    for status in ["400", "404", "409", "422", "501"] {
        let env = TestEnv::with_faults(&[&format!("DELETE:reject-after-commit={status}x1")]);
        let before = cities(&stored(&env));
        env.requests();
        let error = fails(&env, 9, &format!("{UPDATE} --remove-address 3"));
        assert_eq!(env.requests(), ["GET 200", &format!("DELETE {status}"), "GET 200"]);
        assert_eq!((ids(&stored(&env)), &error["applied"]), (vec![1, 2, 4], &json!("unknown")), "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("refused, but saved") && message.contains("address 3 was removed"),
            "{error}"
        );
        assert_eq!(outcome(&env), "mismatch", "{status}");
        // What was asked for is there.
        let again = run(&env, &format!("{UPDATE} --remove-address 3"));
        assert!(again.code == 0 && again.stdout.contains("unchanged"), "{again:?}");
        let undone = undo(&env, &error);
        assert_eq!((undone.code, cities(&stored(&env))), (0, before), "{status}: {undone:?}");
    }
}

/// A customer with some of three addresses.
fn shop(left: &[i64]) -> Value {
    let address = |id: &i64| {
        json!({"id": id, "customer_id": 7, "city": format!("Town{id}"), "street": ["Road 1"], "country_id": "FR",
            "postcode": "75001", "firstname": "A", "lastname": "B", "telephone": "5550100"})
    };
    json!({"id": 7, "email": "a@example.com", "firstname": "A", "lastname": "B",
        "addresses": left.iter().map(address).collect::<Vec<_>>()})
}

/// Runs a removal for that customer; with the methods and paths of its requests.
fn scripted(script: Vec<Step>, ids: &str) -> (Outcome, usize) {
    let (home, server) = (Home::new(), MockServer::start(script));
    let line = format!(
        "--api magento customer update --remove-address {ids} --customer 7 -y --settle 0 --retry 0 -q -o json"
    );
    let outcome = serve(home.storefront(&line), &server.url("")).run();
    (outcome, server.requests().len())
}

fn refusal() -> Step {
    answer("400 Bad Request", "", r#"{"message": "no"}"#)
}

#[test]
fn a_refused_removal_is_looked_at_once() {
    let (left, requests) = scripted(vec![ok(&shop(&[1, 2, 3])), refusal(), ok(&shop(&[1, 2, 3]))], "3");
    let error = left.error();
    assert_eq!((left.code, requests, &error["applied"]), (4, 3, &json!("no")), "{left:?}");
    assert!(error["hint"].is_null(), "nothing of it was sent: {error}");
    // Another one is gone, which the removal may have done.
    let (lost, _) = scripted(vec![ok(&shop(&[1, 2, 3])), refusal(), ok(&shop(&[1, 3]))], "3");
    let error = lost.error();
    assert_eq!((lost.code, &error["applied"]), (9, &json!("unknown")), "{lost:?}");
    assert_eq!(error["missing"], json!(["addresses[id=2]"]));
    // Nobody can look.
    let down = answer("503 Service Unavailable", "", "");
    let (unread, _) = scripted(vec![ok(&shop(&[1, 2, 3])), refusal(), down], "3");
    let error = unread.error();
    assert_eq!((unread.code, &error["applied"]), (4, &json!("unknown")), "{unread:?}");
    assert!(error["hint"].as_str().unwrap().contains("customer show"), "{error}");
}

/// What was removed before is said, and how it comes back.
#[test]
fn a_refusal_after_another_removal_says_what_is_gone() {
    let taken = ok(&json!(true));
    let script = vec![ok(&shop(&[1, 2, 3])), taken, refusal(), ok(&shop(&[1, 3]))];
    let (partial, _) = scripted(script, "2 3");
    let error = partial.error();
    assert_eq!((partial.code, &error["applied"]), (7, &json!("partial")), "{partial:?}");
    assert!(error["message"].as_str().unwrap().ends_with("already applied: remove address 2"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("undo 1 "), "{error}");
}

/// Somebody else was quicker, and has removed another one, too.
#[test]
fn another_address_that_is_gone_beside_one_that_was_gone_already_is_told() {
    let gone = json!({"message": "No such entity with %fieldName = %fieldValue",
        "parameters": {"fieldName": "addressId", "fieldValue": 3}});
    let gone = answer("404 Not Found", "", &gone.to_string());
    let (lost, _) = scripted(vec![ok(&shop(&[1, 2, 3])), gone, ok(&shop(&[1]))], "3");
    let error = lost.error();
    assert_eq!((lost.code, &error["applied"]), (9, &json!("unknown")), "{lost:?}");
    assert!(error["message"].as_str().unwrap().contains("no longer has address 2"), "{error}");
}

#[test]
fn a_removal_that_is_shown_has_no_warning() {
    let env = TestEnv::new();
    assert_eq!(done(&env, &format!("{UPDATE} --remove-address 4"))["verified"], true);
}
