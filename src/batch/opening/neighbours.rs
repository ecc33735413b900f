//! The journals of the same input that belong to other shards, or to another run.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LOCK_INTERVAL, Opening, directory, unreadable};
use crate::batch::shards::{is_journal_of, is_other_part};
use crate::failure::Failure;
use crate::journal::header::Mismatch;
use crate::journal::reading::{self, Unread};
use crate::storage::Log;

/// How often a neighbour's lock is tried.
const LOOKS: u32 = 5;
/// As many journals of other shards are read.
const MAX_NEIGHBOURS: usize = 10_000;

/// A journal next to the input, open for reading.
type Neighbour = (PathBuf, Arc<dyn Log>);

impl Opening {
    /// Reads the journals of the same input that differ in their shard only.
    pub(super) async fn read_neighbours(&mut self) -> Result<(), Failure> {
        for (path, log) in self.neighbours()? {
            let length = log.length().map_err(|error| unreadable(&path, &error))?;
            self.lengths.insert(path.clone(), length);
            match reading::read(&path, &*log, &self.header, directory(&path)) {
                Ok(journal) => {
                    let is_other = is_other_part(&journal.shards, self.header.shard);
                    if !is_other && self.is_running(&path).await? {
                        return Err(running(&path));
                    }
                    self.past.add_neighbour(path, log, journal);
                }
                Err(Unread::Refused(failure)) => return Err(failure),
                Err(Unread::Other(mismatch @ Mismatch::Version(_))) => {
                    return Err(Failure::guard(format!("journal `{}` {mismatch}", path.display())).hint(
                        "it may show records of this input as done: finish it with the version that wrote it, or move it away",
                    ));
                }
                Err(Unread::Empty) => {
                    self.past.notes.push(format!("ignoring journal `{}`: it is empty", path.display()));
                }
                Err(Unread::Other(mismatch)) => {
                    self.past.notes.push(format!("ignoring journal `{}`: it {mismatch}", path.display()));
                }
            }
        }
        Ok(())
    }

    /// Whether another process writes a journal. The lock is released at once, and tried again where another process
    /// looks at the same moment.
    async fn is_running(&self, path: &Path) -> Result<bool, Failure> {
        let failed = |error: io::Error| unreadable(path, &error);
        for _ in 0..LOOKS {
            let free = self.storage.open_log(path, false).and_then(|log| log.try_lock()).map_err(failed)?;
            if free {
                return Ok(false);
            }
            tokio::time::sleep(LOCK_INTERVAL / 4).await;
        }
        Ok(true)
    }

    /// `INPUT.journal` and `INPUT.I-N.journal` next to the input, but the batch's own.
    fn neighbours(&self) -> Result<Vec<Neighbour>, Failure> {
        let Some(input) = &self.places.input else { return Ok(Vec::new()) };
        let Some(name) = input.file_name().and_then(|name| name.to_str()) else { return Ok(Vec::new()) };
        let listed = self.storage.list(directory(input)).map_err(|error| unreadable(input, &error))?;
        let own = dunce::canonicalize(&self.places.journal).unwrap_or_else(|_| self.places.journal.clone());
        let mut paths: Vec<PathBuf> = listed
            .into_iter()
            .filter(|path| {
                path.file_name()
                    .and_then(|other| other.to_str())
                    .is_some_and(|other| is_journal_of(name, other))
            })
            .filter(|path| *path != self.places.journal && *path != own)
            .collect();
        paths.sort();
        if paths.len() > MAX_NEIGHBOURS {
            return Err(Failure::guard(format!(
                "more than {MAX_NEIGHBOURS} journals next to `{}`",
                input.display()
            ))
            .hint("move away those of runs that are finished"));
        }
        let mut found = Vec::new();
        for path in paths {
            match self.storage.open_log(&path, false) {
                Ok(log) if log.is_regular().unwrap_or(false) => found.push((path, log)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&path, &error)),
            }
        }
        Ok(found)
    }

    /// A journal that was written between the look and now. A process that starts later will see ours.
    pub(super) async fn running_neighbour(&self) -> Result<Option<PathBuf>, Failure> {
        for (path, log) in self.neighbours()? {
            let first = reading::first_line(&*log).map_err(|error| unreadable(&path, &error))?;
            let is_of_no_concern = match first.map(|line| self.header.matches(line)) {
                Some(Ok(shard)) => is_other_part(&[shard], self.header.shard),
                // It was looked at before: a journal gets its first line together with its name.
                Some(Err(_)) | None => true,
            };
            let length = log.length().map_err(|error| unreadable(&path, &error))?;
            let has_grown = self.lengths.get(&path) != Some(&length);
            if !is_of_no_concern && (has_grown || self.is_running(&path).await?) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

pub(super) fn running(path: &Path) -> Failure {
    Failure::guard(format!("another run over this input is in progress: journal `{}`", path.display()))
        .hint("wait for it to finish; runs at the same time need --shard I/N with the same N")
}
