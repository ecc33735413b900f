//! Stable hashes, the same on every machine and in every version: FNV-1a, 64 bits, over the bytes.
//!
//! Journals and shards depend on them, so the function never changes: offset basis
//! `cbf29ce484222325`, prime `100000001b3`.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A hash that is being taken.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Of nothing.
    pub const fn new() -> Self {
        Self(OFFSET_BASIS)
    }

    /// Adds bytes.
    #[must_use]
    pub fn update(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME)))
    }

    /// The hash.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::fnv::Fnv1a;
    use crate::journal::partition::{Shard, shard_contains};

    fn hash(text: &str) -> u64 {
        Fnv1a::new().update(text.as_bytes()).finish()
    }

    #[test]
    fn the_published_vectors_hold() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_key_is_in_exactly_one_part_and_none_is_empty() {
        let mut sizes = [0; 4];
        for key in 0..4000 {
            let key = format!("quote-{key}");
            let parts: Vec<u32> = (0..4)
                .filter(|index| shard_contains(Some(Shard { index: *index, count: 4 }), &key))
                .collect();
            assert_eq!(parts.len(), 1, "{key}");
            sizes[parts[0] as usize] += 1;
        }
        assert!(sizes.iter().all(|size| *size > 800), "{sizes:?}");
    }
}
