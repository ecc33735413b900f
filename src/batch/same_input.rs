//! The same input again, a day later: which operations start a new run over an old journal, and over which journals.

use std::path::Path;

use serde_json::Value;

use crate::batch::record::RecordPreparer;
use crate::batch::sent::allow_duplicates;
use crate::cli::hint::for_command;
use crate::client::Session;
use crate::journal::open::Opening;
use crate::journal::read::PreviousRuns;
use crate::log::{BEGINS, WriteLog, Wrote};
use crate::system::storage::real_path;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::{
    ATTRIBUTE_ASSIGN, ATTRIBUTE_OPTION_ADD, ATTRIBUTE_OPTION_DEFAULT, CUSTOMER_UPDATE, ORDER_UPDATE,
    PRODUCT_SET, QUOTE_SET_ITEM,
};

/// Whether the operation compares each record with what the shop has, so that finished records are unchanged: the same
/// input can be run every night. An update with `--allow-duplicate` does not compare.
pub fn is_compared(preparer: &RecordPreparer<'_>) -> bool {
    let operations = [
        &CUSTOMER_UPDATE,
        &QUOTE_SET_ITEM,
        &ATTRIBUTE_OPTION_ADD,
        &ATTRIBUTE_OPTION_DEFAULT,
        &ATTRIBUTE_ASSIGN,
        &ORDER_UPDATE,
        &PRODUCT_SET,
    ];
    operations.contains(&preparer.operation.spec()) && !allow_duplicates(&preparer.flags)
}

/// Refuses a journal that lacks something that was sent according to the log: an older one, one that was cut, or another
/// one in its place. Whatever it is used for, a record would be sent again.
///
/// # Errors
/// `guard`.
pub fn ensure_newest(
    session: &Session<'_>,
    log: &WriteLog,
    journal: &Path,
    past: &PreviousRuns,
) -> Result<(), Failure> {
    let real = real_path(journal);
    let wrote = log.wrote(&real.to_string_lossy(), past.runs())?;
    let Some(last) = wrote.first() else { return Ok(()) };
    let has = |run: &Wrote| past.runs().contains(&run.uuid);
    // A run that did not get into the log started it in place of another.
    if past.last() == 0 && !wrote.iter().any(has) && log.known_runs(past.runs())? == 0 {
        return Ok(());
    }
    let shown = journal.display();
    let length =
        past.length().map_err(|error| Failure::guard(format!("cannot read journal `{shown}`: {error}")))?;
    let message = match wrote.iter().find(|run| !has(run)) {
        Some(run) => format!("journal `{shown}` lacks what run {} wrote", run.id),
        None if length < last.length => {
            let Wrote { id, length: left, .. } = last;
            format!("journal `{shown}` is shorter than run {id} wrote it: {length} of {left} bytes")
        }
        None => return Ok(()),
    };
    let show = storefront("history").arg(last.id.to_string());
    let hint = hint!("put back the newer one; ", show, " shows what was sent");
    Err(Failure::guard(message).hint(for_command(hint, session.global)))
}

/// Refuses to start over in place of a journal of another log, which does not have what was sent; without `--restart`,
/// also if one of its runs is not in this log.
///
/// # Errors
/// `guard`.
pub fn ensure_replaceable(log: &WriteLog, opening: &Opening) -> Result<(), Failure> {
    let past = &opening.past;
    let files = &opening.files;
    if !files.restart && !opening.starts_new() {
        return Ok(());
    }
    if !past.is_of_log(&log.id()?) {
        let shown = files.journal.display();
        let message =
            format!("journal `{shown}` is of another log: of another machine, or of another state directory");
        return Err(Failure::guard(message).hint(hint!("continue it with ", files.commands.resume.clone())));
    }
    let noting = past.noting_runs();
    let is_known = files.restart || log.known_runs(noting)? == noting.len();
    if is_known { Ok(()) } else { Err(opening.already_there()) }
}

/// The header of a journal for the log: with the directory of the command, and whether the run began the journal.
pub fn with_place(mut header: Value, begins: bool) -> Value {
    if let Some(directory) = std::env::current_dir().ok().as_deref().and_then(Path::to_str) {
        header["directory"] = directory.into();
    }
    if begins {
        header[BEGINS] = true.into();
    }
    header
}
