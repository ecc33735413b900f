//! `storefront customer history`: what was changed from this machine, and what became of it.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::delete_history;
use crate::cli::customer::HistoryArgs;
use crate::exact_json;
use crate::failure::{Failure, FailureKind};
use crate::ops::profile::{pending, read};
use crate::plan::profile::diff::Change;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Bearer;
use crate::report::history::HistoryEntry;
use crate::session::service::Service;
use crate::state::{self, CustomerStore, Mark, Snapshot, SnapshotEntry};

/// A snapshot as it is listed.
type Listed = (SnapshotEntry, Snapshot);

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
        return check(service, &store, &stored, &listed(&store, None)?);
    }
    let store = known_store(service).await?;
    if let Some(what) = &args.delete {
        return delete_history::delete(service, &store, what).await;
    }
    print(service, &listed(&store, args.limit)?)
}

/// The newest `limit` snapshots.
fn listed(store: &CustomerStore, limit: Option<usize>) -> Result<Vec<Listed>, Failure> {
    let entries = store.entries()?.into_iter().take(limit.unwrap_or(usize::MAX));
    Ok(entries.filter_map(|entry| Some((entry.clone(), store.read(&entry.path).ok()?))).collect())
}

/// The files of the named customer, or of the one that the token leads to: as an earlier command has seen it, else as the service says. If
/// neither helps and only one customer of this service has snapshots here, they are that customer's.
async fn known_store(service: &Service<'_>) -> Result<CustomerStore, Failure> {
    let (context, settings) = (service.session.context, &*service.settings);
    // The customer whom an administrator names is known, whatever the tokens are.
    if let Some(id) = service.customer {
        return CustomerStore::of(context, settings, &id.to_string());
    }
    let token = service.token(Bearer::Customer).await;
    if let Ok(token) = token
        && let Some(customer) = state::load_customer(context, settings, token)
    {
        return CustomerStore::of(context, settings, &customer);
    }
    match read::read_profile(service).await {
        Ok(stored) => {
            read::remember(service, &stored);
            CustomerStore::of(context, settings, &stored.customer_key())
        }
        Err(failure) => match &CustomerStore::directories(context, &settings.service_id())[..] {
            [only] => {
                let customer = only.file_name().unwrap_or_default().to_string_lossy().into_owned();
                service.session.report.warn(&format!(
                    "could not read the profile ({failure}): this is the history of customer {customer}, \
                     the only one on this machine"
                ));
                Ok(CustomerStore::at(context, settings, only.clone()))
            }
            _ => Err(failure),
        },
    }
}

fn print(service: &Service<'_>, listed: &[Listed]) -> Result<(), Failure> {
    let report = service.session.report;
    if report.is_json() {
        return listed.iter().try_for_each(|listed| report.json_line(&as_json(listed)));
    }
    if listed.is_empty() {
        report.status("no changes from this machine: a snapshot is taken before each one");
        return Ok(());
    }
    let (now, zone) = (service.session.context.clock.now(), TimeZone::system());
    let blocks = listed.iter().map(|(entry, snapshot)| {
        let shown = HistoryEntry {
            snapshot: snapshot.name(),
            operation: &snapshot.operation,
            outcome: outcome(entry),
            taken: &snapshot.taken,
            changes: snapshot.changes(),
        };
        shown.to_text(now, &zone, report.stdout_style())
    });
    report.stdout(&blocks.collect::<Vec<_>>().join("\n"))
}

fn check(
    service: &Service<'_>,
    store: &CustomerStore,
    stored: &Profile,
    listed: &[Listed],
) -> Result<(), Failure> {
    let unknown = listed.iter().find(|(entry, _)| matches!(entry.mark, None | Some(Mark::Unknown)));
    let Some((_, snapshot)) = unknown else {
        service.session.report.status("no update of unknown outcome");
        return Ok(());
    };
    if pending::is_shown(service, store, snapshot, stored)? {
        return service
            .session
            .report
            .stdout(&format!("{} was applied: the profile shows all of it\n", snapshot.name()));
    }
    Err(Failure::new(FailureKind::Unknown, format!("the profile does not show {}", snapshot.name()))
        .hint("it may still take effect until 10 minutes after its request left: look again then"))
}

fn outcome(entry: &SnapshotEntry) -> &'static str {
    entry.mark.unwrap_or(Mark::Unknown).name()
}

fn as_json((entry, snapshot): &Listed) -> Value {
    exact_json::object([
        ("snapshot", snapshot.name().into()),
        ("taken", snapshot.taken.as_str().into()),
        ("operation", snapshot.operation.as_str().into()),
        ("applied", outcome(entry).into()),
        ("changes", snapshot.changes().iter().map(Change::to_json).collect()),
        ("file", snapshot.path.display().to_string().into()),
    ])
}
