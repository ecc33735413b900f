//! The batches that ran on this machine, and where each has its journal. Only the journals say what became of their
//! records.

use std::path::{Path, PathBuf};

use super::JournalHeader;
use crate::log::WriteLog;
use crate::system::context::Context;
use storefront_core::failure::Failure;

/// A batch that began on this machine, with the last run over its journal.
#[derive(Debug, Clone)]
pub struct KnownRun {
    /// The journal.
    pub path: PathBuf,
    /// Its header, for when the journal is gone.
    pub header: JournalHeader,
}

/// A journal as the log names it; `None` if the path cannot be written as text.
pub fn in_log(journal: &Path, header: &JournalHeader) -> Option<(String, serde_json::Value)> {
    Some((journal.to_str()?.to_owned(), serde_json::to_value(header).ok()?))
}

/// The batches that are known, the latest first.
///
/// # Errors
/// `guard` where the log cannot be read, `usage` when no state directory is known.
pub fn known_runs(context: &Context) -> Result<Vec<KnownRun>, Failure> {
    let Some(log) = WriteLog::to_read(context)? else { return Ok(Vec::new()) };
    let known = |(path, header): (String, serde_json::Value)| {
        Some(KnownRun { path: path.into(), header: serde_json::from_value(header).ok()? })
    };
    let runs = log.runs_with_journals()?.into_iter();
    Ok(runs.filter_map(|run| run.journal.and_then(known)).collect())
}
