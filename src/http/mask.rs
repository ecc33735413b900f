//! The token, taken out of what the service sends back.

use std::borrow::Cow;

/// Shorter is no secret, and would be found in innocent words.
const SHORTEST_SECRET: usize = 8;

/// `text` without the secret. A service has no business sending the token back; where it does, nothing of ours
/// passes it on.
pub(super) fn masked<'a>(text: &'a str, secret: &str) -> Cow<'a, str> {
    if secret.len() >= SHORTEST_SECRET && text.contains(secret) {
        Cow::Owned(text.replace(secret, "•••"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The same for a body.
pub(super) fn mask_body(body: &mut Vec<u8>, secret: &str) {
    if let Cow::Owned(masked) = masked(&String::from_utf8_lossy(body), secret) {
        *body = masked.into_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::{mask_body, masked};

    #[test]
    fn a_secret_is_masked_wherever_it_stands_and_a_word_is_not() {
        assert_eq!(masked("Bearer secret-12,secret-12", "secret-12"), "Bearer •••,•••");
        assert_eq!(masked("a token", "token"), "a token");
        let mut body = b"{\"t\":\"secret-12\"}".to_vec();
        mask_body(&mut body, "secret-12");
        assert_eq!(body, "{\"t\":\"•••\"}".as_bytes());
        let mut odd = b"\xff secret-12".to_vec();
        mask_body(&mut odd, "secret-12");
        assert_eq!(odd, "\u{fffd} •••".as_bytes());
    }
}
