//! What is wrong with a TLS connection, and what to do about it.

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError as Certificate, Error};
use url::Url;

use crate::http::endpoint::authority;

const ASK_OPERATOR: &str = "the service operator must renew the certificate";
const NAME_AUTHORITY: &str = "set `ca-file` in the profile to the PEM file of the CA that signed it";

const TOO_OLD: &str = "the service supports neither TLS 1.2 nor 1.3; its operator must upgrade it";
const CLIENT_CERTIFICATE: &str = "set `client-certificate` in the profile to one that the service accepts";
const WANTED: &str = "it may require a client certificate (set `client-certificate` in the profile), or support neither TLS 1.2 nor 1.3";

/// Message and hint.
pub(super) fn describe(error: &Error, url: &Url) -> (String, Option<String>) {
    let host = authority(url);
    match error {
        Error::InvalidCertificate(problem) => about_certificate(problem, &host),
        Error::AlertReceived(alert) => {
            (format!("{host} aborted the TLS handshake: {alert:?}"), Some(about_alert(*alert).to_owned()))
        }
        Error::InvalidMessage(_) => (
            format!("{host} is not serving TLS on this port: {error}"),
            Some("check the port of the base URL, and whether it should be http://".to_owned()),
        ),
        _ => (format!("TLS handshake with {host} failed: {error}"), None),
    }
}

fn about_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::ProtocolVersion => TOO_OLD,
        alert if refuses_our_certificate(alert) => CLIENT_CERTIFICATE,
        _ => WANTED,
    }
}

/// With TLS 1.3 the service's verdict on our certificate comes after our first bytes, which it never reads then.
pub(super) fn refuses_our_certificate(alert: AlertDescription) -> bool {
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
        "UnsupportedCertVersion" => (
            "is X.509 v1, which has no subjectAltName".to_owned(),
            format!("{ASK_OPERATOR} with an X.509 v3 certificate that has a subjectAltName"),
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
