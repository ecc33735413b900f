//! `--base`: the current profile from a file.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::{TestEnv, log, set_outcome};

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
fn without_a_read_the_base_is_used_and_nothing_is_verified() {
    let env = TestEnv::new();
    let mut base = save(&env);
    let env = TestEnv::with_faults(&["no-get"]);
    base["x_only_in_base"] = json!(1.50);
    env.file("base.json", base.to_string());
    let outcome = env.run(&format!("{CHANGE} -q -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_snapshot(
        &outcome.stderr,
        str![[
            r#"{"warning":{"message":"the service has no call that reads the profile (cannot read the stored addresses: the service answered 404 Not Found: Request does not match any route): using --base as is; the result cannot be verified"}}"#
        ]],
    );
    assert_eq!(env.requests(), ["GET 404", "PUT 200"]);
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&result["applied"], &result["verified"], &result["addresses"]["kept"]),
        (&json!("yes"), &json!(false), &json!([1, 3, 4]))
    );
    let stored = "SELECT stored FROM document";
    let stored: String = log(&env.home).unwrap().query_row(stored, [], |row| row.get(0)).unwrap();
    assert_eq!(stored, base.to_string(), "the base is what the log keeps");
}

/// Where nothing can be read, only the log tells that the file is older than our own update.
#[test]
fn a_base_must_show_the_newest_update_whatever_its_age() {
    let env = TestEnv::new();
    let base = save(&env);
    let env = TestEnv::with_faults(&["no-get"]);
    env.file("base.json", base.to_string());
    let update = "customer update --base base.json --settle 0 --yes --address 2";
    assert_eq!(env.run(&format!("{update} --city Troy")).code, 0);
    let outcome = json!({"outcome": "applied", "at": "2020-01-01T00:00:00Z", "verified": false});
    set_outcome(&env.home, env.updates()[0], &outcome);
    env.requests();
    let refused = env.fails(3, &format!("{update} --postcode 12180"));
    assert!(refused["message"].as_str().unwrap().contains("address 2 city has its old value"), "{refused}");
    assert_eq!(env.requests(), ["GET 404"]);
    assert_eq!(env.run(&format!("{update} --postcode 12180 --after-unknown")).code, 0);
}
