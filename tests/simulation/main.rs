//! The promises, checked in thousands of modelled worlds.
//!
//! Each seed is a world: a service with a store, a network that loses and delays, replicas that lag behind, foreign
//! editors, and a disk that fails and forgets. In it the real commands run (`customer update`, `quote add-item`,
//! `quote ship`, `attribute create`, `order update`, `product set`, and batches of them with `--resume`), on time that stands still unless everybody
//! waits. A run is a command line, with files and environment variables; what it says is read from `-o json` (`program`
//! is all that is known of it). They are killed and resumed. In the end what the service did is compared with what the commands said.
//!
//! A seed that breaks a promise is printed with the command that shows it again:
//! `STOREFRONT_SEED=N cargo test --test simulation -- --nocapture`. `STOREFRONT_SEEDS=N` runs so many seeds,
//! `STOREFRONT_FIRST_SEED=N` begins with another than 0, and `STOREFRONT_STOP=N` goes on until so many are broken.
//!
//! The approach is that of the simulations of FoundationDB and of TigerBeetle.

// Most of this is no #[test] function, and so not covered by what clippy.toml allows in tests.
#![allow(clippy::expect_used, clippy::missing_panics_doc, clippy::panic, clippy::unwrap_used, missing_docs)]

mod action;
mod agreement;
mod bounds;
mod call;
mod customers;
mod disk;
mod editors;
mod events;
mod faults;
mod goods;
mod input;
mod job;
mod killable;
mod machine;
mod magento;
mod network;
mod notation;
mod options;
mod pauses;
pub mod program;
mod random;
mod rules;
mod scenario;
mod service;
mod setting;
mod states;
mod verdict;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rules::Rule;
use rules::known::KNOWN;
use scenario::simulate;
use verdict::Verdict;

/// Seeds that `cargo test` runs: a minute or two of two cores without optimisation. A workflow runs 100,000 each week.
const SEEDS: u64 = 600;
/// As many broken seeds end the run; `STOREFRONT_STOP` is another number.
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
type Broken = BTreeMap<u64, Vec<(Rule, String)>>;

/// Runs many seeds on two threads; gives those that break something, and what all came to.
fn run_many(first: u64, count: u64, stop: usize) -> (Broken, Verdict) {
    let next = AtomicU64::new(first);
    let broken = Mutex::new(Broken::new());
    let sum = Mutex::new(Verdict::default());
    let worker = || {
        let directory = tempfile::tempdir().unwrap();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count || broken.lock().unwrap().len() >= stop {
                return;
            }
            let verdict = run(seed, directory.path(), false);
            sum.lock().unwrap().add(&verdict);
            if !verdict.violations.is_empty() {
                // What follows may take hours.
                print(&format!("broken: STOREFRONT_SEED={seed}\n{}", shown(&verdict.violations)));
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
        print(&verdict.trace.join("\n"));
        return assert!(verdict.violations.is_empty(), "\n{}", shown(&verdict.violations));
    }
    let count = number("STOREFRONT_SEEDS").unwrap_or(SEEDS);
    let stop = number("STOREFRONT_STOP").map_or(MAX_SHOWN, |stop| usize::try_from(stop).unwrap());
    let started = std::time::Instant::now();
    let (broken, sum) = run_many(number("STOREFRONT_FIRST_SEED").unwrap_or(0), count, stop);
    let [yes, no, unknown] = sum.reported;
    let per_second = f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / started.elapsed().as_secs_f64();
    print(&format!(
        "{count} worlds, {per_second:.0} a second, {} runs, {} requests; records reported as applied {yes}, not applied {no}, unknown \
         {unknown}; out of reach: {:?}",
        sum.runs, sum.requests, sum.out_of_reach
    ));
    for known in KNOWN {
        let worlds = sum.known.get(known.name).copied().unwrap_or_default();
        print(&format!("known, in {worlds} worlds: {}: {}", known.name, known.case));
    }
    let mut unreached = Vec::new();
    for (state, sentence) in states::ALL {
        let worlds = sum.reached.get(state).copied().unwrap_or_default();
        print(&format!("reached in {worlds} worlds: {sentence}"));
        unreached.extend((worlds == 0).then_some(*sentence));
    }
    // Broken ones end the run early.
    let is_whole = broken.is_empty();
    let outside = if is_whole { bounds::broken(count, &sum.out_of_reach, &sum.checked) } else { Vec::new() };
    print(&format!("checked: {:?}", sum.checked));
    print(&format!("never reached: {unreached:?}; out of bounds: {outside:?}"));
    assert!(broken.is_empty(), "{}", summary(&broken, stop));
    // Fewer worlds may lack what is rare.
    let is_enough = count >= SEEDS;
    assert!(
        !is_enough || unreached.is_empty(),
        "{count} worlds, and in none of them {}",
        unreached.join("; in none ")
    );
    assert!(!is_enough || outside.is_empty(), "{count} worlds, and out of bounds: {}", outside.join("; "));
    assert!(
        !is_enough || yes > 0 && no > 0 && unknown > 0,
        "the worlds are too much alike: {:?}",
        sum.reported
    );
}

fn shown(violations: &[(Rule, String)]) -> String {
    let lines: Vec<String> = violations.iter().map(|(rule, what)| format!("({rule:?}) {what}\n")).collect();
    lines.concat()
}

/// The first broken seeds with what they break, then each rule with how many seeds break it and the first of them.
fn summary(broken: &Broken, shown_at_most: usize) -> String {
    let mut text = String::new();
    let mut rules = BTreeMap::<Rule, (u64, u64)>::new();
    for (at, (seed, violations)) in broken.iter().enumerate() {
        if at < shown_at_most {
            let shown = shown(violations);
            text += &format!("\n{shown}STOREFRONT_SEED={seed} cargo test --test simulation -- --nocapture\n");
        }
        let of_seed: BTreeSet<Rule> = violations.iter().map(|(rule, _)| *rule).collect();
        for rule in of_seed {
            rules.entry(rule).or_insert((0, *seed)).0 += 1;
        }
    }
    let rules =
        rules.iter().map(|(rule, (count, first))| format!("{rule:?}: {count} seeds, first {first}\n"));
    format!("\n{text}\n{}", rules.collect::<String>())
}

/// Shown with `--nocapture`.
#[allow(clippy::print_stdout)]
fn print(text: &str) {
    println!("{text}");
}

#[test]
fn a_seed_always_gives_the_same_world() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..50 {
        let (one, other) = (run(seed, directory.path(), false), run(seed, directory.path(), false));
        assert_eq!((one.fingerprint, one.requests), (other.fingerprint, other.requests), "seed {seed}");
    }
}
