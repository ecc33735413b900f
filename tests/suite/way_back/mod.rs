//! The way back: every operation that writes, under each fault, resumed until it is done, verified and undone.
//!
//! Each way to call an operation is a row, run as a batch of one record: from an input, or else from a plan. `red.txt` lists the
//! cells that do not hold, and may only get shorter.
//!
//! With `WAY_BACK=` and a part of a row's name only such rows are run; with `-- --nocapture` what is wrong is printed.

mod cell;
mod kept;

use std::collections::{BTreeMap, BTreeSet};

use self::cell::{Cell, Undisturbed};
use crate::support::at_once::at_once;
use crate::support::rows::{CALLS, DECISIVE, Row, fault_name};

/// The cells that are known to be red: `row | what is wrong | fault; fault`, with `*` for all faults.
const KNOWN: &str = include_str!("red.txt");
/// What disturbs only reads, or changes what is written: the other table has it.
const OTHERS: [&str; 9] = [
    "latency",
    "latency-after-commit",
    "no-get",
    "envelope",
    "error-shape",
    "silent-update",
    "drop-address",
    "lose",
    "stale-read",
];
/// How long a write is late, in milliseconds.
const LATE: u64 = 500;
/// Words of faults that no rule of the client tells from the others.
const SAME: [&str; 6] = ["409", "422", "code", "messages", "result", "errors"];

/// A cell that is red: its row, what is wrong, and its fault.
type Red = (String, String, String);

/// The faults of the sandbox's own table, before and after the commit, with each value that decides something.
fn faults() -> Vec<String> {
    let spelled = |kind: &str| -> Vec<String> {
        let (name, value) = kind.split_once('=').unwrap_or((kind, ""));
        let name = name.trim_end_matches('[');
        match value.trim_end_matches(']') {
            _ if OTHERS.contains(&name) => Vec::new(),
            "" | "SECONDS" => vec![name.to_owned()],
            "MS" => vec![format!("{name}={LATE}")],
            "N" => vec![format!("{name}=1")],
            words => {
                let words = words.split('|').filter(|word| !SAME.contains(word));
                words.map(|word| format!("{name}={word}")).collect()
            }
        }
    };
    storefront_sandbox::fault_kinds().split(", ").flat_map(spelled).collect()
}

/// Every call, as a batch of one record. The first of an operation and interface meets every fault, the others the decisive ones.
fn rows() -> Vec<Row> {
    CALLS.iter().map(|call| Row { call, is_batch: !call.record.is_empty() }).collect()
}

/// The listed cells of those that were run: the rows, each with its faults.
fn known(run: &BTreeMap<String, Vec<String>>) -> BTreeSet<Red> {
    let mut known = BTreeSet::new();
    for line in listed_lines() {
        let [row, wrong, listed] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let Some(faults) = run.get(row) else { continue };
        let listed: Vec<&str> = match listed {
            "*" => faults.iter().map(String::as_str).collect(),
            listed => listed.split("; ").collect(),
        };
        known.extend(listed.into_iter().map(|fault| (row.to_owned(), wrong.to_owned(), fault.to_owned())));
    }
    known
}

fn listed_lines() -> impl Iterator<Item = &'static str> {
    KNOWN.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Cells as they are listed.
fn listed<'a>(cells: impl Iterator<Item = &'a Red>, run: &BTreeMap<String, Vec<String>>) -> String {
    let mut grouped: BTreeMap<(&String, &String), Vec<&str>> = BTreeMap::new();
    for (row, wrong, fault) in cells {
        grouped.entry((row, wrong)).or_default().push(fault);
    }
    let line = |((row, wrong), found): (&(&String, &String), &Vec<&str>)| {
        let is_all = run.get(*row).is_some_and(|faults| faults.len() == found.len());
        let found = if is_all { "*".to_owned() } else { found.join("; ") };
        format!("{row} | {wrong} | {found}\n")
    };
    grouped.iter().map(line).collect()
}

/// Fails for cells that are red and not listed, and for those that are listed and hold.
#[track_caller]
fn compare(run: &BTreeMap<String, Vec<String>>, found: &BTreeSet<Red>) {
    let known = known(run);
    let (new, mended) = (listed(found.difference(&known), run), listed(known.difference(found), run));
    assert!(
        new.is_empty() && mended.is_empty(),
        "red and not listed:\n{new}not so and still listed in red.txt:\n{mended}"
    );
}

#[test]
fn what_was_written_under_a_fault_is_done_once_verified_and_taken_back() {
    let only = std::env::var("WAY_BACK").ok();
    let rows: Vec<Row> =
        rows().into_iter().filter(|row| only.as_ref().is_none_or(|only| row.name().contains(only))).collect();
    let undisturbed = at_once(&rows, Undisturbed::of);
    let faults = faults();
    let told = |row: &Row| {
        let is_met = |fault: &str| row.has_first_call() || DECISIVE.contains(&fault_name(fault));
        let told = faults.iter().filter(|fault| cell::can_be_told(row, fault) && is_met(fault));
        told.cloned().collect::<Vec<_>>()
    };
    let run: BTreeMap<String, Vec<String>> = rows.iter().map(|row| (row.name(), told(row))).collect();
    let of_row = |at: usize| run[&rows[at].name()].iter().map(move |fault| (at, fault));
    let cells: Vec<(usize, &String)> = (0..rows.len()).flat_map(of_row).collect();
    let found = at_once(&cells, |(at, fault)| {
        let walked = match &undisturbed[*at] {
            Some(undisturbed) => Cell::new(&rows[*at], undisturbed, fault).walk(),
            None => Err(cell::no_batch()),
        };
        let wrong = walked.err();
        if let Some(wrong) = wrong.as_ref().filter(|_| only.is_some()) {
            println!("{} | {fault} | {} | {}", rows[*at].name(), wrong.kind, wrong.detail);
        }
        wrong.map(|wrong| (rows[*at].name(), wrong.kind.to_owned(), (*fault).clone()))
    });
    compare(&run, &found.into_iter().flatten().collect());
}

#[test]
fn what_somebody_else_did_since_is_not_taken_back() {
    let found = at_once(kept::CASES, |(name, case)| {
        let wrong = case().err()?;
        println!("{name}: {wrong}");
        Some(((*name).to_owned(), "taken back".to_owned(), "-".to_owned()))
    });
    let run = kept::CASES.iter().map(|(name, _)| ((*name).to_owned(), vec!["-".to_owned()])).collect();
    compare(&run, &found.into_iter().flatten().collect());
}

#[test]
fn every_listed_row_is_there() {
    let mut names: Vec<String> = rows().iter().map(Row::name).collect();
    names.extend(kept::CASES.iter().map(|(name, _)| (*name).to_owned()));
    for line in listed_lines() {
        let row = line.split(" | ").next().unwrap();
        assert!(names.iter().any(|name| name == row), "red.txt lists a row that is not there: {row}");
    }
}
