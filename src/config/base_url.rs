//! The base URL of a service: what may be one, which host a token belongs to, and which service it names, so that two
//! spellings of it share locks, snapshots and journals.

use std::fmt;
use std::path::Path;

use url::{Host, Url};

/// Takes a base URL as the user wrote it; a path is kept.
///
/// The error is a sentence's end, such as "has a query". It never repeats the text, which may hold a password.
pub fn parse_base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => "has no scheme; write https:// before it".to_owned(),
        other => format!("is not a URL: {other}"),
    })?;
    let problem = if !matches!(url.scheme(), "http" | "https") {
        "must start with https:// or http://"
    } else if !url.username().is_empty() || url.password().is_some() {
        "must not contain credentials; tokens are configured separately"
    } else if url.query().is_some() {
        "has a query (?…)"
    } else if url.fragment().is_some() {
        "has a fragment (#…)"
    } else {
        return Ok(url);
    };
    Err(problem.to_owned())
}

/// Scheme, host and port: whom a token was meant for. The scheme counts, so that a token for `https` never goes out in the clear.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Which service files on disk belong to, and which lock serialises writes to it.
///
/// `Display` prints `INTERFACE URL`, for example `marketplace https://shop.example/rest`. It is the key of snapshots,
/// journals and all other state, so its form must not change between versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServiceId {
    interface: String,
    url: String,
    lock_key: String,
}

impl ServiceId {
    /// The identity of the service at `base_url` that speaks `interface` (`marketplace` or `magento`).
    ///
    /// Scheme and host are lower-case, the scheme's default port and slashes at the end of the path are dropped;
    /// `localhost`, `127.0.0.1` and `[::1]` are one host, because a local service usually listens on all of them. User,
    /// password, query and fragment are not part of it.
    pub fn new(base_url: &Url, interface: &str) -> Self {
        let host = normalized_host(base_url);
        let port = base_url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let path = base_url.path().trim_end_matches('/');
        // A lock holds for both schemes on one port, so it always names the port.
        let lock_port = base_url.port_or_known_default().unwrap_or_default();
        Self {
            interface: interface.to_owned(),
            url: format!("{}://{host}{port}{path}", base_url.scheme()),
            lock_key: format!("{host}:{lock_port}"),
        }
    }

    /// The identity of the built-in service, which takes another port each time it starts: its database.
    pub fn sandbox(database: &Path, interface: &str) -> Self {
        let database = dunce::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        let url = format!("sandbox:{}", database.display());
        Self { interface: interface.to_owned(), lock_key: url.clone(), url }
    }

    /// The normalised base URL, or `sandbox:DATABASE`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The interface the service has.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// `HOST:PORT`, the port always given, or `sandbox:DATABASE`: what locks are named after. Interface and path are
    /// left out, because one customer can be reached by several of them.
    pub fn lock_key(&self) -> &str {
        &self.lock_key
    }
}

impl fmt::Display for ServiceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.interface, self.url)
    }
}

/// The base URL as it names a service: with the root of the API also where it is written without, as for a gateway that
/// adds it.
pub fn with_root(base_url: &Url, root: Option<&str>) -> Url {
    let mut url = base_url.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(root) = root.filter(|root| path.rsplit('/').next() != Some(root)) {
        url.set_path(&format!("{path}/{root}"));
    }
    url
}

/// The host in lower case, without the final dot of a fully qualified name, and `localhost` for this machine.
fn normalized_host(url: &Url) -> String {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    };
    if is_loopback {
        return "localhost".to_owned();
    }
    url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
