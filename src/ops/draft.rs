//! Reads the input, applies the flags and reports warnings.

use serde_json::Value;

use crate::failure::Failure;
use crate::input::{Draft, FlagOverrides, document};
use crate::plan::operation::Operation;
use crate::session::Session;

/// Reads the input, if there is any, and applies the flags. Warns about what validation normalized.
///
/// # Errors
/// `usage` for input that cannot be read or is refused.
pub fn draft(
    session: &Session<'_>,
    operation: Operation,
    flags: &dyn FlagOverrides,
) -> Result<Draft, Failure> {
    draft_from(session, operation, document(session)?, flags)
}

/// Reads the input, if there is any.
///
/// # Errors
/// `usage` for input that cannot be read.
pub fn document(session: &Session<'_>) -> Result<Option<Value>, Failure> {
    session.global.input.as_deref().map(document::read_record).transpose()
}

/// Applies the flags to a document. Warns about what validation normalized.
///
/// # Errors
/// `usage` for input that is refused.
pub fn draft_from(
    session: &Session<'_>,
    operation: Operation,
    document: Option<Value>,
    flags: &dyn FlagOverrides,
) -> Result<Draft, Failure> {
    let draft = Draft::new(session.dialect, operation, document, flags, session.global.allow_unknown)?;
    warn(session, &draft);
    Ok(draft)
}

/// Prints the warnings of validation and lints.
pub fn warn(session: &Session<'_>, draft: &Draft) {
    for warning in &draft.warnings {
        session.report.warn(warning);
    }
}
