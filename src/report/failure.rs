//! A failure on standard error.

use serde_json::Value;

use super::Report;
use super::style::TextStyle;
use storefront_core::failure::{Applied, Failure, RecordCounts};
use storefront_core::text::exact_json;

impl Report {
    /// Prints a failure: text, or one JSON object under `-o json`.
    pub fn failure(&self, failure: &Failure) {
        if self.is_json() {
            return self.stderr_object("error", failure_json(failure));
        }
        if failure.is_cancelled {
            return self.stderr("Cancelled");
        }
        self.stderr(&self.labelled(TextStyle::Error, "error", &failure.message));
        if self.can_write {
            self.stderr(match failure.applied {
                Applied::No => "  No changes were made.",
                // Perhaps by an earlier run.
                Applied::Yes if failure.records.is_some() => "  Some records were applied.",
                Applied::Yes => "  Changes were made.",
                Applied::Partial => "  Only part of the changes was made.",
                Applied::Unknown => "  Changes may have been made.",
            });
        }
        if let Some(hint) = &failure.hint {
            self.stderr(&self.labelled(TextStyle::Id, "  hint", &hint.to_string()));
        }
    }
}

/// The error object of a failure.
pub fn failure_json(failure: &Failure) -> Value {
    let mut error = exact_json::of(failure);
    if let Some(count) = &failure.records {
        let done = count.done + count.done_earlier;
        let (failed, temporary) =
            (count.failed + count.refused_in_part, count.temporary - count.refused_in_part);
        error["records"] = exact_json::of(&RecordCounts { done, failed, temporary, ..**count });
        error["resume"] = count.can_resume().into();
    }
    error
}
