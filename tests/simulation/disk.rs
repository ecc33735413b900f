//! A modelled disk: it fails, is full, and forgets what was not synced when the machine loses its power.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;

use super::goods::{FIRST_ORDER, FIRST_PRODUCT, Scope};
use super::input::InputEdit;
use super::random::Random;
use super::states::State;
use super::world::Owner;
use rusqlite::{Connection, MAIN_DB};
use storefront::system::database::{
    Committing, Database, DatabaseError, Durability, Prepare, Step, commit_together,
};
use storefront::system::storage::{Lock, Log, LogAccess, Storage, Syncing};

/// The disk of one machine.
#[derive(Debug)]
pub struct Disk {
    files: BTreeMap<PathBuf, File>,
    locks: BTreeSet<PathBuf>,
    database: Option<SharedDatabase>,
    random: Random,
    /// How many of a thousand writes and syncs fail.
    pub faults: u64,
    /// How many of a thousand reads fail.
    pub read_faults: u64,
    /// What has happened to it.
    pub reached: BTreeSet<State>,
}

#[derive(Debug, Default, Clone)]
struct File {
    content: Vec<u8>,
    /// What is left of it when the power fails; none where the name itself would be gone.
    durable: Option<Vec<u8>>,
    /// What it was since then, the oldest first. The system may have written any of it by itself.
    replaced: Vec<Vec<u8>>,
}

impl File {
    /// All of it is on disk.
    fn sync(&mut self, content: Vec<u8>) {
        self.durable = Some(content);
        self.replaced.clear();
    }
}

/// One process: whether it is alive, and for how long.
#[derive(Debug, Default)]
pub struct Process {
    /// It is dead.
    pub is_dead: bool,
    /// It is killed at this operation on the disk, counted from 0.
    pub dies_at: Option<u64>,
    /// Operations that write, so far.
    pub writes: u64,
    /// Told when it has begun its journal.
    pub begun: Arc<Notify>,
    /// Somebody edits its input once it has begun its journal.
    pub edit: Option<InputEdit>,
    /// Whether that has happened.
    pub is_edited: bool,
    /// Whether another file took its name.
    pub is_renamed: bool,
}

/// The disk as one process uses it.
#[derive(Debug, Clone)]
pub struct Mount {
    disk: Arc<Mutex<Disk>>,
    process: Arc<Mutex<Process>>,
}

