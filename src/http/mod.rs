//! The only way out: one client, no redirects, and no request that could act twice is ever repeated (DESIGN 3, 6).

mod attempt;
mod classify;
mod clip;
mod link;
mod lost;
mod markup;
mod mask;
mod placeholders;
mod reply;
mod retry;
pub mod service_error;
mod tls;
mod tls_words;
pub mod trace;

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT,
};
use url::Url;

pub use classify::CHECK_FIRST;
pub use link::Link;
pub use reply::Reply;
pub use trace::{Headers, Tracer, Traffic};

use crate::failure::{Failure, Kind};
use crate::plan::request::Request;
use crate::token::Token;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FRESH: HeaderValue = HeaderValue::from_static("no-cache");
const OURSELVES: HeaderValue = HeaderValue::from_static(concat!("storefront/", env!("CARGO_PKG_VERSION")));
/// Shorter than servers keep an idle connection, so that they seldom close it just as a request leaves.
const LONGEST_IDLE: Duration = Duration::from_secs(4);

/// Sends requests to one service, many at a time if wanted, over connections that are kept.
pub struct Client {
    inner: reqwest::Client,
    base: String,
    timeout: Duration,
    retry: u32,
    /// The variable that names a proxy for this service, for messages.
    proxy: Option<&'static str>,
    throttled: AtomicU64,
    tracer: Option<Tracer>,
    /// Where the first request went, as text and parsed: a run goes to one place again and again.
    first: OnceLock<(String, Url)>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Client")
            .field("base", &self.base)
            .field("timeout", &self.timeout)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client; opens no connection. For `http://` no certificate is read.
    ///
    /// # Errors
    /// `usage` for a base URL that cannot be used, for `http://` to another machine without leave, and for
    /// certificate files that cannot be read.
    pub fn new(link: &Link, tracer: Option<Tracer>) -> Result<Self, Failure> {
        link.check()?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(link)?)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(OURSELVES)
            .pool_idle_timeout(LONGEST_IDLE)
            .connect_timeout(link.connect_limit())
            // A name look-up could lead the token off this machine.
            .resolve_to_addrs(
                "localhost",
                &[(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()],
            );
        if !link.may_use_proxy() {
            builder = builder.no_proxy();
        }
        Ok(Self {
            inner: builder.build().map_err(|error| unforeseen(&error))?,
            base: link.base_url.as_str().trim_end_matches('/').to_owned(),
            timeout: link.timeout,
            retry: link.retry,
            proxy: link.proxy_variable(),
            throttled: AtomicU64::new(0),
            tracer,
            first: OnceLock::new(),
        })
    }

    /// The whole URL of a request as it is sent: the base URL, its path kept, and the request's path.
    pub fn url(&self, request: &Request) -> String {
        let text = self.url_text(request);
        Url::parse(&text).map_or(text, String::from)
    }

    fn target(&self, request: &Request) -> Result<Url, Failure> {
        let text = self.url_text(request);
        if let Some((known, url)) = self.first.get()
            && *known == text
        {
            return Ok(url.clone());
        }
        let url = parse(&text)?;
        // Only the first is kept.
        let _ = self.first.set((text, url.clone()));
        Ok(url)
    }

    /// The path cannot change the host: a slash always stands between the two.
    fn url_text(&self, request: &Request) -> String {
        let slash = if request.path.starts_with('/') { "" } else { "/" };
        format!("{}{slash}{}", self.base, request.path)
    }

    /// How often the service has asked for fewer requests so far: 429, or 503 with `Retry-After`, repeats included.
    pub fn throttled(&self) -> u64 {
        self.throttled.load(Ordering::Relaxed)
    }

    /// Sends a request, and again what cannot act twice. A complete success head is success, whatever its body.
    ///
    /// # Errors
    /// `auth` for 401 and 403; `refused` for other 4xx and for redirects; `unavailable` when nothing can have been
    /// applied (not reached, still busy, a read that failed); `unknown` when the request may have been applied.
    pub async fn send(&self, request: &Request, token: &Token) -> Result<Reply, Failure> {
        self.send_while(request, token, async || Ok(())).await
    }

    /// The same; before each repeat `still` is asked, after the wait, whether the request is still to be sent.
    ///
    /// # Errors
    /// As [`Self::send`], and what `still` says.
    pub async fn send_while(
        &self,
        request: &Request,
        token: &Token,
        still: impl AsyncFn() -> Result<(), Failure>,
    ) -> Result<Reply, Failure> {
        let url = self.target(request)?;
        let mut repeat = 0;
        loop {
            let outgoing = outgoing(request, url.clone(), token)?;
            let attempt = self.attempt(request, outgoing, token.expose()).await;
            let verdict = classify::classify(request, &url, attempt);
            self.throttled.fetch_add(verdict.throttled.into(), Ordering::Relaxed);
            let failure = match verdict.result {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let wait = if repeat < self.retry { verdict.repeat.wait(repeat + 1) } else { None };
            let Some(wait) = wait else {
                return Err(after_repeats(failure, repeat));
            };
            repeat += 1;
            self.trace(|| Traffic::Repeating { repeat, of: self.retry, wait, because: &failure.message });
            tokio::time::sleep(wait).await;
            still().await?;
        }
    }

    /// Tells the tracer, if there is one.
    fn trace<'a>(&self, event: impl FnOnce() -> Traffic<'a>) {
        if let Some(tracer) = &self.tracer {
            tracer(event());
        }
    }
}

fn parse(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).map_err(|error| Failure::usage(format!("{text} is no URL: {error}")))?;
    if url.fragment().is_some() {
        return Err(Failure::usage(format!("{text} holds a #, and what follows it is never sent"))
            .hint("write it as %23 where it belongs to the path"));
    }
    Ok(url)
}

fn after_repeats(mut failure: Failure, repeats: u32) -> Failure {
    if repeats > 0 {
        failure.message = format!("{} (tried {} times)", failure.message, repeats + 1);
    }
    failure
}

fn headers(request: &Request, token: &Token) -> Result<HeaderMap, Failure> {
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| {
        Failure::new(Kind::Auth, "the token holds characters that cannot stand in a header")
            .hint("`storefront auth status` shows where it comes from")
    })?;
    bearer.set_sensitive(true);
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(ACCEPT, JSON);
    headers.insert(USER_AGENT, OURSELVES);
    headers.insert(AUTHORIZATION, bearer);
    if request.body.is_some() {
        headers.insert(CONTENT_TYPE, JSON);
    } else {
        // What a cache remembers of a profile may lack its newest address.
        headers.insert(CACHE_CONTROL, FRESH);
    }
    Ok(headers)
}

fn outgoing(request: &Request, url: Url, token: &Token) -> Result<reqwest::Request, Failure> {
    let name = request.method.as_str();
    let method = reqwest::Method::from_bytes(name.as_bytes())
        .map_err(|_| Failure::usage(format!("{name:?} is no HTTP method")))?;
    let mut outgoing = reqwest::Request::new(method, url);
    *outgoing.headers_mut() = headers(request, token)?;
    *outgoing.body_mut() = request.body.clone().map(|body| match body {
        Cow::Borrowed(text) => text.into(),
        Cow::Owned(text) => text.into(),
    });
    Ok(outgoing)
}

fn unforeseen(error: &reqwest::Error) -> Failure {
    Failure::internal(format!("no HTTP client can be made: {error:?}"))
}
