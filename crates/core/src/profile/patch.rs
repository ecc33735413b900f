//! What is to be changed in a profile.

use serde_json::{Map, Value};

use super::address::{AddressIndex, DEFAULTS, address_list, find_address, own_id};
use super::defaults::{DefaultAddress, is_cleared, is_set};
use super::equal::same_value;
use crate::check::body::Finding;
use crate::failure::Failure;
use crate::id::AddressId;

/// What the user wants changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfilePatch {
    /// Fields of the customer to set. `addresses` holds drafts: with an id they change that address, without one they
    /// add an address.
    pub draft: Map<String, Value>,
    /// Ids of addresses to remove, by name.
    pub remove: Vec<AddressId>,
    /// The draft's addresses are the whole list: an address that it leaves out is deleted.
    pub replace: bool,
    /// What becomes of a new address that equals a stored one.
    pub twin: Twin,
    /// What the defaults are to be, each of [`DEFAULTS`] once at most. If one is a new address, its draft has the flag.
    pub defaults: Vec<(&'static str, DefaultAddress)>,
    /// Findings of the check that depend on the stored profile.
    pub deferred: Vec<Finding>,
}

/// What becomes of a new address that equals a stored one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Twin {
    /// It is refused.
    #[default]
    Refused,
    /// It is added.
    Added,
    /// It counts as stored already: a sheet is run once more.
    Left,
}

impl ProfilePatch {
    /// Takes the defaults that the draft asks for out of it, for a service that keeps each as one value. A default that
    /// is as it is stored asks for nothing.
    ///
    /// # Errors
    /// `guard` or `usage` for a default that is none of the stored addresses.
    pub fn take_defaults(&mut self, stored: &Map<String, Value>) -> Result<(), Failure> {
        for name in DEFAULTS {
            let is = DefaultAddress::of(stored, name);
            let asked = self.defaults.iter().find(|(own, _)| *own == name).map(|(_, default)| *default);
            let wanted = match asked {
                Some(asked) => asked,
                None => self.asked_for(name, is, stored)?.unwrap_or(is),
            };
            self.take_out(name, wanted);
            self.defaults.retain(|(own, _)| *own != name);
            if wanted != is {
                self.defaults.push((name, wanted));
            }
        }
        Ok(())
    }

    /// What the draft makes of a default that is `is` now: the last flag that is new; else another value at the top;
    /// else the flag of the default that is cleared. In a document that was read, everything else is as it is stored.
    fn asked_for(
        &self,
        name: &str,
        is: DefaultAddress,
        stored: &Map<String, Value>,
    ) -> Result<Option<DefaultAddress>, Failure> {
        let drafts = address_list(&self.draft);
        let is_new = |address: &&Value| {
            let before = own_id(address).and_then(|id| find_address(stored, id));
            is_set(address, name) && !before.is_some_and(|before| is_set(before, name))
        };
        if let Some(flagged) = drafts.iter().rfind(is_new) {
            return Ok(Some(own_id(flagged).map_or(DefaultAddress::New, DefaultAddress::Stored)));
        }
        let top = self.draft.get(name).filter(|top| !same_value(name, Some(top), stored.get(name)));
        match top {
            Some(top) if same_value(name, Some(top), None) => return Ok(Some(DefaultAddress::None)),
            Some(top) => {
                let id = AddressId::of(top)
                    .ok_or_else(|| Failure::usage(format!("{name}: invalid address ID `{top}`")))?;
                AddressIndex::of(address_list(stored))?.find(id)?;
                return Ok(Some(DefaultAddress::Stored(id)));
            }
            None => {}
        }
        let is_own = |address: &&Value| own_id(address).map(DefaultAddress::Stored) == Some(is);
        let own = drafts.iter().find(is_own);
        Ok(own.filter(|own| is_cleared(own, name)).map(|_| DefaultAddress::None))
    }

    /// Removes the default from the draft, except the flag of the new address that is `wanted`.
    fn take_out(&mut self, name: &str, wanted: DefaultAddress) {
        self.draft.shift_remove(name);
        let own = wanted.position(address_list(&self.draft), name);
        let Some(Value::Array(addresses)) = self.draft.get_mut("addresses") else { return };
        for (at, address) in addresses.iter_mut().enumerate() {
            let is_kept = wanted == DefaultAddress::New && own == Some(at);
            // Anything else is not a flag, and is refused with the draft.
            let is_flag = is_set(address, name) || is_cleared(address, name);
            if let (Value::Object(address), true, false) = (address, is_flag, is_kept) {
                address.shift_remove(name);
            }
        }
    }
}
