//! The promises, checked in thousands of modelled worlds.
//!
//! Each seed is a world: a service with a store, a network that loses and delays, replicas that lag behind, foreign
//! editors, and a disk that fails and forgets. In it the real commands run (`customer update`, `quote add-item`,
//! `quote ship`, `attribute create`, and batches of them with `--resume`), on time that stands still unless everybody
//! waits. A run is a command line, with files and environment variables; what it says is read from `-o json` (`program`
//! is all that is known of it). They are killed and resumed. In the end what the service did is compared with what the commands said.
//!
//! A seed that breaks a promise is printed with the command that shows it again:
//! `STOREFRONT_SEED=N cargo test --lib simulation -- --nocapture`. `STOREFRONT_SEEDS=N` runs so many seeds, and
//! `STOREFRONT_FIRST_SEED=N` begins with another than 0.
//!
//! The approach is that of the simulations of FoundationDB and of TigerBeetle.

mod customers;
mod defaults;
mod disk;
mod editors;
mod faults;
mod invariants;
mod killable;
mod machine;
mod network;
pub mod program;
mod random;
mod scenario;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use scenario::{Verdict, simulate};

/// Seeds that `cargo test` runs: half a minute of two cores without optimisation.
const SEEDS: u64 = 6_000;
/// As many broken seeds are shown.
const MAX_SHOWN: usize = 5;

fn run(seed: u64, directory: &std::path::Path, is_traced: bool) -> Verdict {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(simulate(seed, directory, is_traced))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Seeds that break something, with what they break.
type Broken = BTreeMap<u64, Vec<String>>;

/// Runs many seeds on two threads; gives those that break something, and what all came to.
fn run_many(first: u64, count: u64) -> (Broken, Verdict) {
    let next = AtomicU64::new(first);
    let broken = Mutex::new(Broken::new());
    let sum = Mutex::new(Verdict::default());
    let worker = || {
        let directory = tempfile::tempdir().unwrap();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count || broken.lock().unwrap().len() >= MAX_SHOWN {
                return;
            }
            let verdict = run(seed, directory.path(), false);
            sum.lock().unwrap().add(&verdict);
            if !verdict.violations.is_empty() {
                broken.lock().unwrap().insert(seed, verdict.violations);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(worker);
        scope.spawn(worker);
    });
    (broken.into_inner().unwrap(), sum.into_inner().unwrap())
}

#[test]
fn no_promise_is_broken_in_any_world() {
    let directory = tempfile::tempdir().unwrap();
    if let Some(seed) = number("STOREFRONT_SEED") {
        let verdict = run(seed, directory.path(), true);
        let trace = verdict.trace.join("\n");
        assert!(verdict.violations.is_empty(), "{trace}\n{}", verdict.violations.join("\n"));
        return print(&trace);
    }
    let count = number("STOREFRONT_SEEDS").unwrap_or(SEEDS);
    let (broken, sum) = run_many(number("STOREFRONT_FIRST_SEED").unwrap_or(0), count);
    let shown = broken.iter().map(|(seed, violations)| {
        format!(
            "{}\nSTOREFRONT_SEED={seed} cargo test --lib simulation -- --nocapture\n",
            violations.join("\n")
        )
    });
    let shown: String = shown.collect();
    assert!(broken.is_empty(), "\n{shown}");
    let [yes, no, unknown] = sum.reported;
    print(&format!(
        "{count} worlds, {} requests; records reported as applied {yes}, not applied {no}, unknown {unknown}; \
         foreign addresses out of reach: {}",
        sum.requests, sum.foreign_lost
    ));
    assert!(
        count < 1000 || yes > 0 && no > 0 && unknown > 0,
        "the worlds are too much alike: {:?}",
        sum.reported
    );
}

/// Shown with `--nocapture`.
#[allow(clippy::print_stdout)]
fn print(text: &str) {
    println!("{text}");
}

#[test]
fn a_seed_always_gives_the_same_world() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..200 {
        let (one, other) = (run(seed, directory.path(), false), run(seed, directory.path(), false));
        assert_eq!((one.fingerprint, one.requests), (other.fingerprint, other.requests), "seed {seed}");
    }
}
