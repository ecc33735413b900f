//! The change that `customer update` makes.

use serde_json::Map;
use serde_json::Value;
use std::cell::Cell;
use std::rc::Rc;

use crate::cli::customer::{ReplacementArgs, UpdateArgs};
use crate::failure::Failure;
use crate::input::Draft;
use crate::ops::profile::change::ProfileChange;
use crate::ops::profile::{read, replace};
use crate::plan::operation::Operation;
use crate::plan::profile::deletion_guard;
use crate::plan::profile::merge::{Merged, merge};
use crate::plan::profile::patch::ProfilePatch;
use crate::plan::profile::profile_rules;
use crate::plan::profile::region_directory::RegionDirectory;
use crate::plan::profile::stored::Profile;
use crate::plan::validate::body::Warnings;
use crate::plan::validate::lint;
use crate::prompt::Prompt;
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// What the flags and the input ask for.
pub struct Update {
    pub(crate) patch: ProfilePatch,
    pub(crate) allow_delete: Option<usize>,
    pub(crate) base: Option<Profile>,
    pub(crate) replacement: ReplacementArgs,
    pub(crate) prompt: Option<Rc<Prompt>>,
    pub(crate) went_back: Cell<bool>,
}

impl Update {
    /// Takes a draft, with the flags that say what becomes of addresses.
    ///
    /// # Errors
    /// `usage` when nothing is asked, or the flags contradict the draft.
    pub fn new(draft: Draft, args: &UpdateArgs) -> Result<Self, Failure> {
        let update = Self::new_incomplete(draft, args)?;
        if update.patch.is_empty() { Err(no_changes_error()) } else { Ok(update) }
    }

    /// The same, where nothing may be asked yet.
    pub(crate) fn new_incomplete(draft: Draft, args: &UpdateArgs) -> Result<Self, Failure> {
        let wish = ProfilePatch {
            draft: draft.fields,
            remove: args.remove_addresses.clone(),
            replace: args.replace_addresses,
            allow_duplicate: args.allow_duplicate,
            default_addresses: args.default_address().into_iter().collect(),
            deferred: draft.deferred,
        };
        if wish.replace && !wish.draft.contains_key("addresses") {
            return Err(
                Failure::usage("--replace-addresses requires an address list").hint("pass it with --input")
            );
        }
        let base = args.base.as_deref().map(read::read_base).transpose()?;
        Ok(Self {
            patch: wish,
            allow_delete: args.allow_delete,
            base,
            replacement: args.replacement.clone(),
            prompt: None,
            went_back: Cell::default(),
        })
    }

    /// Replaces the profile.
    ///
    /// # Errors
    /// As [`replace::replace`].
    pub async fn replace(&self, service: &Service<'_>) -> Result<Outcome, Failure> {
        replace::replace(service, self).await
    }
}

impl ProfileChange for Update {
    fn operation(&self) -> &'static str {
        Operation::CustomerUpdate.name()
    }

    fn draft(&self) -> Option<&Map<String, Value>> {
        Some(&self.patch.draft)
    }

    fn merge(
        &self,
        stored: &Map<String, Value>,
        regions: Option<&RegionDirectory>,
    ) -> Result<Merged, Failure> {
        let Some(regions) = regions else { return merge(stored.clone(), &self.patch) };
        let mut draft = regions.resolve(&self.patch.draft, stored)?;
        profile_rules::drop_service_fields(&mut draft);
        merge(stored.clone(), &ProfilePatch { draft, ..self.patch.clone() })
    }

    fn check_deletions(&self, merged: &Merged, prompt: &Prompt, confirmed: bool) -> Result<(), Failure> {
        match deletion_guard::check(&self.patch, &merged.summary, self.allow_delete, confirmed) {
            Err(_) if self.patch.replace && self.allow_delete.is_none() && prompt.can_ask() => {
                let typed = prompt.number_of_deletions(merged.summary.removed.len())?;
                deletion_guard::check(&self.patch, &merged.summary, Some(typed), confirmed)
            }
            result => result,
        }
    }

    fn on_read(&self, service: &Service<'_>, found: &Profile) {
        // Completion is for commands about one customer; a batch sees many.
        if service.session.report.record.is_none() {
            read::remember(service, found);
        }
    }

    fn warnings(&self, merged: &Merged) -> Warnings {
        lint::of_profile(merged)
    }

    fn prompt(&self) -> Option<&Prompt> {
        self.prompt.as_deref()
    }

    fn went_back(&self) {
        self.went_back.set(true);
    }

    fn base(&self) -> Option<&Profile> {
        self.base.as_ref()
    }

    fn replacement_args(&self) -> &ReplacementArgs {
        &self.replacement
    }
}

pub(crate) fn no_changes_error() -> Failure {
    Failure::usage("nothing to change").hint(
        "name what to change, such as `--address ID --city CITY`; `storefront customer show` lists the IDs",
    )
}
