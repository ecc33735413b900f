//! Flags that several commands take, and which command takes which.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{GlobalArgs, InputFormat, duration, number};
use crate::plan::operation::Operation;
use crate::sandbox::Fault;

/// Flags that are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    InputFile,
    InputFields,
    DryRun,
    Confirmation,
    Request,
    Faults,
}

use Group::{Confirmation, DryRun, Faults, InputFields, InputFile, Request};

/// What every operation takes.
const OPERATION: &[Group] = &[InputFile, InputFields, DryRun, Confirmation, Request, Faults];
/// What a read takes.
const READ: &[Group] = &[Request, Faults];

/// A command by its words, and the groups that it takes; a command that is not named, and no operation, takes none.
const COMMANDS: &[(&str, &[Group])] = &[
    ("quote show", READ),
    ("quote methods", READ),
    ("customer restore", &[DryRun, Confirmation, Request, Faults]),
    ("customer show", READ),
    ("customer find", READ),
    ("customer history", &[Confirmation, Request, Faults]),
    ("attribute show", READ),
    ("api", &[InputFile, DryRun, Request, Faults]),
    ("auth login", &[Request, Faults]),
    ("auth status", &[Request, Faults]),
    ("config init", &[Confirmation]),
    ("doctor", READ),
    ("sandbox serve", &[Faults]),
];

#[derive(Debug, Args)]
#[command(next_help_heading = "Input options")]
struct InputFileArgs {
    /// Read input from FILE (JSON, NDJSON or CSV; - for stdin)
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input options")]
struct InputFieldArgs {
    /// Input format: json, ndjson or csv [default: from the file extension]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    input_format: Option<InputFormat>,
    /// Send unknown fields unchanged
    #[arg(long)]
    allow_unknown: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Request options")]
struct DryRunArgs {
    /// Show the request without sending it
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// With --dry-run: print a curl command
    #[arg(long)]
    curl: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Request options")]
struct ConfirmationArgs {
    /// Answer yes to confirmations
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Request options")]
struct RequestArgs {
    /// Request timeout, such as 30, 500ms or 1m [default: 30]
    #[arg(long, value_name = "DURATION", value_parser = duration::positive)]
    timeout: Option<Duration>,
    /// Retries for requests that are safe to repeat [default: 2]
    #[arg(long, value_name = "N", value_parser = number::integer::<u32>)]
    retry: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Request options")]
struct FaultArgs {
    /// Inject a fault into the sandbox
    #[arg(long, value_name = "FAULT", help = FAULT_HELP)]
    fault: Vec<Fault>,
}

/// The kinds are listed once, by the command that serves the sandbox.
const FAULT_HELP: &str =
    "Inject a fault into the sandbox (repeatable); `storefront sandbox serve --help` lists the kinds";

fn fault_kinds() -> String {
    let kinds = crate::sandbox::fault_kinds();
    format!("Inject a fault: [METHOD:]KIND[=VALUE][@PERCENT][xTIMES] (repeatable). Kinds: {kinds}")
}

fn groups(words: &str) -> &'static [Group] {
    if Operation::ALL.into_iter().any(|operation| operation.name() == words) {
        return OPERATION;
    }
    COMMANDS.iter().find(|(known, _)| *known == words).map_or(&[], |(_, groups)| groups)
}

/// The command with the flags that it takes; `words` are its own, such as `quote ship`.
pub fn added_to(command: Command, words: &str) -> Command {
    groups(words).iter().fold(command, |command, group| match group {
        InputFile => InputFileArgs::augment_args(command),
        InputFields => InputFieldArgs::augment_args(command),
        DryRun => DryRunArgs::augment_args(command),
        Confirmation => ConfirmationArgs::augment_args(command),
        Request => RequestArgs::augment_args(command),
        Faults => match FaultArgs::augment_args(command) {
            command if words == "sandbox serve" => command.mut_arg("fault", |flag| flag.help(fault_kinds())),
            command => command,
        },
    })
}

/// Puts the flags of the command that was given into `global`.
///
/// # Errors
/// What clap says of a value; there is none that it has not said before.
pub fn read(matches: &ArgMatches, global: &mut GlobalArgs) -> Result<(), clap::Error> {
    let (mut words, mut command) = (String::new(), matches);
    while let Some((name, inner)) = command.subcommand() {
        words = if words.is_empty() { name.to_owned() } else { words + " " + name };
        command = inner;
    }
    let customer = command.try_get_one::<String>("customer");
    global.takes_customer = customer.is_ok();
    global.customer = customer.ok().flatten().cloned();
    // Each group takes its flags out; from a shared one each would make a copy of all. This process ends soon, and
    // need not take the copy apart.
    let mut command = ManuallyDrop::new(command.clone());
    for group in groups(&words) {
        match group {
            InputFile => global.input = InputFileArgs::from_arg_matches_mut(&mut command)?.input,
            InputFields => {
                let args = InputFieldArgs::from_arg_matches_mut(&mut command)?;
                (global.input_format, global.allow_unknown) = (args.input_format, args.allow_unknown);
            }
            DryRun => {
                let args = DryRunArgs::from_arg_matches_mut(&mut command)?;
                (global.dry_run, global.curl) = (args.dry_run, args.curl);
                // What can be tried without a write is what writes.
                global.can_write = !args.dry_run;
            }
            Confirmation => global.yes = ConfirmationArgs::from_arg_matches_mut(&mut command)?.yes,
            Request => {
                let args = RequestArgs::from_arg_matches_mut(&mut command)?;
                (global.timeout, global.retry) = (args.timeout, args.retry);
            }
            Faults => global.fault = FaultArgs::from_arg_matches_mut(&mut command)?.fault,
        }
    }
    Ok(())
}
