//! Runs the program in this process, with files and replies that a fuzzer makes, and judges what came of it.
//!
//! A case is bytes: which command line and how it prints (two bytes), a file, and the replies in their order. What stands between
//! them is [`BETWEEN`]; a reply begins with a line of its status and at most one header.

pub mod commands;
pub mod mutate;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use storefront::client::TransportError;
use storefront::client::transport::{Exchange, Incoming, Transport};
use storefront::config::Endpoint;
use storefront::system::clock::Clock;
use storefront::system::context::Context;
use storefront::system::output::Output;
use storefront::{Surroundings, run_with};
use storefront_core::text::sanitize::{in_json, sanitize};

/// What stands between the parts of a case.
pub const BETWEEN: u8 = 0x1e;
/// No run takes more requests.
const MOST_REQUESTS: usize = 60;
const BASES: [&str; 2] = ["https://shop.example.com", "https://shop.example.com/rest"];
/// The tokens of the runs: a customer's and an administrator's.
pub const TOKENS: [&str; 2] = ["t0ken-of-the-customer-71f4ab", "t0ken-of-an-administrator-93cd20"];
/// How a run prints.
const STYLES: [&[&str]; 4] = [&["-o", "json"], &[], &["-vv"], &["-o", "json", "-vv"]];

/// What a run printed, and its exit code.
#[derive(Debug, Default, Clone)]
pub struct Printed {
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// The streams of a run.
#[derive(Debug, Default, Clone)]
pub struct Streams(pub Arc<Mutex<Printed>>);

impl Output for Streams {
    fn stdout(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().stdout.extend_from_slice(bytes);
        Ok(())
    }

    fn stderr(&self, line: &str) {
        let mut printed = self.0.lock().unwrap();
        printed.stderr.push_str(line);
        printed.stderr.push('\n');
    }
}

/// Gives the replies of a case in their order; then there is no connection any more.
#[derive(Debug)]
struct Replay {
    replies: RefCell<std::vec::IntoIter<Incoming>>,
    requests: RefCell<usize>,
    /// How many addresses the profile has that was read last.
    addresses: RefCell<Option<usize>>,
    /// Whether the run may take addresses away.
    keeps: bool,
}

/// The addresses in a body, under whatever the interface wraps around them.
fn addresses(body: &Value) -> Option<usize> {
    let profile = body.get("customer").unwrap_or(body);
    profile.get("addresses").and_then(Value::as_array).map(Vec::len)
}

fn is_profile(path: &str) -> bool {
    path.ends_with("/customers/me") || path.ends_with("/customer/profile") || path.contains("/V1/customers/")
}

impl Transport for Replay {
    fn exchange(&self, request: reqwest::Request, _: Duration) -> Exchange<'_> {
        let lost = TransportError {
            sent: true,
            is_permanent: false,
            message: "the connection broke".to_owned(),
            hint: None,
        };
        *self.requests.borrow_mut() += 1;
        assert!(*self.requests.borrow() < 10_000, "it never stops to ask");
        let (is_put, path) = (request.method() == "PUT", request.url().path());
        if is_profile(path) && is_put && self.keeps {
            let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
            let sent = serde_json::from_slice(body).ok().as_ref().and_then(addresses);
            let read = *self.addresses.borrow();
            assert!(sent >= read, "a PUT has {sent:?} of {read:?} addresses");
        }
        let reply = self.replies.borrow_mut().next();
        if let Some(reply) = reply.as_ref().filter(|it| it.status == 200 && is_profile(path) && !is_put) {
            *self.addresses.borrow_mut() =
                serde_json::from_slice(&reply.body).ok().as_ref().and_then(addresses);
        }
        Box::pin(std::future::ready(reply.ok_or(lost)))
    }
}

/// The parts of a case.
pub struct Case {
    command: usize,
    style: usize,
    pub file: Vec<u8>,
    pub replies: Vec<Incoming>,
}

impl Case {
    /// Reads one; `None` where it has no command.
    pub fn parse(data: &[u8]) -> Option<Self> {
        let ([command, style], rest) = data.split_first_chunk()?;
        let mut parts = rest.split(|byte| *byte == BETWEEN);
        let file = parts.next()?.to_vec();
        let replies = parts.take(MOST_REQUESTS).map(reply).collect();
        Some(Self { command: usize::from(*command), style: usize::from(*style), file, replies })
    }
}

fn reply(part: &[u8]) -> Incoming {
    let at = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
    let (line, body) = (String::from_utf8_lossy(&part[..at]), part.get(at + 1..).unwrap_or_default());
    let (status, header) = line.split_once(' ').unwrap_or((&line, ""));
    let mut headers = HeaderMap::new();
    if let Some((name, value)) = header.split_once(": ")
        && let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
    {
        headers.insert(name, value);
    }
    let status = status.parse().ok().filter(|it| (100..1000).contains(it)).unwrap_or(200);
    Incoming { status, headers, body: body.to_vec(), broken: None }
}

