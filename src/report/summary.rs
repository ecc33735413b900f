//! How a run ended: what became of the records, and how to go on.

use std::time::Duration;

use super::style::time;
use crate::failure::{FailureKind, RecordCounts};

/// How to go on, as commands to type.
#[derive(Debug, Default)]
pub struct NextSteps {
    /// Whether the records are those of a plan, which cannot be corrected.
    pub is_plan: bool,
    /// Continues the run.
    pub resume: String,
    /// The same, and sends what is unknown again.
    pub retry_unknown: String,
    /// Whether that waits for 10 minutes: what is unknown may still take effect, and undo later updates.
    pub is_held_back: bool,
    /// Whether both read the same standard input again.
    pub with_same_input: bool,
    /// Runs the file of failed records; none where it was not asked for.
    pub failed: Option<String>,
    /// How many failed records are in a file of an earlier run.
    pub handed_out: u64,
    /// What is to be done about those.
    pub elsewhere: Option<String>,
    /// Shows which records are in the states that follow.
    pub show: String,
}

impl NextSteps {
    /// What to do about a record that failed for good.
    pub fn for_failed(&self) -> String {
        if self.is_plan {
            return "make a plan of the record again".to_owned();
        }
        format!("fix the record, then resume with `{}`", self.resume)
    }

    /// What to do about a record whose outcome is unknown.
    pub fn for_unknown(&self) -> String {
        format!("check whether it took effect; `{}` sends it again", self.retry_unknown)
    }
}

/// What became of the records, in one line.
pub fn sentence(operation: &str, count: RecordCounts, took: Duration) -> String {
    format!("{operation}: {}: {} ({})", count_records(count.total()), counts(count), time(took))
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
    let (number, what) = parts.next().unwrap_or_default();
    let rest: Vec<String> = parts.map(|(number, what)| format!(", {number} {what}")).collect();
    format!("{number} of {} {what}{}", count_records(count.total()), rest.concat())
}

/// How to go on, for each way in which records did not go through.
pub fn hint(count: RecordCounts, next: &NextSteps) -> String {
    let again = if next.with_same_input { " and the same input" } else { "" };
    let mut steps = Vec::from_iter(next.elsewhere.clone());
    let failed = count.failed - next.handed_out;
    if failed > 0 {
        steps.push(match &next.failed {
            Some(command) => format!("fix the failed records and run them: `{command}`"),
            None if next.is_plan => "make a plan of the failed records again".to_owned(),
            None => format!("fix the failed records in the input, then resume with `{}`", next.resume),
        });
    }
    let is_said = failed > 0 && next.failed.is_none() && !next.is_plan;
    if count.can_resume() && !is_said {
        steps.push(format!("resume with `{}`{again}", next.resume));
    }
    if count.unknown > 0 {
        let when = match (next.is_held_back, next.is_plan) {
            (true, true) => ", 10 minutes later",
            (true, false) => ", 10 minutes later or with --after-unknown",
            (false, _) => "",
        };
        steps.push(format!(
            "check whether the unknown records took effect (`{} unknown sending` lists them); `{}`{again} sends them again{when}",
            next.show, next.retry_unknown
        ));
    }
    if count.mismatch > 0 {
        steps.push(format!(
            "compare the mismatched records with the shop (`{} mismatch` lists them; the hint of each says how)",
            next.show
        ));
    }
    if steps.is_empty() {
        steps.push(format!("resume with `{}`{again}", next.resume));
    }
    steps.join("; ")
}

/// What became of the records, as counts.
pub fn counts(count: RecordCounts) -> String {
    let successful = [(count.done_earlier, "already done"), (count.unchanged, "unchanged")];
    let parts = successful.into_iter().chain(unsuccessful_parts(count)).filter(|(number, _)| *number > 0);
    let parts = parts.map(|(number, what)| format!(", {number} {what}"));
    format!("{} done{}", count.done, parts.collect::<String>())
}

fn unsuccessful_parts(count: RecordCounts) -> [(u64, &'static str); 5] {
    [
        (count.failed, "failed"),
        (count.temporary, "failed temporarily"),
        (count.unknown, "unknown"),
        (count.mismatch, "mismatched"),
        (count.not_sent, "not sent"),
    ]
}

/// A number of records in words.
pub fn count_records(number: u64) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}

/// How many records are not shown: `and 1 more record`.
pub fn count_more_records(number: u64) -> String {
    format!("and {number} more record{}", if number == 1 { "" } else { "s" })
}
