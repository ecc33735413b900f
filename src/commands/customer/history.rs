//! `storefront customer history`: what was changed from this machine, and what became of it.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::json;

use super::erase;
use super::update::dialogue::select;
use crate::cli::{ConfirmArgs, CustomerChoice, RequestArgs};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::ops::profile::earlier::is_shown;
use crate::ops::profile::messages::named;
use crate::ops::profile::read;
use crate::report::changes::HistoryEntry;
use crate::state::{self, CustomerStore, LockName, SnapshotEntry};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::{Proof, is_provable};
use storefront_core::text::duration;

/// How many changes are listed where no customer is named and `--limit` does not say it.
const LISTED_OF_ALL: usize = 20;

/// Flags of `customer history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Whose history.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Show at most N changes [default: 20 of all customers, all of one]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub limit: Option<u16>,
    /// Check whether the latest unknown update took effect
    #[arg(long, conflicts_with = "limit")]
    pub check: bool,
    /// Delete one snapshot (name or prefix) or `all` of the customer
    #[arg(long, value_name = "SNAPSHOT|all", conflicts_with_all = ["check", "limit"])]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub delete: Option<String>,
    /// With `--delete all`: of all customers
    #[arg(long, requires = "delete")]
    #[arg(conflicts_with_all = ["customer", "check", "limit", "forget_owner", "older_than"])]
    pub all_customers: bool,
    /// Delete the snapshots of all customers that are older, such as 30d
    #[arg(long, value_name = "AGE", conflicts_with_all = ["check", "limit", "delete", "customer"])]
    #[arg(value_parser = duration::age)]
    pub older_than: Option<SignedDuration>,
    /// Forget whose the token is, or which tokens are the customer's
    #[arg(long, conflicts_with_all = ["check", "limit", "delete", "older_than"])]
    pub forget_owner: bool,
    /// What every command takes that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Lists snapshots, newest first, with what each replacement changed: of the customer who is named, else of all. With `--check`,
/// looks again for the newest of unknown outcome; with `--delete` and `--older-than`, removes snapshots. Only `--check` needs the
/// service where the customer is known from an earlier command.
///
/// # Errors
/// As [`read::read_profile`] where nothing says which customer it is.
pub async fn run(session: &Session<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    let named = session.global.customer.as_deref();
    with_service(session, async |service| {
        if args.all_customers || args.older_than.is_some() {
            return erase::of_all(service, args.delete.as_deref(), args.older_than).await;
        }
        if named.is_none() && !args.check && args.delete.is_none() && !args.forget_owner {
            return print_all(service, args.limit);
        }
        if named.is_none() && service.settings.has_only_admin_token() && !session.prompt().can_ask() {
            return Err(Failure::usage("an administrator's token does not say which customer is meant")
                .hint("name the customer with --customer, or use --all-customers with --delete all"));
        }
        let service = &select(service, named).await?;
        of_one(service, args).await
    })
    .await
}

/// What concerns one customer.
async fn of_one(service: &Service<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    let (context, settings) = (service.session.context, &service.settings);
    let store = |customer: &str| CustomerStore::of(context, settings, customer);
    if args.check {
        let stored = look(service).await?;
        return check(service, &store(&stored.customer_key())?, &stored);
    }
    if args.forget_owner && service.customer.is_none() && service.email.is_none() {
        return erase::forget_token(service).await;
    }
    let customer = match known(service).await? {
        Some(customer) => customer,
        None => look(service).await?.customer_key(),
    };
    if args.forget_owner {
        erase::forget_owner(service, &customer);
        return Ok(());
    }
    match &args.delete {
        Some(what) => erase::of_one(service, &store(&customer)?, &customer, what).await,
        None => print(service, &store(&customer)?, &customer, args.limit),
    }
}

/// Reads the profile, and remembers whose it is.
async fn look(service: &Service<'_>) -> Result<Profile, Failure> {
    let stored = read::read_profile(service).await?;
    read::remember(service, &stored);
    Ok(stored)
}

