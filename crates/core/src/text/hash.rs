//! Hashes that never change, because journals, names and shards contain them.

use std::io::{self, Read};

use ring::digest::{Context, SHA256};

/// A stable hash, the same on every machine and in every version: FNV-1a, 64 bits, over the bytes.
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
    /// The hash of no bytes.
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

/// The hash of some bytes; see [`Fnv1a`].
pub fn fnv1a(bytes: &[u8]) -> u64 {
    Fnv1a::default().update(bytes).finish()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// The SHA-256 of what is read, in 64 hexadecimal digits.
///
/// # Errors
/// Those of the reader.
pub fn sha256(input: &mut dyn Read) -> io::Result<String> {
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => context.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hex(context.finish().as_ref()))
}

#[cfg(test)]
mod tests {
    use super::{fnv1a, sha256};

    #[test]
    fn the_published_vectors_hold() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&mut &b"abc"[..]).unwrap(), digest);
    }
}
