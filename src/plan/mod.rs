//! The pure part: what the user wants becomes exactly what will be sent. Nothing here reads, writes or waits.
//!
//! A profile update goes [`profile::stored`] → [`profile::merge`] (with [`profile::region`]) → [`profile::diff`] →
//! [`request`], and [`profile::verify`] compares what is read afterwards with what was sent.

pub mod attribute;
pub mod operation;
pub mod request;

/// The stored profile and what is done with it: patch, merge, diff, deletion guard, restore, read-back.
pub mod profile {
    pub mod by_place;
    pub mod diff;
    pub mod magento;
    pub mod merge;
    pub mod region;
    pub mod restore;
    pub mod stored;
    pub mod verify;
}

/// Validation of a request body, lints, and JSON Schema.
pub mod validate {
    pub mod attribute;
    pub mod body;
    pub mod country;
    pub mod json_schema;
    pub mod lint;
}
