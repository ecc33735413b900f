//! `storefront customer history`: what was changed from this machine, and what became of it.

use std::borrow::Cow;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::tz::TimeZone;

use crate::cli::{ConfirmArgs, CustomerChoice, RequestArgs};
use crate::failure::{Failure, FailureKind};
use crate::ops::profile::read;
use crate::ops::profile::verify::is_shown;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Bearer;
use crate::report::changes::HistoryEntry;
use crate::session::service::Service;
use crate::state::{self, CustomerStore, Fate, LockName, SnapshotEntry, acquire};

/// Flags of `customer history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Whose profile or quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Show at most N changes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "delete")]
    pub limit: Option<u16>,
    /// Check whether the latest unknown update took effect
    #[arg(long)]
    pub check: bool,
    /// Delete one snapshot (name or prefix) or `all`
    #[arg(long, value_name = "SNAPSHOT|all", conflicts_with = "check", value_parser = NonEmptyStringValueParser::new())]
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
    if args.check {
        let stored = read::read_profile(service).await?;
        read::remember(service, &stored);
        let store = CustomerStore::of(service.session.context, &service.settings, &stored.customer_key())?;
        return check(service, &store, &stored);
    }
    let store = known_store(service).await?;
    if let Some(what) = &args.delete {
        return delete(service, &store, what).await;
    }
    print(service, &store, args.limit)
}

/// The files of the named customer, or of the one that the token leads to: as an earlier command has seen it, else as the
/// service says. If neither helps and only one customer of this service has snapshots here, they are that customer's.
async fn known_store(service: &Service<'_>) -> Result<CustomerStore, Failure> {
    let (context, settings) = (service.session.context, &*service.settings);
    // The customer whom an administrator names is known, whatever the tokens are.
    if let Some(id) = service.customer {
        return CustomerStore::of(context, settings, &id.to_string());
    }
    let name = match &service.email {
        Some(email) => Some(LockName::email(email)),
        None => service.token(Bearer::Customer).await.ok().map(LockName::token),
    };
    if let Some(customer) = name.and_then(|name| state::load_customer(context, settings, &name)) {
        return CustomerStore::of(context, settings, &customer);
    }
    match read::read_profile(service).await {
        Ok(stored) => {
            read::remember(service, &stored);
            CustomerStore::of(context, settings, &stored.customer_key())
        }
        Err(failure) => match &CustomerStore::directories(context, &settings.service_id())[..] {
            [only] => {
                let store = CustomerStore::at(context, settings, only.clone());
                service.session.report.warn(&format!(
                    "could not read the profile ({failure}): this is the history of customer {}, the only \
                     one on this machine",
                    customer_of(&store)
                ));
                Ok(store)
            }
            _ => Err(failure),
        },
    }
}

/// Prints the newest `limit` changes.
fn print(service: &Service<'_>, store: &CustomerStore, limit: Option<u16>) -> Result<(), Failure> {
    let report = service.session.report;
    let limit = limit.map_or(usize::MAX, usize::from);
    let entries: Vec<SnapshotEntry> = store.entries()?.into_iter().take(limit).collect();
    if entries.is_empty() && !report.is_json() {
        report.status(&format!("no changes of customer {} recorded on this machine", customer_of(store)));
        return Ok(());
    }
    let mut entries = entries.iter().map(|entry| history_entry(store, entry));
    if report.is_json() {
        return entries.try_for_each(|entry| report.json_line(&entry));
    }
    let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
    let blocks = entries.map(|entry| entry.to_text(now, &zone, report.stdout_style));
    report.stdout(&blocks.collect::<Vec<_>>().join("\n"))
}

/// A snapshot and what became of it; one whose file cannot be read is listed all the same.
fn history_entry(store: &CustomerStore, entry: &SnapshotEntry) -> HistoryEntry {
    let (snapshot, file) = (entry.name().to_owned(), entry.path.display().to_string());
    match store.read(&entry.path) {
        Ok(read) => HistoryEntry {
            changes: read.changes(),
            taken: read.taken,
            operation: read.operation,
            outcome: store.fate(&entry.path).name(),
            snapshot,
            file,
        },
        Err(_) => HistoryEntry { snapshot, outcome: "unreadable", file, ..HistoryEntry::default() },
    }
}

