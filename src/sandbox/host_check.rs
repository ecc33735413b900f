//! Which `Host` values are answered.
//!
//! The sandbox's tokens are public, so a web page that makes its own host name resolve to a loopback address (DNS
//! rebinding) could read and write the sandbox through the browser. Such a request carries that name in `Host`.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use crate::sandbox::reply::ApiError;

/// Answers 421 unless the request is for a loopback host, or for one of `allowed`.
pub async fn middleware(State(allowed): State<Arc<[String]>>, request: Request, next: Next) -> Response {
    match refused_host(&request, &allowed) {
        None => next.run(request).await,
        Some(host) => ApiError::new(
            421,
            "The host %host is not served here. Use a loopback address, or start the sandbox with --allow-host %host.",
        )
        .with(json!({"host": host}))
        .into_response(),
    }
}

/// The first host named by the request, in its target or its `Host` fields, that is not to be answered.
fn refused_host(request: &Request, allowed: &[String]) -> Option<String> {
    let target = request.uri().authority().map(Authority::as_str);
    let mut named =
        request.headers().get_all(header::HOST).iter().map(|value| value.to_str().ok()).peekable();
    if target.is_none() && named.peek().is_none() {
        return Some(String::new());
    }
    let refused = |value: Option<&str>| match value.and_then(|value| value.parse::<Authority>().ok()) {
        Some(authority) if is_allowed(authority.host(), allowed) => None,
        _ => Some(value.unwrap_or_default().to_owned()),
    };
    target.into_iter().map(Some).chain(named).find_map(refused)
}

fn is_allowed(host: &str, allowed: &[String]) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        || allowed.iter().any(|name| name.eq_ignore_ascii_case(host) || name.eq_ignore_ascii_case(bare))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn refused(target: &str, hosts: &[&str], allowed: &[&str]) -> bool {
        let request =
            hosts.iter().fold(Request::builder().uri(target), |request, host| request.header("Host", *host));
        let allowed: Vec<String> = allowed.iter().map(|&name| name.to_owned()).collect();
        refused_host(&request.body(Body::empty()).unwrap(), &allowed).is_some()
    }

    #[test]
    fn loopback_and_the_allowed_names_are_answered_and_nothing_else() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]", "[::1]:80"] {
            assert!(!refused("/", &[host], &[]), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "192.168.0.1", "[::2]", "", "a b", "127.0.0.1.nip.io"]
        {
            assert!(refused("/", &[host], &[]), "{host}");
        }
        assert!(!refused("/", &["Shop.local:80"], &["shop.local"]));
        assert!(!refused("/", &["[fd00::1]:80"], &["fd00::1"]));
        assert!(refused("/", &[], &[]), "no host at all");
        assert!(refused("/", &["localhost", "evil.example"], &[]), "two hosts");
        assert!(refused("http://evil.example/", &["localhost"], &[]), "an absolute target");
        assert!(!refused("http://127.0.0.1:1/", &[], &[]));
    }
}
