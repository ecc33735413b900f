//! Reading a request's body.

use axum::body::Body;
use axum::body::Bytes;
use axum::body::HttpBody as _;
use axum::body::to_bytes;
use axum::http::HeaderMap;
use axum::http::header;
use axum::http::request::Parts;
use serde_json::Value;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

use crate::reply::ApiError;
use crate::store::Document;
use storefront_core::text::exact_json;

/// Largest request body: some 30,000 addresses. The interface shows no limit.
pub const MAX_BODY: usize = 32 * 1024 * 1024;

/// How long the body of a request may take to arrive; each connection of the sandbox puts it on its requests.
#[derive(Debug, Clone, Copy)]
pub struct BodyTimeout(pub Duration);

/// The whole body, within the limits of size and time.
pub async fn receive(parts: &Parts, body: Body) -> Result<Bytes, ApiError> {
    let too_large = || {
        ApiError::new(413, "The request body is larger than %limit bytes, or was cut off.")
            .with(serde_json::json!({"limit": MAX_BODY}))
    };
    if body.size_hint().lower() > MAX_BODY as u64 {
        discard(body).await;
        return Err(too_large());
    }
    let whole = to_bytes(body, MAX_BODY);
    let received = match parts.extensions.get::<BodyTimeout>() {
        Some(BodyTimeout(limit)) => timeout(*limit, whole).await.map_err(|_| {
            ApiError::new(408, "The request body did not arrive within %limit ms.")
                .with(serde_json::json!({"limit": u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)}))
        })?,
        None => whole.await,
    };
    received.map_err(|_| too_large())
}

/// Reads on while bytes come, and keeps none: a connection that is closed while the client still sends is reset, and the
/// answer lost.
pub(crate) async fn discard(mut body: Body) {
    const PAUSE: Duration = Duration::from_millis(300);
    let mut left = 4 * MAX_BODY;
    while let Ok(Some(Ok(frame))) =
        timeout(PAUSE, poll_fn(|context| Pin::new(&mut body).poll_frame(context))).await
    {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}

/// The JSON object of a body that says it is JSON. An empty body and anything but an object count as an empty
/// object.
pub(crate) fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Document, ApiError> {
    if bytes.is_empty() {
        return Ok(Document::new());
    }
    check_content_type(headers)?;
    match exact_json::parse_with_repeats(bytes).map(|(value, _)| value) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Ok(Document::new()),
        Err(_) => Err(ApiError::new(400, "Decoding error.")),
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let sent = headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap_or(""));
    if sent.is_empty() {
        return Err(ApiError::new(400, "Content-Type header is empty."));
    }
    let (media_type, options) = sent.split_once(';').unwrap_or((sent, ""));
    if !media_type.trim().eq_ignore_ascii_case("application/json") {
        let media_type = media_type.trim();
        return Err(ApiError::new(
            400,
            &format!("Server cannot understand Content-Type HTTP header media type {media_type}"),
        ));
    }
    let charset = options
        .split(';')
        .filter_map(|option| option.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    match charset {
        Some((_, charset)) if !charset.trim().trim_matches('"').eq_ignore_ascii_case("utf-8") => {
            Err(ApiError::new(400, "UTF-8 is the only supported charset."))
        }
        _ => Ok(()),
    }
}
