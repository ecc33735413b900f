//! Opens a journal: looks at what is there before anything is sent, and begins to write only when the input is in order.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::read::{self, PreviousRun};
use super::write::unwritable;
use super::{Header, Line};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::storage::{Log, Storage, parent};

/// How often a journal's lock is tried: who looks at a neighbour holds its lock for a moment.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// What is to be done about a journal that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// There must be none.
    Begin,
    /// Go on with it, or begin it.
    Resume,
    /// Discard it.
    Restart,
}

/// Where the files of a batch are.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The batch's own journal.
    pub journal: PathBuf,
    /// The real path of the input, next to which other journals of it are; none for standard input.
    pub input: Option<PathBuf>,
}

/// A journal that was looked into, and is not written yet.
#[derive(Debug)]
pub struct Opening {
    storage: Arc<dyn Storage>,
    clock: Clock,
    /// Where the files are.
    pub paths: Paths,
    mode: Mode,
    header: Header,
    log: Option<Arc<dyn Log>>,
    /// What earlier runs left; of a journal to be discarded, too.
    pub past: PreviousRun,
}

impl Opening {
    /// Looks for a journal and for those next to the input, locks its own and reads it. Creates none: an input that is
    /// refused leaves nothing behind.
    ///
    /// # Errors
    /// `guard` when there is one and `mode` is [`Mode::Begin`], when another run holds it, when it belongs to something
    /// else or is damaged, and for another journal of the same input.
    pub async fn look(
        storage: Arc<dyn Storage>,
        clock: Clock,
        paths: Paths,
        mode: Mode,
        header: Header,
    ) -> Result<Self, Failure> {
        let past = PreviousRun::default();
        let mut opening = Self { storage, clock, paths, mode, header, log: None, past };
        match opening.storage.open_log(&opening.paths.journal, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&opening.paths.journal, &error)),
            Ok(log) => opening.take(log).await?,
        }
        opening.refuse_others().await?;
        Ok(opening)
    }

    /// Locks and reads the batch's own journal.
    async fn take(&mut self, log: Arc<dyn Log>) -> Result<(), Failure> {
        let path = &self.paths.journal;
        let shown = path.display();
        if !log.is_regular().map_err(|error| unreadable(path, &error))? {
            return Err(Failure::guard(format!("journal `{shown}` is not a regular file"))
                .hint("choose another file with --journal"));
        }
        lock(&*log, path).await?;
        let is_empty = log.length().map_err(|error| unreadable(path, &error))? == 0;
        if !is_empty || self.mode != Mode::Restart {
            self.past = read::read(path, &log, &self.header)?;
        }
        if self.mode == Mode::Begin {
            return Err(already_there(path));
        }
        self.log = Some(log);
        Ok(())
    }

    /// Begins to write: the input is in order. A journal to be discarded is discarded now.
    ///
    /// # Errors
    /// `internal` when it cannot be written; `guard` as [`Self::look`], for a run that began meanwhile.
    pub async fn begin(self) -> Result<(Arc<dyn Log>, PreviousRun), Failure> {
        let path = &self.paths.journal;
        let failed = |error: io::Error| unwritable(path, &error);
        let started = self.clock.now().to_string();
        let header = Line::Header(Header { started, ..self.header.clone() });
        let header = serde_json::to_string(&header).unwrap_or_default() + "\n";
        let log = if let Some(log) = &self.log {
            continue_or_replace(&**log, self.mode, &header).map_err(failed)?;
            log.clone()
        } else {
            self.storage.create(path, header.as_bytes()).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => already_there(path),
                _ => unwritable(path, &error),
            })?;
            let log = self.storage.open_log(path, false).map_err(failed)?;
            lock(&*log, path).await?;
            log
        };
        // A process that starts later sees ours.
        if let Err(failure) = self.refuse_others().await {
            if self.log.is_none() {
                self.storage.remove(path).map_err(failed)?;
            }
            return Err(failure);
        }
        Ok((log, if self.mode == Mode::Restart { PreviousRun::default() } else { self.past }))
    }

    /// Refuses another journal of this input in which a record was sent, or into which another process writes: what it
    /// shows as done would be sent again. Other parts of the same division have other records.
    async fn refuse_others(&self) -> Result<(), Failure> {
        let Some(input) = &self.paths.input else { return Ok(()) };
        let canonical = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let same_part = |theirs: &Header| Header { shard: theirs.shard.clone(), ..self.header.clone() };
        for path in journals_of(&*self.storage, input)? {
            let failed = |error: io::Error| unreadable(&path, &error);
            if path == self.paths.journal || canonical(&path) == canonical(&self.paths.journal) {
                continue;
            }
            let log = match self.storage.open_log(&path, false) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                log => log.map_err(failed)?,
            };
            let Some(theirs) = read::header(&*log).map_err(failed)? else { continue };
            if theirs.is_other_part(&self.header)
                || theirs.other_version().is_none() && theirs.mismatch(&same_part(&theirs)).is_some()
            {
                continue;
            }
            let shown = path.display();
            let message = if self.is_running(&path).await? {
                format!("another run over this input is in progress: journal `{shown}`")
            } else if let Some(version) = theirs.other_version() {
                format!("journal `{shown}` of this input {version}")
            } else if read::read(&path, &log, &same_part(&theirs))?.last() > 0 {
                format!("journal `{shown}` shows records of this input as sent")
            } else {
                continue;
            };
            return Err(Failure::guard(message).hint("finish that run first, or move its journal away"));
        }
        Ok(())
    }

    /// Whether another process writes a journal. The lock is released at once, and tried again where another process
    /// looks at the same moment.
    async fn is_running(&self, path: &Path) -> Result<bool, Failure> {
        for _ in 0..5 {
            let locked = self.storage.open_log(path, false).and_then(|log| log.try_lock());
            if locked.map_err(|error| unreadable(path, &error))? {
                return Ok(false);
            }
            tokio::time::sleep(LOCK_INTERVAL / 4).await;
        }
        Ok(true)
    }
}

