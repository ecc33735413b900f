//! The HTTP client: no redirects, and only requests that cannot act twice are repeated.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, DATE, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHORIZATION, SET_COOKIE, USER_AGENT,
};
use tokio::time::Instant;
use url::Url;

use super::attempt::{Attempt, Attempts, MAX_WAIT, Reply, ServiceSignal};
use super::classify::{self, PAGE};
use super::transport::{Incoming, Transport, USER_AGENT_VALUE, over_http};
use crate::config::{Endpoint, Headers};
use crate::system::clock::Clock;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::interface::request::{CallKind, Dialect, Request};
use storefront_core::text::oauth::{self, NameOrder, Stamp};
use storefront_core::text::redact::{MASK, secrets};
use storefront_core::text::token::Credential;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How often a wait checks whether the command is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// Called with how the service is doing, after every attempt.
pub type Observer = Box<dyn Fn(ServiceSignal)>;

/// Sends requests to one service, many at a time if wanted, over connections that are kept.
pub struct Client {
    transport: Box<dyn Transport>,
    base: String,
    headers: Headers,
    /// The headers of the profile, once they were read.
    read_headers: tokio::sync::OnceCell<HeaderMap>,
    timeout: Duration,
    /// Whether a long body gets more time.
    timeout_grows: bool,
    retry: u32,
    sign_port: bool,
    /// Whether the interface shows its replies.
    replies_are_shown: bool,
    /// Dates of replies are compared with it.
    clock: Clock,
    /// Whether the date of the last dated reply matched this clock, give or take a day.
    is_clock_right: Cell<bool>,
    tracer: Option<Tracer>,
    observer: OnceCell<Observer>,
    /// No read, and no write that follows none, leaves before this time: the service has asked for it.
    quiet_until: Cell<Option<Instant>>,
    /// Gives numbers between 0 and 1, so that many clients do not come back at the same moment.
    random: fn() -> f64,
}

/// How far the clock of this machine may be from the service's for old rows to be deleted by it.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(24);

/// Twice the time of the slowest shop that was measured.
const TIME_PER_KIB: Duration = Duration::from_millis(250);

impl Client {
    /// Makes a client over HTTP; opens no connection. For `http://` no certificate is read.
    ///
    /// # Errors
    /// `usage` for `http://` to another machine that is not allowed, and for certificate files that cannot be used.
    pub fn new(link: &Endpoint, tracer: Option<Tracer>, clock: Clock) -> Result<Self, Failure> {
        Ok(Self { tracer, ..Self::over(link, over_http(link)?, clock) })
    }

    /// A client over the caller's transport, without random delays.
    pub fn over(link: &Endpoint, transport: Box<dyn Transport>, clock: Clock) -> Self {
        Self {
            transport,
            base: link.base_url.as_str().trim_end_matches('/').to_owned(),
            headers: link.headers.clone(),
            read_headers: tokio::sync::OnceCell::new(),
            timeout: link.timeout,
            timeout_grows: false,
            retry: link.retry,
            sign_port: link.sign_port,
            replies_are_shown: false,
            clock,
            is_clock_right: Cell::new(false),
            tracer: None,
            observer: OnceCell::new(),
            quiet_until: Cell::default(),
            random: || 0.5,
        }
    }

    /// This client with a tracer, and with delays from these random numbers between 0 and 1.
    #[must_use]
    pub fn with(self, tracer: Option<Tracer>, random: fn() -> f64) -> Self {
        Self { tracer, random, ..self }
    }

    /// This client for an interface: whether it shows its replies decides what counts as success.
    #[must_use]
    pub fn for_interface(self, dialect: &Dialect) -> Self {
        Self { replies_are_shown: dialect.shows_replies, ..self }
    }

    /// This client, which gives a long body more time than the timeout, unless the user has chosen the timeout.
    #[must_use]
    pub fn with_time_for_long_bodies(self, timeout_grows: bool) -> Self {
        Self { timeout_grows, ..self }
    }

    /// How long an attempt may take. A shop needs 25 to 40 ms for each address of a profile; a KiB has two or three of
    /// them.
    fn timeout_for(&self, request: &Request) -> Duration {
        let kibibytes = request.body.as_ref().map_or(0, |body| body.len() / 1024);
        let more = TIME_PER_KIB * u32::try_from(kibibytes).unwrap_or(u32::MAX);
        if self.timeout_grows { self.timeout + more } else { self.timeout }
    }

    /// Whether the service confirms that this machine's clock is right, give or take a day. Replies without a date
    /// confirm nothing.
    pub fn is_clock_right(&self) -> bool {
        self.is_clock_right.get()
    }

