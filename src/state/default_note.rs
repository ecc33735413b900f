//! The default option that an attribute had before options were added to it: Magento loses it with each one, and the
//! program that sets it again may die before it does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::file_name;
use crate::config::Settings;
use crate::system::context::Context;
use crate::system::environment::STATE_HOME;
use crate::system::storage::Storage;
use storefront_core::failure::Failure;

/// What is noted before the first option is added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultNote {
    /// Id of the option that was the default.
    pub default: String,
    /// Labels of the options that were to be added, and of which it is not known whether they will be.
    pub labels: Vec<String>,
}

/// The note of one attribute. Each is a file of its own, the newest has the highest number: so a note is on disk before
/// the one that it replaces is removed.
#[derive(Debug)]
pub struct DefaultNotes {
    directory: PathBuf,
    storage: Arc<dyn Storage>,
}

impl DefaultNotes {
    /// The notes of an attribute of this service.
    ///
    /// # Errors
    /// `usage` when no state directory is known.
    pub fn of(context: &Context, settings: &Settings, code: &str) -> Result<Self, Failure> {
        let notes = context.directories()?.state.join("default-options");
        let directory = notes.join(file_name(&settings.service_id().to_string())).join(file_name(code));
        Ok(Self { directory, storage: context.storage.clone() })
    }

    /// The newest note, if there is one.
    ///
    /// # Errors
    /// `internal` where it cannot be read: options must not be added then.
    pub fn load(&self) -> Result<Option<DefaultNote>, Failure> {
        let Some((_, file)) = self.files()?.into_iter().max() else { return Ok(None) };
        let text = self.storage.read(&file).map_err(|error| self.unusable(&error))?;
        serde_json::from_slice(&text).map(Some).map_err(|error| self.unusable(&error))
    }

    /// Notes this durably in place of what was noted.
    ///
    /// # Errors
    /// `internal` where that is not possible: options must not be added then.
    pub fn save(&self, note: &DefaultNote) -> Result<(), Failure> {
        let earlier = self.files()?;
        let number = earlier.iter().map(|(number, _)| number + 1).max().unwrap_or(1);
        let text = serde_json::to_vec(note).map_err(|error| self.unusable(&error))?;
        let file = self.directory.join(format!("{number:06}.json"));
        self.storage.create(&file, &text).map_err(|error| self.unusable(&error))?;
        self.remove(&earlier);
        Ok(())
    }

    /// Forgets it. A note that stays is used only where the attribute has no default.
    pub fn forget(&self) {
        self.remove(&self.files().unwrap_or_default());
    }

    fn remove(&self, files: &[(u64, PathBuf)]) {
        for (_, file) in files {
            let _ = self.storage.remove(file);
        }
    }

    fn files(&self) -> Result<Vec<(u64, PathBuf)>, Failure> {
        let files = self.storage.list(&self.directory).map_err(|error| self.unusable(&error))?;
        let number = |file: &Path| file.file_stem()?.to_str()?.parse().ok();
        Ok(files.into_iter().filter_map(|file| Some((number(&file)?, file))).collect())
    }

    fn unusable(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::internal(format!(
            "the note of the default option in `{}`: {error}",
            self.directory.display()
        ))
        .hint(format!("options are added only with that note: free some space, or set {STATE_HOME}"))
    }
}
