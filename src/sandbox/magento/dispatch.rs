//! What every call goes through: path, method, token, store view, body, transaction.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::call::Call;
use super::path::{self, ServicePath};
use super::route_table::{self, Permission, Route};
use super::selected_fields;
use crate::sandbox::auth::bearer;
use crate::sandbox::body::{check_content_type, parse_json, receive};
use crate::sandbox::fault::TriggeredFaults;
use crate::sandbox::fault::spec::FaultKind;
use crate::sandbox::reply::{ApiError, Reply, html, json_text};
use crate::sandbox::store::{AccessMode, Caller, Database, Document, Store};

/// Answers a request that no other route took.
pub async fn answer(State(store): State<Arc<Store>>, request: Request) -> Response {
    if accepts_html_only(request.headers()) {
        return html(
            axum::http::StatusCode::INTERNAL_SERVER_ERROR,
            "There has been an error processing your request",
        );
    }
    match handle(&store, request).await {
        Ok(reply) => php_json(reply.status, &reply.body),
        Err(refusal) if refusal.is_crash() => refusal.into_response(),
        Err(refusal) => php_json(refusal.status, &refusal.body()),
    }
}

/// JSON as PHP writes it: in ASCII, with a backslash before each slash.
fn php_json(status: u16, body: &Value) -> Response {
    let mut text = String::new();
    for letter in body.to_string().chars() {
        match letter {
            // Outside of texts JSON has neither.
            '/' => text.push_str("\\/"),
            letter if letter.is_ascii() => text.push(letter),
            letter => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing to a text cannot fail.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    json_text(status, text)
}

async fn handle(store: &Store, request: Request) -> Result<Reply, ApiError> {
    let (parts, body) = request.into_parts();
    let ServicePath { store_view, segments } = path::parse(parts.uri.path())?;
    if ![Method::GET, Method::PUT, Method::POST, Method::DELETE].contains(&parts.method) {
        return Err(ApiError::new(405, &format!("The {} HTTP method is not supported.", parts.method)));
    }
    let (route, parameters) = route_table::find(&parts.method, &segments).ok_or_else(ApiError::no_route)?;
    let bytes = receive(&parts, body).await?;
    let body = match route.mode {
        AccessMode::Read => Ok(Document::new()),
        AccessMode::Write => read_body(&parts.headers, &bytes),
    };
    let query: Vec<(String, String)> =
        url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
    let struck = parts.extensions.get::<TriggeredFaults>().cloned().unwrap_or_default();
    let selected = query.iter().find(|(name, _)| name == "fields").map(|(_, value)| value.clone());
    let stale_reads = struck.number(FaultKind::StaleRead).unwrap_or(0);
    let mut reply = store.serve(route.mode, stale_reads, |records| {
        if store_view != "all" && !records.store_view_exists(&store_view)? {
            return Err(path::unprocessable());
        }
        let caller = authorize(records, &parts, route, &store_view)?;
        (route.operation)(records, Call { caller, parameters, query, body: body?, struck })
    })?;
    if let Some(selected) = selected {
        reply.body = selected_fields::select(&reply.body, &selected);
    }
    Ok(reply)
}

/// The caller, where the token allows the call; 401 otherwise, with the permission that is missing.
fn authorize(
    records: &Database<'_>,
    parts: &Parts,
    route: &Route,
    store_view: &str,
) -> Result<Option<Caller>, ApiError> {
    let caller = bearer(&parts.headers).map(|token| records.caller(token)).transpose()?.flatten();
    let unauthorized = |resource: &str| {
        ApiError::new(401, "The consumer isn't authorized to access %resources.")
            .with(json!({"resources": resource}))
    };
    match (route.permission, caller) {
        (Permission::Anonymous, caller) => Ok(caller),
        // The store view `all` is the administrators' own.
        (Permission::Own, Some(Caller::Customer(_))) if store_view == "all" => Err(unauthorized("self")),
        (Permission::Own, Some(caller)) => Ok(Some(caller)),
        (Permission::Own, None) => Err(unauthorized("self")),
        (Permission::Administrator(_), Some(Caller::Admin)) => Ok(caller),
        (Permission::Administrator(permission), _) => Err(unauthorized(permission)),
    }
}

/// An empty body and one that is no object count as an empty object.
fn read_body(headers: &HeaderMap, bytes: &[u8]) -> Result<Document, ApiError> {
    if bytes.is_empty() {
        return Ok(Document::new());
    }
    if headers.get(header::CONTENT_TYPE).is_none_or(header::HeaderValue::is_empty) {
        return Err(ApiError::new(400, "Content-Type header is empty."));
    }
    check_content_type(headers)?;
    match parse_json(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Ok(Document::new()),
        Err(_) => Err(ApiError::new(400, "Decoding error.")),
    }
}

/// Magento has no renderer for `text/html`, and fails before it can say so.
fn accepts_html_only(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| {
        accept.contains("text/html") && !accept.contains("json") && !accept.contains('*')
    })
}
