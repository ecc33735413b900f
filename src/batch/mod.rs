//! The machinery of a run over many records: what has become of each, in which order they may go, and how fast.
//!
//! Nothing here knows what a record is or how it is sent.

pub mod circuit_breaker;
pub mod entry;
pub mod failed;
pub mod fingerprint;
pub mod gate;
pub mod header;
pub mod journal;
pub mod json_reason;
pub mod ledger;
pub mod opening;
pub mod pace;
pub mod past;
pub mod queue;
pub mod reading;
pub mod shards;
pub mod text_style;
pub mod torn;
pub mod verdict;
