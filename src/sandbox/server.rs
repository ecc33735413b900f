//! Accepting connections: HTTP/1.1 on each, with a limit on the time that reading may take.

use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::serve::Listener as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::body::BodyTimeout;
use crate::sandbox::fault::connection::{ConnectionCutter, FaultyListener, FaultyStream};

/// Serves `app` until the sender of `stopped` is gone, then ends when every connection has ended.
///
/// A connection whose next request has not arrived up to the end of its header within `read_timeout` is closed, so
/// that half-open requests cannot hold it for ever; a body has as long again ([`BodyTimeout`]).
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
            // An error says that the sender is gone, which is how a stop is asked for.
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
        scissors: line.scissors(),
        body_timeout: BodyTimeout(read_timeout),
        app: TowerToHyperService::new(app),
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read_timeout)
        .serve_connection(TokioIo::new(line), service);
    let mut connection = std::pin::pin!(connection);
    // How a connection ended is the client's concern: the sandbox has answered or has not.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopping.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Hands each request to the routes, with what they need to know of its connection.
struct ConnectionService {
    scissors: ConnectionCutter,
    body_timeout: BodyTimeout,
    app: TowerToHyperService<Router>,
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(ConnectInfo(self.scissors.clone()));
        request.extensions_mut().insert(self.body_timeout);
        self.app.call(request)
    }
}
