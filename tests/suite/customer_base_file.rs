//! `--base`: the current profile from a file.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
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
fn a_readable_profile_must_equal_the_base() {
    let env = TestEnv::new();
    save(&env);
    env.done(CHANGE);
    assert_eq!(env.requests(), ["GET 200", "PUT 200", "GET 200"]);
    env.run("customer update --address 2 --postcode 1 --base base.json --yes --settle 0").assert_failure(
        3,
        str![[r#"
error: the base is out of date: addresses[id=2].city differs; an update based on it would delete newer data
  No changes were made.
  hint: save the profile anew with `storefront customer show -o json`, or leave --base out
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn a_base_without_a_stored_address_is_stale_and_deletes_nothing() {
    let env = TestEnv::new();
    let mut base = save(&env);
    base["addresses"].as_array_mut().unwrap().pop();
    env.file("base.json", json!({"customer": base}).to_string());
    env.run(CHANGE).assert_failure(
        3,
        str![[r#"
error: the base is out of date: addresses[id=4] differs; an update based on it would delete newer data
  No changes were made.
  hint: save the profile anew with `storefront customer show -o json`, or leave --base out
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
    assert_eq!(env.sandbox.address_ids("sandbox-customer-1"), [1, 2, 3, 4]);
}

#[test]
fn fields_in_read_ignore_do_not_make_a_base_stale() {
    let env = TestEnv::new();
    let mut base = save(&env);
    base["updated_at"] = "1999-01-01 00:00:00".into();
    env.file("base.json", base.to_string());
    env.done(CHANGE);
}

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
    let snapshot: Value = serde_json::from_slice(&std::fs::read(&env.snapshots()[0]).unwrap()).unwrap();
    assert_eq!(snapshot["customer"].to_string(), base.to_string(), "the base is what the snapshot keeps");
}

#[test]
fn a_lost_reply_with_a_base_that_cannot_be_checked_is_unknown() {
    let env = TestEnv::new();
    let base = save(&env);
    for (fault, status, stderr) in [
        (
            "PUT:500",
            500,
            str![[r#"
warning: the service has no call that reads the profile (cannot read the stored addresses: the service answered 404 Not Found: Request does not match any route): using --base as is; the result cannot be verified
customer update: host 127.0.0.1:[PORT], store view default
error: the service answered 500 Internal Server Error: Internal Error. Details are available in Magento log file. Report ID: webapi-5a4d1b0c7e2f9; the profile cannot be read back to verify it
  The change may have been applied.
  hint: look in the shop whether the change is there; `[HOME]/state/storefront/snapshots/marketplace%20http%3A%2F%2Flocalhost%3A[PORT]/1/000001-[SNAPSHOT].json` contains the profile as it was before
"#]],
        ),
        (
            "502-after-commit",
            502,
            str![[r#"
warning: the service has no call that reads the profile (cannot read the stored addresses: the service answered 404 Not Found: Request does not match any route): using --base as is; the result cannot be verified
customer update: host 127.0.0.1:[PORT], store view default
error: the service answered 502 Bad Gateway: an HTML page titled 502 Bad Gateway; the profile cannot be read back to verify it
  The change may have been applied.
  hint: look in the shop whether the change is there; `[HOME]/state/storefront/snapshots/marketplace%20http%3A%2F%2Flocalhost%3A[PORT]/1/000001-[SNAPSHOT].json` contains the profile as it was before
"#]],
        ),
        (
            "PUT:503",
            503,
            str![[r#"
warning: the service has no call that reads the profile (cannot read the stored addresses: the service answered 404 Not Found: Request does not match any route): using --base as is; the result cannot be verified
customer update: host 127.0.0.1:[PORT], store view default
error: the service answered 503 Service Unavailable with an empty body; the profile cannot be read back to verify it
  The change may have been applied.
  hint: look in the shop whether the change is there; `[HOME]/state/storefront/snapshots/marketplace%20http%3A%2F%2Flocalhost%3A[PORT]/1/000001-[SNAPSHOT].json` contains the profile as it was before
"#]],
        ),
    ] {
        let env = TestEnv::with_faults(&["no-get", fault]);
        env.file("base.json", base.to_string());
        env.run(CHANGE).assert_failure(8, stderr);
        assert_eq!(env.requests(), ["GET 404".to_owned(), format!("PUT {status}")], "{fault}");
    }
}

#[test]
fn an_invalid_base_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    for (code, base, stderr) in [
        (
            2,
            "",
            str![[r#"
error: `base.json` is empty
  No changes were made.
"#]],
        ),
        (
            2,
            "{",
            str![[r#"
error: `base.json` is not valid JSON: EOF while parsing an object at line 1 column 1
  No changes were made.
"#]],
        ),
        (
            3,
            "{}",
            str![[r#"
error: `base.json` does not contain a profile: it has no address list
  No changes were made.
  hint: save the profile with `storefront customer show -o json` and pass that file with --base
"#]],
        ),
        (
            3,
            r#"{"addresses": null}"#,
            str![[r#"
error: `base.json` does not contain a profile: its address list is null
  No changes were made.
  hint: save the profile with `storefront customer show -o json` and pass that file with --base
"#]],
        ),
        (
            3,
            r#"{"customer": {"id": 1}}"#,
            str![[r#"
error: `base.json` does not contain a profile: it has no address list
  No changes were made.
  hint: save the profile with `storefront customer show -o json` and pass that file with --base
"#]],
        ),
        (
            3,
            r#"{"items": [{"addresses": []}]}"#,
            str![[r#"
error: `base.json` does not contain a profile: it has no address list
  No changes were made.
  hint: save the profile with `storefront customer show -o json` and pass that file with --base
"#]],
        ),
    ] {
        env.file("base.json", base);
        env.run(CHANGE).assert_failure(code, stderr);
    }
    env.run("customer update --email a@example.com --base nowhere.json").assert_failure(
        2,
        str![[r#"
error: file `nowhere.json` not found
  No changes were made.
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

/// Where nothing can be read, only the snapshots tell that the file is older than our own update.
#[test]
fn a_base_must_show_the_newest_update_whatever_its_age() {
    let env = TestEnv::new();
    let base = save(&env);
    let env = TestEnv::with_faults(&["no-get"]);
    env.file("base.json", base.to_string());
    let update = "customer update --base base.json --settle 0 --yes --address 2";
    assert_eq!(env.run(&format!("{update} --city Troy")).code, 0);
    let fate = json!({"fate": "applied", "at": "2020-01-01T00:00:00Z", "verified": false});
    std::fs::write(env.snapshots()[0].with_extension("fate"), fate.to_string()).unwrap();
    env.requests();
    let refused = env.fails(3, &format!("{update} --postcode 12180"));
    assert!(
        refused["message"].as_str().unwrap().contains("addresses[id=2].city has its old value"),
        "{refused}"
    );
    assert_eq!(env.requests(), ["GET 404"]);
    assert_eq!(env.run(&format!("{update} --postcode 12180 --after-unknown")).code, 0);
}
