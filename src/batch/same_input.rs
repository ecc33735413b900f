//! The same input once more, a day later: which operations begin a new run over an old journal.

use std::path::Path;

use serde_json::Value;

use crate::batch::record::RecordPreparer;
use crate::journal::open::Opening;
use crate::log::WriteLog;
use storefront_core::failure::Failure;
use storefront_core::operation::{
    ATTRIBUTE_ASSIGN, ATTRIBUTE_OPTION_ADD, CUSTOMER_UPDATE, ORDER_UPDATE, PRODUCT_SET, QUOTE_SET_ITEM,
};

/// Whether the operation compares each record with what the shop has, so that what is done already is unchanged: the same input can
/// be run every night. An update that adds addresses whatever is stored does not.
pub fn is_compared(preparer: &RecordPreparer<'_>) -> bool {
    let operations = [
        &CUSTOMER_UPDATE,
        &QUOTE_SET_ITEM,
        &ATTRIBUTE_OPTION_ADD,
        &ATTRIBUTE_ASSIGN,
        &ORDER_UPDATE,
        &PRODUCT_SET,
    ];
    let adds = preparer.session.global.typed.operation_flags();
    operations.contains(&preparer.operation.spec()) && !adds.iter().any(|flag| flag == "--allow-duplicate")
}

/// Refuses to begin a new run over a journal of another machine, which may be of other records.
///
/// # Errors
/// `guard`.
pub fn ensure_of_this_log(log: &WriteLog, opening: &Opening) -> Result<(), Failure> {
    let runs = opening.past.runs();
    let is_known = !runs.is_empty() && log.known_runs(runs)? == runs.len();
    if is_known { Ok(()) } else { Err(opening.already_there()) }
}

/// The header of a journal as the log has it: with the directory in which the command was typed.
pub fn with_place(mut header: Value) -> Value {
    if let Some(directory) = std::env::current_dir().ok().as_deref().and_then(Path::to_str) {
        header["directory"] = directory.into();
    }
    header
}
