//! An attempt without an answer: whether the request may have reached the service, what happened, and the one fix.

use std::error::Error;
use std::io;
use storefront_core::hint::{Hint, hint, storefront};

use jiff::Timestamp;
use rustls::{AlertDescription as Alert, CertificateError as Certificate, Error as TlsError};
use url::Url;

/// The hint about a service that is not reached, if nothing better is known.
pub fn run_doctor() -> Hint {
    hint!("run ", storefront("doctor"), " to diagnose the connection")
}

const CLIENT_CERTIFICATE: &str = "set `client-certificate` in the profile to one that the service accepts";
const NO_AGREEMENT: &str = "it may require a client certificate (set `client-certificate` in the profile), \
    or support neither TLS 1.2 nor 1.3";

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
    pub hint: Option<Hint>,
}

impl TransportError {
    /// The connection stands, and nothing came over it in time.
    pub(super) fn timed_out(url: &Url, timeout: std::time::Duration) -> Self {
        Self {
            sent: true,
            is_permanent: false,
            message: format!("no response from {} within {} s", authority(url), timeout.as_secs_f64()),
            hint: Some("increase --timeout".into()),
        }
    }

    /// What an error of the library means.
    pub(super) fn from_error(error: &reqwest::Error, url: &Url, proxy: Option<&str>) -> Self {
        let host = authority(url);
        let cause = root_cause(error);
        let tls = in_chain::<TlsError>(error);
        let refuses_ours = matches!(tls, Some(TlsError::AlertReceived(alert)) if is_about_ours(*alert));
        // hyper hands a request back as canceled only if no byte of it was written.
        let is_canceled = in_chain::<hyper::Error>(error).is_some_and(hyper::Error::is_canceled);
        let (message, hint) = match tls {
            Some(tls) => about_tls(tls, &host),
            None if error.is_builder() => (format!("cannot build the request: {cause}"), None),
            None if is_canceled => {
                (format!("{host} closed the connection before the request was sent"), None)
            }
            None if error.is_connect() => about_connection(error, &host, proxy),
            None => (format!("the connection to {host} was lost before a response arrived: {cause}"), None),
        };
        let is_untrusted = matches!(tls, Some(TlsError::InvalidCertificate(_)));
        Self {
            sent: !(error.is_connect() || is_canceled || error.is_builder() || refuses_ours),
            is_permanent: is_untrusted || refuses_ours || error.is_builder(),
            message,
            hint,
        }
    }
}

fn about_connection(error: &reqwest::Error, host: &str, proxy: Option<&str>) -> (String, Option<Hint>) {
    let cause = root_cause(error);
    // The library does not tell the status that the proxy answered with.
    let cause = match cause.strip_prefix("tunnel error: ") {
        Some("unsuccessful") => "the proxy refused it or does not reach it",
        Some("proxy authorization required") => "the proxy requires a user name and a password",
        _ => &cause,
    };
    // The library decides which connections use the proxy (NO_PROXY): the message only says that there is one.
    let through = proxy.map_or_else(String::new, |name| format!(" (via {name})"));
    let hint = proxy.map(|name| format!("check the proxy in {name}; NO_PROXY excludes hosts").into());
    let message = if error.is_timeout() {
        format!("timed out connecting to {host}{through}")
    } else if error.is_dns() {
        format!("cannot resolve {host}{through}: {cause}")
    } else {
        format!("cannot connect to {host}{through}: {cause}")
    };
    (message, hint.or_else(|| Some(run_doctor())))
}

fn about_tls(error: &TlsError, host: &str) -> (String, Option<Hint>) {
    let (message, hint) = match error {
        TlsError::InvalidCertificate(problem) => {
            let (what, hint) = about_certificate(problem);
            (format!("the certificate of {host} {what}"), hint)
        }
        TlsError::AlertReceived(Alert::CertificateRequired) => {
            ("the service requires a client certificate".to_owned(), CLIENT_CERTIFICATE)
        }
        TlsError::AlertReceived(alert) => {
            let hint = if is_about_ours(*alert) { CLIENT_CERTIFICATE } else { NO_AGREEMENT };
            (format!("{host} aborted the TLS handshake: {alert:?}"), hint)
        }
        TlsError::InvalidMessage(_) => (
            format!("{host} is not serving TLS on this port: {error}"),
            "check the port of the base URL, and whether it should be http://",
        ),
        _ => return (format!("TLS handshake with {host} failed: {error}"), None),
    };
    (message, Some(hint.into()))
}

/// Whether an alert is about our certificate. With TLS 1.3 the verdict on it comes after our first bytes, which the
/// service then never reads.
fn is_about_ours(alert: Alert) -> bool {
    matches!(
        alert,
        Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::DecryptError
            | Alert::AccessDenied
    )
}

/// What is wrong with the service's certificate, and what to do. The platforms' own verifiers say less.
fn about_certificate(problem: &Certificate) -> (String, &'static str) {
    match problem {
        Certificate::UnknownIssuer | Certificate::BadSignature => (
            "is not signed by a trusted CA".to_owned(),
            "set `ca-file` in the profile to the PEM file of the CA that signed it",
        ),
        Certificate::Other(other) if other.0.to_string() == "CaUsedAsEndEntity" => (
            "is a CA certificate, not a server certificate".to_owned(),
            "use a server certificate signed by a CA, and set `ca-file` to that CA",
        ),
        Certificate::ExpiredContext { not_after, .. } => {
            let end =
                i64::try_from(not_after.as_secs()).ok().and_then(|end| Timestamp::from_second(end).ok());
            let end = end.unwrap_or_default().strftime("%Y-%m-%d");
            let hint = "the service operator must renew the certificate; also check the system clock";
            (format!("expired on {end}"), hint)
        }
        Certificate::NotValidForNameContext { presented, .. } => {
            // `DnsName("shop.example")`
            let names = presented.iter().map(|name| name.split('"').nth(1).unwrap_or(name));
            let names = names.collect::<Vec<_>>().join(", ");
            (format!("is valid for {names}, not for this host"), "check the host of the base URL")
        }
        other => (
            format!("is not valid: {other}"),
            "check the system clock; the service operator may have to renew the certificate",
        ),
    }
}

/// The first error of type `E` in the chain of causes.
fn in_chain<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|link| link.downcast_ref::<E>())
}

/// The innermost cause: the ones above it only say that something went wrong.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map_or_else(String::new, ToString::to_string)
}

/// An `io::Error` hides the one it carries from its `source`.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&link| {
        match link.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(carried) => Some(carried as &(dyn Error + 'static)),
            None => link.source(),
        }
    })
}

/// Host and port, as a person would write them.
fn authority(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, Error};

    use super::about_tls;

    #[test]
    fn an_alert_is_told_with_what_to_do_about_it() {
        for (alert, says) in [
            (AlertDescription::ProtocolVersion, "neither TLS 1.2 nor 1.3"),
            (AlertDescription::UnknownCA, "one that the service accepts"),
            (AlertDescription::HandshakeFailure, "may require a client certificate"),
        ] {
            let (message, hint) = about_tls(&Error::AlertReceived(alert), "shop.example");
            assert!(message.starts_with("shop.example aborted the TLS handshake: "), "{message}");
            assert!(hint.as_ref().is_some_and(|hint| hint.to_string().contains(says)), "{alert:?}: {hint:?}");
        }
    }
}
