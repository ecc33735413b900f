//! Accepting connections: HTTP/1.1 on each, a limit on the time for reading, and a check of the host.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header;
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::serve::Listener as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::body::BodyTimeout;
use crate::fault::connection::{ConnectionCutter, FaultyListener, FaultyStream};
use crate::reply::ApiError;

/// Serves `app` until the sender of `stopped` is dropped, then ends when every connection has ended.
///
/// A connection is closed if the header of its next request has not arrived within `read_timeout`, so that half-open
/// requests cannot hold it forever; a body has the same time again ([`BodyTimeout`]).
pub async fn serve(
    listener: TcpListener,
    app: Router,
    read_timeout: Duration,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut listener = FaultyListener(listener);
    let mut connections = JoinSet::new();
    let (running, stopping) = watch::channel(());
    loop {
        tokio::select! {
            (line, _) = listener.accept() => {
                connections.spawn(connection(line, app.clone(), read_timeout, stopping.clone()));
            }
            Some(_) = connections.join_next() => {}
            // An error means that the sender was dropped, which asks for a stop.
            _ = &mut stopped => break,
        }
    }
    drop((listener, running));
    while connections.join_next().await.is_some() {}
}

async fn connection(
    line: FaultyStream,
    app: Router,
    read_timeout: Duration,
    mut stopping: watch::Receiver<()>,
) {
    let service = ConnectionService {
        cutter: line.cutter(),
        body_timeout: BodyTimeout(read_timeout),
        app: TowerToHyperService::new(app),
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read_timeout)
        .serve_connection(TokioIo::new(line), service);
    let mut connection = std::pin::pin!(connection);
    // How a connection ended does not matter: the sandbox has answered or has not.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopping.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Passes each request to the routes, with the data of its connection.
struct ConnectionService {
    cutter: ConnectionCutter,
    body_timeout: BodyTimeout,
    app: TowerToHyperService<Router>,
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(ConnectInfo(self.cutter.clone()));
        request.extensions_mut().insert(self.body_timeout);
        self.app.call(request)
    }
}

/// Answers 421 unless the request is for a loopback host, or for one of `allowed`.
pub async fn host_check(State(allowed): State<Arc<[String]>>, request: Request, next: Next) -> Response {
    match refused_host(&request, &allowed) {
        None => next.run(request).await,
        Some(host) => ApiError::new(
            421,
            "The host %host is not served here. Use a loopback address, or start the sandbox with \
             --allow-host %host.",
        )
        .with(json!({"host": host}))
        .into_response(),
    }
}

/// The first host that the request names, in its target or its `Host` fields, and that is refused.
fn refused_host(request: &Request, allowed: &[String]) -> Option<String> {
    let target = request.uri().authority().map(Authority::as_str);
    let mut named =
        request.headers().get_all(header::HOST).iter().map(|value| value.to_str().ok()).peekable();
    if target.is_none() && named.peek().is_none() {
        return Some(String::new());
    }
    let refused = |value: Option<&str>| match value.and_then(|value| value.parse::<Authority>().ok()) {
        Some(authority) if is_allowed(&authority, allowed) => None,
        // Without a port: `--allow-host` also accepts a port, but then only that one.
        Some(authority) => Some(authority.host().to_owned()),
        None => Some(value.unwrap_or_default().to_owned()),
    };
    target.into_iter().map(Some).chain(named).find_map(refused)
}

/// Whether a host is accepted. A name that was allowed with a port is accepted at that port only.
fn is_allowed(authority: &Authority, allowed: &[String]) -> bool {
    let host = authority.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        || allowed
            .iter()
            .any(|name| [host, bare, authority.as_str()].iter().any(|one| name.eq_ignore_ascii_case(one)))
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
        for (host, allowed, is_refused) in [
            ("10.77.0.1:8080", "10.77.0.1:8080", false),
            ("Shop.local:80", "shop.LOCAL:80", false),
            ("[fd00::1]:80", "[fd00::1]:80", false),
            ("[fd00::1]:80", "[fd00::1]", false),
            ("shop.local:81", "shop.local:80", true),
            ("shop.local", "shop.local:80", true),
            ("other.local:80", "shop.local:80", true),
        ] {
            assert_eq!(refused("/", &[host], &[allowed]), is_refused, "{host}, allowed {allowed}");
        }
        assert!(refused("/", &[], &[]), "no host at all");
        assert!(refused("/", &["localhost", "evil.example"], &[]), "two hosts");
        assert!(refused("http://evil.example/", &["localhost"], &[]), "an absolute target");
        assert!(!refused("http://127.0.0.1:1/", &[], &[]));
    }
}
