//! How a run ended: what became of the records, and how to continue.

use std::time::Duration;

use super::style::time;
use storefront_core::failure::{FailureKind, RecordCounts};
use storefront_core::hint::{Hint, HintCommand, hint, storefront};

/// How to continue, with the commands to type.
#[derive(Debug)]
pub struct NextSteps {
    /// The command that continues the run.
    pub resume: HintCommand,
    /// How to continue with unknown records after someone has checked them, and how long to wait for requests still under way.
    pub settle: Hint,
    /// Whether the records are those of a plan, which nobody corrects.
    pub is_plan: bool,
    /// What the places of records are called: `line` or `record`.
    pub place: &'static str,
    /// The report of the records that failed permanently.
    pub failed_file: Option<String>,
    /// The journal's file.
    pub journal: String,
}

impl NextSteps {
    /// The command that lists the records in these states.
    fn list(&self, states: &[&str]) -> HintCommand {
        let show = storefront("journal show").arg(&self.journal).arg("--state");
        states.iter().fold(show, |show, state| show.arg(*state))
    }

    /// What to do about a record whose outcome is unknown.
    pub fn for_unknown(&self) -> Hint {
        hint!("check whether it took effect, then ", self.settle.clone())
    }

    /// What to do about records that failed permanently: these, of so many.
    pub fn fix(&self, lines: &[u64], count: u64) -> Hint {
        if self.is_plan {
            return "make a plan of the failed records again".into();
        }
        let (Self { place, resume, failed_file, .. }, lines) = (self, list_lines(lines, count));
        let places = if count == 1 { (*place).to_owned() } else { format!("{place}s") };
        let note = failed_file.as_ref().map(|file| format!("; `{file}` is only a report, do not run it"));
        let note = note.unwrap_or_default();
        hint!(format!("fix {places} {lines} in the input, then resume with "), resume.clone(), note)
    }
}

/// What became of the records, in one line.
pub fn sentence(operation: &str, count: RecordCounts, took: Duration) -> String {
    let successful = [(count.done_earlier, "already done"), (count.unchanged, "unchanged")];
    let parts = successful.into_iter().chain(unsuccessful_parts(count)).filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!(", {number} {what}")).collect();
    let (records, done) = (count_records(count.total()), count.done);
    format!("{operation}: {records}: {done} done{} ({})", parts.concat(), time(took))
}

/// The kind of failure a run ends with when not every record went through.
pub fn kind(count: RecordCounts) -> Option<FailureKind> {
    Some(match count {
        RecordCounts { failed: 1.., .. } | RecordCounts { refused_in_part: 1.., .. } => FailureKind::Partial,
        RecordCounts { unknown: 1.., .. } => FailureKind::Unknown,
        RecordCounts { mismatch: 1.., .. } => FailureKind::Mismatch,
        count if count.can_resume() => FailureKind::Unavailable,
        _ => return None,
    })
}

/// How many records did not go through, and how.
pub fn unsuccessful(count: RecordCounts) -> String {
    let mut parts = unsuccessful_parts(count).into_iter().filter(|(number, _)| *number > 0);
    let (number, what) = parts.next().unwrap_or((0, "failed"));
    let rest: Vec<String> = parts.map(|(number, what)| format!(", {number} {what}")).collect();
    format!("{number} of {} {what}{}", count_records(count.total()), rest.concat())
}

/// How to continue, for each way in which records did not go through: what is unknown first, what has to be corrected last.
/// `failed` are the first lines that failed permanently.
pub fn hint(count: RecordCounts, failed: &[u64], next: &NextSteps) -> Hint {
    let mut steps = Vec::new();
    if count.unknown > 0 {
        steps.push(hint!(
            "check which unknown records took effect (",
            next.list(&["unknown", "sending"]),
            " lists them), then ",
            next.settle.clone()
        ));
    }
    let fix = (count.failed > 0).then(|| next.fix(failed, count.failed));
    let is_said = fix.is_some() && !next.is_plan;
    let is_stopped = fix.is_none() && count.unknown + count.mismatch == 0;
    if count.refused_in_part > 0 {
        steps.push(hint!(
            "correct the records that were applied in part, then resume with ",
            next.resume.clone()
        ));
    } else if is_stopped || count.can_resume() && !is_said {
        steps.push(hint!("resume with ", next.resume.clone()));
    }
    if count.mismatch > 0 {
        steps.push(hint!(
            "compare the mismatched records with the shop (",
            next.list(&["mismatch"]),
            " lists them; the hint of each says how)"
        ));
    }
    steps.extend(fix);
    Hint::join(steps, "; ")
}

fn unsuccessful_parts(count: RecordCounts) -> [(u64, &'static str); 7] {
    [
        (count.failed, "failed"),
        (count.temporary - count.waiting_for_unknown - count.refused_in_part, "failed temporarily"),
        (count.refused_in_part, "applied in part"),
        (count.unknown, "unknown"),
        (count.waiting_for_unknown, "waiting for these"),
        (count.mismatch, "mismatched"),
        (count.not_sent, "not sent"),
    ]
}

/// The number of lines of one kind that are named.
pub const MAX_LINES: usize = 5;

/// The first lines of one kind, and how many there are besides.
pub fn list_lines(lines: &[u64], count: u64) -> String {
    let shown: Vec<String> = lines.iter().take(MAX_LINES).map(u64::to_string).collect();
    let more = count.saturating_sub(shown.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A number of records in words.
pub fn count_records(number: u64) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}

/// How many records are not shown: `and 1 more record`.
pub fn count_more_records(number: u64) -> String {
    format!("and {number} more record{}", if number == 1 { "" } else { "s" })
}
