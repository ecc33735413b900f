//! "I could not read the addresses" is never "there are none": what every doubtful read comes to.

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve, words};

const UPDATE: &str = "customer update --email new@example.com";

/// Runs a command line against scripted replies: exit code, error object, methods of the requests that arrived.
fn against(script: Vec<Step>, line: &str) -> (i32, Value, Vec<String>) {
    let (home, server) = (Home::new(), MockServer::start(script));
    let line = format!("{line} -q -o json --retry 0 --timeout 5");
    let outcome = serve(home.storefront(&words(&line)), &server.url("")).run();
    assert_eq!(outcome.stdout, "", "{line}: {outcome:?}");
    let methods = server.requests().into_iter().map(|request| request.split(' ').next().unwrap().to_owned());
    (outcome.code, outcome.error(), methods.collect())
}

fn ok(body: &str) -> Step {
    answer("200 OK", "", body)
}

#[test]
fn a_read_in_doubt_is_refused_and_nothing_is_sent() {
    let bodies = [
        "",
        "null",
        "true",
        "\"ok\"",
        "{}",
        "[]",
        r#"{"id": 1, "email": "a@example.com"}"#,
        r#"{"addresses": null}"#,
        r#"{"addresses": {}}"#,
        r#"{"addresses": "none"}"#,
        r#"{"addresses": [1]}"#,
        r#"{"customer": null}"#,
        r#"{"customer": []}"#,
        r#"{"customer": {"id": 1}}"#,
        r#"{"customer": {"addresses": null}}"#,
        r#"{"items": [{"addresses": []}], "total_count": 1}"#,
        r#"[{"addresses": []}]"#,
        r#"{"data": {"customer": {"addresses": []}}}"#,
        r#"{"addresses": [{"id": 1}"#,
        "<html>Please sign in</html>",
    ];
    let statuses = [
        answer("200 OK", "Content-Type: text/html\r\n", "<html>Please sign in</html>"),
        answer("204 No Content", "", ""),
        answer("301 Moved Permanently", "Location: https://elsewhere.example/login\r\n", ""),
        answer("302 Found", "Location: /login\r\n", ""),
        answer("304 Not Modified", "", ""),
        answer("320 Odd", "", r#"{"addresses": []}"#),
        answer("400 Bad Request", "", r#"{"message": "no"}"#),
        answer("404 Not Found", "", r#"{"message": "Request does not match any route."}"#),
        answer("405 Method Not Allowed", "", ""),
        Step::AnswerAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"addresses\": []}".to_vec()),
    ];
    for step in bodies.map(ok).into_iter().chain(statuses) {
        for line in [UPDATE, "customer show"] {
            let (code, error, methods) = against(vec![step.clone()], line);
            assert_eq!(
                (code, &error["kind"], methods.as_slice()),
                (3, &json!("guard"), &["GET".into()][..]),
                "{step:?}"
            );
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains("cannot read the stored addresses") && error["applied"] == "no",
                "{step:?}: {error}"
            );
        }
    }
}

#[test]
fn a_list_that_replacing_would_spoil_is_refused() {
    for list in [
        r#"[{"id": 1}, {"city": "Paris"}]"#,
        r#"[{"id": 1}, {"id": null}]"#,
        r#"[{"id": 1}, {"id": 1}]"#,
        r#"[{"id": 1}, {"id": "1"}]"#,
        r#"[{"id": 1.5}]"#,
        r#"[{"id": "one"}]"#,
        r#"[{"id": ""}]"#,
        r#"[{"id": true}]"#,
        r#"[{"id": 99999999999999999999}]"#,
    ] {
        let (code, error, methods) =
            against(vec![ok(&format!(r#"{{"id": 7, "addresses": {list}}}"#))], UPDATE);
        assert_eq!((code, &error["kind"], methods.len()), (3, &json!("guard"), 1), "{list}: {error}");
    }
}

#[test]
fn no_token_no_network_and_a_broken_service_have_codes_of_their_own() {
    let silent = |bytes: &[u8]| Step::AnswerAndClose(bytes.to_vec());
    let cases = [
        (6, "auth", answer("401 Unauthorized", "", "")),
        (6, "auth", answer("403 Forbidden", "", "")),
        (5, "unavailable", answer("429 Too Many Requests", "", "")),
        (5, "unavailable", answer("500 Internal Server Error", "", "")),
        (5, "unavailable", answer("502 Bad Gateway", "", "<html>")),
        (5, "unavailable", answer("503 Service Unavailable", "", "")),
        (5, "unavailable", Step::Close),
        (5, "unavailable", Step::HangUp),
        (5, "unavailable", silent(b"HTTP/1.1 200 O")),
        (5, "unavailable", silent(b"SSH-2.0-OpenSSH_9.9\r\n")),
    ];
    for (expected, kind, step) in cases {
        for line in [UPDATE, "customer show"] {
            let (code, error, methods) = against(vec![step.clone()], line);
            assert_eq!((code, &error["kind"]), (expected, &json!(kind)), "{step:?}: {error}");
            assert!(methods.iter().all(|method| method == "GET"), "{methods:?}");
        }
    }
    let home = Home::new();
    let nobody = serve(home.storefront(&["customer", "show"]), "http://127.0.0.1:1");
    assert_eq!(nobody.run().code, 5);
    let tokenless =
        serve(home.storefront(&["customer", "show"]), "http://127.0.0.1:1").without("STOREFRONT_TOKEN");
    assert_eq!(tokenless.run().code, 6);
}

#[test]
fn the_second_read_is_held_to_the_same_rules() {
    let good = ok(r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 1}]}"#);
    for (expected, second) in [
        (3, ok("{}")),
        (3, ok(r#"{"id": 7, "email": "newer@example.com", "addresses": [{"id": 1}]}"#)),
        (3, answer("404 Not Found", "", "")),
        (6, answer("401 Unauthorized", "", "")),
        (5, answer("500 Internal Server Error", "", "")),
        (5, Step::Close),
    ] {
        let (code, error, methods) = against(vec![good.clone(), second.clone()], UPDATE);
        assert_eq!((code, methods.as_slice()), (expected, &["GET".into(), "GET".into()][..]), "{second:?}");
        assert_eq!(error["applied"], "no");
    }
}

#[test]
fn a_profile_kept_elsewhere_is_read_by_path_and_pointers() {
    let env = TestEnv::with_faults(&["envelope=data"]);
    assert_eq!(env.fails(3, "customer show")["kind"], "guard");
    let with = |read: &str| {
        let url = env.url();
        let profile = format!(
            "[profiles.shop]\nbase-url = \"{url}\"\nstore-view = \"fr\"\ntoken = \"sandbox-customer-1\"\n"
        );
        env.home.write("config.toml", profile + read, 0o600);
        env.home.run(&words("customer update -p shop --address 2 --city Troy -q -o json"))
    };
    for doubtful in [
        "read.customer = \"/data/nobody\"",
        "read.customer = \"/data\"",
        "read.customer = \"/data/customer\"\nread.addresses = \"/addressbook\"",
        "read.customer = \"/data/customer\"\nread.addresses = \"/data/customer/email\"",
        "read.path = \"/V1/storeview/{store_view}/nowhere\"",
    ] {
        let outcome = with(doubtful);
        assert_eq!((outcome.code, &outcome.error()["kind"]), (3, &json!("guard")), "{doubtful}");
    }
    let exact = "read.path = \"/V1/storeview/{store_view}/customer/profile\"\nread.customer = \"/data/customer\"\n\
                 read.addresses = \"/data/customer/addresses\"";
    assert_eq!(with(exact).done()["addresses"]["kept"], json!([1, 3, 4]));
    assert_eq!(with("read.customer = \"/data/customer\"").done()["reason"], "unchanged");
}

#[test]
fn show_prints_the_customer_as_it_came() {
    let raw =
        r#"{"id":7,"x":1.50,"addresses":[{"id":1,"street":["a"],"lat":40.7480}],"y":12345678901234567890}"#;
    for body in [raw.to_owned(), format!("{{\"customer\": {raw}}}")] {
        let (home, server) = (Home::new(), MockServer::start(vec![ok(&body)]));
        let outcome = serve(home.storefront(&words("customer show -o json")), &server.url("/rest/")).run();
        assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (0, format!("{raw}\n"), String::new()));
        assert!(
            server.requests()[0].starts_with("GET /rest/V1/storeview/default/customer/profile HTTP/1.1\r\n")
        );
    }
}

#[test]
fn show_for_a_person_escapes_what_is_foreign() {
    let body = r#"{"id": 7, "firstname": "A\u001b[31m", "addresses": [{"id": 1, "city": "X\u0007\u202e", "postcode": null}]}"#;
    let (home, server) = (Home::new(), MockServer::start(vec![ok(body)]));
    let outcome = serve(home.storefront(&words("customer show")), &server.url("")).run();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert!(!outcome.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{outcome:?}");
    assert!(outcome.stdout.contains("\\u{1b}[31m") && outcome.stdout.contains("ADDRESS"), "{outcome:?}");
}
