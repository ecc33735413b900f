//! Decides between one record and a batch.

use crate::batch;
use crate::cli::batch::BatchArgs;
use crate::failure::Failure;
use crate::input::FlagOverrides;
use crate::input::records::{self, Source};
use crate::ops::draft::draft;
use crate::ops::perform::perform_and_report;
use crate::ops::record::RecordOperation;
use crate::plan::operation::Operation;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Runs an operation on one document or on a batch: the input is checked before the service is opened.
///
/// # Errors
/// Whatever went wrong.
pub fn run(
    session: &Session<'_>,
    operation: Operation,
    flags: &dyn FlagOverrides,
    run: &BatchArgs,
) -> Result<(), Failure> {
    if let Some(source) = source(session, run)? {
        return batch::run(session, &source, run, RecordOperation::Direct(operation, flags));
    }
    let draft = draft(session, operation, flags)?;
    with_service(session, async |service| perform_and_report(service, operation, draft).await)
}

/// The input, where it is one of many records.
///
/// # Errors
/// `usage` when it cannot be read, and for flags of a run without one.
pub fn source(session: &Session<'_>, args: &BatchArgs) -> Result<Option<Source>, Failure> {
    let source = records::detect(session.global)?;
    match (&source, args.first_given()) {
        (None, Some(flag)) => Err(Failure::usage(format!("{flag} requires batch input"))
            .hint("use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)")),
        _ => Ok(source),
    }
}
