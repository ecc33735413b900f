//! One file per resource of the service.

pub(crate) mod address;
pub(crate) mod attribute;
pub(crate) mod profile;
pub(crate) mod quantity;
pub(crate) mod quote_item;
pub(crate) mod shipping;