/// The customer whom an administrator names, or to whom email or token have led an earlier command.
///
/// # Errors
/// `usage` for an email that several customers on this machine have.
async fn known(service: &Service<'_>) -> Result<Option<String>, Failure> {
    let (context, settings) = (service.session.context, &service.settings);
    if let Some(id) = service.customer {
        return Ok(Some(id.to_string()));
    }
    let Some(email) = &service.email else {
        let Ok(token) = service.token(Bearer::Customer).await else { return Ok(None) };
        return Ok(state::load_customer(context, settings, &LockName::token(token)));
    };
    let mut keys = state::customers_with_email(context, &settings.service_id(), email)?;
    keys.extend(state::load_customer(context, settings, &LockName::email(email)));
    keys.sort_unstable();
    keys.dedup();
    match &keys[..] {
        [] => Ok(None),
        [_] => Ok(keys.pop()),
        several => Err(Failure::usage(format!(
            "{} customers on this machine had the email `{email}`: {}",
            several.len(),
            several.join(", ")
        ))
        .hint("name the customer by ID: --customer ID")),
    }
}

/// Whose history it is: each shop has its own, and so have both interfaces of the sandbox.
fn shop(service: &Service<'_>) -> String {
    let settings = &service.settings;
    let shop = if settings.sandbox.is_some() { "the sandbox".to_owned() } else { settings.host() };
    format!("{shop} ({})", settings.dialect.name)
}

/// Prints the newest changes of all customers of this service.
fn print_all(service: &Service<'_>, limit: Option<u16>) -> Result<(), Failure> {
    let report = service.session.report;
    let customers = state::customers_of(service.session.context, &service.settings.service_id())?;
    let mut entries = Vec::new();
    for customer in &customers {
        for entry in customer.store.entries() {
            let entry = entry?;
            entries.push((entry.taken(), customer, entry));
        }
    }
    entries.sort_by(|(one, _, this), (other, _, that)| {
        other.cmp(one).then_with(|| that.number.cmp(&this.number))
    });
    if entries.is_empty() && !report.is_json() {
        report.status(&format!("no changes of any customer recorded on this machine for {}", shop(service)));
        return Ok(());
    }
    let (count, limit) = (entries.len(), limit.map_or(LISTED_OF_ALL, usize::from));
    let (shown, mut later) = (entries.iter().take(limit), Later::default());
    let mut listed = shown.map(|(_, customer, entry)| later.entry(&customer.store, &customer.name(), entry));
    if report.is_json() {
        listed.try_for_each(|entry| report.json_line(&entry))?;
    } else {
        report.status("changes of profile and addresses of all customers, made from this machine:");
        let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
        let blocks = listed.map(|entry| entry.to_text(now, &zone, true, report.stdout_style));
        report.stdout(blocks.collect::<Vec<_>>().join("\n"))?;
    }
    if count > limit {
        report.status(&format!("{limit} of {count} shown; --limit N shows more"));
    }
    Ok(())
}

/// Prints the newest `limit` changes.
fn print(
    service: &Service<'_>,
    store: &CustomerStore,
    customer: &str,
    limit: Option<u16>,
) -> Result<(), Failure> {
    let report = service.session.report;
    let limit = limit.map_or(usize::MAX, usize::from);
    let entries: Vec<SnapshotEntry> = store.entries().take(limit).collect::<Result<_, _>>()?;
    if entries.is_empty() && !report.is_json() {
        let shop = shop(service);
        report.status(&format!("no changes of customer {customer} recorded on this machine for {shop}"));
        return Ok(());
    }
    let mut later = Later::default();
    let mut entries = entries.iter().map(|entry| later.entry(store, customer, entry));
    if report.is_json() {
        return entries.try_for_each(|entry| report.json_line(&entry));
    }
    report.status(&format!("customer {customer}, changes of profile and addresses made from this machine:"));
    let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
    let blocks = entries.map(|entry| entry.to_text(now, &zone, false, report.stdout_style));
    report.stdout(blocks.collect::<Vec<_>>().join("\n"))
}