/// Looks again for the newest replacement that may have changed something.
fn check(service: &Service<'_>, store: &CustomerStore, stored: &Profile) -> Result<(), Failure> {
    let report = service.session.report;
    let fates = store.entries()?.into_iter().map(|entry| (store.fate(&entry.path), entry));
    let newest = fates.into_iter().find(|(fate, _)| fate.may_be_applied());
    let Some((fate @ (Fate::Unknown { .. } | Fate::Mismatch { .. }), entry)) = newest else {
        report.status("no update of unknown outcome");
        return Ok(());
    };
    let is_mismatch = matches!(fate, Fate::Mismatch { .. });
    let snapshot = store.read(&entry.path).map_err(|_| {
        let message = format!("the snapshot {} cannot be read: it does not say what was sent", entry.name());
        Failure::new(FailureKind::Unknown, message)
            .hint("look at the profile with `storefront customer show`")
    })?;
    if is_shown(service, store, &snapshot, stored, is_mismatch)? {
        let name = snapshot.name();
        return report.stdout(&format!("{name} was applied: the profile shows all of it\n"));
    }
    let kind = if is_mismatch { FailureKind::Mismatch } else { FailureKind::Unknown };
    Err(Failure::new(kind, format!("the profile does not show {}", snapshot.name()))
        .hint("check again 10 minutes after it was sent"))
}

/// Removes the snapshot that `what` names, or `all` of this customer, under the customer's lock and after a question.
///
/// # Errors
/// `usage` where nothing or more than one snapshot has that name, `guard` without a yes and for a replacement that may
/// still take effect, `unavailable` while another command writes to the customer.
async fn delete(service: &Service<'_>, store: &CustomerStore, what: &str) -> Result<(), Failure> {
    let session = service.session;
    let wanted = wanted(store, what)?;
    let customer = customer_of(store);
    if wanted.is_empty() {
        forget(service, what, &customer);
        session.report.status("no snapshots to delete");
        return Ok(());
    }
    let prompt = session.prompt();
    let question = match &wanted[..] {
        [one] => format!("Delete the snapshot {}? It can no longer be restored", one.name()),
        many => format!("Delete {} snapshots? They can no longer be restored", many.len()),
    };
    prompt.confirm_deletion(&question)?;
    let name = LockName::of_key(&customer);
    let timeout = service.settings.lock_timeout;
    let waiting =
        || session.report.status("waiting for another storefront command that writes to this customer");
    let _lock = acquire(session.context, &service.settings, &name, timeout, waiting).await?;
    keep_pending(store, &wanted)?;
    for entry in &wanted {
        store.delete(&entry.path).map_err(|error| {
            Failure::internal(format!("cannot delete `{}`: {error}", entry.path.display()))
        })?;
    }
    forget(service, what, &customer);
    session.report.status(&match &wanted[..] {
        [one] => format!("deleted snapshot `{}`", one.name()),
        many => format!("deleted {} snapshots", many.len()),
    });
    Ok(())
}

/// Customers are named by their directories.
fn customer_of(store: &CustomerStore) -> Cow<'_, str> {
    store.directory.file_name().unwrap_or_default().to_string_lossy()
}

fn wanted(store: &CustomerStore, what: &str) -> Result<Vec<SnapshotEntry>, Failure> {
    if what == "all" {
        return store.entries();
    }
    let found = store.named(what)?;
    match found.len() {
        1 => Ok(found),
        0 => Err(Failure::usage(format!("no snapshot named `{what}` of this customer on this machine"))
            .hint("run `storefront customer history` to list the snapshots")),
        number => Err(Failure::usage(format!("`{what}` names {number} snapshots"))
            .hint("give more of the name, or `--delete all`")),
    }
}

/// With all of a customer's snapshots goes what is known of the tokens that led to the customer.
fn forget(service: &Service<'_>, what: &str, customer: &str) {
    if what == "all" {
        let service_id = service.settings.service_id();
        state::forget_customers(service.session.context, &service_id, Some(customer));
    }
}

/// Later commands need the snapshot of a replacement that may still take effect, to recognise it.
fn keep_pending(store: &CustomerStore, wanted: &[SnapshotEntry]) -> Result<(), Failure> {
    let Some(open) = store.newest_open()? else { return Ok(()) };
    // One that cannot be read helps nobody.
    let is_needed = wanted.iter().any(|entry| entry.path == open.entry.path);
    if !is_needed || store.read(&open.entry.path).is_err() {
        return Ok(());
    }
    let name = open.entry.name();
    Err(Failure::guard(format!("the outcome of {name} is unknown, and it may still take effect"))
        .hint("run `storefront customer history --check`, or wait 10 minutes after its request left"))
}
