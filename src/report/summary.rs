//! How a run ended: what became of the records, why, and how to go on.

use std::collections::HashMap;
use std::time::Duration;

use super::escape::one_line;
use super::progress::{Count, time};
use crate::failure::{Applied, Failure, Kind};

/// As many different reasons are counted; the rest are counted together.
const MOST_REASONS: usize = 50;
/// As many are shown.
const SHOWN: usize = 10;

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
        let reason = generalized(&one_line(&failure.message));
        if self.counted.len() < MOST_REASONS || self.counted.contains_key(&reason) {
            *self.counted.entry(reason).or_default() += 1;
        } else {
            self.others += 1;
        }
    }

    /// A line for each, the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut reasons: Vec<(&String, &u64)> = self.counted.iter().collect();
        reasons.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
        let rest = self.others + reasons.iter().skip(SHOWN).map(|(_, count)| *count).sum::<u64>();
        let mut lines: Vec<String> =
            reasons.into_iter().take(SHOWN).map(|(reason, count)| format!("  {count} × {reason}")).collect();
        if rest > 0 {
            lines.push(format!("  {rest} × other reasons"));
        }
        lines
    }
}

/// What became of the records, in one line.
pub fn sentence(operation: &str, count: Count, took: Duration) -> String {
    let mut parts = vec![format!("{} done", count.done)];
    let mut part = |number: u64, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    part(count.earlier, "done earlier");
    part(count.failed, "failed");
    part(count.unknown, "unknown");
    part(count.untaken, "not sent");
    format!("{operation}: {}: {} ({})", records(count.total()), parts.join(", "), time(took))
}

/// The failure a run ends with when not every record went through.
pub fn partial(count: Count, resume: &str) -> Option<Failure> {
    let mut parts = Vec::new();
    if count.failed > 0 {
        parts.push(format!("{} failed", count.failed));
    }
    if count.unknown > 0 {
        parts.push(format!("{} unknown: nobody knows whether they were applied", count.unknown));
    }
    if count.untaken > 0 {
        parts.push(format!("{} not sent", count.untaken));
    }
    if parts.is_empty() {
        return None;
    }
    let applied = match (count.unknown, count.done + count.earlier) {
        (1.., _) => Applied::Unknown,
        (_, 1..) => Applied::Yes,
        _ => Applied::No,
    };
    let message = format!("of {}, {}", records(count.total()), parts.join(", "));
    Some(Failure::new(Kind::Partial, message).hint(resume).applied(applied))
}

/// A number of records in words.
pub fn records(number: u64) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}

/// The message with its numbers and quoted names left out, where it has any beside the status.
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
    use crate::failure::{Failure, Kind};

    #[test]
    fn reasons_that_differ_in_names_are_one() {
        let mut reasons = Reasons::default();
        for sku in ["SKU-10001", "SKU-10002"] {
            reasons.count(&Failure::new(
                Kind::Refused,
                format!("the service answered 404: no product \"x{sku}\" at {sku}"),
            ));
        }
        reasons.count(&Failure::new(Kind::Refused, "the service answered 400"));
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
            reasons.count(&Failure::new(Kind::Refused, word));
        }
        let lines = reasons.lines();
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (11, "  1990 × other reasons"));
    }
}
