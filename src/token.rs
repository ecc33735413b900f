//! A bearer token: a value that cannot print itself.

use std::fmt;

use crate::failure::{Failure, FailureKind};

/// A bearer token (interface section 5). `Debug` and `Display` print `•••`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token(String);

impl Token {
    /// Takes a token as it was configured; surrounding white space, such as a file's last newline, is dropped.
    /// `None` when nothing is left.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The secret itself, for the `Authorization` header and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The token, if it fits into a header: visible ASCII and nothing else.
    ///
    /// # Errors
    /// `auth` for any other; `from` names where it was found.
    pub fn fit_for_header(self, from: &str) -> Result<Self, Failure> {
        if self.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(self);
        }
        let message = format!("invalid token from {from}: contains whitespace or non-ASCII characters");
        Err(Failure::new(FailureKind::Auth, message).hint("the file or command must contain only the token"))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("•••")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("•••")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn a_token_prints_as_dots_and_is_trimmed() {
        let token = Token::new(" secret\n").unwrap();
        assert_eq!(format!("{token} {token:?}"), "••• •••");
        assert_eq!(token.expose(), "secret");
        assert!(Token::new(" \n").is_none());
    }
}
