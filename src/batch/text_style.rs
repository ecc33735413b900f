//! How a text file is written: encoding, line ends, an Excel `sep=` line. A file of failed records is written the same way.

use std::io::{self, Read, Write};
use std::path::Path;

/// How a text file is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Its encoding.
    pub encoding: Encoding,
    /// Whether its lines end with CR LF.
    pub crlf: bool,
    /// The delimiter that its first line, `sep=…`, names.
    pub sep: Option<char>,
}

/// An encoding, with or without a byte order mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 without a mark.
    #[default]
    Utf8,
    /// UTF-8 with a mark, as Excel writes it.
    Utf8Bom,
    /// UTF-16, little end first, with a mark.
    Utf16Le,
    /// UTF-16, big end first, with a mark.
    Utf16Be,
}

impl TextStyle {
    /// Reads the style off the beginning of a file.
    ///
    /// # Errors
    /// The system's errors.
    pub fn of(path: &Path) -> io::Result<Self> {
        /// A first line is hardly longer.
        const MAX_START: u64 = 64 << 10;
        let mut start = Vec::new();
        std::fs::File::open(path)?.take(MAX_START).read_to_end(&mut start)?;
        Ok(Self::of_start(&start))
    }

    fn of_start(start: &[u8]) -> Self {
        let (encoding, text) = match start {
            [0xef, 0xbb, 0xbf, rest @ ..] => (Encoding::Utf8Bom, rest.to_vec()),
            [0xff, 0xfe, rest @ ..] => (Encoding::Utf16Le, low_bytes(rest, u16::from_le_bytes)),
            [0xfe, 0xff, rest @ ..] => (Encoding::Utf16Be, low_bytes(rest, u16::from_be_bytes)),
            _ => (Encoding::Utf8, start.to_vec()),
        };
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let crlf = line.len() < text.len() && line.last() == Some(&b'\r');
        let sep = match line.trim_ascii_end() {
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', sep] => Some(char::from(*sep)),
            // A tab at the end is white space.
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'='] if line.get(4) == Some(&b'\t') => Some('\t'),
            _ => None,
        };
        Self { encoding, crlf, sep }
    }

    /// What ends a line.
    pub fn line_end(self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

/// The text as far as it is ASCII, which is all that is looked for.
fn low_bytes(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| u8::try_from(unit(*pair)).unwrap_or(b'?')).collect()
}

/// Takes UTF-8 and writes it in an encoding.
#[derive(Debug)]
pub struct Encoder<W> {
    out: W,
    encoding: Encoding,
    /// The beginning of a character whose other bytes have not come yet.
    partial: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    /// Writes the byte order mark, where there is one.
    ///
    /// # Errors
    /// The system's errors.
    pub fn new(mut out: W, encoding: Encoding) -> io::Result<Self> {
        out.write_all(match encoding {
            Encoding::Utf8 => b"",
            Encoding::Utf8Bom => b"\xef\xbb\xbf",
            Encoding::Utf16Le => b"\xff\xfe",
            Encoding::Utf16Be => b"\xfe\xff",
        })?;
        Ok(Self { out, encoding, partial: Vec::new() })
    }

    /// Where it is written.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.encoding, Encoding::Utf8 | Encoding::Utf8Bom) {
            return self.out.write(bytes);
        }
        self.partial.extend_from_slice(bytes);
        let valid = match std::str::from_utf8(&self.partial) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => return Err(io::Error::other(error)),
        };
        let rest = self.partial.split_off(valid);
        let text = std::mem::replace(&mut self.partial, rest);
        let units = String::from_utf8_lossy(&text);
        let encode = if self.encoding == Encoding::Utf16Le { u16::to_le_bytes } else { u16::to_be_bytes };
        let encoded: Vec<u8> = units.encode_utf16().flat_map(encode).collect();
        self.out.write_all(&encoded)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{Encoder, Encoding, TextStyle};

    #[test]
    fn a_style_is_read_and_written_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be] {
            for crlf in [false, true] {
                for (first, sep) in [("sep=;", Some(';')), ("sep=\t", Some('\t')), ("größe,☃𝄞", None)]
                {
                    let style = TextStyle { encoding, crlf, sep };
                    let mut encoder = Encoder::new(Vec::new(), encoding).unwrap();
                    let text = format!("{first}{}1,2{}", style.line_end(), style.line_end());
                    // Characters come in pieces.
                    for byte in text.as_bytes() {
                        encoder.write_all(&[*byte]).unwrap();
                    }
                    let written = encoder.into_inner();
                    assert_eq!(TextStyle::of_start(&written), style, "{text:?}");
                    if encoding == Encoding::Utf16Be {
                        let (pairs, _) = written[2..].as_chunks::<2>();
                        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
                        assert_eq!(String::from_utf16(&units).unwrap(), text);
                    }
                }
            }
        }
    }
}
