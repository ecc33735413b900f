//! Opens a journal: looks at what is there before anything is sent, and begins to write only when the input is in order.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::failure::Failure;
use crate::journal::read::{self, PreviousRun, Unread};
use crate::journal::write::{Journal, unwritable};
use crate::journal::{Header, Mismatch, Shard};
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
                let read = read::read(path, &*log, &self.header, directory(path));
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
        let first = read::first_line(log).map_err(failed)?;
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
            return Err(running(&other));
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

/// How often a neighbour's lock is tried.
const LOOKS: u32 = 5;
/// As many journals of other shards are read.
const MAX_NEIGHBOURS: usize = 10_000;

/// A journal next to the input, open for reading.
type Neighbour = (PathBuf, Arc<dyn Log>);

impl Opening {
    /// Reads the journals of the same input that differ in their shard only.
    async fn read_neighbours(&mut self) -> Result<(), Failure> {
        for (path, log) in self.neighbours()? {
            let length = log.length().map_err(|error| unreadable(&path, &error))?;
            self.lengths.insert(path.clone(), length);
            match read::read(&path, &*log, &self.header, directory(&path)) {
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
    async fn running_neighbour(&self) -> Result<Option<PathBuf>, Failure> {
        for (path, log) in self.neighbours()? {
            let first = read::first_line(&*log).map_err(|error| unreadable(&path, &error))?;
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

fn running(path: &Path) -> Failure {
    Failure::guard(format!("another run over this input is in progress: journal `{}`", path.display()))
        .hint("wait for it to finish; runs at the same time need --shard I/N with the same N")
}

/// Shards put together are the whole only when none is missing: the records of a missing one would be sent again.
///
/// # Errors
/// `guard` for a journal of another shard, or of some only.
pub fn check_shards(path: &Path, shards: &[Option<Shard>], ours: Option<Shard>) -> Result<(), Failure> {
    let complete = |of: u32| (0..of).all(|index| shards.contains(&Some(Shard { index, count: of })));
    let wrong = shards.iter().find_map(|theirs| match (theirs, ours) {
        (theirs, ours) if *theirs == ours => None,
        (Some(theirs), None) if complete(theirs.count) => None,
        (Some(theirs), None) => Some(incomplete(shards, theirs.count)),
        (Some(theirs), Some(ours)) => Some(format!("belongs to shard {theirs}, expected {ours}")),
        (None, Some(ours)) => Some(format!("covers the whole input, expected shard {ours}")),
        (None, None) => None,
    });
    wrong.map_or(Ok(()), |what| {
        Err(Failure::guard(format!("journal `{}` {what}", path.display()))
            .hint("select the right journal with --journal, or use --restart"))
    })
}

/// Which shards of a division there are, and which are missing.
fn incomplete(shards: &[Option<Shard>], count: u32) -> String {
    const SHOWN: usize = 10;
    let list = |is_there: bool| {
        let all = (0..count).map(|index| Shard { index, count });
        let these: Vec<_> = all.filter(|shard| shards.contains(&Some(*shard)) == is_there).collect();
        let mut names: Vec<_> = these.iter().take(SHOWN).map(ToString::to_string).collect();
        if these.len() > SHOWN {
            names.push(format!("{} more", these.len() - SHOWN));
        }
        format!("shard{} {}", if these.len() == 1 { "" } else { "s" }, names.join(", "))
    };
    format!("covers only {}; missing: {}", list(true), list(false))
}

/// Whether these are other parts of the same division as ours.
pub fn is_other_part(shards: &[Option<Shard>], ours: Option<Shard>) -> bool {
    let Some(ours) = ours else { return false };
    shards
        .iter()
        .all(|theirs| theirs.is_some_and(|theirs| theirs.count == ours.count && theirs.index != ours.index))
}

/// Whether a file name is that of a journal of the input `input`.
pub fn is_journal_of(input: &str, name: &str) -> bool {
    let Some(middle) = name.strip_prefix(input).and_then(|rest| rest.strip_suffix(".journal")) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.is_empty()
        || middle
            .strip_prefix('.')
            .and_then(|shard| shard.split_once('-'))
            .is_some_and(|(index, of)| is_number(index) && is_number(of))
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
