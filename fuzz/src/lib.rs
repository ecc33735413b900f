//! What must hold for any profile, any reply and any input, as functions of raw bytes: a law that does not hold panics.
//!
//! `fuzz/run TARGET` looks for bytes that break one; `cargo test` holds the laws against the bytes kept in `seeds/`.

pub mod input;
pub mod json;
pub mod merge;
pub mod restoration;
pub mod service_error;