/// `INPUT.journal` and `INPUT.I-N.journal` next to an input.
///
/// # Errors
/// `guard` where its directory cannot be read.
pub fn journals_of(storage: &dyn Storage, input: &Path) -> Result<Vec<PathBuf>, Failure> {
    let Some(name) = input.file_name().and_then(|name| name.to_str()) else { return Ok(Vec::new()) };
    let mut paths = storage.list(parent(input)).map_err(|error| unreadable(input, &error))?;
    paths.retain(|path| {
        path.file_name().and_then(|other| other.to_str()).is_some_and(|other| is_journal_of(name, other))
    });
    paths.sort();
    Ok(paths)
}

/// Whether a file name is that of a journal of the input `input`.
fn is_journal_of(input: &str, name: &str) -> bool {
    let Some(middle) = name.strip_prefix(input).and_then(|rest| rest.strip_suffix(".journal")) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let shard = middle.strip_prefix('.').and_then(|shard| shard.split_once('-'));
    middle.is_empty() || shard.is_some_and(|(index, of)| is_number(index) && is_number(of))
}

/// A new run in a journal begins with a header; after a line that was cut off it is on a line of its own. What was
/// written is never changed.
fn continue_or_replace(log: &dyn Log, mode: Mode, header: &str) -> io::Result<()> {
    let length = log.length()?;
    if mode == Mode::Restart {
        log.truncate(0)?;
        log.append(header.as_bytes())?;
    } else {
        let mut last = [b'\n'];
        if length > 0 {
            log.reader(length - 1).read_exact(&mut last)?;
        }
        let separator = if last == [b'\n'] { "" } else { "\n" };
        log.append(format!("{separator}{header}").as_bytes())?;
    }
    log.sync()
}

async fn lock(log: &dyn Log, path: &Path) -> Result<(), Failure> {
    for attempt in 1..=LOCK_ATTEMPTS {
        if log.try_lock().map_err(|error| unreadable(path, &error))? {
            return Ok(());
        }
        if attempt < LOCK_ATTEMPTS {
            tokio::time::sleep(LOCK_INTERVAL).await;
        }
    }
    Err(Failure::guard(format!("journal `{}` is in use by another process", path.display()))
        .hint("wait for it to finish, or give each process its own --shard or --journal"))
}

fn already_there(path: &Path) -> Failure {
    Failure::guard(format!("journal `{}` already exists", path.display())).hint("use --resume to continue it")
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::guard(format!("cannot read journal `{}`: {error}", path.display()))
        .hint("choose another file with --journal")
}

#[cfg(test)]
mod tests {
    use super::is_journal_of;

    #[test]
    fn journals_of_an_input_are_told_by_their_names() {
        for name in ["a.csv.journal", "a.csv.0-4.journal", "a.csv.12-100.journal"] {
            assert!(is_journal_of("a.csv", name), "{name}");
        }
        for name in [
            "a.csv",
            "b.csv.journal",
            "a.csv.x-4.journal",
            "a.csv.04.journal",
            "a.csv.bak.journal",
            "a.csv.-.journal",
        ] {
            assert!(!is_journal_of("a.csv", name), "{name}");
        }
    }
}
