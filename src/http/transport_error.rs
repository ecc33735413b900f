//! Transport errors: classifies whether the request may have reached the service.

use std::error::Error;
use std::io;

use url::Url;

use crate::http::endpoint::authority;
use crate::http::tls_error;

/// What to do about a service that is not reached, where nothing better is known.
pub const RUN_DOCTOR: &str = "run `storefront doctor` to diagnose the connection";

/// An attempt that got no answer.
#[derive(Debug)]
pub struct TransportError {
    /// Whether bytes of the request may have reached the service.
    pub sent: bool,
    /// Whether the next attempt would fail in the same way.
    pub is_permanent: bool,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl TransportError {
    /// The connection stands, and nothing came over it in time.
    pub(super) fn timed_out(url: &Url, timeout: std::time::Duration) -> Self {
        Self {
            sent: true,
            is_permanent: false,
            message: format!("no response from {} within {} s", authority(url), timeout.as_secs_f64()),
            hint: Some("increase --timeout".to_owned()),
        }
    }

    /// What an error of the library means.
    pub(super) fn from_error(error: &reqwest::Error, url: &Url, proxy: Option<&str>) -> Self {
        let tls = in_chain::<rustls::Error>(error);
        let connected = !error.is_connect();
        let never_started = never_sent(error);
        let (message, hint) = match tls {
            Some(tls) => tls_error::describe(tls, url),
            None if error.is_builder() => (format!("cannot build the request: {}", root_cause(error)), None),
            None if never_started => {
                (format!("{} closed the connection before the request was sent", authority(url)), None)
            }
            None if connected => (
                format!(
                    "the connection to {} was lost before a response arrived: {}",
                    authority(url),
                    root_cause(error)
                ),
                None,
            ),
            None => connect_error(error, url, proxy),
        };
        Self {
            sent: connected
                && !never_started
                && !error.is_builder()
                && !tls.is_some_and(refuses_our_certificate),
            is_permanent: tls.is_some_and(is_permanent) || error.is_builder(),
            message,
            hint,
        }
    }
}

/// hyper hands a request back as canceled only while not one byte of it was written.
fn never_sent(error: &reqwest::Error) -> bool {
    in_chain::<hyper::Error>(error).is_some_and(hyper::Error::is_canceled)
}

fn refuses_our_certificate(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::AlertReceived(alert) if tls_error::refuses_our_certificate(*alert))
}

fn is_permanent(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(_)) || refuses_our_certificate(error)
}

fn connect_error(error: &reqwest::Error, url: &Url, proxy: Option<&str>) -> (String, Option<String>) {
    let host = authority(url);
    let cause = root_cause(error);
    // The library says nothing of the status that the proxy answered with.
    let cause = match cause.strip_prefix("tunnel error: ") {
        Some("unsuccessful") => "the proxy refused it or does not reach it".to_owned(),
        Some("proxy authorization required") => "the proxy requires a user name and a password".to_owned(),
        Some(other) => format!("no tunnel through the proxy: {other}"),
        None => cause,
    };
    // Which connections go through it is the library's to decide (NO_PROXY): we only say that there is one.
    let through = proxy.map_or_else(String::new, |name| format!(" (via {name})"));
    let hint = proxy.map(|name| format!("check the proxy in {name}; NO_PROXY excludes hosts"));
    let message = if error.is_timeout() {
        format!("timed out connecting to {host}{through}")
    } else if error.is_dns() {
        format!("cannot resolve {host}{through}: {cause}")
    } else {
        format!("cannot connect to {host}{through}: {cause}")
    };
    let hint = hint.unwrap_or_else(|| RUN_DOCTOR.to_owned());
    (message, Some(hint))
}

/// The first error of type `E` in the chain of causes. An `io::Error` hides the one it carries from its `source`.
fn in_chain<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|link| link.downcast_ref::<E>())
}

/// The innermost cause: the ones above it only say that something went wrong.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map_or_else(String::new, ToString::to_string)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&link| {
        match link.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(carried) => Some(carried as &(dyn Error + 'static)),
            None => link.source(),
        }
    })
}
