//! Additions to carts whose outcome is not known: one of them may still take effect, and make a later addition look
//! applied. Each is an empty file, `CART.TIME-PROCESS-NUMBER.open`, written before the request leaves and removed when the
//! outcome is known: so it is there for a process that ended before it knew, too. An addition that is applied while others
//! to the same cart are open leaves a file next to theirs, `….disturbed`: it may be what they see. The lines of the cart
//! that the service answered are kept for a while in `applied`: a reading that does not show them is out of date.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file_name;
use super::snapshot::{MAX_LAG as REPLICA_LAG, MAX_LATENESS};
use crate::clock::Clock;
use crate::config::{ServiceId, Settings};
use crate::context::Context;
use crate::failure::Failure;
use crate::journal::fnv::Fnv1a;
use crate::storage::Storage;

/// Extension of the file of an addition whose outcome is not known.
const OPEN: &str = "open";
/// Extension of the file that says that another one was applied meanwhile.
const DISTURBED: &str = "disturbed";

/// In so many files the lines of all carts are kept.
const FILES: u64 = 256;

/// A line of a cart: its id, and the quantity in it.
pub type CartLine = (String, f64);

/// An addition that was applied.
#[derive(Serialize, Deserialize)]
struct AppliedAddition {
    cart: String,
    /// When that was known, in milliseconds since 1970.
    at: i64,
    /// The line that the service answered, where it answered one.
    line: Option<CartLine>,
}

/// The additions to one cart.
#[derive(Debug)]
pub struct CartAdditions {
    directory: PathBuf,
    /// The cart's id as it stands in file names.
    cart: String,
    storage: Arc<dyn Storage>,
    clock: Clock,
}

impl CartAdditions {
    /// Those to a cart of the service.
    ///
    /// # Errors
    /// `usage` when no state directory is known.
    pub fn of(context: &Context, settings: &Settings, cart: &str) -> Result<Self, Failure> {
        let directory = directory(context, &settings.service_id())?;
        let cart = file_name(cart);
        Ok(Self { directory, cart, storage: context.storage.clone(), clock: context.clock })
    }

    /// Forgets those to all carts of a service.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn delete_all(context: &Context, service: &ServiceId) -> std::io::Result<()> {
        let Ok(directory) = directory(context, service) else { return Ok(()) };
        match std::fs::remove_dir_all(directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether another addition to this cart than `own` may still take effect, or was applied while this one was open.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn may_be_disturbed(&self, own: &Path) -> std::io::Result<bool> {
        Ok(self.files()?.iter().any(|path| is_open(path) && path != own || *path == disturbed(own)))
    }

    /// Notes that an addition was applied, with the line that the service answered, and notes it at the open ones to the
    /// same cart.
    ///
    /// # Errors
    /// Whatever the system says; it stays open then.
    pub fn set_applied(&self, own: &Path, line: Option<&CartLine>) -> std::io::Result<()> {
        for other in self.files()?.iter().filter(|path| is_open(path) && *path != own) {
            self.storage.replace(&disturbed(other), b"")?;
        }
        let mut applied = self.applied();
        // Of each line only the last quantity matters.
        applied.retain(|one| one.cart != self.cart || one.item_id() != line.map(|(id, _)| id.as_str()));
        let (cart, at) = (self.cart.clone(), self.clock.now().as_millisecond());
        applied.push(AppliedAddition { cart, at, line: line.cloned() });
        self.storage.replace(&self.applied_file(), &serde_json::to_vec(&applied)?)?;
        self.forget(own);
        Ok(())
    }

    /// The lines that the last additions made as the service answered them, each with its last quantity; `None` for an
    /// addition whose answer showed no line.
    pub fn applied_lines(&self) -> Vec<Option<CartLine>> {
        self.applied().into_iter().filter(|one| one.cart == self.cart).map(|one| one.line).collect()
    }

    /// The last additions to the carts whose lines are in one file with those of this one.
    fn applied(&self) -> Vec<AppliedAddition> {
        let now = self.clock.now().as_millisecond();
        // One that was applied longer ago is not missing from any reading.
        let is_recent = |one: &AppliedAddition| i128::from(now.abs_diff(one.at)) <= REPLICA_LAG.as_millis();
        let text = self.storage.read(&self.applied_file()).unwrap_or_default();
        let mut applied: Vec<AppliedAddition> = serde_json::from_slice(&text).unwrap_or_default();
        applied.retain(is_recent);
        applied
    }

    fn applied_file(&self) -> PathBuf {
        let number = Fnv1a::new().update(self.cart.as_bytes()).finish() % FILES;
        self.directory.join("applied").join(format!("{number:02x}.json"))
    }

    /// The files about this cart. Those that no longer matter, of any cart, are removed.
    fn files(&self) -> std::io::Result<Vec<PathBuf>> {
        let now = self.clock.now();
        let mut files = Vec::new();
        for path in self.storage.list(&self.directory)? {
            let Some((cart, sent)) = cart_and_time(&path) else { continue };
            if now.duration_since(sent).abs() > MAX_LATENESS {
                let _ = self.storage.remove(&path);
            } else if cart == self.cart {
                files.push(path);
            }
        }
        Ok(files)
    }

    /// Notes that an addition is about to leave; its file.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn note(&self) -> std::io::Result<PathBuf> {
        let (sent, process) = (self.clock.now().as_nanosecond(), std::process::id());
        let mut number = 0;
        let path = loop {
            let path = self.directory.join(format!("{}.{sent}-{process}-{number}.{OPEN}", self.cart));
            if self.storage.read(&path).is_err() {
                break path;
            }
            number += 1;
        };
        self.storage.replace(&path, b"")?;
        Ok(path)
    }

