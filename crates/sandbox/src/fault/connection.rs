//! Connections that can be cut on purpose.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

const WHOLE: u8 = 0;
const RESET: u8 = 1;
const TRUNCATE: u8 = 2;
const AFTER_TRUNCATION: u8 = 3;

/// A listener that gives each request access to its connection's [`ConnectionCutter`].
pub struct FaultyListener(pub TcpListener);

/// One connection.
pub struct FaultyStream {
    stream: TcpStream,
    cutter: ConnectionCutter,
}

/// Cuts one connection at its next write.
#[derive(Debug, Clone, Default)]
pub struct ConnectionCutter(Arc<AtomicU8>);

impl ConnectionCutter {
    /// Nothing more is sent; the peer sees a reset.
    pub fn reset(&self) {
        self.0.store(RESET, Ordering::Relaxed);
    }

    /// Half of the body is sent, then the connection is closed.
    pub fn truncate(&self) {
        self.0.store(TRUNCATE, Ordering::Relaxed);
    }

    fn cut(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Listener for FaultyListener {
    type Io = FaultyStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (FaultyStream, SocketAddr) {
        let (stream, peer) = Listener::accept(&mut self.0).await;
        // Small answers must not wait for the peer's acknowledgement; without it they are merely slower.
        let _ = stream.set_nodelay(true);
        let cutter = ConnectionCutter::default();
        (FaultyStream { stream, cutter }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl FaultyStream {
    /// The cutter of this connection.
    pub fn cutter(&self) -> ConnectionCutter {
        self.cutter.clone()
    }
}

impl AsyncRead for FaultyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

/// Writes are not vectored, so that an answer and its head arrive in one piece.
impl AsyncWrite for FaultyStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.cutter.cut() {
            WHOLE => Pin::new(&mut self.stream).poll_write(context, bytes),
            TRUNCATE => {
                self.cutter.0.store(AFTER_TRUNCATION, Ordering::Relaxed);
                Pin::new(&mut self.stream).poll_write(context, &bytes[..half(bytes)])
            }
            AFTER_TRUNCATION => Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
            _ => {
                // A connection that cannot be reset is closed without an answer, which is nearly the same.
                let _ = self.stream.set_zero_linger();
                Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The end of the head and half of the body.
fn half(bytes: &[u8]) -> usize {
    let body = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |end| end + 4);
    body + (bytes.len() - body) / 2
}
