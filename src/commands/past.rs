//! `storefront history`, `verify` and `undo`: what was written from this machine, whether it is still so, and how it is taken back.

use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueHint, value_parser};

use super::apply::RecordedCommand;
use super::permit_write;
use crate::batch::after;
use crate::batch::listing::Listing;
use crate::batch::origin::Origin;
use crate::batch::records::{self, RecordArgs};
use crate::batch::states::BatchStates;
use crate::cli::{GlobalArgs, PaceArgs, PlanArgs, ReplacementArgs, RequestArgs, WaitArgs, WriteArgs};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::log::{Owner, WriteLog};
use crate::past::back::How;
use crate::past::found::{Found, LATEST, find, is_file};
use crate::past::{history, undo, verify};
use crate::plan::is_there;
use storefront_core::effect::Kind;
use storefront_core::email::Email;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};

/// The choice of an owner.
#[derive(Debug, Clone, Default, Args)]
#[group(id = "owner", multiple = false)]
pub struct OwnerChoice {
    /// The customer with this ID or email
    #[arg(long, value_name = "ID|EMAIL", value_parser = NonEmptyStringValueParser::new())]
    pub customer: Option<String>,
    /// The cart with this ID
    #[arg(long, value_name = "ID", value_parser = value_parser!(u64))]
    pub cart: Option<u64>,
    /// The attribute with this ID
    #[arg(long, value_name = "ID", value_parser = value_parser!(u64))]
    pub attribute: Option<u64>,
    /// The order with this ID, which is not its number
    #[arg(long, value_name = "ID", value_parser = order_id)]
    pub order: Option<u64>,
    /// The product with this ID, in all scopes
    #[arg(long, value_name = "ID", value_parser = value_parser!(u64))]
    pub product: Option<u64>,
}

impl OwnerChoice {
    /// The owner that is chosen. For an email, it is the customer who had it, as the log has it.
    fn owner(&self, service: &Service<'_>) -> Result<Option<Owner>, Failure> {
        let of = |kind: Kind, id: String| Owner { kind: kind.noun(), id: Some(id), scope: None };
        if let Some(named) = &self.customer {
            return Ok(Some(of(Kind::Customer, customer_key(service, named)?)));
        }
        let kinds = [
            (Kind::Cart, self.cart),
            (Kind::Attribute, self.attribute),
            (Kind::Order, self.order),
            (Kind::Product, self.product),
        ];
        Ok(kinds.into_iter().find_map(|(kind, id)| Some(of(kind, id?.to_string()))))
    }
}

/// Reads the ID of an order. A text with a zero at its start is the number of an order, not the ID of another one.
///
/// # Errors
/// What it is instead.
pub fn order_id(text: &str) -> Result<u64, String> {
    if text.starts_with('0') {
        return Err(format!("`{text}` is the number of an order; `order show {text}` has its ID"));
    }
    text.parse().map_err(|_| "expected the ID of an order, a whole number".to_owned())
}

/// The key of a customer in the log: the id, or the email of a customer without an id.
fn customer_key(service: &Service<'_>, named: &str) -> Result<String, Failure> {
    let Some(email) = Some(named).filter(|named| named.contains('@')).map(Email::new) else {
        return Ok(named.to_owned());
    };
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(named.to_owned()) };
    let mut keys = log.customers_with_email(&service.settings.service_id().to_string(), &email.folded())?;
    keys.sort_unstable();
    match &keys[..] {
        [] => Ok(email.folded()),
        [_] => Ok(keys.remove(0)),
        several => Err(Failure::usage(format!(
            "{} customers on this machine had the email `{email}`: {}",
            several.len(),
            several.join(", ")
        ))
        .hint("name the customer by ID: --customer ID")),
    }
}

/// Flags of `history`.
#[derive(Debug, Args)]
#[command(
    after_help = "It needs no connection to the shop. A batch is one line, with its state: done (`resume` would do nothing), open, or running.

