//! What a run says of a write, compared with the whole database: operations by faults.
//!
//! Every operation that writes is a row, with each way to call it; every fault of the sandbox is a column, and so is Ctrl-C
//! during each look. A run without a fault says what a row does; whatever a run under a fault says must be true of the
//! database. `untrue.txt` lists the cells that are not, and may only get shorter.
//!
//! With `OPERATION_FAULTS=1` and `-- --nocapture` every cell is printed: what was said, what arrived, and what changed.

mod cell;
mod columns;
mod open;
mod verdict;

use std::collections::BTreeMap;

use self::cell::Cell;
use self::columns::Column;
use self::verdict::{Effect, judge};
use crate::support::at_once::at_once;
use crate::support::rows::{self, CALLS, Row, rows_of};

/// The cells that are known to be untrue: `row | untruth | column; column`.
const KNOWN: &str = include_str!("untrue.txt");

/// A cell that is untrue: its row, its kind and its column.
type Untrue = (String, String, String);

/// The cells of these operations that are not as the list says.
#[track_caller]
fn compare(operations: &[&str]) {
    let rows = rows_of(operations);
    let undisturbed = at_once(&rows, |row| Cell::run(row, &Column::none()));
    let mut jobs: Vec<(usize, Column)> = Vec::new();
    let mut to_interrupt: Vec<(usize, Column)> = Vec::new();
    for (at, (row, cell)) in rows.iter().zip(&undisturbed).enumerate() {
        ensure_undisturbed(row, cell);
        jobs.extend(columns::of(row, &cell.requests).into_iter().map(|column| (at, column)));
        to_interrupt
            .extend(columns::to_interrupt(row, &cell.requests).into_iter().map(|column| (at, column)));
    }
    let heard = at_once(&to_interrupt, |(at, column)| Cell::run(&rows[*at], column).requests);
    for ((at, column), requests) in to_interrupt.iter().zip(&heard) {
        jobs.extend(columns::interrupted(column, requests).into_iter().map(|column| (*at, column)));
    }
    let verbose = std::env::var_os("OPERATION_FAULTS").is_some();
    let found = at_once(&jobs, |(at, column)| {
        let (row, cell) = (&rows[*at], Cell::run(&rows[*at], column));
        let (effect, said) = (cell.effect(&undisturbed[*at]), cell.said());
        let reason = open::reason(row, column, effect);
        let untruth = judge(effect, &said, reason.is_some());
        let excuse = untruth.and_then(|untruth| open::excuse(row, column, untruth, &cell));
        let untruth = untruth.filter(|_| excuse.is_none());
        if verbose {
            let (difference, outcome) = (cell.before.difference(&cell.after), &cell.outcome);
            println!(
                "CELL\t{}\t{}\t{effect:?}\t{}\t{}\t{}\t{:?}\t{}\n{}{}{difference}",
                row.name(),
                column.name,
                said.code,
                said.applied,
                untruth.map(|untruth| untruth.to_string()).unwrap_or_default(),
                cell.requests,
                excuse
                    .map(|excuse| excuse.because)
                    .or(reason.map(|reason| reason.because))
                    .unwrap_or_default(),
                outcome.stdout,
                outcome.stderr,
            );
        }
        untruth.map(|untruth| (row.name(), untruth.to_string(), column.name.clone()))
    });
    let found: Vec<Untrue> = found.into_iter().flatten().collect();
    let known: Vec<Untrue> = known().into_iter().filter(|cell| is_of(cell, &rows, &jobs)).collect();
    let without = |one: &[Untrue], other: &[Untrue]| -> Vec<Untrue> {
        one.iter().filter(|cell| !other.contains(cell)).cloned().collect()
    };
    let (new, mended) = (without(&found, &known), without(&known, &found));
    assert!(
        new.is_empty() && mended.is_empty(),
        "{} cells, {} untrue\nuntrue and not listed:\n{}true and still listed in untrue.txt:\n{}",
        jobs.len(),
        found.len(),
        listed(&new),
        listed(&mended),
    );
}

/// A run without a fault says that it did what it did, to its owner.
#[track_caller]
fn ensure_undisturbed(row: &Row, cell: &Cell) {
    let said = cell.said();
    assert_eq!((said.code, said.applied.as_str()), (0, "yes"), "{}: {:?}", row.name(), cell.outcome);
    let difference = cell.before.difference(&cell.after);
    let tables = row.call.owner.tables();
    let is_of_owner = |line: &str| line.split(' ').nth(1).is_some_and(|table| tables.contains(&table));
    assert!(!difference.is_empty() && difference.lines().all(is_of_owner), "{}: {difference}", row.name());
    assert_ne!(cell.effect(cell), Effect::Nothing);
}

/// Whether a listed cell is one of these rows. How many looks there are to interrupt is a matter of time.
fn is_of((name, _, column): &Untrue, rows: &[Row], jobs: &[(usize, Column)]) -> bool {
    let Some(row) = rows.iter().position(|row| row.name() == *name) else { return false };
    !column.starts_with("Ctrl-C") || jobs.iter().any(|(at, job)| *at == row && job.name == *column)
}

fn known() -> Vec<Untrue> {
    let lines = KNOWN.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cells = |line: &'static str| {
        let [row, untruth, columns] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        columns.split("; ").map(move |column| (row.to_owned(), untruth.to_owned(), column.to_owned()))
    };
    lines.flat_map(cells).collect()
}

/// Cells as they are listed.
fn listed(cells: &[Untrue]) -> String {
    let mut grouped: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (row, untruth, column) in cells {
        grouped.entry((row, untruth)).or_default().push(column);
    }
    let line = |((row, untruth), columns): (&(&str, &str), &Vec<&str>)| {
        format!("{row} | {untruth} | {}\n", columns.join("; "))
    };
    grouped.iter().map(line).collect()
}

#[test]
fn every_operation_that_writes_has_a_row() {
    assert_eq!(rows::without_row(), Vec::<&str>::new(), "add a call to tests/suite/support/rows.rs");
}

#[test]
fn every_listed_cell_has_a_row() {
    let operations: Vec<&str> = CALLS.iter().map(|call| call.operation).collect();
    let names: Vec<String> = rows_of(&operations).iter().map(Row::name).collect();
    for (row, ..) in known() {
        assert!(names.contains(&row), "untrue.txt lists a row that is not there: {row}");
    }
}

#[test]
fn customer_update() {
    compare(&["customer update"]);
}

#[test]
fn carts() {
    compare(&["quote ship", "quote add-item"]);
}

#[test]
fn carts_set_to_a_state() {
    compare(&["quote set-item", "quote remove-item", "quote clear"]);
}

#[test]
fn orders() {
    compare(&["order update"]);
}

#[test]
fn attributes() {
    compare(&["attribute create", "attribute assign", "attribute option add", "attribute option default"]);
}

#[test]
fn products() {
    compare(&["product set"]);
}
