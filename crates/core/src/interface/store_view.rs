//! The code of a store view, as it stands in a path.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::failure::Failure;

/// The characters that are encoded in a path segment.
pub(super) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A store view code, valid as a path segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreView(String);

impl StoreView {
    /// Takes a code as the user wrote it.
    ///
    /// # Errors
    /// `usage` for an empty code, `.` and `..`, which would change the path, and for what is not a code at all, such as a
    /// URL or a pasted command.
    pub fn new(code: &str) -> Result<Self, Failure> {
        let is_refused = |c: char| c.is_whitespace() || c.is_control() || c == ';';
        if matches!(code, "" | "." | "..") || code.contains(is_refused) || code.contains("://") {
            return Err(Failure::usage(format!("invalid store view code `{code}`"))
                .hint("the codes are listed in the admin panel under Stores > Settings > All Stores"));
        }
        Ok(Self(code.to_owned()))
    }

    /// The code as the user wrote it.
    pub fn code(&self) -> &str {
        &self.0
    }

    pub(super) fn segment(&self) -> impl std::fmt::Display + '_ {
        utf8_percent_encode(&self.0, SEGMENT)
    }
}
