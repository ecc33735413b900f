//! What the state directory keeps of each customer: snapshots taken before a replacement and what became of it, the
//! locks that keep two replacements of one customer apart, recent additions to carts, and the address ids seen last, for
//! completion.

mod address_cache;
mod fingerprint;
mod known_customers;
mod lock;
mod mark;
mod named;
mod pending;
mod snapshot;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use address_cache::{CachedAddress, load_addresses, save_addresses};
pub use known_customers::{load_customer, save_customer};
pub use lock::{CustomerLock, LockName, acquire};
pub use mark::Mark;
pub use named::named;
pub use pending::{Pending, lateness_minutes};
pub use snapshot::{NewSnapshot, REPLICA_LAG, Snapshot, SnapshotEntry};

use crate::clock::Clock;
use crate::config::{ServiceId, Settings};
use crate::context::Context;
use crate::failure::Failure;
use crate::journal::fnv::Fnv1a;
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
        let service = settings.service_id().to_string();
        let snapshots = context.directories()?.state.join("snapshots");
        Ok(Self {
            directory: snapshots.join(file_name(&service)).join(file_name(customer)),
            service,
            storage: context.storage.clone(),
            clock: context.clock,
        })
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
        let service = file_name(&service.to_string());
        let entries = std::fs::read_dir(directories.state.join("snapshots").join(service));
        entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
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
    let files = directories.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten();
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let snapshots = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<String> =
        snapshots.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names
}

/// A name that is one file name on every platform: what is not a small letter, digit, `-`, `_`, `.` or `@` is written
/// as `%` and its bytes in hexadecimal. So names that differ only in case stay apart where the file system ignores it.
/// A name of a Windows device, and a full stop at the end, which Windows drops, are written so too. A long name is cut,
/// and its hash keeps it apart from others.
fn file_name(name: &str) -> String {
    const MAX_LENGTH: usize = 120;
    let mut safe = String::with_capacity(name.len());
    let is_device = is_windows_device(name);
    for (index, byte) in name.bytes().enumerate() {
        let is_last = index + 1 == name.len();
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'@' if index > 0 || !is_device => {
                safe.push(byte.into());
            }
            b'.' if index > 0 && !is_last => safe.push('.'),
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

/// Whether Windows takes the name for a device, whatever its extension.
fn is_windows_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_numbered = |stem: &str| {
        let number = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
        number.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
    };
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || is_numbered(&stem)
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
    fn names_are_file_names_on_windows_too() {
        for (name, expected) in [
            ("con", "%63on"),
            ("nul.txt", "%6Eul.txt"),
            ("com1", "%63om1"),
            ("lpt9.a.b", "%6Cpt9.a.b"),
            ("console", "console"),
            ("com10", "com10"),
            ("a.con", "a.con"),
            ("CON", "%43%4F%4E"),
            ("a.", "a%2E"),
            ("a..", "a.%2E"),
            ("a ", "a%20"),
            (".", "%2E"),
            ("COM1:", "%43%4F%4D1%3A"),
        ] {
            assert_eq!(file_name(name), expected, "{name}");
        }
        let folded = |name: &str| file_name(name).to_lowercase();
        assert_ne!(folded("Anna@shop"), folded("anna@shop"), "the file system may ignore case");
    }

    #[test]
    fn a_long_name_is_cut_and_stays_apart_from_others() {
        let long = "日本".repeat(200);
        let (one, other) = (file_name(&long), file_name(&format!("{long}x")));
        assert!(one.len() < 150 && one != other);
    }
}
