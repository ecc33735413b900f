//! The commands with which a batch is continued.

use std::path::Path;

use storefront_core::hint::{HintCommand, hint, storefront};

use crate::batch::record::RecordPreparer;
use crate::cli::command_line::flag;
use crate::cli::hint::typed;
use crate::journal::open::Commands;
use crate::log::WriteLog;
use crate::report::summary::NextSteps;
use crate::system::storage::real_path;

/// The flags that say how a journal is continued.
pub const OF_RESUMING: [&str; 6] =
    ["--resume", "--restart", "--retry-unknown", "--retry-failed", "--mark-done", "--start"];

/// The commands that run a batch again whose journal exists.
pub fn commands(preparer: &RecordPreparer<'_>, journal: &Path) -> Commands {
    let again = preparer.session.global.typed.without(&OF_RESUMING).without(&["--dry-run"]);
    let restart = typed(&again.with(vec!["--restart".to_owned()]));
    Commands { resume: next_steps(preparer, journal).resume, restart }
}

/// The command that continues the batch with this journal: by its id if the log of this machine has it. A plan is resumed
/// by the command that applies it.
fn resume(preparer: &RecordPreparer<'_>, journal: &Path) -> HintCommand {
    let RecordPreparer { session, args, .. } = preparer;
    let again = session.global.typed.without(&OF_RESUMING);
    if preparer.origin.plan().is_some() {
        return typed(&again);
    }
    let log = WriteLog::to_read(session.context).ok().flatten();
    let last = log.and_then(|log| log.last_over(&real_path(journal).to_string_lossy()).ok().flatten());
    let is_piped = preparer.origin.source().path == Path::new("-");
    // A named stream, such as a pipe, has another name each time.
    let Some(last) = last.filter(|_| is_piped || !preparer.origin.source().is_stream) else {
        let is_named = args.journal.is_some() || !preparer.origin.source().is_stream;
        let named = if is_named { Vec::new() } else { flag("journal", &journal.display().to_string()) };
        return typed(&again.with([named, vec!["--resume".to_owned()]].concat()));
    };
    let resume = storefront("resume").arg(last.to_string());
    if is_piped { resume.arg("-i").arg("-") } else { resume }
}

/// What to type next.
pub fn next_steps(preparer: &RecordPreparer<'_>, journal: &Path) -> NextSteps {
    let session = preparer.session;
    let resume = resume(preparer, journal);
    let is_held_back = preparer.operation.spec().is_merged;
    let wait = if is_held_back { ", 10 minutes later or with --after-unknown," } else { "" };
    let places = format!("{}S", session.report.place.to_uppercase());
    NextSteps {
        decide_unknown: hint!(
            "resume with ",
            resume.clone(),
            format!(
                ", with --mark-done={places} for what did and{wait} --retry-unknown={places} for what did not"
            )
        ),
        resume,
        is_plan: preparer.origin.plan().is_some(),
        place: session.report.place,
        journal: journal.display().to_string(),
    }
}
