//! No edit of another client is lost, and nothing is sent twice, where a replacement is repeated or its reply is lost.

use serde_json::json;
use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::scripted::{UPDATE, against, fails_with, methods, ok, profile, run};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, files_below, snapshots};

#[test]
fn a_retried_replacement_reads_the_profile_again_first() {
    let before = profile(json!({}));
    let newer = profile(
        json!({"email": "theirs@example.com", "addresses": [{"id": 1, "city": "Paris"}, {"id": 2}, {"id": 3}]}),
    );
    for busy in
        [answer("429 Too Many Requests", "Retry-After: 0\r\n", ""), answer("429 Too Many Requests", "", "")]
    {
        let mut written = newer.clone();
        written["email"] = "new@example.com".into();
        let script = vec![ok(&before), busy.clone(), ok(&newer), ok(&json!({})), ok(&written)];
        let (home, server) = (Home::new(), MockServer::start(script));
        let done = run(&home, &server.url(""), UPDATE).done();
        assert_eq!(methods(&server), ["GET", "PUT", "GET", "PUT", "GET"]);
        let merged = server.requests().remove(3);
        assert!(merged.contains(r#"{"id":3}"#), "the newer address is sent along: {merged}");
        assert_eq!(done["changes"][0]["before"], "theirs@example.com", "what was there when it was sent");
        assert_eq!(snapshots(&home).len(), 2, "one for each request");
    }
}

#[test]
fn a_concurrent_edit_after_a_lost_reply_is_not_mistaken_for_the_update() {
    let before = profile(json!({}));
    let foreign = profile(json!({"addresses": [{"id": 1, "city": "Rome"}, {"id": 2}]}));
    let (outcome, methods) = against(vec![ok(&before), Step::Close, ok(&foreign)], UPDATE);
    fails_with(
        &outcome,
        8,
        str![[r#"
the connection to 127.0.0.1:[PORT] was lost before a response arrived: connection closed before message completed; reading back does not show that it was applied
  hint: check with `storefront customer show` and `storefront customer history --check`; undo it with `storefront customer restore 000001-[SNAPSHOT]`
"#]],
    );
    assert_eq!((outcome.error()["applied"].as_str(), methods.len()), (Some("unknown"), 3));
}

#[test]
fn a_concurrent_change_of_another_field_is_a_warning() {
    let before = profile(json!({"updated_at": "1"}));
    let sent = json!({"email": "new@example.com", "updated_at": "2"});
    let mut after = profile(sent.clone());
    after["addresses"][0]["city"] = "Rome".into();
    let (outcome, _) = against(vec![ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_snapshot(
        &outcome.stderr,
        str![[
            r#"{"warning":{"message":"addresses[id=1].city was also changed, from Paris to Rome (by the service or another editor)"}}"#
        ]],
    );
    let mut after = profile(sent);
    after["addresses"][0]["completed_by_the_service"] = 1.into();
    let (outcome, _) = against(vec![ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    outcome.done();
}

#[test]
fn two_profiles_of_one_service_share_a_lock() {
    let env = TestEnv::new();
    let table =
        |name: &str| format!("[profiles.{name}]\nbase-url = {:?}\nstore-view = \"default\"\n", env.url());
    let home = Home::with_config(&(table("one") + &table("two")));
    for (profile, email) in [("one", "one@example.com"), ("two", "two@example.com")] {
        let line = ["-p", profile, "customer", "update", "--email", email];
        let outcome = home.storefront(&line).env("STOREFRONT_TOKEN", "sandbox-customer-1").run();
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
    assert_eq!(files_below(&home.state().join("locks")).len(), 2);
    assert_eq!(snapshots(&home).len(), 2);
}

#[test]
fn a_profile_is_never_read_from_a_cache() {
    let server = MockServer::start(vec![ok(&profile(json!({})))]);
    run(&Home::new(), &server.url(""), "customer show");
    let request = server.requests().remove(0).to_ascii_lowercase();
    assert!(request.contains("\r\ncache-control: no-cache\r\n"), "{request}");
}

/// The first command could not read the profile back; what the second reads first is as old as what the first had read.
#[test]
fn an_addition_that_could_not_be_verified_is_not_made_again_from_an_old_read() {
    let before = profile(json!({}));
    let mut after = before.clone();
    let new = json!({"id": 3, "city": "Lyon", "country_id": "FR", "firstname": "Ann"});
    after["addresses"].as_array_mut().unwrap().push(new);
    let failed = answer("500 Internal Server Error", "", "{}");
    let script = [ok(&before), ok(&json!({})), failed, ok(&before), ok(&after)];
    let (home, server) = (Home::new(), MockServer::start(script.to_vec()));
    let add =
        "customer update --add-address --address-firstname Ann --city Lyon --country FR --retry 0 --yes";
    assert_eq!(run(&home, &server.url(""), &format!("{add} --settle 0")).code, 0);
    let again = run(&home, &server.url(""), &format!("{add} --settle 5"));
    assert_eq!(methods(&server), ["GET", "PUT", "GET", "GET", "GET"], "{again:?}");
    fails_with(
        &again,
        3,
        str![[r#"
address 3 already has these values
  hint: change it with --address ID, or add a second one with --allow-duplicate
"#]],
    );
}
