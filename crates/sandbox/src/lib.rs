//! Local implementation of the service: axum over SQLite. HTTP/1.1 in front, SQLite behind.
//!
//! It serves the marketplace's interface (docs/interface.md) and Magento's over one store, through one pipeline: a path
//! finds its [`route`], [`dispatch`] makes a [`call`] of the request, and the operation answers inside one transaction.
//! Where the marketplace's interface says "not shown" the sandbox does as Magento does, and the comment there says
//! **ours**. It shares the tables of documented fields with the client, nothing else.

pub(crate) mod body;
pub(crate) mod call;
mod coerce;
mod dispatch;
mod dump;
pub mod fault;
mod magento;
pub(crate) mod marketplace;
pub mod openapi;
pub(crate) mod quantity;
mod reply;
pub(crate) mod route;
mod seed;
mod server;
mod store;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::{Router, middleware};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use crate::fault::spec::{Fault, kinds as fault_kinds};
pub use seed::{TEXT as SEED, store_views as seeded_store_views};
pub use store::IssuedToken;

use crate::fault::inject::{self, FaultInjector};
use store::{AccessMode, Store};

/// How long requests in flight may take to end after the sandbox is stopped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the header of a request may take to arrive, and its body again, by default.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// The system's time of day; the last possible moment if the system's clock is beyond the year 9999.
fn system_time() -> jiff::Timestamp {
    jiff::Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(jiff::Timestamp::MAX)
}

/// Why the sandbox cannot be used, on one line: an error with its causes, without those that SQLite repeats.
pub fn causes(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain() {
        causes.push(cause.to_string());
        // SQLite repeats the message below it.
        if cause.is::<rusqlite::Error>() {
            break;
        }
    }
    causes.join(": ")
}

/// The version of Magento whose rules apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 2.4.7
    #[default]
    V247,
    /// 2.4.8: names of signed parameters in the order of their bytes, the path signed as it was sent, checks of stored
    /// addresses, the default shipping address before the others, and other words for a quantity over stock.
    V248,
    /// 2.4.9: as 2.4.8, with more signs in a city and a telephone number, and signs that a street cannot have.
    V249,
}

/// The shop that is emulated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Emulation {
    /// Its version.
    pub version: Version,
    /// Whether it limits its input (`webapi/validation`): pages have at most 300 records.
    pub has_limits: bool,
}

/// The options of a sandbox.
#[derive(Debug, Clone)]
pub struct Options {
    /// The database file; made and seeded if it is missing.
    pub data: PathBuf,
    /// The contents of a new database, in the form of [`SEED`], which is the default. With a seed, an existing database
    /// is refused.
    pub seed: Option<String>,
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Faults to inject.
    pub faults: Vec<Fault>,
    /// Whether an address beyond loopback is allowed: anybody who reaches it can then use the sandbox.
    pub allow_remote: bool,
    /// Host names that are accepted besides those of loopback.
    pub allow_hosts: Vec<String>,
    /// How long the header of a request may take to arrive, and its body again.
    pub read_timeout: Duration,
    /// The shop that is emulated.
    pub emulation: Emulation,
    /// How many customers there are at least.
    pub customers: u32,
}

impl Options {
    /// A free port on loopback, no faults.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            seed: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            faults: Vec::new(),
            allow_remote: false,
            allow_hosts: Vec::new(),
            read_timeout: READ_TIMEOUT,
            emulation: Emulation::default(),
            customers: 0,
        }
    }
}

