//! Replacing a customer profile: read, change, send, verify.

pub(crate) mod change;
pub(crate) mod locked;
pub mod pending;
pub mod read;
pub(crate) mod replace;
pub(crate) mod resolve;
pub(crate) mod restore;
pub(crate) mod send_and_verify;
pub mod update;
