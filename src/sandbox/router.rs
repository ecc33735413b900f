//! The routes of the service and what every call goes through: token, store view, body, transaction.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::Method;
use axum::response::IntoResponse as _;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::reply::Reply;
use super::route_table::{ROUTES, Route};
use super::store::{Document, Store};
use super::{auth, magento};
use crate::sandbox::body::{read_body, receive};
use crate::sandbox::call::Call;
use crate::sandbox::fault::TriggeredFaults;
use crate::sandbox::fault::spec::FaultKind;
use crate::sandbox::reply::{ApiError, no_route};
use crate::sandbox::store::{AccessMode, Database};

/// Code of the store view in the path, percent-decoded; none on the administrator's paths.
type StoreView = Result<Option<Path<String>>, PathRejection>;

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

async fn answer(
    store: &Store,
    route: &Route,
    store_view: StoreView,
    request: Request,
) -> Result<Reply, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = receive(&parts, body).await?;
    let body = match route.mode {
        AccessMode::Read => Ok(Document::new()),
        AccessMode::Write => read_body(&parts.headers, &bytes),
    };
    let struck = parts.extensions.get::<TriggeredFaults>().cloned().unwrap_or_default();
    let stale_reads = struck.number(FaultKind::StaleRead).unwrap_or(0);
    store.serve(route.mode, stale_reads, |records| {
        let caller = auth::caller(records, &parts.headers, route.access)?;
        check_store_view(records, store_view)?;
        (route.operation)(records, Call { caller, body: body?, struck })
    })
}

fn check_store_view(records: &Database<'_>, store_view: StoreView) -> Result<(), ApiError> {
    let unknown =
        || ApiError::new(404, "The store that was requested wasn't found. Verify the store and try again.");
    match store_view.map_err(|_| unknown())? {
        None => Ok(()),
        Some(Path(code)) if records.store_view_exists(&code)? => Ok(()),
        Some(_) => Err(unknown()),
    }
}