impl Disk {
    /// An empty one.
    pub fn new(seed: u64, faults: u64, read_faults: u64) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            files: BTreeMap::new(),
            locks: BTreeSet::new(),
            database: None,
            random: Random::new(seed),
            faults,
            read_faults,
            reached: BTreeSet::new(),
        }))
    }

    /// Cuts a file off after so many lines; whether something was lost.
    pub fn cut(&mut self, path: &Path, lines: usize) -> bool {
        let Some(file) = self.files.get_mut(path) else { return false };
        let kept: Vec<u8> =
            file.content.split_inclusive(|byte| *byte == b'\n').take(lines).flatten().copied().collect();
        let is_shorter = kept.len() < file.content.len();
        file.content.clone_from(&kept);
        file.sync(kept);
        is_shorter
    }

    /// Somebody writes a file.
    pub fn put(&mut self, path: &Path, content: Vec<u8>) {
        self.files
            .insert(path.to_owned(), File { durable: Some(content.clone()), content, ..File::default() });
    }

    /// It works from now on.
    pub fn heal(&mut self) {
        (self.faults, self.read_faults) = (0, 0);
    }

    /// What is in a file.
    pub fn content(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.content.as_slice())
    }

    /// What would be left of a file if the power failed now.
    pub fn durable(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path)?.durable.as_deref()
    }

    /// The power fails: of what was not synced a part is left, or nothing.
    pub fn lose_power(&mut self) {
        self.locks.clear();
        self.lose_commits();
        let (random, reached) = (&mut self.random, &mut self.reached);
        self.files.retain(|_, file| {
            if file.durable.as_ref() == Some(&file.content) || random.chance(30) {
                file.sync(file.content.clone());
                return true;
            }
            reached.insert(State::PowerLost);
            if !file.replaced.is_empty() {
                let at = usize::try_from(random.below(file.replaced.len() as u64 + 1)).unwrap();
                let written = file.replaced.drain(..).nth(at);
                file.durable = written.or(file.durable.take());
            }
            let Some(durable) = file.durable.clone() else { return false };
            file.content = match file.content.strip_prefix(&durable[..]) {
                // Of what was appended a part may be there.
                Some(rest) if !rest.is_empty() => {
                    let kept = usize::try_from(random.below(rest.len() as u64)).unwrap();
                    [&durable[..], &rest[..kept]].concat()
                }
                _ => durable,
            };
            file.sync(file.content.clone());
            true
        });
    }

    /// What was committed and not synced is lost, or it was on disk already.
    fn lose_commits(&mut self) {
        let Some(database) = &self.database else { return };
        let database = database.clone();
        let mut database = database.lock().unwrap();
        if !database.has_unsynced || self.random.chance(30) {
            return;
        }
        self.reached.insert(State::PowerLost);
        match database.durable.clone() {
            Some(durable) => {
                let size = durable.len();
                database.connection.deserialize_read_exact(MAIN_DB, &durable[..], size, false).unwrap();
                database.has_unsynced = false;
            }
            None => self.database = None,
        }
    }

    /// Whether the log as it would be left if the power failed now has a write of this record of which nobody knows what became of it.
    pub fn has_open_write(&self, record: u64) -> bool {
        let Some(left) = self.durable_log() else { return false };
        let find = "SELECT EXISTS (SELECT 1 FROM write WHERE record = ?1 AND outcome IS NULL)";
        left.query_row(find, [record.cast_signed()], |row| row.get(0)).unwrap()
    }

    /// The same of an order or of the values of a product in a scope, whichever record wrote it.
    pub fn has_open_write_of(&self, owner: Owner, scope: Scope) -> bool {
        let Some(left) = self.durable_log() else { return false };
        let (kind, id, scope) = match owner {
            Owner::Customer(number) => ("customer", number + 1, None),
            Owner::Order(number) => ("order", FIRST_ORDER + number, None),
            Owner::Product(number) => ("product", FIRST_PRODUCT + number, Some(scope.code())),
        };
        let find = "SELECT EXISTS (SELECT 1 FROM write WHERE owner_kind = ?1 AND owner = ?2 AND scope IS ?3 \
                    AND outcome IS NULL)";
        left.query_row(find, (kind, id.to_string(), scope), |row| row.get(0)).unwrap()
    }

    /// The profiles as they were before the writes of which nobody knows what became of them, by the log as it would be left if the
    /// power failed now.
    pub fn kept_profiles(&self) -> Vec<Value> {
        let Some(left) = self.durable_log() else { return Vec::new() };
        let find = "SELECT stored FROM write JOIN document ON document.write = coalesce(part_of, write.id) \
                    WHERE outcome IS NULL";
        let mut find = left.prepare(find).unwrap();
        let texts = find.query_map([], |row| row.get::<_, String>(0)).unwrap();
        texts.map(|text| serde_json::from_str(&text.unwrap()).unwrap()).collect()
    }

    /// The log as it would be left if the power failed now.
    fn durable_log(&self) -> Option<Connection> {
        let database = self.database.as_ref()?.lock().unwrap();
        let durable = database.durable.as_ref()?;
        let mut left = Connection::open_in_memory().unwrap();
        left.deserialize_read_exact(MAIN_DB, &durable[..], durable.len(), true).unwrap();
        Some(left)
    }

    fn may_fail(&mut self) -> io::Result<()> {
        let outcome = failed(&mut self.random, self.faults);
        self.reached.extend(outcome.is_err().then_some(State::DiskFull));
        outcome
    }

    fn may_fail_to_read(&mut self) -> io::Result<()> {
        let outcome = failed(&mut self.random, self.read_faults);
        self.reached.extend(outcome.is_err().then_some(State::DiskUnreadable));
        outcome
    }
}

/// A failure of a disk.
fn failed(random: &mut Random, in_a_thousand: u64) -> io::Result<()> {
    if in_a_thousand > 0 && random.below(1000) < in_a_thousand {
        let kind = if random.chance(50) { ErrorKind::StorageFull } else { ErrorKind::Other };
        return Err(io::Error::from(kind));
    }
    Ok(())
}

