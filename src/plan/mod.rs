//! The pure part: what the user wants becomes exactly what will be sent. Nothing here reads, writes or waits.
//!
//! A profile update goes [`profile::stored`] → [`profile::merge`] (with [`profile::region`]) → [`profile::diff`] →
//! [`profile::patch`] → [`request`], and [`profile::verify`] compares what is read afterwards with what was sent.

pub mod attribute_compare;
pub mod operation;
pub mod profile;
pub mod request;
pub mod validate;
