//! Opens a journal: reads what is there before anything is sent, and writes only after the input is in order.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::read::{self, PreviousRuns};
use super::write::unwritable;
use super::{JournalHeader, JournalLine};
use crate::system::clock::Clock;
use crate::system::storage::{Lock, Log, LogAccess, Storage, lock_of, parent, real_path};
use storefront_core::failure::Failure;
use storefront_core::hint::{HintCommand, hint};

/// How often a journal's lock is tried: a process that only checks holds it for a moment.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// Where the files of a batch are, and what to do with a journal that exists.
#[derive(Debug, Clone)]
pub struct Files {
    /// The batch's own journal.
    pub journal: PathBuf,
    /// The real path of the input, in whose directory its other journals are; `None` for standard input.
    pub input: Option<PathBuf>,
    /// Continue the journal, or start one.
    pub resume: bool,
    /// Discard the journal.
    pub restart: bool,
    /// Whether, if neither is set, a new journal takes its place even if something is left to do.
    pub replaces_unfinished: bool,
    /// The commands for both, for hints.
    pub commands: Commands,
}

/// The commands that run a batch with an existing journal again.
#[derive(Debug, Clone)]
pub struct Commands {
    /// Continues with the journal.
    pub resume: HintCommand,
    /// Discards it.
    pub restart: HintCommand,
}

/// A journal that was read, and is not written yet.
#[derive(Debug)]
pub struct Opening {
    storage: Arc<dyn Storage>,
    clock: Clock,
    /// Where the files are.
    pub files: Files,
    header: JournalHeader,
    log: Option<(Arc<dyn Log>, Lock)>,
    /// Whether a new journal replaces an existing one.
    starts_new: bool,
    /// The header of the journal that is replaced.
    replaced: Option<JournalHeader>,
    /// What earlier runs left, even in a journal that is to be discarded.
    pub past: PreviousRuns,
}

