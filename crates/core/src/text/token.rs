//! Credentials: a bearer token, or the values of an integration. Neither can print itself.

use std::borrow::Cow;
use std::fmt;
use std::slice;

use crate::failure::{Failure, FailureKind};
use crate::text::oauth::{Keys, unquoted};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

/// A credential of a call. `Debug` and `Display` print `•••`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Credential {
    /// A bearer token (docs/interface.md).
    Bearer(String),
    /// An integration, which signs each request.
    OAuth(Keys),
}

impl Credential {
    /// Takes what was configured: the four lines of an integration, as [`Keys::parse`] reads them, or a token.
    /// Characters that editors and people put around a token are dropped: white space such as a file's last newline, a
    /// byte order mark, and quotes. `None` if nothing is left.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if let Some(keys) = Keys::parse(text) {
            return Some(Self::OAuth(keys));
        }
        let token = unquoted(text);
        (!token.is_empty()).then(|| Self::Bearer(token.to_owned()))
    }

    /// Takes what a program printed. Password managers such as `pass show` print more lines below the password: unless
    /// the lines are the values of an integration, the first one counts.
    pub fn printed(text: &str) -> Option<Self> {
        let whole = Self::new(text)?;
        if whole.is_integration() {
            return Some(whole);
        }
        text.trim_start_matches('\u{feff}').trim().lines().next().and_then(Self::new)
    }

    /// Whether an integration signs with it.
    pub fn is_integration(&self) -> bool {
        matches!(self, Self::OAuth(_))
    }

    /// The secret itself, as [`Self::new`] takes it.
    pub fn expose(&self) -> Cow<'_, str> {
        match self {
            Self::Bearer(token) => token.into(),
            Self::OAuth(keys) => keys.to_text().into(),
        }
    }

    /// Each value that nobody may see.
    pub fn secrets(&self) -> &[String] {
        match self {
            Self::Bearer(token) => slice::from_ref(token),
            Self::OAuth(keys) => &keys.values,
        }
    }

    /// Whether each value is an RFC 6750 `b64token`: `A-Z a-z 0-9 - . _ ~ + /`, and `=` only at the end. Only such a
    /// value is masked in everything that may repeat it.
    pub fn is_valid(&self) -> bool {
        self.secrets().iter().all(|value| {
            let rest = value.trim_end_matches('=');
            !rest.is_empty()
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
        })
    }

    /// The token, if it is valid.
    ///
    /// # Errors
    /// `auth` for any other; `from` names where it was found.
    pub fn checked(self, from: &str) -> Result<Self, Failure> {
        if self.is_valid() {
            return Ok(self);
        }
        let message = format!(
            "invalid token from {from}: only `A-Z a-z 0-9 - . _ ~ + /` can be in it, and `=` at its end"
        );
        Err(Failure::new(FailureKind::Auth, message).hint("give only the token, without quotes or blanks"))
    }

    /// When the token expires, if it says so itself: the claim `exp` of a JSON Web Token (RFC 7519, 4.1.4), in seconds
    /// since 1970. `None` for every other token. The signature is not checked: only the service can do that.
    pub fn expires_at(&self) -> Option<Timestamp> {
        let Self::Bearer(token) = self else { return None };
        let mut parts = token.split('.');
        let _header = parts.next()?;
        let payload = parts.next()?;
        let _signature = parts.next()?;
        let payload = URL_SAFE_NO_PAD.decode(payload).ok().filter(|_| parts.next().is_none())?;
        let claims: serde_json::Value = serde_json::from_slice(&payload).ok()?;
        Timestamp::from_second(claims.get("exp")?.as_i64()?).ok()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("•••")
    }
}

impl fmt::Display for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("•••")
    }
}

#[cfg(test)]
mod tests {
    use super::Credential;

    #[test]
    fn a_token_prints_as_dots_and_is_trimmed() {
        let token = Credential::new(" secret\n").unwrap();
        assert_eq!(format!("{token} {token:?}"), "••• •••");
        assert_eq!(token.expose(), "secret");
        assert!(Credential::new(" \n").is_none());
    }

    #[test]
    fn what_editors_and_people_put_around_a_token_is_dropped() {
        for text in ["\u{feff}t0ken\r\n", "\"t0ken\"", "'t0ken'\n", "\u{feff}\"t0ken\"\r\n"] {
            assert_eq!(Credential::new(text).unwrap().expose(), "t0ken", "{text:?}");
        }
        for text in ["\"t0ken", "'t0ken\"", "\"a\"b\""] {
            assert!(!Credential::new(text).unwrap().is_valid(), "{text:?}");
        }
        assert!(Credential::new("\"\"").is_none());
    }

    #[test]
    fn of_what_a_program_printed_the_first_line_is_the_token() {
        assert_eq!(Credential::printed("t0ken\nuser: me\n").unwrap().expose(), "t0ken");
        assert!(!Credential::printed("t0ken and more\nuser: me").unwrap().is_valid());
        assert!(!Credential::new("t0ken\nuser: me").unwrap().is_valid(), "a file has nothing but the token");
        let keys = "consumer-key=a\nconsumer-secret=b\ntoken=c\ntoken-secret=d\n";
        assert!(Credential::printed(keys).unwrap().is_integration());
        assert!(Credential::printed("\n").is_none());
    }

    #[test]
    fn a_token_has_the_characters_of_a_bearer_token() {
        for valid in ["t0ken", "aZ09-._~+/", "YWJj==", "eyJ.eyJ.c2ln"] {
            assert!(Credential::new(valid).unwrap().checked("a file").is_ok(), "{valid}");
        }
        for invalid in
            ["=", "a=b", "\"abc", "a b", "a\nb", "t\u{f6}ken", "a:b", "Bearer,x", "a&b", "a%2Fb", "a\\b"]
        {
            let refused = Credential::new(invalid).unwrap().checked("a file").unwrap_err();
            assert!(refused.message.starts_with("invalid token from a file: "), "{invalid}");
            assert!(!refused.message.contains(invalid) || invalid == "=", "{refused}");
        }
    }

    #[test]
    fn only_a_json_web_token_says_when_it_expires() {
        // {"uid":1,"exp":1000}
        let token = Credential::new("eyJhbGciOiJIUzI1NiJ9.eyJ1aWQiOjEsImV4cCI6MTAwMH0.c2ln").unwrap();
        assert_eq!(token.expires_at().map(jiff::Timestamp::as_second), Some(1000));
        for other in ["t0ken", "a.b.c", "a.eyJleHAiOiJ4In0.c", "a.eyJleHAiOjEwMDB9.c.d", "..", "a.e30.c"] {
            assert_eq!(Credential::new(other).unwrap().expires_at(), None, "{other}");
        }
    }
}
