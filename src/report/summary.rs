//! How a run ended: what became of the records, why, and how to go on.

use std::collections::HashMap;
use std::time::Duration;

use super::progress::Count;
use super::style::time;
use crate::failure::{Failure, FailureKind};
use crate::sanitize::sanitize_line;

/// As many different reasons are counted; the rest are counted together.
const MAX_REASONS: usize = 50;
/// As many are shown.
const MAX_SHOWN: usize = 10;

/// The reasons records did not go through, counted.
#[derive(Debug, Default)]
pub struct Reasons {
    counted: HashMap<String, u64>,
    others: u64,
}

impl Reasons {
    /// Counts a failure. Messages that differ in numbers or quoted names only are one reason.
    pub fn count(&mut self, failure: &Failure) {
        // Masked while the record's own token is known.
        let reason = generalized(&sanitize_line(&failure.message));
        if self.counted.len() < MAX_REASONS || self.counted.contains_key(&reason) {
            *self.counted.entry(reason).or_default() += 1;
        } else {
            self.others += 1;
        }
    }

    /// A line for each, the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut reasons: Vec<(&String, &u64)> = self.counted.iter().collect();
        reasons.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
        let rest = self.others + reasons.iter().skip(MAX_SHOWN).map(|(_, count)| *count).sum::<u64>();
        let mut lines: Vec<String> = reasons
            .into_iter()
            .take(MAX_SHOWN)
            .map(|(reason, count)| format!("  {count} × {reason}"))
            .collect();
        if rest > 0 {
            lines.push(format!("  {rest} × other reasons"));
        }
        lines
    }
}

/// How to go on, as commands to type.
#[derive(Debug, Default)]
pub struct NextSteps {
    /// Goes on with the run.
    pub resume: String,
    /// Runs the file of failed records; none where it was not asked for.
    pub failed: Option<String>,
    /// Shows which records are unknown.
    pub show: String,
}

/// What became of the records, in one line.
pub fn sentence(operation: &str, count: Count, took: Duration) -> String {
    format!("{operation}: {}: {} ({})", count_records(count.total()), parts(count, true), time(took))
}

/// The failure a run ends with when not every record went through.
pub fn partial(count: Count, next: &NextSteps) -> Option<Failure> {
    let unsuccessful = count.failed + count.unknown + count.not_sent;
    (unsuccessful > 0).then(|| {
        let records = count_records(count.total());
        let message = parts(count, false).replacen(' ', &format!(" of {records} "), 1);
        Failure::new(FailureKind::Partial, message).hint(hint(count, next)).applied(count.applied())
    })
}

/// How to go on, for each way in which records did not go through.
pub fn hint(count: Count, next: &NextSteps) -> String {
    let permanent = count.failed - count.temporary;
    let mut steps = Vec::new();
    if permanent > 0 {
        steps.push(match &next.failed {
            Some(command) => format!("fix the failed records and run them: `{command}`"),
            None => format!("fix the failed records in the input, then run `{}`", next.resume),
        });
    }
    if count.temporary + count.not_sent > 0 {
        steps.push(format!("resume with `{}`", next.resume));
    }
    if count.unknown > 0 {
        steps.push(format!(
            "check whether the unknown records took effect (`{}` lists them); `{} --retry-unknown` sends them again",
            next.show, next.resume
        ));
    }
    if steps.is_empty() {
        steps.push(format!("resume with `{}`", next.resume));
    }
    steps.join("; ")
}

/// What became of the records, as counts.
pub fn counts(count: Count) -> String {
    parts(count, true)
}

fn parts(count: Count, successes: bool) -> String {
    let mut parts = Vec::new();
    if successes {
        parts.push(format!("{} done", count.done));
    }
    let mut part = |number: u64, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    if successes {
        part(count.already_done, "already done");
    }
    part(count.failed, "failed");
    part(count.unknown, "unknown");
    part(count.not_sent, "not sent");
    parts.join(", ")
}

/// A number of records in words.
pub fn count_records(number: u64) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}

/// How many records are not shown: `and 1 more record`.
pub fn count_more_records(number: u64) -> String {
    format!("and {number} more record{}", if number == 1 { "" } else { "s" })
}

/// The message with its numbers and quoted names left out, where it has any apart from the status.
fn generalized(message: &str) -> String {
    let mut general = String::with_capacity(message.len());
    let mut quoted = false;
    let mut word = String::new();
    let close = |word: &mut String, general: &mut String| {
        let is_name = word.len() > 3 && word.bytes().any(|byte| byte.is_ascii_digit());
        general.push_str(if is_name { "…" } else { word });
        word.clear();
    };
    for character in message.chars() {
        if character == '"' {
            close(&mut word, &mut general);
            general.push_str(if quoted { "…\"" } else { "\"" });
            quoted = !quoted;
        } else if quoted {
        } else if character.is_alphanumeric() || character == '-' || character == '_' {
            word.push(character);
        } else {
            close(&mut word, &mut general);
            general.push(character);
        }
    }
    close(&mut word, &mut general);
    general
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
                format!("the service answered 404: no product \"x{sku}\" at {sku}"),
            ));
        }
        reasons.count(&Failure::new(FailureKind::Refused, "the service answered 400"));
        assert_eq!(
            reasons.lines(),
            ["  2 × the service answered 404: no product \"…\" at …", "  1 × the service answered 400"]
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
