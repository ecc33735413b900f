//! Reads that do not give an address list: nothing is sent, since a missing list is never taken for an empty one.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::scripted::{self, failing};
use crate::support::snapshot::assert_snapshot_file;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve, words};

const UPDATE: &str = "customer update --email new@example.com";

/// The status and the body of a reply on one line.
fn reply_line(step: &Step) -> String {
    let (Step::Answer(bytes) | Step::AnswerAndClose(bytes)) = step else { panic!("{step:?}") };
    let reply = String::from_utf8(bytes.clone()).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    format!("{} {body}", head.lines().next().unwrap())
}

/// The message and the hint of an error object.
fn text(error: &Value) -> String {
    let hint = error["hint"].as_str().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    format!("{}{hint}", error["message"].as_str().unwrap())
}

fn ok(body: &str) -> Step {
    answer("200 OK", "", body)
}

#[test]
fn a_read_without_an_address_list_is_refused_and_nothing_is_sent() {
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
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"addresses\": []}".to_vec();
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
        Step::AnswerAndClose(cut),
    ];
    let mut report = String::new();
    for step in bodies.map(ok).into_iter().chain(statuses) {
        report += &format!("{}\n", reply_line(&step));
        for line in [UPDATE, "customer show"] {
            let (code, error, methods) = failing(vec![step.clone()], line);
            assert_eq!(
                (code, &error["kind"], methods.as_slice()),
                (3, &json!("guard"), &["GET".into()][..]),
                "{step:?}"
            );
            assert_eq!(error["applied"], "no", "{step:?}: {error}");
            report += &format!("  {line}: {}\n", text(&error));
        }
    }
    assert_snapshot_file(&report, "unreadable-profiles.txt");
}

