//! Text: durations, JSON to the letter, tokens and their masking, escapes for terminals, quotes for shells, near misses, hashes.

pub mod duration;
pub mod exact_json;
pub mod fold;
pub mod hash;
pub mod oauth;
pub mod redact;
pub mod sanitize;
pub mod shell;
pub mod spelling;
pub mod suggestion;
pub mod token;
