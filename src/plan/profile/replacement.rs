//! What a replacement changes, found from the profile before it and the one that is sent.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::diff;
use super::merge::Merged;
use crate::failure::Failure;
use crate::plan::profile::address_ids::{AddressIndex, id_of};
use crate::plan::profile::patch::AddressSummary;

impl Merged {
    /// The replacement of `stored` by `customer`, whose new addresses have no id.
    ///
    /// # Errors
    /// `guard` when a list has an address without a usable id of its own.
    pub fn between(stored: &Map<String, Value>, customer: Map<String, Value>) -> Result<Self, Failure> {
        let before = AddressIndex::of(diff::address_list(stored))?;
        let changes = diff::customers(stored, &customer);
        let touched: HashSet<i64> = changes.iter().filter_map(|change| change.path.address_id()).collect();
        let after = diff::address_list(&customer);
        let staying: Vec<i64> = after.iter().filter_map(|address| id_of(address.get("id")?)).collect();
        let there: HashSet<i64> = staying.iter().copied().collect();
        let (edited, kept) = staying.into_iter().partition(|id| touched.contains(id));
        let tally = AddressSummary {
            kept,
            changed: edited,
            added: after.iter().filter(|address| address.get("id").is_none()).count(),
            removed: before.ids().iter().copied().filter(|id| !there.contains(id)).collect(),
        };
        Ok(Self { customer, changes, summary: tally, notes: Vec::new() })
    }

    /// Whether it asks for exactly the same as another one.
    pub fn asks_the_same_as(&self, other: &Self) -> bool {
        let wanted = |merged: &Self| -> Vec<(String, Option<Value>)> {
            merged.changes.iter().map(|change| (change.path.to_string(), change.after.clone())).collect()
        };
        wanted(self) == wanted(other)
    }
}