    /// Forgets an addition that was not applied.
    pub fn forget(&self, own: &Path) {
        let _ = self.storage.remove(own);
        let _ = self.storage.remove(&disturbed(own));
    }
}

impl AppliedAddition {
    fn item_id(&self) -> Option<&str> {
        self.line.as_ref().map(|(id, _)| id.as_str())
    }
}

fn directory(context: &Context, service: &ServiceId) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("carts").join(file_name(&service.to_string())))
}

fn is_open(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == OPEN)
}

fn disturbed(own: &Path) -> PathBuf {
    own.with_extension(DISTURBED)
}

/// Which cart a file is about, and when the addition left.
fn cart_and_time(path: &Path) -> Option<(&str, Timestamp)> {
    let (name, extension) = path.file_name()?.to_str()?.rsplit_once('.')?;
    let (cart, rest) = name.rsplit_once('.').filter(|_| [OPEN, DISTURBED].contains(&extension))?;
    let sent = rest.split('-').next()?.parse().ok()?;
    Some((cart, Timestamp::from_nanosecond(sent).ok()?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use jiff::Timestamp;
    use tokio::time::Duration;

    use super::CartAdditions;
    use crate::clock::Clock;
    use crate::storage::Disk;

    fn additions(directory: &Path, cart: &str, clock: Clock) -> CartAdditions {
        CartAdditions {
            directory: directory.to_owned(),
            cart: cart.to_owned(),
            storage: Arc::new(Disk),
            clock,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_addition_is_disturbed_by_those_of_its_time_to_its_cart() {
        let home = tempfile::tempdir().unwrap();
        let clock = Clock::starting_at(Timestamp::UNIX_EPOCH);
        let (seven, eight) = (additions(home.path(), "7", clock), additions(home.path(), "8", clock));
        let (own, other, elsewhere) = (seven.note().unwrap(), seven.note().unwrap(), eight.note().unwrap());
        assert!(seven.may_be_disturbed(&own).unwrap(), "another is open");
        assert!(!eight.may_be_disturbed(&elsewhere).unwrap());
        seven.forget(&other);
        assert!(!seven.may_be_disturbed(&own).unwrap(), "the other one was refused");
        let applied = seven.note().unwrap();
        seven.set_applied(&applied, None).unwrap();
        assert!(seven.may_be_disturbed(&own).unwrap(), "another was applied meanwhile");
        seven.forget(&own);
        let later = seven.note().unwrap();
        assert!(!seven.may_be_disturbed(&later).unwrap());
        assert_eq!(seven.applied_lines(), [None]);
        let line = |qty: f64| Some(("1".to_owned(), qty));
        for qty in [2.0, 4.0] {
            tokio::time::advance(Duration::from_secs(1)).await;
            seven.set_applied(&seven.note().unwrap(), line(qty).as_ref()).unwrap();
        }
        assert_eq!(seven.applied_lines(), [None, line(4.0)]);
        assert_eq!(eight.applied_lines(), []);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(seven.applied_lines(), []);
        tokio::time::advance(Duration::from_secs(601)).await;
        let last = seven.note().unwrap();
        assert!(!seven.may_be_disturbed(&last).unwrap(), "the earlier one can no longer take effect");
        let files =
            std::fs::read_dir(home.path()).unwrap().filter(|file| file.as_ref().unwrap().path().is_file());
        assert_eq!(files.count(), 1);
    }
}
