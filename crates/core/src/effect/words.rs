//! What an effect is called in a person's words.

use std::fmt;

use serde_json::Value;

use super::{Before, Change, Created, Effect, Kind, Left, Owner, Sent};
use crate::text::sanitize::sanitize_line;

impl Kind {
    /// The name in messages, results, plans and the log.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Cart => "cart",
            Self::Attribute => "attribute",
            Self::Order => "order",
            Self::Product => "product",
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(out, "{} {id}", self.kind.noun())?,
            None => write!(out, "a new {}", self.kind.noun())?,
        }
        self.scope.iter().try_for_each(|scope| write!(out, " in {scope}"))
    }
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.path.in_words(), self.why)
    }
}

impl Change {
    /// One line: the place, the value before and the value after.
    pub fn in_words(&self, creates: &[Created]) -> String {
        let place = self.path.in_words();
        let before = match &self.before {
            Before::NotRead => "not read".to_owned(),
            Before::Read(value) => shown(value.as_ref()),
        };
        match (&self.sent, self.after(creates)) {
            (Sent::Plus(more), _) => format!("{place}: {before} + {more}"),
            (_, Some(after)) => format!("{place}: {before} → {}", shown(after.as_ref())),
            (_, None) => format!("{place}: {before} → the new one"),
        }
    }
}

impl Effect {
    /// One line for each change.
    pub fn in_words(&self) -> Vec<String> {
        let changes = self.changes.iter().map(|change| change.in_words(&self.creates));
        let created = |created: &Created| {
            let place = created.path().to_string();
            format!("{place}: {}", shown(Some(created.seen.as_ref().unwrap_or(&created.content))))
        };
        changes.chain(self.creates.iter().map(created)).collect()
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "nothing".to_owned(),
        Some(Value::String(text)) => sanitize_line(text),
        Some(value) => sanitize_line(&value.to_string()),
    }
}