impl Opening {
    /// Looks for a journal and for those next to the input, locks the batch's own one and reads it. Creates none: a
    /// refused input leaves nothing behind.
    ///
    /// # Errors
    /// `guard` if there is one that is to be neither resumed nor discarded, if another run holds it, if it belongs to
    /// something else or is damaged, and for another journal of the same input.
    pub async fn read(
        storage: Arc<dyn Storage>,
        clock: Clock,
        files: Files,
        header: JournalHeader,
    ) -> Result<Self, Failure> {
        let log = None;
        let past = PreviousRuns::default();
        let mut opening =
            Self { storage, clock, files, header, log, starts_new: false, replaced: None, past };
        match opening.storage.open_log(&opening.files.journal, LogAccess::Append) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&opening.files.journal, &error)),
            Ok(found) => opening.take(&*found).await?,
        }
        opening.refuse_others().await?;
        Ok(opening)
    }

    /// Locks and reads the batch's own journal.
    async fn take(&mut self, found: &dyn Log) -> Result<(), Failure> {
        let path = &self.files.journal;
        if !found.is_regular().map_err(|error| unreadable(path, &error))? {
            let message = format!("journal `{}` is not a regular file", path.display());
            return Err(Failure::guard(message).hint("choose another file with --journal"));
        }
        let lock = lock(&*self.storage, path).await?;
        // A run that was refused meanwhile may have removed the file.
        let log = self.storage.open_log(path, LogAccess::Append).map_err(|error| unreadable(path, &error))?;
        let starts_new = !self.files.resume && !self.files.restart;
        // A journal that is discarded may have other titles.
        let titles = self.header.titles.clone().filter(|_| !self.files.restart && !starts_new);
        self.past = read::read(path, &log, &JournalHeader { titles, ..self.header.clone() })?;
        if starts_new && !self.files.replaces_unfinished && !self.past.is_void && !self.past.is_settled() {
            return Err(self.already_there());
        }
        self.starts_new = starts_new;
        if starts_new || self.files.restart {
            self.replaced = read::header(&*log).map_err(|error| unreadable(path, &error))?;
        }
        self.log = Some((log, lock));
        Ok(())
    }

    /// Whether a new journal replaces an existing one.
    pub fn starts_new(&self) -> bool {
        self.starts_new
    }

    /// The failure of a run that needs a journal of its own.
    pub fn already_there(&self) -> Failure {
        already_there(&self.files, self.past.is_settled())
    }

    /// Starts to write: the input is in order, and has as many records as `counted` says. A journal that is to be
    /// discarded is discarded here. Nobody else writes it until the lock is dropped.
    ///
    /// # Errors
    /// `internal` if it cannot be written; `guard` as [`Self::read`], for a run that began meanwhile.
    pub async fn begin(
        mut self,
        counted: &JournalHeader,
    ) -> Result<(Arc<dyn Log>, Lock, PreviousRuns), Failure> {
        let path = real_path(&self.files.journal);
        let held = self.log.take();
        let path = &*path;
        let is_new = held.is_none();
        if self.files.restart || self.starts_new() {
            self.past = PreviousRuns::default();
        }
        let failed = |error: io::Error| unwritable(path, &error);
        let started = self.clock.now().to_string();
        let header = JournalLine::Header(Box::new(JournalHeader { started, ..counted.clone() }));
        let header = serde_json::to_string(&header).unwrap_or_default() + "\n";
        let is_replaced = self.ignores_existing();
        let (log, lock) = match held {
            Some((log, lock)) if !is_replaced => {
                continue_run(&*log, &header).map_err(failed)?;
                (log, lock)
            }
            // Windows does not replace an open file. A process that is killed here leaves the one journal or the other.
            Some((log, lock)) => {
                drop(log);
                self.past.close();
                let content = header.into_bytes();
                self.storage.clone().replace_durably(path.to_owned(), content).await.map_err(failed)?;
                (self.storage.open_log(path, LogAccess::Append).map_err(failed)?, lock)
            }
            None => {
                let at_once = self.storage.try_lock(&lock_of(path)).map_err(failed)?;
                let lock = if let Some(lock) = at_once { lock } else { lock(&*self.storage, path).await? };
                // It gets its name after its header is written, so that no journal is ever without one.
                self.storage.create(path, header.as_bytes()).map_err(|error| match error.kind() {
                    // Another process was faster.
                    io::ErrorKind::AlreadyExists if self.files.resume => in_use(path),
                    io::ErrorKind::AlreadyExists => already_there(&self.files, false),
                    _ => unwritable(path, &error),
                })?;
                (self.storage.open_log(path, LogAccess::Append).map_err(failed)?, lock)
            }
        };
        // A process that starts later sees this journal.
        if let Err(failure) = self.refuse_others().await {
            if is_new {
                self.storage.remove(path).map_err(failed)?;
            }
            return Err(failure);
        }
        Ok((log, lock, self.past))
    }

    /// Whether the run begins the journal.
    pub fn begins(&self) -> bool {
        self.log.is_none() || self.ignores_existing()
    }

    /// Whether an existing journal does not count. If a shard has sent nothing, its input may have changed since.
    fn ignores_existing(&self) -> bool {
        let is_empty = self.header.shard.is_some() && self.past.last() == 0;
        self.files.restart || self.starts_new() || self.past.is_void || is_empty
    }

    /// Refuses another journal of this input in which a record was sent, or that another process writes: what it shows as
    /// done would be sent again. Other parts of the same division have other records.
    async fn refuse_others(&self) -> Result<(), Failure> {
        let Some(input) = &self.files.input else { return Ok(()) };
        for (path, name) in journals_of(&*self.storage, input)? {
            let failed = |error: io::Error| unreadable(&path, &error);
            if real_path(&path) == real_path(&self.files.journal) {
                continue;
            }
            let log = match self.storage.open_log(&path, LogAccess::Read) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                log => log.map_err(failed)?,
            };
            let Some(theirs) = read::header(&*log).map_err(failed)? else { continue };
            // A journal with other titles or another store view may also have sent records of this input.
            let JournalHeader { shard, titles, store_view, .. } = theirs.clone();
            let input = name.to_string_lossy().into_owned();
            let same_part = JournalHeader { store_view, input, titles, shard, ..self.header.clone() };
            let is_other = theirs.other_version().is_none() && theirs.mismatch(&same_part).is_some();
            let shown = path.display();
            if !is_other && theirs.is_other_part(&self.header) {
                let is_left = self.replaced.as_ref().is_some_and(|own| theirs.is_left_with(own));
                let is_of_other_copy =
                    self.ignores_existing() && theirs.is_of_other_copy(&self.header) && !is_left;
                if is_of_other_copy && read::read(&path, &log, &same_part)?.last() > 0 {
                    let message = format!("journal `{shown}` belongs to another copy of this input");
                    return Err(Failure::guard(message).hint(
                        "run all shards over the same file; correct records only once every shard has started",
                    ));
                }
                continue;
            }
            if is_other {
                continue;
            }
            let message = if is_in_use(&*self.storage, &path).await? {
                format!("another run over this input is in progress: journal `{shown}`")
            } else if let Some(version) = theirs.other_version() {
                format!("journal `{shown}` of this input {version}")
            } else if read::read(&path, &log, &same_part)?.last() > 0 {
                format!("journal `{shown}` shows records of this input as sent")
            } else {
                continue;
            };
            return Err(Failure::guard(message).hint("finish that run first, or move its journal away"));
        }
        Ok(())
    }
}

/// `INPUT.journal` and `INPUT.I-N.journal` next to an input, each with the input's name in it, which differs if the file
/// has several names.
///
/// # Errors
/// `guard` if its directory cannot be read.
pub fn journals_of(storage: &dyn Storage, input: &Path) -> Result<Vec<(PathBuf, OsString)>, Failure> {
    let is_input = |name: &OsString| {
        let path = parent(input).join(name);
        let is_link = || path.is_file() && same_file::is_same_file(&path, input).unwrap_or(false);
        path.file_name() == input.file_name() || is_link()
    };
    let mut journals = Vec::new();
    for path in storage.list(parent(input)).map_err(|error| unreadable(input, &error))? {
        let names = path.file_name().map(input_names).unwrap_or_default();
        let name = names.into_iter().find(is_input);
        journals.extend(name.map(|name| (path, name)));
    }
    journals.sort();
    Ok(journals)
}

