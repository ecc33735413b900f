//! What a read shows of what was written.

use serde::Serialize;
use serde_json::Value;

use crate::report::fields::format_value;
use storefront_core::profile::path::FieldPath;

/// What a read shows of the writes to one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateSince {
    /// All of it is there.
    There,
    /// All of it is there, and its outcome was unknown.
    Seen,
    /// Some of it is not as it was written.
    Changed(Vec<Since>),
    /// The owner is gone, in words.
    Gone(String),
    /// Why it cannot be compared.
    NotComparable(String),
    /// Its outcome is unknown, and no read shows it; with the reason.
    NotSeen(String),
}

/// A place that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Since {
    /// Where.
    pub path: FieldPath,
    /// What the write left there.
    pub written: Option<Value>,
    /// What is there now; `None` if it, or what it was in, is gone.
    pub now: Option<Value>,
}

impl StateSince {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Seen => "seen",
            Self::Changed(places) if places.iter().all(|since| since.now.is_none()) => "gone",
            Self::Changed(_) => "changed",
            Self::Gone(_) => "gone",
            Self::NotComparable(_) => "not comparable",
            Self::NotSeen(_) => "not seen",
        }
    }

    /// Whether something is not as it was written.
    pub fn differs(&self) -> bool {
        matches!(self, Self::Changed(_) | Self::Gone(_))
    }

    /// Whether all of it is there.
    pub fn is_there(&self) -> bool {
        matches!(self, Self::There | Self::Seen)
    }

    /// The places that are not as they were written.
    pub fn places(&self) -> &[Since] {
        if let Self::Changed(places) = self { places } else { &[] }
    }

    /// The reason in words, if no places give it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Gone(why) | Self::NotComparable(why) | Self::NotSeen(why) => Some(why),
            Self::There | Self::Seen | Self::Changed(_) => None,
        }
    }
}

impl Since {
    /// `address 2 city: wrote "Albany", now "Troy"`
    pub fn in_words(&self) -> String {
        let value = |value: &Value| format_value(Some(value));
        let place = self.path.in_words();
        match (&self.written, &self.now) {
            (Some(written), Some(now)) => format!("{place}: wrote {}, now {}", value(written), value(now)),
            (None, Some(_)) => format!("{place}: was removed, and is there again"),
            (Some(written), None) => format!("{place}: wrote {}, now nothing", value(written)),
            (None, None) => place,
        }
    }
}
