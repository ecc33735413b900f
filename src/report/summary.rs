//! How a run ended: what became of the records, why, and how to go on.

use std::collections::HashMap;
use std::time::Duration;

use super::style::time;
use crate::failure::{Failure, FailureKind, RecordCounts};
use crate::text::sanitize::message_line;

/// As many different reasons are counted; the rest are counted together.
const MAX_REASONS: usize = 50;
/// As many are shown.
const MAX_SHOWN: usize = 10;

/// The reasons records did not go through, counted.
#[derive(Debug, Default)]
pub struct Reasons {
    /// How many there are of each kind, and their message.
    counted: HashMap<String, (u64, String)>,
    others: u64,
}

impl Reasons {
    /// Counts a failure. Messages that differ in numbers or quoted names only are one reason.
    pub fn count(&mut self, failure: &Failure) {
        // Masked while the record's own token is known.
        let message = message_line(&failure.message);
        let kind = generalized(&message);
        if self.counted.len() >= MAX_REASONS && !self.counted.contains_key(&kind) {
            self.others += 1;
            return;
        }
        let (count, shown) = self.counted.entry(kind.clone()).or_insert_with(|| (0, message.clone()));
        *count += 1;
        if *shown != message {
            *shown = kind;
        }
    }

    /// Whether a reason is that of several records.
    pub fn are_counted(&self) -> bool {
        self.others > 0 || self.counted.values().any(|(count, _)| *count > 1)
    }

    /// A line for each, the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut reasons: Vec<&(u64, String)> = self.counted.values().collect();
        reasons.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        let rest = self.others + reasons.iter().skip(MAX_SHOWN).map(|(count, _)| count).sum::<u64>();
        let shown =
            reasons.into_iter().take(MAX_SHOWN).map(|(count, reason)| format!("  {count} × {reason}"));
        shown.chain((rest > 0).then(|| format!("  {rest} × other reasons"))).collect()
    }
}

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

/// The message without its quoted names, and without its words with digits but for the status.
fn generalized(message: &str) -> String {
    let separates = |one: char| !(one.is_alphanumeric() || "-_.:".contains(one));
    let mut before = String::new();
    let mut without_names = |part: &str| -> String {
        let pieces = part.split_inclusive(separates).map(|piece| {
            // An address of a host is one word; a dot or colon at the end belongs to the sentence.
            let word = piece.trim_end_matches(|one| separates(one) || one == '.' || one == ':');
            let is_status = std::mem::replace(&mut before, word.to_owned()) == "answered";
            let is_name = !is_status && word.contains(|one: char| one.is_ascii_digit());
            if is_name { format!("…{}", &piece[word.len()..]) } else { piece.to_owned() }
        });
        pieces.collect()
    };
    let parts = message.split('"').enumerate();
    let parts = parts.map(|(index, part)| if index % 2 == 1 { "…".to_owned() } else { without_names(part) });
    parts.collect::<Vec<_>>().join("\"")
}

#[cfg(test)]
mod tests {
    use super::Reasons;
    use crate::failure::{Failure, FailureKind};

    #[test]
    fn reasons_that_differ_in_names_are_one() {
        let mut reasons = Reasons::default();
        for sku in ["SKU-10001", "SKU-10002"] {
            reasons.count(&Failure::new(
                FailureKind::Refused,
                format!("127.0.0.1:80: the service answered 404: no product \"x{sku}\" at {sku}"),
            ));
        }
        for line in [2, 13, 20] {
            let message = format!("not sent: line {line}, of the same customer, failed and comes first");
            reasons.count(&Failure::new(FailureKind::Unavailable, message));
        }
        reasons.count(&Failure::new(FailureKind::Refused, "the service answered 400"));
        assert_eq!(
            reasons.lines(),
            [
                "  3 × not sent: line …, of the same customer, failed and comes first",
                "  2 × …: the service answered 404: no product \"…\" at …",
                "  1 × the service answered 400"
            ]
        );
    }

    #[test]
    fn reasons_without_end_are_bounded() {
        let mut reasons = Reasons::default();
        for number in 0..2000 {
            let word: String = format!("{number:b}").replace('0', "a").replace('1', "b");
            reasons.count(&Failure::new(FailureKind::Refused, word));
        }
        let lines = reasons.lines();
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (11, "  1990 × other reasons"));
    }
}
