//! Whether the changes of a batch were undone since, by a plan of `undo` that was applied on this machine.

use std::path::{Path, PathBuf};

use crate::batch::listing::Listing;
use crate::client::Session;
use crate::journal::known::{KnownRun, known_runs};
use crate::journal::read::PreviousRuns;
use crate::journal::{State, Undoes};
use crate::log::{RunId, WriteLog};
use storefront_core::failure::Failure;
use storefront_core::hint::Hint;
use storefront_core::text::sanitize::sanitize_line;

/// How a batch was undone.
#[derive(Debug)]
pub struct Undone {
    /// The plan's file name.
    pub plan: String,
    /// The journal of that plan.
    pub journal: PathBuf,
    /// Whether everything that the batch did was undone.
    pub is_whole: bool,
}

impl Undone {
    /// `undone`, or `undone in part`
    pub const fn in_words(&self) -> &'static str {
        if self.is_whole { "undone" } else { "undone in part" }
    }
}

/// The run of the log that a plan undoes: the last one over the journal of its batch.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn undone_run(log: &WriteLog, undoes: Option<&Undoes>) -> Result<Option<RunId>, Failure> {
    let first = undoes.and_then(|undoes| undoes.run.as_deref());
    Ok(first.map(|first| log.last_of_batch(first)).transpose()?.flatten())
}

/// How the batch with this journal, which `past` was read from, was undone. An undo that was undone does not count.
pub fn undone(
    session: &Session<'_>,
    runs: &[&KnownRun],
    journal: &Path,
    past: &PreviousRuns,
) -> Option<Undone> {
    let started = past.started.as_deref()?;
    runs.iter().find_map(|run| {
        let undoes = run.header.undoes.as_ref().filter(|undoes| undoes.is(journal, started))?;
        let undo = Listing::read(session, &run.path).ok().filter(|undo| undo.past.has_done())?.past;
        let others: Vec<&KnownRun> = runs.iter().copied().filter(|other| other.path != run.path).collect();
        let again = undone(session, &others, &run.path, &undo);
        // Records that were sent after the plan was made are not undone.
        let is_all = undoes.done.is_none_or(|done| done == past.count(State::Done));
        again.is_none_or(|again| !again.is_whole).then(|| Undone {
            plan: run.header.input.clone(),
            journal: run.path.clone(),
            is_whole: undoes.is_whole && is_all && undo.is_complete(&run.header),
        })
    })
}

/// Warns that a batch that is continued was undone since: its records would be reported as done.
pub fn warn(session: &Session<'_>, journal: &Path, past: &PreviousRuns, again: &Hint) {
    if !past.has_done() {
        return;
    }
    if let Some(undone) = since(session, journal, past) {
        session.report.warn(&format!("{undone}; its done records are not sent again: {again}"));
    }
}

/// How the batch with this journal was undone since, in words, if it was.
pub fn since(session: &Session<'_>, journal: &Path, past: &PreviousRuns) -> Option<String> {
    let runs = known_runs(session.context).unwrap_or_default();
    let runs: Vec<&KnownRun> = runs.iter().collect();
    let undone = undone(session, &runs, journal, past)?;
    let what = undone.in_words();
    let plan = sanitize_line(&undone.plan);
    Some(format!("what this batch did was {what} since, with plan `{plan}`"))
}
