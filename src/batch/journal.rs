//! The journal of a run: NDJSON, appended to and never changed (DESIGN 7).
//!
//! A line `{"record":N,"state":"sending","hash":"…"}` is on disk before the record's request leaves; a line with its
//! verdict follows. Records that begin together share one sync.

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::entry::{Done, Failed, Sending};
use super::past::Past;
use super::verdict::State;
use crate::cli::run::Shard;
use crate::failure::{Applied, Failure};

/// What a journal says of its run in its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The operation, as it is typed.
    pub operation: &'static str,
    /// Name of the input.
    pub input: String,
    /// Which service it is sent to: host and store view.
    pub service: String,
    /// Which part of the input is run.
    pub shard: Option<Shard>,
}

/// What is to be done about a journal that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// There must be none.
    Begin,
    /// Go on with it, or begin it.
    Resume,
    /// Throw it away.
    Restart,
}

/// A journal that is being written. Nobody else can write it meanwhile.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    buffer: RefCell<Vec<u8>>,
    /// How many `sending` lines were appended, and how many of them are on disk.
    appended: Cell<u64>,
    synced: Cell<u64>,
    broken: RefCell<Option<Failure>>,
    pending: Notify,
    on_disk: Notify,
}

/// A journal that was looked into, and is not written yet.
#[derive(Debug)]
pub struct Opening<'a> {
    path: &'a Path,
    mode: Mode,
    header: Header,
    file: Option<File>,
    /// What an earlier run left.
    pub past: Past,
}

impl<'a> Opening<'a> {
    /// Looks for a journal, locks it and reads it. Makes none: an input that is refused leaves nothing behind.
    ///
    /// # Errors
    /// `guard` when there is one and `mode` is [`Mode::Begin`], when another run holds it, and when it belongs to
    /// something else.
    pub fn look(path: &'a Path, mode: Mode, header: Header) -> Result<Self, Failure> {
        let mut opening = Self { path, mode, header, file: None, past: Past::default() };
        match open_private(path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unwritable(path, &error)),
            Ok(file) => opening.take(file)?,
        }
        Ok(opening)
    }

    fn take(&mut self, file: File) -> Result<(), Failure> {
        lock(&file, self.path)?;
        let found = file.metadata().map_err(|error| unwritable(self.path, &error))?;
        // A device or a pipe holds nothing to go on with.
        if found.is_file() && found.len() > 0 {
            match self.mode {
                Mode::Begin => return Err(already_there(self.path)),
                Mode::Resume => self.past = Past::read(self.path, &file, &self.header)?,
                Mode::Restart => {}
            }
        }
        self.file = Some(file);
        Ok(())
    }

    /// Begins to write: the input is in order. A journal to be thrown away is thrown away now.
    ///
    /// # Errors
    /// `internal` when it cannot be written; `guard` as [`Self::look`].
    pub fn begin(mut self) -> Result<(Journal, Past), Failure> {
        let path = self.path;
        let failed = |error| unwritable(path, &error);
        if self.file.is_none() {
            self.take(open_private(path, true).map_err(failed)?)?;
            if self.past.is_there() {
                return Err(already_there(path));
            }
        }
        let Some(file) = self.file else { return Err(already_there(path)) };
        let regular = file.metadata().map_err(failed)?.is_file();
        if self.mode == Mode::Restart && regular {
            file.set_len(0).map_err(failed)?;
        }
        let journal = Journal {
            path: path.to_owned(),
            file: Arc::new(file),
            buffer: RefCell::default(),
            appended: Cell::default(),
            synced: Cell::default(),
            broken: RefCell::default(),
            pending: Notify::new(),
            on_disk: Notify::new(),
        };
        journal.append(&self.header.to_json());
        journal.write()?;
        if regular {
            journal.unless_broken(journal.file.sync_data())?;
            sync_directory(path).map_err(failed)?;
        }
        Ok((journal, self.past))
    }
}

