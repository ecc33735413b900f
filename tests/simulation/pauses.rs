//! The pauses of a batch, on time that stands still unless everybody waits.

use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::disk::{Disk, Mount};
use crate::program::{self, Given, Streams};
use storefront::client::Transport;
use storefront::client::transport::{Exchange, Incoming};
use storefront::system::clock::Clock;

/// A service that gives these statuses in their order; the last one stays.
#[derive(Debug, Clone)]
struct Service {
    statuses: Vec<u16>,
    requests: Rc<Cell<usize>>,
}

impl Transport for Service {
    fn exchange(&self, _: reqwest::Request, _: Duration) -> Exchange<'_> {
        let number = self.requests.replace(self.requests.get() + 1);
        let status = self.statuses[number.min(self.statuses.len() - 1)];
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(Incoming { status, body: b"{}".to_vec(), ..Incoming::default() })
        })
    }
}

/// What a run over so many items came to.
struct Ran {
    code: u8,
    lines: Vec<Value>,
    error: Value,
    requests: usize,
    /// Seconds it would have taken.
    took: u64,
}

impl Ran {
    fn count(&self, applied: &str) -> usize {
        self.lines.iter().filter(|line| line["applied"] == applied).count()
    }
}

fn run(statuses: &[u16], items: usize, flags: &str) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let input = home.path().join("items.csv");
    let mut csv = "sku,qty,quote_id\n".to_owned();
    (1..=items).for_each(|quote| writeln!(csv, "mug-blue,1,{quote}").unwrap());
    std::fs::write(&input, csv).unwrap();
    let line = format!("quote add-item {flags} -i");
    let mut arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    arguments.push(input.to_str().unwrap().to_owned());
    let service = Service { statuses: statuses.to_vec(), requests: Rc::default() };
    let network = service.clone();
    let written = Streams::default();
    let variables = [
        ("STOREFRONT_BASE_URL", "https://shop.example"),
        ("STOREFRONT_STORE_VIEW", "default"),
        ("STOREFRONT_TOKEN", "t0ken"),
    ];
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (code, took) = runtime.block_on(async {
        let (start, clock) = (Instant::now(), Clock::system());
        let given = Given {
            arguments: &arguments,
            variables: &variables,
            home: home.path(),
            // Time goes on while a thread that is not of the runtime is waited for.
            storage: Arc::new(Mount::new(&Disk::new(1, 0, 0), &Arc::default())),
            clock,
            network: Rc::new(move || Box::new(network.clone())),
            written: written.clone(),
            interrupt: Arc::default(),
        };
        (program::run(given).await, start.elapsed().as_secs())
    });
    let written = written.take();
    let stdout: Vec<u8> = written.stdout.into_iter().flat_map(|(_, bytes)| bytes).collect();
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let error = written.stderr.last().map(|(_, line)| serde_json::from_str::<Value>(line).unwrap());
    Ran {
        code,
        lines: lines.map(|line| serde_json::from_slice(line).unwrap()).collect(),
        error: error.map_or(Value::Null, |error| error["error"].clone()),
        requests: service.requests.get(),
        took,
    }
}

#[test]
fn an_outage_leaves_the_jobs_and_five_unknown_and_stops() {
    let ran = run(&[504], 100, "--jobs 4");
    assert_eq!((ran.code, ran.requests, ran.took), (8, 4 + 5, 1 + 2 + 4 + 8 + 16), "{}", ran.error);
    assert_eq!((ran.count("unknown"), ran.count("no")), (9, 91));
    assert_eq!(ran.lines[99]["reason"], "not sent");
    assert_eq!(ran.error["applied"], "unknown");
    let hint = ran.error["hint"].as_str().unwrap();
    assert!(hint.starts_with("check which unknown records took effect (`storefront history "), "{hint}");
    assert!(
        hint.contains("--retry-unknown=LINES for what did not; resume with `storefront resume 1`"),
        "{hint}"
    );
}

#[test]
fn after_a_pause_records_are_sent_one_at_a_time_until_the_service_answers() {
    let ran = run(&[200, 502, 200], 12, "--jobs 1");
    assert_eq!((ran.code, ran.requests, ran.took), (8, 12, 1), "{}", ran.error);
    assert_eq!((ran.count("yes"), ran.count("unknown")), (11, 1));
}

#[test]
fn a_rate_limits_the_batch() {
    let ran = run(&[200], 20, "--rate 2/s");
    assert_eq!((ran.code, ran.requests), (0, 20), "{}", ran.error);
    assert_eq!(ran.took, 9, "nothing is waited for after the last one");
}
