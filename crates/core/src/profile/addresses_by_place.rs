//! Finds addresses by their content without comparing each with each: a shop that renumbers may have thousands.

use std::collections::HashMap;

use serde_json::Value;

use super::equal::{PLACE, place};
use crate::id::AddressId;

/// Addresses with their ids, in stored order, each of which can be taken once.
#[derive(Debug)]
pub struct AddressesByPlace<'a> {
    addresses: Vec<Option<(AddressId, &'a Value)>>,
    places: HashMap<String, Vec<usize>>,
}

impl<'a> AddressesByPlace<'a> {
    /// An index of these addresses.
    pub fn of(addresses: impl IntoIterator<Item = (AddressId, &'a Value)>) -> Self {
        let addresses: Vec<_> = addresses.into_iter().map(Some).collect();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, (_, address)) in addresses.iter().flatten().enumerate() {
            places.entry(place(address)).or_default().push(position);
        }
        Self { addresses, places }
    }

    /// The addresses that are left and may be where this one is.
    pub fn near(&self, address: &Value) -> impl Iterator<Item = (AddressId, &'a Value)> {
        self.positions(address).into_iter().filter_map(|position| self.addresses[position])
    }

    /// Takes the first of those near this one that fits.
    pub fn take(&mut self, address: &Value, fits: impl Fn(&Value) -> bool) -> Option<(AddressId, &'a Value)> {
        let is_it = |position: &usize| self.addresses[*position].is_some_and(|(_, address)| fits(address));
        let position = self.positions(address).into_iter().find(is_it)?;
        self.addresses[position].take()
    }

    /// All that are left.
    pub fn left(&self) -> impl Iterator<Item = (AddressId, &'a Value)> {
        self.addresses.iter().flatten().copied()
    }

    /// Takes the first of all that fits.
    pub fn take_any(&mut self, fits: impl Fn(&Value) -> bool) -> Option<(AddressId, &'a Value)> {
        let is_it = |one: &Option<(AddressId, &Value)>| one.is_some_and(|(_, address)| fits(address));
        let position = self.addresses.iter().position(is_it)?;
        self.addresses[position].take()
    }

    /// The positions of the addresses that may be where this one is: all of them if it does not say where it is.
    fn positions(&self, address: &Value) -> Vec<usize> {
        if PLACE.iter().all(|name| address.get(name).is_some()) {
            return self.places.get(&place(address)).cloned().unwrap_or_default();
        }
        (0..self.addresses.len()).collect()
    }
}
