//! Fault-injection middleware for `--fault`. Without faults there is none.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::body::receive;
use crate::fault::TriggeredFaults;
use crate::fault::connection::ConnectionCutter;
use crate::fault::gateway;
use crate::fault::spec::{Fault, FaultKind, FaultValue, NOT_APPLIED};
use crate::reply::{ApiError, html, json_response};
use storefront_core::text::exact_json;

/// The faults of one server, and how often each has struck.
pub struct FaultInjector(Vec<ActiveFault>);

struct ActiveFault {
    fault: Fault,
    seed: u64,
    hits: AtomicU64,
    triggered: AtomicU32,
}

impl FaultInjector {
    /// Arms `faults`.
    pub fn new(faults: Vec<Fault>) -> Self {
        let armed = faults.into_iter().map(|fault| ActiveFault {
            seed: fault.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish()),
            fault,
            hits: AtomicU64::new(0),
            triggered: AtomicU32::new(0),
        });
        Self(armed.collect())
    }

    fn trigger(&self, method: &Method) -> TriggeredFaults {
        let triggered = self.0.iter().filter(|armed| armed.triggers(method));
        TriggeredFaults(triggered.map(|armed| (armed.fault.kind, armed.fault.value)).collect())
    }
}

impl ActiveFault {
    fn triggers(&self, method: &Method) -> bool {
        if self.fault.method.as_ref().is_some_and(|only| only != method) || !concerns(self.fault.kind, method)
        {
            return false;
        }
        let met = self.hits.fetch_add(1, Ordering::Relaxed);
        if chance(self.seed, met) >= self.fault.percent {
            return false;
        }
        let Some(times) = self.fault.times else {
            return true;
        };
        let count = |triggered: u32| (triggered < times).then_some(triggered + 1);
        self.triggered.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_ok()
    }
}

/// Reading commits nothing, and some kinds are for one operation only.
fn concerns(kind: FaultKind, method: &Method) -> bool {
    match kind {
        FaultKind::NoGet | FaultKind::Envelope => method == Method::GET,
        FaultKind::DropAddress => method == Method::PUT,
        FaultKind::SilentUpdate => method == Method::POST,
        FaultKind::ResetBeforeCommit
        | FaultKind::ResetAfterCommit
        | FaultKind::LatencyAfterCommit
        | FaultKind::Late
        | FaultKind::Lose
        | FaultKind::StaleRead
        | FaultKind::RejectAfterCommit
        | FaultKind::ErrorUnder200AfterCommit
        | FaultKind::StatusAfterCommit(_) => method != Method::GET,
        _ => true,
    }
}

