//! `storefront customer history`: the snapshots taken before each replacement.

use serde_json::Value;

use super::reading;
use crate::commands::service::Service;
use crate::exact_json;
use crate::failure::Failure;
use crate::history::{Archive, Snapshot};
use crate::report::screen::Screen;
use crate::report::table::{heads, table_on, trimmed};

/// Lists this customer's snapshots, newest first, with what each replacement changed.
///
/// # Errors
/// As [`reading::read_profile`]: which customer it is, only the service can say.
pub async fn list(service: &Service<'_>) -> Result<(), Failure> {
    let customer = reading::read_profile(service).await?.customer_key();
    let archive = Archive::of(service.session.context, &service.settings, &customer)?;
    let snapshots = archive.snapshots()?;
    let report = service.session.report;
    if report.is_json() {
        return snapshots.iter().try_for_each(|snapshot| report.json(&as_json(snapshot)));
    }
    if snapshots.is_empty() {
        report.note(
            "there is no snapshot of this customer on this machine; one is taken before each replacement",
        );
        return Ok(());
    }
    report.data(&table(&snapshots, report.stdout()))
}

fn as_json(snapshot: &Snapshot) -> Value {
    exact_json::object([
        ("snapshot", snapshot.name().into()),
        ("taken", snapshot.taken.as_str().into()),
        ("operation", snapshot.operation.as_str().into()),
        ("changes", snapshot.changes.clone().into()),
        ("file", snapshot.path.display().to_string().into()),
    ])
}

fn table(snapshots: &[Snapshot], screen: Screen) -> String {
    let mut table = table_on(screen);
    table.set_header(heads(&["SNAPSHOT", "BEFORE", "CHANGED"]));
    for snapshot in snapshots {
        let paths = snapshot.changes.iter().filter_map(|change| change["path"].as_str());
        let changed = paths.map(crate::report::escape::one_line).collect::<Vec<_>>().join("\n");
        table.add_row([snapshot.name().to_owned(), snapshot.operation.clone(), changed]);
    }
    format!("{}\n", trimmed(&table))
}
