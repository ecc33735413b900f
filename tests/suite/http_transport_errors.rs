//! Transport errors: no response, or half of one.

use std::time::Duration;

use snapbox::str;

use crate::support::http_client::{
    assert_failure_text, call, failing, get, link, post, retrying, run, send, ship, traced,
};
use crate::support::mock_server::{MockServer, Step, answer, reply};
use crate::support::snapshot::assert_snapshot;
use serde_json::json;
use storefront::client::Client;
use storefront::config::Endpoint;
use storefront::system::clock::Clock;
use storefront_core::failure::{Applied, FailureKind};

#[test]
fn a_write_without_a_response_is_unknown_and_never_retried() {
    for (step, expected) in [
        (
            Step::Close,
            str![[r#"
the connection to 127.0.0.1:[PORT] was lost before a response arrived: connection closed before message completed
  hint: check whether it took effect before you try again
"#]],
        ),
        (
            Step::AnswerAndClose(b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()),
            str![[r#"
the connection to 127.0.0.1:[PORT] was lost before a response arrived: connection closed before message completed
  hint: check whether it took effect before you try again
"#]],
        ),
        (
            Step::AnswerAndClose(b"nonsense\r\n\r\n".to_vec()),
            str![[r#"
the connection to 127.0.0.1:[PORT] was lost before a response arrived: invalid HTTP version parsed
  hint: check whether it took effect before you try again
"#]],
        ),
    ] {
        let name = format!("{step:?}");
        let (failure, count) = failing(vec![step], &post());
        assert_eq!(
            (failure.kind, failure.applied, count),
            (FailureKind::Unknown, Applied::Unknown, 1),
            "{name}"
        );
        assert_failure_text(&failure, expected);
    }
}

#[test]
fn a_read_without_a_response_is_retried_and_then_unavailable() {
    let (failure, count) = failing(vec![Step::Close], &get());
    assert_eq!((failure.kind, failure.applied, count), (FailureKind::Unavailable, Applied::No, 3));
    assert_failure_text(
        &failure,
        str![
            "the connection to 127.0.0.1:[PORT] was lost before a response arrived: connection closed before message completed (tried 3 times)"
        ],
    );
    let server = MockServer::start(vec![Step::Close, answer("200 OK", "", "{}")]);
    send(&retrying(&server), &get()).unwrap();
}

/// The library sends a request again by itself when a kept connection turns out to be closed: only if nothing went.
#[test]
fn a_write_on_a_closing_connection_arrives_once() {
    for _ in 0..20 {
        let server =
            MockServer::start(vec![answer("200 OK", "", "1"), Step::Close, answer("200 OK", "", "2")]);
        let failure = run(async {
            let client = Client::new(&retrying(&server), None, Clock::system()).unwrap();
            call(&client, &post()).await.unwrap();
            call(&client, &post()).await.unwrap_err()
        });
        assert_eq!((failure.kind, failure.applied), (FailureKind::Unknown, Applied::Unknown));
        assert_eq!((server.requests().len(), server.connections()), (2, 1));
    }
}

#[test]
fn a_write_after_a_dropped_connection_uses_a_new_one() {
    let server =
        MockServer::start(vec![Step::AnswerAndClose(reply("200 OK", "", "1")), answer("200 OK", "", "2")]);
    run(async {
        let client = Client::new(&link(&server.url("")), None, Clock::system()).unwrap();
        call(&client, &post()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(call(&client, &post()).await.unwrap().bytes, b"2");
    });
    assert_eq!((server.requests().len(), server.connections()), (2, 2));
}

#[test]
fn a_refused_connection_is_retried_and_unavailable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let link = Endpoint { retry: 1, ..link(&base) };
    let (failure, events) = run(async {
        let (client, events) = traced(&link);
        (call(&client, &post()).await.unwrap_err(), events)
    });
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No));
    assert_failure_text(
        &failure,
        str![[r#"
cannot connect to 127.0.0.1:[PORT]: Connection refused (os error [N]) (tried 2 times)
  hint: run `storefront doctor` to diagnose the connection
"#]],
    );
    let events = events.lock().unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["Sending", "TransportError", "Retry", "Sending", "TransportError"]);
}

#[test]
fn an_unknown_host_is_unavailable() {
    let link = link("https://no-such-host.invalid");
    let failure = send(&link, &post()).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No));
    assert!(failure.message.contains("no-such-host.invalid"), "{failure}");
}

#[test]
fn localhost_is_resolved_without_dns() {
    let server = MockServer::start(vec![answer("200 OK", "", "")]);
    let base = format!("http://localhost:{}", server.address.port());
    send(&link(&base), &post()).unwrap();
}

#[test]
fn a_missing_response_ends_at_the_timeout() {
    let slow = || Step::Stall(Duration::from_secs(3), reply("200 OK", "", ""));
    let half = || Step::Drip(b"HTTP/1.1 200 OK\r\n".to_vec(), Duration::from_secs(3), b"\r\n".to_vec());
    for (step, request, kind, expected) in [
        (
            slow(),
            post(),
            FailureKind::Unknown,
            str![[r#"
no response from 127.0.0.1:[PORT] within 0.3 s
  hint: check whether it took effect before you try again
"#]],
        ),
        (
            half(),
            post(),
            FailureKind::Unknown,
            str![[r#"
no response from 127.0.0.1:[PORT] within 0.3 s
  hint: check whether it took effect before you try again
"#]],
        ),
        (
            slow(),
            get(),
            FailureKind::Unavailable,
            str![[r#"
no response from 127.0.0.1:[PORT] within 0.3 s
  hint: increase --timeout
"#]],
        ),
    ] {
        let server = MockServer::start(vec![step]);
        let link = Endpoint { timeout: Duration::from_millis(300), ..link(&server.url("")) };
        let failure = send(&link, &request).unwrap_err();
        assert_eq!(failure.kind, kind);
        assert_failure_text(&failure, expected);
    }
}

/// The TLS handshake never ends, so nothing was sent.
#[test]
fn a_hanging_handshake_is_unavailable() {
    let server = MockServer::start_silent();
    let link = Endpoint { timeout: Duration::from_millis(500), ..link(&format!("https://{server}")) };
    let failure = send(&link, &post()).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No), "{failure}");
}

#[test]
fn a_success_with_a_truncated_body_is_success_with_a_warning() {
    let short = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":".to_vec();
    let chunked = b"HTTP/1.1 320 Saved\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz".to_vec();
    for (bytes, expected) in [(short, "{\"half\":"), (chunked, "abc")] {
        let server = MockServer::start(vec![Step::AnswerAndClose(bytes)]);
        let reply = send(&retrying(&server), &ship()).unwrap();
        assert_eq!(reply.value, json!(expected));
        assert_snapshot(&reply.warning.unwrap(), str!["response body ended unexpectedly"]);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn an_endless_body_is_success_with_a_warning_at_the_timeout() {
    let first = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec();
    let server = MockServer::start(vec![Step::Drip(first, Duration::from_secs(3), Vec::new())]);
    let link = Endpoint { timeout: Duration::from_millis(300), ..link(&server.url("")) };
    let reply = send(&link, &post()).unwrap();
    assert_eq!((reply.status, &reply.bytes[..]), (200, &b"abc"[..]));
    assert_snapshot(&reply.warning.unwrap(), str!["the response body did not complete within 0.3 s"]);
}

#[test]
fn a_refusal_with_a_truncated_body_is_a_refusal() {
    let bytes = b"HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nno such".to_vec();
    let (failure, count) = failing(vec![Step::AnswerAndClose(bytes)], &post());
    assert_eq!((failure.kind, failure.status, count), (FailureKind::Refused, Some(404), 1));
    assert_failure_text(&failure, str!["the service answered 404 Not Found: no such"]);
}

#[test]
fn no_more_than_16_mib_are_read() {
    let limit = 16 << 20;
    for (length, warned) in [(limit, false), (limit + 1, true)] {
        let server = MockServer::start(vec![answer("200 OK", "", &"x".repeat(length))]);
        let reply = send(&link(&server.url("")), &post()).unwrap();
        assert_eq!((reply.bytes.len(), reply.warning.is_some()), (limit, warned));
    }
}

#[test]
fn a_connection_closed_at_once_is_unknown_if_bytes_were_sent() {
    for _ in 0..200 {
        let server = MockServer::start(vec![Step::HangUp]);
        let failure = send(&link(&server.url("")), &post()).unwrap_err();
        let heard = server.received_after_hang_up();
        match (failure.kind, failure.applied) {
            (FailureKind::Unknown, Applied::Unknown) => {}
            // The system may notice the closed connection before anything leaves.
            (FailureKind::Unavailable, Applied::No) if !heard => {}
            other => panic!("{other:?} {heard}: {failure}"),
        }
    }
}
