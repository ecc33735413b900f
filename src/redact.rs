//! Tokens, taken out of what is shown and recorded.
//!
//! What is sent is never masked: a profile that holds the token keeps it. Masking stands where text leaves for a
//! person or a record: the report, the journal, the reason in a `--failed` file.
//!
//! A token is found however it is spelled: `\/` and `\u` escapes of JSON, also of JSON within JSON, `%XX` of a URL, and
//! the character references of HTML. One under 8 characters would be found in innocent words; it is masked only after
//! `Bearer`, and, from 4 characters on, where it is the whole text or a whole string value.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::exact_json;
use crate::token::Token;

use spelling::{Spelled, spelled};

mod spelling;
#[cfg(test)]
mod tests;

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
    if !spelling::may_hold(text, known.iter().map(|known| known.as_bytes())) {
        return None;
    }
    let mut out: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    let begins = spelling::first_bytes(known.iter().map(|known| known.as_bytes()));
    // Nearly every byte of nearly every text begins no token.
    while let Some(next) = text[at..].iter().position(|byte| begins[usize::from(*byte)]) {
        at += next;
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
