//! The two default addresses of a profile, each as one value.
//!
//! A service shows a default at the top of the profile and as a flag of its address. [`DefaultAddress::of`] reads the
//! two as one value, [`ProfilePatch::take_defaults`] takes the one that an input asks for out of its draft, and
//! [`DefaultAddress::write`] writes it in both places.
//!
//! [`ProfilePatch::take_defaults`]: super::patch::ProfilePatch::take_defaults

use serde_json::{Map, Value};

use super::address::{address_list, find_address, own_id};
use super::equal::{same_flag, same_value};
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
    pub(super) fn position(self, addresses: &[Value], name: &str) -> Option<usize> {
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
pub(super) fn is_cleared(address: &Value, name: &str) -> bool {
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

#[cfg(test)]
mod tests;
