//! The steps of every call of both interfaces: path, method, token, store view, body, transaction.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::body::{read, receive};
use crate::call::Call;
use crate::coerce::{self, Rules};
use crate::fault::TriggeredFaults;
use crate::fault::spec::FaultKind;
use crate::reply::{ApiError, html, json_response, json_text};
use crate::route::{Permission, Presence, Route};
use crate::store::{AccessMode, Caller, Database, Document, Store};
use crate::{Emulation, Version, magento, marketplace};
use storefront_core::interface::fields::{FieldTables, MAGENTO_FIELDS, MARKETPLACE_FIELDS};
use storefront_core::interface::request::Interface;

const METHODS: &[&str] = &["GET", "PUT", "POST", "DELETE"];

/// The routes of an interface, its fields, and its rules for values.
pub fn vocabulary(interface: Interface) -> (&'static [Route], &'static FieldTables, Rules) {
    match interface {
        Interface::Marketplace => (marketplace::ROUTES, &MARKETPLACE_FIELDS, Rules::Strict),
        Interface::Magento => (magento::ROUTES, &MAGENTO_FIELDS, Rules::Cast),
    }
}

/// The route of a request, and the values in its path.
struct Found {
    interface: Interface,
    route: &'static Route,
    store_view: String,
    parameters: Vec<String>,
    is_own: bool,
}

/// Answers a request.
pub async fn answer(State(store): State<Arc<Store>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Magento has no renderer for `text/html`, and fails before it can answer that.
    if accepts_html_only(&parts.headers) {
        return html(StatusCode::INTERNAL_SERVER_ERROR, "There has been an error processing your request");
    }
    let found = find(parts.method.as_str(), parts.uri.path());
    let is_php = found.as_ref().map_or(true, |found| found.interface == Interface::Magento);
    let answered = match found {
        Ok(found) => handle(&store, found, &parts, body).await,
        Err(refusal) => Err(refusal),
    };
    let (status, body) = match answered {
        Ok((status, body)) if is_php && store.emulation.version >= Version::V248 => {
            (status, magento::limits::with_default_first(body))
        }
        Ok(answer) => answer,
        Err(refusal) if refusal.is_crash() => return refusal.into_response(),
        Err(refusal) => (refusal.status, refusal.body()),
    };
    if is_php { json_text(status, php_json(&body)) } else { json_response(status, &body) }
}

