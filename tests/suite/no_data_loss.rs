//! No address is lost, nothing is sent twice, and messages are true, in unusual cases.

use serde_json::{Value, json};
use snapbox::{IntoData, str};

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, files_below, serve, snapshots};

const UPDATE: &str = "customer update --email new@example.com --settle 0";

/// A stored profile with two addresses, and some of its fields otherwise.
fn profile(otherwise: Value) -> Value {
    let mut profile =
        json!({"id": 1, "email": "old@example.com", "addresses": [{"id": 1, "city": "Paris"}, {"id": 2}]});
    for (name, value) in otherwise.as_object().unwrap() {
        profile[name] = value.clone();
    }
    profile
}

fn ok(body: &Value) -> Step {
    answer("200 OK", "", &body.to_string())
}

fn run(home: &Home, url: &str, line: &str) -> Outcome {
    serve(home.storefront(&format!("{line} -q -o json")), url).run()
}

/// Runs a command line against scripted replies: what came of it, and the methods of the requests that arrived.
fn against(script: Vec<Step>, line: &str) -> (Outcome, Vec<String>) {
    let server = MockServer::start(script);
    let outcome = run(&Home::new(), &server.url(""), &format!("{line} --timeout 5"));
    (outcome, methods(&server))
}

fn methods(server: &MockServer) -> Vec<String> {
    server.requests().into_iter().map(|request| request.split(' ').next().unwrap().to_owned()).collect()
}

#[track_caller]
fn fails_with(outcome: &Outcome, code: i32, expected: impl IntoData) {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{outcome:?}");
    let error = outcome.error();
    let hint = error["hint"].as_str().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    assert_snapshot(&format!("{}{hint}", error["message"].as_str().unwrap()), expected);
}

