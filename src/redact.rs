//! Tokens, taken out of what is shown and recorded.
//!
//! What is sent is never masked: a profile that holds the token keeps it. Masking stands where text leaves for a
//! person or a record: the report, the journal, the reason in a `--failed` file.
//!
//! A token is found however it is spelled: `\/` and `\uXXXX` of JSON, also of JSON within JSON, `%XX` of a URL, and
//! the character references of HTML. One under 8 characters would be found in innocent words; it is masked only after
//! `Bearer`, and, from 4 characters on, where it is the whole text or a whole string value.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::exact_json;
use crate::token::Token;

/// What stands for a token.
pub const MASK: &str = "•••";
/// Shorter tokens are masked only where they stand alone.
const SHORTEST_ANYWHERE: usize = 8;
/// Shorter tokens are masked only after `Bearer`.
const SHORTEST_ALONE: usize = 4;
/// As many characters of a token at the end of a text that was cut are masked.
const SHORTEST_PART: usize = 4;

static SECRETS: Redactor = Redactor::new();

/// The tokens this process uses.
pub fn secrets() -> &'static Redactor {
    &SECRETS
}

/// A set of tokens, and the masking of them.
#[derive(Debug, Default)]
pub struct Redactor {
    known: RwLock<Vec<Known>>,
}

/// A token that is masked as long as it has users.
#[derive(Debug)]
struct Known {
    token: Token,
    users: usize,
}

/// Keeps a token masked until it is dropped.
#[derive(Debug)]
#[must_use = "the token is masked only as long as this is kept"]
pub struct Masked {
    redactor: &'static Redactor,
    token: Token,
}

impl Drop for Masked {
    fn drop(&mut self) {
        self.redactor.forget(&self.token);
    }
}

impl Redactor {
    /// Knows no token.
    pub const fn new() -> Self {
        Self { known: RwLock::new(Vec::new()) }
    }

    /// Masks a token from now on: one of the run.
    pub fn add(&self, token: &Token) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        match known.iter_mut().find(|known| known.token == *token) {
            Some(known) => known.users += 1,
            None => known.push(Known { token: token.clone(), users: 1 }),
        }
    }

    /// Masks a token as long as the result is kept: one of a single record.
    pub fn add_while(&'static self, token: &Token) -> Masked {
        self.add(token);
        Masked { redactor: self, token: token.clone() }
    }

    fn forget(&self, token: &Token) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.iter().position(|known| known.token == *token) {
            known[place].users -= 1;
            if known[place].users == 0 {
                known.swap_remove(place);
            }
        }
    }

    /// The text with every token masked.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
        }
    }

    /// The same for the beginning of a longer text: a token that its end cuts is masked too.
    pub fn cut_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let cut = self.with_known(|known| {
            let part = |start: usize| {
                known.iter().any(|known| is_cut_token(&text.as_bytes()[start..], known.as_bytes()))
            };
            text.char_indices().map(|(start, _)| start).find(|start| part(*start))
        });
        match cut.flatten() {
            None => self.text(text),
            Some(start) => Cow::Owned(format!("{}{MASK}", self.text(&text[..start]))),
        }
    }

    /// The same for bytes, which need not be text.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let masked = self.with_known(|known| {
            let alone = |known: &Token| is_alone(bytes.trim_ascii(), known.as_bytes());
            if known.iter().any(|known| alone(known)) {
                return Some(MASK.as_bytes().to_vec());
            }
            masked(bytes, known)
        });
        masked.flatten().map_or(Cow::Borrowed(bytes), Cow::Owned)
    }

    /// Masks the tokens in the strings and field names of a value, at every depth; whether there were any.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(number) => {
                let text = number.to_string();
                let is_token = matches!(self.text(&text), Cow::Owned(_)) && text.len() >= SHORTEST_ANYWHERE;
                if is_token {
                    *value = MASK.into();
                }
                is_token
            }
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(masked) => {
                    *value = masked.into();
                    true
                }
            },
            Value::Array(elements) => {
                elements.iter_mut().fold(false, |masked, element| self.value(element) | masked)
            }
            Value::Object(fields) => {
                let masked = fields.values_mut().fold(false, |masked, field| self.value(field) | masked);
                self.field_names(fields) | masked
            }
        }
    }

    /// A copy of a value with its tokens masked.
    pub fn masked_value(&self, value: &Value) -> Value {
        let mut value = value.clone();
        self.value(&mut value);
        value
    }

    /// The same for a value that is JSON text already. It stays JSON.
    pub fn json_text<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let suspicious = self.with_known(|known| {
            let short =
                |known: &Token| known.expose().len() < SHORTEST_ANYWHERE && json.contains(known.expose());
            known.iter().any(|known| short(known)) || masked(json.as_bytes(), known).is_some()
        });
        if suspicious != Some(true) {
            return Cow::Borrowed(json);
        }
        match exact_json::parse_with_repeats(json.as_bytes()) {
            Err(_) => self.text(json),
            Ok(mut document) => match (self.value(&mut document.value), json.ends_with('\n')) {
                (false, _) => Cow::Borrowed(json),
                (true, newline) => {
                    Cow::Owned(format!("{}{}", document.value, if newline { "\n" } else { "" }))
                }
            },
        }
    }

    fn field_names(&self, fields: &mut Map<String, Value>) -> bool {
        let holds =
            |name: &String| name.len() >= SHORTEST_ANYWHERE && matches!(self.text(name), Cow::Owned(_));
        if !fields.keys().any(holds) {
            return false;
        }
        for (name, value) in std::mem::take(fields) {
            let masked = if holds(&name) { self.text(&name).into_owned() } else { name };
            // Two names that differ only in the token are still two.
            let mut free = masked.clone();
            let mut copy = 1;
            while fields.contains_key(&free) {
                copy += 1;
                free = format!("{masked} ({copy})");
            }
            fields.insert(free, value);
        }
        true
    }

    /// What `find` makes of the tokens; nothing where there are none, as a rule.
    fn with_known<T>(&self, find: impl FnOnce(&[&Token]) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return None;
        }
        // The longest first: one token may begin like another.
        let mut tokens: Vec<&Token> = known.iter().map(|known| &known.token).collect();
        tokens.sort_by_key(|token| std::cmp::Reverse(token.expose().len()));
        Some(find(&tokens))
    }
}

