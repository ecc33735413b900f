//! `customer check`: checks address books, and reads what only the shop knows of its countries once a run.

use std::collections::HashSet;

use super::read_country;
use crate::client::service::Service;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::id::CustomerId;
use storefront_core::profile::address_book::{self, Finding, Shop, Twins};
use storefront_core::profile::stored::Profile;

/// Checks address books one after the other.
pub struct Checker<'a> {
    service: &'a Service<'a>,
    /// Countries that the shop does not know.
    unknown: HashSet<String>,
}

impl<'a> Checker<'a> {
    /// A checker that has not read anything yet.
    pub fn new(service: &'a Service<'a>) -> Self {
        Self { service, unknown: HashSet::new() }
    }

    /// The findings in a customer's address book, and its twins.
    ///
    /// # Errors
    /// Where the regions of a country cannot be read.
    pub async fn check(&mut self, profile: &Profile) -> Result<(Vec<Finding>, Vec<Twins>), Failure> {
        let customer = profile.customer();
        for country in address_book::countries(customer) {
            self.read_country(profile, country).await?;
        }
        let twins = address_book::twins(customer);
        let regions = self.service.regions.borrow();
        let shop = Shop { dialect: self.service.settings.dialect, regions: &regions, unknown: &self.unknown };
        Ok((address_book::check(customer, &twins, &shop), twins))
    }

    async fn read_country(&mut self, profile: &Profile, country: &str) -> Result<(), Failure> {
        if self.unknown.contains(country) || self.service.regions.borrow().knows(country) {
            return Ok(());
        }
        // An administrator's token needs a named customer for this call.
        let is_own = self.service.customer.is_none() && !self.service.settings.has_only_admin_token();
        let id = profile.text("id").and_then(|id| id.parse().ok()).map(CustomerId);
        let customer = id.filter(|_| !is_own && self.service.settings.dialect.customers.is_some());
        let service = self.service.of_customer(customer);
        match read_country(&service, country).await {
            Err(failure) if failure.kind == FailureKind::Usage => {
                self.unknown.insert(country.to_owned());
                Ok(())
            }
            read => read,
        }
    }
}
