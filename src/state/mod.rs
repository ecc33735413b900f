//! What the state directory keeps of each customer: snapshots taken before a replacement and what became of it, the
//! locks that keep two replacements of one customer apart, recent additions to carts, and the address ids seen last, for
//! completion.

mod cache;
mod lock;
mod snapshot;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use cache::{
    CachedAddress, forget_customers, load_addresses, load_customer, save_addresses, save_customer,
};
pub use lock::{CustomerLock, LockName, acquire};
pub use snapshot::{Fate, Open, Snapshot, SnapshotEntry, stem};

use crate::clock::Clock;
use crate::config::{ServiceId, Settings};
use crate::context::Context;
use crate::failure::Failure;
use crate::journal::Fnv1a;
use crate::storage::Storage;

/// The files of one customer.
#[derive(Debug, Clone)]
pub struct CustomerStore {
    directory: PathBuf,
    service: String,
    storage: Arc<dyn Storage>,
    clock: Clock,
}

impl CustomerStore {
    /// The files of a customer of the service; `customer` is [`crate::plan::profile::stored::Profile::customer_key`] or what
    /// stands for it.
    ///
    /// # Errors
    /// `usage` when no state directory is known.
    pub fn of(context: &Context, settings: &Settings, customer: &str) -> Result<Self, Failure> {
        let snapshots = context.directories()?.state.join("snapshots");
        let service = snapshots.join(file_name(&settings.service_id().to_string()));
        Ok(Self::at(context, settings, service.join(file_name(customer))))
    }

    /// The files in a directory that [`Self::directories`] found.
    pub fn at(context: &Context, settings: &Settings, directory: PathBuf) -> Self {
        Self {
            directory,
            service: settings.service_id().to_string(),
            storage: context.storage.clone(),
            clock: context.clock,
        }
    }

    /// The directories of the customers of a service that have snapshots on this machine.
    pub fn directories(context: &Context, service: &ServiceId) -> Vec<PathBuf> {
        let Ok(directories) = context.directories() else { return Vec::new() };
        let snapshots = directories.state.join("snapshots").join(file_name(&service.to_string()));
        context.storage.list(&snapshots).unwrap_or_default()
    }

    /// Deletes the snapshots of all customers of a service.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn delete_all(context: &Context, service: &ServiceId) -> std::io::Result<()> {
        for directory in Self::directories(context, service) {
            std::fs::remove_dir_all(directory)?;
        }
        Ok(())
    }

    /// Where the snapshots are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The service the customer is of, as snapshots name it.
    pub fn service(&self) -> &str {
        &self.service
    }
}

/// The names of all snapshots of a service on this machine, newest first, for completion.
pub fn snapshot_names(context: &Context, service: &ServiceId) -> Vec<String> {
    let directories = CustomerStore::directories(context, service);
    let entries =
        directories.iter().filter_map(|directory| snapshot::entries(&*context.storage, directory).ok());
    let mut names: Vec<String> = entries.flatten().map(|entry| entry.name().to_owned()).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names
}

/// A name that is one file name on every platform: what is not a small letter, digit, `-`, `_`, `.` or `@` is written
/// as `%` and its bytes in hexadecimal. So names that differ only in case stay apart where the file system ignores it. A
/// long name is cut, and its hash keeps it apart from others.
fn file_name(name: &str) -> String {
    const MAX_LENGTH: usize = 120;
    let mut safe = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        let is_inside = index > 0 && index + 1 < name.len();
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'@' => safe.push(byte.into()),
            b'.' if is_inside => safe.push('.'),
            _ => {
                let _ = write!(safe, "%{byte:02X}");
            }
        }
    }
    if safe.len() > MAX_LENGTH {
        safe.truncate(MAX_LENGTH);
        let _ = write!(safe, "~{:016x}", Fnv1a::new().update(name.as_bytes()).finish());
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn foreign_names_cannot_leave_their_directory() {
        assert_eq!(file_name("../../etc"), "%2E.%2F..%2Fetc");
        assert_eq!(file_name("a.b@c-d_1"), "a.b@c-d_1");
        assert_ne!(file_name("a/b"), file_name("a%2Fb"));
    }

    #[test]
    fn names_stay_apart_where_the_file_system_ignores_case() {
        let folded = |name: &str| file_name(name).to_lowercase();
        assert_ne!(folded("Anna@shop"), folded("anna@shop"));
        assert_eq!((file_name("a."), file_name(".")), ("a%2E".to_owned(), "%2E".to_owned()));
    }

    #[test]
    fn a_long_name_is_cut_and_stays_apart_from_others() {
        let long = "日本".repeat(200);
        let (one, other) = (file_name(&long), file_name(&format!("{long}x")));
        assert!(one.len() < 150 && one != other);
    }
}
