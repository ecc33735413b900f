//! Calls of the library's client, as the tests make them.

use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::mock_server::{MockServer, Step};
use crate::support::snapshot::assert_snapshot;
use storefront::client::{Client, HttpEvent, Reply, redacted};
use storefront::config::{Endpoint, Headers};
use storefront::system::clock::Clock;
use storefront_core::failure::Failure;
use storefront_core::interface::dialect::MARKETPLACE;
use storefront_core::interface::request::{Bearer, Request, StoreView, Target};
use storefront_core::text::token::Credential;

/// A token that must be found nowhere.
pub const SECRET: &str = "planted-secret-token";

/// An endpoint at `base` with short times and no retries.
pub fn link(base: &str) -> Endpoint {
    Endpoint {
        base_url: base.parse().unwrap(),
        allow_plain_http: false,
        ca_file: None,
        client_certificate: None,
        timeout: Duration::from_secs(5),
        retry: 0,
        use_proxy: false,
        proxy_variable: None,
        sign_port: true,
        certificate_file: None,
        headers: Headers::default(),
    }
}

pub fn token() -> Credential {
    Credential::new(SECRET).unwrap()
}

fn post_to(path: &str, body: &'static str) -> Request {
    let view = StoreView::new("default").unwrap();
    let target = Target::new(&MARKETPLACE, Some(&view)).unwrap();
    Request::post(target.path(path, &[]), body.into(), Bearer::Customer)
}

/// A call that acts.
pub fn post() -> Request {
    post_to(MARKETPLACE.add_item, r#"{"cartItem":{"qty":1}}"#)
}

/// A call that acts, and whose success is 320.
pub fn ship() -> Request {
    Request { also_success: MARKETPLACE.ship_success, ..post_to(MARKETPLACE.ship, "{}") }
}

/// A call that only reads.
pub fn get() -> Request {
    Request::get("/V1/thing".to_owned(), Bearer::Customer)
}

/// Runs `work` on a runtime like the program's.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// One call over a client of its own.
pub fn send(link: &Endpoint, request: &Request) -> Result<Reply, Failure> {
    run(async { call(&Client::new(link, None, Clock::system())?, request).await })
}

/// One call over this client.
pub async fn call(client: &Client, request: &Request) -> Result<Reply, Failure> {
    client.send(request, &token(), || false).await
}

/// A client, and each of its events as text.
pub fn traced(link: &Endpoint) -> (Client, Arc<Mutex<Vec<String>>>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let ours = events.clone();
    let tracer = Rc::new(move |event: HttpEvent<'_>| {
        let headers: Vec<_> = match event {
            HttpEvent::Sending { headers, .. } | HttpEvent::Response { headers, .. } => {
                redacted(headers).collect()
            }
            _ => Vec::new(),
        };
        ours.lock().unwrap().push(format!("{event:?} {headers:?}"));
    });
    (Client::new(link, Some(tracer), Clock::system()).unwrap(), events)
}

/// Asserts the message and the hint of a failure as a whole.
#[track_caller]
pub fn assert_failure_text(failure: &Failure, expected: impl snapbox::IntoData) {
    let hint = failure.hint.as_ref().map(|hint| format!("\n  hint: {hint}"));
    assert_snapshot(&format!("{}{}", failure.message, hint.unwrap_or_default()), expected);
}

/// An endpoint of a scripted service, with the usual retries.
pub fn retrying(server: &MockServer) -> Endpoint {
    Endpoint { retry: 2, ..link(&server.url("")) }
}

/// The failure of one call, and how many requests arrived.
pub fn failing(script: Vec<Step>, request: &Request) -> (Failure, usize) {
    let server = MockServer::start(script);
    let failure = send(&retrying(&server), request).unwrap_err();
    (failure, server.requests().len())
}
