//! `storefront apply`: carries out a plan that `--plan` wrote.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;

use super::Cli;
use crate::batch;
use crate::cli::lines::Lines;
use crate::cli::{BatchArgs, ConfirmArgs, GlobalArgs, InputArgs, PaceArgs, RequestArgs, plan_file};
use crate::client::Session;
use crate::input::records::Source;
use crate::plan::{PLAN_AGAIN, Plan};
use storefront_core::failure::Failure;

/// Flags of `apply`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  storefront customer update --sandbox --gender 1 --plan a && storefront apply a --sandbox
  storefront customer update --sandbox --gender 1 --plan b && storefront apply b -n --sandbox
  storefront customer update --sandbox --gender 1 --plan c && storefront apply c --only 1 --sandbox")]
pub struct ApplyArgs {
    /// Plan that --plan wrote
    #[arg(value_name = "PLAN", value_parser = plan_file())]
    pub file: PathBuf,
    /// Apply only these records of the plan, such as 3,7-12
    #[arg(long, value_name = "RECORDS")]
    pub only: Option<Lines>,
    /// Check the plan against the service without sending anything
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// What every command takes that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Also resend unknown records, all or those in RECORDS
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true)]
    pub retry_unknown: Option<Option<Lines>>,
    /// Also resend failed records as they are, all or those in RECORDS
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true)]
    pub retry_failed: Option<Option<Lines>>,
    /// Note unknown or failed records in RECORDS as done
    #[arg(long, value_name = "RECORDS")]
    pub mark_done: Option<Lines>,
    /// Stop at the first failure
    #[arg(long)]
    pub stop_on_error: bool,
    /// A plan that was started is always resumed; hints about records name the flag.
    #[arg(long, hide = true)]
    pub resume: bool,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Reads a plan and runs it as a batch.
///
/// # Errors
/// As [`Plan::read`] and [`batch::run`].
pub async fn run(session: &Session<'_>, args: &ApplyArgs) -> Result<(), Failure> {
    let (mut plan, records) = Plan::read(&*session.context.storage, &args.file)?;
    let count = plan.header.records;
    let named = args.only.iter().flat_map(Lines::ranges).map(RangeInclusive::end);
    if let Some(number) = named.copied().find(|number| *number > count) {
        return Err(Failure::usage(format!("the plan has no record {number}: it has {count}")));
    }
    plan.only.clone_from(&args.only);
    let batch = BatchArgs {
        retry_unknown: args.retry_unknown.clone(),
        retry_failed: args.retry_failed.clone(),
        mark_done: args.mark_done.clone(),
        stop_on_error: args.stop_on_error,
        ..BatchArgs::default()
    };
    carry_out(session, &plan, records, batch).await
}

/// Runs the operation of a plan over its `records`, which are the lines of its file.
///
/// # Errors
/// As [`batch::run`], and `guard` for an operation that this version does not know.
pub async fn carry_out(
    session: &Session<'_>,
    plan: &Plan,
    records: String,
    batch: BatchArgs,
) -> Result<(), Failure> {
    let words = ["storefront"].into_iter().chain(plan.header.operation.split(' '));
    let words = words.chain(plan.header.options.iter().map(String::as_str)).map(OsString::from);
    let planned = Cli::parse_args(&words.collect::<Vec<_>>()).ok();
    let operation =
        planned.as_ref().and_then(|cli| Some((cli.command.operation()?, cli.shared.input.allow_unknown)));
    let Some((operation, allow_unknown)) = operation else {
        let message = "the plan has an operation that this version does not know";
        return Err(Failure::guard(message).hint(PLAN_AGAIN));
    };
    let input = InputArgs { allow_unknown, ..InputArgs::default() };
    // One that was started is always resumed.
    let batch = BatchArgs { resume: true, ..batch };
    let global = GlobalArgs { input, batch, ..session.global.clone() };
    let session = Session { global: &global, ..*session };
    let source = Source::of_plan(&plan.path, records.into_bytes());
    batch::run(&session, source, operation, Some(plan)).await
}