impl Token {
    fn as_bytes(&self) -> &[u8] {
        self.expose().as_bytes()
    }
}

/// The text without the tokens; `None` where it holds none.
fn masked(text: &[u8], known: &[&Token]) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        match known.iter().find_map(|known| token_at(text, at, known.as_bytes())) {
            None => at += 1,
            Some(end) => {
                let out = out.get_or_insert_default();
                out.extend_from_slice(&text[copied..at]);
                out.extend_from_slice(MASK.as_bytes());
                copied = end;
                at = end;
            }
        }
    }
    out.map(|mut out| {
        out.extend_from_slice(&text[copied..]);
        out
    })
}

/// Where a token that begins at `start` ends.
fn token_at(text: &[u8], start: usize, token: &[u8]) -> Option<usize> {
    let end = match spelled(&text[start..], token) {
        Spelled::Whole(length) => start + length,
        _ => return None,
    };
    let anywhere = token.len() >= SHORTEST_ANYWHERE;
    (anywhere || (follows_bearer(&text[..start]) && !continues(&text[end..]))).then_some(end)
}

/// Whether the text is nothing but a token that is too short to be looked for inside of texts.
fn is_alone(text: &[u8], token: &[u8]) -> bool {
    token.len() >= SHORTEST_ALONE
        && token.len() < SHORTEST_ANYWHERE
        && spelled(text, token) == Spelled::Whole(text.len())
}

fn is_cut_token(text: &[u8], token: &[u8]) -> bool {
    token.len() >= SHORTEST_ANYWHERE
        && matches!(spelled(text, token), Spelled::Beginning(length) if length >= SHORTEST_PART)
}

fn follows_bearer(before: &[u8]) -> bool {
    const BEARER: &[u8] = b"bearer";
    let separators = [&b"%20"[..], b" ", b"+", b":", b"=", b"\""];
    let mut before = before;
    let mut separated = false;
    while let Some(rest) = separators.iter().find_map(|separator| before.strip_suffix(*separator)) {
        before = rest;
        separated = true;
    }
    separated
        && before.len() >= BEARER.len()
        && before[before.len() - BEARER.len()..].eq_ignore_ascii_case(BEARER)
}

fn continues(after: &[u8]) -> bool {
    after.first().is_some_and(u8::is_ascii_alphanumeric)
}

/// How much of a token a text begins with.
#[derive(Debug, PartialEq, Eq)]
enum Spelled {
    /// All of it, in so many bytes.
    Whole(usize),
    /// Its first so many bytes, then the text ends.
    Beginning(usize),
    Not,
}

