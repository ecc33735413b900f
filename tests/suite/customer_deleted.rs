//! An address that somebody else deleted, or that a call of `api` did.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::scripted::{methods, ok, profile};
use crate::support::storefront::Home;
use crate::support::test_env::{after_a_minute, serve, set_outcome, updates};

fn without_the_second() -> Value {
    profile(json!({"addresses": [{"id": 1, "city": "Paris"}]}))
}

/// This machine has updated nothing: there is no update that the service could be behind.
#[test]
fn what_an_earlier_read_showed_is_not_called_an_update() {
    let script = vec![ok(&profile(json!({}))), ok(&without_the_second())];
    let (home, server) = (Home::new(), MockServer::start(script));
    let update = |line: &str| serve(home.storefront(&format!("{line} --settle 0")), &server.url("")).run();
    assert_eq!(update("customer update --address 1 --city Paris").code, 0);
    update("customer update --address 1 --city Rome").assert_failure(3, str![[r#"
error: the service shows an older profile than a read of the last minute: address 2 is missing
  hint: check it with `storefront customer show`, and try again in a minute: a replica may be behind, or somebody changed the profile
"#]]);
}

/// Within the minute a replica may be behind; after it the record has nothing to wait for.
#[test]
fn a_planned_change_of_an_address_that_is_gone_fails_for_good_after_a_minute() {
    let script = vec![ok(&profile(json!({}))), ok(&without_the_second())];
    let server = MockServer::start(script);
    let profile = format!("base-url = {:?}\nstore-view = \"default\"\nsettle = 0\n", server.url(""));
    let home = Home::with_config(&format!("default-profile = \"shop\"\n[profiles.shop]\n{profile}"));
    let run =
        |line: &str| home.storefront(&format!("{line} -q -o json")).env("STOREFRONT_TOKEN", "t0ken").run();
    let plan = home.path("a.plan").display().to_string();
    assert_eq!(run(&format!("customer update --address 2 --city Rome --plan {plan}")).code, 0);
    let first = run(&format!("apply {plan}"));
    assert!(first.stdout.contains("address 2 is missing"), "{first:?}");
    assert_eq!(first.error()["records"]["temporary"], 1, "{first:?}");
    after_a_minute(&home);
    let second = run(&format!("apply {plan} --resume"));
    assert!(second.stdout.contains("no address 2"), "{second:?}");
    assert_eq!(second.error()["records"]["failed"], 1, "{second:?}");
    assert!(!methods(&server).contains(&"PUT".to_owned()));
}

#[test]
fn a_restore_says_of_its_own_update_alone_how_long_it_may_take_effect() {
    let (home, api) = (Home::new(), "marketplace");
    let lost = "--settle 0 --retry 0 --fault PUT:reset-before-commit";
    let update =
        |fields: &str| home.sandbox(api, &format!("customer update --address 2 {fields} {lost}")).code;
    assert_eq!(update("--city Reno --region-id 39"), 8);
    let hour_ago = (Timestamp::now() - SignedDuration::from_hours(1)).to_string();
    set_outcome(&home, updates(&home)[0], &json!({"outcome": "unknown", "sent_at": hour_ago}));
    assert_eq!(update("--telephone 1"), 8);
    let restored = home.sandbox(api, "undo 1 --after-unknown --yes");
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(!restored.stderr.contains("may still take effect"), "{restored:?}");
    let restored = home.sandbox(api, "undo 2 --after-unknown --yes");
    assert!(restored.stderr.contains(" 2 (address 2"), "{restored:?}");
    assert!(restored.stderr.contains("may still take effect until"), "{restored:?}");
}

/// Nothing of it is kept, and the next update would take its read for an old one.
#[test]
fn an_address_is_not_deleted_by_a_call_that_keeps_nothing() {
    let service = MockServer::start(vec![answer("200 OK", "", "true")]);
    let home = Home::new();
    let api = |line: &str| serve(home.storefront(line), &service.url("")).run();
    api("api DELETE /V1/addresses/7 --admin --api magento").assert_failure(3, str![[r#"
error: `DELETE /V1/addresses/7` deletes an address that the log does not keep
  hint: use `storefront --api magento customer update --customer ID --remove-address 7`, which can be undone; --unguarded sends the call as it is
"#]]);
    assert!(service.requests().is_empty());
    assert_eq!(api("api DELETE /V1/addresses/7 --admin --api magento --unguarded --yes").code, 0);
    let other: Step = answer("200 OK", "", "true");
    let service = MockServer::start(vec![other]);
    let path = "/V1/carts/mine/items/7";
    assert_eq!(serve(home.storefront(&format!("api DELETE {path} --yes")), &service.url("")).run().code, 0);
}
