//! Additions to carts of which nobody knows the outcome: one of them may still take effect, and make a later addition look
//! applied. Each is an empty file, `CART.TIME-PROCESS-NUMBER.json`, written before the request leaves and removed when the
//! outcome is known: so it is there for a process that ended before it knew, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::file_name;
use super::snapshot::MAX_LATENESS;
use crate::clock::Clock;
use crate::config::{ServiceId, Settings};
use crate::context::Context;
use crate::failure::Failure;
use crate::storage::Storage;

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

    /// Whether an addition to this cart other than `own` may still take effect. Files of those that no longer can, to any
    /// cart, are removed.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn has_other(&self, own: &Path) -> std::io::Result<bool> {
        let now = self.clock.now();
        let mut has_other = false;
        for path in self.storage.list(&self.directory)? {
            let Some((cart, sent)) = cart_and_time(&path) else { continue };
            if now.duration_since(sent).abs() > MAX_LATENESS {
                self.forget(&path);
            } else {
                has_other |= cart == self.cart && path != own;
            }
        }
        Ok(has_other)
    }

    /// Notes that an addition is about to leave; its file.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn note(&self) -> std::io::Result<PathBuf> {
        let (sent, process) = (self.clock.now().as_nanosecond(), std::process::id());
        let mut number = 0;
        let path = loop {
            let path = self.directory.join(format!("{}.{sent}-{process}-{number}.json", self.cart));
            if self.storage.read(&path).is_err() {
                break path;
            }
            number += 1;
        };
        self.storage.replace(&path, b"")?;
        Ok(path)
    }

    /// Forgets an addition whose outcome is known.
    pub fn forget(&self, path: &Path) {
        let _ = self.storage.remove(path);
    }
}

fn directory(context: &Context, service: &ServiceId) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("carts").join(file_name(&service.to_string())))
}

/// Which cart a file is about, and when the addition left.
fn cart_and_time(path: &Path) -> Option<(&str, Timestamp)> {
    let (cart, rest) = path.file_name()?.to_str()?.strip_suffix(".json")?.rsplit_once('.')?;
    let sent = rest.split('-').next()?.parse().ok()?;
    Some((cart, Timestamp::from_nanosecond(sent).ok()?))
}
