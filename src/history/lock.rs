//! One lock file per customer: on one machine two replacements of our own never overlap.

use std::fs::{File, OpenOptions, TryLockError};
use std::time::Duration;

use super::{Archive, private_directory};
use crate::failure::Failure;

/// How long to wait before asking for the lock again.
const PATIENCE: Duration = Duration::from_millis(20);

/// A customer's lock, held until dropped. The operating system frees it when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Archive {
    /// Waits for the customer's lock. `waiting` is called once when somebody else holds it.
    ///
    /// # Errors
    /// `internal` when the lock file cannot be made.
    pub async fn lock(&self, waiting: impl FnOnce()) -> Result<Lock, Failure> {
        let file = self.open_lock().map_err(|error| {
            Failure::internal(format!(
                "the lock {} cannot be made: {error}; nothing was written",
                self.lock.display()
            ))
            .hint("a profile is replaced only under its lock; make room or set XDG_STATE_HOME")
        })?;
        let mut waiting = Some(waiting);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    tokio::time::sleep(PATIENCE).await;
                }
                Err(TryLockError::Error(error)) => {
                    return Err(Failure::internal(format!(
                        "the lock {} cannot be taken: {error}; nothing was written",
                        self.lock.display()
                    )));
                }
            }
        }
    }

    fn open_lock(&self) -> std::io::Result<File> {
        if let Some(directory) = self.lock.parent() {
            private_directory(directory)?;
        }
        OpenOptions::new().create(true).truncate(false).write(true).open(&self.lock)
    }
}
