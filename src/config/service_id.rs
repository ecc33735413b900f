//! The normalised identity of a service: two spellings of one base URL share locks, snapshots and journals.

use std::fmt;
use std::path::Path;

use url::{Host, Url};

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
mod tests {
    use super::{Path, ServiceId, Url};

    fn id(url: &str) -> ServiceId {
        ServiceId::new(&Url::parse(url).unwrap(), "marketplace")
    }

    #[test]
    fn spellings_of_one_base_url_are_one_service() {
        for spelling in [
            "https://shop.example/rest",
            "HTTPS://Shop.EXAMPLE/rest/",
            "https://shop.example:443/rest//",
            "https://shop.example./rest",
        ] {
            assert_eq!(id(spelling), id("https://shop.example/rest"), "{spelling}");
        }
        assert_eq!(id("https://shop.example/rest").to_string(), "marketplace https://shop.example/rest");
        assert_eq!(id("https://shop.example/").url(), "https://shop.example");
    }

    #[test]
    fn this_machine_is_one_host_however_it_is_spelled() {
        for spelling in
            ["http://LOCALHOST:8080", "http://127.0.0.1:8080/", "http://[::1]:8080", "http://localhost.:8080"]
        {
            assert_eq!(id(spelling), id("http://localhost:8080"), "{spelling}");
        }
        assert_eq!(id("http://[::ffff:127.0.0.1]:8080").lock_key(), "localhost:8080");
        assert_ne!(id("http://localhost:8081"), id("http://localhost:8080"));
        assert_ne!(id("http://localhost.example"), id("http://localhost"));
    }

    #[test]
    fn a_path_a_scheme_or_an_interface_tells_services_apart_but_a_path_shares_the_lock() {
        let live = id("https://shop.example/live");
        for other in ["https://shop.example/staging", "https://shop.example/Live", "http://shop.example/live"]
        {
            assert_ne!(id(other), live, "{other}");
        }
        assert_eq!(id("https://shop.example/staging").lock_key(), live.lock_key());
        assert_eq!(live.lock_key(), "shop.example:443");
        assert_eq!(id("http://shop.example/live").lock_key(), "shop.example:80");
        let magento = ServiceId::new(&Url::parse("https://shop.example/live").unwrap(), "magento");
        assert_ne!(magento, live);
        assert_eq!(magento.lock_key(), live.lock_key());
    }

    #[test]
    fn the_sandbox_is_its_database() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("sandbox.db");
        std::fs::write(&file, "").unwrap();
        let spelled = directory.path().join(".").join("sandbox.db");
        let id = |path: &Path| ServiceId::sandbox(path, "marketplace");
        assert_eq!(id(&file), id(&spelled));
        assert_ne!(id(&file), id(Path::new("/other/sandbox.db")));
    }
}
