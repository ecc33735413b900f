//! `storefront customer history`: what was changed from this machine, and what became of it.

use std::cmp::Reverse;

use clap::{Args, value_parser};
use jiff::tz::TimeZone;
use serde_json::json;

use super::update::dialogue::select;
use crate::cli::{CustomerChoice, RequestArgs};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::log::{CustomerStore, Entry, WriteLog, WriteName};
use crate::ops::profile::earlier::is_shown;
use crate::ops::profile::messages::named;
use crate::ops::profile::read;
use crate::report::changes::HistoryEntry;
use crate::state::{self, LockName};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::{Proof, is_provable};

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
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Lists updates, newest first, with what each changed: of the customer who is named, else of all. With `--check`, looks again for
/// the newest of unknown outcome. Only that needs the service where the customer is known from an earlier command.
///
/// # Errors
/// As [`read::read_profile`] where nothing says which customer it is.
pub async fn run(session: &Session<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    let named = session.global.customer.as_deref();
    with_service(session, async |service| {
        if named.is_none() && !args.check {
            return print_all(service, args.limit);
        }
        if named.is_none() && service.settings.has_only_admin_token() && !session.prompt().can_ask() {
            return Err(Failure::usage("an administrator's token does not say which customer is meant")
                .hint("name the customer with --customer"));
        }
        let service = &select(service, named).await?;
        of_one(service, args).await
    })
    .await
}

/// What concerns one customer.
async fn of_one(service: &Service<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    let (context, settings) = (service.session.context, &service.settings);
    if args.check {
        let stored = look(service).await?;
        let store = state::store(context, settings, &stored.customer_key(), false)?;
        return check(service, &store, &stored);
    }
    let customer = match known(service).await? {
        Some(customer) => customer,
        None => look(service).await?.customer_key(),
    };
    print(service, &state::store(context, settings, &customer, false)?, &customer, args.limit)
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
    let Some(log) = WriteLog::to_read(context)? else { return Ok(None) };
    let mut keys = log.customers_with_email(&settings.service_id().to_string(), &email.folded())?;
    keys.sort_unstable();
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
    let id = service.settings.service_id().to_string();
    let log = WriteLog::to_read(service.session.context)?;
    let customers = log.as_ref().map(|log| log.customers(&id)).transpose()?.unwrap_or_default();
    let stores = customers.into_iter().map(|key| CustomerStore::new(log.clone(), id.clone(), key));
    let stores: Vec<CustomerStore> = stores.collect();
    let mut entries = Vec::new();
    for store in &stores {
        for entry in store.entries() {
            entries.push((store, entry?));
        }
    }
    entries.sort_by_key(|(_, entry)| Reverse(entry.name().id));
    if entries.is_empty() && !report.is_json() {
        report.status(&format!("no changes of any customer recorded on this machine for {}", shop(service)));
        return Ok(());
    }
    let (count, limit) = (entries.len(), limit.map_or(LISTED_OF_ALL, usize::from));
    let (shown, mut later) = (entries.iter().take(limit), Later::default());
    let mut listed = shown.map(|(store, entry)| later.entry(store, &store.key, entry));
    if report.is_json() {
        listed.try_for_each(|entry| report.json_line(&entry?))?;
    } else {
        report.status("changes of profile and addresses of all customers, made from this machine:");
        let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
        let blocks = listed.map(|entry| Ok(entry?.to_text(now, &zone, true, report.stdout_style)));
        report.stdout(blocks.collect::<Result<Vec<_>, Failure>>()?.join("\n"))?;
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
    let entries: Vec<Entry> = store.entries().take(limit).collect::<Result<_, _>>()?;
    if entries.is_empty() && !report.is_json() {
        let shop = shop(service);
        report.status(&format!("no changes of customer {customer} recorded on this machine for {shop}"));
        return Ok(());
    }
    let mut later = Later::default();
    let mut entries = entries.iter().map(|entry| later.entry(store, customer, entry));
    if report.is_json() {
        return entries.try_for_each(|entry| report.json_line(&entry?));
    }
    report.status(&format!("customer {customer}, changes of profile and addresses made from this machine:"));
    let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
    let blocks = entries.map(|entry| Ok(entry?.to_text(now, &zone, false, report.stdout_style)));
    report.stdout(blocks.collect::<Result<Vec<_>, Failure>>()?.join("\n"))
}

/// The changes that were listed so far and may have been applied, newest first.
#[derive(Default)]
struct Later(Vec<LaterChange>);

struct LaterChange {
    customer: String,
    write: WriteName,
    is_applied: bool,
    changes: Vec<Change>,
}

impl Later {
    /// An update and what became of it, with the later change that set it back: by a restore, the undo of a batch, or an update
    /// with the values of before.
    fn entry(
        &mut self,
        store: &CustomerStore,
        customer: &str,
        entry: &Entry,
    ) -> Result<HistoryEntry, Failure> {
        let (customer, write, read) = (customer.to_owned(), entry.name(), store.read(entry)?);
        let (outcome, changes) = (entry.outcome(), read.changes());
        let is_applied = matches!(outcome, WriteOutcome::Applied { .. });
        let set_back_by = is_applied.then(|| self.that_sets_back(&customer, &changes)).flatten();
        if outcome.may_be_applied() {
            let (customer, changes) = (customer.clone(), changes.clone());
            self.0.push(LaterChange { customer, write, is_applied, changes });
        }
        let (taken, operation, outcome) = (read.taken, read.operation, outcome.name());
        Ok(HistoryEntry {
            customer,
            write: write.to_string(),
            taken,
            operation,
            outcome,
            set_back_by: set_back_by.map(|by| by.to_string()),
            changes,
        })
    }

    /// The newest of the changes that set all of these back.
    fn that_sets_back(&self, customer: &str, changes: &[Change]) -> Option<WriteName> {
        let sets_back = |change: &Change| {
            let later = self.0.iter().filter(|later| later.customer == customer);
            let mut others = later.flat_map(|later| later.changes.iter().map(move |other| (later, other)));
            let (later, last) = others.find(|(_, other)| other.path.overlaps(&change.path))?;
            let is_back = last.path == change.path && last.after == change.before;
            (is_back && later.is_applied).then_some(later.write)
        };
        let by: Option<Vec<_>> = changes.iter().map(sets_back).collect();
        by?.into_iter().max_by_key(|by| by.id)
    }
}

/// Looks again for the newest replacement that may have changed something.
fn check(service: &Service<'_>, store: &CustomerStore, stored: &Profile) -> Result<(), Failure> {
    let report = service.session.report;
    let newest = store.newest(|entry| entry.outcome().may_be_applied())?;
    let newest = newest.map(|entry| (entry.outcome(), entry));
    let Some((outcome @ (WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. }), entry)) = newest
    else {
        report.status("no update of unknown outcome");
        return Ok(());
    };
    let proof = match outcome {
        WriteOutcome::Mismatch { .. } => Proof::OrRewritten,
        _ => Proof::AsSent,
    };
    let snapshot = store.read(&entry).map_err(|failure| {
        Failure::new(FailureKind::Unknown, failure.message)
            .hint(hint!("look at the profile with ", storefront("customer show")))
    })?;
    let named = named(&snapshot);
    if is_shown(service, store, &snapshot, stored, proof)? {
        let name = snapshot.name();
        let found = json!({"write": name, "outcome": "applied"});
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
