//! One operation on one record: from the input to what the service made of it.

pub mod attribute;
pub mod cart;
pub mod customers;
pub mod draft;
pub mod perform;
pub mod profile;
pub(crate) mod reads;
pub(crate) mod record;
pub mod regions;
pub mod send;
pub mod shipping;
