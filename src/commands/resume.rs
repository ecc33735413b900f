//! `storefront resume`: continues a batch, with the arguments that it was started with.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use clap::Args;

use super::{Cli, Command};
use crate::cli::hint::service_flags;
use crate::cli::lines::Lines;
use crate::cli::{ConfirmArgs, PaceArgs};
use crate::journal::JournalHeader;
use crate::log::{LoggedRun, RunId, WriteLog};
use crate::system::context::Context;
use crate::system::storage::real_path;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, HintCommand, hint, storefront};

/// Flags of the command that began the batch that `resume` does not repeat.
const NOT_REPEATED: [&str; 16] = [
    "--resume",
    "--restart",
    "--start",
    "--retry-unknown",
    "--retry-failed",
    "--mark-done",
    "--yes",
    "--dry-run",
    "--curl",
    "--plan",
    "--expires",
    "--after-unknown",
    "--fault",
    "--no-input",
    "--quiet",
    "--verbose",
];

/// The flags of the output: only those of `resume` count.
const OF_OUTPUT: [&str; 3] = ["--output", "--jq", "--color"];

/// Flags of `resume`.
#[derive(Debug, Args)]
#[command(
    after_help = "It repeats the arguments that the batch was started with; what is done is not sent again.

Examples:
  storefront resume items.csv.journal
  storefront resume items.csv.journal --dry-run
  storefront resume 1 --retry-failed"
)]
pub struct ResumeArgs {
    /// Batch: its ID, its journal, or `latest`
    #[arg(value_name = "ID|JOURNAL|latest")]
    pub batch: Option<String>,
    /// Standard input, where the batch had it: -
    #[arg(short, long, value_name = "-", value_parser = ["-"])]
    pub input: Option<String>,
    /// Also resend unknown records, all or those in LINES
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true)]
    pub retry_unknown: Option<Option<Lines>>,
    /// Also resend failed records as they are, all or those in LINES
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true)]
    pub retry_failed: Option<Option<Lines>>,
    /// Note unknown or failed records in LINES as done
    #[arg(long, value_name = "LINES")]
    pub mark_done: Option<Lines>,
    /// Continue even if an earlier unknown update may still take effect
    #[arg(long)]
    pub after_unknown: bool,
    /// Show what would be sent, and list all others; send nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// The flags of every command that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

impl ResumeArgs {
    /// The flags of `resume`, as the command of the batch takes them.
    fn words(&self) -> Vec<String> {
        let retried = [("--retry-unknown", &self.retry_unknown), ("--retry-failed", &self.retry_failed)];
        let retried = retried.into_iter().filter_map(|(flag, lines)| {
            let lines = lines.as_ref()?.as_ref().map(|lines| format!("={lines}"));
            Some(format!("{flag}{}", lines.unwrap_or_default()))
        });
        let others = [
            self.mark_done.as_ref().map(|lines| format!("--mark-done={lines}")),
            self.pace.jobs.map(|jobs| format!("--jobs={jobs}")),
            self.pace.rate.map(|rate| format!("--rate={}", rate.per_second)),
            self.after_unknown.then(|| "--after-unknown".to_owned()),
            self.dry_run.then(|| "--dry-run".to_owned()),
            self.confirm.yes.then(|| "--yes".to_owned()),
        ];
        retried.chain(others.into_iter().flatten()).collect()
    }
}

