//! `storefront journal verify` and `undo`: the day after a batch.

use std::path::PathBuf;

use clap::Args;

use super::read;
use crate::batch::after::{undo, verify};
use crate::cli::{PaceArgs, PlanArgs, RequestArgs};
use crate::client::Session;
use storefront_core::failure::Failure;

/// Which journal, and how its records are read.
#[derive(Debug, Args)]
pub struct JournalArgs {
    /// Journal of a batch, or `latest`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Input of the batch [default: the one next to the journal]
    #[arg(short = 'i', long = "input", value_name = "FILE")]
    pub batch_input: Option<PathBuf>,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// Flags of `journal verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "It reads once each customer, item or attribute of the records that are done or unknown, and writes nothing.
The exit code is 0 if all is as it was written, and 7 if something differs.

Examples:
  storefront journal verify latest --sandbox
  storefront journal verify names.csv.journal --sample 5% --sandbox
  storefront journal verify latest --sandbox --jq 'select(.state != \"there\")'"
)]
pub struct VerifyArgs {
    /// Which journal.
    #[command(flatten)]
    pub journal: JournalArgs,
    /// Verify only so many customers of each hundred, such as 5%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub sample: Option<f64>,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Flags of `journal undo`.
#[derive(Debug, Args)]
#[command(
    after_help = "It writes a plan for `apply`, lists what it leaves and why, and sends nothing but reads.

Examples:
  storefront journal undo latest --plan undo.plan --sandbox
  storefront journal undo names.csv.journal --plan back.plan --expires 8h --sandbox
  storefront journal undo latest --plan all.plan --sandbox -o json"
)]
pub struct UndoArgs {
    /// Which journal.
    #[command(flatten)]
    pub journal: JournalArgs,
    /// Where the plan is written.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

impl VerifyArgs {
    /// All of this journal.
    pub fn of(file: PathBuf) -> Self {
        Self { journal: JournalArgs::of(file), sample: None, request: RequestArgs::default() }
    }
}

impl UndoArgs {
    /// All of this journal.
    pub fn of(file: PathBuf, plan: PlanArgs) -> Self {
        Self { journal: JournalArgs::of(file), plan, request: RequestArgs::default() }
    }
}

/// A part of a hundred, with or without its sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    number
        .filter(|number: &f64| *number > 0.0 && *number <= 100.0)
        .ok_or_else(|| "expected a percentage above 0, e.g. 5%".to_owned())
}

impl JournalArgs {
    fn of(file: PathBuf) -> Self {
        Self { file, batch_input: None, pace: PaceArgs::default() }
    }
}

/// Verifies what the records of a journal wrote.
///
/// # Errors
/// As [`verify::verify`].
pub async fn verify(session: &Session<'_>, args: &VerifyArgs) -> Result<(), Failure> {
    let listing = read(session, &args.journal.file)?;
    verify::verify(session, &listing, args.journal.batch_input.as_deref(), args.sample).await
}

/// Plans how the records of a journal are undone.
///
/// # Errors
/// As [`undo::undo`].
pub async fn undo(session: &Session<'_>, args: &UndoArgs) -> Result<(), Failure> {
    if args.plan.file.is_none() {
        return Err(Failure::usage("no plan is named").hint("name its file with --plan FILE"));
    }
    let listing = read(session, &args.journal.file)?;
    undo::undo(session, &listing, args.journal.batch_input.as_deref()).await
}
