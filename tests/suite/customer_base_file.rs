//! `--base`: the existing profile by hand, in each of its rules.

use serde_json::{Value, json};

use crate::support::test_env::TestEnv;

/// Saves the stored profile as the program prints it.
fn save(shop: &TestEnv) -> Value {
    let shown = shop.run("customer show -o json");
    assert_eq!(shown.code, 0, "{shown:?}");
    shop.file("base.json", &shown.stdout);
    shop.requests();
    serde_json::from_str(&shown.stdout).unwrap()
}

const CHANGE: &str = "customer update --address 2 --city Troy --base base.json --settle 0 --yes";

#[test]
fn where_the_read_works_it_must_equal_the_base() {
    let shop = TestEnv::new();
    save(&shop);
    shop.done(CHANGE);
    assert_eq!(shop.requests(), ["GET 200", "GET 200", "PUT 200", "GET 200"]);
    let error = shop.fails(3, "customer update --address 2 --postcode 1 --base base.json --yes --settle 0");
    assert!(
        error["message"].as_str().unwrap().contains("the base is out of date: addresses[id=2].city differs"),
        "{error}"
    );
    assert_eq!(shop.requests(), ["GET 200"]);
}

#[test]
fn a_base_that_lacks_an_address_is_stale_and_deletes_nothing() {
    let shop = TestEnv::new();
    let mut base = save(&shop);
    base["addresses"].as_array_mut().unwrap().pop();
    shop.file("base.json", json!({"customer": base}).to_string());
    shop.fails(3, CHANGE);
    assert_eq!(shop.requests(), ["GET 200"]);
    assert_eq!(shop.sandbox.address_ids("sandbox-customer-1"), [1, 2, 3, 4]);
}

#[test]
fn what_read_ignore_names_makes_no_base_stale() {
    let shop = TestEnv::new();
    let mut base = save(&shop);
    base["updated_at"] = "1999-01-01 00:00:00".into();
    shop.file("base.json", base.to_string());
    shop.done(CHANGE);
}

#[test]
fn where_the_read_does_not_work_the_base_is_taken_and_nothing_is_checked() {
    let shop = TestEnv::new();
    let mut base = save(&shop);
    let shop = TestEnv::with_faults(&["no-get"]);
    base["x_only_in_base"] = json!(1.50);
    shop.file("base.json", base.to_string());
    let outcome = shop.run(&format!("{CHANGE} -q -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "one warning: {outcome:?}");
    assert!(
        outcome.stderr.starts_with("warning: the service has no call that reads the profile"),
        "{outcome:?}"
    );
    assert_eq!(shop.requests(), ["GET 404", "PUT 200"]);
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&result["applied"], &result["verified"], &result["addresses"]["kept"]),
        (&json!("yes"), &json!(false), &json!([1, 3, 4]))
    );
    let snapshot: Value = serde_json::from_slice(&std::fs::read(&shop.snapshots()[0]).unwrap()).unwrap();
    assert_eq!(snapshot["customer"].to_string(), base.to_string(), "the base is what the snapshot keeps");
}

#[test]
fn no_verdict_with_a_base_that_cannot_be_checked_is_unknown() {
    let shop = TestEnv::new();
    let base = save(&shop);
    for (fault, status) in [("PUT:500", 500), ("502-after-commit", 502), ("PUT:503", 503)] {
        let shop = TestEnv::with_faults(&["no-get", fault]);
        shop.file("base.json", base.to_string());
        let error = shop.fails(8, CHANGE);
        assert_eq!((&error["applied"], &error["status"]), (&json!("unknown"), &json!(status)));
        assert_eq!(shop.requests(), ["GET 404".to_owned(), format!("PUT {status}")], "{fault}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("storefront customer restore"), "{hint}");
    }
}

#[test]
fn a_base_that_is_none_is_refused_before_anything_is_sent() {
    let shop = TestEnv::new();
    for (code, base) in [
        (2, ""),
        (2, "{"),
        (3, "{}"),
        (3, r#"{"addresses": null}"#),
        (3, r#"{"customer": {"id": 1}}"#),
        (3, r#"{"items": [{"addresses": []}]}"#),
    ] {
        shop.file("base.json", base);
        shop.fails(code, CHANGE);
    }
    shop.fails(2, "customer update --email a@example.com --base nowhere.json");
    assert_eq!(shop.requests(), [""; 0]);
}
