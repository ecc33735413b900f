//! Replacing a customer profile, and the two ways to change one: a draft merged into it, and earlier updates undone.

pub mod custom;
pub(crate) mod earlier;
mod lag;
pub mod messages;
mod owner;
mod preview;
pub mod read;
mod remove;
pub(crate) mod replace;
mod steps;
pub(crate) mod undo;
pub mod whose;

use serde_json::{Map, Value};

use self::undo::Undo;
use crate::cli::ReplacementArgs;
use crate::report::profile;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::interface::dialect::Dialect;
use storefront_core::lint;
use storefront_core::operation::CUSTOMER_UPDATE;
use storefront_core::profile::custom::AttributeDirectory;
use storefront_core::profile::diff::Expected;
use storefront_core::profile::merge::{Merged, merge};
use storefront_core::profile::patch::ProfilePatch;
use storefront_core::profile::region::RegionDirectory;
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::stored::Profile;
use storefront_core::profile::{diff, magento};
use storefront_core::sheet::address::Row;

/// What [`crate::ops::profile::replace`] is asked for.
#[derive(Clone, Copy)]
pub enum ProfileChange<'a> {
    /// `customer update`
    Update(&'a Update),
    /// `undo`
    Undo(&'a Undo<'a>),
}

/// What the flags and the input of `customer update` ask for.
pub struct Update {
    /// What is merged into the stored profile.
    pub patch: ProfilePatch,
    /// What its plan expects, if it belongs to one.
    pub expect: Option<Expected>,
    /// The number of addresses that may be deleted.
    pub allow_delete: Option<usize>,
    /// The existing profile, given by hand.
    pub base: Option<Profile>,
    /// How the profile is replaced.
    pub replacement: ReplacementArgs,
    /// The warnings that were shown already.
    pub warned: Vec<String>,
    /// The row of a sheet that it comes from, to be compared with what is stored.
    pub row: Option<Row>,
}

impl ProfileChange<'_> {
    /// The warnings that were shown already.
    pub fn warned(&self) -> &[String] {
        match self {
            Self::Update(update) => &update.warned,
            Self::Undo(_) => &[],
        }
    }

    /// Its name in results.
    pub fn operation(self) -> &'static str {
        match self {
            Self::Update(_) => CUSTOMER_UPDATE.name,
            Self::Undo(_) => Undo::OPERATION,
        }
    }

    /// The existing profile, given by hand.
    pub fn base(&self) -> Option<&Profile> {
        match self {
            Self::Update(update) => update.base.as_ref(),
            Self::Undo(_) => None,
        }
    }

    /// Whether it belongs to a plan.
    pub fn is_planned(&self) -> bool {
        matches!(
            self,
            Self::Update(Update { expect: Some(_), .. }) | Self::Undo(Undo { planned: Some(_), .. })
        )
    }

    /// The flags about how the profile is replaced.
    pub fn replacement_args(&self) -> &ReplacementArgs {
        match self {
            Self::Update(update) => &update.replacement,
            Self::Undo(undo) => undo.replacement,
        }
    }
}

impl Update {
    /// The profile as it is to be. `regions` has the ids of regions if the interface lists them, `attributes` the custom
    /// attributes and their options; the addresses in `gone` were removed by an earlier command.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely.
    pub fn merge(
        &self,
        stored: &Profile,
        dialect: &'static Dialect,
        regions: &RegionDirectory,
        attributes: &AttributeDirectory,
        gone: &[AddressId],
    ) -> Result<Merged, Failure> {
        let mut patch = self.patch.clone();
        let customer = stored.customer();
        let note = match &self.row {
            Some(row) => row.held_against(&mut patch.draft, customer)?,
            None => None,
        };
        if let Some(Expected { owner, .. }) = &self.expect {
            ensure_owner(owner, customer)?;
        }
        patch.draft = if dialect.country.is_some() {
            regions.resolve(&patch.draft, customer)?
        } else {
            RegionDirectory::of(customer).resolve_known(&patch.draft, customer)
        };
        patch.draft = attributes.resolve(&patch.draft, customer)?;
        if dialect.merges_profiles {
            magento::drop_service_fields(&mut patch.draft);
            patch.take_defaults(customer)?;
        }
        patch.remove.retain(|id| !gone.contains(id));
        let mut merged = merge(customer, &patch)?;
        // A change that is made already needs no request.
        if let Some(planned) = self.expect.as_ref().filter(|_| !merged.changes.is_empty()) {
            planned.ensure_required(customer)?;
            diff::ensure_planned(&still_planned(&planned.changes, gone), &merged.changes, customer)?;
        }
        merged.notes.extend(note.map(str::to_owned));
        merged.notes.extend(lint::of_profile(&merged, dialect));
        Ok(merged)
    }
}

/// The changes of a plan without the removals of addresses that are gone already.
fn still_planned(planned: &[diff::FieldChange], gone: &[AddressId]) -> Vec<diff::FieldChange> {
    let is_gone = |change: &&diff::FieldChange| {
        change.is_removal() && change.path.address_id().is_some_and(|id| gone.contains(&id))
    };
    planned.iter().filter(|change| !is_gone(change)).cloned().collect()
}

/// Refuses the profile of another customer than the planned one. A record that names no customer is for the token's own,
/// who may be another one where the plan is applied.
fn ensure_owner(planned: &Map<String, Value>, stored: &Map<String, Value>) -> Result<(), Failure> {
    if planned.is_empty() || belongs_to(stored, planned) {
        return Ok(());
    }
    let [planned, stored] = [planned, stored].map(profile::owner);
    Err(Failure::guard(format!("the plan is for {planned}, and the profile is that of {stored}"))
        .hint("apply it with the token with which it was made, or make it again with --plan"))
}
