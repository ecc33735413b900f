//! The pure part: what the user wants becomes exactly what will be sent. Nothing here reads, writes or waits.
//!
//! A profile update goes [`crate::plan::profile::stored`] → [`crate::plan::profile::merge`] (with [`crate::plan::profile::region`] and [`crate::plan::profile::diff`]) → [`crate::plan::profile::diff`] → [`crate::plan::profile::patch`] → [`request`],
//! and [`crate::plan::profile::read_back`] holds the read-back against what was sent.

pub mod attribute_compare;
pub mod operation;
pub mod profile;
pub mod request;
pub mod validate;
