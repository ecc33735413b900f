//! The servers in front of the shop: a gateway that gives up on a shop that continues, and Varnish.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;

use crate::reply::html;

/// A request that is still to be handled.
///
/// A sandbox that stops early handles it at once: the shop behind the gateway does not know that anybody has gone, so an
/// announced write is never lost.
struct Pending(Option<(Request, Next)>);

impl Pending {
    async fn handle(mut self) {
        if let Some((request, next)) = self.0.take() {
            next.run(request).await;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some((request, next)) = self.0.take() {
            // The body is already here and the database does not suspend, so one poll does all of it.
            let _ = next.run(request).now_or_never();
        }
    }
}

/// Handles the request, whose body has been read, after `delay`; nobody sees the response.
pub fn apply_after(delay: Duration, request: Request, next: Next) {
    let pending = Pending(Some((request, next)));
    tokio::spawn(async move {
        tokio::time::sleep(delay).await;
        pending.handle().await;
    });
}

/// The answer of the gateway.
pub fn gateway_timeout() -> Response {
    html(StatusCode::GATEWAY_TIMEOUT, "504 Gateway Time-out")
}

const PAGE: &str = "<!DOCTYPE html>
<html>
  <head>
    <title>503 Backend fetch failed</title>
  </head>
  <body>
    <h1>Error 503 Backend fetch failed</h1>
    <p>Backend fetch failed</p>
    <h3>Guru Meditation:</h3>
    <p>XID: {}</p>
    <hr>
    <p>Varnish cache server</p>
  </body>
</html>
";

/// The answer of Varnish's `builtin.vcl`. `Retry-After: 5` does not tell whether the shop handled the request.
pub fn backend_fetch_failed() -> Response {
    static TRANSACTION: AtomicU64 = AtomicU64::new(32_770);
    let id = TRANSACTION.fetch_add(3, Ordering::Relaxed);
    let page = PAGE.replace("{}", &(id + 1).to_string());
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    // Varnish answers HTTP/1.1 with its own reason phrase, which hyper does not write.
    let headers = response.headers_mut();
    for (name, value) in [
        (header::SERVER, "Varnish".to_owned()),
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::RETRY_AFTER, "5".to_owned()),
        (header::HeaderName::from_static("x-varnish"), id.to_string()),
        (header::AGE, "0".to_owned()),
        (header::VIA, "1.1 varnish (Varnish/6.0)".to_owned()),
    ] {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    }
    response
}
