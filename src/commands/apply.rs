//! `storefront apply`: carries out a plan that `--plan` wrote.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Cli;
use crate::batch;
use crate::cli::{BatchArgs, ConfirmArgs, GlobalArgs, InputArgs, Rate, RequestArgs, plan_file};
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
    /// Apply only these records of the plan, by number
    #[arg(long, value_name = "RECORD", num_args = 1..)]
    pub only: Vec<u64>,
    /// Check the plan against the service without sending anything
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// What every command takes that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// Records to process concurrently [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub jobs: Option<u16>,
    /// Maximum rate: N/s, N/m or N/h
    #[arg(long, value_name = "N/s")]
    pub rate: Option<Rate>,
    /// Also resend unknown records, all or those in RECORDS
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    pub retry_unknown: Option<Vec<u64>>,
    /// Note unknown or failed records in RECORDS as done
    #[arg(long, value_name = "RECORDS", value_delimiter = ',')]
    pub mark_done: Vec<u64>,
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
    if let Some(number) = args.only.iter().find(|number| !(1..=count).contains(number)) {
        return Err(Failure::usage(format!("the plan has no record {number}: it has {count}")));
    }
    plan.only.clone_from(&args.only);
    let batch = BatchArgs {
        jobs: args.jobs,
        rate: args.rate,
        retry_unknown: args.retry_unknown.clone(),
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
