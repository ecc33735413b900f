//! A hash that never changes: it stands in journals, names and shards.

/// A stable hash in the making, the same on every machine and in every version: FNV-1a, 64 bits, over the bytes.
///
/// Journals and shards depend on it, so the function never changes.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Adds bytes.
    #[must_use]
    pub fn update(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The hash.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    /// Of nothing.
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

/// The hash of some bytes; see [`Fnv1a`].
pub fn fnv1a(bytes: &[u8]) -> u64 {
    Fnv1a::default().update(bytes).finish()
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn the_published_vectors_hold() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