Examples:
  storefront history --sandbox
  storefront customer update --sandbox --gender 1 && storefront history latest --sandbox
  storefront history items.csv.journal --state failed"
)]
pub struct HistoryArgs {
    /// ID of a write such as 1042 or 1042:7, journals of batches such as those of all shards, or `latest`
    #[arg(value_name = "ID|JOURNAL", value_hint = ValueHint::FilePath)]
    pub what: Vec<String>,
    /// Which records of a batch.
    #[command(flatten)]
    pub records: RecordArgs,
    /// Whose writes.
    #[command(flatten)]
    pub owner: OwnerChoice,
    /// List at most N writes [default: 20]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub limit: Option<u16>,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Flags of `verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is written to the shop. The exit code is 0 if everything was compared and is there, 7 if something is changed
or gone, and 8 if something could not be compared.

Examples:
  storefront customer update --sandbox --gender 1 && storefront verify latest --sandbox
  storefront customer update --sandbox --gender 1 && storefront verify --sandbox --customer 1
  storefront verify names.csv.journal --sandbox"
)]
pub struct VerifyArgs {
    /// ID of a write such as 1042 or 1042:7, journal of a batch, or `latest`
    #[arg(value_name = "ID|JOURNAL", default_value = LATEST, value_hint = ValueHint::FilePath, value_parser = NonEmptyStringValueParser::new())]
    pub what: String,
    /// Whose writes.
    #[command(flatten)]
    pub owner: OwnerChoice,
    /// The input of a batch.
    #[command(flatten)]
    pub input: BatchInputArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Flags of `undo`.
#[derive(Debug, Args)]
#[command(after_help = "Of a batch it writes a plan for `apply`, by default undo-ID.plan, and sends nothing.
The exit code is 0 if all of it is undone, 7 if a part is left, and 3 if nothing can be undone.

Examples:
  storefront customer update --sandbox --gender 1 && storefront undo 1 --sandbox --yes
  storefront customer update --sandbox --gender 1 && storefront undo 1 --sandbox --whole-profile -n
  storefront undo names.csv.journal --plan back.plan --expires 8h --sandbox")]
pub struct UndoArgs {
    /// ID of a write such as 1042 or 1042:7, journal of a batch, or on a terminal `latest`
    #[arg(value_name = "ID|JOURNAL", value_hint = ValueHint::FilePath, value_parser = NonEmptyStringValueParser::new())]
    pub what: Option<String>,
    /// Whose writes.
    #[command(flatten)]
    pub owner: OwnerChoice,
    /// Confirm the deletion of exactly N addresses, items, options or attributes
    #[arg(long, value_name = "N")]
    pub allow_delete: Option<usize>,
    /// Of a profile: restore all of it
    #[arg(long)]
    pub whole_profile: bool,
    /// The input of a batch.
    #[command(flatten)]
    pub input: BatchInputArgs,
    /// Where the plan of a batch is written.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// The flags of every write.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How long it waits.
    #[command(flatten)]
    pub waits: WaitArgs,
    /// How the profile is replaced.
    #[command(flatten)]
    pub replacement: ReplacementArgs,
}

/// How the records of a batch are read again.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Batch options")]
pub struct BatchInputArgs {
    /// Input of the batch [default: the one next to the journal]
    #[arg(short = 'i', long = "input", value_name = "FILE")]
    pub batch_input: Option<PathBuf>,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// Hidden names of `history`, `verify` and `undo`, for batches.
#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// As `storefront history`
    List(HistoryArgs),
    /// As `storefront history`
    Show(HistoryArgs),
    /// As `storefront verify`
    Verify(VerifyArgs),
    /// As `storefront undo`
    Undo(Box<UndoArgs>),
}

/// Runs `journal`.
///
/// # Errors
/// As [`history()`], [`verify()`] and [`undo()`].
pub async fn journal(session: &Session<'_>, command: &JournalCommand) -> Result<(), Failure> {
    match command {
        JournalCommand::List(args) | JournalCommand::Show(args) => history(session, args).await,
        JournalCommand::Verify(args) => verify(session, args).await,
        JournalCommand::Undo(args) => undo(session, args).await,
    }
}

/// Reads the journal that the log has of a batch, and prints its path.
fn read_known<'a>(session: &'a Session<'a>, journal: &Path) -> Result<Listing<'a>, Failure> {
    let shown = journal.display();
    session.report.status(&format!("journal {shown}"));
    if !is_there(&*session.context.storage, journal) {
        return Err(Failure::usage(format!("the journal `{shown}` was moved or deleted"))
            .hint("name the file where it is now"));
    }
    Listing::read(session, journal)
}

/// The journal of a batch in the log.
fn journal_of(found: &Found) -> Option<PathBuf> {
    found.run.journal.as_ref().filter(|_| found.is_batch()).map(|(path, _)| path.into())
}

/// Runs `history`.
///
/// # Errors
/// `usage` for a name that no write has, `guard` if the log or the journal cannot be read.
pub async fn history(session: &Session<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    if !args.what.is_empty() && args.what.iter().all(|what| is_file(what)) {
        let listings = args.what.iter().map(|file| Listing::read(session, Path::new(file)));
        let listings = listings.collect::<Result<Vec<_>, _>>()?;
        return records::list(session.report, &args.records, &listings);
    }
    if args.what.len() > 1 {
        return Err(Failure::usage("several IDs are given").hint("give one, or journals of batches"));
    }
    with_service(session, async |service| {
        let owner = args.owner.owner(service)?;
        let Some(what) = args.what.first() else {
            args.records.refuse()?;
            let states = BatchStates::read(session)?;
            return history::list(service, owner.as_ref(), args.limit, |known| states.of(known));
        };
        let found = find(service, Some(what), owner.as_ref())?;
        if let Some(journal) = journal_of(&found) {
            let listing = read_known(session, &journal)?;
            return records::list(session.report, &args.records, &[listing]);
        }
        args.records.refuse()?;
        history::show(service, &found)
    })
    .await
}

/// Runs `verify`.
///
/// # Errors
/// As [`verify::verify`] and [`after::verify::verify`].
pub async fn verify(session: &Session<'_>, args: &VerifyArgs) -> Result<(), Failure> {
    if is_file(&args.what) {
        let listing = Listing::read(session, Path::new(&args.what))?;
        return verify_batch(session, args, &listing).await;
    }
    with_service(session, async |service| {
        let found = find(service, Some(&args.what), args.owner.owner(service)?.as_ref())?;
        match journal_of(&found) {
            Some(journal) => {
                let listing = read_known(session, &journal)?;
                Box::pin(verify_batch(session, args, &listing)).await
            }
            None => Box::pin(verify::verify(service, &found)).await,
        }
    })
    .await
}

async fn verify_batch(
    session: &Session<'_>,
    args: &VerifyArgs,
    listing: &Listing<'_>,
) -> Result<(), Failure> {
    let begun = of_journal(listing);
    let operation = begun.operation().ok_or_else(unknown_operation)?;
    let input = args.input.batch_input.as_deref();
    after::verify::verify(session, listing, operation, input).await
}

/// The command of a journal, without the flags of its run.
fn of_journal(listing: &Listing<'_>) -> RecordedCommand {
    let origin = listing.origin(None).ok().flatten();
    RecordedCommand::new(&listing.header.operation, &[], origin.as_ref().and_then(Origin::plan))
}

fn unknown_operation() -> Failure {
    Failure::guard("the journal is of an operation that this version does not know")
}

/// Runs `undo`.
///
/// # Errors
/// As [`undo::one`] and [`after::undo::undo`].
pub async fn undo(session: &Session<'_>, args: &UndoArgs) -> Result<(), Failure> {
    let what = args.what.as_deref();
    if let Some(file) = what.filter(|what| is_file(what)) {
        let listing = Listing::read(session, Path::new(file))?;
        let name = listing.known_id()?.unwrap_or_else(|| listing.header.operation.replace(' ', "-"));
        return undo_batch(session, args, &listing, &name).await;
    }
    if what.is_none_or(|what| what == LATEST) && !session.prompt().can_ask() {
        return Err(Failure::usage("which write is undone has to be said where nobody can be asked")
            .hint(hint!(storefront("history"), " lists the IDs; the result of a write has it as `write`")));
    }
    with_service(session, async |service| {
        let found = find(service, what, args.owner.owner(service)?.as_ref())?;
        if let Some(journal) = journal_of(&found) {
            let listing = read_known(session, &journal)?;
            return Box::pin(undo_batch(session, args, &listing, &found.name())).await;
        }
        if args.plan.file.is_some() {
            return Err(Failure::usage(format!(
                "`--plan` is for a batch, and write {} is none",
                found.name()
            ))
            .hint(hint!(
                "see what would be sent with ",
                storefront("undo").arg(found.name()).arg("--dry-run")
            )));
        }
        let yes = permit_write(session, false, || Ok(true))? && session.global.yes;
        let global = GlobalArgs { yes, ..session.global.clone() };
        let session = &Session { global: &global, ..*session };
        let service = &Service { session, ..service.clone() };
        service.undoes.set(Some(found.run.id));
        let how = How {
            allowed: args.allow_delete,
            whole_profile: args.whole_profile,
            replacement: &args.replacement,
        };
        let done = service.stage.told(Box::pin(undo::one(service, &found, how)).await);
        service.stage.end(done.as_ref());
        session.report.outcome(&done?)
    })
    .await
}

/// Plans how a batch is undone; only reads are sent.
async fn undo_batch(
    session: &Session<'_>,
    args: &UndoArgs,
    listing: &Listing<'_>,
    name: &str,
) -> Result<(), Failure> {
    let file = args.plan.file.clone().unwrap_or_else(|| format!("undo-{name}.plan").into());
    let plan = PlanArgs { file: Some(file), expires: args.plan.expires };
    let global = GlobalArgs { plan, no_input: true, dry_run: true, ..session.global.clone() };
    let session = &Session { global: &global, ..*session };
    let begun = of_journal(listing);
    let operation = begun.operation().ok_or_else(unknown_operation)?;
    after::undo::undo(session, listing, operation, args.input.batch_input.as_deref()).await
}