#[test]
fn an_address_list_with_missing_or_duplicate_ids_is_refused() {
    let mut report = String::new();
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
            failing(vec![ok(&format!(r#"{{"id": 7, "addresses": {list}}}"#))], UPDATE);
        assert_eq!((code, &error["kind"], methods.len()), (3, &json!("guard"), 1), "{list}: {error}");
        report += &format!("{list}\n  {}\n", text(&error));
    }
    assert_snapshot_file(&report, "invalid-address-ids.txt");
}

#[test]
fn auth_network_and_service_failures_have_their_own_exit_codes() {
    let silent = |bytes: &[u8]| Step::AnswerAndClose(bytes.to_vec());
    let mut report = String::new();
    for (expected, kind, step) in [
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
    ] {
        for line in [UPDATE, "customer show"] {
            let (code, error, methods) = failing(vec![step.clone()], line);
            assert_eq!((code, &error["kind"]), (expected, &json!(kind)), "{step:?}: {error}");
            assert!(methods.iter().all(|method| method == "GET"), "{methods:?}");
            // Whether the request was still sent is up to chance, and with it the message.
            if !matches!(step, Step::HangUp) {
                report += &format!("{line}: {}\n", text(&error));
            }
        }
    }
    assert_snapshot_file(&report, "failed-reads.txt");
    let home = Home::new();
    let closed = || serve(home.storefront("customer show --retry 0"), "http://127.0.0.1:1");
    closed().run().assert_failure(
        5,
        str![[r#"
error: cannot connect to 127.0.0.1:1: Connection refused (os error [N])
  hint: run `storefront doctor` to diagnose the connection
"#]],
    );
    closed().without("STOREFRONT_TOKEN").run().assert_failure(
        6,
        str![[r#"
error: no customer's token configured
  hint: set STOREFRONT_TOKEN
"#]],
    );
}

/// A request that was not taken is sent again, made from a new read.
#[test]
fn the_read_before_a_repeated_request_follows_the_same_rules() {
    let good = ok(r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 1}]}"#);
    for (expected, second) in [
        (3, ok("{}")),
        (3, answer("404 Not Found", "", "")),
        (6, answer("401 Unauthorized", "", "")),
        (5, answer("500 Internal Server Error", "", "")),
        (5, Step::Close),
    ] {
        let busy = answer("429 Too Many Requests", "Retry-After: 0\r\n", "");
        let line = format!("{UPDATE} --retry 1");
        let (code, error, methods) = failing(vec![good.clone(), busy, second.clone()], &line);
        assert_eq!(code, expected, "{second:?}: {error}");
        assert_eq!(methods.iter().filter(|method| *method == "PUT").count(), 1, "{second:?}: {methods:?}");
        assert_eq!(error["applied"], "no");
    }
}

#[test]
fn read_path_and_pointers_find_the_profile() {
    let env = TestEnv::with_faults(&["envelope=data"]);
    assert_eq!(env.fails(3, "customer show")["kind"], "guard");
    let with = |read: &str| {
        let url = env.url();
        let profile = format!(
            "[profiles.shop]\nbase-url = \"{url}\"\nstore-view = \"fr\"\ntoken = \"sandbox-customer-1\"\n"
        );
        env.home.write("config.toml", profile + read, 0o600);
        env.home.run("customer update -p shop --address 2 --city Troy -q -o json")
    };
    for wrong in [
        "read.customer = \"/data/nobody\"",
        "read.customer = \"/data\"",
        "read.customer = \"/data/customer\"\nread.addresses = \"/addressbook\"",
        "read.customer = \"/data/customer\"\nread.addresses = \"/data/customer/email\"",
        "read.path = \"/V1/storeview/{store_view}/nowhere\"",
    ] {
        let outcome = with(wrong);
        assert_eq!((outcome.code, &outcome.error()["kind"]), (3, &json!("guard")), "{wrong}");
    }
    let exact = "read.path = \"/V1/storeview/{store_view}/customer/profile\"\nread.customer = \"/data/customer\"\n\
                 read.addresses = \"/data/customer/addresses\"";
    assert_eq!(with(exact).done()["addresses"]["kept"], json!([1, 3, 4]));
    assert_eq!(with("read.customer = \"/data/customer\"").done()["reason"], "unchanged");
}

#[test]
fn show_prints_the_customer_unchanged() {
    let raw =
        r#"{"id":7,"x":1.50,"addresses":[{"id":1,"street":["a"],"lat":40.7480}],"y":12345678901234567890}"#;
    for body in [raw.to_owned(), format!("{{\"customer\": {raw}}}")] {
        let (home, server) = (Home::new(), MockServer::start(vec![ok(&body)]));
        let outcome = serve(home.storefront("customer show -o json"), &server.url("/rest/")).run();
        assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (0, format!("{raw}\n"), String::new()));
        assert!(
            server.requests()[0].starts_with("GET /rest/V1/storeview/default/customer/profile HTTP/1.1\r\n")
        );
    }
}

#[test]
fn control_characters_of_the_service_are_escaped() {
    let body = r#"{"id": 7, "firstname": "A\u001b[31m", "addresses": [{"id": 1, "city": "X\u0007\u202e", "postcode": null}]}"#;
    let (home, server) = (Home::new(), MockServer::start(vec![ok(body)]));
    let outcome = serve(home.storefront("customer show"), &server.url("")).run();
    outcome.assert_success(str![[r#"
A\u{1b}[31m (customer 7)

address 1
  City  X\u{7}\u{202e}
"#]]);
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
  hint: check the base URL, and for a proxy, a firewall or a login page in front of the service
"#]],
        ),
    ] {
        let page = format!("<html>\r\n<head><title>{title}</title></head></html>");
        let (outcome, _) =
            scripted::against(vec![answer("400 Bad Request", "Content-Type: text/html\r\n", &page)], UPDATE);
        scripted::fails_with(&outcome, 3, expected);
    }
}

#[test]
fn a_reply_that_is_no_json_is_said_to_be_none() {
    for (body, what) in [
        ("", ": the service answered 200 OK with an empty body"),
        ("<html>Please sign in</html>", ": the service answered 200 OK with an HTML page"),
        (r#"{"addresses": ["#, ": the service answered 200 OK with a body that is not JSON: EOF"),
    ] {
        let server = MockServer::start(vec![answer("200 OK", "", body)]);
        let home = Home::new();
        let shown = serve(home.storefront(&words("customer show -o json --retry 0")), &server.url("")).run();
        let error = shown.error();
        let expected = format!("cannot read the stored addresses{what}");
        assert!(error["message"].as_str().unwrap().starts_with(&expected), "{error}");
        assert!(!error["hint"].as_str().unwrap().contains("--base"), "{error}");
    }
}

#[test]
fn a_profile_is_never_read_from_a_cache() {
    let server = MockServer::start(vec![scripted::ok(&scripted::profile(json!({})))]);
    scripted::run(&Home::new(), &server.url(""), "customer show");
    let request = server.requests().remove(0).to_ascii_lowercase();
    assert!(request.contains("\r\ncache-control: no-cache\r\n"), "{request}");
}
