//! The spellings in which a token may stand in a text: as it is, escaped in JSON, encoded in a URL, or as HTML's
//! character references.

/// The first characters of a backslash escape, a percent encoding and a character reference.
const MARKS: &[u8; 3] = b"\\%&";

/// Whether a text may hold one of these tokens: as it is, or by a mark that begins another spelling. Nearly no text does.
pub(super) fn may_hold<'a>(text: &[u8], mut tokens: impl Iterator<Item = &'a [u8]>) -> bool {
    memchr::memchr3(MARKS[0], MARKS[1], MARKS[2], text).is_some()
        || tokens.any(|token| memchr::memmem::find(text, token).is_some())
}

/// How much of a token a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Spelled {
    /// All of it, in so many bytes.
    Whole(usize),
    /// Its first so many bytes, then the text ends.
    Beginning(usize),
    /// Not even its first byte.
    Not,
}

/// The bytes with which a spelling of one of these tokens can begin.
pub(super) fn first_bytes<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> [bool; 256] {
    let mut begins = [false; 256];
    for byte in tokens.filter_map(<[u8]>::first).chain(MARKS) {
        begins[usize::from(*byte)] = true;
    }
    begins
}

/// A token that itself holds `%`, `\` or `&` may stand there as it is, or in one of the spellings only.
pub(super) fn spelled(text: &[u8], token: &[u8]) -> Spelled {
    let first = spelled_by(text, token, MARKS);
    if first != Spelled::Not || !token.iter().any(|byte| MARKS.contains(byte)) {
        return first;
    }
    let by = [&b""[..], b"\\", b"%", b"&"].map(|marks| spelled_by(text, token, marks));
    by.into_iter().find(|spelled| *spelled != Spelled::Not).unwrap_or(Spelled::Not)
}

/// `marks` are the first characters of the spellings that are looked for.
fn spelled_by(text: &[u8], token: &[u8], marks: &[u8]) -> Spelled {
    let mut at = 0;
    for (index, byte) in token.iter().enumerate() {
        match one_spelled(&text[at..], *byte, marks) {
            Some(length) => at += length,
            // A spelling that the end of the text cuts counts as its end.
            None if is_cut_spelling(&text[at..]) => return Spelled::Beginning(index),
            None => return Spelled::Not,
        }
    }
    Spelled::Whole(at)
}

/// In how many bytes a text spells a byte at its beginning.
fn one_spelled(text: &[u8], byte: u8, marks: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    match first {
        first if !marks.contains(&first) => None,
        b'\\' => backslashed(text, byte),
        b'%' => percent_encoded(text, byte),
        b'&' => character_reference(text, byte),
        _ => None,
    }
    .or_else(|| (first == byte).then_some(1))
}

fn backslashed(text: &[u8], byte: u8) -> Option<usize> {
    let backslashes = text.iter().take_while(|byte| **byte == b'\\').count();
    if byte == b'\\' {
        return Some(backslashes);
    }
    let rest = &text[backslashes..];
    if let Some(hexadecimal) = rest.strip_prefix(b"u").and_then(|rest| rest.get(..4))
        && number(hexadecimal, 16) == Some(byte.into())
    {
        return Some(backslashes + 5);
    }
    (rest.first() == Some(&byte)).then_some(backslashes + 1)
}

/// `%2F`, or `%252F` where it was encoded twice.
fn percent_encoded(text: &[u8], byte: u8) -> Option<usize> {
    let mut at = 1;
    while byte != b'%' && text[at..].starts_with(b"25") {
        at += 2;
    }
    (number(text.get(at..at + 2)?, 16)? == u32::from(byte)).then_some(at + 2)
}

/// `&#47;`, `&#x2F;`, `&amp;`.
fn character_reference(text: &[u8], byte: u8) -> Option<usize> {
    let length = text.iter().take(10).position(|byte| *byte == b';')?;
    let is_byte = match &text[1..length] {
        b"amp" => byte == b'&',
        b"lt" => byte == b'<',
        b"gt" => byte == b'>',
        b"quot" => byte == b'"',
        b"apos" => byte == b'\'',
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16) == Some(byte.into()),
        [b'#', digits @ ..] => number(digits, 10) == Some(byte.into()),
        _ => false,
    };
    is_byte.then_some(length + 1)
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// Whether a text ends before it is plain what it spells.
fn is_cut_spelling(text: &[u8]) -> bool {
    match text.first() {
        None => true,
        Some(b'\\') => {
            let rest = &text[text.iter().take_while(|byte| **byte == b'\\').count()..];
            rest.is_empty() || rest[0] == b'u' && rest.len() < 5
        }
        Some(b'%') => text.len() < 3,
        Some(b'&') => text.len() < 10 && !text.contains(&b';'),
        _ => false,
    }
}