/// JSON as PHP writes it: in ASCII, with a backslash before each slash.
fn php_json(body: &Value) -> String {
    let mut text = String::new();
    for letter in body.to_string().chars() {
        match letter {
            // JSON has neither outside of texts.
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
    text
}

fn accepts_html_only(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| {
        accept.contains("text/html") && !accept.contains("json") && !accept.contains('*')
    })
}

/// The route for a method and a path: `V1` and the path of the call, after an optional `rest` and an optional store view
/// code. Empty segments do not count: `//V1/customers/me/` is `/V1/customers/me`. The marketplace's calls have neither
/// `rest` nor a code.
///
/// Refusals are Magento's: 400 below `rest` without a `V1` in its place, 404 elsewhere and for another version.
fn find(method: &str, path: &str) -> Result<Found, ApiError> {
    let decoded = |segment: &str| percent_decode_str(segment).decode_utf8_lossy().into_owned();
    let mut segments: Vec<String> =
        path.split('/').filter(|segment| !segment.is_empty()).map(decoded).collect();
    // A web server that does not rewrite paths has the script in them.
    if segments.first().is_some_and(|first| first == "index.php") {
        segments.remove(0);
    }
    let below_rest = segments.first().is_some_and(|first| first == "rest");
    let (code, version, call) = match &segments[usize::from(below_rest)..] {
        [version, call @ ..] if is_version(version) => (None, version, call),
        [code, version, call @ ..] if is_version(version) => (Some(code), version, call),
        _ if below_rest => return Err(unprocessable()),
        _ => return Err(ApiError::no_route()),
    };
    if version != "V1" {
        return Err(ApiError::no_route());
    }
    if !METHODS.contains(&method) {
        return Err(ApiError::new(405, &format!("The {method} HTTP method is not supported.")));
    }
    let is_bare = !below_rest && code.is_none();
    let interfaces = [Interface::Marketplace, Interface::Magento];
    for interface in interfaces.into_iter().filter(|interface| is_bare || *interface == Interface::Magento) {
        let routes = vocabulary(interface).0.iter().filter(|route| route.method == method);
        for route in routes {
            if let Some((parameters, is_own)) = route.parameters(call) {
                let in_path = parameters.first().filter(|_| route.path.contains("{store_view_code}"));
                let store_view = in_path.or(code).map_or_else(|| "default".to_owned(), String::clone);
                return Ok(Found { interface, route, store_view, parameters, is_own });
            }
        }
    }
    Err(ApiError::no_route())
}

fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('V')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// 400: also Magento's answer to an unknown store view.
fn unprocessable() -> ApiError {
    ApiError::new(400, "Specified request cannot be processed.")
}

async fn handle(
    store: &Store,
    found: Found,
    parts: &Parts,
    body: axum::body::Body,
) -> Result<(u16, Value), ApiError> {
    let bytes = receive(parts, body).await?;
    let mode = if found.route.method == "GET" { AccessMode::Read } else { AccessMode::Write };
    let body = match mode {
        AccessMode::Read => Ok(Document::new()),
        AccessMode::Write => read(&parts.headers, &bytes),
    };
    let query = parts.uri.query().unwrap_or_default();
    let query: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let Emulation { version, has_limits } = store.emulation;
    if has_limits && mode == AccessMode::Read {
        magento::limits::check_page(&query)?;
    }
    let struck = parts.extensions.get::<TriggeredFaults>().cloned().unwrap_or_default();
    let stale_reads = struck.number(FaultKind::StaleRead).unwrap_or(0);
    let success = found.route.success;
    let answer = store.serve(mode, stale_reads, |records| {
        let caller = authorize(records, parts, &found, version)?;
        check_store_view(records, &found)?;
        let sent = sent(&found, body?)?;
        let Found { interface, route, store_view, parameters, is_own } = found;
        let named = query.clone();
        let call = Call { caller, store_view, is_own, parameters, query, sent, version, struck };
        let answered = (route.operation)(records, call);
        match answered.map(|answer| match interface {
            Interface::Magento => magento::fields::chosen(&named, answer),
            Interface::Marketplace => answer,
        }) {
            Err(refusal) if !refusal.is_saved => Err(refusal),
            // A PUT answers with all addresses as they would be stored.
            Ok(profile) if version >= Version::V248 && route.method == "PUT" => {
                magento::limits::check_addresses(&profile, version).map(|()| Ok(profile))
            }
            answered => Ok(answered),
        }
    })?;
    answer.map(|answer| (success, answer))
}

/// The caller, if the token allows the call. Refusals name the missing permission: on Magento all of them are 401, the
/// marketplace answers 403 to a token of the other kind (ours).
fn authorize(
    records: &Database<'_>,
    parts: &Parts,
    found: &Found,
    version: Version,
) -> Result<Option<Caller>, ApiError> {
    let is_magento = found.interface == Interface::Magento;
    let caller = match bearer(&parts.headers) {
        Some(token) => records.caller(token)?,
        None if is_magento && magento::oauth::is_signed(parts, version)? => Some(Caller::Admin),
        None => None,
    };
    let permission = if found.is_own { Permission::Own } else { found.route.permission };
    let (is_allowed, resource) = match (permission, caller) {
        (Permission::Anybody, _) => (true, ""),
        // The store view `all` is the administrators' own.
        (Permission::Own, Some(Caller::Customer(_))) => (found.store_view != "all" || !is_magento, "self"),
        // An administrator gets as far as the call itself, which then lacks the customer's id.
        (Permission::Own, caller) => (is_magento && caller.is_some(), "self"),
        (Permission::Administrator(resource), caller) => (caller == Some(Caller::Admin), resource),
    };
    if is_allowed {
        return Ok(caller);
    }
    let status = if caller.is_some() && !is_magento { 403 } else { 401 };
    Err(ApiError::new(status, "The consumer isn't authorized to access %resources.")
        .with(json!({"resources": resource})))
}

/// The token of the Authorization header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn check_store_view(records: &Database<'_>, found: &Found) -> Result<(), ApiError> {
    let is_magento = found.interface == Interface::Magento;
    if (is_magento && found.store_view == "all") || records.store_view_exists(&found.store_view)? {
        return Ok(());
    }
    Err(if is_magento {
        unprocessable()
    } else {
        ApiError::new(404, "The store that was requested wasn't found. Verify the store and try again.")
    })
}

