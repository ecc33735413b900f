//! Ids of customers and addresses: numbers that must not be mistaken for each other.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The id of a customer, as an administrator names it in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CustomerId(pub u64);

/// The id of an address in a customer's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AddressId(pub i64);

/// An id of anything: an integer, or integer text. `None` for another value.
pub fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        // `parse` takes a plus sign too, which no id has.
        Value::String(text) => text.parse().ok().filter(|_| !text.starts_with('+')),
        _ => None,
    }
}

impl AddressId {
    /// As [`integer`].
    pub fn of(value: &Value) -> Option<Self> {
        integer(value).map(Self)
    }
}

impl fmt::Display for CustomerId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl fmt::Display for AddressId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl FromStr for CustomerId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl FromStr for AddressId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl From<AddressId> for Value {
    fn from(id: AddressId) -> Self {
        id.0.into()
    }
}
