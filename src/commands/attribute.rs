//! `storefront attribute …`

use super::{Session, operation};
use crate::cli::attribute::AttributeCommand;
use crate::failure::Failure;
use crate::plan::operation::Operation;

/// Runs an attribute command.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, command: &AttributeCommand) -> Result<(), Failure> {
    match command {
        AttributeCommand::Create(args) => {
            operation::run(session, Operation::AttributeCreate, args, &args.run)
        }
    }
}
