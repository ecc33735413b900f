//! What a person is asked instead of typing flags, and the equivalent command line.

pub mod attribute;
pub mod customer;
mod equivalent;
mod form;
