//! A service that only answers, as fast as it can: what programs are measured against, so that its own speed weighs
//! as little as may be.
//!
//! `peer DIRECTORY [PROFILE.json [MILLISECONDS]]` listens on loopback over HTTP and over TLS, puts the authority of its
//! certificate into `DIRECTORY/ca.pem`, and prints one line, `{"http": URL, "https": URL}`. It ends with its standard
//! input. Each answer but the counts takes so many milliseconds.
//!
//! - `GET /counts` gives how many requests of each method were answered before.
//! - `/V1/customers/N` is a customer of Magento: the profile it began with, or what was `PUT` there
//! - any other `GET` gives the body of the last `PUT`, or the profile it began with
//! - `PUT` and `POST` give `{"id": N}`; a body that is not whole is not counted.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// The methods that are answered, and the places of their counts.
const METHODS: [&str; 3] = ["GET", "PUT", "POST"];

#[derive(Default)]
struct Peer {
    counts: [AtomicU64; METHODS.len()],
    profile: Mutex<Arc<Vec<u8>>>,
    customers: Mutex<HashMap<u64, Value>>,
    delay: Duration,
}

fn main() -> anyhow::Result<()> {
    const USAGE: &str = "usage: peer DIRECTORY [PROFILE.json [MILLISECONDS]]";
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let directory = arguments.next().ok_or_else(|| anyhow::anyhow!(USAGE))?;
    let profile = arguments.next().map_or_else(|| Ok(b"{}".to_vec()), std::fs::read)?;
    let delay = arguments.next().map_or(Ok(0), |delay| delay.to_string_lossy().parse())?;
    let delay = Duration::from_millis(delay);
    let peer = Arc::new(Peer { profile: Mutex::new(Arc::new(profile)), delay, ..Peer::default() });
    let (authority, tls) = certificates()?;
    std::fs::write(directory.join("ca.pem"), authority)?;
    let http = listen(&peer, Ok)?;
    let https = listen(&peer, move |stream| {
        let session = ServerConnection::new(tls.clone()).map_err(io::Error::other)?;
        Ok(StreamOwned::new(session, stream))
    })?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, r#"{{"http": "http://127.0.0.1:{http}", "https": "https://127.0.0.1:{https}"}}"#)?;
    stdout.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// An authority of an hour's worth, as PEM text, and the server's side of a certificate it gave to 127.0.0.1.
fn certificates() -> anyhow::Result<(String, Arc<ServerConfig>)> {
    let mut root = CertificateParams::default();
    // A name of its own, or the certificate would look like one that vouches for itself.
    root.distinguished_name.push(DnType::CommonName, "storefront benches");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_key = KeyPair::generate()?;
    let authority = root.self_signed(&root_key)?;
    let key = KeyPair::generate()?;
    let leaf = CertificateParams::new(vec![Ipv4Addr::LOCALHOST.to_string()])?
        .signed_by(&key, &Issuer::new(root, root_key))?;
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))?;
    Ok((authority.pem(), Arc::new(config)))
}

/// Serves on a free port, a thread for each connection, and returns the port.
fn listen<S: Read + Write>(
    peer: &Arc<Peer>,
    open: impl Fn(TcpStream) -> io::Result<S> + Clone + Send + 'static,
) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let peer = peer.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (peer, open) = (peer.clone(), open.clone());
            // A connection that breaks is its client's affair.
            thread::spawn(move || {
                stream.set_nodelay(true).and_then(|()| open(stream)).and_then(|stream| peer.serve(stream))
            });
        }
    });
    Ok(port)
}

/// What a request's head says, as far as it matters here.
struct Head {
    method: usize,
    counts: bool,
    customer: Option<u64>,
    length: usize,
    body: usize,
    waits: bool,
    stays: bool,
}

impl Peer {
    /// Answers one connection's requests until either side has enough.
    fn serve(&self, mut stream: impl Read + Write) -> io::Result<()> {
        let mut received = Vec::with_capacity(16 * 1024);
        loop {
            let head = loop {
                match head(&received)? {
                    Some(head) => break head,
                    None if receive(&mut stream, &mut received)? == 0 => return Ok(()),
                    None => {}
                }
            };
            let end = head.body + head.length;
            if head.waits && received.len() < end {
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
            while received.len() < end {
                if receive(&mut stream, &mut received)? == 0 {
                    return Ok(());
                }
            }
            if !head.counts && !self.delay.is_zero() {
                thread::sleep(self.delay);
            }
            stream.write_all(&self.answer(&head, &received[head.body..end]))?;
            stream.flush()?;
            if !head.stays {
                return Ok(());
            }
            received.drain(..end);
        }
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Vec<u8> {
        let content = if head.counts {
            let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
            let members: Vec<String> =
                METHODS.iter().zip(counts).map(|(method, count)| format!("\"{method}\": {count}")).collect();
            Arc::new(format!("{{{}}}", members.join(", ")).into_bytes())
        } else {
            let number = self.counts[head.method].fetch_add(1, Ordering::Relaxed) + 1;
            let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
            match (METHODS[head.method], head.customer) {
                (method, Some(id)) => {
                    self.customer(id, if method == "PUT" { Some(body) } else { None }, &profile)
                }
                ("GET", None) => profile.clone(),
                (method, None) => {
                    if method == "PUT" {
                        *profile = Arc::new(body.to_vec());
                    }
                    Arc::new(format!("{{\"id\": {number}}}").into_bytes())
                }
            }
        };
        let connection = if head.stays { "keep-alive" } else { "close" };
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: {connection}\r\ncontent-length: {}\r\n\r\n",
            content.len()
        )
        .into_bytes();
        answer.extend_from_slice(&content);
        answer
    }
}

impl Peer {
    /// The object of a customer, after what was put if anything was.
    fn customer(&self, id: u64, put: Option<&[u8]>, profile: &[u8]) -> Arc<Vec<u8>> {
        let inner =
            |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap_or_default()["customer"].take();
        let mut customers = self.customers.lock().unwrap_or_else(PoisonError::into_inner);
        let customer = customers.entry(id).or_insert_with(|| {
            let mut customer = inner(profile);
            customer["id"] = id.into();
            customer
        });
        if let Some(body) = put {
            *customer = inner(body);
        }
        Arc::new(customer.to_string().into_bytes())
    }
}

fn receive(stream: &mut impl Read, received: &mut Vec<u8>) -> io::Result<usize> {
    let mut chunk = [0; 16 * 1024];
    let length = stream.read(&mut chunk)?;
    received.extend_from_slice(&chunk[..length]);
    Ok(length)
}

/// The head at the start of what was received; `None` while it is not whole.
fn head(received: &[u8]) -> io::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(body) = request.parse(received).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let method = METHODS.iter().position(|method| request.method == Some(method));
    let header = |name: &str| {
        let found = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| str::from_utf8(header.value).ok()).unwrap_or_default()
    };
    let connection = header("connection");
    Ok(Some(Head {
        method: method.ok_or_else(|| io::Error::other("no such method here"))?,
        counts: request.path == Some("/counts"),
        customer: request.path.and_then(|path| path.split_once("/V1/customers/")?.1.parse().ok()),
        length: header("content-length").parse().unwrap_or(0),
        body,
        waits: header("expect").eq_ignore_ascii_case("100-continue"),
        // HTTP/1.0 stays only when asked to.
        stays: if request.version == Some(0) {
            connection.eq_ignore_ascii_case("keep-alive")
        } else {
            !connection.eq_ignore_ascii_case("close")
        },
    }))
}