/// From 0 to 99 by chance (SplitMix64), the same for the same seed and the same count of requests met.
fn chance(seed: u64, met: u64) -> u8 {
    let mut mixed = seed.wrapping_add(met.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    u8::try_from((mixed ^ (mixed >> 31)) % 100).unwrap_or_default()
}

/// The middleware.
///
/// A request that has arrived whole is handled to its end, as in a real service, even if the client gives up during a
/// latency.
pub async fn middleware(
    State(injector): State<Arc<FaultInjector>>,
    ConnectInfo(cutter): ConnectInfo<ConnectionCutter>,
    request: Request,
    next: Next,
) -> Response {
    let triggered = injector.trigger(request.method());
    let (mut parts, body) = request.into_parts();
    let body = match receive(&parts, body).await {
        Ok(bytes) => Body::from(bytes),
        Err(refusal) => return refusal.into_response(),
    };
    parts.extensions.insert(triggered.clone());
    let handled = tokio::spawn(handle(triggered, cutter, Request::from_parts(parts, body), next));
    handled.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn handle(
    triggered: TriggeredFaults,
    cutter: ConnectionCutter,
    request: Request,
    next: Next,
) -> Response {
    triggered.wait(FaultKind::Latency).await;
    if let Some(response) = canned_response(&triggered, &cutter) {
        return response;
    }
    if let Some(milliseconds) = triggered.number(FaultKind::Late) {
        gateway::apply_after(Duration::from_millis(milliseconds.into()), request, next);
        return gateway::gateway_timeout();
    }
    let mut response = next.run(request).await;
    triggered.wait(FaultKind::LatencyAfterCommit).await;
    for (kind, setting) in triggered.0.iter() {
        response = corrupt_response(response, *kind, *setting, &cutter).await;
    }
    response
}

/// The answer instead of handling the request.
fn canned_response(triggered: &TriggeredFaults, cutter: &ConnectionCutter) -> Option<Response> {
    triggered.0.iter().find_map(|(kind, setting)| match kind {
        FaultKind::ResetBeforeCommit => {
            cutter.reset();
            Some(StatusCode::OK.into_response())
        }
        FaultKind::Status(status) => Some(failure(*status, *setting)),
        FaultKind::Varnish if *setting == FaultValue::Word(NOT_APPLIED) => {
            Some(gateway::backend_fetch_failed())
        }
        FaultKind::ErrorUnder200 => Some(error_under_200(*setting)),
        FaultKind::NoGet => Some(ApiError::no_route().into_response()),
        _ => None,
    })
}

/// The answer of a handled request, corrupted.
async fn corrupt_response(
    response: Response,
    kind: FaultKind,
    setting: FaultValue,
    cutter: &ConnectionCutter,
) -> Response {
    let status = response.status();
    match (kind, setting) {
        (FaultKind::ResetAfterCommit, _) => cutter.reset(),
        (FaultKind::Truncated, _) => cutter.truncate(),
        (FaultKind::StatusAfterCommit(status), setting) => return failure(status, setting),
        (FaultKind::RejectAfterCommit, FaultValue::Word(code)) if status.is_success() => {
            return ApiError::new(code.parse().unwrap_or(400), "The confirmation email cannot be sent.")
                .into_response();
        }
        (FaultKind::ErrorUnder200AfterCommit, setting) if status.is_success() => {
            return error_under_200(setting);
        }
        (FaultKind::Varnish, _) => return gateway::backend_fetch_failed(),
        (FaultKind::Html, _) => return html(status, "Please sign in"),
        (FaultKind::Empty, _) => return status.into_response(),
        (FaultKind::Envelope, FaultValue::Word(word)) if status.is_success() => {
            return reshape(response, |body| envelope(word, body)).await;
        }
        (FaultKind::ErrorShape, FaultValue::Word(word))
            if status.is_client_error() || status.is_server_error() =>
        {
            return reshape(response, |body| error_shape(word, status, body)).await;
        }
        _ => {}
    }
    response
}

/// Magento's own words for 429 and 500, a proxy's page for 502, and nothing at all for 503, as in maintenance.
fn failure(status: u16, retry_after: FaultValue) -> Response {
    let mut response = match status {
        429 => ApiError::new(429, "Too Many Requests").into_response(),
        500 => ApiError::new(
            500,
            "Internal Error. Details are available in Magento log file. Report ID: webapi-5a4d1b0c7e2f9",
        )
        .into_response(),
        502 => html(StatusCode::BAD_GATEWAY, "502 Bad Gateway"),
        _ => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    if let FaultValue::Number(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An error as extensions and gateways give it under the status 200.
fn error_under_200(shape: FaultValue) -> Response {
    let message = "It cannot be saved.";
    let body = match shape {
        FaultValue::Word("code") => json!({"code": 500, "message": message}),
        FaultValue::Word("messages") => json!({"messages": {"error": [{"code": 500, "message": message}]}}),
        FaultValue::Word("false") => json!(false),
        _ => json!({"message": message}),
    };
    json_response(200, &body)
}

async fn reshape(response: Response, shape: impl FnOnce(Value) -> Value) -> Response {
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
    let body = exact_json::parse(&bytes).unwrap_or_default();
    json_response(status, &shape(body))
}

/// Magento's interface answers the profile without an envelope; other answers stay as they are.
fn envelope(word: &str, mut body: Value) -> Value {
    // A cart has a customer too, among other fields.
    let is_alone = body.as_object().is_some_and(|fields| fields.len() == 1);
    let customer = if is_alone && body.get("customer").is_some() {
        body["customer"].take()
    } else if body.get("addresses").is_some() {
        body
    } else {
        return body;
    };
    match word {
        "bare" => customer,
        "data" => exact_json::object([("data", exact_json::object([("customer", customer)]))]),
        _ => exact_json::object([
            ("items", vec![customer].into()),
            ("search_criteria", json!({"filter_groups": []})),
            ("total_count", 1.into()),
        ]),
    }
}

fn error_shape(word: &str, status: StatusCode, body: Value) -> Value {
    let code = status.as_u16();
    match word {
        "result" => json!({"code": code, "result": body["message"]}),
        "errors" => json!({"message": "One or more input exceptions have occurred.", "errors": [body]}),
        _ => json!({"messages": {"error": [{"code": code, "message": body["message"]}]}}),
    }
}
