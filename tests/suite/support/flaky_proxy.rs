//! A proxy that can delay any request or response, or run code before passing it on.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::mock_server::read_request;

/// The half of an exchange that is being passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    Request,
    Reply,
}

/// Called before a half is passed on, with the number of the exchange from 1 on.
type Hook = dyn Fn(usize, Half) + Send + Sync;

/// The proxy; it stops listening when dropped.
pub struct FlakyProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    target: SocketAddr,
    hook: Box<Hook>,
    exchanges: AtomicUsize,
    in_progress: AtomicUsize,
    stopped: AtomicBool,
}

impl FlakyProxy {
    /// A proxy of `target`.
    pub fn before(target: SocketAddr, hook: impl Fn(usize, Half) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            target,
            hook: Box::new(hook),
            exchanges: AtomicUsize::new(0),
            in_progress: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let theirs = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if theirs.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let theirs = theirs.clone();
                thread::spawn(move || theirs.pass(stream));
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until no exchange is in flight.
    pub fn wait_until_quiet(&self) {
        while self.shared.in_progress.load(Ordering::SeqCst) > 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for FlakyProxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// One exchange per connection. A complete request is passed on even if its client is gone.
    fn pass(&self, mut client: TcpStream) {
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let Some(request) = read_request(&mut client) else { return };
        self.in_progress.fetch_add(1, Ordering::SeqCst);
        let number = self.exchanges.fetch_add(1, Ordering::SeqCst) + 1;
        (self.hook)(number, Half::Request);
        let end = request.windows(2).position(|window| window == b"\r\n").unwrap();
        let mut service = TcpStream::connect(self.target).unwrap();
        let mut reply = Vec::new();
        service.write_all(&[&request[..end], b"\r\nConnection: close", &request[end..]].concat()).unwrap();
        service.read_to_end(&mut reply).unwrap();
        (self.hook)(number, Half::Reply);
        let _ = client.write_all(&reply);
        self.in_progress.fetch_sub(1, Ordering::SeqCst);
    }
}
