//! What is wrong with a TLS connection, and what to do about it.

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{CertificateError as Certificate, Error};
use url::Url;

use super::lost::authority;

const ASK_OPERATOR: &str = "the service's operator has to renew its certificate";
const NAME_AUTHORITY: &str = "set `ca-file` in the profile to the PEM file of the authority that signed it";

const WANTED: &str = "it may want a client certificate: set `client-certificate` in the profile; \
    or it speaks neither TLS 1.2 nor 1.3";

/// Message and hint.
pub(super) fn describe(error: &Error, url: &Url) -> (String, Option<String>) {
    let host = authority(url);
    match error {
        Error::InvalidCertificate(problem) => about_certificate(problem, &host),
        Error::AlertReceived(alert) => {
            (format!("{host} broke off the TLS connection: {alert:?}"), Some(WANTED.to_owned()))
        }
        Error::InvalidMessage(_) => (
            format!("{host} does not speak TLS on this port: {error}"),
            Some("check the port of the base URL, and whether it should be http://".to_owned()),
        ),
        _ => (format!("no TLS connection to {host}: {error}"), None),
    }
}

fn about_certificate(problem: &Certificate, host: &str) -> (String, Option<String>) {
    let (what, hint) = match problem {
        Certificate::UnknownIssuer => (
            "is signed by an authority that is not trusted here".to_owned(),
            NAME_AUTHORITY.to_owned(),
        ),
        Certificate::BadSignature => (
            "is not signed by the authority trusted here under that name".to_owned(),
            NAME_AUTHORITY.to_owned(),
        ),
        Certificate::Expired => ("has expired".to_owned(), ASK_OPERATOR.to_owned()),
        Certificate::ExpiredContext { not_after, .. } => (
            format!("expired on {}", day(*not_after)),
            format!("{ASK_OPERATOR}; check this machine's clock too"),
        ),
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => (
            "is not valid yet".to_owned(),
            "check this machine's clock".to_owned(),
        ),
        Certificate::NotValidForName => (
            "is not made out to that name".to_owned(),
            "check the host of the base URL".to_owned(),
        ),
        Certificate::NotValidForNameContext { presented, .. } => (
            format!("is made out to {} instead", names(presented)),
            "check the host of the base URL".to_owned(),
        ),
        Certificate::Revoked => ("was revoked".to_owned(), ASK_OPERATOR.to_owned()),
        other => (
            format!("is not valid: {other}"),
            "if it signed itself, ask for one that a separate authority signed, and set `ca-file` to that authority"
                .to_owned(),
        ),
    };
    (format!("the certificate of {host} {what}"), Some(hint))
}

fn day(time: UnixTime) -> String {
    i64::try_from(time.as_secs())
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .map_or_else(|| "an unknown day".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// `DnsName("shop.example")` and the like, as rustls tells them.
fn names(presented: &[String]) -> String {
    let names: Vec<_> = presented.iter().map(|name| name.split('"').nth(1).unwrap_or(name)).collect();
    if names.is_empty() { "no name at all".to_owned() } else { names.join(", ") }
}
