//! Emails, and the two ways to name a customer. Wherever an email stands (a flag, a column, a lock, a search), it is
//! compared here.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use serde_json::Value;

use crate::id::CustomerId;

/// An email as it was written. Two are equal in any case of their ASCII letters. By other letters two customers may differ: the
/// Kelvin sign is a `k` in lower case, and some shops keep `Ä` apart from `ä`.
#[derive(Debug, Clone)]
pub struct Email(Rc<str>);

impl Email {
    /// The email in a text, without the blanks around it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().into())
    }

    /// The email in a field of a document; `None` for an empty text and for everything that is not text.
    pub fn of(value: &Value) -> Option<Self> {
        value.as_str().map(Self::new).filter(|email| !email.0.is_empty())
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What all spellings of it have in common: keys and hashes are made of it.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl PartialEq for Email {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Email {}

impl Hash for Email {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl fmt::Display for Email {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

/// How an administrator names a customer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CustomerName {
    /// By the id.
    Id(CustomerId),
    /// By the email.
    Email(Email),
}

impl CustomerName {
    /// What a text names; `None` for what is neither an id nor an email.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.parse() {
            Ok(id) => Some(Self::Id(id)),
            Err(_) => text.contains('@').then(|| Self::Email(Email::new(text))),
        }
    }

    /// What all spellings of the name have in common: the digits of the id, or the folded email.
    pub fn key(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Email(email) => email.folded(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CustomerName, Email};

    #[test]
    fn an_email_is_the_same_in_any_case_of_ascii_letters_only() {
        let is_same = |one: &str, other: &str| Email::new(one) == Email::new(other);
        assert!(is_same(" Kim@Example.com", "kim@example.com\u{a0}"));
        assert!(!is_same("\u{212a}im@example.com", "kim@example.com"), "the Kelvin sign");
        assert!(!is_same("Éva@example.com", "éva@example.com"));
        assert_eq!(Email::new("ÉVA@Example.com").folded(), "Éva@example.com");
        assert!(Email::of(&json!("")).is_none() && Email::of(&json!(7)).is_none());
    }

    #[test]
    fn a_name_is_an_id_or_an_email() {
        let key = |text: &str| CustomerName::parse(text).map(|name| name.key());
        assert_eq!(key(" 07 "), Some("7".to_owned()));
        assert_eq!(key("Ärger@Example.com"), Some("Ärger@example.com".to_owned()));
        assert!(key("ada").is_none() && key("").is_none() && key("-1").is_none());
    }
}
