//! Shards: the parts of an input, and which record belongs to which.

use std::str::FromStr;

use crate::journal::fnv::Fnv1a;

/// One of several parts of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u32,
    /// How many parts there are.
    pub count: u32,
}

impl std::fmt::Display for Shard {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((index, of)) if index < of => Ok(Self { index, count: of }),
            Some(_) => Err("shards are numbered from 0, e.g. 3/4 is the last of 4".to_owned()),
            None => Err("expected I/N, e.g. 0/4".to_owned()),
        }
    }
}

/// Whether a record with this key belongs to a part: the key's hash, modulo the number of parts.
pub fn shard_contains(shard: Option<Shard>, key: &str) -> bool {
    let hash = || Fnv1a::new().update(key.as_bytes()).finish();
    shard.is_none_or(|shard| hash() % u64::from(shard.count) == u64::from(shard.index))
}
