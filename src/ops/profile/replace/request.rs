//! The request that replaces a profile, and what an interface needs to know for it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Steps;
use crate::failure::Failure;
use crate::ops::regions;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::profile_rules;
use crate::plan::profile::region_directory::RegionDirectory;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Request;

impl Steps<'_> {
    /// The regions by code and name, where the interface takes ids only.
    pub(super) fn region_directory(&self) -> Option<&RegionDirectory> {
        self.service.settings.dialect.is_magento().then_some(&self.regions)
    }

    /// Reads the countries whose regions the change names by code or name.
    pub(super) async fn read_regions(&mut self, stored: &Profile) -> Result<(), Failure> {
        let Some(draft) = self.change.draft() else { return Ok(()) };
        for country in RegionDirectory::needed(draft, stored.customer()) {
            regions::read_country(self.service, &country, &mut self.regions).await?;
        }
        Ok(())
    }

    pub(super) fn request(&self, stored: &Profile, merged: &Merged) -> Result<Request, Failure> {
        let completed = if self.service.settings.dialect.is_magento() {
            Cow::Owned(profile_rules::completed(stored.customer(), &merged.customer))
        } else {
            Cow::Borrowed(&merged.customer)
        };
        let body = Body { customer: &completed };
        let body = serde_json::to_string(&body)
            .map_err(|error| Failure::internal(format!("the profile cannot be written as JSON: {error}")))?;
        Ok(Request::replace_profile(&self.service.target()?, body.into()))
    }
}

/// The body of the PUT; a customer of ten thousand addresses is not copied for it.
#[derive(Serialize)]
struct Body<'a> {
    customer: &'a Map<String, Value>,
}
