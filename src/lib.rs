//! `storefront`: storefront operations against a Magento-derived marketplace.
//!
//! Data flows one way: args ([`cli`]) → input → [`storefront_core`] → send → [`report`].

pub mod batch;
pub mod cli;
pub mod client;
pub mod commands;
pub mod completion;
pub mod config;
pub mod input;
pub mod journal;
pub mod ops;
pub mod prompt;
pub mod report;
#[cfg(test)]
mod simulation;
pub mod state;
pub mod system;

use std::borrow::Cow;
use std::process::ExitCode;

use clap::error::ErrorKind;
use cli::{GlobalArgs, GlobalFlags, OutputFormat};
use client::runtime::on_runtime;
use commands::{Cli, Command};
use report::Report;
use report::jq::Filter;
use storefront_core::failure::Failure;
use system::context::Context;

/// Runs the program with this process's arguments and surroundings.
pub fn run() -> ExitCode {
    let context = Context::capture();
    match completion::answer(&context, commands::grammar) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(_) => return ExitCode::FAILURE,
    }
    let cli = match Cli::parse_args(&context.arguments) {
        Ok(cli) => cli,
        Err(answer) => return print_clap_answer(&answer, &context),
    };
    match on_runtime(async { Ok(execute(&cli, &context).await) }) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            Report::new(&context, OutputFormat::Table, None, false, 0).failure(&failure);
            ExitCode::from(failure.kind.exit_code())
        }
    }
}

/// Runs the command of a command line; gives its exit code.
async fn execute(cli: &Cli, context: &Context) -> u8 {
    let flags = &cli.global;
    // Where a command is pasted later, the variable may not be set.
    let named = context.var(system::environment::PROFILE).ok().flatten().map(str::to_owned);
    let profile = flags.profile.clone().or(named).filter(|_| !flags.sandbox);
    let global = &GlobalArgs { profile, ..cli.shared.clone() };
    // What explains the program works whatever is set.
    let explains =
        matches!(cli.command, Command::Help { .. } | Command::Completions { .. } | Command::Man { .. });
    let format = match output_format(flags, context) {
        Err(_) if explains => Ok(OutputFormat::Table),
        format => format,
    };
    let filter = flags.jq.as_deref().map(Filter::compile).transpose();
    let shown = *format.as_ref().unwrap_or(&OutputFormat::Table);
    let mut report = Report::new(context, shown, flags.color, flags.quiet, flags.verbose);
    report.can_write = global.can_write;
    // There is one filter, and it lasts as long as the program.
    let filter =
        format.and(filter).map(|filter| report.filter = filter.map(|kept| &*Box::leak(Box::new(kept))));
    let result = match filter {
        Ok(()) => Box::pin(commands::run(cli, global, context, &report)).await,
        Err(failure) => Err(failure),
    };
    match result {
        Ok(()) => 0,
        Err(mut failure) => {
            failure.hint = failure.hint.map(|hint| report::hint_target::for_command(&hint, global));
            report.failure(&failure);
            failure.kind.exit_code()
        }
    }
}

/// Help and versions go to standard output with 0, bad usage to standard error with 2.
fn print_clap_answer(answer: &clap::Error, context: &Context) -> ExitCode {
    if answer.use_stderr() && asks_for_json(context) {
        let failure = clap_failure(answer);
        Report::new(context, OutputFormat::Json, None, false, 0).failure(&failure);
    } else if let text = answer.render().to_string()
        && let Cow::Owned(shown) = storefront_core::text::sanitize::sanitize(&text)
    {
        // It repeats what was typed, which a terminal would obey.
        Report::new(context, OutputFormat::Table, None, false, 0).laid_out(shown.trim_end());
    } else {
        let _ = answer.print();
    }
    ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2))
}

/// What clap says of a command line, as one line and a hint.
fn clap_failure(answer: &clap::Error) -> Failure {
    if answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("a command is missing").hint("see --help");
    }
    let text = answer.render().to_string();
    let paragraphs: Vec<String> =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let message = paragraphs.first().map_or("", |first| first.trim_start_matches("error: "));
    let tip = paragraphs.iter().find_map(|paragraph| paragraph.strip_prefix("tip: "));
    Failure::usage(message).hint(tip.unwrap_or("see --help"))
}

/// Whether arguments that cannot be parsed ask for JSON all the same.
fn asks_for_json(context: &Context) -> bool {
    let flags = GlobalFlags::find_in(context.arguments.get(1..).unwrap_or_default());
    output_format(&flags, context).is_ok_and(|format| format == OutputFormat::Json)
}

fn output_format(flags: &GlobalFlags, context: &Context) -> Result<OutputFormat, Failure> {
    match (flags.output, flags.jq.is_some()) {
        (Some(OutputFormat::Table), true) => {
            Err(Failure::usage("`--jq` cannot be used with `-o table`")
                .hint("leave out `--jq`, or use -o json"))
        }
        (_, true) => Ok(OutputFormat::Json),
        (Some(format), false) => Ok(format),
        (None, false) => match context.var(system::environment::OUTPUT)? {
            None | Some("table") => Ok(OutputFormat::Table),
            Some("json") => Ok(OutputFormat::Json),
            Some(other) => {
                Err(Failure::usage(format!("invalid STOREFRONT_OUTPUT `{other}`: expected table or json")))
            }
        },
    }
}
