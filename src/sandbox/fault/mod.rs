//! Fault injection for `--fault`: the specification, the middleware and the connection.

pub(crate) mod active;
pub(crate) mod connection;
pub(crate) mod inject;
pub mod late;
pub(crate) mod spec;
pub mod varnish;
