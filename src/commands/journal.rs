//! `storefront journal`: the batches of this machine, and what became of each of their records.

pub mod after;
pub mod list;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use serde_json::json;

use self::after::{UndoArgs, VerifyArgs};
use self::list::ListArgs;
use crate::batch::listing::Listing;
use crate::client::Session;
use crate::journal::State;
use crate::journal::known::known_runs;
use crate::plan::is_there;
use crate::report::Report;
use crate::report::changes::second;
use crate::report::list::{Column, List};
use crate::report::summary::count_records;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};

/// What `journal` can do.
#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// List the batches of this machine, newest first
    #[command(after_help = "Examples:
  storefront journal list
  storefront journal list --limit 5
  storefront journal list --jq 'select(.unknown > 0).journal'")]
    List(ListArgs),
    /// List the state and reason of each record of a batch
    #[command(after_help = "Examples:
  storefront journal show items.csv.journal
  storefront journal show latest --csv > report.csv
  storefront journal show items.csv.journal --jq 'select(.state == \"failed\").key'")]
    Show(ShowArgs),
    /// Compare what each record of a batch wrote with what the shop has now
    Verify(VerifyArgs),
    /// Plan how to set back what a batch changed, where it still is so
    Undo(UndoArgs),
}

/// List the state and reason of each record of a batch, with its line and key where the input is next to the journal.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Journals of batches, such as those of all shards, or `latest`
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print CSV
    #[arg(long)]
    pub csv: bool,
    /// Print the records as they stand in the input, each with its reason
    #[arg(long, conflicts_with = "csv")]
    pub rows: bool,
    /// Only records in this state: done, failed, failed-temporarily, sending, unknown, mismatch, declined, not-sent
    #[arg(long, value_name = "STATE", num_args = 1.., hide_possible_values = true, value_parser =
        ["done", "failed", "failed-temporarily", "sending", "unknown", "mismatch", "declined", "not-sent", "failed temporarily", "not sent"])]
    pub state: Vec<String>,
}

impl ShowArgs {
    /// Whether records in this state are shown.
    fn takes(&self, state: State) -> bool {
        self.state.is_empty() || self.state.iter().any(|wanted| wanted.replace('-', " ") == state.name())
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

/// Runs `journal`.
///
/// # Errors
/// `usage` for a file that cannot be read, `guard` for one that is not a journal or is damaged.
pub async fn run(session: &Session<'_>, command: &JournalCommand) -> Result<(), Failure> {
    match command {
        JournalCommand::List(args) => list::run(session, args),
        JournalCommand::Show(args) => show(session, args),
        JournalCommand::Verify(args) => after::verify(session, args).await,
        JournalCommand::Undo(args) => after::undo(session, args).await,
    }
}

/// The word for the journal of the batch that began last. A file of this name is `./latest`.
const LATEST: &str = "latest";

/// Reads the journal in a file, or the latest of this machine.
fn read<'a>(session: &'a Session<'a>, file: &Path) -> Result<Listing<'a>, Failure> {
    if file != Path::new(LATEST) {
        return Listing::read(session, file);
    }
    let Some(newest) = known_runs(session.context)?.into_iter().next() else {
        return Err(Failure::usage("no batch of this machine is known").hint("name the file of a journal"));
    };
    session.report.status(&format!("journal {}", newest.path.display()));
    if !is_there(&*session.context.storage, &newest.path) {
        let message = format!("the latest journal `{}` was moved or deleted", newest.path.display());
        return Err(Failure::usage(message).hint(hint!(storefront("journal list"), " lists the others")));
    }
    Listing::read(session, &newest.path)
}

/// Lists the records of journals.
///
/// # Errors
/// As [`run`].
pub fn show(session: &Session<'_>, args: &ShowArgs) -> Result<(), Failure> {
    let report = session.report;
    if args.csv && report.is_json() {
        return Err(
            Failure::usage("`--csv` cannot be used with `-o json`").hint("leave out `--csv` or `-o json`")
        );
    }
    let listings = args.files.iter().map(|file| read(session, file));
    let listings = listings.collect::<Result<Vec<_>, _>>()?;
    if args.rows {
        return rows(report, args, &listings);
    }
    let mut list = List::new(report, COLUMNS, args.csv);
    let (zone, is_for_people) = (TimeZone::system(), !args.csv && !report.is_json());
    let mut totals = BTreeMap::<&str, u64>::new();
    let mut lost = 0;
    for listing in &listings {
        listing.rows(&listings, |row| {
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
    if are_of_several_copies(&listings) {
        report.warn("the journals are of different copies of the input: a record may be in none or in two");
    }
    if !args.csv {
        let counted: Vec<String> = totals.iter().map(|(state, total)| format!("{total} {state}")).collect();
        report.status(&format!("{}: {}", count_records(totals.values().sum()), counted.join(", ")));
    }
    Ok(())
}

/// Prints the records of one journal as they stand in its input.
fn rows(report: &Report, args: &ShowArgs, listings: &[Listing<'_>]) -> Result<(), Failure> {
    match listings {
        _ if report.is_json() => {
            Err(Failure::usage("`--rows` cannot be used with `-o json`")
                .hint("leave out `--rows` or `-o json`"))
        }
        [listing] => listing.print_rows(report, |row| args.takes(row.state)),
        _ => Err(Failure::usage("`--rows` is for one journal").hint("name one journal at a time")),
    }
}

/// Whether runs over one input were not over the same bytes.
fn are_of_several_copies(listings: &[Listing<'_>]) -> bool {
    let copies = |listing: &Listing<'_>| (listing.header.input.clone(), listing.header.sha256.clone());
    let mut first = BTreeMap::new();
    listings.iter().map(copies).any(|(input, sha256)| {
        sha256.is_some_and(|sha256| *first.entry(input).or_insert_with(|| sha256.clone()) != sha256)
    })
}
