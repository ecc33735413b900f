//! A gateway that gives up on a shop that goes on: 504 at once, the write later.

use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;

use crate::sandbox::reply::html;

/// A request that is still to be handled.
///
/// A sandbox that stops before its time handles it at once: the shop behind the gateway does not know that anybody
/// has gone, so a write that is announced is never lost.
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
            // The body is already here and the database does not suspend, so one poll is the whole of it.
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

/// What the gateway answers.
pub fn gateway_timeout() -> Response {
    html(StatusCode::GATEWAY_TIMEOUT, "504 Gateway Time-out")
}
