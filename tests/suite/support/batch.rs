//! Inputs and results of batches.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::storefront::Outcome;
use crate::support::test_env::TestEnv;

/// A CSV of attributes `code_1`, `code_2`…, each recognizable in the sandbox.
pub fn attributes(records: usize) -> String {
    let mut csv = "attribute_code,default_frontend_label,frontend_input\n".to_owned();
    for number in 1..=records {
        writeln!(csv, "code_{number},Label {number},text").unwrap();
    }
    csv
}

/// Which of these attributes the sandbox has, by their numbers.
pub fn created(env: &TestEnv) -> Vec<usize> {
    let shown = env.sandbox.show();
    let codes = shown["attributes"].as_array().unwrap().iter();
    let mut created: Vec<usize> = codes
        .filter_map(|attribute| attribute["attribute_code"].as_str()?.strip_prefix("code_")?.parse().ok())
        .collect();
    // Records that are in flight at once are created in any order.
    created.sort_unstable();
    created
}

/// The result lines of a run.
pub fn lines(outcome: &Outcome) -> Vec<Value> {
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The numbers of the records, in the order of their lines.
pub fn numbers(outcome: &Outcome) -> Vec<u64> {
    lines(outcome).iter().map(|line| line["record"].as_u64().unwrap()).collect()
}

/// The number of records in each state of a journal, by their last entry.
pub fn states(journal: &str) -> BTreeMap<String, usize> {
    let mut last = BTreeMap::new();
    for line in journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(record) = line["line"].as_u64() {
            last.insert(record, line["state"].as_str().unwrap().to_owned());
        }
    }
    let mut counted = BTreeMap::new();
    for state in last.into_values() {
        *counted.entry(state).or_default() += 1;
    }
    counted
}

/// The maximum number of records in flight at any point of a journal.
pub fn most_in_flight(journal: &str) -> usize {
    let (mut in_flight, mut most) = (std::collections::BTreeSet::new(), 0);
    for line in journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(record) = line["line"].as_u64() else {
            // A new run: what was `sending` before is no longer in flight.
            in_flight.clear();
            continue;
        };
        if line["state"] == "sending" {
            in_flight.insert(record);
        } else {
            in_flight.remove(&record);
        }
        most = most.max(in_flight.len());
    }
    most
}
