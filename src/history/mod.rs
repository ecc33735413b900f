//! What the state directory remembers of each customer: snapshots taken before a replacement, the lock that keeps
//! two replacements of one customer apart, and the address ids seen last, for completion.

mod addresses;
mod lock;
mod snapshot;

use std::fmt::Write;
use std::path::{Path, PathBuf};

pub use addresses::{Remembered, recall, remember};
pub use lock::Lock;
pub use snapshot::{Snapshot, Taken};

use crate::config::Settings;
use crate::context::Context;
use crate::failure::Failure;

/// The files of one customer.
#[derive(Debug, Clone)]
pub struct Archive {
    snapshots: PathBuf,
    lock: PathBuf,
    place: String,
}

impl Archive {
    /// The archive of a customer; `customer` is [`crate::plan::profile::Profile::customer_key`]. Each profile has
    /// snapshots of its own, but whoever writes to one customer of one service shares its lock.
    ///
    /// # Errors
    /// `usage` when no state directory is known.
    pub fn of(context: &Context, settings: &Settings, customer: &str) -> Result<Self, Failure> {
        let state = &context.directories()?.state;
        let (place, customer) = (settings.place(), file_name(customer));
        Ok(Self {
            snapshots: state.join("snapshots").join(file_name(&settings.service_name())).join(&customer),
            lock: state.join("locks").join(format!("{}.{customer}.lock", file_name(&place))),
            place,
        })
    }

    /// Where the snapshots are.
    pub fn directory(&self) -> &Path {
        &self.snapshots
    }
}

/// A name that is one file name on every platform: what is not a letter, digit, `-`, `_`, `.` or `@` is written
/// as `%` and its bytes in hexadecimal.
fn file_name(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'@' => safe.push(byte.into()),
            b'.' if !safe.is_empty() => safe.push('.'),
            _ => {
                let _ = write!(safe, "%{byte:02X}");
            }
        }
    }
    safe
}

/// Makes a directory that only its owner can enter.
fn private_directory(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
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
}