/// The surroundings of a run: its words, a home, and the way to a service.
pub fn surroundings(
    words: &[String],
    home: &Path,
    output: Arc<dyn Output>,
    connect: impl Fn(&Endpoint) -> Box<dyn Transport> + 'static,
) -> Surroundings {
    let variables = [
        ("STOREFRONT_BASE_URL", BASES[usize::from(words.iter().any(|word| word == "magento"))]),
        ("STOREFRONT_STORE_VIEW", "default"),
        ("NO_COLOR", "1"),
        ("STOREFRONT_TOKEN", TOKENS[0]),
        ("STOREFRONT_ADMIN_TOKEN", TOKENS[1]),
    ];
    let mut context = Context::detached(&variables, home);
    context.arguments = ["storefront", "--no-input"].into_iter().map(OsString::from).collect();
    context.arguments.extend(words.iter().map(OsString::from));
    // JSON is escaped for a terminal alone.
    context.stdout_is_terminal = true;
    context.clock = Clock::starting_at(jiff::Timestamp::from_second(1_800_003_600).unwrap());
    context.output = output;
    context.random = || 0.5;
    Surroundings { context, connect: Box::new(move |link| Ok(connect(link))) }
}

/// Runs a case in a home whose files are there already, and judges what it printed.
pub fn run(case: &Case, lines: &[&str], home: &Path) -> u8 {
    let line = lines[case.command % lines.len()];
    let style = STYLES[case.style % STYLES.len()];
    let words = shell_words::split(line).unwrap();
    let words: Vec<String> = style.iter().map(|word| (*word).to_owned()).chain(words).collect();
    let streams = Streams::default();
    let replies = Rc::new(RefCell::new(Some(case.replies.clone())));
    let keeps = !["undo", "apply", "remove", "ndjson", "csv"].iter().any(|word| line.contains(word));
    let surroundings = surroundings(&words, home, Arc::new(streams.clone()), move |_| {
        Box::new(Replay {
            replies: RefCell::new(replies.borrow_mut().take().unwrap_or_default().into_iter()),
            requests: RefCell::default(),
            addresses: RefCell::default(),
            keeps,
        })
    });
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    // No limit: time that stands still moves on to it while a thread of the log works. One that does not end is libFuzzer's.
    let code = runtime.block_on(run_with(&surroundings));
    drop(surroundings);
    let printed = streams.0.lock().unwrap().clone();
    judge(code, style.contains(&"json"), &printed);
    code
}

/// What holds of each run, whatever it was given.
fn judge(code: u8, is_json: bool, printed: &Printed) {
    let stdout = std::str::from_utf8(&printed.stdout).expect("standard output is text");
    let both = [stdout, printed.stderr.as_str()];
    let said = format!("exit {code}\n--- stdout\n{stdout}\n--- stderr\n{}", printed.stderr);
    for text in both {
        for token in TOKENS {
            assert!(!text.contains(token), "a token is printed\n{said}");
        }
        let safe = if is_json { in_json(text) } else { sanitize(text) };
        assert!(text == safe, "foreign text is printed as it is\n{said:?}");
    }
    if is_json {
        let whole = serde_json::Deserializer::from_str(stdout).into_iter::<Value>();
        assert!(whole.last().is_none_or(|last| last.is_ok()), "standard output is no JSON\n{said}");
        for line in printed.stderr.lines().filter(|line| !line.is_empty()) {
            let is_trace = line.starts_with(['>', '<', '*', ' ']);
            assert!(is_trace || serde_json::from_str::<Value>(line).is_ok(), "no JSON: {line}\n{said}");
        }
    }
    assert!(code == 0 || !printed.stderr.trim().is_empty(), "nothing says why\n{said}");
    assert!(code <= 9 || code >= 128, "an unknown exit code\n{said}");
    let is_internal = printed.stderr.contains("\"kind\":\"internal\"") || code == 1;
    assert!(!is_internal, "an internal error\n{said}");
}

/// A home for the runs of this process, in memory where the system has such a directory; emptied by [`Home::clear`].
pub struct Home(tempfile::TempDir);

impl Home {
    /// Makes it, and makes the directory in it the current one.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self(tempfile::tempdir_in(place).unwrap())
    }

    /// A home with nothing in it, and its directory `work`, which is the current one.
    pub fn clear(&self) -> &Path {
        let home = self.0.path();
        std::env::set_current_dir(home).unwrap();
        for name in ["state", "data", "config", "work"] {
            let _ = std::fs::remove_dir_all(home.join(name));
        }
        std::fs::create_dir(home.join("work")).unwrap();
        std::env::set_current_dir(home.join("work")).unwrap();
        home
    }
}

thread_local! {
    /// The home of a target.
    pub static HOME: Home = Home::new();
}
