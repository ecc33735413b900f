//! Transport and TLS errors: whether the request may have reached the service, what happened, and what to do about it.

use std::error::Error;
use std::io;

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError as Certificate, Error as TlsError};
use url::Url;

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
        let tls = in_chain::<TlsError>(error);
        let connected = !error.is_connect();
        let never_started = never_sent(error);
        let (message, hint) = match tls {
            Some(tls) => describe(tls, url),
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

fn refuses_our_certificate(error: &TlsError) -> bool {
    matches!(error, TlsError::AlertReceived(alert) if is_about_our_certificate(*alert))
}

fn is_permanent(error: &TlsError) -> bool {
    matches!(error, TlsError::InvalidCertificate(_)) || refuses_our_certificate(error)
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
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
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

const ASK_OPERATOR: &str = "the service operator must renew the certificate";
const NAME_AUTHORITY: &str = "set `ca-file` in the profile to the PEM file of the CA that signed it";

const TOO_OLD: &str = "the service supports neither TLS 1.2 nor 1.3; its operator must upgrade it";
const CLIENT_CERTIFICATE: &str = "set `client-certificate` in the profile to one that the service accepts";
const WANTED: &str = "it may require a client certificate (set `client-certificate` in the profile), \
    or support neither TLS 1.2 nor 1.3";

/// Message and hint.
fn describe(error: &TlsError, url: &Url) -> (String, Option<String>) {
    let host = authority(url);
    match error {
        TlsError::InvalidCertificate(problem) => about_certificate(problem, &host),
        TlsError::AlertReceived(alert) => (
            format!("{host} aborted the TLS handshake: {}", in_words(*alert)),
            Some(about_alert(*alert).to_owned()),
        ),
        TlsError::InvalidMessage(_) => (
            format!("{host} is not serving TLS on this port: {error}"),
            Some("check the port of the base URL, and whether it should be http://".to_owned()),
        ),
        _ => (format!("TLS handshake with {host} failed: {error}"), None),
    }
}

/// The name of an alert as words: `certificate required`.
fn in_words(alert: AlertDescription) -> String {
    let mut words = String::new();
    for letter in format!("{alert:?}").chars() {
        if letter.is_uppercase() && words.ends_with(char::is_lowercase) {
            words.push(' ');
        }
        words.push(letter);
    }
    words.to_lowercase()
}

fn about_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::ProtocolVersion => TOO_OLD,
        alert if is_about_our_certificate(alert) => CLIENT_CERTIFICATE,
        _ => WANTED,
    }
}

/// With TLS 1.3 the service's verdict on our certificate comes after our first bytes, which it never reads then.
fn is_about_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::DecryptError
            | AlertDescription::AccessDenied
    )
}

fn about_certificate(problem: &Certificate, host: &str) -> (String, Option<String>) {
    let (what, hint) = match problem {
        Certificate::UnknownIssuer => ("is signed by an untrusted CA".to_owned(), NAME_AUTHORITY.to_owned()),
        Certificate::BadSignature => {
            ("is not signed by the trusted CA of that name".to_owned(), NAME_AUTHORITY.to_owned())
        }
        Certificate::Expired => ("has expired".to_owned(), ASK_OPERATOR.to_owned()),
        Certificate::ExpiredContext { not_after, .. } => (
            format!("expired on {}", day(*not_after)),
            format!("{ASK_OPERATOR}; also check the system clock"),
        ),
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            ("is not valid yet".to_owned(), "check the system clock".to_owned())
        }
        Certificate::NotValidForName => {
            ("is not valid for this host".to_owned(), "check the host of the base URL".to_owned())
        }
        Certificate::NotValidForNameContext { presented, .. } => (
            format!("is valid for {}, not for this host", names(presented)),
            "check the host of the base URL".to_owned(),
        ),
        Certificate::Revoked => ("was revoked".to_owned(), ASK_OPERATOR.to_owned()),
        Certificate::Other(other) => about_other(&other.0.to_string()),
        other => (format!("is not valid: {other}"), ASK_OPERATOR.to_owned()),
    };
    (format!("the certificate of {host} {what}"), Some(hint))
}

/// What has no name of its own in rustls, by the name it has one level below.
fn about_other(problem: &str) -> (String, String) {
    match problem {
        "CaUsedAsEndEntity" => (
            "is a CA certificate, not a server certificate".to_owned(),
            "use a server certificate signed by a CA, and set `ca-file` to that CA".to_owned(),
        ),
        // On Windows and macOS an answer of the system, which does not always say that it does not know the CA.
        other => (
            format!("is not valid: {other}"),
            format!("{ASK_OPERATOR}; if a private CA signed it, {NAME_AUTHORITY}"),
        ),
    }
}

fn day(time: UnixTime) -> String {
    i64::try_from(time.as_secs())
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .map_or_else(|| "an unknown day".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// `DnsName("shop.example")` and the like, as rustls prints them.
fn names(presented: &[String]) -> String {
    let names: Vec<_> = presented.iter().map(|name| name.split('"').nth(1).unwrap_or(name)).collect();
    if names.is_empty() { "no name at all".to_owned() } else { names.join(", ") }
}

/// Host and port, as a person would write them.
fn authority(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, Error};

    use super::describe;

    #[test]
    fn an_alert_is_told_with_what_to_do_about_it() {
        let url = "https://shop.example".parse().unwrap();
        for (alert, says) in [
            (AlertDescription::ProtocolVersion, "neither TLS 1.2 nor 1.3"),
            (AlertDescription::CertificateRequired, "`client-certificate`"),
            (AlertDescription::UnknownCA, "`client-certificate`"),
            (AlertDescription::HandshakeFailure, "may require a client certificate"),
        ] {
            let (message, hint) = describe(&Error::AlertReceived(alert), &url);
            assert!(message.starts_with("shop.example aborted the TLS handshake: "), "{message}");
            assert!(hint.as_ref().is_some_and(|hint| hint.contains(says)), "{alert:?}: {hint:?}");
        }
    }
}
