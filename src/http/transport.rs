//! Below the client: one request out, one reply in. Tests put a modelled service and network in its place.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::time::Duration;

use reqwest::header::HeaderMap;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::tls;
use crate::failure::Failure;
use crate::http::transport_error::TransportError;
use crate::http::{Endpoint, USER_AGENT_VALUE};

/// As much of a reply as is ever read.
pub const MAX_BODY: usize = 16 << 20;
/// A write never uses a connection that has been idle for longer: servers and proxies close such connections, and a
/// request that leaves at that moment has an unknown outcome.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// A request as it leaves.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Upper case.
    pub method: reqwest::Method,
    /// The whole URL.
    pub url: Url,
    /// With the token.
    pub headers: HeaderMap,
    /// JSON text.
    pub body: Option<std::borrow::Cow<'static, str>>,
}

/// A complete head, and what could be read of the body.
#[derive(Debug, Clone, Default)]
pub struct Incoming {
    /// HTTP status.
    pub status: u16,
    /// As they came.
    pub headers: HeaderMap,
    /// At most [`MAX_BODY`] bytes.
    pub body: Vec<u8>,
    /// Why the body is not whole.
    pub broken: Option<String>,
}

/// A reply, or what happened instead.
pub type Exchange<'a> = Pin<Box<dyn Future<Output = Result<Incoming, TransportError>> + 'a>>;

/// Carries requests to one service.
pub trait Transport: fmt::Debug {
    /// Sends a request once and waits for its reply, at most `timeout` from the first packet to the last byte.
    fn exchange(&self, request: Outgoing, timeout: Duration) -> Exchange<'_>;
}

/// HTTP/1.1 over TCP and TLS: no redirects, nothing repeated.
#[derive(Debug)]
pub(super) struct HttpTransport {
    client: reqwest::Client,
    /// The variable that names a proxy for this service, for messages.
    proxy: Option<&'static str>,
}

impl HttpTransport {
    /// Opens no connection. For `http://` no certificate is read.
    pub(super) fn new(link: &Endpoint) -> Result<Self, Failure> {
        link.check()?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(link)?)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(USER_AGENT_VALUE)
            .pool_idle_timeout(MAX_IDLE)
            .connect_timeout(link.connect_limit())
            // A name look-up could lead the token off this machine.
            .resolve_to_addrs(
                "localhost",
                &[(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()],
            );
        if !link.may_use_proxy() {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| Failure::internal(format!("cannot create the HTTP client: {error:?}")))?;
        Ok(Self { client, proxy: link.proxy_variable() })
    }

    async fn send(&self, request: Outgoing, timeout: Duration) -> Result<Incoming, TransportError> {
        let deadline = Instant::now() + timeout;
        let url = request.url.clone();
        let mut outgoing = reqwest::Request::new(request.method, request.url);
        *outgoing.headers_mut() = request.headers;
        *outgoing.body_mut() = request.body.map(|body| match body {
            std::borrow::Cow::Borrowed(text) => text.into(),
            std::borrow::Cow::Owned(text) => text.into(),
        });
        let mut response = match timeout_at(deadline, self.client.execute(outgoing)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(TransportError::from_error(&error, &url, self.proxy)),
            Err(_) => return Err(TransportError::timed_out(&url, timeout)),
        };
        let mut incoming = Incoming {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            ..Incoming::default()
        };
        incoming.broken = read_body(response, deadline, timeout, &mut incoming.body).await;
        Ok(incoming)
    }
}

impl Transport for HttpTransport {
    fn exchange(&self, request: Outgoing, timeout: Duration) -> Exchange<'_> {
        Box::pin(self.send(request, timeout))
    }
}

/// Fills `body`; returns why it is not whole.
async fn read_body(
    mut response: reqwest::Response,
    deadline: Instant,
    timeout: Duration,
    body: &mut Vec<u8>,
) -> Option<String> {
    loop {
        let chunk = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => return None,
            Ok(Err(_)) => return Some("response body ended unexpectedly".to_owned()),
            Err(_) => {
                return Some(format!("the reply's body was not complete within {} s", timeout.as_secs_f64()));
            }
        };
        let room = MAX_BODY - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Some("response body exceeds 16 MiB".to_owned());
        }
    }
}
