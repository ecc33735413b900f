//! Where the service is, and which ways to it are allowed.

use std::path::PathBuf;
use std::time::Duration;

use url::{Host, Url};

use crate::failure::Failure;

const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// Where the service is and how to reach it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// `http` or `https`; a path is kept.
    pub base_url: Url,
    /// Lets `http://` go to a host other than this machine.
    pub allow_plain_http: bool,
    /// PEM file of the only authorities to trust; the system's where there is none.
    pub ca_file: Option<PathBuf>,
    /// PEM file of the certificate to show, its chain and its key.
    pub client_certificate: Option<PathBuf>,
    /// Time for one attempt, from the first packet to the last byte of the reply.
    pub timeout: Duration,
    /// How many repeats there may be of what cannot act twice.
    pub retry: u32,
    /// Whether the proxies of the environment are used. This machine is never reached through one.
    pub use_proxy: bool,
    /// The environment variable that names the proxy for this scheme, for messages.
    pub proxy_variable: Option<&'static str>,
    /// PEM file of the authorities to trust where `ca_file` is not set (`SSL_CERT_FILE`); the system's where neither is.
    pub certificate_file: Option<PathBuf>,
}

impl Endpoint {
    /// A little shorter than the whole, so that a missing connection can be distinguished from a missing answer.
    pub(super) fn connect_limit(&self) -> Duration {
        self.timeout.mul_f64(0.95).min(MAX_CONNECT_TIME)
    }

    fn is_this_machine(&self) -> bool {
        match self.base_url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// Refuses a base URL that cannot be used, and plain `http://` to another machine that is not allowed.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let url = &self.base_url;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(Failure::usage(format!("the base URL {url} must use http:// or https://")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Failure::usage("the base URL must not contain credentials")
                .hint("authenticate with a token instead"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(Failure::usage(format!("the base URL {url} must not have a query or fragment"))
                .hint("remove everything from `?` or `#` on"));
        }
        if url.scheme() == "http" && !self.is_this_machine() && !self.allow_plain_http {
            return Err(Failure::usage(format!(
                "plain http:// to {url} would expose the token and customer data"
            ))
            .hint("use https://, or set `allow-plain-http = true` in the profile"));
        }
        Ok(())
    }

    /// Which variable of the environment names a proxy for this kind of address, if one may be used.
    pub(super) fn proxy_variable(&self) -> Option<&'static str> {
        self.proxy_variable.filter(|_| self.may_use_proxy())
    }

    /// The proxy would see the token of a call to this very machine.
    pub(super) fn may_use_proxy(&self) -> bool {
        self.use_proxy && !self.is_this_machine()
    }
}

/// Host and port, as a person would write them.
pub(crate) fn authority(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    }
}
