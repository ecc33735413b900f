//! `storefront customer history`: what was changed from this machine, and what became of it.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::cli::{ConfirmArgs, CustomerChoice, RequestArgs};
use crate::client::service::Service;
use crate::ops::profile::read;
use crate::ops::profile::verify::is_shown;
use crate::report::changes::HistoryEntry;
use crate::state::{self, CustomerStore, LockName, SnapshotEntry, acquire};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::interface::request::Bearer;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::is_provable;

/// Flags of `customer history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Whose profile or quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Show at most N changes
    #[arg(long, value_name = "N", conflicts_with = "delete", value_parser = value_parser!(u16).range(1..))]
    pub limit: Option<u16>,
    /// Check whether the latest unknown update took effect
    #[arg(long)]
    pub check: bool,
    /// Delete one snapshot (name or prefix) or `all`
    #[arg(long, value_name = "SNAPSHOT|all", conflicts_with = "check")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub delete: Option<String>,
    /// What every command takes that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Lists this customer's snapshots, newest first, with what each replacement changed; with `--check`, looks again for
/// the newest of unknown outcome; with `--delete`, removes snapshots. Only `--check` needs the service where the customer
/// is known from an earlier command.
///
/// # Errors
/// As [`read::read_profile`] where nothing says which customer it is.
pub async fn list(service: &Service<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    let (context, settings) = (service.session.context, &service.settings);
    let store = |customer: &str| CustomerStore::of(context, settings, customer);
    if args.check {
        let stored = look(service).await?;
        return check(service, &store(&stored.customer_key())?, &stored);
    }
    let customer = match known(service).await {
        Some(customer) => customer,
        None => look(service).await?.customer_key(),
    };
    match &args.delete {
        Some(what) => delete(service, &store(&customer)?, &customer, what).await,
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
async fn known(service: &Service<'_>) -> Option<String> {
    let name = match (service.customer, &service.email) {
        (Some(id), _) => return Some(id.to_string()),
        (None, Some(email)) => LockName::email(email),
        (None, None) => LockName::token(service.token(Bearer::Customer).await.ok()?),
    };
    state::load_customer(service.session.context, &service.settings, &name)
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
    let entries: Vec<SnapshotEntry> = store.entries()?.iter().take(limit).cloned().collect();
    if entries.is_empty() && !report.is_json() {
        report.status(&format!("no changes of customer {customer} recorded on this machine"));
        return Ok(());
    }
    let mut entries = entries.iter().map(|entry| history_entry(store, entry));
    if report.is_json() {
        return entries.try_for_each(|entry| report.json_line(&entry));
    }
    report.status(&format!("customer {customer}, changes of profile and addresses made from this machine:"));
    let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
    let blocks = entries.map(|entry| entry.to_text(now, &zone, report.stdout_style));
    report.stdout(blocks.collect::<Vec<_>>().join("\n"))
}

/// A snapshot and what became of it; one whose file cannot be read is listed all the same.
fn history_entry(store: &CustomerStore, entry: &SnapshotEntry) -> HistoryEntry {
    let (snapshot, file) = (entry.name().to_owned(), entry.path.display().to_string());
    match store.read(&entry.path) {
        Ok(read) => HistoryEntry {
            changes: read.changes(),
            taken: read.taken,
            operation: read.operation,
            outcome: store.outcome(&entry.path).name(),
            snapshot,
            file,
        },
        Err(_) => HistoryEntry { snapshot, outcome: "unreadable", file, ..HistoryEntry::default() },
    }
}

/// Looks again for the newest replacement that may have changed something.
fn check(service: &Service<'_>, store: &CustomerStore, stored: &Profile) -> Result<(), Failure> {
    let report = service.session.report;
    let outcomes = store.entries()?.to_vec().into_iter().map(|entry| (store.outcome(&entry.path), entry));
    let newest = outcomes.into_iter().find(|(outcome, _)| outcome.may_be_applied());
    let Some((outcome @ (WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. }), entry)) = newest
    else {
        report.status("no update of unknown outcome");
        return Ok(());
    };
    let is_mismatch = matches!(outcome, WriteOutcome::Mismatch { .. });
    let snapshot = store.read_applied(&entry.path).map_err(|failure| {
        Failure::new(FailureKind::Unknown, failure.message)
            .hint("look at the profile with `storefront customer show`")
    })?;
    if is_shown(service, store, &snapshot, stored, is_mismatch)? {
        let name = snapshot.name();
        let found = json!({"snapshot": name, "outcome": "applied"});
        return report.value(&found, |_| format!("{name} was applied: the profile shows all of it\n"));
    }
    let kind = outcome.failure_kind().unwrap_or(FailureKind::Unknown);
    if !is_provable(&snapshot.customer, &snapshot.merged, &service.settings.read.ignore) {
        let message = format!("{} changes nothing that a read could show", snapshot.name());
        return Err(Failure::new(kind, message).hint("look in the shop whether the change is there"));
    }
    Err(Failure::new(kind, format!("the profile does not show {}", snapshot.name()))
        .hint("check again 10 minutes after it was sent"))
}

/// Removes the snapshot that `what` names, or `all` of this customer, under the customer's lock and after a question.
///
/// # Errors
/// `usage` where nothing or more than one snapshot has that name, `guard` without a yes and for a replacement that may
/// still take effect, `unavailable` while another command writes to the customer.
async fn delete(
    service: &Service<'_>,
    store: &CustomerStore,
    customer: &str,
    what: &str,
) -> Result<(), Failure> {
    let session = service.session;
    let wanted = if what == "all" { store.entries()?.to_vec() } else { vec![store.named(what)?] };
    let named = match &wanted[..] {
        [one] => format!("snapshot {}", one.name()),
        all => format!("{} snapshots", all.len()),
    };
    if !wanted.is_empty() {
        session.prompt().confirm_deletion(&format!("Delete {named}? This cannot be undone"))?;
    }
    let name = LockName::of_key(customer);
    let timeout = service.settings.lock_timeout;
    let waiting =
        || session.report.status("waiting for another storefront command that writes to this customer");
    let _lock = acquire(session.context, &service.settings, &name, timeout, waiting).await?;
    let open =
        store.newest_pending()?.filter(|open| wanted.iter().any(|entry| entry.path == open.entry.path));
    // Later commands need it to recognize an update that may still take effect; one that cannot be read helps nobody.
    if let Some(open) = open.filter(|open| store.read(&open.entry.path).is_ok()) {
        let name = open.entry.name();
        return Err(Failure::guard(format!(
            "the outcome of {name} is unknown, and it may still take effect"
        ))
        .hint("run `storefront customer history --check`, or wait 10 minutes after its request left"));
    }
    for entry in &wanted {
        store.delete(&entry.path).map_err(|error| {
            Failure::internal(format!("cannot delete `{}`: {error}", entry.path.display()))
        })?;
    }
    store.forget_read();
    store.list_once()?;
    if what == "all" {
        // What led to the customer goes, too.
        for key in [customer, &store.key] {
            state::forget_customers(session.context, &service.settings.service_id(), Some(key));
        }
    }
    session.report.status(&format!("deleted {named}"));
    Ok(())
}
