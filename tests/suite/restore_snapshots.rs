//! The updates that `undo` takes: those of the same customer and service.

use serde_json::json;
use snapbox::str;

use crate::support::mock_server::MockServer;
use crate::support::raw_http::content;
use crate::support::scripted::{UPDATE, fails_with, methods, ok, profile, run};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

#[test]
fn an_address_dropped_by_the_service_is_restored_by_the_suggested_command() {
    let env = TestEnv::with_faults(&["drop-addressx1"]);
    let before = env.profile();
    let error = env.fails(9, "customer update --address 2 --city Troy --settle 0.3");
    assert_eq!((&error["kind"], &error["applied"]), (&json!("mismatch"), &json!("yes")));
    assert_snapshot(
        error["message"].as_str().unwrap(),
        str!["the profile was written, but address 4 is missing afterwards"],
    );
    assert_snapshot(
        error["hint"].as_str().unwrap(),
        str![
            "look again with `storefront customer show`; if an address is still missing, restore the profile with `storefront undo 1 --after-unknown`"
        ],
    );
    assert_ne!(content(env.profile()), content(before.clone()));
    let command = error["hint"]
        .as_str()
        .unwrap()
        .split('`')
        .nth(3)
        .unwrap()
        .strip_prefix("storefront ")
        .unwrap()
        .to_owned();
    let outcome = env.run(&format!("{command} -y -q -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_snapshot(
        &outcome.stderr,
        str![[r#"{"warning":{"message":"address 4 will be recreated with a new ID"}}"#]],
    );
    assert_eq!(content(env.profile()), content(before));
}

#[test]
fn customers_without_an_identity_are_not_mixed_up() {
    let home = Home::new();
    let nameless =
        |ids: [i64; 2], city: &str| json!({"addresses": [{"id": ids[0], "city": city}, {"id": ids[1]}]});
    let (before, after) = (nameless([1, 2], "Paris"), nameless([1, 2], "Rome"));
    let other = nameless([7, 8], "Oslo");
    let server = MockServer::start(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after), ok(&other)]);
    let outcome = run(&home, &server.url(""), "customer update --address 1 --city Rome");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    fails_with(
        &run(&home, &server.url(""), "undo 1 --yes"),
        3,
        str![[r#"
update 1 belongs to another customer, or does not identify its customer
  hint: `storefront history` lists the writes with their customers
"#]],
    );
    assert_eq!(methods(&server).iter().filter(|method| *method == "PUT").count(), 1);
}

#[test]
fn two_shops_on_one_host_have_separate_updates() {
    let home = Home::new();
    let (before, after) = (profile(json!({})), profile(json!({"email": "new@example.com"})));
    let server = MockServer::start(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)]);
    assert_eq!(run(&home, &server.url("/rest"), UPDATE).code, 0);
    assert_eq!(run(&home, &server.url("/rest/"), "history").stdout.lines().count(), 1);
    assert_eq!(run(&home, &server.url("/staging/rest"), "history").stdout, "");
}

/// A service that shows no ids: the email that was changed is what the log knows it by.
#[test]
fn a_changed_email_of_a_profile_without_id_is_restored() {
    let shown = |email: &str| ok(&json!({"email": email, "addresses": [{"id": 1, "city": "Rome"}]}));
    let (old, new) = ("old@example.com", "new@example.com");
    let done = || ok(&json!({}));
    let steps = vec![shown(old), done(), shown(new), shown(new), done(), shown(old)];
    let (home, server) = (Home::new(), MockServer::start(steps));
    run(&home, &server.url(""), &format!("customer update --email {new} --yes")).done();
    let history = run(&home, &server.url(""), "history");
    assert!(history.stdout.contains(old), "{history:?}");
    let restored = run(&home, &server.url(""), "undo 1 --yes").done();
    assert_eq!(restored["changes"][0]["after"], old, "{restored}");
    assert_eq!(methods(&server), ["GET", "PUT", "GET", "GET", "PUT", "GET"]);
    let history = run(&home, &server.url(""), "history");
    assert_eq!(history.stdout.lines().count(), 2, "{history:?}");
}
