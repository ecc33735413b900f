//! Where the service is and how to reach it.

use std::path::PathBuf;
use std::time::Duration;

use url::{Host, Url};

use super::headers::Headers;

/// Where the service is and how to reach it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// `http` or `https`, without credentials, query and fragment; a path is kept.
    pub base_url: Url,
    /// Lets `http://` go to a host other than this machine.
    pub allow_plain_http: bool,
    /// PEM file of the only authorities to trust; the system's if it is missing.
    pub ca_file: Option<PathBuf>,
    /// PEM file of the certificate to show, its chain and its key.
    pub client_certificate: Option<PathBuf>,
    /// Time for one attempt, from the first packet to the last byte of the reply.
    pub timeout: Duration,
    /// How often a call is repeated that cannot act twice.
    pub retry: u32,
    /// Whether the signature of an integration includes the port.
    pub sign_port: bool,
    /// Whether the proxies of the environment are used. They are never used for this machine.
    pub use_proxy: bool,
    /// The environment variable that names the proxy for this scheme, for messages.
    pub proxy_variable: Option<&'static str>,
    /// PEM file of the authorities to trust without `ca_file` (`SSL_CERT_FILE`); the system's without either.
    pub certificate_file: Option<PathBuf>,
    /// The headers of every call.
    pub headers: Headers,
}

/// Whether a service is on this machine, so that its tokens cross no network.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
