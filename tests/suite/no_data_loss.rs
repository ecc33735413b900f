//! Ways an address could still be lost, something be sent twice, or a message mislead.

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, files_below, serve, snapshots, words};

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
    serve(home.storefront(&words(&format!("{line} -q -o json"))), url).run()
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
fn says(outcome: &Outcome, code: i32, message: &str) {
    assert_eq!(outcome.code, code, "{outcome:?}");
    let error = outcome.error();
    assert!(error["message"].as_str().unwrap().contains(message), "{error}");
}

#[test]
fn an_input_that_names_a_member_twice_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    let two_lists = r#"{"customer": {"addresses": [{"id": 1, "city": "Lyon"}], "addresses": [{"id": 2, "city": "Nice"}]}}"#;
    let escaped = r#"{"addresses": [{"id": 1, "city": "Lyon", "c\u0069ty": "Nice"}]}"#;
    for (line, input, path) in [
        ("customer update -i in.json", two_lists, "in.json: duplicate field `customer.addresses`"),
        ("customer update -i in.json", escaped, "in.json: duplicate field `addresses[0].city`"),
        (
            "customer update --email a@example.com --base in.json",
            r#"{"addresses": [], "addresses": []}"#,
            "duplicate field `addresses`",
        ),
        (
            "quote add-item -i in.json",
            r#"{"sku": "a", "qty": 1, "qty": 2}"#,
            "in.json: duplicate field `qty`",
        ),
        (
            "quote ship --payment @in.json",
            r#"{"method": "a", "method": "b"}"#,
            "in.json: duplicate field `method`",
        ),
    ] {
        env.file("in.json", input);
        let error = env.fails(2, line);
        assert!(error["message"].as_str().unwrap().contains(path), "{error}");
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_record_that_names_a_member_twice_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    let records = r#"{"sku": "mug-blue", "qty": 1, "quote_id": "1"}
        {"sku": "mug-blue", "qty": 1, "quote_id": "1", "qty": 2}"#;
    env.file("in.ndjson", records);
    let outcome = env.run("quote add-item -i in.ndjson -o json");
    assert!(outcome.code == 2 && outcome.stderr.contains("line 2: duplicate field `qty`"), "{outcome:?}");
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_profile_that_names_a_member_twice_is_not_replaced() {
    for reply in [
        r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}], "addresses": [{"id": 1}]}"#,
        r#"{"customer": {"id": 1, "addresses": [{"id": 1, "city": "Paris", "city": null}]}}"#,
    ] {
        let (outcome, methods) = against(vec![answer("200 OK", "", reply)], UPDATE);
        says(&outcome, 3, "duplicate field `");
        assert_eq!(methods, ["GET"]);
    }
}

#[test]
fn a_reply_with_two_address_lists_is_not_understood() {
    let reply = json!({"customer": profile(json!({})), "addresses": []});
    let (outcome, methods) = against(vec![ok(&reply)], UPDATE);
    says(&outcome, 3, "two address lists");
    assert_eq!(methods, ["GET"]);
}

#[test]
fn a_replacement_that_had_to_wait_looks_again_before_it_goes_out() {
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
        says(&outcome, 3, "email differs");
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
fn a_foreign_edit_after_a_lost_answer_is_not_taken_for_ours() {
    let before = profile(json!({}));
    let foreign = profile(json!({"addresses": [{"id": 1, "city": "Rome"}, {"id": 2}]}));
    let (outcome, methods) = against(vec![ok(&before), ok(&before), Step::Close, ok(&foreign)], UPDATE);
    says(&outcome, 8, "reading back does not show that it was applied");
    assert_eq!((outcome.error()["applied"].as_str(), methods.len()), (Some("unknown"), 5));
}

#[test]
fn what_changed_beside_what_was_sent_is_told() {
    let before = profile(json!({"updated_at": "1"}));
    let sent = json!({"email": "new@example.com", "updated_at": "2"});
    let mut after = profile(sent.clone());
    after["addresses"][0]["city"] = "Rome".into();
    let (outcome, _) = against(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    assert!(
        outcome.stderr.contains("addresses[id=1].city") && outcome.stderr.contains("Rome"),
        "{outcome:?}"
    );
    let mut after = profile(sent);
    after["addresses"][0]["completed_by_the_service"] = 1.into();
    let (outcome, _) = against(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    outcome.done();
}

#[test]
fn a_snapshot_of_another_customer_is_not_put_back() {
    let env = TestEnv::new();
    env.done(UPDATE);
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&env.snapshots()[0]).unwrap()).unwrap();
    snapshot["customer"]["id"] = 2.into();
    env.file("other.json", snapshot.to_string());
    env.requests();
    let error = env.fails(3, "customer restore other.json");
    assert!(
        error["message"].as_str().unwrap().contains("snapshot other belongs to another customer"),
        "{error}"
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn a_snapshot_of_another_service_is_not_put_back() {
    let (env, elsewhere) = (TestEnv::new(), TestEnv::new());
    env.done(UPDATE);
    let snapshot = std::fs::read(&env.snapshots()[0]).unwrap();
    elsewhere.file("other.json", snapshot);
    let error = elsewhere.fails(3, "customer restore other.json");
    assert!(
        error["message"].as_str().unwrap().contains(&env.sandbox.address().port().to_string()),
        "{error}"
    );
    assert_eq!(elsewhere.requests(), ["GET 200"]);
}

#[test]
fn a_snapshot_without_an_address_list_is_none() {
    let env = TestEnv::new();
    env.done(UPDATE);
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&env.snapshots()[0]).unwrap()).unwrap();
    snapshot["customer"].as_object_mut().unwrap().shift_remove("addresses");
    env.file("cut.json", snapshot.to_string());
    env.requests();
    env.fails(2, "customer restore cut.json --allow-delete 4");
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn customers_nobody_can_tell_apart_are_not_mixed_up() {
    let home = Home::new();
    let nameless =
        |ids: [i64; 2], city: &str| json!({"addresses": [{"id": ids[0], "city": city}, {"id": ids[1]}]});
    let (before, after) = (nameless([1, 2], "Paris"), nameless([1, 2], "Rome"));
    let other = nameless([7, 8], "Oslo");
    let server = MockServer::start(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after), ok(&other)]);
    let outcome = run(&home, &server.url(""), "customer update --address 1 --city Rome");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    says(&run(&home, &server.url(""), "customer restore"), 3, "does not identify its customer");
    assert_eq!(methods(&server).iter().filter(|method| *method == "PUT").count(), 1);
}

