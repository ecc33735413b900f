use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;

use super::CustomerStore;
use crate::state::{Unsent, WriteRecord};
use crate::system::context::Context;
use crate::system::database::{Database, DatabaseError, Prepare};
use crate::system::storage::{Disk, Lock, Log, LogAccess, Storage, Syncing};

/// The disk of a machine whose power fails: what was replaced without being synced is then what it was before.
#[derive(Debug, Default)]
struct Forgetful {
    before: Mutex<HashMap<PathBuf, Vec<u8>>>,
}

impl Forgetful {
    fn lose_power(&self) {
        for (path, content) in self.before.lock().unwrap().drain() {
            std::fs::write(path, content).unwrap();
        }
    }
}

impl Storage for Forgetful {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Disk.read(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        Disk.list(directory)
    }

    fn create(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        Disk.create(path, content)
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        // The first content of a file is written by the system while the command waits for the service.
        if let Ok(before) = Disk.read(path) {
            self.before.lock().unwrap().entry(path.to_owned()).or_insert(before);
        }
        Disk.replace(path, content)
    }

    fn replace_durably(self: Arc<Self>, path: PathBuf, content: Vec<u8>) -> Syncing {
        self.before.lock().unwrap().remove(&path);
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

/// Such a disk with a snapshot of an update that removes addresses 2 and 3, of which nothing has left.
async fn prepared(home: &Path) -> (Arc<Forgetful>, CustomerStore, PathBuf) {
    let (mut context, storage) = (Context::detached(&[], home), Arc::<Forgetful>::default());
    context.storage = storage.clone();
    let store = CustomerStore::at(&context, "magento https://shop.example", "1".to_owned(), home.join("1"));
    let before = json!({"id": 1, "addresses": [{"id": 2}, {"id": 3}]}).as_object().cloned().unwrap();
    let removed = [2, 3].map(AddressId);
    let taken = store.take("customer update", &before, &before, &removed).await;
    let snapshot = taken.map(Unsent::leaves).unwrap();
    store.note(&snapshot, &WriteRecord::unsent(false, &removed)).unwrap();
    (storage, store, snapshot)
}

#[tokio::test]
async fn after_a_power_loss_a_removal_that_left_counts_as_sent_and_is_undone() {
    let home = tempfile::tempdir().unwrap();
    let (storage, store, snapshot) = prepared(home.path()).await;
    let sent_at = "2026-01-01T00:00:00Z".parse().unwrap();
    store.write_ahead_removal(&snapshot, AddressId(2), sent_at).await.unwrap();
    let applied = WriteOutcome::Applied { at: sent_at, verified: false };
    store.set_removal(&snapshot, AddressId(2), applied).unwrap();

    storage.lose_power();

    assert_eq!(store.calls(&snapshot).removal(AddressId(2)), WriteOutcome::Unknown { sent_at });
    let undone: Vec<AddressId> = store.read_applied(&snapshot).unwrap().removed().collect();
    assert_eq!(undone, [AddressId(2)], "what a restore brings back");
}
