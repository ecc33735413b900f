//! Tokens, taken out of what is shown and recorded.
//!
//! What is sent is never masked: a profile that holds the token keeps it. Masking stands where text leaves for a
//! person or a record: the report, the journal, the reason in a `--failed` file.
//!
//! A token is found as it is, with `\/` for its slashes, and percent-encoded.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::text::exact_json;
use crate::text::token::Token;

/// What stands for a token.
pub const MASK: &str = "•••";
/// A shorter token is not masked: it would be found in innocent words.
const SHORTEST: usize = 4;

static SECRETS: Redactor = Redactor::new();

/// The tokens this process uses.
pub fn secrets() -> &'static Redactor {
    &SECRETS
}

/// A set of tokens, and the masking of them.
#[derive(Debug, Default)]
pub struct Redactor {
    /// The longest first: one token may begin like another.
    known: RwLock<Vec<Known>>,
}

/// A token that is masked as long as it has users.
#[derive(Debug)]
struct Known {
    token: Token,
    spellings: Vec<String>,
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
        let mut known = self.redactor.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.iter().position(|known| known.token == self.token) {
            known[place].users -= 1;
            if known[place].users == 0 {
                known.remove(place);
            }
        }
    }
}

impl Redactor {
    /// Knows no token.
    pub const fn new() -> Self {
        Self { known: RwLock::new(Vec::new()) }
    }

    /// Masks a token from now on: one of the run.
    pub fn add(&self, token: &Token) {
        if let Some(keys) = token.keys() {
            return keys.values.into_iter().filter_map(Token::new).for_each(|value| self.add(&value));
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        match known.iter_mut().find(|known| known.token == *token) {
            Some(known) => known.users += 1,
            None if token.expose().len() >= SHORTEST => {
                let place = known.partition_point(|known| known.token.expose().len() > token.expose().len());
                let spellings = spellings(token.expose());
                known.insert(place, Known { token: token.clone(), spellings, users: 1 });
            }
            None => {}
        }
    }

    /// Masks a token as long as the result is kept: one of a single record.
    pub fn add_while(&'static self, token: &Token) -> Masked {
        self.add(token);
        Masked { redactor: self, token: token.clone() }
    }

    /// The text with every token masked.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut masked = Cow::Borrowed(text);
        for spelling in known.iter().flat_map(|known| &known.spellings) {
            if memchr::memmem::find(masked.as_bytes(), spelling.as_bytes()).is_some() {
                masked = Cow::Owned(masked.replace(spelling, MASK));
            }
        }
        masked
    }

    /// Masks the tokens in the strings, numbers and field names of a value, at every depth.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if let Cow::Owned(_) = self.text(&number.to_string()) {
                    *value = MASK.into();
                }
            }
            Value::String(text) => {
                if let Cow::Owned(masked) = self.text(text) {
                    *text = masked;
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.value(element)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.value(field));
                if fields.keys().any(|name| matches!(self.text(name), Cow::Owned(_))) {
                    let named = |(name, value): (String, Value)| (self.text(&name).into_owned(), value);
                    *fields = std::mem::take(fields).into_iter().map(named).collect::<Map<_, _>>();
                }
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
        let text = self.text(json);
        // A string that holds JSON with `\/`.
        let may_be_nested = json.contains(r"\\/");
        if matches!(text, Cow::Borrowed(_)) && !may_be_nested {
            return text;
        }
        let Ok((value, _)) = exact_json::parse_with_repeats(json.as_bytes()) else { return text };
        let masked = self.masked_value(&value);
        if masked == value {
            return Cow::Borrowed(json);
        }
        let newline = if json.ends_with('\n') { "\n" } else { "" };
        Cow::Owned(format!("{masked}{newline}"))
    }
}

/// As it is, with `\/`, and percent-encoded with large and with small letters, each once.
fn spellings(token: &str) -> Vec<String> {
    let encoded =
        |[plus, slash, equals]: [&str; 3]| token.replace('+', plus).replace('/', slash).replace('=', equals);
    let (upper, lower) = (encoded(["%2B", "%2F", "%3D"]), encoded(["%2b", "%2f", "%3d"]));
    let mut spellings = vec![token.to_owned(), token.replace('/', r"\/"), upper, lower];
    spellings.dedup();
    spellings
}

#[cfg(test)]
mod tests {
    //! Tokens in every spelling are masked, and innocent text is not.

    use serde_json::{Value, json};

    use super::{MASK, Redactor};
    use crate::text::token::Token;

    /// As base64 writes secrets.
    const TOKEN: &str = "aB/c+d-12=";

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
        for spelled in [TOKEN, r"aB\/c+d-12=", "aB%2Fc%2Bd-12%3D", "aB%2fc%2bd-12%3d"] {
            assert_eq!(redactor.text(spelled), MASK, "{spelled}");
            assert_eq!(redactor.text(&format!("x {spelled}{spelled}é")), format!("x {MASK}{MASK}é"));
        }
        for other in ["", "aB/c+d-12", "AB/c+d-12=", "%", r"\", "aB%2", "é%zz\\u00zz&;", r"\u0061B/c+d-12="]
        {
            assert!(matches!(redactor.text(other), std::borrow::Cow::Borrowed(text) if text == other));
        }
    }

    #[test]
    fn many_tokens_and_tokens_within_tokens() {
        let redactor = redactor(&["long-tok3n", "long-tok3n-longer"]);
        assert_eq!(redactor.text("long-tok3n-longer long-tok3n"), "••• •••");
    }

    #[test]
    fn what_could_be_a_word_is_no_secret() {
        let redactor = redactor(&["has", "password"]);
        assert_eq!(
            redactor.text("the token has expired, the password not"),
            "the token has expired, the ••• not"
        );
    }

    #[test]
    fn values_are_masked_at_every_depth_and_stay_json() {
        let redactor = redactor(&["12345678", "sec/ret-1"]);
        let value = json!({"a": [{"b12345678": "x 12345678"}], "n": 12_345_678, "m": 2_345_678, "sec/ret-1": 1,
            "x12345678": [1234, 5678]});
        let masked = r#"{"a":[{"b•••":"x •••"}],"n":"•••","m":2345678,"•••":1,"x•••":[1234,5678]}"#;
        assert_eq!(redactor.masked_value(&value).to_string(), masked);
        for json in [value.to_string(), value.to_string().replace('/', r"\/")] {
            assert_eq!(redactor.json_text(&json), masked);
            assert_eq!(redactor.json_text(&format!("{json}\n")), format!("{masked}\n"));
        }
        let nested = json!({"trace": r#"{"t": "sec\/ret-1"}"#}).to_string();
        assert_eq!(redactor.json_text(&nested), r#"{"trace":"{\"t\": \"•••\"}"}"#);
        let exact: Value =
            crate::text::exact_json::parse(redactor.json_text(r#"[1E2,"12345678"]"#).as_bytes()).unwrap();
        assert_eq!(exact.to_string(), r#"[1E2,"•••"]"#);
        assert_eq!(redactor.json_text("[1234,5678,1E2]"), "[1234,5678,1E2]");
        assert_eq!(redactor.json_text("{ 12345678"), "{ •••");
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