    /// Sets the observer that is called after each attempt. Only the first call counts.
    pub fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    /// The whole URL of a request as it is sent: the base URL, its path kept, and the request's path.
    pub fn url(&self, request: &Request) -> String {
        let text = self.url_text(request);
        Url::parse(&text).map_or(text, String::from)
    }

    /// A slash always separates the base URL and the path, so that the path cannot change the host.
    fn url_text(&self, request: &Request) -> String {
        let slash = if request.path.starts_with('/') { "" } else { "/" };
        format!("{}{slash}{}", self.base, request.path)
    }

    /// Sends a request; within `--retry`, one that cannot act twice is sent again. No repeat starts once `stop` says so.
    ///
    /// # Errors
    /// `auth` for 401 and 403; `refused` for other 4xx and for redirects; `unavailable` when nothing can have been
    /// applied (not reached, throttled to the end, a read that failed); `unknown` when the request may have been
    /// applied.
    pub async fn send(
        &self,
        request: &Request,
        token: &Credential,
        stop: impl Fn() -> bool,
    ) -> Result<Reply, Failure> {
        let mut attempts = Attempts::default();
        loop {
            // A write follows its read at once; repeats wait by themselves.
            if request.is_read() {
                self.wait_as_asked(|| false).await;
            }
            let attempt = self.attempt(request, Some(token)).await?;
            let wait = self.delay(&attempts, &attempt, request).filter(|_| !stop());
            match (attempts.conclude(attempt), wait) {
                (Err(failure), Some(wait)) => {
                    pause(wait, &stop).await;
                    if stop() {
                        return Err(failure);
                    }
                }
                (end, _) => return end,
            }
        }
    }

    /// Waits as long as the service has asked for, or until `stop` says so.
    pub async fn wait_as_asked(&self, stop: impl Fn() -> bool) {
        if let Some(until) = self.quiet_until.get() {
            pause(until.saturating_duration_since(Instant::now()), stop).await;
        }
    }

    /// How long to wait before one more attempt after this one; `None` if there must be none.
    pub fn delay(&self, before: &Attempts, attempt: &Attempt, request: &Request) -> Option<Duration> {
        let repeat = before.count + 1;
        // A request that only sets a state is sent once more after an unknown outcome.
        let is_lost_again = matches!(attempt, Attempt::Unknown { .. }) && before.has_unknown();
        if repeat > self.retry || request.kind == CallKind::State && is_lost_again {
            return None;
        }
        let wait = attempt.repeat_after(request.kind, repeat, self.random)?;
        let because = attempt.failure().map_or("", |failure| &failure.message);
        self.trace(|| HttpEvent::Retry { repeat, of: self.retry, wait, because });
        Some(wait)
    }

    /// Exchanges a user name and a password for a token: once, without a token, and without the bodies in the trace.
    ///
    /// # Errors
    /// As [`Self::send`]; since nothing is applied by it, never `unknown`.
    pub async fn log_in(&self, request: &Request) -> Result<Reply, Failure> {
        let attempt = self.attempt(request, None).await?;
        Attempts::default().conclude(attempt).map_err(|failure| match failure.kind {
            FailureKind::Unknown => Failure {
                kind: FailureKind::Unavailable,
                applied: Applied::No,
                hint: Some(if failure.is_foreign { PAGE } else { "try again later" }.into()),
                ..failure
            },
            _ => failure,
        })
    }

    /// Sends a request once, with a token or with credentials in its body. A read whose signature was refused, and which
    /// a newer Magento signs differently, is sent again with that signature.
    ///
    /// # Errors
    /// Only for a request that cannot be made: an invalid URL or token, or headers of the profile that cannot be read.
    pub async fn attempt(&self, request: &Request, token: Option<&Credential>) -> Result<Attempt, Failure> {
        let attempt = self.attempt_signed(request, token, NameOrder::Natural).await?;
        let is_refused = attempt.failure().is_some_and(|failure| oauth::is_bad_signature(&failure.message));
        if is_refused && request.is_read() && oauth::depends_on_order(&parse(&self.url_text(request))?) {
            return self.attempt_signed(request, token, NameOrder::Bytes).await;
        }
        Ok(attempt)
    }

