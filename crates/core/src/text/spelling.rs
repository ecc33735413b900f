//! The ways in which a character can be written in a text that passed through other programs: as it is, percent-encoded, as
//! an HTML entity, or escaped as in JSON; and one of these within another.

use std::ops::Range;

/// How many escapes can be within each other, as in JSON that is quoted in JSON three times.
const DEEPEST: u8 = 4;

/// The longest named HTML entity, in bytes.
const LONGEST_ENTITY: usize = 32;

/// A character of a text, and where the next one begins. `None` is a named entity of HTML, which may stand for any
/// character except a letter or digit of ASCII.
type Reading = (Option<char>, usize);

/// Finds `token` in `text`, at `from` or later, with each of its characters written in any way.
pub fn find(text: &str, token: &str, from: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[from..];
    if memchr::memchr3(b'%', b'\\', b'&', rest).is_none() && !token.contains(' ') {
        let start = from + memchr::memmem::find(rest, token.as_bytes())?;
        return Some(start..start + token.len());
    }
    let first = *token.as_bytes().first()?;
    let may_begin = |byte: u8| byte == first || matches!(byte, b'%' | b'\\' | b'&');
    let starts = rest.iter().enumerate().filter(|(_, byte)| may_begin(**byte));
    starts.map(|(index, _)| from + index).find_map(|start| Some(start..end_of(text, token, start)?))
}

/// The end of `token` if it begins at `start`.
fn end_of(text: &str, token: &str, start: usize) -> Option<usize> {
    let mut ends = vec![start];
    let mut readings = Vec::new();
    for expected in token.chars() {
        readings.clear();
        for end in &ends {
            read(text, *end, DEEPEST, &mut readings);
        }
        let is_meant =
            |read: Option<char>| read.map_or(!expected.is_ascii_alphanumeric(), |it| it == expected);
        ends.clear();
        ends.extend(readings.iter().filter(|(read, _)| is_meant(*read)).map(|(_, next)| next));
        ends.sort_unstable();
        ends.dedup();
        if ends.is_empty() {
            return None;
        }
    }
    ends.last().copied()
}

/// What can be read at a place, with at most `depth` nested escapes.
fn read(text: &str, at: usize, depth: u8, readings: &mut Vec<Reading>) {
    let Some(character) = text[at..].chars().next() else { return };
    readings.push((Some(character), at + character.len_utf8()));
    if !matches!(character, '%' | '\\' | '&' | '+') {
        return;
    }
    let mut first = readings.len() - 1;
    for inner in 0..depth {
        // The result of an escape may begin another escape.
        let last = readings.len();
        for index in first..last {
            let (Some(escape), next) = readings[index] else { continue };
            let escaped = Escaped { text, depth: inner };
            let found = match escape {
                '%' => escaped.percent(next).into_iter().collect(),
                '\\' => escaped.backslash(next),
                '&' => escaped.entity(next).into_iter().collect(),
                '+' => vec![(Some(' '), next)],
                _ => Vec::new(),
            };
            for reading in found {
                if !readings.contains(&reading) {
                    readings.push(reading);
                }
            }
        }
        first = last;
    }
}

/// What follows the beginning of an escape; its own characters may be escaped, too.
#[derive(Clone, Copy)]
struct Escaped<'a> {
    text: &'a str,
    depth: u8,
}

impl Escaped<'_> {
    fn all(self, at: usize) -> Vec<Reading> {
        let mut readings = Vec::new();
        read(self.text, at, self.depth, &mut readings);
        readings
    }

    /// The first character for which `wanted` gives something.
    fn next<T>(self, at: usize, wanted: impl Fn(char) -> Option<T>) -> Option<(T, usize)> {
        self.all(at).into_iter().find_map(|(read, next)| Some((wanted(read?)?, next)))
    }

    fn expect(self, at: usize, character: char) -> Option<usize> {
        Some(self.next(at, |it| (it == character).then_some(()))?.1)
    }

    fn hex(self, mut at: usize, digits: usize) -> Option<(u32, usize)> {
        let mut number = 0;
        for _ in 0..digits {
            let (digit, next) = self.next(at, |it| it.to_digit(16))?;
            (number, at) = (number << 4 | digit, next);
        }
        Some((number, at))
    }

    /// `%2F`, or the bytes of a longer character.
    fn percent(self, at: usize) -> Option<Reading> {
        let byte = |at| self.hex(at, 2).and_then(|(byte, next)| Some((u8::try_from(byte).ok()?, next)));
        let (first, mut at) = byte(at)?;
        let mut bytes = vec![first];
        for _ in 1..first.leading_ones().min(4) {
            let (more, next) = byte(self.expect(at, '%')?)?;
            bytes.push(more);
            at = next;
        }
        Some((std::str::from_utf8(&bytes).ok()?.chars().next(), at))
    }

    /// `\/`, or `\u002f`. A backslash before another letter makes a control character, or does not occur.
    fn backslash(self, at: usize) -> Vec<Reading> {
        let is_plain = |read: Option<char>| read.is_some_and(|it| !it.is_ascii_alphanumeric());
        let plain = self.all(at).into_iter().filter(|(read, _)| is_plain(*read));
        plain.chain(self.unicode(at)).collect()
    }

    fn unicode(self, at: usize) -> Option<Reading> {
        let (unit, next) = self.hex(self.expect(at, 'u')?, 4)?;
        if let Some(character) = char::from_u32(unit) {
            return Some((Some(character), next));
        }
        let backslashes = self.all(next).into_iter().filter(|(read, _)| *read == Some('\\'));
        let (low, next) =
            backslashes.map(|(_, next)| next).find_map(|next| self.hex(self.expect(next, 'u')?, 4))?;
        let pair = [u16::try_from(unit).ok()?, u16::try_from(low).ok()?];
        Some((Some(char::decode_utf16(pair).next()?.ok()?), next))
    }

    /// `&amp;`, `&#38;` or `&#x26;`.
    fn entity(self, mut at: usize) -> Option<Reading> {
        let mut name = String::new();
        while name.len() < LONGEST_ENTITY {
            let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '#' | ';');
            let (character, next) = self.next(at, |it| is_part(it).then_some(it))?;
            at = next;
            if character == ';' {
                return named(&name, at);
            }
            name.push(character);
        }
        None
    }
}

/// The entity of a name, which ends at `end`.
fn named(name: &str, end: usize) -> Option<Reading> {
    let number = match (name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")), name.strip_prefix('#')) {
        (Some(hex), _) => u32::from_str_radix(hex, 16).ok()?,
        (None, Some(decimal)) => decimal.parse().ok()?,
        (None, None) => {
            let known = [("quot", '"'), ("amp", '&'), ("lt", '<'), ("gt", '>'), ("apos", '\'')];
            let known = known.into_iter().find(|(known, _)| *known == name);
            return (!name.is_empty()).then_some((known.map(|(_, character)| character), end));
        }
    };
    Some((Some(char::from_u32(number)?), end))
}
