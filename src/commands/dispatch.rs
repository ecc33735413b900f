//! Decides between one record and a batch.

use crate::batch;
use crate::cli::batch::BatchArgs;
use crate::failure::Failure;
use crate::input::records::{self, Source};
use crate::input::{Draft, FlagOverrides};
use crate::ops::customers::select;
use crate::ops::draft;
use crate::ops::perform::perform_and_report;
use crate::ops::record::RecordOperation;
use crate::plan::operation::Operation;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Runs an operation over the records of a batch; where the input is none, `one_record` runs it.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(
    session: &Session<'_>,
    operation: RecordOperation<'_>,
    args: &BatchArgs,
    one_record: impl AsyncFnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    match source(session, args)? {
        Some(source) => batch::run(session, &source, args, operation).await,
        None => one_record().await,
    }
}

/// Runs an operation that acts at once, on one document or a batch. The input is checked before the service is opened.
///
/// # Errors
/// Whatever went wrong.
pub async fn direct(
    session: &Session<'_>,
    operation: Operation,
    flags: &dyn FlagOverrides,
    args: &BatchArgs,
) -> Result<(), Failure> {
    run(session, RecordOperation::Direct(operation, flags), args, async || {
        send(session, flags.customer(), draft::draft(session, operation, flags)?).await
    })
    .await
}

/// Sends one draft, for the customer who is named or the token's own.
///
/// # Errors
/// Whatever went wrong.
pub async fn send(session: &Session<'_>, customer: Option<&str>, draft: Draft) -> Result<(), Failure> {
    with_service(session, async |service| perform_and_report(&select(service, customer).await?, draft).await)
        .await
}

/// The input, where it is one of many records.
fn source(session: &Session<'_>, args: &BatchArgs) -> Result<Option<Source>, Failure> {
    let source = records::detect(session.global)?;
    match (&source, args.first_given()) {
        (None, Some(flag)) => Err(Failure::usage(format!("{flag} requires batch input"))
            .hint("use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)")),
        _ => Ok(source),
    }
}
