//! The operations of the marketplace's interface.

pub(crate) mod attribute;
pub(crate) mod profile;
pub(crate) mod quote;
