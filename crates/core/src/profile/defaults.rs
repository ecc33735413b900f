//! The two default addresses of a profile, each as one value.
//!
//! A service shows a default at the top of the profile and as a flag of its address. [`DefaultAddress::of`] reads the
//! two as one value, [`ProfilePatch::take_defaults`] takes the one that an input asks for out of its draft, and
//! [`DefaultAddress::write`] writes it in both places.

use serde_json::{Map, Value};

use super::address::{AddressIndex, DEFAULTS, address_list, find_address, own_id};
use super::equal::{same_flag, same_value};
use super::merge::ProfilePatch;
use crate::failure::Failure;
use crate::id::AddressId;

/// Which address is a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultAddress {
    /// None of the addresses.
    None,
    /// A stored one.
    Stored(AddressId),
    /// One that is added and has no id yet: the last with the flag.
    New,
}

impl DefaultAddress {
    /// The default of a profile. A flag takes precedence over the top, and the last of several flags counts, as in
    /// Magento; an id that is not one of the addresses is no default.
    pub fn of(customer: &Map<String, Value>, name: &str) -> Self {
        if let Some(flagged) = address_list(customer).iter().rfind(|address| is_set(address, name)) {
            return own_id(flagged).map_or(Self::New, Self::Stored);
        }
        let top = customer.get(name).and_then(AddressId::of);
        top.filter(|id| find_address(customer, *id).is_some()).map_or(Self::None, Self::Stored)
    }

    /// Where the address stands in a list.
    fn position(self, addresses: &[Value], name: &str) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Stored(id) => addresses.iter().position(|address| own_id(address) == Some(id)),
            Self::New => addresses.iter().rposition(|one| own_id(one).is_none() && is_set(one, name)),
        }
    }

    /// Writes it into a profile: as the only flag, and at the top if the profile has it there. A flag that is right
    /// keeps its notation. A new address has no id for the top, where the default is then left out.
    pub fn write(self, customer: &mut Map<String, Value>, name: &str) {
        let own = self.position(address_list(customer), name);
        if let Some(Value::Array(addresses)) = customer.get_mut("addresses") {
            for (at, address) in addresses.iter_mut().enumerate() {
                match (own == Some(at), is_set(address, name)) {
                    (true, false) => address[name] = true.into(),
                    (false, true) => clear_flag(&mut address[name]),
                    _ => {}
                }
            }
        }
        let Some(top) = customer.get_mut(name) else { return };
        let wanted = match self {
            Self::None => Value::Null,
            Self::Stored(id) if top.is_number() => id.into(),
            Self::Stored(id) => id.to_string().into(),
            Self::New => return drop(customer.shift_remove(name)),
        };
        if !same_value(name, Some(&wanted), Some(top)) {
            *top = wanted;
        }
    }

    /// Writes it into the profile that is sent to Magento, at the top and as a flag, whatever the profile has. A stored
    /// default that is not one of the sent addresses goes out as null: Magento completes an administrator's PUT from
    /// the stored profile, and refuses a default that is not stored, or, from 2.4.7 to 2.4.7-p3, not sent.
    pub fn write_both_ways(self, customer: &mut Map<String, Value>, stored: &Map<String, Value>, name: &str) {
        let own = self.position(address_list(customer), name);
        if let Some(Value::Array(addresses)) = customer.get_mut("addresses") {
            for (at, address) in addresses.iter_mut().enumerate() {
                let Value::Object(address) = address else { continue };
                if own == Some(at) || address.contains_key(name) {
                    address.insert(name.to_owned(), (own == Some(at)).into());
                }
            }
        }
        match self {
            Self::Stored(id) if customer.get(name).and_then(AddressId::of) == Some(id) => {}
            Self::Stored(id) => drop(customer.insert(name.to_owned(), id.to_string().into())),
            _ if stored.contains_key(name) => drop(customer.insert(name.to_owned(), Value::Null)),
            _ => drop(customer.shift_remove(name)),
        }
    }
}

/// Whether the flag of an address is set.
pub(super) fn is_set(address: &Value, name: &str) -> bool {
    same_flag(address.get(name), Some(&Value::Bool(true)))
}

/// Whether the flag of an address says that it is not the default.
fn is_cleared(address: &Value, name: &str) -> bool {
    address.get(name).is_some_and(|flag| same_flag(Some(flag), None))
}

/// Sets a flag to false in the type that is stored.
fn clear_flag(flag: &mut Value) {
    *flag = match &*flag {
        Value::Number(_) => 0.into(),
        Value::String(text) if text == "1" => "0".into(),
        Value::String(_) => "false".into(),
        _ => false.into(),
    };
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

#[cfg(test)]
mod tests;
