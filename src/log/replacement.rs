//! A replacement of a profile: the profile as it was before, and as it was sent.

use serde_json::{Map, Value};

use super::{LastRead, WriteId, WriteName};
use storefront_core::profile::diff::{self, FieldChange};

/// A replacement that was read from the log.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// What people name it by.
    pub name: WriteName,
    /// When its first call left, RFC 3339, UTC.
    pub taken: String,
    /// The operation.
    pub operation: String,
    /// The customer object as it was.
    pub customer: Map<String, Value>,
    /// The customer object as it was sent.
    pub merged: Map<String, Value>,
}

impl Replacement {
    /// What people name it by.
    pub fn name(&self) -> String {
        self.name.to_string()
    }

    /// What the replacement changed.
    pub fn changes(&self) -> Vec<FieldChange> {
        diff::customers(&self.customer, &self.merged)
    }
}

impl LastRead {
    /// Whether it was read after the first call of the replacement was in the log: then it shows what became of that.
    pub fn is_after(&self, replacement: WriteId) -> bool {
        replacement <= self.newest
    }
}