/// The object of the call, brought to its types. Magento also accepts its name with underscores.
fn sent(found: &Found, mut body: Document) -> Result<Document, ApiError> {
    let Some(shape) = &found.route.body else { return Ok(body) };
    let (_, tables, rules) = vocabulary(found.interface);
    let is_forced = shape.presence == Presence::Forced && found.is_own;
    let object = if shape.wrapper.is_empty() {
        Value::Object(body)
    } else {
        let exact = body.shift_remove(shape.wrapper);
        let is_lax = rules == Rules::Cast && !is_forced;
        let snake = || is_lax.then(|| body.shift_remove(&coerce::snake_case(shape.wrapper))).flatten();
        match exact.or_else(snake) {
            Some(object) if !object.is_null() => object,
            _ if is_forced || shape.presence == Presence::Optional => return Ok(Document::new()),
            _ => return Err(ApiError::required(shape.wrapper)),
        }
    };
    let lacks = |name: &&&str| object.get(**name).is_none_or(Value::is_null);
    if let Some(missing) = shape.required.iter().find(lacks) {
        return Err(ApiError::required(missing));
    }
    coerce::object(object, (shape.fields)(tables), rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_store_view_version_and_call_are_told_apart() {
        for (path, store_view, parameters, is_own) in [
            ("/rest/V1/customers/me", "default", vec!["me"], true),
            ("/rest/fr/V1/customers/me", "fr", vec!["me"], true),
            ("/V1/customers/me/", "default", vec!["me"], true),
            ("/index.php/rest/fr/V1/customers/me", "fr", vec!["me"], true),
            ("//rest//de//V1//customers/7", "de", vec!["7"], false),
            ("/rest/V1/products/attributes/a%2Fb", "default", vec!["a/b"], false),
            ("/V1/storeview/fr/customer/profile", "fr", vec!["fr"], false),
        ] {
            let found = find("GET", path).ok().unwrap();
            assert_eq!((found.store_view.as_str(), found.is_own), (store_view, is_own), "{path}");
            assert_eq!(found.parameters, parameters, "{path}");
        }
        for (path, status) in [
            ("/rest/customers/me", 400),
            ("/rest/v1/customers/me", 400),
            ("/rest/V2/customers/me", 404),
            ("/rest/V1/storeview/fr/customer/profile", 404),
            ("/", 404),
        ] {
            assert_eq!(find("GET", path).err().unwrap().status, status, "{path}");
        }
    }

    #[test]
    fn every_row_can_be_reached() {
        for interface in [Interface::Marketplace, Interface::Magento] {
            for route in vocabulary(interface).0 {
                for (path, is_own) in route.paths() {
                    let found = find(route.method, &format!("/V1/{path}")).ok().unwrap();
                    assert!(std::ptr::eq(found.route, route), "{} hides {path}", found.route.path);
                    assert_eq!(found.is_own, is_own, "{path}");
                }
            }
        }
    }
}