#[test]
fn two_profiles_for_one_service_wait_for_each_other() {
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
fn two_shops_on_one_host_have_snapshots_of_their_own() {
    let home = Home::new();
    let (before, after) = (profile(json!({})), profile(json!({"email": "new@example.com"})));
    let server = MockServer::start(vec![ok(&before), ok(&before), ok(&json!({})), ok(&after)]);
    assert_eq!(run(&home, &server.url("/rest"), UPDATE).code, 0);
    assert_eq!(run(&home, &server.url("/rest/"), "customer history").stdout.lines().count(), 1);
    assert_eq!(run(&home, &server.url("/staging/rest"), "customer history").stdout, "");
}

#[test]
fn read_ignore_cannot_hide_an_address() {
    for pointer in ["", "/addresses", "/addresses/0", "/addresses/12/id", "/addresses/-"] {
        let config = format!("[profiles.shop.read]\nignore = [\"/updated_at\", {pointer:?}]");
        let error = Home::with_config(&config).fails(2, "-p shop customer show");
        assert!(error.contains("profiles.shop.read.ignore"), "{pointer}: {error}");
    }
}

#[test]
fn an_attribute_without_a_code_or_with_a_code_named_twice_is_refused() {
    let env = TestEnv::new();
    for attributes in [
        json!([{"value": "1"}]),
        json!([{"attribute_code": "door", "value": "1"}, {"attribute_code": "door", "value": "2"}]),
    ] {
        env.file("in.json", json!({"addresses": [{"id": 1, "custom_attributes": attributes}]}).to_string());
        let error = env.fails(2, "customer update -i in.json");
        assert!(error["message"].as_str().unwrap().contains("attribute_code"), "{error}");
    }
    assert!(!env.requests().iter().any(|request| request.starts_with("PUT")));
}

#[test]
fn an_attribute_named_by_a_flag_leaves_those_of_the_input_alone() {
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
fn a_state_directory_nobody_can_write_sends_nothing_and_says_what_to_do() {
    let env = TestEnv::new();
    env.file(if cfg!(windows) { "data" } else { "state" }, "in the way");
    let error = env.fails(1, UPDATE);
    assert!(error["message"].as_str().unwrap().starts_with("the lock "), "{error}");
    assert!(error["hint"].as_str().unwrap().contains(storefront::environment::STATE_HOME), "{error}");
    assert!(!env.requests().iter().any(|request| request.starts_with("PUT")));
}

#[test]
fn what_a_web_server_in_front_refuses_is_told_with_its_mend() {
    for (title, mend) in [
        ("400 No required SSL certificate was sent", "client-certificate"),
        ("400 The plain HTTP request was sent to HTTPS port", "https://"),
        ("400 Bad Request", "read.path"),
    ] {
        let page = format!("<html>\r\n<head><title>{title}</title></head></html>");
        let (outcome, _) =
            against(vec![answer("400 Bad Request", "Content-Type: text/html\r\n", &page)], UPDATE);
        says(&outcome, 3, "cannot read the stored addresses: ");
        assert!(outcome.error()["hint"].as_str().unwrap().contains(mend), "{title}: {outcome:?}");
    }
}
