//! Numbers and field names of the service and of the input are kept byte for byte.

use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::CUSTOMER;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve};

/// Numbers and names that `serde_json` would rewrite.
const UNUSUAL: &str = r#""n":[1E2,1e2,1E+2,1.0E5,1E-2,1e-400,-0.0,12345678901234567890.10],"o":{"$serde_json::private::Number":"12"},"r":{"$serde_json::private::RawValue":"[1]"}"#;

/// A service with this profile, and the program that updates it; the bodies of its requests.
fn updated(profile: &str, line: &str) -> (crate::support::storefront::Outcome, Vec<String>) {
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", profile)]));
    let outcome = serve(home.storefront(line), &server.url("")).run();
    let bodies = server.requests().into_iter().filter(|request| request.starts_with("PUT"));
    (outcome, bodies.map(|request| request.split("\r\n\r\n").nth(1).unwrap().to_owned()).collect())
}

#[test]
fn a_stored_profile_is_shown_and_sent_byte_for_byte() {
    let profile = format!(
        r#"{{"id":7,"email":"a@example.com","x":{{{UNUSUAL}}},"addresses":[{{"id":1,"city":"Paris",{UNUSUAL}}},{{"id":2}}]}}"#
    );
    let (shown, _) = updated(&profile, "customer show -o json");
    assert_eq!(shown.stdout.trim_end(), profile);
    let (shown, _) = updated(&profile, "customer show --jq .x");
    assert_eq!(shown.stdout.trim_end(), format!("{{{UNUSUAL}}}"));
    let (_, bodies) =
        updated(&profile, "customer update --address 1 --city Lyon -q -o json --retry 0 --settle 0");
    let expected = profile.replace("Paris", "Lyon");
    assert_eq!(bodies[0], format!(r#"{{"customer":{expected}}}"#));
    let (dry, _) = updated(&profile, "customer update --address 1 --city Lyon -n -o json");
    assert!(dry.stdout.contains(&format!(r#""body":{{"customer":{expected}}}"#)), "{}", dry.stdout);
}

#[test]
fn the_log_keeps_it_byte_for_byte() {
    let profile = format!(r#"{{"id":7,"email":"a@example.com","addresses":[{{"id":1,"x":{{{UNUSUAL}}}}}]}}"#);
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", &profile)]));
    let run = |line: &str| serve(home.storefront(line), &server.url("")).run();
    run("customer update --remove-address 1 --yes --email b@example.com -q --retry 0 --settle 0");
    let log = crate::support::test_env::log(&home).unwrap();
    let text: String = log.query_row("SELECT stored FROM document", [], |row| row.get(0)).unwrap();
    let ours: String = text.split_whitespace().collect();
    assert!(ours.contains(&format!(r#""x":{{{UNUSUAL}}}"#)), "{text}");
}

#[test]
fn input_flags_and_the_sandbox_keep_it_byte_for_byte() {
    let env = TestEnv::new();
    let item = |line: &str, input: String| {
        env.file("item.json", input);
        env.run(&format!("quote add-item -n -o json --allow-unknown {line} -i item.json")).stdout
    };
    let dry = item("", format!(r#"{{"cartItem":{{"sku":"a","qty":1E2,"quote_id":"1","x":{{{UNUSUAL}}}}}}}"#));
    assert!(dry.contains(&format!(r#""qty":1E2,"quote_id":"1","x":{{{UNUSUAL}}}"#)), "{dry}");
    assert!(item("--qty 1.0E5", r#"{"sku":"a","quote_id":"1"}"#.to_owned()).contains("\"qty\":1.0E5"));
    let put = format!(r#"{{"customer":{{"x":{{{UNUSUAL}}}}}}}"#);
    let answered = env.sandbox.call(CUSTOMER, "PUT", "/V1/storeview/default/customer/profile", &put);
    assert_eq!(answered.status, 200);
    let shown = env.run("customer show -o json").stdout;
    assert!(shown.contains(&format!(r#""x":{{{UNUSUAL}}}"#)), "{shown}");
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
fn records_are_sent_byte_for_byte_and_duplicate_fields_are_refused() {
    let env = TestEnv::new();
    let run = |record: &str| {
        env.file("items.ndjson", format!("{record}\n"));
        env.run("quote add-item -n -o json -i items.ndjson")
    };
    let body = r#"{"cartItem":{"sku":"a","qty":1E2,"quote_id":"1"}}"#;
    assert!(run(body).stdout.contains(r#""qty":1E2"#));
    assert!(run(r#"{"sku":"a","qty":1.0E+2,"quote_id":"1"}"#).stdout.contains(r#""qty":1.0E+2"#));
    for (record, stderr) in [
        (
            r#"{"sku":"a","sku":"b","qty":1,"quote_id":"1"}"#,
            str![[
                r#"{"error":{"kind":"usage","message":"items.ndjson: line 1: duplicate field `sku`","hint":"fix the record and try again","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            r#"{"sku":"a\ud800","qty":1,"quote_id":"1"}"#,
            str![[
                r#"{"error":{"kind":"usage","message":"items.ndjson: line 1, column 15: invalid JSON: half of a surrogate pair (`\\ud800` to `\\udfff`)","hint":"fix the record and try again","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            r#"{"sku":{"$serde_json::private::RawValue":"\"a\""},"qty":1,"quote_id":"1"}"#,
            str![[
                r#"{"error":{"kind":"usage","message":"items.ndjson: line 1: cartItem.sku: expected a string, found an object","hint":"fix the record and try again","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            r#"{"sku":"a","qty":{"$serde_json::private::Number":"1"},"quote_id":"1"}"#,
            str![[
                r#"{"error":{"kind":"usage","message":"items.ndjson: line 1: cartItem.qty: expected a number, found an object","hint":"fix the record and try again","status":null,"applied":"no","service":null}}"#
            ]],
        ),
    ] {
        run(record).assert_failure(2, stderr);
    }
}

#[test]
fn a_profile_that_cannot_be_sent_back_is_refused_with_its_reason() {
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    let private =
        r#"{"id":7,"$serde_json::private::RawValue":1,"$serde_json::private::RawValue":2,"addresses":[]}"#;
    for (profile, stderr) in [
        (
            r#"{"id":7,"x":"\ud800","addresses":[]}"#.to_owned(),
            str![[r#"
error: cannot read the stored addresses: the service answered 200 OK with a body that is not JSON: half of a surrogate pair (`\ud800` to `\udfff`) at line 1 column 19
  hint: try again; -vv shows the response
"#]],
        ),
        (
            format!(r#"{{"id":7,"x":{deep},"addresses":[]}}"#),
            str![[r#"
error: cannot read the stored addresses: the service answered 200 OK with a body that is not JSON: nested over 127 levels deep
  hint: try again; -vv shows the response
"#]],
        ),
        (
            private.to_owned(),
            str![[r#"
error: cannot read the stored addresses from the response: duplicate field `$serde_json::private::RawValue`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
    ] {
        let (outcome, bodies) = updated(&profile, "customer update --email b@example.com -q");
        outcome.assert_failure(3, stderr);
        assert_eq!(bodies.len(), 0);
    }
}

#[test]
fn an_error_body_is_kept_byte_for_byte() {
    let body = format!(r#"{{"message":"no",{UNUSUAL}}}"#);
    let server = MockServer::start(vec![Step::Answer(crate::support::mock_server::reply(
        "400 Bad Request",
        "",
        &body,
    ))]);
    let home = Home::new();
    let line = "quote add-item --sku a --qty 1 --quote-id 1 -o json -q";
    let outcome = serve(home.storefront(line), &server.url("")).run();
    assert!(outcome.stderr.contains(&format!(r#""service":{body}"#)), "{outcome:?}");
}
