//! The fields of a customer and of an address that may be empty, and what stands for nothing in them.

use serde_json::Value;

use super::region;
use crate::interface::fields::{FieldType, MARKETPLACE_FIELDS};

/// A field that may be empty, and what has it.
#[derive(Debug)]
pub struct Clearable {
    /// Its name, as flags write it.
    pub name: &'static str,
    /// What has it.
    pub owner: FieldOwner,
}

/// What has a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldOwner {
    /// An address.
    Address,
    /// The customer.
    Profile,
    /// Both.
    Both,
}

const fn clearable(name: &'static str, owner: FieldOwner) -> Clearable {
    Clearable { name, owner }
}

/// The fields that can be cleared.
pub static CLEARABLE: [Clearable; 12] = [
    clearable("city", FieldOwner::Address),
    clearable("postcode", FieldOwner::Address),
    clearable("region", FieldOwner::Address),
    clearable("telephone", FieldOwner::Address),
    clearable("company", FieldOwner::Address),
    clearable("vat-id", FieldOwner::Address),
    clearable("fax", FieldOwner::Address),
    clearable("prefix", FieldOwner::Both),
    clearable("middlename", FieldOwner::Both),
    clearable("suffix", FieldOwner::Both),
    clearable("dob", FieldOwner::Profile),
    clearable("taxvat", FieldOwner::Profile),
];

/// Whether an address, or else a customer, may be without this field, by the name of its flag or as the interface calls it.
pub fn can_clear(name: &str, in_address: bool) -> bool {
    let owner = if in_address { FieldOwner::Address } else { FieldOwner::Profile };
    let field = CLEARABLE.iter().find(|field| field.name == name.replace('_', "-"));
    field.is_some_and(|field| field.owner == owner || field.owner == FieldOwner::Both)
}

/// The value that clears a field of an address.
pub fn nothing(field: &str) -> Value {
    match MARKETPLACE_FIELDS.address.field(field).map(|field| field.field_type) {
        Some(FieldType::Object(_)) => region::none(),
        Some(FieldType::TextOrNull) => Value::Null,
        _ => "".into(),
    }
}
