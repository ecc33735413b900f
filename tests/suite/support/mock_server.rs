//! A scripted HTTP server that records its requests.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What the server does about one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Writes these bytes and keeps the connection.
    Answer(Vec<u8>),
    /// Writes these bytes and closes the connection.
    AnswerAndClose(Vec<u8>),
    /// Reads the request and closes the connection without a response.
    Close,
    /// Closes its side as soon as a connection is accepted, and still records what arrives.
    HangUp,
    /// Reads the request and stays silent this long, then answers.
    Stall(Duration, Vec<u8>),
    /// Writes the first bytes, waits, then writes the rest and closes.
    Drip(Vec<u8>, Duration, Vec<u8>),
}

/// A complete reply with a length.
pub fn reply(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// [`Step::Answer`] of [`reply`].
pub fn answer(status: &str, headers: &str, body: &str) -> Step {
    Step::Answer(reply(status, headers, body))
}

/// The running server; it stops listening when dropped.
pub struct MockServer {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<std::vec::IntoIter<Step>>,
    last: Step,
    requests: Mutex<Vec<Vec<u8>>>,
    connections: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    hung_up: AtomicUsize,
    stopped: AtomicBool,
    tls: Option<Arc<ServerConfig>>,
}

impl MockServer {
    /// Serves plain HTTP on a loopback port. Every request takes the next step; the last one stays.
    pub fn start(script: Vec<Step>) -> Self {
        Self::listen(script, None)
    }

    /// The same over TLS.
    pub fn start_tls(script: Vec<Step>, tls: Arc<ServerConfig>) -> Self {
        Self::listen(script, Some(tls))
    }

    fn listen(script: Vec<Step>, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            last: script.last().cloned().unwrap_or(Step::Close),
            script: Mutex::new(script.into_iter()),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            hung_up: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            tls,
        });
        let theirs = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if theirs.stopped.load(Ordering::SeqCst) {
                    return;
                }
                theirs.connections.fetch_add(1, Ordering::SeqCst);
                let theirs = theirs.clone();
                thread::spawn(move || theirs.connection(stream));
            }
        });
        Self { address, shared }
    }

    /// An address that accepts connections and never sends anything, until the process ends.
    pub fn start_silent() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let kept: Vec<_> = listener.incoming().collect();
            drop(kept);
        });
        address
    }

    /// `http://127.0.0.1:PORT` and `path`.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.shared.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// Every request that arrived, head and body.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.shared.requests.lock().unwrap();
        requests.iter().map(|request| String::from_utf8_lossy(request).into_owned()).collect()
    }

    /// Whether bytes arrived on a connection after the server closed its side.
    pub fn received_after_hang_up(&self) -> bool {
        while self.shared.hung_up.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        !self.requests().is_empty()
    }

    /// The most requests that were stalled together.
    pub fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }

    /// The number of accepted connections.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn connection(&self, mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        if self.hangs_up_next() {
            self.next();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut all_the_same = Vec::new();
            let _ = stream.read_to_end(&mut all_the_same);
            if !all_the_same.is_empty() {
                self.requests.lock().unwrap().push(all_the_same);
            }
            self.hung_up.fetch_add(1, Ordering::SeqCst);
            return;
        }
        match self.tls.clone() {
            None => self.converse(stream),
            Some(config) => {
                let session = ServerConnection::new(config).unwrap();
                let mut raw = stream.try_clone().unwrap();
                self.converse(StreamOwned::new(session, stream));
                // Closing with bytes unread would reset the connection, and our last alert might be lost.
                let _ = raw.shutdown(Shutdown::Write);
                let _ = raw.read_to_end(&mut Vec::new());
            }
        }
    }

    fn converse(&self, mut stream: impl Read + Write) {
        loop {
            let Some(request) = read_request(&mut stream) else {
                return;
            };
            self.requests.lock().unwrap().push(request);
            if self.perform(&mut stream).is_none() {
                return;
            }
        }
    }

    fn hangs_up_next(&self) -> bool {
        let script = self.script.lock().unwrap();
        matches!(script.as_slice().first(), Some(Step::HangUp))
    }

    fn next(&self) -> Step {
        let next = self.script.lock().unwrap().next();
        next.unwrap_or_else(|| self.last.clone())
    }

    /// `None` when the connection is to be closed.
    fn perform(&self, stream: &mut impl Write) -> Option<()> {
        match self.next() {
            Step::Answer(bytes) => say(stream, &bytes),
            Step::AnswerAndClose(bytes) => {
                say(stream, &bytes);
                None
            }
            Step::Close | Step::HangUp => None,
            Step::Stall(pause, bytes) => {
                let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
                self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
                thread::sleep(pause);
                self.at_once.fetch_sub(1, Ordering::SeqCst);
                say(stream, &bytes)
            }
            Step::Drip(first, pause, rest) => {
                say(stream, &first)?;
                thread::sleep(pause);
                say(stream, &rest);
                None
            }
        }
    }
}

fn say(stream: &mut impl Write, bytes: &[u8]) -> Option<()> {
    stream.write_all(bytes).and_then(|()| stream.flush()).ok()
}

/// Head and body of the next request; `None` when the other side is gone.
pub fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        request.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let start = request.len();
    request.resize(start + length, 0);
    stream.read_exact(&mut request[start..]).ok()?;
    Some(request)
}
