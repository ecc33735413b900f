//! Changing a file that several processes may change at once: one at a time, and whole.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::failure::{Failure, FailureKind};
use crate::storage::persist::persist;
use crate::storage::{open_private, parent, private_directory};

/// A change takes milliseconds, so that a longer wait means a process that hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// More links than any system follows.
const MAX_LINKS: usize = 40;

/// The right to change a file, held until dropped; the operating system takes it back from a process that dies.
///
/// The lock is a file of its own next to the changed one, because replacing a file replaces what is locked, too. It
/// stays there: removing it would let two processes lock two files of one name.
#[derive(Debug)]
pub struct UpdateLock {
    target: PathBuf,
    _lock: File,
}

impl UpdateLock {
    /// Waits for the right to change the file at `path`; a symbolic link is followed first.
    ///
    /// # Errors
    /// `unavailable` when another process keeps the lock for 10 seconds, `internal` when it cannot be created.
    pub fn acquire(path: &Path) -> Result<Self, Failure> {
        let target = follow_links(path);
        let problem = |error: std::io::Error| {
            Failure::internal(format!("`{}` cannot be locked: {error}", target.display()))
        };
        private_directory(parent(&target)).map_err(problem)?;
        let lock = lock_file(&target);
        let file = open_private(&lock).map_err(problem)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { target, _lock: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(LOCK_INTERVAL);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Failure::new(
                        FailureKind::Unavailable,
                        format!("`{}` is being changed by another process", target.display()),
                    )
                    .hint(format!(
                        "stop the process that holds the lock on `{}`, then try again",
                        lock.display()
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(problem(error)),
            }
        }
    }

    /// Replaces the file whole: a reader sees the old text or the new one, never a part.
    ///
    /// A new file is its owner's only. One that exists keeps its mode unless `private`.
    ///
    /// # Errors
    /// `internal` when it cannot be written.
    pub fn replace(&self, text: &str, private: bool) -> Result<(), Failure> {
        let target = &self.target;
        let problem = |error: std::io::Error| {
            Failure::internal(format!("`{}` cannot be written: {error}", target.display()))
        };
        let mut draft = tempfile::NamedTempFile::new_in(parent(target)).map_err(problem)?;
        draft.write_all(text.as_bytes()).map_err(problem)?;
        if !private && let Ok(metadata) = fs::metadata(target) {
            draft.as_file().set_permissions(metadata.permissions()).map_err(problem)?;
        }
        draft.as_file().sync_all().map_err(problem)?;
        persist(draft, target).map_err(problem)
    }
}

/// The file a path leads to, whether or not that exists: a link into a directory that is not mounted yet must not
/// become a file.
fn follow_links(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&target) else { break };
        target = parent(&target).join(link);
    }
    dunce::canonicalize(&target).unwrap_or(target)
}

fn lock_file(target: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".lock");
    parent(target).join(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::UpdateLock;

    #[test]
    fn replacing_keeps_links_and_modes() {
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("real"), directory.path().join("link"));
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        // The link comes first: it leads to a file that is not there yet.
        symlink("real", &link).unwrap();
        UpdateLock::acquire(&link).unwrap().replace("a", false).unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        UpdateLock::acquire(&link).unwrap().replace("b", false).unwrap();
        assert_eq!(mode(), 0o640);
        UpdateLock::acquire(&link).unwrap().replace("c", true).unwrap();
        assert_eq!(mode(), 0o600);
        assert!(std::fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "c");
    }

    #[test]
    fn a_link_and_its_target_share_one_lock() {
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::write(&path, "").unwrap();
        symlink(&path, &link).unwrap();
        let lock = UpdateLock::acquire(&link).unwrap();
        let name = directory.path().join(".real.lock");
        let other = std::fs::File::open(&name).unwrap();
        assert!(other.try_lock().is_err(), "somebody else waits");
        drop(lock);
        other.try_lock().unwrap();
    }
}
