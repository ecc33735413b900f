//! Replacing a customer profile: read, change, send, verify.

pub(crate) mod change;
mod locked;
mod messages;
pub mod read;
pub(crate) mod replace;
pub(crate) mod restore;
pub(crate) mod verify;
