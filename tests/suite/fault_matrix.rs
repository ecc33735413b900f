//! Faults by operation: the exit code, the requests that arrived, and `applied`.

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{ADD_ITEM, TestEnv, serve};

const UPDATE: &str = "customer update --address 2 --city Troy";
const SHIP: &str =
    "quote ship --ship-to-address 2 --carrier flatrate --method flatrate --payment-method checkmo";
const CREATE: &str = "attribute create --code fabric --type text";
const SHOW: &str = "customer show";

/// A fault, the exit code, `applied`, and the requests that reached the service: method and status.
type Row = (&'static str, i32, &'static str, &'static [&'static str]);

/// Runs a command against each fault, with one retry and a short timeout.
#[track_caller]
fn each(line: &str, rows: &[Row]) {
    for (fault, code, applied, heard) in rows {
        let faults: Vec<&str> = fault.split(' ').collect();
        let env = TestEnv::with_faults(&faults);
        let settle = if *line == *UPDATE { " --settle 0" } else { "" };
        let outcome = env.run(&format!("{line} -o json -q --retry 1 --timeout 0.5{settle}"));
        assert_eq!(outcome.code, *code, "{line}, {fault}: {outcome:?}");
        let said = match code {
            0 => serde_json::from_str(&outcome.stdout).unwrap(),
            _ => outcome.error(),
        };
        if line != SHOW {
            assert_eq!(said["applied"], *applied, "{line}, {fault}: {outcome:?}");
        }
        // A request that is cut off or times out may be observed a moment later.
        let mut all = Vec::new();
        for _ in 0..200 {
            all.extend(env.requests());
            if all.len() >= heard.len() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(all, *heard, "{line}, {fault}: {outcome:?}");
    }
}

#[test]
fn an_item_is_sent_once_unless_it_cannot_have_been_applied() {
    each(
        ADD_ITEM,
        &[
            ("429", 5, "no", &["POST 429", "POST 429"]),
            ("429=0", 5, "no", &["POST 429", "POST 429"]),
            ("503=0", 8, "unknown", &["POST 503"]),
            ("429=0x1", 0, "yes", &["POST 429", "POST 200"]),
            ("varnish", 8, "unknown", &["POST 503"]),
            ("late=10", 8, "unknown", &["POST 504"]),
            ("500", 8, "unknown", &["POST 500"]),
            ("502", 8, "unknown", &["POST 502"]),
            ("503", 8, "unknown", &["POST 503"]),
            ("500-after-commit", 8, "unknown", &["POST 500"]),
            ("502-after-commit", 8, "unknown", &["POST 502"]),
            ("503-after-commit", 8, "unknown", &["POST 503"]),
            ("reset-before-commit", 8, "unknown", &["POST 200"]),
            ("reset-after-commit", 8, "unknown", &["POST 200"]),
            ("latency=900", 8, "unknown", &[]),
            ("latency-after-commit=900", 8, "unknown", &[]),
            ("html", 8, "unknown", &["POST 200"]),
            ("empty", 0, "yes", &["POST 200"]),
        ],
    );
}

#[test]
fn the_other_posts_follow_the_same_rule() {
    each(
        SHIP,
        &[
            ("POST:429=0", 5, "no", &["GET 200", "POST 429", "POST 429"]),
            ("POST:503", 8, "unknown", &["GET 200", "POST 503"]),
            ("reset-after-commit", 8, "unknown", &["GET 200", "POST 320"]),
            ("POST:html", 8, "unknown", &["GET 200", "POST 320"]),
            ("no-get", 3, "no", &["GET 404"]),
            ("GET:500x1 POST:empty", 0, "yes", &["GET 500", "GET 200", "POST 320"]),
        ],
    );
    each(
        CREATE,
        &[
            ("429=0x1", 0, "yes", &["POST 429", "POST 200"]),
            ("503=0", 8, "unknown", &["POST 503"]),
            ("500", 8, "unknown", &["POST 500"]),
            ("reset-before-commit", 8, "unknown", &["POST 200"]),
            ("silent-update", 0, "yes", &["POST 200"]),
        ],
    );
}

#[test]
fn a_read_is_retried_and_never_treated_as_empty() {
    each(
        SHOW,
        &[
            ("500", 5, "no", &["GET 500", "GET 500"]),
            ("502", 5, "no", &["GET 502", "GET 502"]),
            ("503", 5, "no", &["GET 503", "GET 503"]),
            ("429=0", 5, "no", &["GET 429", "GET 429"]),
            ("500x1", 0, "", &["GET 500", "GET 200"]),
            ("no-get", 3, "no", &["GET 404"]),
            ("html", 3, "no", &["GET 200"]),
            ("empty", 3, "no", &["GET 200"]),
            ("truncated", 3, "no", &["GET 200"]),
            ("envelope", 3, "no", &["GET 200"]),
            ("envelope=data", 3, "no", &["GET 200"]),
            ("envelope=bare", 0, "", &["GET 200"]),
        ],
    );
}

#[test]
fn the_outcome_of_a_replacement_is_verified_by_reading_back() {
    each(
        UPDATE,
        &[
            ("PUT:429=0", 5, "no", &["GET 200", "PUT 429", "GET 200", "PUT 429"]),
            // What may have been applied is not sent again, whatever reading back shows.
            ("PUT:503=0x1", 8, "unknown", &["GET 200", "PUT 503", "GET 200"]),
            ("reset-before-commit", 8, "unknown", &["GET 200", "PUT 200", "GET 200"]),
            // Two reads show it.
            ("PUT:varnish=applied", 0, "yes", &["GET 200", "PUT 503", "GET 200", "GET 200"]),
            ("500-after-commit", 0, "yes", &["GET 200", "PUT 500", "GET 200", "GET 200"]),
            ("reset-after-commit", 0, "yes", &["GET 200", "PUT 200", "GET 200", "GET 200"]),
            ("PUT:latency-after-commit=5000", 0, "yes", &["GET 200", "GET 200", "GET 200"]),
            ("PUT:html", 0, "yes", &["GET 200", "PUT 200", "GET 200", "GET 200"]),
            ("PUT:empty", 0, "yes", &["GET 200", "PUT 200", "GET 200"]),
            ("PUT:truncated", 0, "yes", &["GET 200", "PUT 200", "GET 200"]),
            ("drop-address", 9, "yes", &["GET 200", "PUT 200", "GET 200"]),
            ("GET:500", 5, "no", &["GET 500", "GET 500"]),
            ("no-get", 3, "no", &["GET 404"]),
            ("html", 3, "no", &["GET 200"]),
        ],
    );
}

#[test]
fn a_truncated_response_is_success_with_a_warning() {
    for line in [ADD_ITEM, CREATE] {
        let env = TestEnv::with_faults(&["truncated"]);
        let outcome = env.run(&format!("{line} -q -o json"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let warning = r#"{"warning":{"message":"response body ended unexpectedly"}}"#;
        assert_eq!(outcome.stderr.trim_end(), warning, "{outcome:?}");
        assert_eq!(env.requests().len(), 1);
    }
}

#[test]
fn retry_0_sends_each_request_once() {
    for (line, fault) in [(ADD_ITEM, "429=0"), (SHOW, "500"), (UPDATE, "GET:429=0")] {
        let env = TestEnv::with_faults(&[fault]);
        assert_eq!(env.fails(5, &format!("{line} --retry 0"))["kind"], "unavailable", "{line}");
        assert_eq!(env.requests().len(), 1, "{line}, {fault}");
    }
    let env = TestEnv::with_faults(&["PUT:500"]);
    env.fails(8, &format!("{UPDATE} --retry 0 --settle 0"));
    assert_eq!(env.requests(), ["GET 200", "PUT 500", "GET 200"]);
}

/// Runs the update against a good read and what follows: exit code, output, number of requests.
fn after_a_read(then: &[Step]) -> (i32, Value, usize) {
    let good = answer(
        "200 OK",
        "",
        r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 1}, {"id": 2, "city": "Rome"}]}"#,
    );
    let script = [&[good], then].concat();
    let (home, server) = (Home::new(), MockServer::start(script));
    let line = format!("{UPDATE} -q -o json --retry 0 --timeout 5 --settle 0");
    let outcome = serve(home.storefront(&line), &server.url("")).run();
    let said =
        if outcome.code == 0 { serde_json::from_str(&outcome.stdout).unwrap() } else { outcome.error() };
    (outcome.code, said, server.requests().len())
}

