//! No answer: whether the request can have reached the service, and what happened, in words.

use std::error::Error;
use std::io;

use url::Url;

use super::tls_words;

/// An attempt that got no answer.
#[derive(Debug)]
pub struct Lost {
    /// Whether bytes of the request may have reached the service.
    pub sent: bool,
    /// Whether the next attempt would fail in the same way.
    pub lasting: bool,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Lost {
    /// The connection stands, and nothing came over it in time.
    pub(super) fn silence(url: &Url, timeout: std::time::Duration) -> Self {
        Self {
            sent: true,
            lasting: false,
            message: format!("{} did not answer within {} s", authority(url), timeout.as_secs_f64()),
            hint: Some("a longer --timeout gives it more time".to_owned()),
        }
    }

    /// What an error of the library means.
    pub(super) fn from_error(error: &reqwest::Error, url: &Url, proxy: Option<&str>) -> Self {
        let tls = in_chain::<rustls::Error>(error);
        let connected = !error.is_connect();
        let never_started = never_started(error);
        let (message, hint) = match tls {
            Some(tls) => tls_words::describe(tls, url),
            None if error.is_builder() => {
                (format!("no request can be made of it: {}", root_cause(error)), None)
            }
            None if never_started => {
                (format!("{} closed the connection before the request left", authority(url)), None)
            }
            None if connected => (
                format!(
                    "the connection to {} broke before its answer was there: {}",
                    authority(url),
                    root_cause(error)
                ),
                None,
            ),
            None => not_connected(error, url, proxy),
        };
        Self {
            sent: connected
                && !never_started
                && !error.is_builder()
                && !tls.is_some_and(refuses_our_certificate),
            lasting: tls.is_some_and(is_lasting) || error.is_builder(),
            message,
            hint,
        }
    }
}

/// hyper hands a request back as canceled only while not one byte of it was written.
fn never_started(error: &reqwest::Error) -> bool {
    in_chain::<hyper::Error>(error).is_some_and(hyper::Error::is_canceled)
}

fn refuses_our_certificate(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::AlertReceived(alert) if tls_words::refuses_our_certificate(*alert))
}

fn is_lasting(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(_)) || refuses_our_certificate(error)
}

fn not_connected(error: &reqwest::Error, url: &Url, proxy: Option<&str>) -> (String, Option<String>) {
    let host = authority(url);
    let cause = root_cause(error);
    // Which connections go through it is the library's to decide (NO_PROXY): we only say that there is one.
    let through = proxy.map_or_else(String::new, |name| format!(" ({name} is set)"));
    let hint = proxy
        .map(|name| format!("check the proxy that {name} names; NO_PROXY lists hosts to reach without it"));
    let message = if error.is_timeout() {
        format!("no connection to {host}{through} in time")
    } else if error.is_dns() {
        format!("the host of {host}{through} is not found: {cause}")
    } else {
        format!("no connection to {host}{through}: {cause}")
    };
    let hint =
        hint.unwrap_or_else(|| "`storefront doctor` checks address, network and certificates".to_owned());
    (message, Some(hint))
}

/// Host and port, as a person would write them.
pub(super) fn authority(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    }
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
