//! Lists the records of batches and what became of each.

use std::collections::BTreeMap;

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::batch::listing::Listing;
use crate::journal::State;
use crate::report::Report;
use crate::report::changes::second;
use crate::report::list::{Column, List};
use crate::report::summary::count_records;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};

/// Which records of a batch are listed, and how.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Batch options")]
pub struct RecordArgs {
    /// Of a batch: only records in this state: done, failed, failed-temporarily, sending, unknown, mismatch, declined, not-sent
    #[arg(long, value_name = "STATE", num_args = 1.., hide_possible_values = true, value_parser =
        ["done", "failed", "failed-temporarily", "sending", "unknown", "mismatch", "declined", "not-sent", "failed temporarily", "not sent"])]
    pub state: Vec<String>,
    /// Of a batch: print CSV
    #[arg(long)]
    pub csv: bool,
    /// Of a batch: print the records as they stand in the input, each with its reason
    #[arg(long, conflicts_with = "csv")]
    pub rows: bool,
}

impl RecordArgs {
    /// Whether records in this state are shown.
    fn takes(&self, state: State) -> bool {
        self.state.is_empty() || self.state.iter().any(|wanted| wanted.replace('-', " ") == state.name())
    }

    /// Refuses them if no batch is named.
    ///
    /// # Errors
    /// `usage`, with the flag.
    pub fn refuse(&self) -> Result<(), Failure> {
        let flags = [("--state", !self.state.is_empty()), ("--csv", self.csv), ("--rows", self.rows)];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(Failure::usage(format!("`{flag}` is for the records of a batch"))
                .hint(hint!("name a batch: ", storefront("history"), " lists them"))),
            None => Ok(()),
        }
    }
}

/// Columns: title and field.
const COLUMNS: &[Column] = &[
    ("LINE", "line"),
    ("KEY", "key"),
    ("STATE", "state"),
    ("TIME", "time"),
    ("", "status"),
    ("REASON", "reason"),
];

/// Lists the records of journals.
///
/// # Errors
/// `usage` for flags that do not go together; those of the inputs.
pub fn list(report: &Report, args: &RecordArgs, listings: &[Listing<'_>]) -> Result<(), Failure> {
    if args.csv && report.is_json() {
        return Err(
            Failure::usage("`--csv` cannot be used with `-o json`").hint("leave out `--csv` or `-o json`")
        );
    }
    if args.rows {
        return rows(report, args, listings);
    }
    let mut list = List::new(report, COLUMNS, args.csv);
    let zone = TimeZone::system();
    let is_for_people = !args.csv && !report.is_json();
    let mut totals = BTreeMap::<&str, u64>::new();
    let mut lost = 0;
    for listing in listings {
        listing.rows(listings, |row| {
            let state = row.state.name();
            lost += u64::from(row.is_lost);
            *totals.entry(state).or_default() += 1;
            if !args.takes(row.state) {
                return Ok(());
            }
            let time = row.entry.time.map(|time| if is_for_people { second(&time, &zone) } else { time });
            list.add(json!({
                "line": row.line,
                "key": row.key,
                "state": state,
                "time": time,
                "status": row.entry.status,
                "reason": row.entry.reason,
            }))
        })?;
    }
    list.finish()?;
    if lost > 0 {
        report.warn(&format!(
            "{} changed in the input since, or removed: they have no key here",
            count_records(lost)
        ));
    }
    if are_of_several_copies(listings) {
        report.warn("the journals are of different copies of the input: a record may be in none or in two");
    }
    if !args.csv {
        let counted: Vec<String> = totals.iter().map(|(state, total)| format!("{total} {state}")).collect();
        report.status(&format!("{}: {}", count_records(totals.values().sum()), counted.join(", ")));
    }
    Ok(())
}

/// Prints the records of one journal as they are in its input.
fn rows(report: &Report, args: &RecordArgs, listings: &[Listing<'_>]) -> Result<(), Failure> {
    match listings {
        _ if report.is_json() => {
            Err(Failure::usage("`--rows` cannot be used with `-o json`")
                .hint("leave out `--rows` or `-o json`"))
        }
        [listing] => listing.print_rows(report, |row| args.takes(row.state)),
        _ => Err(Failure::usage("`--rows` is for one journal").hint("name one journal at a time")),
    }
}

/// Whether runs over one input read different bytes.
fn are_of_several_copies(listings: &[Listing<'_>]) -> bool {
    let copies = |listing: &Listing<'_>| (listing.header.input.clone(), listing.header.sha256.clone());
    let mut first = BTreeMap::new();
    listings.iter().map(copies).any(|(input, sha256)| {
        sha256.is_some_and(|sha256| *first.entry(input).or_insert_with(|| sha256.clone()) != sha256)
    })
}
