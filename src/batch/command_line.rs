//! The commands with which a batch is continued.

use std::path::Path;
use storefront_core::hint::hint;

use crate::batch::record::RecordPreparer;
use crate::cli::command_line::flag;
use crate::cli::hint::typed;
use crate::journal::open::Commands;
use crate::report::summary::NextSteps;

/// The flags that say how a journal is continued.
pub const OF_RESUMING: [&str; 6] =
    ["--resume", "--restart", "--retry-unknown", "--retry-failed", "--mark-done", "--start"];

/// The commands that run a batch once more whose journal exists.
pub fn commands(preparer: &RecordPreparer<'_>, journal: &Path) -> Commands {
    let again = preparer.session.global.typed.without(&OF_RESUMING).without(&["--dry-run"]);
    let restart = typed(&again.with(vec!["--restart".to_owned()]));
    Commands { resume: next_steps(preparer, journal).resume, restart }
}

/// What to type next.
pub fn next_steps(preparer: &RecordPreparer<'_>, journal: &Path) -> NextSteps {
    let RecordPreparer { session, args, .. } = preparer;
    // A plan that was started is resumed automatically.
    let flags = if preparer.plan.is_some() { Vec::new() } else { vec!["--resume".to_owned()] };
    let is_named = args.journal.is_some() || !preparer.source.is_stream;
    let named = if is_named { Vec::new() } else { flag("journal", &journal.display().to_string()) };
    let resume = typed(&session.global.typed.without(&OF_RESUMING).with([named, flags].concat()));
    let is_held_back = preparer.operation.spec().is_merged;
    let wait = match (is_held_back, preparer.plan.is_some()) {
        (true, false) => ", 10 minutes later or with --after-unknown,",
        (true, true) => ", 10 minutes later,",
        (false, _) => "",
    };
    let places = format!("{}S", session.report.place.to_uppercase());
    NextSteps {
        settle: hint!(
            "resume with ",
            resume.clone(),
            format!(
                ", with --mark-done={places} for what did and{wait} --retry-unknown={places} for what did not"
            )
        ),
        resume,
        is_plan: preparer.plan.is_some(),
        place: session.report.place,
        journal: journal.display().to_string(),
    }
}
