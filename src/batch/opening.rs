//! Opens a journal: looks at what is there before anything is sent, and begins to write only when the input is in order.

mod neighbours;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::shards::check_shards;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::journal::header::Header;
use crate::journal::reading::{self, Unread};
use crate::journal::replay::PreviousRun;
use crate::journal::writer::{Journal, unwritable};
use crate::storage::{Log, Storage};

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
pub struct Places {
    /// The batch's own journal.
    pub journal: PathBuf,
    /// The real path of the input, next to which journals of other shards are; none for standard input.
    pub input: Option<PathBuf>,
}

/// A journal that was looked into, and is not written yet.
#[derive(Debug)]
pub struct Opening {
    storage: Arc<dyn Storage>,
    clock: Clock,
    places: Places,
    mode: Mode,
    header: Header,
    log: Option<Arc<dyn Log>>,
    /// How long the journals next to the input were when they were read.
    lengths: HashMap<PathBuf, u64>,
    /// What earlier runs left.
    pub past: PreviousRun,
}

impl Opening {
    /// Looks for a journal and for those next to the input, locks its own and reads them. Creates none: an input that
    /// is refused leaves nothing behind.
    ///
    /// # Errors
    /// `guard` when there is one and `mode` is [`Mode::Begin`], when another run holds it, when it belongs to something
    /// else or is damaged, and while a run over the same input goes on that is not another shard of the same number.
    pub async fn look(
        storage: Arc<dyn Storage>,
        clock: Clock,
        places: Places,
        mode: Mode,
        header: Header,
    ) -> Result<Self, Failure> {
        let mut opening = Self {
            storage,
            clock,
            places,
            mode,
            header,
            log: None,
            lengths: HashMap::new(),
            past: PreviousRun::default(),
        };
        match opening.storage.open_log(&opening.places.journal, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&opening.places.journal, &error)),
            Ok(log) => opening.take(log).await?,
        }
        opening.read_neighbours().await?;
        Ok(opening)
    }

    /// Locks and reads the batch's own journal.
    async fn take(&mut self, log: Arc<dyn Log>) -> Result<(), Failure> {
        let path = &self.places.journal;
        if !log.is_regular().map_err(|error| unreadable(path, &error))? {
            return Err(Failure::guard(format!("journal `{}` is not a regular file", path.display()))
                .hint("choose another file with --journal"));
        }
        lock(&*log, path).await?;
        match self.mode {
            Mode::Begin => return Err(already_there(path)),
            Mode::Resume => {
                let read = reading::read(path, &*log, &self.header, directory(path));
                let journal = read.map_err(|unread| self.unfit(unread))?;
                check_shards(path, &journal.shards, self.header.shard)?;
                self.past.set_own(path.clone(), log.clone(), journal);
            }
            Mode::Restart => self.is_replaceable(&*log)?,
        }
        self.log = Some(log);
        Ok(())
    }

    /// Only a journal is replaced, or a file in which there is nothing.
    fn is_replaceable(&self, log: &dyn Log) -> Result<(), Failure> {
        let path = &self.places.journal;
        let failed = |error| unreadable(path, &error);
        let is_empty = log.length().map_err(failed)? == 0;
        let first = reading::first_line(log).map_err(failed)?;
        if is_empty || first.is_some_and(|line| line.is_journal()) {
            return Ok(());
        }
        Err(Failure::guard(format!("`{}` is not a storefront journal", path.display()))
            .hint("--restart replaces only a journal: choose another file with --journal"))
    }

    fn unfit(&self, unread: Unread) -> Failure {
        let path = self.places.journal.display();
        match unread {
            Unread::Refused(failure) => failure,
            Unread::Other(mismatch) => Failure::guard(format!("journal `{path}` {mismatch}"))
                .hint("select the right journal with --journal, or use --restart"),
            // It never is empty by itself: its first line is written together with its name.
            Unread::Empty => {
                Failure::guard(format!("journal `{path}` is empty: what was sent before is unknown"))
                    .hint("restore it, or use --restart if no record was sent")
            }
        }
    }

    /// Begins to write: the input is in order. A journal to be discarded is discarded now.
    ///
    /// # Errors
    /// `internal` when it cannot be written; `guard` as [`Self::look`], for a run that began meanwhile.
    pub async fn begin(self) -> Result<(Journal, PreviousRun), Failure> {
        let path = &self.places.journal;
        let failed = |error: io::Error| unwritable(path, &error);
        let mut header = self.header.to_json(&self.clock.now().to_string()).to_string();
        header.push('\n');
        let is_new = self.log.is_none();
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
        if let Some(other) = self.running_neighbour().await? {
            if is_new {
                self.storage.remove(path).map_err(failed)?;
            }
            return Err(neighbours::running(&other));
        }
        Ok((Journal::new(path.clone(), log), self.past))
    }
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
            io::Read::read_exact(&mut log.reader(length - 1), &mut last)?;
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
    Failure::guard(format!("journal `{}` already exists", path.display()))
        .hint("use --resume to continue it, or --restart to discard it and process every record again")
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::guard(format!("cannot read journal `{}`: {error}", path.display()))
        .hint("choose another file with --journal")
}

/// The directory of a file.
pub fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