#[test]
fn an_input_with_a_duplicate_field_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    let two_lists = r#"{"customer": {"addresses": [{"id": 1, "city": "Lyon"}], "addresses": [{"id": 2, "city": "Nice"}]}}"#;
    let escaped = r#"{"addresses": [{"id": 1, "city": "Lyon", "c\u0069ty": "Nice"}]}"#;
    for (line, input, stderr) in [
        (
            "customer update -i in.json",
            two_lists,
            str![[r#"
error: in.json: duplicate field `customer.addresses`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "customer update -i in.json",
            escaped,
            str![[r#"
error: in.json: duplicate field `addresses[0].city`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "customer update --email a@example.com --base in.json",
            r#"{"addresses": [], "addresses": []}"#,
            str![[r#"
error: in.json: duplicate field `addresses`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "quote add-item -i in.json",
            r#"{"sku": "a", "qty": 1, "qty": 2}"#,
            str![[r#"
error: in.json: duplicate field `qty`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "quote ship --payment @in.json",
            r#"{"method": "a", "method": "b"}"#,
            str![[r#"
error: in.json: duplicate field `method`
  No changes were made.
  hint: remove one of them
"#]],
        ),
    ] {
        env.file("in.json", input);
        env.run(line).assert_failure(2, stderr);
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_record_with_a_duplicate_field_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    let records = r#"{"sku": "mug-blue", "qty": 1, "quote_id": "1"}
        {"sku": "mug-blue", "qty": 1, "quote_id": "1", "qty": 2}"#;
    env.file("in.ndjson", records);
    env.run("quote add-item -i in.ndjson").assert_failure(
        2,
        str![[r#"
error: in.ndjson: line 2: duplicate field `qty`
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_profile_with_a_duplicate_field_is_not_replaced() {
    for (reply, expected) in [
        (
            r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}], "addresses": [{"id": 1}]}"#,
            str![[r#"
cannot read the stored addresses from the response: duplicate field `addresses`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
        (
            r#"{"customer": {"id": 1, "addresses": [{"id": 1, "city": "Paris", "city": null}]}}"#,
            str![[r#"
cannot read the stored addresses from the response: duplicate field `customer.addresses[0].city`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
    ] {
        let (outcome, methods) = against(vec![answer("200 OK", "", reply)], UPDATE);
        fails_with(&outcome, 3, expected);
        assert_eq!(methods, ["GET"]);
    }
}

#[test]
fn a_reply_with_two_address_lists_is_refused() {
    let reply = json!({"customer": profile(json!({})), "addresses": []});
    let (outcome, methods) = against(vec![ok(&reply)], UPDATE);
    fails_with(
        &outcome,
        3,
        str![[r#"
cannot read the stored addresses from the response: ambiguous: two address lists
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
    );
    assert_eq!(methods, ["GET"]);
}

#[test]
fn a_retried_replacement_reads_the_profile_again_first() {
    let before = profile(json!({}));
    let newer = profile(json!({"addresses": [{"id": 1, "city": "Paris"}, {"id": 2}, {"id": 3}]}));
    for busy in
        [answer("429 Too Many Requests", "Retry-After: 0\r\n", ""), answer("429 Too Many Requests", "", "")]
    {
        let mut written = newer.clone();
        written["email"] = "new@example.com".into();
        let script = vec![
            ok(&before),
            ok(&before),
            busy.clone(),
            ok(&newer),
            ok(&newer),
            ok(&json!({})),
            ok(&written),
        ];
        let (home, server) = (Home::new(), MockServer::start(script));
        let outcome = run(&home, &server.url(""), UPDATE);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!(methods(&server), ["GET", "GET", "PUT", "GET", "GET", "PUT", "GET"]);
        let merged = server.requests().remove(5);
        assert!(merged.contains(r#"{"id":3}"#), "the newer address is sent along: {merged}");
        let ours = profile(json!({"email": "theirs@example.com"}));
        let (outcome, methods) = against(vec![ok(&before), ok(&before), busy, ok(&ours)], UPDATE);
        fails_with(
            &outcome,
            3,
            str![[r#"
somebody changed what this command changes while it ran: email differs
  hint: look at it with `storefront customer show`, then try again
"#]],
        );
        assert_eq!((outcome.error()["applied"].as_str(), methods.len()), (Some("no"), 4));
    }
    let after = profile(json!({"email": "new@example.com"}));
    let busy = answer("429 Too Many Requests", "Retry-After: 0\r\n", "");
    let (outcome, methods) =
        against(vec![ok(&before), ok(&before), busy, ok(&before), ok(&after), ok(&after)], UPDATE);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(methods, ["GET", "GET", "PUT", "GET", "PUT", "GET"]);
}

#[test]
fn a_concurrent_edit_after_a_lost_reply_is_not_mistaken_for_the_update() {
    let before = profile(json!({}));
    let foreign = profile(json!({"addresses": [{"id": 1, "city": "Rome"}, {"id": 2}]}));
    let (outcome, methods) = against(vec![ok(&before), ok(&before), Step::Close, ok(&foreign)], UPDATE);
    fails_with(
        &outcome,
        8,
        str![[r#"
the connection to 127.0.0.1:[PORT] was lost before a response arrived: connection closed before message completed; reading back does not show that it was applied
  hint: look with `storefront customer show`; `storefront customer history --check` verifies it again; restore it with `storefront customer restore 000001-[SNAPSHOT]`
"#]],
    );
    assert_eq!((outcome.error()["applied"].as_str(), methods.len()), (Some("unknown"), 5));
}

#[test]
fn a_concurrent_change_of_another_field_is_a_warning() {
    let before = profile(json!({"updated_at": "1"}));
    let sent = json!({"email": "new@example.com", "updated_at": "2"});
    let mut after = profile(sent.clone());
    after["addresses"][0]["city"] = "Rome".into();
    let (outcome, _) = against(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_snapshot(
        &outcome.stderr,
        str![[
            r#"{"warning":{"message":"addresses[id=1].city was also changed, from Paris to Rome (by the service or another editor)"}}"#
        ]],
    );
    let mut after = profile(sent);
    after["addresses"][0]["completed_by_the_service"] = 1.into();
    let (outcome, _) = against(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    outcome.done();
}

#[test]
fn a_snapshot_of_another_customer_is_not_restored() {
    let env = TestEnv::new();
    env.done(UPDATE);
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&env.snapshots()[0]).unwrap()).unwrap();
    snapshot["customer"]["id"] = 2.into();
    env.file("other.json", snapshot.to_string());
    env.requests();
    env.run("customer restore other.json").assert_failure(
        3,
        str![[r#"
error: snapshot other belongs to another customer, or does not identify its customer
  No changes were made.
  hint: `storefront customer history` lists this customer's snapshots
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn a_snapshot_of_another_service_is_not_restored() {
    let (env, elsewhere) = (TestEnv::new(), TestEnv::new());
    env.done(UPDATE);
    let snapshot = std::fs::read(&env.snapshots()[0]).unwrap();
    elsewhere.file("other.json", snapshot);
    let refused = elsewhere.run("customer restore other.json");
    assert!(refused.stderr.contains(&env.sandbox.address().port().to_string()), "{refused:?}");
    refused.assert_failure(3, str![[r#"
error: the snapshot was taken from marketplace http://localhost:[PORT], and this is marketplace http://localhost:[PORT]
  No changes were made.
  hint: use the profile of that service; if the service only moved, change `service` in the file
"#]]);
    assert_eq!(elsewhere.requests(), ["GET 200"]);
}

#[test]
fn a_snapshot_without_an_address_list_is_refused() {
    let env = TestEnv::new();
    env.done(UPDATE);
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&env.snapshots()[0]).unwrap()).unwrap();
    snapshot["customer"].as_object_mut().unwrap().shift_remove("addresses");
    env.file("cut.json", snapshot.to_string());
    env.requests();
    env.run("customer restore cut.json --allow-delete 4").assert_failure(
        2,
        str![[r#"
error: `cut.json` is not a snapshot
  No changes were made.
  hint: `storefront customer history` lists the snapshots
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
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
        &run(&home, &server.url(""), "customer restore"),
        3,
        str![[r#"
snapshot 000001-[SNAPSHOT] belongs to another customer, or does not identify its customer
  hint: `storefront customer history` lists this customer's snapshots
"#]],
    );
    assert_eq!(methods(&server).iter().filter(|method| *method == "PUT").count(), 1);
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
fn two_shops_on_one_host_have_separate_snapshots() {
    let home = Home::new();
    let (before, after) = (profile(json!({})), profile(json!({"email": "new@example.com"})));
    let server = MockServer::start(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)]);
    assert_eq!(run(&home, &server.url("/rest"), UPDATE).code, 0);
    assert_eq!(run(&home, &server.url("/rest/"), "customer history").stdout.lines().count(), 1);
    assert_eq!(run(&home, &server.url("/staging/rest"), "customer history").stdout, "");
}

#[test]
fn read_ignore_cannot_hide_an_address() {
    for (pointer, stderr) in [
        (
            "",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses/0",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses/12/id",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses/-",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
    ] {
        let config = format!("[profiles.shop.read]\nignore = [\"/updated_at\", {pointer:?}]");
        Home::with_config(&config).run("-p shop customer show").assert_failure(2, stderr);
    }
}

#[test]
fn a_missing_or_duplicate_attribute_code_is_refused() {
    let env = TestEnv::new();
    for (attributes, stderr) in [
        (
            json!([{"value": "1"}]),
            str![[r#"
error: address 1: custom_attributes: an element has no `attribute_code`
  No changes were made.
  hint: add an `attribute_code` to each element
"#]],
        ),
        (
            json!([{"attribute_code": "door", "value": "1"}, {"attribute_code": "door", "value": "2"}]),
            str![[r#"
error: address 1: custom_attributes: duplicate attribute_code `door`
  No changes were made.
  hint: list each attribute once
"#]],
        ),
    ] {
        env.file("in.json", json!({"addresses": [{"id": 1, "custom_attributes": attributes}]}).to_string());
        env.run("customer update -i in.json").assert_failure(2, stderr);
    }
    assert!(!env.requests().iter().any(|request| request.starts_with("PUT")));
}

#[test]
fn an_attribute_flag_keeps_the_attributes_of_the_input() {
    let env = TestEnv::new();
    let attributes =
        json!([{"attribute_code": "door", "value": "1"}, {"attribute_code": "gate", "value": "2"}]);
    env.file("in.json", json!({"addresses": [{"id": 1, "custom_attributes": attributes}]}).to_string());
    env.done("customer update -i in.json --address 1 --custom-attribute gate=3");
    let stored = env.address(1)["custom_attributes"].to_string();
    for attribute in [r#"{"attribute_code":"door","value":"1"}"#, r#"{"attribute_code":"gate","value":"3"}"#]
    {
        assert!(stored.contains(attribute), "{stored}");
    }
}

#[test]
fn a_profile_is_never_read_from_a_cache() {
    let server = MockServer::start(vec![ok(&profile(json!({})))]);
    run(&Home::new(), &server.url(""), "customer show");
    let request = server.requests().remove(0).to_ascii_lowercase();
    assert!(request.contains("\r\ncache-control: no-cache\r\n"), "{request}");
}

#[test]
fn an_unwritable_state_directory_sends_nothing() {
    let env = TestEnv::new();
    env.file(if cfg!(windows) { "data" } else { "state" }, "in the way");
    let outcome = env.run(UPDATE);
    assert!(outcome.stderr.contains(storefront::environment::STATE_HOME), "{outcome:?}");
    outcome.assert_failure(1, str![[r#"
error: the lock `[HOME]/state/storefront/locks/localhost%3A[PORT].token-511784b483ef17d5.lock` cannot be used: Not a directory (os error [N])
  No changes were made.
  hint: a profile is replaced only under its lock: free some space, or set XDG_STATE_HOME
"#]]);
    assert!(!env.requests().iter().any(|request| request.starts_with("PUT")));
}

#[test]
fn an_error_page_of_a_proxy_is_reported_with_a_hint() {
    for (title, expected) in [
        (
            "400 No required SSL certificate was sent",
            str![[r#"
cannot read the stored addresses: the service answered 400 Bad Request: an HTML page titled 400 No required SSL certificate was sent
  hint: set `client-certificate` in the profile to one that the service accepts
"#]],
        ),
        (
            "400 The plain HTTP request was sent to HTTPS port",
            str![[r#"
cannot read the stored addresses: the service answered 400 Bad Request: an HTML page titled 400 The plain HTTP request was sent to HTTPS port
  hint: write https:// in the base URL
"#]],
        ),
        (
            "400 Bad Request",
            str![[r#"
cannot read the stored addresses: the service answered 400 Bad Request: an HTML page titled 400 Bad Request
  hint: set `read.path` to the path that returns the profile
"#]],
        ),
    ] {
        let page = format!("<html>\r\n<head><title>{title}</title></head></html>");
        let (outcome, _) =
            against(vec![answer("400 Bad Request", "Content-Type: text/html\r\n", &page)], UPDATE);
        fails_with(&outcome, 3, expected);
    }
}
