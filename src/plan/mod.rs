//! The pure part: what the user wants becomes exactly what will be sent. Nothing here reads, writes or waits.
//!
//! A profile update goes [`profile`] → [`merge`] (with [`region`] and [`roster`]) → [`diff`] → [`guard`] → [`request`],
//! and [`verify`] holds the read-back against what was sent.

pub mod address_check;
pub mod address_list;
pub mod attribute_check;
pub mod attribute_code;
pub mod cart_item_check;
pub mod check;
pub mod default_address;
pub mod diff;
pub mod equivalence;
pub mod guard;
pub mod input_kind;
#[cfg(test)]
mod laws;
pub mod masked_values;
pub mod member;
pub mod merge;
pub mod operation;
pub mod path;
pub mod profile;
pub mod quote_address;
pub mod region;
pub mod relative_path;
pub mod replacement;
pub mod request;
pub mod restoration;
pub mod roster;
pub mod same_value;
pub mod scan;
pub mod schema;
pub mod stored_fields;
pub mod verify;