impl Mount {
    /// The disk for one process.
    pub fn new(disk: &Arc<Mutex<Disk>>, process: &Arc<Mutex<Process>>) -> Self {
        Self { disk: disk.clone(), process: process.clone() }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }

    /// Counts a write; a process may die before it.
    fn write(&self) -> io::Result<MutexGuard<'_, Disk>> {
        let mut process = self.process.lock().unwrap();
        if process.dies_at == Some(process.writes) {
            process.is_dead = true;
            self.disk().reached.insert(State::DiedAtDisk);
        }
        process.writes += 1;
        if process.is_dead {
            return Err(io::Error::other("the process is dead"));
        }
        let mut disk = self.disk();
        disk.may_fail()?;
        Ok(disk)
    }

    /// Takes note that a journal is begun; an editor may wait for that.
    fn wrote(&self, path: &Path) {
        if path.extension().is_none_or(|extension| extension != "journal") {
            return;
        }
        let mut process = self.process.lock().unwrap();
        process.begun.notify_one();
        if let Some(edit) = process.edit.take_if(|edit| edit.delay.is_zero()) {
            edit.perform();
            (process.is_edited, process.is_renamed) = (true, edit.is_renamed);
        }
    }
}

struct HeldLock(Mount, PathBuf);

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.0.disk().locks.remove(&self.1);
    }
}