/// The command line that continues a batch; `None` if this is not `resume`. The working directory becomes that of the
/// batch, for the paths in its command.
///
/// # Errors
/// `usage` for a batch that is not known, and `guard` where the log cannot be read.
pub fn command_line(cli: &Cli, context: &Context) -> Result<Option<Cli>, Failure> {
    let Command::Resume(args) = &cli.command else { return Ok(None) };
    let (run, journal) = find(args, context)?;
    let stored: Vec<OsString> =
        ["storefront"].into_iter().chain(run.arguments.iter().map(String::as_str)).map(Into::into).collect();
    let unusable = |why: &str| {
        let message = format!("the command that began batch {} cannot be repeated: {why}", run.id);
        Failure::usage(message).hint("run that command again with its --input and --resume")
    };
    let begun = Cli::parse_args(&stored).map_err(|_| unusable("its arguments are not understood"))?;
    let mut line = begun.shared.typed.without(&NOT_REPEATED).without(&OF_OUTPUT);
    line = match (&begun.command, begun.command.operation()) {
        (Command::Apply(_), _) => line,
        (Command::Review(review), _) => {
            let file = review.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
            crate::cli::command_line::CommandLine::of_words(vec!["apply".to_owned(), file])
        }
        (_, Some(_)) => line.with(vec!["--resume".to_owned()]),
        (_, None) => return Err(unusable("it was no batch")),
    };
    let is_of_stdin = begun.shared.input.path.as_deref() == Some(Path::new("-"));
    match (is_of_stdin, &args.input) {
        (true, None) => return Err(unusable("its input was standard input").hint("give it again with -i -")),
        (false, Some(_)) => return Err(unusable("its input was a file").hint("leave out -i")),
        (true, Some(_)) => line = line.without(&["--journal"]).with(vec![format!("--journal={journal}")]),
        (false, None) => {}
    }
    let given = [args.pace.jobs.map(|_| "--jobs"), args.pace.rate.map(|_| "--rate")];
    line = line.without(&given.into_iter().flatten().collect::<Vec<_>>()).with(args.words());
    let named = service_flags(&cli.shared);
    let before = service_flags(&begun.shared);
    let profile = run.profile.iter().flat_map(|profile| ["-p".to_owned(), profile.clone()]);
    line.service = match (named.is_empty(), before.is_empty()) {
        (false, _) => named,
        (true, false) => before,
        (true, true) => profile.collect(),
    };
    if let Some(directory) = run.journal.as_ref().and_then(|(_, header)| header.get("directory")?.as_str()) {
        std::env::set_current_dir(directory)
            .map_err(|error| unusable(&format!("its directory `{directory}`: {error}")))?;
    }
    let words: Vec<OsString> = line.words().into_iter().map(Into::into).collect();
    let resumed = Cli::parse_args(&words).map_err(|_| unusable("its arguments are not understood"))?;
    Ok(Some(resumed.with_output_of(cli)))
}

/// The hint to continue a journal that this machine does not know: its header names the command.
fn of_another_machine(journal: &Path) -> Option<Hint> {
    const LONGEST: u64 = 1 << 16;
    let mut first = String::new();
    BufReader::new(File::open(journal).ok()?.take(LONGEST)).read_line(&mut first).ok()?;
    let header: JournalHeader = serde_json::from_str(&first).ok()?;
    let is_of_file = !header.operation.is_empty() && header.input != "-";
    let input = journal.with_file_name(&header.input).display().to_string();
    let command = is_of_file
        .then(|| HintCommand::of(header.operation.split(' ')).arg("--input").arg(input).arg("--resume"));
    Some(hint!("continue the journal of another machine with ", command?))
}

/// The run that is named, with its journal.
fn find(args: &ResumeArgs, context: &Context) -> Result<(LoggedRun, String), Failure> {
    let named = args.batch.as_deref();
    let unknown = |what: String| {
        let elsewhere = named.and_then(|name| of_another_machine(Path::new(name)));
        let listed = || hint!(storefront("history"), " lists the batches of this machine");
        Failure::usage(what).hint(elsewhere.unwrap_or_else(listed))
    };
    let log =
        WriteLog::to_read(context)?.ok_or_else(|| unknown("no batch of this machine is known".into()))?;
    let is_script = !context.stdin_is_terminal;
    let runs = log.runs_with_journals()?;
    let found = match named {
        None | Some("latest") if is_script => {
            let message = "which batch is resumed has to be named where nobody can be asked";
            return Err(unknown(message.to_owned()));
        }
        None | Some("latest") => runs.into_iter().next(),
        Some(id) if id.bytes().all(|byte| byte.is_ascii_digit()) => {
            let named = id.parse().ok().map(|id| log.run(RunId(id))).transpose()?.flatten();
            let journal = named.and_then(|run| run.journal);
            journal.and_then(|(journal, _)| runs.into_iter().find(|run| run.is_over(&journal)))
        }
        Some(path) => {
            let journal = real_path(Path::new(path)).to_string_lossy().into_owned();
            runs.into_iter().find(|run| run.is_over(&journal))
        }
    };
    let run = found.ok_or_else(|| {
        unknown(match named {
            Some(name) => format!("`{name}` is no batch that this machine knows"),
            None => "no batch of this machine is known".to_owned(),
        })
    })?;
    let journal = run.journal.as_ref().map(|(journal, _)| journal.clone()).unwrap_or_default();
    Ok((run, journal))
}