#[test]
fn every_outcome_of_the_put_has_its_exit_code() {
    let troy = answer(
        "200 OK",
        "",
        r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 1}, {"id": 2, "city": "Troy"}]}"#,
    );
    let half = answer(
        "200 OK",
        "",
        r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 2, "city": "Troy"}]}"#,
    );
    let old = answer(
        "200 OK",
        "",
        r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 1}, {"id": 2, "city": "Rome"}]}"#,
    );
    let third = answer(
        "200 OK",
        "",
        r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 1}, {"id": 2, "city": "TROY"}]}"#,
    );
    let lost = answer(
        "200 OK",
        "",
        r#"{"id": 7, "email": "old@example.com", "addresses": [{"id": 2, "city": "Rome"}]}"#,
    );
    let taken = answer("200 OK", "", "{}");
    let error = answer("500 Internal Server Error", "", "");
    let refused = answer("400 Bad Request", "", "");
    for (name, then, code, applied, requests) in [
        ("applied", vec![taken.clone(), troy.clone()], 0, "yes", 3),
        ("applied, an address is missing", vec![taken.clone(), half.clone()], 9, "yes", 3),
        ("applied, the change is missing", vec![taken.clone(), old.clone()], 9, "yes", 3),
        ("applied, changed by the service", vec![taken.clone(), third.clone()], 0, "yes", 3),
        ("applied, then unreadable", vec![taken.clone(), error.clone()], 0, "yes", 3),
        ("no response, applied", vec![Step::Close, troy.clone()], 0, "yes", 4),
        ("no response, unchanged", vec![Step::Close, old.clone()], 8, "unknown", 3),
        ("no response, an address is missing", vec![Step::Close, half], 8, "unknown", 3),
        ("no response, then unreadable", vec![Step::Close, error.clone()], 8, "unknown", 3),
        (
            "no response, then a login page",
            vec![Step::Close, answer("200 OK", "", "<html>")],
            8,
            "unknown",
            3,
        ),
        ("error, applied", vec![error.clone(), troy.clone()], 0, "yes", 4),
        ("error, then unreadable", vec![error.clone(), error.clone()], 8, "unknown", 3),
        ("refused", vec![refused.clone(), old.clone()], 4, "no", 3),
        ("refused, but saved", vec![refused.clone(), troy.clone()], 9, "unknown", 3),
        ("refused, an address is missing", vec![refused.clone(), lost], 4, "unknown", 3),
        ("refused, another value", vec![refused.clone(), third], 4, "unknown", 3),
        ("refused, then unreadable", vec![refused, error], 4, "unknown", 3),
        ("not allowed", vec![answer("403 Forbidden", "", ""), troy.clone()], 6, "no", 2),
        (
            "redirected",
            vec![answer("307 Temporary Redirect", "Location: /x\r\n", ""), troy.clone()],
            4,
            "no",
            2,
        ),
        ("320 is only for shipping", vec![answer("320 Saved", "", ""), troy], 0, "yes", 4),
    ] {
        let (got, said, sent) = after_a_read(&then);
        assert_eq!((got, &said["applied"], sent), (code, &json!(applied), requests), "{name}: {said}");
        if matches!(code, 8 | 9) {
            assert!(said["hint"].as_str().unwrap().contains("`storefront undo 1 "), "{name}: {said}");
            assert_eq!(said["write"], "1", "{name}: {said}");
        }
    }
}

#[test]
fn redirects_are_named_and_not_followed() {
    let elsewhere = MockServer::start(vec![answer("200 OK", "", "{}")]);
    for (status, code, kind) in [
        ("301 Moved", 4, "refused"),
        ("302 Found", 4, "refused"),
        ("303 See Other", 8, "unknown"),
        ("307 Temporary Redirect", 4, "refused"),
        ("308 Permanent Redirect", 4, "refused"),
        ("320 Saved", 8, "unknown"),
    ] {
        let target = elsewhere.url("/taken");
        let server = MockServer::start(vec![answer(status, &format!("Location: {target}\r\n"), "")]);
        let line = format!("{ADD_ITEM} -q -o json");
        let outcome = serve(Home::new().storefront(&line), &server.url("")).run();
        let error = outcome.error();
        assert_eq!((outcome.code, &error["kind"]), (code, &json!(kind)), "{status}: {outcome:?}");
        assert!(error["message"].as_str().unwrap().contains(&target), "{status}: {error}");
        assert_eq!(server.requests().len(), 1);
    }
    assert_eq!(elsewhere.connections(), 0, "the token goes to no other host");
}
