//! The stored profile and what is done with it: patch, merge, diff, deletion guard, restore, read-back.

pub mod diff;
pub mod equivalence;
pub mod magento;
pub mod merge;
pub mod patch;
pub mod region;
pub mod restore;
pub mod stored;
pub mod stored_fields;
pub mod verify;
