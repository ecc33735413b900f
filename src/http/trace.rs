//! What goes over the wire, as events for `-v` and `-vv`. Tokens are never among them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, PROXY_AUTHORIZATION, SET_COOKIE};

use crate::redact::{MASK, secrets};

/// An observer of the traffic.
pub type Tracer = Arc<dyn Fn(HttpEvent<'_>) + Send + Sync>;

/// One event of a call. Everything foreign in it is as it came: the report escapes it.
#[derive(Debug, Clone, Copy)]
pub enum HttpEvent<'a> {
    /// A request is about to leave.
    Sending {
        /// HTTP method, upper case.
        method: &'a str,
        /// The whole URL.
        url: &'a str,
        /// Headers, secrets redacted.
        headers: Headers<'a>,
        /// JSON text of the body.
        body: Option<&'a str>,
    },
    /// An answer came, whole or broken off.
    Response {
        /// HTTP status.
        status: u16,
        /// Headers, secrets redacted.
        headers: Headers<'a>,
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

/// Headers of a request or an answer, with their secrets taken out.
#[derive(Clone, Copy)]
pub struct Headers<'a> {
    map: &'a HeaderMap,
}

impl<'a> Headers<'a> {
    pub(super) fn new(map: &'a HeaderMap) -> Self {
        Self { map }
    }

    /// Name and value of each header, in the order they stand.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        self.map.iter().map(move |(name, value)| {
            let secret = value.is_sensitive()
                || [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, SET_COOKIE].contains(name);
            let value = if secret {
                Cow::Borrowed(MASK)
            } else {
                let text = String::from_utf8_lossy(value.as_bytes());
                Cow::Owned(secrets().text(&text).into_owned())
            };
            (name.as_str(), value)
        })
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}
