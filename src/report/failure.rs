//! A failure on standard error.

use serde_json::Value;

use super::style::TextStyle;
use super::{Report, stderr_line, write_stderr};
use crate::failure::{Applied, Failure, FailureKind, RecordCounts};
use crate::text::exact_json;
use crate::text::sanitize;

impl Report {
    /// Prints a failure: text, or one JSON object under `-o json`.
    pub fn failure(&self, failure: &Failure) {
        if self.is_json() {
            write_stderr(&sanitize::in_json(&failure_json(failure).to_string()));
            return;
        }
        if failure.is_cancelled {
            stderr_line("Cancelled");
            return;
        }
        self.labelled(TextStyle::Error, "error", &failure.message);
        if let Some(effect) = self.effect(failure) {
            stderr_line(effect);
        }
        if let Some(hint) = &failure.hint {
            self.labelled(TextStyle::Hint, "  hint", hint);
        }
    }

    /// Whether the write took effect, in words; `None` where the command writes nothing, or where the kind of the failure
    /// says it.
    fn effect(&self, failure: &Failure) -> Option<&'static str> {
        match (failure.applied, failure.kind) {
            _ if !self.can_write => None,
            (Applied::Yes, FailureKind::Partial | FailureKind::Mismatch) => None,
            (Applied::No, _) => Some("  No changes were made."),
            (Applied::Yes, _) if failure.records.is_some() => Some("  Some records were applied."),
            (Applied::Unknown, _) if failure.records.is_some() => {
                Some("  Some records may have been applied.")
            }
            (Applied::Yes, _) => Some("  The change was applied."),
            (Applied::Partial, _) => Some("  Only part of the change was applied."),
            (Applied::Unknown, _) => Some("  The change may have been applied."),
        }
    }
}

/// The error object of `-o json`.
pub fn failure_json(failure: &Failure) -> Value {
    let mut error = exact_json::of(failure);
    if let Some(count) = &failure.records {
        let done = count.done + count.done_earlier;
        error["records"] = exact_json::of(&RecordCounts { done, ..**count });
        error["resume"] = count.can_resume().into();
    }
    exact_json::object([("error", error)])
}
