//! What earlier runs left: the last word on each record in the batch's own journal and in those of other shards.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use super::entry::FailedFileEntry;
use super::reading::ReadJournal;
use crate::failure::{Applied, Failure, FailureKind};
use crate::journal::record_index::{IndexEntries, IndexEntry};
use crate::journal::record_state::RecordState;
use crate::storage::Log;

/// The last word on every record of earlier runs; empty where there was none.
#[derive(Debug, Default)]
pub struct PreviousRun {
    own: Option<Source>,
    /// Journals of the same input that differ in their shard only.
    neighbours: Vec<Source>,
    /// What was odd about them, to be warned of.
    pub notes: Vec<String>,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    log: Arc<dyn Log>,
    journal: ReadJournal,
}

/// What was written of a record in addition to its state.
#[derive(Debug, Default, Clone, Deserialize)]
pub struct Detail {
    /// HTTP status.
    pub status: Option<u16>,
    /// Name of the failure's kind.
    pub kind: Option<String>,
    /// The failure's message.
    pub reason: Option<String>,
    /// Whether it was applied: `yes`, `no`, `unknown` or `partial`.
    pub applied: Option<String>,
    /// The snapshot taken before its request left.
    pub snapshot: Option<String>,
    /// Of one that is `partial`: the cart on which its first call was applied; older journals do not name it.
    pub cart: Option<u64>,
}

/// The first of a record's two calls was applied, and the second is missing.
#[derive(Debug, Clone, Copy)]
pub struct HalfDone {
    /// The cart on which it was applied, where that is known.
    pub cart: Option<u64>,
}

impl Detail {
    /// Whether the record is half done.
    pub fn half_done(&self) -> Option<HalfDone> {
        let is_half_done = self.applied.as_deref() == Some(Applied::Partial.name());
        is_half_done.then_some(HalfDone { cart: self.cart })
    }
}

impl PreviousRun {
    /// Takes the batch's own journal in.
    pub fn set_own(&mut self, path: PathBuf, log: Arc<dyn Log>, journal: ReadJournal) {
        if journal.is_torn {
            self.notes.push(format!("journal `{}`: ignoring an incomplete last line", path.display()));
        }
        self.own = Some(Source { path, log, journal });
    }

    /// Takes the journal of another shard, or of the whole, in.
    pub fn add_neighbour(&mut self, path: PathBuf, log: Arc<dyn Log>, journal: ReadJournal) {
        self.neighbours.push(Source { path, log, journal });
    }

    /// Whether the batch has a journal of its own.
    pub fn exists(&self) -> bool {
        self.own.is_some()
    }

    /// The highest record number the batch's own journal knows.
    pub fn last(&self) -> u64 {
        self.own.as_ref().map_or(0, |own| own.journal.ledger.last)
    }

    /// The files that earlier runs of this journal wrote with `--failed`, oldest first.
    pub fn failed_files(&self) -> &[FailedFileEntry] {
        self.own.as_ref().map_or(&[], |own| &own.journal.failed_files)
    }

    /// The last word on each record, from the first on.
    pub fn entries(&self) -> AllSlots {
        AllSlots {
            own: self.own.as_ref().map(|own| own.journal.ledger.entries()).unwrap_or_default(),
            neighbours: self.neighbours.iter().map(|neighbour| neighbour.journal.ledger.entries()).collect(),
        }
    }

    /// The file name of the journal a slot is from, where that is not the batch's own.
    pub fn neighbour(&self, slot: IndexEntry) -> Option<String> {
        let index = usize::from(slot.journal).checked_sub(1)?;
        let name = self.neighbours.get(index)?.path.file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// The failure a record ended with in the earlier run.
    pub fn failure(&self, slot: IndexEntry) -> Failure {
        let detail = self.entry_at(slot);
        if slot.state != RecordState::FailedPermanent {
            let journal = self.neighbour(slot).map(|name| format!(" (journal `{name}`)")).unwrap_or_default();
            let why = detail.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let mut failure = Failure::new(
                FailureKind::Unknown,
                format!("sent by an earlier run{journal}, with unknown outcome{why}"),
            )
            .hint("check whether it took effect; --resume --retry-unknown sends it again");
            failure.status = detail.status;
            return failure;
        }
        let kind = detail.kind.as_deref().and_then(FailureKind::from_name).unwrap_or(FailureKind::Refused);
        let reason = detail.reason.unwrap_or_else(|| "no reason recorded".to_owned());
        let mut failure = Failure::new(kind, format!("failed in an earlier run: {reason}"))
            .hint("fix the record, then --resume sends it");
        failure.status = detail.status;
        failure.applied = if detail.applied.as_deref() == Some("yes") { Applied::Yes } else { Applied::No };
        failure
    }

    /// What else was written of a record.
    pub fn entry_at(&self, slot: IndexEntry) -> Detail {
        let source = match slot.journal {
            0 => self.own.as_ref(),
            index => self.neighbours.get(usize::from(index) - 1),
        };
        let read = || -> Option<Detail> {
            let mut line = String::new();
            BufReader::with_capacity(1024, source?.log.reader(slot.offset)).read_line(&mut line).ok()?;
            serde_json::from_str(&line).ok()
        };
        read().unwrap_or_default()
    }
}

/// The last word on each record, from all journals together.
#[derive(Debug, Default)]
pub struct AllSlots {
    own: IndexEntries,
    neighbours: Vec<IndexEntries>,
}

impl AllSlots {
    /// The last word on the next record, whose hash is `hash` now.
    ///
    /// # Errors
    /// `internal` when the table cannot be read.
    pub fn read(&mut self, hash: u64) -> Result<IndexEntry, Failure> {
        let own = self.own.read().map_err(|error| unreadable(&error))?;
        let mut settled: Option<IndexEntry> = None;
        for (journal, slots) in (1..).zip(&mut self.neighbours) {
            let slot = IndexEntry { journal, ..slots.read().map_err(|error| unreadable(&error))? };
            let is_settled =
                matches!(slot.state, RecordState::Done | RecordState::Unknown | RecordState::Sending);
            let weighs_more = settled.is_none_or(|other| other.state != RecordState::Done);
            if is_settled && weighs_more && (slot.hash == hash || slot.hash == 0) {
                settled = Some(slot);
            }
        }
        Ok(match (own.state, settled) {
            (RecordState::Done, _) | (_, None) => own,
            (RecordState::Sending | RecordState::Unknown, Some(other))
                if other.state != RecordState::Done =>
            {
                own
            }
            (_, Some(other)) => other,
        })
    }
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::internal(format!("cannot read the journal index: {error}"))
}