    /// Sends a request once; if it is signed, its parameters are sorted in this order.
    async fn attempt_signed(
        &self,
        request: &Request,
        token: Option<&Credential>,
        order: NameOrder,
    ) -> Result<Attempt, Failure> {
        let mut url = parse(&self.url_text(request))?;
        let authorization =
            token.map(|token| self.authorization(request, &mut url, token, order)).transpose()?;
        let mut outgoing = outgoing(request, url.clone(), authorization);
        let headers = self.read_headers.get_or_try_init(|| self.headers.read()).await?;
        outgoing.headers_mut().extend(headers.clone());
        self.trace(|| HttpEvent::Sending {
            method: request.method.as_str(),
            url: url.as_str(),
            headers: outgoing.headers(),
            body: request.body.as_deref().filter(|_| token.is_some()),
        });
        let start = Instant::now();
        let received = self.transport.exchange(outgoing, self.timeout_for(request)).await;
        let after = start.elapsed();
        self.trace(|| match &received {
            Ok(incoming) => HttpEvent::Response {
                status: incoming.status,
                headers: &incoming.headers,
                body: if token.is_some() { &incoming.body } else { &[] },
                after,
            },
            Err(lost) => HttpEvent::TransportError { message: &lost.message, after },
        });
        if let Some(date) = received.as_ref().ok().and_then(date) {
            self.is_clock_right.set(self.clock.now().duration_since(date).abs() < CLOCK_TOLERANCE);
        }
        let (attempt, signal) =
            classify::classify(request, &url, received, self.replies_are_shown, self.clock.now());
        if let Some(observer) = self.observer.get() {
            observer(signal);
        }
        if let ServiceSignal::Throttled(wait) = signal {
            let until = Instant::now() + wait.unwrap_or_default().min(MAX_WAIT);
            self.quiet_until.set(self.quiet_until.get().max(Some(until)));
        }
        Ok(attempt)
    }

    /// The token, or a signature with its own nonce and time, which also sets the query of `url`.
    fn authorization(
        &self,
        request: &Request,
        url: &mut Url,
        token: &Credential,
        order: NameOrder,
    ) -> Result<HeaderValue, Failure> {
        let text = match token {
            Credential::Bearer(token) => format!("Bearer {token}"),
            Credential::OAuth(keys) => {
                let nonce = ring::rand::generate::<[u8; 16]>(&ring::rand::SystemRandom::new())
                    .map_err(|_| Failure::internal("the system gives no random numbers"))?;
                let nonce = format!("{:032x}", u128::from_be_bytes(nonce.expose()));
                let time = self.clock.now().as_second();
                let stamp = Stamp { nonce: &nonce, time, order };
                keys.header(request.method.as_str(), url, self.sign_port, stamp)
            }
        };
        let mut header =
            HeaderValue::from_str(&text).map_err(|_| Failure::internal("the token cannot be in a header"))?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// Calls the tracer, if there is one.
    fn trace<'a>(&self, event: impl FnOnce() -> HttpEvent<'a>) {
        if let Some(tracer) = &self.tracer {
            tracer(event());
        }
    }
}

/// When a reply was made, as the service says it.
fn date(reply: &Incoming) -> Option<Timestamp> {
    let text = reply.headers.get(DATE)?.to_str().ok()?;
    DateTimeParser::new().parse_timestamp(text).ok()
}

fn parse(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).map_err(|error| Failure::usage(format!("invalid URL `{text}`: {error}")))?;
    if url.fragment().is_some() {
        return Err(Failure::usage(format!("`{text}` contains a `#`; fragments are not sent"))
            .hint("use %23 in a path"));
    }
    Ok(url)
}

