//! The page that Varnish answers when its backend does not: the cache in front of most Magento shops.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::{Response, StatusCode, header};

/// The request was handled although the page says 503.
pub const APPLIED: &str = "applied";
/// The request never reached the shop.
pub const NOT_APPLIED: &str = "not-applied";

/// The answer of Varnish's `builtin.vcl`. `Retry-After: 5` says nothing about whether the shop handled the request.
pub fn backend_fetch_failed() -> Response<Body> {
    static TRANSACTION: AtomicU64 = AtomicU64::new(32_770);
    let id = TRANSACTION.fetch_add(3, Ordering::Relaxed);
    let page = format!(
        "<!DOCTYPE html>\n<html>\n  <head>\n    <title>503 Backend fetch failed</title>\n  </head>\n  <body>\n    \
         <h1>Error 503 Backend fetch failed</h1>\n    <p>Backend fetch failed</p>\n    <h3>Guru Meditation:</h3>\n    \
         <p>XID: {}</p>\n    <hr>\n    <p>Varnish cache server</p>\n  </body>\n</html>\n",
        id + 1
    );
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
