//! Sends a write that may be repeated, because the service answers the same to the second one.

use crate::failure::Failure;
use crate::http::{Attempt, Attempts, Effect, Reply};
use crate::plan::request::Request;
use crate::session::service::Service;

/// Sends the request, and again within `--retry`, also after an unknown outcome: processing it twice gives the result of
/// processing it once.
///
/// # Errors
/// As [`crate::http::Client::send`].
pub async fn send(service: &Service<'_>, operation: &str, request: &Request) -> Result<Reply, Failure> {
    let mut attempts = Attempts::default();
    loop {
        let attempt = service.attempt(operation, request).await?;
        if matches!(attempt, Attempt::Applied(_)) {
            return attempts.conclude(attempt);
        }
        let Some(wait) = service.delay(&attempts, &attempt, Effect::Replacement) else {
            return attempts.conclude(attempt);
        };
        let _ = attempts.conclude(attempt);
        tokio::time::sleep(wait).await;
    }
}
