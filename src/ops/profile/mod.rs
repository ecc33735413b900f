//! Replacing a customer profile, and the two ways to change one: a draft merged into it, and an earlier update undone.

mod lag;
mod messages;
pub mod read;
pub(crate) mod replace;
pub(crate) mod restore;
pub(crate) mod verify;

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Map, Value};

use self::restore::Restore;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::prompt::Prompt;
use crate::report::profile;
use crate::state::CustomerStore;
use storefront_core::failure::Failure;
use storefront_core::interface::dialect::Dialect;
use storefront_core::lint;
use storefront_core::operation::CUSTOMER_UPDATE;
use storefront_core::profile::diff::Expected;
use storefront_core::profile::merge::{self, Merged, ProfilePatch, merge};
use storefront_core::profile::region::RegionDirectory;
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::{diff, magento};

/// What [`crate::ops::profile::replace`] is asked for.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    /// `customer update`
    Update(&'a Update),
    /// `customer restore`
    Restore(&'a Restore<'a>),
}

/// What the flags and the input of `customer update` ask for.
pub struct Update {
    /// What is merged into the stored profile.
    pub patch: ProfilePatch,
    /// What its plan expects, where it is of one.
    pub expect: Option<Expected>,
    /// As many addresses may be deleted.
    pub allow_delete: Option<usize>,
    /// The existing profile, given by hand.
    pub base: Option<Profile>,
    /// How the profile is replaced.
    pub replacement: ReplacementArgs,
    /// Whether the person went back from the confirmation.
    pub went_back: Cell<bool>,
}

impl Change<'_> {
    /// What results call it.
    pub fn operation(self) -> &'static str {
        match self {
            Self::Update(_) => CUSTOMER_UPDATE.name,
            Self::Restore(_) => Restore::OPERATION,
        }
    }

    /// The existing profile, given by hand.
    pub fn base(&self) -> Option<&Profile> {
        match self {
            Self::Update(update) => update.base.as_ref(),
            Self::Restore(_) => None,
        }
    }

    /// Whether it is of a plan.
    pub fn is_planned(&self) -> bool {
        matches!(self, Self::Update(Update { expect: Some(_), .. }))
    }

    /// How long it waits, and whether it goes on although an earlier replacement may still take effect.
    pub fn replacement_args(&self) -> &ReplacementArgs {
        match self {
            Self::Update(update) => &update.replacement,
            Self::Restore(restore) => restore.replacement,
        }
    }

    /// How long a profile is read until it shows what was written.
    pub fn settle(&self, service: &Service<'_>) -> Duration {
        self.replacement_args().settle.unwrap_or(service.settings.settle)
    }

    /// The countries whose regions it names by code or name.
    pub fn countries(&self, stored: &Profile) -> Vec<String> {
        match self {
            Self::Update(update) => RegionDirectory::needed(&update.patch.draft, stored.customer()),
            Self::Restore(_) => Vec::new(),
        }
    }

    /// The profile as it is to be. `regions` gives the ids of regions, where the interface lists them.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely.
    pub fn merge(
        &self,
        store: &CustomerStore,
        stored: &Profile,
        dialect: &'static Dialect,
        regions: &RegionDirectory,
        prompt: &Prompt,
    ) -> Result<Merged, Failure> {
        match self {
            Self::Restore(restore) => restore.merge(store, stored, dialect, prompt),
            Self::Update(Update { patch, expect, .. }) => {
                let mut patch = patch.clone();
                let customer = stored.customer();
                if let Some(Expected { owner, .. }) = expect {
                    ensure_owner(owner, customer)?;
                }
                patch.draft = if dialect.country.is_some() {
                    regions.resolve(&patch.draft, customer)?
                } else {
                    RegionDirectory::of(customer).resolve_known(&patch.draft, customer)
                };
                if dialect.merges_profiles {
                    magento::drop_service_fields(&mut patch.draft);
                }
                let mut merged = merge(stored.customer(), &patch)?;
                // What is as planned already needs no request.
                if let Some(planned) = expect.as_ref().filter(|_| !merged.changes.is_empty()) {
                    diff::ensure_planned(&planned.changes, &merged.changes, customer)?;
                }
                merged.notes.extend(lint::of_profile(&merged, dialect));
                Ok(merged)
            }
        }
    }

    /// Refuses deletions that were not spelled out; on a terminal the number can be typed. `confirmed` says that
    /// somebody has agreed to those that were, or is asked next.
    ///
    /// # Errors
    /// `guard`, naming the addresses.
    pub fn check_deletions(&self, merged: &Merged, prompt: &Prompt, confirmed: bool) -> Result<(), Failure> {
        let update = match self {
            Self::Update(update) => update,
            Self::Restore(restore) => return restore.check_deletions(merged),
        };
        let check = |allowed| merge::check(&update.patch, &merged.summary, allowed, confirmed);
        match check(update.allow_delete) {
            Err(_) if update.patch.replace && update.allow_delete.is_none() && prompt.can_ask() => {
                check(Some(prompt.number_of_deletions(merged.summary.removed.len())?))
            }
            result => result,
        }
    }
}

/// A record that names no customer is for the token's own, who may be another one where the plan is applied.
fn ensure_owner(planned: &Map<String, Value>, stored: &Map<String, Value>) -> Result<(), Failure> {
    if planned.is_empty() || belongs_to(stored, planned) {
        return Ok(());
    }
    let [planned, stored] = [planned, stored].map(profile::owner);
    Err(Failure::guard(format!("the plan is for {planned}, and the profile is that of {stored}"))
        .hint("apply it with the token with which it was made, or make it again with --plan"))
}
