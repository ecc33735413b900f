//! The batches that ran on this machine, and where each has its journal. What became of their records only the journals say.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::JournalHeader;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::text::hash::fnv1a;

/// So many are kept: those that began last.
const MOST: usize = 200;

/// A batch that began on this machine. Every file is of one journal, and has the last run over it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KnownRun {
    /// The journal.
    pub path: PathBuf,
    /// What it is of, for when it is gone.
    pub header: JournalHeader,
}

impl KnownRun {
    /// When its last run began.
    fn started(&self) -> Option<Timestamp> {
        self.header.started.parse().ok()
    }

    /// Whether its last run began less than `age` ago.
    pub fn is_newer_than(&self, now: Timestamp, age: Duration) -> bool {
        self.started().is_none_or(|started| now.duration_since(started).unsigned_abs() < age)
    }
}

/// Notes that a run begins. A help: a run that cannot be noted is not listed.
pub fn note_run(context: &Context, journal: &Path, header: &JournalHeader) {
    let Ok(directory) = directory(context) else { return };
    let name = format!("{:016x}.json", fnv1a(journal.as_os_str().as_encoded_bytes()));
    let run = KnownRun { path: journal.to_owned(), header: header.clone() };
    // JSON has no place for a path that cannot be written as text.
    let Ok(text) = serde_json::to_vec(&run) else { return };
    let _ = context.storage.replace(&directory.join(name), &text);
    let files = context.storage.list(&directory).unwrap_or_default();
    if files.len() <= MOST {
        return;
    }
    let mut dated: Vec<(Option<Timestamp>, PathBuf)> =
        files.into_iter().map(|file| (read(context, &file).and_then(|run| run.started()), file)).collect();
    dated.sort_unstable();
    let surplus = dated.len() - MOST;
    for (_, file) in dated.into_iter().take(surplus) {
        let _ = context.storage.remove(&file);
    }
}

/// The batches that are known, the one that began last first.
///
/// # Errors
/// `usage` when no state directory is known, `internal` when it cannot be read.
pub fn known_runs(context: &Context) -> Result<Vec<KnownRun>, Failure> {
    let directory = directory(context)?;
    let files = context
        .storage
        .list(&directory)
        .map_err(|error| Failure::internal(format!("`{}` cannot be read: {error}", directory.display())))?;
    let mut runs: Vec<KnownRun> = files.iter().filter_map(|file| read(context, file)).collect();
    runs.sort_by_key(|run| Reverse(run.started()));
    Ok(runs)
}

fn directory(context: &Context) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("runs"))
}

fn read(context: &Context, file: &Path) -> Option<KnownRun> {
    serde_json::from_slice(&context.storage.read(file).ok()?).ok()
}
