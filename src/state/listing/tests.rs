use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, json};
use storefront_core::outcome::WriteOutcome;

use super::{CustomerStore, SnapshotEntry};
use crate::state::{Reach, Unsent};
use crate::system::clock::Clock;
use crate::system::context::Context;
use crate::system::database::{Database, DatabaseError, Prepare};
use crate::system::storage::{Disk, Lock, Log, LogAccess, Storage, Syncing};

/// The disk, without waiting for it; it counts the names that it lists.
#[derive(Debug, Default)]
struct Counting {
    listed: AtomicUsize,
}

impl Storage for Counting {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Disk.read(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let files = Disk.list(directory)?;
        self.listed.fetch_add(files.len(), Ordering::Relaxed);
        Ok(files)
    }

    fn create(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        Disk.replace(path, content)
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        Disk.replace(path, content)
    }

    fn replace_durably(self: Arc<Self>, path: PathBuf, content: Vec<u8>) -> Syncing {
        Arc::new(Disk).replace_durably(path, content)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn remove_empty_directory(&self, path: &Path) -> io::Result<()> {
        Disk.remove_empty_directory(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        Disk.try_lock(path)
    }

    fn open_log(&self, path: &Path, access: LogAccess) -> io::Result<Arc<dyn Log>> {
        Disk.open_log(path, access)
    }

    fn open_database(&self, path: &Path, prepare: Prepare) -> Result<Arc<dyn Database>, DatabaseError> {
        Disk.open_database(path, prepare)
    }

    fn unnamed(&self, directory: &Path) -> io::Result<std::fs::File> {
        Disk.unnamed(directory)
    }
}

/// A customer's directory below `home`, at midnight of this day.
fn store_on(day: &str, home: &Path, storage: &Arc<Counting>) -> CustomerStore {
    let mut context = Context::detached(&[], home);
    context.storage = storage.clone();
    context.clock = Clock::starting_at(format!("{day}T00:00:00Z").parse().unwrap());
    CustomerStore::at(&context, "marketplace https://shop.example", "1".to_owned(), home.join("1"))
}

/// Takes so many snapshots of updates that were applied.
async fn update(store: &CustomerStore, count: usize) {
    let profile = json!({"id": 1, "addresses": []}).as_object().cloned().unwrap();
    for _ in 0..count {
        let path = store.take("customer update", &profile, &profile, &[]).await.map(Unsent::leaves).unwrap();
        let applied = WriteOutcome::Applied { at: "2026-01-01T00:00:00Z".parse().unwrap(), verified: true };
        store.set_outcome(&path, applied, &[]);
    }
}

#[tokio::test]
async fn an_update_lists_few_names_however_many_snapshots_there_are() {
    let (home, storage) = (tempfile::tempdir().unwrap(), Arc::<Counting>::default());
    let earlier = store_on("2026-01-01", home.path(), &storage);
    earlier.list_once().unwrap();
    update(&earlier, 1_050).await;
    storage.listed.store(0, Ordering::Relaxed);

    // What an update does under the customer's lock.
    let store = store_on("2026-02-01", home.path(), &storage);
    store.list_once().unwrap();
    store.newest_pending().unwrap();
    store.recent(Reach::NewestApplied).unwrap();
    store.note_read(&Map::new()).await;
    update(&store, 1).await;

    let listed = storage.listed.load(Ordering::Relaxed);
    assert!(listed < 300, "{listed} names were listed");
}

#[tokio::test]
async fn snapshots_are_listed_newest_first_across_directories() {
    let (home, storage) = (tempfile::tempdir().unwrap(), Arc::<Counting>::default());
    let store = store_on("2026-01-01", home.path(), &storage);
    let numbers = || -> Vec<u64> { store.entries().map(|entry| entry.unwrap().number).collect() };
    update(&store, 205).await;
    assert_eq!(numbers(), (1..=205).rev().collect::<Vec<_>>());
    // Under the lock what is taken is added to what was listed.
    store.list_once().unwrap();
    update(&store, 100).await;
    assert_eq!(numbers(), (1..=305).rev().collect::<Vec<_>>());
    assert_eq!(store.named("7").unwrap().number, 7);
}

#[tokio::test]
async fn a_directory_goes_with_its_last_snapshot_and_with_what_killed_commands_left_there() {
    let (home, storage) = (tempfile::tempdir().unwrap(), Arc::<Counting>::default());
    let store = store_on("2026-01-01", home.path(), &storage);
    update(&store, 205).await;
    let all: Vec<SnapshotEntry> = store.entries().map(Result::unwrap).collect();
    let directories = || Disk.list(&store.directory).unwrap().iter().filter(|path| path.is_dir()).count();
    assert_eq!(directories(), 3);
    std::fs::write(all[204].path.with_file_name(".tmpAbC123"), "half a profile").unwrap();
    store.list_once().unwrap();
    store.remove(&all[100..], false).unwrap();
    assert_eq!(directories(), 2, "106 to 205 are in two");
    store.list_once().unwrap();
    store.remove(&all[..100], true).unwrap();
    assert_eq!(directories(), 0);
    // No number is given twice.
    update(&store, 1).await;
    assert_eq!(store.newest(|_| true).unwrap().unwrap().number, 206);
}