/// A sandbox that answers requests. It ends when this is dropped; [`Running::stop`] waits for that.
#[derive(Debug)]
pub struct Running {
    /// Base URL, such as `http://127.0.0.1:45123`.
    pub url: String,
    /// Token of the first customer of the seed.
    pub customer_token: String,
    /// Token of the administrator of the seed.
    pub admin_token: String,
    shutdown: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

/// Called for every request answered: its method, its path and the status.
pub type Observer = Arc<dyn Fn(&str, &str, u16) + Send + Sync>;

/// Opens the database, listens, and serves on the current tokio runtime.
///
/// Fails when the file is not a sandbox database or cannot be used, when the address is taken, and when it is
/// not loopback and `allow_remote` is not set.
pub async fn start(options: Options) -> anyhow::Result<Running> {
    start_observed(options, None).await
}

/// [`start`], with `observer` called for every request, connections that a fault resets included.
pub async fn start_observed(options: Options, observer: Option<Observer>) -> anyhow::Result<Running> {
    let listen = options.listen;
    if !listen.ip().is_loopback() && !options.allow_remote {
        bail!("{listen} is reachable from other machines; use --allow-remote to permit it");
    }
    let mut store = match &options.seed {
        None => Store::open(&options.data, seed::insert)?,
        Some(seed) => open_new(&options.data, seed)?,
    };
    store.emulation = options.emulation;
    store
        .transact(AccessMode::Write, |records| seed::fill(records, options.customers.into()))
        .map_err(|error: store::StoreError| anyhow::anyhow!("cannot add customers: {error}"))?;
    let tokens = store.transact(AccessMode::Read, |records: &store::Database<'_>| records.tokens())?;
    // Issued tokens expire, unlike those of the seed.
    let of_seed = tokens.into_iter().filter(|token| token.token.starts_with(seed::OF_CUSTOMER));
    let first = of_seed.min_by_key(|token| token.customer_id);
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let url = format!("http://{}", listener.local_addr()?);
    let app = app(Arc::new(store), options.faults, options.allow_hosts.into(), observer);
    let (shutdown, stopped) = oneshot::channel::<()>();
    Ok(Running {
        url,
        customer_token: first.map(|first| first.token).unwrap_or_default(),
        admin_token: seed::ADMIN_TOKEN.to_owned(),
        shutdown,
        server: tokio::spawn(server::serve(listener, app, options.read_timeout, stopped)),
    })
}

/// Opens a new database with a user's own seed.
fn open_new(data: &Path, seed: &str) -> anyhow::Result<Store> {
    if data.metadata().is_ok_and(|file| file.len() > 0) {
        bail!("`{}` exists, and a seed is for a new database; name another file with --data", data.display());
    }
    let store = Store::open(data, |records| seed::insert_text(records, seed));
    store.inspect_err(|_| {
        // Nothing is in it.
        let _ = std::fs::remove_file(data);
    })
}

/// Whether the sandbox can read its database, for programs that wait for it.
fn health(store: &Store) -> axum::response::Response {
    let read = store.transact(AccessMode::Read, |records: &store::Database<'_>| records.store_views());
    let (status, body) = match read {
        Ok(_) => (StatusCode::OK, r#"{"status":"ok"}"#),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"unavailable"}"#),
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn app(
    store: Arc<Store>,
    faults: Vec<Fault>,
    allow_hosts: Arc<[String]>,
    observer: Option<Observer>,
) -> Router {
    let of_health = store.clone();
    let mut app = Router::new().fallback(dispatch::answer).with_state(store);
    if !faults.is_empty() {
        let injector = Arc::new(FaultInjector::new(faults));
        app = app.layer(middleware::from_fn_with_state(injector, inject::middleware));
    }
    // No fault strikes this route.
    app = app.route("/health", axum::routing::get(async move || health(&of_health)));
    app = app.layer(middleware::from_fn_with_state(allow_hosts, server::host_check));
    if let Some(observer) = observer {
        app = app.layer(middleware::from_fn_with_state(observer, observe));
    }
    app
}

async fn observe(
    axum::extract::State(observer): axum::extract::State<Observer>,
    request: axum::extract::Request,
    next: middleware::Next,
) -> axum::response::Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    observer(method.as_str(), &path, response.status().as_u16());
    response
}

impl Running {
    /// Stops listening, lets requests in flight end for a moment, and returns.
    pub async fn stop(self) {
        let Self { shutdown, mut server, .. } = self;
        drop(shutdown);
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut server).await.is_err() {
            server.abort();
        }
    }
}

/// Replaces everything in the database by the seed, also while a sandbox runs on it.
pub fn reset(data: &Path) -> anyhow::Result<()> {
    Store::reset(data, seed::insert)
}

/// Everything the database holds:
/// `{"customers": […], "quotes": […], "orders": […], "attributes": […], "attribute_sets": […], "products": […], "store_views": […]}`.
pub fn dump(data: &Path) -> anyhow::Result<Value> {
    let store = Store::open(data, seed::insert)?;
    store
        .transact(AccessMode::Read, dump::dump)
        .map_err(|refusal| anyhow::anyhow!("cannot read {}: {}", data.display(), refusal.body()))
}

/// The tokens the sandbox accepts.
pub fn tokens(data: &Path) -> anyhow::Result<Vec<IssuedToken>> {
    let store = Store::open(data, seed::insert)?;
    Ok(store.transact(AccessMode::Read, |records: &store::Database<'_>| records.tokens())?)
}
