//! Sending: success, retries and failures.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::support::http_client::{
    SECRET, assert_failure_text, call, failing, get, link, post, retrying, run, send, ship, token, traced,
};
use crate::support::mock_server::{MockServer, Step, answer};
use serde_json::json;
use snapbox::str;
use storefront::client::{Client, ServiceSignal};
use storefront::config::Endpoint;
use storefront::system::clock::Clock;
use storefront_core::failure::{Applied, FailureKind};
use storefront_core::interface::request::Request;
use storefront_core::text::redact::secrets;

#[test]
fn a_request_is_sent_as_built_and_its_response_returned() {
    let server = MockServer::start(vec![answer("200 OK", "", r#"{"price":1.10}"#)]);
    let reply = send(&link(&server.url("/rest/")), &post()).unwrap();
    assert_eq!((reply.status, reply.warning.as_deref()), (200, None));
    assert_eq!(reply.value.to_string(), r#"{"price":1.10}"#);
    let request = &server.requests()[0];
    let lower = request.to_ascii_lowercase();
    assert!(request.starts_with("POST /rest/V1/storeview/default/user/quote/item HTTP/1.1\r\n"));
    assert!(request.ends_with("\r\n\r\n{\"cartItem\":{\"qty\":1}}"));
    for header in [
        "accept: application/json".to_owned(),
        "content-type: application/json".to_owned(),
        format!("authorization: bearer {SECRET}"),
        format!("user-agent: storefront/{}", env!("CARGO_PKG_VERSION")),
    ] {
        assert_eq!(lower.matches(&format!("\r\n{header}\r\n")).count(), 1, "{header}: {request}");
    }
}

#[test]
fn success_is_2xx_and_the_statuses_of_the_operation() {
    for (status, request) in [("204 No Content", post()), ("201 Created", post()), ("320 Saved", ship())] {
        let server = MockServer::start(vec![answer(status, "Location: http://127.0.0.1:9/\r\n", "")]);
        let reply = send(&retrying(&server), &request).unwrap();
        assert!(status.starts_with(&reply.status.to_string()));
        assert_eq!((reply.value, reply.warning), (json!(null), None));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = MockServer::start(vec![answer("200 OK", "", "{}")]);
    let there = elsewhere.url("/V2");
    for (status, request) in [
        ("301 Moved Permanently", get()),
        ("302 Found", post()),
        ("307 Temporary Redirect", post()),
        ("308 Permanent Redirect", ship()),
        ("320 Saved", post()),
        ("303 See Other", post()),
    ] {
        let (failure, count) =
            failing(vec![answer(status, &format!("Location: {there}\r\n"), "moved")], &request);
        // A 303 or 320 may follow work that was done; the others say where to go instead.
        let done = status.starts_with("320") || status.starts_with("303");
        let expected = if done {
            (FailureKind::Unknown, Applied::Unknown, 1)
        } else {
            (FailureKind::Refused, Applied::No, 1)
        };
        assert_eq!((failure.kind, failure.applied, count), expected, "{status}");
        assert!(failure.message.contains(&there), "{failure}");
        assert_eq!(failure.service, None);
    }
    let (failure, _) = failing(vec![answer("302 Found", "Location: /login?x\r\n", "")], &get());
    assert_failure_text(
        &failure,
        str![[r#"
the service answered 302 Found and redirects to http://127.0.0.1:[PORT]/login?x, which is not followed
  hint: if the service moved, update `base-url`
"#]],
    );
    let (failure, _) = failing(vec![answer("304 Not Modified", "", "")], &get());
    assert_eq!(failure.kind, FailureKind::Refused);
    assert_eq!(elsewhere.connections(), 0);
}

/// Every outcome: status line and headers, whether it reads, kind, whether applied, requests with two retries.
#[test]
fn each_status_has_its_kind_and_its_number_of_requests() {
    let soon = "Retry-After: 0\r\n";
    for (status, headers, reads, kind, applied, count) in [
        ("400 Bad Request", "", false, FailureKind::Refused, Applied::No, 1),
        ("401 Unauthorized", "", false, FailureKind::Auth, Applied::No, 1),
        ("403 Forbidden", "", true, FailureKind::Auth, Applied::No, 1),
        ("404 Not Found", "", true, FailureKind::Unavailable, Applied::No, 1),
        ("408 Request Timeout", soon, false, FailureKind::Unknown, Applied::Unknown, 1),
        ("499 Client Closed Request", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        ("408 Request Timeout", "", true, FailureKind::Unavailable, Applied::No, 1),
        ("202 Accepted", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        ("303 See Other", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        ("303 See Other", "", true, FailureKind::Refused, Applied::No, 1),
        ("429 Too Many Requests", "", false, FailureKind::Unavailable, Applied::No, 3),
        ("429 Too Many Requests", soon, false, FailureKind::Unavailable, Applied::No, 3),
        ("503 Service Unavailable", soon, false, FailureKind::Unknown, Applied::Unknown, 1),
        ("503 Service Unavailable", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        (
            "503 Service Unavailable",
            "Retry-After: soon\r\n",
            false,
            FailureKind::Unknown,
            Applied::Unknown,
            1,
        ),
        ("500 Internal Server Error", soon, false, FailureKind::Unknown, Applied::Unknown, 1),
        ("502 Bad Gateway", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        ("504 Gateway Timeout", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        ("599 Odd", "", false, FailureKind::Unknown, Applied::Unknown, 1),
        ("500 Internal Server Error", "", true, FailureKind::Unavailable, Applied::No, 3),
        ("503 Service Unavailable", "", true, FailureKind::Unavailable, Applied::No, 3),
    ] {
        let request = if reads { get() } else { post() };
        let body = r#"{"message": "No %1.", "parameters": ["way"]}"#;
        let (failure, requests) = failing(vec![answer(status, headers, body)], &request);
        assert_eq!((failure.kind, failure.applied, requests), (kind, applied, count), "{status} {headers}");
        assert_eq!(failure.status.unwrap().to_string(), status[..3]);
        // What is in a body that is no error is not for messages.
        let is_error = failure.status >= Some(400);
        assert_eq!(failure.message.contains(": No way"), is_error, "{failure}");
        assert!(is_error || failure.message.ends_with(" with a JSON body"), "{failure}");
        let body = json!({"message": "No %1.", "parameters": ["way"]});
        assert_eq!(failure.service, is_error.then_some(body));
    }
}

#[test]
fn a_successful_retry_is_success_and_throttling_is_reported() {
    let busy = || answer("429 Too Many Requests", "Retry-After: 0\r\n", "");
    let server = MockServer::start(vec![busy(), busy(), answer("200 OK", "", "1")]);
    run(async {
        let client = Client::new(&retrying(&server), None, Clock::system()).unwrap();
        let signals = Rc::new(RefCell::new(Vec::new()));
        let heard = signals.clone();
        client.observe(Box::new(move |signal| heard.borrow_mut().push(signal)));
        call(&client, &post()).await.unwrap();
        let throttled = ServiceSignal::Throttled(Some(Duration::ZERO));
        assert_eq!(*signals.borrow(), [throttled, throttled, ServiceSignal::Healthy]);
    });
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.requests()[0], server.requests()[2]);
}

/// An HTML page may come from a proxy or a login page, so it does not show whether the service applied the write.
#[test]
fn an_html_page_in_reply_to_a_write_is_an_unknown_outcome() {
    let page = "\r\n <!DOCTYPE html><title>Sign in</title>";
    for (content_type, body) in [
        ("text/html", page),
        ("application/json", page),
        ("application/json", "\u{feff} <html><title>Sign in</title>"),
        ("Text/HTML; charset=utf-8", "Sign in"),
        ("text/html", ""),
    ] {
        let answer = || answer("200 OK", &format!("Content-Type: {content_type}\r\n"), body);
        let (failure, requests) = failing(vec![answer()], &post());
        assert_eq!(
            (failure.kind, failure.applied, requests),
            (FailureKind::Unknown, Applied::Unknown, 1),
            "{content_type} {body}"
        );
        assert_eq!(
            failure.hint.as_ref().map(ToString::to_string).as_deref(),
            Some(
                "check for a proxy, a firewall or a login page in front of the service, then whether it took effect"
            )
        );
        let (failure, _) = failing(vec![answer()], &get());
        assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No));
    }
    let (failure, _) = failing(vec![answer("200 OK", "", page)], &post());
    assert_eq!(failure.message, "the service answered 200 OK with an HTML page");
}

#[test]
fn retry_0_disables_retries() {
    for step in [
        answer("429 Too Many Requests", "Retry-After: 0\r\n", ""),
        answer("500 Internal Server Error", "", ""),
        Step::Close,
    ] {
        let server = MockServer::start(vec![step]);
        send(&link(&server.url("")), &get()).unwrap_err();
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_chunked_response_is_read_whole() {
    let bytes =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{\"\r\n5\r\na\":1}\r\n0\r\n\r\n".to_vec();
    let server = MockServer::start(vec![Step::Answer(bytes)]);
    let reply = send(&link(&server.url("")), &get()).unwrap();
    assert_eq!((reply.value, reply.warning), (json!({"a": 1}), None));
}

#[test]
fn plain_http_is_allowed_only_on_loopback() {
    for (base, expected) in [
        (
            "http://192.0.2.1",
            str![[r#"
plain http:// to http://192.0.2.1/ would expose the token and customer data
  hint: use https://, or set `allow-plain-http = true` in the profile
"#]],
        ),
        (
            "http://localhost.example",
            str![[r#"
plain http:// to http://localhost.example/ would expose the token and customer data
  hint: use https://, or set `allow-plain-http = true` in the profile
"#]],
        ),
        (
            "http://shop.example/rest",
            str![[r#"
plain http:// to http://shop.example/rest would expose the token and customer data
  hint: use https://, or set `allow-plain-http = true` in the profile
"#]],
        ),
    ] {
        let failure = Client::new(&link(base), None, Clock::system()).err().unwrap();
        assert_eq!(failure.kind, FailureKind::Usage, "{base}");
        assert_failure_text(&failure, expected);
        let allowed = Endpoint { allow_plain_http: true, ..link(base) };
        assert!(Client::new(&allowed, None, Clock::system()).is_ok());
    }
    for base in ["http://127.9.9.9:1/x", "http://[::1]:1", "http://LOCALHOST"] {
        assert!(Client::new(&link(base), None, Clock::system()).is_ok(), "{base}");
    }
}

#[test]
fn the_path_cannot_leave_the_host() {
    let client = Client::new(&link("https://shop.example"), None, Clock::system()).unwrap();
    let url = |path: &str| client.url(&Request { path: path.to_owned(), ..get() });
    assert_eq!(url("/V1/x?y=1"), "https://shop.example/V1/x?y=1");
    assert_eq!(url(".evil.example/"), "https://shop.example/.evil.example/");
    assert_eq!(url("@evil.example/"), "https://shop.example/@evil.example/");
    assert_eq!(url("/V1/../a b"), "https://shop.example/a%20b");
    assert_eq!(url("//evil.example/"), "https://shop.example//evil.example/");
}

#[test]
fn the_token_is_in_no_event_and_in_no_failure() {
    secrets().add(&token());
    let echo = format!(r#"{{"message": "who is {SECRET}?"}}"#);
    let headers = format!("Set-Cookie: session={SECRET}\r\nLocation: /{SECRET}\r\n");
    for status in ["200 OK", "302 Found", "400 Bad Request"] {
        let server = MockServer::start(vec![answer(status, &headers, &echo)]);
        let (result, events) = run(async {
            let (client, events) = traced(&link(&server.url("")));
            (call(&client, &post()).await, events)
        });
        let events = events.lock().unwrap().join("\n");
        assert!(events.contains("(\"authorization\", \"•••\")"), "{events}");
        assert!(events.contains("cartItem"), "{events}");
        // What the service echoes is masked where it is printed; our own header never holds it.
        assert_eq!(events.lines().next().unwrap().matches(SECRET).count(), 0, "{events}");
        if let Err(failure) = result {
            assert!(!failure.service.unwrap_or_default().to_string().contains(SECRET));
        }
    }
}

#[test]
fn a_client_sends_concurrently_and_reuses_connections() {
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    run(async {
        let client = Client::new(&link(&server.url("")), None, Clock::system()).unwrap();
        let workers = (0..8).map(async |_| {
            for _ in 0..25 {
                call(&client, &post()).await.unwrap();
            }
        });
        futures_util::future::join_all(workers).await;
    });
    assert_eq!(server.requests().len(), 200);
    assert!(server.connections() <= 16, "{}", server.connections());
}

/// Which of the two happens is up to chance. Bytes that went out are never denied; where none can have, that is said.
#[test]
fn a_path_that_cannot_be_sent_is_not_an_unknown_outcome() {
    let server = MockServer::start(vec![answer("200 OK", "", "")]);
    let path = |path: String| Request { path, ..post() };
    let failure = send(&link(&server.url("")), &path("/V1/a#b".to_owned())).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Usage, Applied::No));
    let failure = send(&retrying(&server), &path(format!("/{}", "x".repeat(70_000)))).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No), "{failure}");
    assert!(!failure.message.contains("tried"), "{failure}");
    assert_eq!(server.connections(), 0);
}
