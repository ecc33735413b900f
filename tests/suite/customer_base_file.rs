//! `--base`: the existing profile by hand, in each of its rules.

use serde_json::{Value, json};

use crate::support::test_env::TestEnv;

/// Saves the stored profile as the program prints it.
fn save(env: &TestEnv) -> Value {
    let shown = env.run("customer show -o json");
    assert_eq!(shown.code, 0, "{shown:?}");
    env.file("base.json", &shown.stdout);
    env.requests();
    serde_json::from_str(&shown.stdout).unwrap()
}

const CHANGE: &str = "customer update --address 2 --city Troy --base base.json --settle 0 --yes";

#[test]
fn where_the_read_works_it_must_equal_the_base() {
    let env = TestEnv::new();
    save(&env);
    env.done(CHANGE);
    assert_eq!(env.requests(), ["GET 200", "GET 200", "PUT 200", "GET 200"]);
    let error = env.fails(3, "customer update --address 2 --postcode 1 --base base.json --yes --settle 0");
    assert!(
        error["message"].as_str().unwrap().contains("the base is out of date: addresses[id=2].city differs"),
        "{error}"
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn a_base_that_lacks_an_address_is_stale_and_deletes_nothing() {
    let env = TestEnv::new();
    let mut base = save(&env);
    base["addresses"].as_array_mut().unwrap().pop();
    env.file("base.json", json!({"customer": base}).to_string());
    env.fails(3, CHANGE);
    assert_eq!(env.requests(), ["GET 200"]);
    assert_eq!(env.sandbox.address_ids("sandbox-customer-1"), [1, 2, 3, 4]);
}

#[test]
fn what_read_ignore_names_makes_no_base_stale() {
    let env = TestEnv::new();
    let mut base = save(&env);
    base["updated_at"] = "1999-01-01 00:00:00".into();
    env.file("base.json", base.to_string());
    env.done(CHANGE);
}

#[test]
fn where_the_read_does_not_work_the_base_is_taken_and_nothing_is_checked() {
    let env = TestEnv::new();
    let mut base = save(&env);
    let env = TestEnv::with_faults(&["no-get"]);
    base["x_only_in_base"] = json!(1.50);
    env.file("base.json", base.to_string());
    let outcome = env.run(&format!("{CHANGE} -q -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "one warning: {outcome:?}");
    assert!(
        outcome
            .stderr
            .starts_with("{\"warning\":{\"message\":\"the service has no call that reads the profile"),
        "{outcome:?}"
    );
    assert_eq!(env.requests(), ["GET 404", "PUT 200"]);
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&result["applied"], &result["verified"], &result["addresses"]["kept"]),
        (&json!("yes"), &json!(false), &json!([1, 3, 4]))
    );
    let snapshot: Value = serde_json::from_slice(&std::fs::read(&env.snapshots()[0]).unwrap()).unwrap();
    assert_eq!(snapshot["customer"].to_string(), base.to_string(), "the base is what the snapshot keeps");
}

#[test]
fn no_verdict_with_a_base_that_cannot_be_checked_is_unknown() {
    let env = TestEnv::new();
    let base = save(&env);
    for (fault, status) in [("PUT:500", 500), ("502-after-commit", 502), ("PUT:503", 503)] {
        let env = TestEnv::with_faults(&["no-get", fault]);
        env.file("base.json", base.to_string());
        let error = env.fails(8, CHANGE);
        assert_eq!((&error["applied"], &error["status"]), (&json!("unknown"), &json!(status)));
        assert_eq!(env.requests(), ["GET 404".to_owned(), format!("PUT {status}")], "{fault}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.starts_with("look in the shop whether the change is there; `"), "{hint}");
    }
}

#[test]
fn a_base_that_is_none_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    for (code, base) in [
        (2, ""),
        (2, "{"),
        (3, "{}"),
        (3, r#"{"addresses": null}"#),
        (3, r#"{"customer": {"id": 1}}"#),
        (3, r#"{"items": [{"addresses": []}]}"#),
    ] {
        env.file("base.json", base);
        env.fails(code, CHANGE);
    }
    env.fails(2, "customer update --email a@example.com --base nowhere.json");
    assert_eq!(env.requests(), [""; 0]);
}
