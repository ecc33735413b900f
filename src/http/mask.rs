//! The token, taken out of what the service sends back.

use std::borrow::Cow;

use serde_json::Value;

use super::outcome::Attempt;

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

/// An attempt as it may be told: nothing of it holds the token. A reply keeps its body as it came, for it may be
/// sent back; whoever prints it masks it.
pub(super) fn attempt(mut attempt: Attempt, secret: &str) -> Attempt {
    match &mut attempt {
        Attempt::Applied(_) => {}
        Attempt::Rejected(failure)
        | Attempt::NotSent { failure, .. }
        | Attempt::Throttled { failure, .. }
        | Attempt::Unknown { failure, .. } => {
            failure.message = masked(&failure.message, secret).into_owned();
            failure.service = failure.service.take().map(|body| value(body, secret));
        }
    }
    attempt
}

/// A JSON value without the secret, in names and in texts.
fn value(body: Value, secret: &str) -> Value {
    match body {
        Value::String(text) => masked(&text, secret).into(),
        Value::Array(elements) => elements.into_iter().map(|element| value(element, secret)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, member)| (masked(&name, secret).into_owned(), value(member, secret)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{masked, value};

    #[test]
    fn a_secret_is_masked_wherever_it_stands_and_a_word_is_not() {
        assert_eq!(masked("Bearer secret-12,secret-12", "secret-12"), "Bearer •••,•••");
        assert_eq!(masked("a token", "token"), "a token");
        assert_eq!(value(json!({"secret-12": ["x secret-12"]}), "secret-12"), json!({"•••": ["x •••"]}));
    }
}
