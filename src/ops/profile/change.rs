//! A way to change a profile: a draft merged into it, or a snapshot restored.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::cli::customer::ReplacementArgs;
use crate::failure::Failure;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::region_directory::RegionDirectory;
use crate::plan::profile::stored::Profile;
use crate::plan::validate::body::Warnings;
use crate::prompt::Prompt;
use crate::session::service::Service;

/// What [`crate::ops::profile::replace`] asks of a change.
pub trait ProfileChange {
    /// What results call it: `customer update`.
    fn operation(&self) -> &'static str;

    /// The profile as it is to be. `regions` gives the ids of regions, where the interface takes nothing else.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely.
    fn merge(
        &self,
        stored: &Map<String, Value>,
        regions: Option<&RegionDirectory>,
    ) -> Result<Merged, Failure>;

    /// The draft that is merged into the stored profile, if it names regions.
    fn draft(&self) -> Option<&Map<String, Value>> {
        None
    }

    /// What a person reads where nothing had to change.
    fn describe_unchanged(&self, _: &Merged) -> Option<String> {
        None
    }

    /// Refuses deletions that were not spelled out; on a terminal the number can be typed. `confirmed` says that
    /// somebody has agreed to those that were, or is asked next.
    ///
    /// # Errors
    /// `guard`, naming the addresses.
    fn check_deletions(&self, merged: &Merged, prompt: &Prompt, confirmed: bool) -> Result<(), Failure>;

    /// Called with the profile as it was read.
    fn on_read(&self, _: &Service<'_>, _: &Profile) {}

    /// What is worth a second look, and no more than that.
    fn warnings(&self, _: &Merged) -> Warnings {
        Vec::new()
    }

    /// What asked for the change, and asks again when the person goes back from the confirmation.
    fn prompt(&self) -> Option<&Prompt> {
        None
    }

    /// Called when the user goes back from the confirmation; without questions that cancels the command.
    fn went_back(&self) {}

    /// The existing profile, given by hand.
    fn base(&self) -> Option<&Profile> {
        None
    }

    /// How long it waits, and whether it goes on although an earlier replacement may still take effect.
    fn replacement_args(&self) -> &ReplacementArgs;

    /// How long a profile is read until it shows what was written.
    fn settle(&self, service: &Service<'_>) -> Duration {
        self.replacement_args().settle.unwrap_or(service.settings.settle)
    }
}
