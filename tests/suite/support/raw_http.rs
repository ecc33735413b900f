//! Raw HTTP over a socket, without the program's client, and a sandbox.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use storefront_sandbox::{Observer, Options};

pub const CUSTOMER: &str = "sandbox-customer-1";
pub const ADMIN: &str = "sandbox-admin";
pub const PROFILE: &str = "/V1/storeview/default/customer/profile";
pub const ITEM: &str = "/V1/storeview/default/user/quote/item";
pub const SHIPPING: &str = "/V1/storeview/default/user/quote/shipping-information";
pub const ATTRIBUTE: &str = "/V1/admin/product/attribute/";

/// The first customer's order: the cart is no longer active.
pub const ORDER: &str = "UPDATE quotes SET is_active = 0 WHERE customer_id = 1";
/// The first customer's email on a second website.
pub const TWIN: &str = r#"INSERT INTO customers (id, body) VALUES (7, '{"email": "amina.haddad@example.com",
    "firstname": "Amina", "lastname": "Haddad", "website_id": 2}')"#;

/// A sandbox on its own thread, stopped when dropped.
pub struct Sandbox {
    address: SocketAddr,
    data: PathBuf,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// Kept until the sandbox ends, where it is the sandbox's own.
    directory: Option<tempfile::TempDir>,
}

/// An answer as far as it came.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Sandbox {
    /// A sandbox with the seed.
    pub fn new() -> Self {
        Self::with_faults(&[])
    }

    /// A sandbox with the seed that misbehaves.
    pub fn with_faults(faults: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut sandbox = Self::on(&directory.path().join("data").join("sandbox.db"), faults);
        sandbox.directory = Some(directory);
        sandbox
    }

    /// A sandbox on a database that may exist.
    pub fn on(data: &Path, faults: &[&str]) -> Self {
        Self::observed(data, faults, None)
    }

    /// The same, with an observer of every request.
    pub fn observed(data: &Path, faults: &[&str], observer: Option<Observer>) -> Self {
        let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Self::with_options(Options { faults, ..Options::new(data.to_owned()) }, observer)
    }

    /// A sandbox with any options.
    pub fn with_options(options: Options, observer: Option<Observer>) -> Self {
        let data = options.data.clone();
        let (ready, started) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let running = storefront_sandbox::start_observed(options, observer).await.unwrap();
                ready.send(running.url.clone()).unwrap();
                let _ = stopped.await;
                running.stop().await;
            });
        });
        let url = started.recv_timeout(Duration::from_secs(10)).unwrap();
        Self {
            address: url.strip_prefix("http://").unwrap().parse().unwrap(),
            data,
            stop: Some(stop),
            thread: Some(thread),
            directory: None,
        }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Changes the database behind the sandbox's back.
    pub fn sql(&self, statement: &str) {
        rusqlite::Connection::open(&self.data).unwrap().execute_batch(statement).unwrap();
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What `sandbox show` would print.
    pub fn show(&self) -> Value {
        storefront_sandbox::dump(&self.data).unwrap()
    }

    /// Sends bytes and reads to the end of the connection.
    pub fn bytes(&self, request: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(request)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    }

    /// One request with these extra header lines.
    pub fn request(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        Answer::parse(&self.bytes(&message(method, path, headers, body)).unwrap())
    }

    /// One request with a token, the body as JSON text.
    pub fn call(&self, token: &str, method: &str, path: &str, body: &str) -> Answer {
        let authorization = format!("Authorization: Bearer {token}");
        let headers = [authorization.as_str(), "Content-Type: application/json"];
        self.request(method, path, &headers, body.as_bytes())
    }

    pub fn get(&self, token: &str, path: &str) -> Answer {
        self.request("GET", path, &[&format!("Authorization: Bearer {token}")], b"")
    }

    pub fn put_profile(&self, token: &str, customer: &Value) -> Answer {
        let body = serde_json::json!({"customer": customer}).to_string();
        self.call(token, "PUT", PROFILE, &body)
    }

    /// The stored profile of a token's customer, unwrapped.
    pub fn profile(&self, token: &str) -> Value {
        let answer = self.get(token, PROFILE);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["customer"].clone()
    }

    /// Ids of the stored addresses in their order.
    pub fn address_ids(&self, token: &str) -> Vec<i64> {
        ids(&self.profile(token))
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Answer {
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no HTTP head in {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or_else(|| panic!("no status in {head:?}")),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (header, value) = line.split_once(':')?;
            header.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// Asserts the status and Magento's error object: `message` and `parameters`.
    #[track_caller]
    pub fn refuses(&self, status: u16, message: &str, parameters: Value) {
        assert_eq!(self.status, status, "{self:?}");
        let mut expected = serde_json::json!({"message": message});
        if !parameters.is_null() {
            expected["parameters"] = parameters;
        }
        assert_eq!(self.json(), expected);
    }
}

/// The bytes of a request that asks for the connection to be closed after it.
pub fn message(method: &str, path: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    let lines = ["Host: localhost", "Connection: close"].iter().chain(headers);
    let lines = lines.copied().chain((!body.is_empty()).then_some(length.as_str()));
    let head = lines.fold(format!("{method} {path} HTTP/1.1"), |head, line| head + "\r\n" + line);
    let message = head + "\r\n\r\n";
    [message.as_bytes(), body].concat()
}

/// Ids of the addresses of a profile.
pub fn ids(profile: &Value) -> Vec<i64> {
    let addresses = profile["addresses"].as_array().unwrap();
    addresses.iter().map(|address| address["id"].as_i64().unwrap()).collect()
}

/// The profile without ids and order of its addresses, and without the service's clock.
pub fn content(mut profile: Value) -> Value {
    profile.as_object_mut().unwrap().shift_remove("updated_at");
    let addresses = profile["addresses"].as_array_mut().unwrap();
    for address in addresses.iter_mut() {
        address.as_object_mut().unwrap().sort_keys();
        address.as_object_mut().unwrap().remove("id");
    }
    addresses.sort_by_key(ToString::to_string);
    profile
}
