//! What is answered on loopback: the page, once, and the requests of that page. Everything else is refused.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::serve::Listener;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;

use super::page::Page;
use super::session::{Applying, Opening, ReviewSession};

/// The header with the token of the session. A page of another origin would need permission to send it, and gets none.
const SESSION: &str = "x-storefront-session";
/// The longest body of a request with the session: the numbers of a million records.
const MAX_BODY: usize = 8 << 20;
/// The longest body of a request without the session, which holds the secret.
const MAX_UNKNOWN_BODY: usize = 1 << 10;
/// The number of connections that are answered at once; others wait. A page has a few.
const MAX_CONNECTIONS: usize = 32;

/// What is served, and to whom.
pub struct Served {
    /// The address and the port.
    pub host: String,
    /// The page.
    pub page: Page,
    /// The session.
    pub review: Arc<ReviewSession>,
}

/// A server that runs until it is stopped.
pub struct Running {
    stop: oneshot::Sender<()>,
    served: JoinHandle<io::Result<()>>,
}

impl Running {
    /// Stops after the answers that have started.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.served.await;
    }
}

/// Serves until it is stopped.
pub fn start(listener: TcpListener, served: Served) -> Running {
    let (stop, stopped) = oneshot::channel::<()>();
    let app = Router::new().fallback(answer).with_state(Arc::new(served));
    let listener = Limited { listener, free: Arc::new(Semaphore::new(MAX_CONNECTIONS)) };
    let server = axum::serve(listener, app).with_graceful_shutdown(async {
        let _ = stopped.await;
    });
    Running { stop, served: tokio::spawn(server.into_future()) }
}

/// A listener with a limit of connections.
struct Limited {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Listener for Limited {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // The semaphore is never closed.
        let place = self.free.clone().acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Connection { stream, _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection, with its place among those that are answered.
struct Connection {
    stream: TcpStream,
    _place: Option<OwnedSemaphorePermit>,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

async fn answer(State(served): State<Arc<Served>>, request: Request) -> Response {
    let mut response = served.route(request).await.unwrap_or_else(Refusal::into_response);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("connection", "close"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::from_str(served.page.policy());
    let nothing = HeaderValue::from_static("default-src 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.unwrap_or(nothing));
    response
}

/// Why a request is not answered.
struct Refusal {
    status: StatusCode,
    text: String,
}

impl Refusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    fn into_response(self) -> Response {
        let body = json!({"error": self.text}).to_string();
        let json = HeaderValue::from_static("application/json");
        (self.status, [(header::CONTENT_TYPE, json)], body).into_response()
    }
}

/// What the page sends to apply.
#[derive(Deserialize)]
struct Order {
    code: String,
    only: Vec<u64>,
}

impl Served {
    async fn route(&self, request: Request) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        let headers = &parts.headers;
        // A foreign name that leads to this machine is refused, in the header and in the target.
        if only(headers, "host") != Some(&self.host) || parts.uri.authority().is_some() {
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, "this host is not served here"));
        }
        match (&parts.method, parts.uri.path()) {
            (&Method::POST, "/") => self.open(headers, body).await,
            (&Method::POST, "/apply") => {
                self.ensure_session(headers, true)?;
                self.apply(body).await
            }
            (&Method::GET, "/progress") => {
                self.ensure_session(headers, false)?;
                let from = parts.uri.query().and_then(|query| query.strip_prefix("from=")?.parse().ok());
                Ok(reply(&self.review.progress(from.unwrap_or(0))))
            }
            (&Method::GET, "/") => {
                Err(Refusal::new(StatusCode::FORBIDDEN, "open the file that `storefront review` names"))
            }
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, "not found")),
        }
    }

    /// Gives the page to who has the secret, once. The file that posts it has no origin.
    async fn open(&self, headers: &HeaderMap, body: Body) -> Result<Response, Refusal> {
        if headers.contains_key(header::ORIGIN) && only(headers, "origin") != Some("null") {
            return Err(Refusal::new(StatusCode::FORBIDDEN, "another page cannot open the review"));
        }
        let body = read(body, MAX_UNKNOWN_BODY).await?;
        let secret = url::form_urlencoded::parse(&body).find(|(name, _)| name == "secret");
        match self.review.open(&secret.map(|(_, secret)| secret).unwrap_or_default()) {
            Opening::Opened => {
                let html = HeaderValue::from_static("text/html; charset=utf-8");
                Ok(([(header::CONTENT_TYPE, html)], self.page.with(&self.review.token)).into_response())
            }
            Opening::Taken => Err(Refusal::new(
                StatusCode::CONFLICT,
                "this review was opened already: a page that was closed or loaded again needs a new `storefront review`",
            )),
            Opening::Refused => {
                Err(Refusal::new(StatusCode::FORBIDDEN, "open the file that `storefront review` names"))
            }
        }
    }

    async fn apply(&self, body: Body) -> Result<Response, Refusal> {
        let wrong = |_| Refusal::new(StatusCode::BAD_REQUEST, "not a request of this page");
        let Order { code, only } = serde_json::from_slice(&read(body, MAX_BODY).await?).map_err(wrong)?;
        if only.is_empty() || only.iter().any(|record| !(1..=self.page.records()).contains(record)) {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "no record is selected"));
        }
        match self.review.apply(&code, only) {
            Applying::Started => {
                self.review.started().await;
                Ok(reply(&json!({"started": true})))
            }
            Applying::Wrong(0) => Err(Refusal::new(
                StatusCode::GONE,
                "the fifth wrong code: this review has ended; nothing was applied",
            )),
            Applying::Wrong(left) => {
                let tries = if left == 1 { "1 try is" } else { &format!("{left} tries are") };
                Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("wrong code: {tries} left")))
            }
            Applying::Late => Err(Refusal::new(StatusCode::CONFLICT, "this plan is being applied already")),
        }
    }

    /// Refuses what does not come from the page: without its session, or sent by another page.
    fn ensure_session(&self, headers: &HeaderMap, is_write: bool) -> Result<(), Refusal> {
        let own = format!("http://{}", self.host);
        // Browsers name the origin of every request that writes.
        let is_own = match only(headers, "origin") {
            Some(origin) => origin == own,
            None => !is_write && !headers.contains_key(header::ORIGIN),
        };
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_session = only(headers, SESSION).is_some_and(|token| self.review.is_session(token));
        if is_own && site.is_none_or(|site| site == b"same-origin") && is_session {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::FORBIDDEN, "this page does not have the session of the review"))
    }
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

async fn read(body: Body, longest: usize) -> Result<Vec<u8>, Refusal> {
    let bytes = to_bytes(body, longest).await;
    bytes.map(Into::into).map_err(|_| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long"))
}

fn reply(value: &Value) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], value.to_string()).into_response()
}
