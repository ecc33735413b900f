//! The stored profile and what is done with it: patch, merge, diff, deletion guard, restore, read-back.

pub mod address_ids;
pub mod default_address;
pub mod deletion_guard;
pub mod diff;
pub mod equivalence;
pub mod field_path;
pub mod merge;
pub mod merge_addresses;
#[cfg(test)]
mod merge_properties;
pub mod patch;
pub mod profile_rules;
pub mod read_back;
pub mod region;
pub mod region_directory;
pub mod replacement;
pub mod restore;
pub mod set_field;
pub mod stored;
pub mod stored_fields;
mod twin;
pub mod unacceptable;
