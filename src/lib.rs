//! `storefront`: edits customers, carts, orders, products and attributes of a Magento shop, or of a Magento-derived
//! marketplace.
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
pub mod log;
pub mod ops;
pub mod past;
pub mod plan;
pub mod prompt;
pub mod report;
pub mod state;
pub mod system;
pub mod write;

use std::borrow::Cow;
use std::sync::Arc;

use clap::error::ErrorKind;
use cli::hint::{for_command, service_flags};
use cli::{GlobalArgs, GlobalFlags, OutputFormat};
pub use client::Surroundings;
use client::runtime::on_runtime;
use commands::{Cli, Command};
use report::Report;
use report::jq::Filter;
use storefront_core::failure::Failure;
use system::context::Context;

/// Runs the program in this process, on the thread that signals interrupt, because a question waits there; returns its exit code.
pub fn run() -> u8 {
    let surroundings = Surroundings::of_process();
    match completion::answer(&surroundings.context, commands::grammar) {
        Ok(false) => {}
        Ok(true) => return 0,
        Err(_) => return 1,
    }
    on_runtime(async { Ok(run_with(&surroundings).await) }).unwrap_or_else(|failure| {
        Report::new(&surroundings.context, OutputFormat::Table, None, false, 0).failure(&failure);
        failure.kind.exit_code()
    })
}

/// Runs the program in these surroundings, on the caller's runtime; returns its exit code. It does not answer shell
/// completion.
pub async fn run_with(surroundings: &Surroundings) -> u8 {
    match Cli::parse_args(&surroundings.context.arguments) {
        Ok(cli) => match commands::resume::command_line(&cli, &surroundings.context) {
            Ok(Some(resumed)) => execute(&resumed, surroundings).await,
            Ok(None) => execute(&cli, surroundings).await,
            Err(mut failure) => {
                let context = &surroundings.context;
                let flags = &cli.global;
                let global = global_args(&cli, context);
                failure.hint = failure.hint.map(|hint| for_command(hint, &global));
                let format = output_format(flags, context).unwrap_or_default();
                Report::new(context, format, flags.color, flags.quiet, flags.verbose).failure(&failure);
                failure.kind.exit_code()
            }
        },
        Err(answer) => print_clap_answer(&answer, &surroundings.context),
    }
}

/// The flags of a command line besides the command's own arguments, with its profile.
fn global_args(cli: &Cli, context: &Context) -> GlobalArgs {
    // The variable may not be set where a printed command is pasted later.
    let named = context.var(system::environment::PROFILE).ok().flatten().map(str::to_owned);
    let profile = cli.global.profile.clone().or(named).filter(|_| !cli.global.sandbox);
    let mut global = GlobalArgs { profile, ..cli.shared.clone() };
    global.typed.service = service_flags(&global);
    global
}

/// Runs the command of a command line; returns its exit code.
async fn execute(cli: &Cli, surroundings: &Surroundings) -> u8 {
    let flags = &cli.global;
    let context = &surroundings.context;
    let global = &global_args(cli, context);
    // Commands that explain the program work with any settings.
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
    let result = match format.and(filter) {
        Ok(filter) => {
            report.filter = filter.map(Arc::new);
            Box::pin(commands::run(cli, global, surroundings, &report)).await
        }
        Err(failure) => Err(failure),
    };
    match result {
        Ok(()) => 0,
        Err(mut failure) => {
            failure.hint = failure.hint.map(|hint| for_command(hint, global));
            report.failure(&failure);
            failure.kind.exit_code()
        }
    }
}

/// Help and versions go to standard output with 0, bad usage to standard error with 2.
fn print_clap_answer(answer: &clap::Error, context: &Context) -> u8 {
    if answer.use_stderr() && asks_for_json(context) {
        let failure = clap_failure(answer);
        Report::new(context, OutputFormat::Json, None, false, 0).failure(&failure);
    } else if let text = answer.render().to_string()
        && let Cow::Owned(shown) = storefront_core::text::sanitize::sanitize(&text)
    {
        // The text repeats what was typed, which a terminal would obey.
        Report::new(context, OutputFormat::Table, None, false, 0).laid_out(shown.trim_end());
    } else {
        let _ = answer.print();
    }
    u8::try_from(answer.exit_code()).unwrap_or(2)
}

/// The message of clap about a command line, as one line and a hint.
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

/// Whether arguments that cannot be parsed ask for JSON.
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
