//! Masks tokens in what is shown and recorded.
//!
//! What is sent is never masked: a profile that holds the token keeps it. Text is masked when it leaves for a person or
//! a record: the report, the journal, the reason in a row.
//!
//! A token is found as it is and in every spelling of [`spelling`]: percent-encoded, as HTML, as in JSON, in part or whole.
//! Masking comes before any cut: a part of a token would not be found.

use std::borrow::Cow;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::text::token::Credential;
use crate::text::{exact_json, spelling};

/// What stands for a token.
pub const MASK: &str = "•••";
/// A shorter token is not masked: it would be found in ordinary words.
const SHORTEST: usize = 4;

static SECRETS: Redactor = Redactor::new();

/// The tokens this process uses.
pub fn secrets() -> &'static Redactor {
    &SECRETS
}

/// A set of tokens, and the masking of them.
#[derive(Debug, Default)]
pub struct Redactor {
    /// The longest first: one token may be the beginning of another.
    known: RwLock<Vec<MaskedSecret>>,
}

/// A secret that is masked as long as it has users.
struct MaskedSecret {
    secret: String,
    users: usize,
}

impl fmt::Debug for MaskedSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(MASK)
    }
}

/// Keeps a token masked until it is dropped.
#[derive(Debug)]
#[must_use = "the token is masked only as long as this is kept"]
pub struct Masked {
    redactor: &'static Redactor,
    credential: Credential,
}

impl Drop for Masked {
    fn drop(&mut self) {
        let mut known = self.redactor.known.write().unwrap_or_else(PoisonError::into_inner);
        for secret in self.credential.secrets() {
            if let Some(place) = known.iter().position(|known| known.secret == *secret) {
                known[place].users -= 1;
                if known[place].users == 0 {
                    known.remove(place);
                }
            }
        }
    }
}

impl Redactor {
    /// A set without tokens.
    pub const fn new() -> Self {
        Self { known: RwLock::new(Vec::new()) }
    }