fn outgoing(request: &Request, url: Url, authorization: Option<HeaderValue>) -> reqwest::Request {
    let mut outgoing = reqwest::Request::new(request.method.clone(), url);
    *outgoing.body_mut() = request.body.clone().map(|body| body.into_owned().into());
    let headers = outgoing.headers_mut();
    headers.extend([(ACCEPT, JSON), (USER_AGENT, USER_AGENT_VALUE)]);
    headers.extend(authorization.map(|authorization| (AUTHORIZATION, authorization)));
    if request.body.is_some() {
        headers.insert(CONTENT_TYPE, JSON);
    } else {
        // The profile in a cache may lack its newest address.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    outgoing
}

/// Waits before a repeat, or until `stop` says so.
pub async fn pause(wait: Duration, stop: impl Fn() -> bool) {
    let end = Instant::now() + wait;
    while !stop() && Instant::now() < end {
        tokio::time::sleep((end - Instant::now()).min(STOP_INTERVAL)).await;
    }
}

/// An observer of the traffic.
pub type Tracer = Rc<dyn Fn(HttpEvent<'_>)>;

/// One event of a call. Foreign text in it is as it came: the report escapes it.
#[derive(Debug, Clone, Copy)]
pub enum HttpEvent<'a> {
    /// A request is about to leave.
    Sending {
        /// HTTP method, upper case.
        method: &'a str,
        /// The whole URL.
        url: &'a str,
        /// Shown by [`redacted`].
        headers: &'a HeaderMap,
        /// JSON text of the body.
        body: Option<&'a str>,
    },
    /// An answer came, complete or not.
    Response {
        /// HTTP status.
        status: u16,
        /// Shown by [`redacted`].
        headers: &'a HeaderMap,
        /// As much of the body as was read.
        body: &'a [u8],
        /// Time since the request left.
        after: Duration,
    },
    /// No answer came.
    TransportError {
        /// What happened instead.
        message: &'a str,
        /// Time since the request left.
        after: Duration,
    },
    /// The request will be sent once more.
    Retry {
        /// Which repeat this is, from 1.
        repeat: u32,
        /// How many there can be.
        of: u32,
        /// How long we wait before it.
        wait: Duration,
        /// What was wrong with the last attempt.
        because: &'a str,
    },
}

/// Name and value of each header, in the order they stand, with the secrets taken out.
pub fn redacted(headers: &HeaderMap) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    const SECRET: [HeaderName; 4] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, SET_COOKIE];
    headers.iter().map(|(name, value)| {
        let is_secret = value.is_sensitive() || SECRET.contains(name);
        let text = String::from_utf8_lossy(value.as_bytes());
        let value = if is_secret { MASK.into() } else { secrets().text(&text).into_owned().into() };
        (name.as_str(), value)
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
    use tokio::time::Instant;

    use super::{Client, Endpoint};
    use crate::client::transport::{Exchange, Incoming, Transport};
    use crate::config::Headers;
    use crate::system::clock::Clock;
    use storefront_core::interface::request::{Bearer, Request};
    use storefront_core::text::token::Credential;

    /// Gives these answers, from the last to the first.
    #[derive(Debug)]
    struct Answers(RefCell<Vec<Incoming>>);

    impl Transport for Answers {
        fn exchange(&self, _: reqwest::Request, _: Duration) -> Exchange<'_> {
            Box::pin(std::future::ready(Ok(self.0.borrow_mut().pop().unwrap())))
        }
    }

    #[test]
    fn a_repeat_waits_for_the_seconds_of_retry_after_or_until_its_date() {
        assert_eq!(waited("Wed, 21 Oct 2015 07:28:05 GMT", 1), 5, "by the clock of the run");
        assert_eq!(waited("7", 1), 7);
    }

    fn client(retry: u32, answers: Vec<Incoming>) -> Client {
        let endpoint = Endpoint {
            base_url: "https://shop.example".parse().unwrap(),
            allow_plain_http: false,
            ca_file: None,
            client_certificate: None,
            timeout: Duration::from_secs(30),
            retry,
            sign_port: true,
            use_proxy: false,
            proxy_variable: None,
            certificate_file: None,
            headers: Headers::default(),
        };
        let clock = Clock::starting_at("2015-10-21T07:28:00Z".parse().unwrap());
        Client::over(&endpoint, Box::new(Answers(RefCell::new(answers))), clock)
    }

    #[test]
    fn a_long_body_has_more_time_where_nobody_has_chosen_it() {
        let client = client(0, Vec::new());
        let put =
            |length: usize| Request::post("/V1/x".to_owned(), "x".repeat(length).into(), Bearer::Customer);
        let seconds = |client: &Client, length| client.timeout_for(&put(length)).as_secs();
        assert_eq!((seconds(&client, 100), seconds(&client, 320 * 1024)), (30, 30));
        let client = client.with_time_for_long_bodies(true);
        assert_eq!((seconds(&client, 100), seconds(&client, 320 * 1024)), (30, 110));
    }

    #[test]
    fn a_read_waits_for_what_the_request_before_it_was_told() {
        assert_eq!(waited("7", 0), 7);
        assert_eq!(waited("3600", 0), 60, "at most a minute");
    }

    /// Seconds until a read is answered that was answered 429 with this header at first, and was sent again where it is not
    /// repeated.
    fn waited(retry_after: &'static str, retry: u32) -> u64 {
        let until = HeaderValue::from_static(retry_after);
        let busy = Incoming {
            status: 429,
            headers: HeaderMap::from_iter([(RETRY_AFTER, until)]),
            ..Incoming::default()
        };
        let answers = vec![Incoming { status: 200, body: b"{}".to_vec(), ..Incoming::default() }, busy];
        let request = Request::get("/V1/thing".to_owned(), Bearer::Customer);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let client = client(retry, answers);
            let start = Instant::now();
            let token = Credential::new("t0ken").unwrap();
            while client.send(&request, &token, || false).await.is_err() {}
            start.elapsed().as_secs()
        })
    }
}
