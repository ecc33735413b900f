//! `storefront journal show`: what became of each record of a batch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use encoding_rs::Encoding;
use serde_json::json;

use crate::batch::{hash, key_of};
use crate::cli::InputArgs;
use crate::client::Session;
use crate::input::records::{self, Columns, Record, RecordReader, Source};
use crate::journal::read::{self, PreviousRun};
use crate::journal::{Header, State};
use crate::plan::Plan;
use crate::report::list::{Column, List};
use crate::report::summary::count_records;
use crate::system::storage::parent;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Dialect;
use storefront_core::operation::OperationSpec;

/// What `journal` can do.
#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// List the state and reason of each record of a batch
    #[command(after_help = "Examples:
  storefront journal show items.csv.journal
  storefront journal show items.csv.journal --csv > report.csv
  storefront journal show items.csv.journal --jq 'select(.state == \"failed\").key'")]
    Show(ShowArgs),
}

/// List the state and reason of each record of a batch, with its line and key where the input is next to the journal.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Journal of a batch
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print CSV
    #[arg(long)]
    pub csv: bool,
    /// Only records in this state: done, failed, failed-temporarily, sending, unknown, mismatch, not-sent
    #[arg(long, value_name = "STATE", num_args = 1.., hide_possible_values = true, value_parser =
        ["done", "failed", "failed-temporarily", "sending", "unknown", "mismatch", "not-sent", "failed temporarily", "not sent"])]
    pub state: Vec<String>,
}

/// Columns: title and field.
const COLUMNS: &[Column] = &[
    ("RECORD", "record"),
    ("LINE", "line"),
    ("KEY", "key"),
    ("STATE", "state"),
    ("", "status"),
    ("REASON", "reason"),
];

/// Runs `journal`.
///
/// # Errors
/// `usage` for a file that cannot be read, `guard` for one that is not a journal or is damaged.
pub fn run(session: &Session<'_>, command: &JournalCommand) -> Result<(), Failure> {
    match command {
        JournalCommand::Show(args) => show(session, args),
    }
}

fn show(session: &Session<'_>, args: &ShowArgs) -> Result<(), Failure> {
    let (header, past) = read(session, &args.file)?;
    if args.csv && session.report.is_json() {
        return Err(
            Failure::usage("`--csv` cannot be used with `-o json`").hint("leave out `--csv` or `-o json`")
        );
    }
    let mut list = List::new(session.report, COLUMNS, args.csv);
    let mut totals = BTreeMap::<&str, u64>::new();
    let operation: Vec<String> = header.operation.split(' ').map(str::to_owned).collect();
    let operation = OperationSpec::parse(&operation)?;
    let mut changed = 0;
    let mut input = input(session, &args.file, &header, operation)?;
    for number in 1.. {
        let record = input.as_mut().map(RecordReader::read).transpose()?.flatten();
        if record.is_none() && number > past.last() {
            break;
        }
        let known = past.known(number);
        // Records of other shards are not in the journal, and not missing in it.
        if known.state == State::NotSent && (record.is_none() || header.shard.is_some()) {
            continue;
        }
        // Of a line that was changed or moved nothing says whose state it is.
        let is_meant = |record: &Record| known.state == State::NotSent || known.hash == hash(&record.content);
        let was_read = input.is_some();
        let record = record.filter(is_meant);
        changed += u64::from(was_read && record.is_none());
        let (state, entry) = (known.state.name(), past.entry(known));
        *totals.entry(state).or_default() += 1;
        if args.state.is_empty() || args.state.iter().any(|wanted| wanted.replace('-', " ") == state) {
            list.add(json!({
                "record": number,
                "line": record.as_ref().map(|record| record.line),
                "key": record.and_then(|record| key_of(operation, &record, input.as_ref()?.columns())),
                "state": state,
                "status": entry.status,
                "reason": entry.reason,
            }))?;
        }
    }
    list.finish()?;
    if changed > 0 {
        session.report.warn(&format!(
            "{} changed in the input since, or moved: they have no line and no key here",
            count_records(changed)
        ));
    }
    if !args.csv {
        let counted: Vec<String> = totals.iter().map(|(state, total)| format!("{total} {state}")).collect();
        session.report.status(&format!("{}: {}", count_records(totals.values().sum()), counted.join(", ")));
    }
    Ok(())
}

fn read(session: &Session<'_>, path: &Path) -> Result<(Header, PreviousRun), Failure> {
    let unreadable =
        |error: std::io::Error| Failure::usage(format!("cannot read `{}`: {error}", path.display()));
    let not_a_journal = || Failure::guard(format!("`{}` is not a storefront journal", path.display()));
    let log = session.context.storage.open_log(path, false).map_err(unreadable)?;
    if !log.is_regular().map_err(unreadable)? {
        return Err(not_a_journal());
    }
    let header = read::header(&*log).map_err(unreadable)?.ok_or_else(not_a_journal)?;
    if let Some(version) = header.other_version() {
        return Err(Failure::guard(format!("`{}` {version}", path.display())));
    }
    Ok((header.clone(), read::read(path, &log, &header)?))
}

/// The input, where it is next to the journal.
fn input(
    session: &Session<'_>,
    journal: &Path,
    header: &Header,
    operation: &'static OperationSpec,
) -> Result<Option<RecordReader>, Failure> {
    let path = parent(journal).join(&header.input);
    // The name is what a file says, and must not lead elsewhere.
    if Path::new(&header.input).components().count() != 1 || !path.is_file() {
        return Ok(None);
    }
    let encoding = header.encoding.as_deref().and_then(|name| Encoding::for_label(name.as_bytes()));
    let input = InputArgs { path: Some(path), encoding, ..InputArgs::default() };
    let Some(mut source) = records::detect(&input)? else { return Ok(None) };
    if source.is_plan() {
        let (_, records) = Plan::read(&*session.context.storage, &source.path)?;
        source = Source::of_plan(&source.path, records.into_bytes());
    }
    // The one of the run, whatever is set now.
    let dialect = Dialect::named(&header.interface).unwrap_or(session.dialect);
    let columns = |titles: &csv::StringRecord| {
        // What a token command needed is not known here.
        let is_flag =
            |title: &&str| operation.flag_columns.iter().any(|(flag, _)| flag.eq_ignore_ascii_case(title));
        let all: Vec<String> =
            titles.iter().map(str::trim).filter(|title| !is_flag(title)).map(str::to_owned).collect();
        Columns::parse_header(&source.name(), dialect, operation, titles, &all)
    };
    RecordReader::open(&source, columns).map(Some)
}
