//! The write-ahead journal of a batch: what is known of each record, and how it is written and read again.
//!
//! Nothing here knows what a record is or how it is sent.

pub mod entry;
pub mod fnv;
pub mod header;
mod line_parser;
mod paged_file;
pub mod partition;
pub mod reading;
pub mod record_index;
pub mod record_state;
pub mod replay;
pub mod torn;
pub mod write_ahead;
pub mod writer;
