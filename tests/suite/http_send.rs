//! Sending: what counts as success, what is repeated, and what a failure says.

use std::time::{Duration, Instant};

use serde_json::json;
use storefront::failure::{Applied, Failure, Kind};
use storefront::http::{Client, Link};
use storefront::plan::request::Request;

use crate::support::call::{SECRET, get, link, post, run, send, ship, token, traced};
use crate::support::scripted::{Scripted, Step, answer, reply};

fn retrying(server: &Scripted) -> Link {
    Link { retry: 2, ..link(&server.url("")) }
}

/// The failure of one call, and how many requests arrived.
fn failing(script: Vec<Step>, request: &Request) -> (Failure, usize) {
    let server = Scripted::start(script);
    let failure = send(&retrying(&server), request).unwrap_err();
    (failure, server.requests().len())
}

#[test]
fn a_request_arrives_as_planned_and_its_reply_comes_back() {
    let server = Scripted::start(vec![answer("200 OK", "", r#"{"price":1.10}"#)]);
    let reply = send(&link(&server.url("/rest/")), &post()).unwrap();
    assert_eq!((reply.status, reply.warning.as_deref()), (200, None));
    assert_eq!(reply.value().to_string(), r#"{"price":1.10}"#);
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