    /// Masks a token from now on: one of the whole run.
    pub fn add(&self, credential: &Credential) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for secret in credential.secrets() {
            match known.iter_mut().find(|known| known.secret == *secret) {
                Some(known) => known.users += 1,
                None if secret.len() >= SHORTEST => {
                    let place = known.partition_point(|known| known.secret.len() > secret.len());
                    known.insert(place, MaskedSecret { secret: secret.clone(), users: 1 });
                }
                None => {}
            }
        }
    }

    /// Masks a token as long as the result is kept: one of a single record.
    pub fn add_while(&'static self, credential: &Credential) -> Masked {
        self.add(credential);
        Masked { redactor: self, credential: credential.clone() }
    }

    /// The text with every token masked.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut masked = Cow::Borrowed(text);
        for known in known.iter() {
            if let Some(without) = without(&masked, &known.secret) {
                masked = Cow::Owned(without);
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

    /// Masks a value that is given as JSON text. It stays JSON.
    pub fn json_text<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let text = self.text(json);
        if matches!(text, Cow::Borrowed(_)) {
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

/// The text with a mask in place of each occurrence of the token; `None` if it does not occur.
fn without(text: &str, token: &str) -> Option<String> {
    let mut found = spelling::find(text, token, 0)?;
    let mut masked = String::with_capacity(text.len());
    let mut kept = 0;
    loop {
        masked.extend([&text[kept..found.start], MASK]);
        kept = found.end;
        match spelling::find(text, token, kept) {
            Some(next) => found = next,
            None => return Some(masked + &text[kept..]),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Tokens in every spelling are masked, and innocent text is not.

    use serde_json::{Value, json};

    use super::{MASK, Redactor};
    use crate::text::token::Credential;

    /// A token with the characters of base64.
    const TOKEN: &str = "aB/c+d-12=";

    fn redactor(tokens: &[&str]) -> Redactor {
        let redactor = Redactor::new();
        for token in tokens {
            redactor.add(&Credential::new(token).unwrap());
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
        for other in
            ["", "aB/c+d-12", "AB/c+d-12=", "%", r"\", "aB%2", "é%zz\\u00zz&;", "aB%2Fc&plus", "&#;&#x;&;"]
        {
            assert!(matches!(redactor.text(other), std::borrow::Cow::Borrowed(text) if text == other));
        }
    }

    #[test]
    fn a_token_that_is_escaped_in_part_or_several_times_is_masked() {
        let redactor = redactor(&[TOKEN]);
        for spelled in [
            "aB%2Fc+d-12=",
            "aB/c%2Bd-12%3d",
            "aB%252Fc%252Bd-12%253D",
            "%61B%2Fc+d-12=",
            r"aB\\\/c+d-12=",
            r"aB\\\\\\\/c+d-12=",
            r"\u0061B/c+d-12=",
            r"aB\\u002fc\\u002Bd-12=",
            "aB&#x2F;c&#43;d-12&#061;",
            "aB&amp;#x2F;c&plus;d-12=",
            r"aB%5C%2Fc%2Bd-12%3D",
            r"aB\u00252Fc\u00252Bd-12=",
        ] {
            assert_eq!(redactor.text(&format!("é{spelled};")), format!("é{MASK};"), "{spelled}");
        }
    }

    #[test]
    fn a_password_is_masked_in_html_in_json_and_percent_encoded() {
        let redactor = redactor(&["p\"q\\r<s&é 😀'x"]);
        for spelled in [
            "p\"q\\r<s&é 😀'x",
            "p&quot;q\\r&lt;s&amp;é 😀&#039;x",
            "p&#34;q&#92;r&#x3c;s&#38;&eacute;&nbsp;&#128512;&apos;x",
            "p%22q%5Cr%3Cs%26%C3%A9%20%F0%9F%98%80%27x",
            "p%22q%5cr%3cs%26%c3%a9+%f0%9f%98%80'x",
            r#"p\"q\\r<s&é 😀'x"#,
            r#"p\"q\\r<s&\u00e9 \ud83d\uDE00'x"#,
            r"p\u0022q\\r\u003Cs\u0026\u00E9 \uD83D\uDE00\u0027x",
            r#"p\\\"q\\\\r<s&\\u00e9 \\ud83d\\ude00'x"#,
            r"p&quot;q\\r&lt;s&amp;\u00e9 \ud83d\ude00&#039;x",
            r"p\u0026quot;q\\r\u0026lt;s\u0026amp;\u00e9 \ud83d\ude00\u0026#039;x",
            "p%26quot%3Bq%5Cr%26lt%3Bs%26amp%3B%C3%A9%20%F0%9F%98%80%27x",
        ] {
            assert_eq!(redactor.text(&format!("<{spelled}>")), format!("<{MASK}>"), "{spelled}");
        }
    }

    #[test]
    fn a_token_that_contains_an_escape_is_masked_as_it_is_and_escaped() {
        let redactor = redactor(&["a%41&amp;b+c"]);
        for spelled in ["a%41&amp;b+c", "a%2541%26amp%3Bb%2Bc", "a%41&amp;amp;b+c", r"a%41\u0026amp;b+c"] {
            assert_eq!(redactor.text(spelled), MASK, "{spelled}");
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
        let token = Credential::new("of-a-record-1").unwrap();
        let both = "of-the-run-1 of-a-record-1";
        let one = redactor.add_while(&token);
        let other = redactor.add_while(&token);
        drop(one);
        assert_eq!(redactor.text(both), "••• •••");
        drop(other);
        assert_eq!(redactor.text(both), "••• of-a-record-1");
        drop(redactor.add_while(&Credential::new("of-the-run-1").unwrap()));
        assert_eq!(redactor.text(both), "••• of-a-record-1");
        assert_eq!(redactor.known.read().unwrap().len(), 1);
    }
}
