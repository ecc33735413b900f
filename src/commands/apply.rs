//! `storefront apply`: carries out a plan that `--plan` wrote.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;

use super::{Cli, Command};
use crate::batch::{self, origin::Origin};
use crate::cli::lines::Lines;
use crate::cli::{
    BatchArgs, ConfirmArgs, GlobalArgs, InputArgs, PaceArgs, ReplacementArgs, RequestArgs, plan_file,
};
use crate::client::Session;
use crate::log::WriteLog;
use crate::ops::Operation;
use crate::past::planned::{UndoPlan, is_to};
use crate::plan::{PLAN_AGAIN, Plan};
use storefront_core::effect::Kind;
use storefront_core::failure::Failure;
use storefront_core::operation::{CUSTOMER_UPDATE, UNDO};

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
    /// The flags of every command that asks.
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
    /// Continue even if an earlier unknown update may still take effect
    #[arg(long)]
    pub after_unknown: bool,
    /// Stop at the first failure
    #[arg(long)]
    pub stop_on_error: bool,
    /// A plan that was started is always resumed; hints about records name the flag.
    #[arg(long, hide = true)]
    pub resume: bool,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Reads a plan and runs it as a batch.
///
/// # Errors
/// As [`Plan::read`] and [`batch::run`].
pub async fn run(session: &Session<'_>, args: &ApplyArgs) -> Result<(), Failure> {
    let context = session.context;
    let mut plan = Plan::read(&*context.storage, &context.directories()?.state, &args.file)?;
    let count = plan.header.records;
    let named = args.only.iter().flat_map(Lines::ranges).map(RangeInclusive::end);
    if let Some(number) = named.copied().find(|number| *number > count) {
        return Err(Failure::usage(format!("the plan has no record {number}: it has {count}")));
    }
    plan.only.clone_from(&args.only);
    if args.after_unknown {
        let is_undo = plan.header.operation == UNDO.name
            && plan.first.as_ref().is_some_and(|first| is_to(first, Kind::Customer));
        if plan.header.operation != CUSTOMER_UPDATE.name && !is_undo {
            return Err(Failure::usage("`--after-unknown` is for plans that change profiles")
                .hint("leave out `--after-unknown`"));
        }
        plan.header.options.push("--after-unknown".to_owned());
    }
    let batch = BatchArgs {
        retry_unknown: args.retry_unknown.clone(),
        retry_failed: args.retry_failed.clone(),
        mark_done: args.mark_done.clone(),
        stop_on_error: args.stop_on_error,
        ..BatchArgs::default()
    };
    carry_out(session, &plan, batch).await
}

/// Runs the operation of a plan over its records.
///
/// # Errors
/// As [`batch::run`], and `guard` for an operation that this version does not know.
pub async fn carry_out(session: &Session<'_>, plan: &Plan, batch: BatchArgs) -> Result<(), Failure> {
    if plan.header.operation == UNDO.name {
        ensure_of_this_log(session, plan)?;
    }
    let recorded = RecordedCommand::new(&plan.header.operation, &plan.header.options, Some(plan));
    let Some(operation) = recorded.operation() else {
        let message = "the plan has an operation that this version does not know";
        return Err(Failure::guard(message).hint(PLAN_AGAIN));
    };
    let allow_unknown = recorded.command.as_ref().is_some_and(|cli| cli.shared.input.allow_unknown);
    let input = InputArgs { allow_unknown, ..InputArgs::default() };
    // A plan that was started is always resumed.
    let batch = BatchArgs { resume: true, ..batch };
    let global = GlobalArgs { input, batch, ..session.global.clone() };
    let session = Session { global: &global, ..*session };
    batch::run(&session, Origin::of_plan(plan.clone()), operation).await
}

/// The command of a plan or a journal.
pub struct RecordedCommand {
    command: Option<Cli>,
    undo: UndoPlan,
    is_undo: bool,
}

impl RecordedCommand {
    /// The command of these words and flags; for an undo, the plan tells whose token it carries.
    pub fn new(operation: &str, flags: &[String], plan: Option<&Plan>) -> Self {
        let words = ["storefront"].into_iter().chain(operation.split(' '));
        let words = words.chain(flags.iter().map(String::as_str)).map(OsString::from);
        let first = plan.and_then(|plan| plan.first.as_ref());
        let command = Cli::parse_args(&words.collect::<Vec<_>>()).ok();
        let replacement = match command.as_ref().map(|cli| &cli.command) {
            Some(Command::Undo(args)) => args.replacement.clone(),
            _ => ReplacementArgs::default(),
        };
        Self { command, undo: UndoPlan::of(first, replacement), is_undo: operation == UNDO.name }
    }

    /// The operation; `None` if this version does not know it.
    pub fn operation(&self) -> Option<&dyn Operation> {
        if self.is_undo { Some(&self.undo) } else { self.command.as_ref()?.command.operation() }
    }
}

/// Refuses a plan that undoes writes of another machine: its IDs name other writes here.
fn ensure_of_this_log(session: &Session<'_>, plan: &Plan) -> Result<(), Failure> {
    let run = plan.header.undoes.iter().filter_map(|undoes| undoes.run.clone()).collect::<Vec<_>>();
    let log = WriteLog::to_read(session.context)?;
    let known = log.map(|log| log.known_runs(&run)).transpose()?.unwrap_or(0);
    if known > 0 {
        return Ok(());
    }
    let message = "what the plan takes back is not in the log of this machine";
    Err(Failure::guard(message).hint("apply it on the machine that made it"))
}