impl Storage for Mount {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut disk = self.disk();
        disk.may_fail_to_read()?;
        disk.files.get(path).map(|file| file.content.clone()).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut disk = self.disk();
        disk.may_fail_to_read()?;
        let below = disk.files.keys().filter_map(|path| path.strip_prefix(directory).ok()?.iter().next());
        let names: BTreeSet<_> = below.collect();
        Ok(names.into_iter().map(|name| directory.join(name)).collect())
    }

    fn create_from(&self, path: &Path, content: &mut dyn Read) -> io::Result<()> {
        let mut text = Vec::new();
        content.read_to_end(&mut text)?;
        let mut disk = self.write()?;
        if disk.files.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let file = File { durable: Some(text.clone()), content: text, ..File::default() };
        disk.files.insert(path.to_owned(), file);
        drop(disk);
        self.wrote(path);
        Ok(())
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut disk = self.write()?;
        if let Some(file) = disk.files.get_mut(path) {
            let before = std::mem::replace(&mut file.content, content.to_vec());
            file.replaced.push(before);
        } else {
            let file = File { content: content.to_vec(), ..File::default() };
            disk.files.insert(path.to_owned(), file);
        }
        Ok(())
    }

    fn replace_durably(self: Arc<Self>, path: PathBuf, content: Vec<u8>) -> Syncing {
        Box::pin(async move {
            let mut disk = self.write()?;
            let file = File { durable: Some(content.clone()), content, ..File::default() };
            disk.files.insert(path, file);
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.write()?;
        disk.files.remove(path).map(drop).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        let is_free = self.disk().locks.insert(path.to_owned());
        Ok(is_free.then(|| Box::new(HeldLock(self.clone(), path.to_owned())) as Box<dyn Any>))
    }

    fn open_log(&self, path: &Path, _: LogAccess) -> io::Result<Arc<dyn Log>> {
        if !self.disk().files.contains_key(path) {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(Arc::new(OpenLog { mount: self.clone(), path: path.to_owned() }))
    }

    fn has_database(&self, _: &Path) -> bool {
        self.disk().database.is_some()
    }

    fn open_database(&self, _: &Path, prepare: Prepare) -> Result<Arc<dyn Database>, DatabaseError> {
        if self.disk().database.is_none() {
            drop(self.write()?);
            let mut connection = Connection::open_in_memory()?;
            prepare(&mut connection)?;
            let created = ModelledDatabase { connection, durable: None, has_unsynced: true };
            self.disk().database = Some(Arc::new(Mutex::new(created)));
        }
        let database = self.disk().database.clone().unwrap();
        Ok(Arc::new(OpenDatabase { mount: self.clone(), database }))
    }

    fn unnamed(&self, _: &Path) -> io::Result<std::fs::File> {
        drop(self.write()?);
        // Nobody else sees it: it does not matter on which disk it is.
        tempfile::tempfile()
    }
}

/// The database of a machine, in memory.
#[derive(Debug)]
struct ModelledDatabase {
    connection: Connection,
    /// What is left of it when the power fails; none where that is nothing.
    durable: Option<Vec<u8>>,
    /// Whether something was committed since.
    has_unsynced: bool,
}

type SharedDatabase = Arc<Mutex<ModelledDatabase>>;

/// The database as one process uses it.
#[derive(Debug)]
struct OpenDatabase {
    mount: Mount,
    database: SharedDatabase,
}

impl ModelledDatabase {
    fn commit(&mut self, step: Step, durability: Durability) -> Result<(), DatabaseError> {
        commit_together(&self.connection, [step])?;
        self.has_unsynced = durability == Durability::Buffered;
        if !self.has_unsynced {
            self.durable = Some(self.connection.serialize(MAIN_DB)?.to_vec());
        }
        Ok(())
    }
}

impl Database for OpenDatabase {
    fn read(&self, query: &mut dyn FnMut(&Connection) -> rusqlite::Result<()>) -> Result<(), DatabaseError> {
        self.mount.disk().may_fail_to_read()?;
        Ok(query(&self.database.lock().unwrap().connection)?)
    }

    fn commit(&self, step: Step, durability: Durability) -> Committing {
        let (mount, database) = (self.mount.clone(), self.database.clone());
        let write = move || {
            drop(mount.write()?);
            database.lock().unwrap().commit(step, durability)
        };
        if durability == Durability::Buffered {
            return Box::pin(std::future::ready(write()));
        }
        let takes = self.mount.disk().random.millis(0, 30);
        Box::pin(async move {
            tokio::time::sleep(takes).await;
            write()
        })
    }
}

#[derive(Debug)]
struct OpenLog {
    mount: Mount,
    path: PathBuf,
}

impl OpenLog {
    fn with<T>(&self, disk: &mut Disk, act: impl FnOnce(&mut File) -> T) -> io::Result<T> {
        disk.files.get_mut(&self.path).map(act).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Log for OpenLog {
    fn is_regular(&self) -> io::Result<bool> {
        Ok(true)
    }

    fn length(&self) -> io::Result<u64> {
        self.with(&mut self.mount.disk(), |file| file.content.len() as u64)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        match self.mount.write() {
            Ok(mut disk) => {
                self.with(&mut disk, |file| file.content.extend_from_slice(bytes))?;
                drop(disk);
                self.mount.wrote(&self.path);
                Ok(())
            }
            Err(error) => {
                // A part may have been written, by a process that was alive.
                if !self.mount.process.lock().unwrap().is_dead {
                    let mut disk = self.mount.disk();
                    let part = usize::try_from(disk.random.below(bytes.len() as u64 + 1)).unwrap();
                    self.with(&mut disk, |file| file.content.extend_from_slice(&bytes[..part]))?;
                }
                Err(error)
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.mount.write()?;
        self.with(&mut disk, |file| file.sync(file.content.clone()))
    }

    fn sync_concurrently(self: Arc<Self>) -> Syncing {
        Box::pin(async move {
            let takes = self.mount.disk().random.millis(0, 30);
            // What is appended meanwhile is not among what is synced.
            let content = self.with(&mut self.mount.disk(), |file| file.content.clone())?;
            tokio::time::sleep(takes + Duration::from_micros(100)).await;
            let mut disk = self.mount.write()?;
            self.with(&mut disk, |file| file.sync(content))
        })
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let mut disk = self.mount.write()?;
        self.with(&mut disk, |file| file.content.truncate(usize::try_from(length).unwrap()))
    }

    fn reader(&self, offset: u64) -> Box<dyn Read + '_> {
        let content = self.with(&mut self.mount.disk(), |file| file.content.clone()).unwrap_or_default();
        let start = usize::try_from(offset).unwrap().min(content.len());
        Box::new(io::Cursor::new(content[start..].to_vec()))
    }
}
