//! The file that opens the page of a review. It is removed with its command or, if that was killed, by the next command that
//! writes.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ring::rand::{Random, SystemRandom, generate};
use tempfile::NamedTempFile;

use crate::system::context::Context;
use crate::system::storage::{Lock, Storage, private_directory};
use storefront_core::failure::Failure;
use storefront_core::text::hash::hex;

/// The end of the file's name.
const PAGE: &str = "html";
/// The end of the name of its lock, which the process holds that made it.
const LOCK: &str = "lock";

/// The file. Only its owner can read it, and it is removed when dropped.
pub struct PageFile {
    file: NamedTempFile,
    lock: PathBuf,
    held: Option<Lock>,
}

impl PageFile {
    /// Writes a new file.
    ///
    /// # Errors
    /// `internal` where it cannot be written, `usage` when no state directory is known.
    pub fn new(context: &Context, text: &str) -> Result<Self, Failure> {
        let directory = directory(context)?;
        let write = || {
            private_directory(&directory)?;
            let random = generate::<[u8; 8]>(&SystemRandom::new()).map(Random::expose);
            let name = format!("review-{}", hex(&random.map_err(|_| io::ErrorKind::Other)?));
            let lock = directory.join(format!("{name}.{LOCK}"));
            // The lock comes first: a file without one is removed.
            let held = context.storage.try_lock(&lock)?.ok_or(io::ErrorKind::AlreadyExists)?;
            let mut file = tempfile::Builder::new()
                .prefix(&name)
                .rand_bytes(0)
                .suffix(&format!(".{PAGE}"))
                .tempfile_in(&directory)?;
            file.write_all(text.as_bytes())?;
            file.flush()?;
            Ok(Self { file, lock, held: Some(held) })
        };
        write().map_err(|error: io::Error| {
            Failure::internal(format!("cannot write to `{}`: {error}", directory.display()))
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Drop for PageFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.file.path());
        drop(self.held.take());
        let _ = std::fs::remove_file(&self.lock);
    }
}

/// Removes the files of commands that have ended: nobody holds their locks.
pub fn remove_abandoned(context: &Context) {
    let storage: &dyn Storage = &*context.storage;
    let files = directory(context).ok().and_then(|directory| storage.list(&directory).ok());
    for file in files.unwrap_or_default() {
        let lock = file.with_extension(LOCK);
        if file.extension().is_some_and(|extension| extension == PAGE)
            && let Ok(Some(held)) = storage.try_lock(&lock)
        {
            let _ = storage.remove(&file);
            drop(held);
            let _ = storage.remove(&lock);
        }
    }
}

fn directory(context: &Context) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("reviews"))
}