/// The names of the inputs whose journal this file may be, by its name.
fn input_names(journal: &OsStr) -> Vec<OsString> {
    // A name need not be UTF-8, but the ending is ASCII.
    let name = journal.as_encoded_bytes();
    let Some(whole) = name.strip_suffix(b".journal") else { return Vec::new() };
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_shard = |text: &[u8]| {
        let mut numbers = text.split(|byte| *byte == b'-');
        numbers.by_ref().take(2).filter(|text| is_number(text)).count() == 2 && numbers.next().is_none()
    };
    let dot = whole.iter().rposition(|byte| *byte == b'.').filter(|dot| is_shard(&whole[dot + 1..]));
    [whole.len()].into_iter().chain(dot).map(|length| without_end(journal, name.len() - length)).collect()
}

/// A name without its last `count` ASCII characters.
fn without_end(name: &OsStr, count: usize) -> OsString {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let bytes = name.as_bytes();
        OsStr::from_bytes(&bytes[..bytes.len().saturating_sub(count)]).to_owned()
    }
    #[cfg(windows)]
    {
        use std::os::windows::ffi::{OsStrExt, OsStringExt};
        let units: Vec<u16> = name.encode_wide().collect();
        OsString::from_wide(&units[..units.len().saturating_sub(count)])
    }
}

/// Starts a new run in a journal with a header; after a line that was cut off it begins a new line. Existing lines are
/// never changed.
fn continue_run(log: &dyn Log, header: &str) -> io::Result<()> {
    let length = log.length()?;
    let mut last = *b"\n";
    if length > 0 {
        log.reader(length - 1).read_exact(&mut last)?;
    }
    let separator = if last == *b"\n" { "" } else { "\n" };
    log.append(format!("{separator}{header}").as_bytes())?;
    log.sync()
}

async fn lock(storage: &dyn Storage, path: &Path) -> Result<Lock, Failure> {
    try_lock(storage, path, LOCK_ATTEMPTS).await?.ok_or_else(|| in_use(path))
}

fn in_use(path: &Path) -> Failure {
    Failure::guard(format!("journal `{}` is in use by another process", path.display()))
        .hint("wait for it to finish")
}

/// Whether another process writes a journal.
///
/// # Errors
/// `guard` if its lock cannot be tried.
pub async fn is_in_use(storage: &dyn Storage, path: &Path) -> Result<bool, Failure> {
    Ok(try_lock(storage, path, LOCK_ATTEMPTS / 4).await?.is_none())
}

/// The lock of a journal; `None` if another process writes it.
async fn try_lock(storage: &dyn Storage, path: &Path, attempts: u32) -> Result<Option<Lock>, Failure> {
    for attempt in 0..attempts {
        if attempt > 0 {
            tokio::time::sleep(LOCK_INTERVAL).await;
        }
        let lock = storage.try_lock(&lock_of(path)).map_err(|error| unreadable(path, &error))?;
        if lock.is_some() {
            return Ok(lock);
        }
    }
    Ok(None)
}

fn already_there(files: &Files, is_settled: bool) -> Failure {
    let path = files.journal.display();
    let resume = &files.commands.resume;
    let failure = Failure::guard(format!("journal `{path}` already exists"));
    match files.input {
        // Resuming it would succeed, and send nothing.
        Some(_) if is_settled => failure.hint(hint!(
            "it has nothing left to do; to send all of its records again, copy the input to a new file"
        )),
        Some(_) => failure.hint(hint!("continue it with ", resume.clone())),
        None if is_settled => failure.hint(
            "it has nothing left to do; to send all of its records again, name another journal with --journal",
        ),
        // An input without a name has its journal by its content.
        None => failure.hint(hint!(
            "continue it with ",
            resume.clone(),
            "; to run the same once more, name another with --journal"
        )),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::guard(format!("cannot read journal `{}`: {error}", path.display()))
        .hint("choose another file with --journal")
}

#[cfg(test)]
mod tests {
    use super::input_names;

    #[test]
    fn journals_of_an_input_are_told_by_their_names() {
        for (journal, names) in [
            ("a.csv.journal", &["a.csv"][..]),
            ("a.csv.0-4.journal", &["a.csv.0-4", "a.csv"]),
            ("a.csv.12-100.journal", &["a.csv.12-100", "a.csv"]),
            ("a.csv.x-4.journal", &["a.csv.x-4"]),
            ("a.csv.04.journal", &["a.csv.04"]),
            ("a.csv.-.journal", &["a.csv.-"]),
            ("a.csv", &[]),
        ] {
            assert_eq!(input_names(journal.as_ref()), names, "{journal}");
        }
    }
}
