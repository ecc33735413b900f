//! What came back from a call that succeeded.

use jiff::Timestamp;
use serde_json::Value;

use crate::exact_json;

/// The answer to a call that succeeded. The interface shows no reply body, so nothing may depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status: 2xx, or the request's other success (320 for shipping information).
    pub status: u16,
    /// The body as it came, 16 MiB of it at most.
    pub body: Vec<u8>,
    /// What was wrong with the body, if anything: it broke off, or was too long.
    pub warning: Option<String>,
    /// Of a read: when the service answered, by its own clock; for an answer from a cache, when that answered.
    pub date: Option<Timestamp>,
}

/// Whether a body is a login page or a proxy's page, whatever its content type says.
pub(super) fn is_page(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<')
}

impl Reply {
    /// Whether a page of a proxy or of a login came instead of the service's answer.
    pub fn is_page(&self) -> bool {
        is_page(&self.body)
    }

    /// The body as JSON, numbers with their exact text; text where it is not JSON; `Null` where it is empty.
    pub fn value(&self) -> Value {
        value_of(&self.body)
    }
}

/// See [`Reply::value`].
pub(super) fn value_of(body: &[u8]) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    match exact_json::parse_with_repeats(body) {
        Ok(document) => document.value,
        Err(_) => String::from_utf8_lossy(body).into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::value_of;

    #[test]
    fn a_body_is_json_or_text_or_nothing() {
        assert_eq!(value_of(b""), Value::Null);
        assert_eq!(value_of(b"plain"), json!("plain"));
        assert_eq!(value_of(b"\xff{"), json!("\u{fffd}{"));
        let exact = br#"{"b":12345678901234567890.10,"a":[]}"#;
        assert_eq!(value_of(exact).to_string().as_bytes(), exact);
    }
}
