//! The routes of the service (interface 4) and what every call goes through: token, store view, body, transaction.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Method, header, request::Parts};
use axum::response::IntoResponse as _;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::Value;
use tokio::time::timeout;

use super::reply::{Refusal, Reply};
use super::route_table::{ROUTES, Route};
use super::store::{Caller, Document, Intent, Records, Store};
use super::{auth, magento};
use crate::exact_json;
use crate::sandbox::fault::active::Struck;
use crate::sandbox::fault::spec::Kind as FaultKind;

/// Largest request body: some 30,000 addresses. The interface shows no limit.
pub const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// One call, understood as far as all operations have it in common.
pub struct Call {
    caller: Caller,
    /// The JSON object sent, empty for a call without a body.
    pub body: Document,
    /// The faults that have struck this call.
    pub struck: Struck,
}

/// Code of the store view in the path, percent-decoded; none on the administrator's paths.
type StoreView = Result<Option<Path<String>>, PathRejection>;

impl Call {
    /// The customer the token speaks for (5): it alone says whose profile and quote are meant.
    pub fn customer(&self) -> Result<i64, Refusal> {
        match self.caller {
            Caller::Customer(id) => Ok(id),
            Caller::Admin => Err(Refusal::no_route()),
        }
    }

    /// Takes the object out of the wrapper the interface demands; 400 without it.
    pub fn wrapped(&mut self, wrapper: &str) -> Result<Document, Refusal> {
        match self.body.remove(wrapper) {
            Some(Value::Object(object)) => Ok(object),
            _ => Err(Refusal::required(wrapper)),
        }
    }
}

/// All the service serves: the rows of the table, and every other path by Magento's interface.
pub fn routes(store: Arc<Store>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        for path in std::iter::once(&route.path).chain(route.aliases) {
            router = router.route(path, method_router(route));
        }
    }
    router.fallback(magento::answer).method_not_allowed_fallback(no_route).with_state(store)
}

fn method_router(route: &'static Route) -> MethodRouter<Arc<Store>> {
    on(
        method_filter(&route.method),
        move |State(store): State<Arc<Store>>, store_view: StoreView, request: Request| async move {
            answer(&store, route, store_view, request).await.into_response()
        },
    )
}

fn method_filter(method: &Method) -> MethodFilter {
    // Only a method of its own making could be refused here.
    MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::TRACE)
}

/// Magento does not tell an unknown path from a wrong method.
async fn no_route() -> Refusal {
    Refusal::no_route()
}

async fn answer(
    store: &Store,
    route: &Route,
    store_view: StoreView,
    request: Request,
) -> Result<Reply, Refusal> {
    let (parts, body) = request.into_parts();
    let bytes = receive(&parts, body).await?;
    let body = match route.mode {
        Intent::Read => Ok(Document::new()),
        Intent::Write => read_body(&parts.headers, &bytes),
    };
    let struck = parts.extensions.get::<Struck>().cloned().unwrap_or_default();
    let stale_reads = struck.number(FaultKind::StaleRead).unwrap_or(0);
    store.serve(route.mode, stale_reads, |records| {
        let caller = auth::caller(records, &parts.headers, route.access)?;
        check_store_view(records, store_view)?;
        (route.operation)(records, Call { caller, body: body?, struck })
    })
}

/// How long the body of a request may take to arrive; each connection of the sandbox puts it on its requests.
#[derive(Debug, Clone, Copy)]
pub struct BodyTimeout(pub Duration);

/// The whole body, within the limits of size and time.
pub async fn receive(parts: &Parts, body: Body) -> Result<Bytes, Refusal> {
    let too_large = || {
        Refusal::new(413, "The request body is larger than %limit bytes, or was cut off.")
            .with(serde_json::json!({"limit": LARGEST_BODY}))
    };
    if body.size_hint().lower() > LARGEST_BODY as u64 {
        discard(body).await;
        return Err(too_large());
    }
    let whole = to_bytes(body, LARGEST_BODY);
    let received = match parts.extensions.get::<BodyTimeout>() {
        Some(BodyTimeout(limit)) => timeout(*limit, whole).await.map_err(|_| {
            Refusal::new(408, "The request body did not arrive within %limit ms.")
                .with(serde_json::json!({"limit": u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)}))
        })?,
        None => whole.await,
    };
    received.map_err(|_| too_large())
}

/// Reads on while there is something, and keeps nothing: a connection closed under somebody who still sends is
/// reset, and the answer lost.
async fn discard(mut body: Body) {
    const PAUSE: Duration = Duration::from_millis(300);
    let mut left = 4 * LARGEST_BODY;
    while let Ok(Some(Ok(frame))) =
        timeout(PAUSE, poll_fn(|context| Pin::new(&mut body).poll_frame(context))).await
    {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}

fn check_store_view(records: &Records<'_>, store_view: StoreView) -> Result<(), Refusal> {
    let unknown =
        || Refusal::new(404, "The store that was requested wasn't found. Verify the store and try again.");
    match store_view.map_err(|_| unknown())? {
        None => Ok(()),
        Some(Path(code)) if records.store_view_exists(&code)? => Ok(()),
        Some(_) => Err(unknown()),
    }
}

/// The JSON object of a body that says it is JSON. Anything but an object has none of the members that are needed.
fn read_body(headers: &HeaderMap, bytes: &[u8]) -> Result<Document, Refusal> {
    check_content_type(headers)?;
    match parse_json(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Ok(Document::new()),
        Err(_) => Err(Refusal::new(400, "Decoding error.")),
    }
}

/// The one place where the sandbox parses what a client sent.
pub fn parse_json(bytes: &[u8]) -> Result<Value, exact_json::Error> {
    Ok(exact_json::parse_with_repeats(bytes)?.value)
}

pub fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let sent = headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap_or(""));
    let (media_type, options) = sent.split_once(';').unwrap_or((sent, ""));
    if !media_type.trim().eq_ignore_ascii_case("application/json") {
        let media_type = media_type.trim();
        return Err(Refusal::new(
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
            Err(Refusal::new(400, "UTF-8 is the only supported charset."))
        }
        _ => Ok(()),
    }
}