impl Journal {
    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that a record is about to be sent; returns when that is on disk.
    ///
    /// # Errors
    /// `internal` when it cannot be written: the request must not leave then.
    pub async fn sending(&self, record: u64, hash: u64) -> Result<(), Failure> {
        self.append(&Sending::new(record, hash));
        let ticket = self.appended.get() + 1;
        self.appended.set(ticket);
        loop {
            let on_disk = self.on_disk.notified();
            if let Some(broken) = &*self.broken.borrow() {
                return Err(broken.clone());
            }
            if self.synced.get() >= ticket {
                return Ok(());
            }
            on_disk.await;
        }
    }

    /// Notes that a record was applied, or that nothing was to be changed.
    pub fn done(&self, record: u64, hash: u64, status: Option<u16>) {
        self.append(&Done::new(record, hash, status));
    }

    /// Notes that a record failed, or that nobody knows.
    pub fn failed(&self, record: u64, hash: u64, state: State, failure: &Failure) {
        self.append(&Failed::new(record, hash, state, failure));
    }

    /// Keeps the file up with what is appended, as long as it is polled: verdicts are written when there is nothing
    /// else to do, and synced together with the next record that is about to be sent.
    ///
    /// # Errors
    /// `internal` when the file cannot be written. Whoever waits for a line is told as well.
    pub async fn keep_up(&self) -> Failure {
        loop {
            self.pending.notified().await;
            if let Err(failure) = self.flush().await {
                return failure;
            }
        }
    }

    /// Writes what is appended, and syncs it if somebody waits for that.
    async fn flush(&self) -> Result<(), Failure> {
        let waited_for = self.appended.get();
        self.write()?;
        if self.synced.get() < waited_for {
            let file = self.file.clone();
            // On a thread of its own, for what is under way goes on meanwhile.
            let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
            self.unless_broken(synced.unwrap_or_else(|error| Err(io::Error::other(error))))?;
            self.synced.set(waited_for);
            self.on_disk.notify_waiters();
        }
        Ok(())
    }

    /// Writes and syncs everything: the run is over.
    ///
    /// # Errors
    /// As [`Self::keep_up`].
    pub fn close(&self) -> Result<(), Failure> {
        self.write()?;
        self.unless_broken(self.file.sync_data())
    }

    fn append(&self, line: &impl Serialize) {
        let mut buffer = self.buffer.borrow_mut();
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut *buffer, line);
        buffer.push(b'\n');
        self.pending.notify_one();
    }

    fn write(&self) -> Result<(), Failure> {
        if let Some(broken) = &*self.broken.borrow() {
            return Err(broken.clone());
        }
        let mut lines = self.buffer.borrow_mut();
        let written = (&*self.file).write_all(&lines);
        lines.clear();
        self.unless_broken(written)
    }

    /// After the first failure nothing is written any more.
    fn unless_broken(&self, done: io::Result<()>) -> Result<(), Failure> {
        done.map_err(|error| {
            let failure = unwritable(&self.path, &error);
            *self.broken.borrow_mut() = Some(failure.clone());
            self.on_disk.notify_waiters();
            failure
        })
    }
}

impl Header {
    fn to_json(&self) -> Value {
        json!({
            "journal": "storefront",
            "version": 1,
            "operation": self.operation,
            "input": self.input,
            "service": self.service,
            "shard": self.shard.map(|shard| shard.to_string()),
            "begun": jiff::Timestamp::now().to_string(),
        })
    }
}

fn open_private(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(create).read(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The name of a new file is on disk only when its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Failure::guard(format!(
            "another run is writing the journal {}; nothing was sent",
            path.display()
        ))
        .hint("wait for it to end; two runs at once over one input need --shard, or a --journal each")),
        Err(TryLockError::Error(error)) => Err(unwritable(path, &error)),
    }
}

fn already_there(path: &Path) -> Failure {
    Failure::guard(format!(
        "there is a journal of an earlier run: {}; nothing was sent",
        path.display()
    ))
    .hint("--resume goes on where it stopped; --restart throws it away and runs every record again, also those that are done")
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("the journal {} cannot be written: {error}", path.display()))
        .hint("no record is sent that cannot be written down first; make room, or name another place with --journal")
        .applied(Applied::No)
}
