//! The way to the service: one request out, one reply in. Tests put a modelled service and network in
//! its place.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Certificate, ClientBuilder, Identity};
use tokio::time::{Instant, timeout_at};

use crate::client::transport_error::{TransportError, root_cause};
use crate::config::{Endpoint, is_this_machine};
use storefront_core::failure::Failure;

const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// How the program names itself.
pub(super) const USER_AGENT_VALUE: HeaderValue =
    HeaderValue::from_static(concat!("storefront/", env!("CARGO_PKG_VERSION")));

/// How much of a reply is read at most.
pub const MAX_BODY: usize = 16 << 20;
/// How long a connection may be idle to be used again: servers and proxies close idle connections, and a write that
/// leaves at that moment has an unknown outcome.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// A complete head, and as much of the body as could be read.
#[derive(Debug, Clone, Default)]
pub struct Incoming {
    /// HTTP status.
    pub status: u16,
    /// As they came.
    pub headers: HeaderMap,
    /// At most [`MAX_BODY`] bytes.
    pub body: Vec<u8>,
    /// Why the body is not complete.
    pub broken: Option<String>,
}

/// A reply, or what happened instead.
pub type Exchange<'a> = Pin<Box<dyn Future<Output = Result<Incoming, TransportError>> + 'a>>;

/// Carries requests to one service.
pub trait Transport: fmt::Debug {
    /// Sends a request once and waits for its reply, at most `timeout` from the first packet to the last byte.
    fn exchange(&self, request: reqwest::Request, timeout: Duration) -> Exchange<'_>;
}

/// Makes the way to a service: [`over_http`], or one that a test provides.
pub type Connect = dyn Fn(&Endpoint) -> Result<Box<dyn Transport>, Failure>;

/// HTTP/1.1 over TCP and TLS. Opens no connection. For `http://` no certificate is read.
///
/// # Errors
/// `usage` for `http://` to another machine that is not allowed, and for certificate files that cannot be used.
pub fn over_http(link: &Endpoint) -> Result<Box<dyn Transport>, Failure> {
    Ok(Box::new(HttpTransport::new(link)?))
}

/// HTTP/1.1 over TCP and TLS: no redirects, nothing repeated.
#[derive(Debug)]
struct HttpTransport {
    client: reqwest::Client,
    /// The variable that names a proxy for this service, for messages.
    proxy: Option<&'static str>,
}

impl HttpTransport {
    fn new(link: &Endpoint) -> Result<Self, Failure> {
        let url = &link.base_url;
        if url.scheme() == "http" && !is_this_machine(url) && !link.allow_plain_http {
            let message = format!("plain http:// to {url} would expose the token and customer data");
            return Err(
                Failure::usage(message).hint("use https://, or set `allow-plain-http = true` in the profile")
            );
        }
        // The proxy would see the token of a call to this machine.
        let uses_proxy = link.use_proxy && !is_this_machine(url);
        // The shorter time to connect tells a missing connection from a missing answer.
        let connect_timeout = link.timeout.mul_f64(0.95).min(MAX_CONNECT_TIME);
        let mut builder = reqwest::Client::builder()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(USER_AGENT_VALUE)
            .pool_idle_timeout(MAX_IDLE)
            .connect_timeout(connect_timeout)
            // A name look-up could send the token away from this machine.
            .resolve_to_addrs(
                "localhost",
                &[(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()],
            );
        if !uses_proxy {
            builder = builder.no_proxy();
        }
        Ok(Self {
            client: with_certificates(builder, link)?,
            proxy: link.proxy_variable.filter(|_| uses_proxy),
        })
    }

    async fn send(&self, request: reqwest::Request, timeout: Duration) -> Result<Incoming, TransportError> {
        let deadline = Instant::now() + timeout;
        let url = request.url().clone();
        let mut response = match timeout_at(deadline, self.client.execute(request)).await {
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
    fn exchange(&self, request: reqwest::Request, timeout: Duration) -> Exchange<'_> {
        Box::pin(self.send(request, timeout))
    }
}

/// Fills `body`; returns why it is not complete.
async fn read_body(
    mut response: reqwest::Response,
    deadline: Instant,
    timeout: Duration,
    body: &mut Vec<u8>,
) -> Option<String> {
    loop {
        let Ok(read) = timeout_at(deadline, response.chunk()).await else {
            let seconds = timeout.as_secs_f64();
            return Some(format!("the response body did not complete within {seconds} s"));
        };
        let chunk = match read {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return None,
            Err(_) => return Some("response body ended unexpectedly".to_owned()),
        };
        let room = MAX_BODY - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Some("response body exceeds 16 MiB".to_owned());
        }
    }
}

/// The client with the certificates of the endpoint; for `http://` none are read, and none is trusted.
fn with_certificates(mut builder: ClientBuilder, link: &Endpoint) -> Result<reqwest::Client, Failure> {
    const CLIENT: &str = "client-certificate";
    // An error means that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if link.base_url.scheme() != "https" {
        return builder.tls_certs_only([]).build().map_err(|error| {
            Failure::internal(format!("cannot create the HTTP client: {}", root_cause(&error)))
        });
    }
    let of_system = link.certificate_file.as_ref().map(|path| ("certificate file", path));
    let authorities = link.ca_file.as_ref().map(|path| ("ca-file", path)).or(of_system);
    if let Some((role, path)) = authorities {
        builder = builder.tls_certs_only(roots(role, path)?);
    }
    if let Some(path) = &link.client_certificate {
        let identity = Identity::from_pem(&read(CLIENT, path)?).map_err(|error| {
            invalid(CLIENT, path, &error)
                .hint("put the certificate, its chain and its unencrypted private key into the file, as PEM")
        })?;
        builder = builder.identity(identity);
    }
    builder.build().map_err(|error| {
        let hint = match (authorities, &link.client_certificate) {
            (None, None) => "install the package ca-certificates, or set `ca-file` in the profile",
            _ => "check the PEM files of `ca-file` and `client-certificate`",
        };
        Failure::usage(format!("cannot set up TLS: {}", root_cause(&error))).hint(hint)
    })
}

/// Every certificate in a PEM file, at least one.
fn roots(role: &str, path: &Path) -> Result<Vec<Certificate>, Failure> {
    let roots =
        Certificate::from_pem_bundle(&read(role, path)?).map_err(|error| invalid(role, path, &error))?;
    if roots.is_empty() {
        return Err(Failure::usage(format!("no certificate in {role} `{}`", path.display()))
            .hint("use PEM; convert DER with `openssl x509 -inform der -in FILE`"));
    }
    Ok(roots)
}

fn read(role: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::usage(format!("cannot read the {role} `{}`: {error}", path.display())))
}

fn invalid(role: &str, path: &Path, error: &reqwest::Error) -> Failure {
    let cause = root_cause(error);
    let cause = cause.strip_prefix("unexpected error: ").unwrap_or(&cause);
    Failure::usage(format!("invalid {role} `{}`: {cause}", path.display()))
}