/// A token that itself holds `%`, `\` or `&` may stand there as it is, or in one of the spellings only.
fn spelled(text: &[u8], token: &[u8]) -> Spelled {
    let first = spelled_by(text, token, b"\\%&");
    if first != Spelled::Not || !token.iter().any(|byte| b"\\%&".contains(byte)) {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MASK, Redactor};
    use crate::token::Token;

    /// As base64 writes secrets.
    const TOKEN: &str = "aB/c+d=&12";

    fn redactor(tokens: &[&str]) -> Redactor {
        let redactor = Redactor::new();
        for token in tokens {
            redactor.add(&Token::new(token).unwrap());
        }
        redactor
    }

    #[test]
    fn a_token_is_masked_however_it_is_spelled() {
        let redactor = redactor(&[TOKEN]);
        for spelled in [
            TOKEN,
            r"aB\/c+d=&12",
            r"aB\\\/c+d=&12",
            r"a\u0042\u002fc\u002B\u0064=\u002612",
            r"\\u0061B/c+d=&12",
            "aB%2Fc%2bd%3D%2612",
            "%61B%252Fc+d=&12",
            "aB&#47;c&#x2B;d=&amp;12",
        ] {
            assert_eq!(redactor.text(spelled), MASK, "{spelled}");
            assert_eq!(redactor.text(&format!("x {spelled}{spelled}é")), format!("x {MASK}{MASK}é"));
        }
        for other in ["", "aB/c+d=&1", "AB/c+d=&12", "%", r"\", "&", r"a\u004", "aB%2", "é%zz\\u00zz&;"] {
            assert!(matches!(redactor.text(other), std::borrow::Cow::Borrowed(text) if text == other));
        }
        let odd = [b"\xff ", MASK.as_bytes()].concat();
        assert_eq!(redactor.bytes(b"\xff aB/c+d=&12"), odd);
    }

    #[test]
    fn many_tokens_and_tokens_within_tokens() {
        let redactor = redactor(&["long-tok3n", "long-tok3n-longer", "100%25%\\x"]);
        assert_eq!(redactor.text("long-tok3n-longer long-tok3n"), "••• •••");
        assert_eq!(redactor.text(r"100%25%\x 100%25%\\x 100%2525%25\x"), "••• ••• •••");
    }

    #[test]
    fn a_short_token_is_masked_where_it_stands_alone_or_after_bearer() {
        let redactor = redactor(&["token", "ab"]);
        assert_eq!(redactor.text("a token, tokens"), "a token, tokens");
        assert_eq!(redactor.text("token"), MASK);
        assert_eq!(redactor.text("ab"), "ab");
        assert_eq!(
            redactor.text("Bearer token / bearer%20ab, bearer tokens"),
            "Bearer ••• / bearer%20•••, bearer tokens"
        );
        assert_eq!(
            redactor.masked_value(&json!({"token": ["token", "my token"]})),
            json!({"token": [MASK, "my token"]})
        );
        assert_eq!(redactor.json_text(r#"{"t":"token"}"#), r#"{"t":"•••"}"#);
    }

    #[test]
    fn values_are_masked_at_every_depth_and_stay_json() {
        let redactor = redactor(&["12345678", "sec\"ret\\1"]);
        let value = json!({"a": [{"b12345678": "x 12345678"}], "n": 12_345_678, "m": 123_456_789, "sec\"ret\\1": 1,
            "sec\"ret\\1 ": null, "12345678": 0, "x12345678": [1234, 5678]});
        let masked = redactor.masked_value(&value);
        assert_eq!(
            masked.to_string(),
            r#"{"a":[{"b•••":"x •••"}],"n":"•••","m":"•••","•••":1,"••• ":null,"••• (2)":0,"x•••":[1234,5678]}"#
        );
        for json in [value.to_string(), r#"{"sec\u0022ret\\1":"\u0031\u00322345678","e":1E2}"#.to_owned()] {
            let text = redactor.json_text(&json);
            let read: Value = crate::exact_json::parse(text.as_bytes()).unwrap();
            assert!(!text.contains("12345678") && !read.to_string().contains("ret"), "{text}");
        }
        assert_eq!(redactor.json_text("[1234,5678,1E2]"), "[1234,5678,1E2]");
    }

    #[test]
    fn what_a_cut_leaves_of_a_token_is_masked() {
        let redactor = redactor(&["long-tok3n/1"]);
        assert_eq!(redactor.cut_text("see long-tok3n/1 and long-to"), "see ••• and •••");
        assert_eq!(redactor.cut_text(r"see long-tok3n\u00"), "see •••");
        assert_eq!(redactor.cut_text("see lon"), "see lon");
        assert_eq!(redactor.cut_text("see long-tok3n/1"), "see •••");
    }

    #[test]
    fn a_records_token_is_forgotten_with_its_last_user() {
        let redactor: &'static Redactor = Box::leak(Box::new(redactor(&["of-the-run-1"])));
        let token = Token::new("of-a-record-1").unwrap();
        let both = "of-the-run-1 of-a-record-1";
        let one = redactor.add_while(&token);
        let other = redactor.add_while(&token);
        drop(one);
        assert_eq!(redactor.text(both), "••• •••");
        drop(other);
        assert_eq!(redactor.text(both), "••• of-a-record-1");
        drop(redactor.add_while(&Token::new("of-the-run-1").unwrap()));
        assert_eq!(redactor.text(both), "••• of-a-record-1");
        assert_eq!(redactor.known.read().unwrap().len(), 1);
    }
}
