//! `storefront customer history`: the snapshots taken before each update, and what became of it.

use serde_json::Value;

use crate::cli::customer::HistoryArgs;
use crate::exact_json;
use crate::failure::{Failure, FailureKind};
use crate::ops::profile::{pending, read};
use crate::plan::profile::diff::Change;
use crate::plan::profile::stored::Profile;
use crate::report::table::{header, new_table, render};
use crate::report::terminal::OutputStyle;
use crate::sanitize::sanitize_line;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark, Snapshot, SnapshotEntry};

/// A snapshot as it is listed.
type Listed = (SnapshotEntry, Snapshot);

/// Lists this customer's snapshots, newest first, with what each replacement changed; with `--check`, looks again for
/// the newest of unknown outcome.
///
/// # Errors
/// As [`read::read_profile`]: which customer it is, only the service can say.
pub async fn list(service: &Service<'_>, args: &HistoryArgs) -> Result<(), Failure> {
    let stored = read::read_profile(service).await?;
    let store = CustomerStore::of(service.session.context, &service.settings, &stored.customer_key())?;
    let entries = store.entries()?.into_iter();
    let listed: Vec<Listed> =
        entries.filter_map(|entry| Some((entry.clone(), store.read(&entry.path).ok()?))).collect();
    if args.check {
        return check(service, &store, &stored, &listed);
    }
    let report = service.session.report;
    if report.is_json() {
        return listed.iter().try_for_each(|listed| report.json(&as_json(listed)));
    }
    if listed.is_empty() {
        report.status("no snapshot of this customer on this machine; one is taken before each replacement");
        return Ok(());
    }
    report.stdout(&table(&listed, report.stdout_style()))
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

fn table(listed: &[Listed], screen: OutputStyle) -> String {
    let mut table = new_table(screen);
    table.set_header(header(&["SNAPSHOT", "BEFORE", "OUTCOME", "CHANGED"]));
    for (entry, snapshot) in listed {
        let changes = snapshot.changes();
        let paths = changes.iter().map(|change| sanitize_line(&change.path.to_string()));
        let paths = paths.collect::<Vec<_>>().join("\n");
        table.add_row([
            snapshot.name().to_owned(),
            snapshot.operation.clone(),
            outcome(entry).to_owned(),
            paths,
        ]);
    }
    format!("{}\n", render(&table))
}