/// The changes that were listed so far and may have been applied, newest first.
#[derive(Default)]
struct Later(Vec<LaterChange>);

struct LaterChange {
    customer: String,
    snapshot: String,
    is_applied: bool,
    changes: Vec<Change>,
}

impl Later {
    /// A snapshot and what became of it, with the later change that set it back: by a restore, the undo of a batch, or an update
    /// with the values of before. One whose file cannot be read is listed all the same.
    fn entry(&mut self, store: &CustomerStore, customer: &str, entry: &SnapshotEntry) -> HistoryEntry {
        let customer = customer.to_owned();
        let (snapshot, file) = (entry.name().to_owned(), entry.path.display().to_string());
        let Ok(read) = store.read(&entry.path) else {
            return HistoryEntry {
                customer,
                snapshot,
                outcome: "unreadable",
                file,
                ..HistoryEntry::default()
            };
        };
        let (outcome, changes) = (store.outcome(&entry.path), read.changes());
        let is_applied = matches!(outcome, WriteOutcome::Applied { .. });
        let set_back_by = is_applied.then(|| self.that_sets_back(&customer, &changes)).flatten();
        if outcome.may_be_applied() {
            let (customer, snapshot, changes) = (customer.clone(), snapshot.clone(), changes.clone());
            self.0.push(LaterChange { customer, snapshot, is_applied, changes });
        }
        let (taken, operation, outcome) = (read.taken, read.operation, outcome.name());
        HistoryEntry { customer, snapshot, taken, operation, outcome, set_back_by, changes, file }
    }

    /// The snapshot of the newest of the changes that set all of these back.
    fn that_sets_back(&self, customer: &str, changes: &[Change]) -> Option<String> {
        let sets_back = |change: &Change| {
            let later = self.0.iter().filter(|later| later.customer == customer);
            let mut others = later.flat_map(|later| later.changes.iter().map(move |other| (later, other)));
            let (later, last) = others.find(|(_, other)| other.path.overlaps(&change.path))?;
            let is_back = last.path == change.path && last.after == change.before;
            (is_back && later.is_applied).then_some(&later.snapshot)
        };
        let by: Option<Vec<_>> = changes.iter().map(sets_back).collect();
        // Names begin with numbers that rise.
        by?.into_iter().max().cloned()
    }
}

/// Looks again for the newest replacement that may have changed something.
fn check(service: &Service<'_>, store: &CustomerStore, stored: &Profile) -> Result<(), Failure> {
    let report = service.session.report;
    let newest = store.newest(|entry| store.outcome(&entry.path).may_be_applied())?;
    let newest = newest.map(|entry| (store.outcome(&entry.path), entry));
    let Some((outcome @ (WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. }), entry)) = newest
    else {
        report.status("no update of unknown outcome");
        return Ok(());
    };
    let proof = match outcome {
        WriteOutcome::Mismatch { .. } => Proof::OrRewritten,
        _ => Proof::AsSent,
    };
    let snapshot = store.read_applied(&entry.path).map_err(|failure| {
        Failure::new(FailureKind::Unknown, failure.message)
            .hint(hint!("look at the profile with ", storefront("customer show")))
    })?;
    let named = named(&snapshot);
    if is_shown(service, store, &snapshot, stored, proof)? {
        let name = snapshot.name();
        let found = json!({"snapshot": name, "outcome": "applied"});
        return report.value(&found, |_| format!("{named} was applied: the profile shows all of it\n"));
    }
    let kind = outcome.failure_kind().unwrap_or(FailureKind::Unknown);
    if !is_provable(&snapshot.customer, &snapshot.merged, &service.settings.read.ignore) {
        let message = format!("{named} changes nothing that a read could show");
        return Err(Failure::new(kind, message).hint("look in the shop whether the change is there"));
    }
    Err(Failure::new(kind, format!("the profile does not show {named}"))
        .hint("check again 10 minutes after it was sent"))
}
