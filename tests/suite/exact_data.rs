//! What a service stores and a user gives goes through to the letter: numbers, field names, and nothing in between.

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::CUSTOMER;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve, words};

/// Numbers and names that `serde_json` alone rewrites.
const ODD: &str = r#""n":[1E2,1e2,1E+2,1.0E5,1E-2,1e-400,-0.0,12345678901234567890.10],"o":{"$serde_json::private::Number":"12"},"r":{"$serde_json::private::RawValue":"[1]"}"#;

/// A service with this profile, and the program that updates it; the bodies of its requests.
fn updated(profile: &str, line: &str) -> (crate::support::storefront::Outcome, Vec<String>) {
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", profile)]));
    let outcome = serve(home.storefront(&words(line)), &server.url("")).run();
    let bodies = server.requests().into_iter().filter(|request| request.starts_with("PUT"));
    (outcome, bodies.map(|request| request.split("\r\n\r\n").nth(1).unwrap().to_owned()).collect())
}

#[test]
fn a_stored_profile_is_shown_put_and_kept_to_the_letter() {
    let profile = format!(
        r#"{{"id":7,"email":"a@example.com","x":{{{ODD}}},"addresses":[{{"id":1,"city":"Paris",{ODD}}},{{"id":2}}]}}"#
    );
    let (shown, _) = updated(&profile, "customer show -o json");
    assert_eq!(shown.stdout.trim_end(), profile);
    let (shown, _) = updated(&profile, "customer show --jq .x");
    assert_eq!(shown.stdout.trim_end(), format!("{{{ODD}}}"));
    let (_, bodies) = updated(&profile, "customer update --address 1 --city Lyon -q -o json --retry 0");
    let expected = profile.replace("Paris", "Lyon");
    assert_eq!(bodies[0], format!(r#"{{"customer":{expected}}}"#));
    let (dry, _) = updated(&profile, "customer update --address 1 --city Lyon -n -o json");
    assert!(dry.stdout.contains(&format!(r#""body":{{"customer":{expected}}}"#)), "{}", dry.stdout);
}

#[test]
fn a_snapshot_and_the_history_keep_it_to_the_letter() {
    let profile = format!(r#"{{"id":7,"email":"a@example.com","addresses":[{{"id":1,"x":{{{ODD}}}}}]}}"#);
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", &profile)]));
    let run = |line: &str| serve(home.storefront(&words(line)), &server.url("")).run();
    run("customer update --remove-address 1 --yes --email b@example.com -q --retry 0");
    let snapshots = crate::support::test_env::snapshots(&home);
    let text = std::fs::read_to_string(&snapshots[0]).unwrap();
    let ours: String = text.split_whitespace().collect();
    assert!(ours.contains(&format!(r#""x":{{{ODD}}}"#)), "{text}");
    let history = run("customer history -o json").stdout;
    assert!(history.contains(&format!(r#""x":{{{ODD}}}"#)), "{history}");
}

#[test]
fn input_flags_and_the_sandboxs_store_keep_it_to_the_letter() {
    let env = TestEnv::new();
    let item = |line: &str, input: String| {
        env.file("item.json", input);
        env.run(&format!("quote add-item -n -o json --allow-unknown {line} -i item.json")).stdout
    };
    let dry = item("", format!(r#"{{"cartItem":{{"sku":"a","qty":1E2,"quote_id":"1","x":{{{ODD}}}}}}}"#));
    assert!(dry.contains(&format!(r#""qty":1E2,"quote_id":"1","x":{{{ODD}}}"#)), "{dry}");
    assert!(item("--qty 1.0E5", r#"{"sku":"a","quote_id":"1"}"#.to_owned()).contains("\"qty\":1.0E5"));
    let put = format!(r#"{{"customer":{{"x":{{{ODD}}}}}}}"#);
    let answered = env.sandbox.call(CUSTOMER, "PUT", "/V1/storeview/default/customer/profile", &put);
    assert_eq!(answered.status, 200);
    let shown = env.run("customer show -o json").stdout;
    assert!(shown.contains(&format!(r#""x":{{{ODD}}}"#)), "{shown}");
}

#[test]
fn a_private_name_hides_no_address_list_from_the_sandbox() {
    let env = TestEnv::new();
    let before = env.profile();
    let body = r#"{"customer":{"$serde_json::private::RawValue":"{\"addresses\":[]}"}}"#;
    env.sandbox.call(CUSTOMER, "PUT", "/V1/storeview/default/customer/profile", body);
    assert_eq!(env.profile()["addresses"], before["addresses"]);
}

#[test]
fn records_of_a_batch_go_out_to_the_letter_and_repeats_do_not() {
    let env = TestEnv::new();
    let run = |record: &str| {
        env.file("items.ndjson", format!("{record}\n"));
        env.run("quote add-item -n -o json -i items.ndjson")
    };
    let body = r#"{"cartItem":{"sku":"a","qty":1E2,"quote_id":"1"}}"#;
    assert!(run(body).stdout.contains(r#""qty":1E2"#));
    assert!(run(r#"{"sku":"a","qty":1.0E+2,"quote_id":"1"}"#).stdout.contains(r#""qty":1.0E+2"#));
    for (record, says) in [
        (r#"{"sku":"a","sku":"b","qty":1,"quote_id":"1"}"#, "duplicate field `sku`"),
        (r#"{"sku":"a\ud800","qty":1,"quote_id":"1"}"#, "half of a surrogate pair"),
        (r#"{"sku":{"$serde_json::private::RawValue":"\"a\""},"qty":1,"quote_id":"1"}"#, "expected a string"),
        (r#"{"sku":"a","qty":{"$serde_json::private::Number":"1"},"quote_id":"1"}"#, "expected a number"),
    ] {
        let outcome = run(record);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.code == 2 && said.contains(says), "{record}: {outcome:?}");
    }
}

#[test]
fn a_profile_that_cannot_be_sent_back_is_refused_by_what_is_wrong() {
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    for (profile, says) in [
        (r#"{"id":7,"x":"\ud800","addresses":[]}"#.to_owned(), "half of a surrogate pair"),
        (format!(r#"{{"id":7,"x":{deep},"addresses":[]}}"#), "nested over 127 levels"),
        (r#"{"id":7,"$serde_json::private::RawValue":1,"$serde_json::private::RawValue":2,"addresses":[]}"#.to_owned(), "duplicate field `$serde_json::private::RawValue`"),
    ] {
        let (outcome, bodies) = updated(&profile, "customer update --email b@example.com -q -o json");
        assert_eq!((outcome.code, bodies.len()), (3, 0), "{outcome:?}");
        assert!(outcome.stderr.contains(says), "{outcome:?}");
    }
}

#[test]
fn an_error_body_is_kept_to_the_letter() {
    let body = format!(r#"{{"message":"no",{ODD}}}"#);
    let server = MockServer::start(vec![Step::Answer(crate::support::mock_server::reply(
        "400 Bad Request",
        "",
        &body,
    ))]);
    let home = Home::new();
    let line = "quote add-item --sku a --qty 1 --quote-id 1 -o json -q";
    let outcome = serve(home.storefront(&words(line)), &server.url("")).run();
    assert!(outcome.stderr.contains(&format!(r#""service":{body}"#)), "{outcome:?}");
}
