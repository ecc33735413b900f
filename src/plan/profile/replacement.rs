//! What a replacement changes, found from the profile before it and the one that is sent.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::diff;
use super::merge::Merged;
use crate::failure::Failure;
use crate::plan::profile::diff::{AddressIndex, id_of};
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

    /// The customer as a service would have it: each new address has an id that no other has.
    pub fn as_stored(&self) -> Map<String, Value> {
        let mut stored = self.customer.clone();
        let ids = diff::address_list(&stored).iter().filter_map(|address| id_of(address.get("id")?));
        let mut free = ids.max().unwrap_or_default().saturating_add(1)..;
        let addresses = stored.get_mut("addresses").and_then(Value::as_array_mut);
        for address in addresses.into_iter().flatten().filter_map(Value::as_object_mut) {
            if !address.contains_key("id") {
                address.insert("id".to_owned(), free.next().into());
            }
        }
        stored
    }
}

/// What the replacement of `before` by `after` asks for: paths and new values, the same however the fields are ordered.
pub fn asked(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<(String, Option<Value>)> {
    let changes = diff::customers(before, after).into_iter();
    let mut asked: Vec<_> = changes.map(|change| (change.path.to_string(), change.after)).collect();
    asked.sort_by(|(one, _), (other, _)| one.cmp(other));
    asked
}
