//! The end of a run: what became of the records, and how to continue.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ordered_results::RecordLocation;
use super::style::time;
use storefront_core::failure::{FailureKind, RecordCounts};
use storefront_core::hint::{Hint, HintCommand, hint, storefront};

/// How to continue, with the commands to type.
#[derive(Debug)]
pub struct NextSteps {
    /// The command that continues the run.
    pub resume: HintCommand,
    /// How to continue with unknown records after someone has checked them, and how long to wait for requests still under way.
    pub decide_unknown: Hint,
    /// Whether the records are those of a plan, which nobody corrects.
    pub is_plan: bool,
    /// The word for the places of records: `line` or `record`.
    pub place: &'static str,
    /// The journal's file.
    pub journal: String,
}

impl NextSteps {
    /// The command that lists the records in these states.
    fn list(&self, states: &[&str]) -> HintCommand {
        let show = storefront("history").arg(&self.journal).arg("--state");
        states.iter().fold(show, |show, state| show.arg(*state))
    }

    /// The hint for a record that an earlier run has written otherwise than it was asked for.
    pub fn for_mismatch(&self) -> Hint {
        hint!(storefront("verify").arg(&self.journal), " compares it with the shop")
    }

    /// The hint for a record whose outcome is unknown.
    pub fn for_unknown(&self) -> Hint {
        hint!("check whether it took effect, then ", self.decide_unknown.clone())
    }

    /// The hint for records that failed permanently: these first ones, `count` in all.
    pub fn fix(&self, lines: &[RecordLocation], count: u64) -> Hint {
        if self.is_plan {
            return "make a plan of the failed records again".into();
        }
        let named = self.named(lines, count);
        let fix = hint!(format!("fix {named} in the input, then resume with "), self.resume.clone());
        hint!(fix, "; ", self.give_up_all(lines, count))
    }

    /// The hint for records that the shop does not allow: these first ones, `count` in all.
    pub fn retry(&self, lines: &[RecordLocation], count: u64) -> Hint {
        let named = self.numbers(lines, count);
        let retry = self.resume.clone().arg(format!("--retry-failed={named}"));
        hint!("once the shop allows it, resume with ", retry)
    }

    /// The hint if other records can be sent before those that failed permanently are corrected.
    fn resume_first(&self, lines: &[RecordLocation], count: u64) -> Hint {
        let named = self.named(lines, count);
        let later = format!("; {named} can be fixed in the input before or after that");
        let resume = hint!("resume with ", self.resume.clone(), later);
        hint!(resume, "; ", self.give_up_all(lines, count))
    }

    /// `line 5`, `line 5 (now 7)`, or `lines 5, 6`
    fn named(&self, lines: &[RecordLocation], count: u64) -> String {
        let places = if count == 1 { self.place.to_owned() } else { format!("{}s", self.place) };
        format!("{places} {}", list(lines.iter().map(RecordLocation::numbers), count))
    }

    fn give_up_all(&self, lines: &[RecordLocation], count: u64) -> Hint {
        let them = if count == 1 { "it" } else { "them" };
        hint!(format!("to give {them} up, run "), self.give_up(lines, count))
    }

    /// The command that notes records that failed permanently as done: these first ones, `count` in all.
    pub fn give_up(&self, lines: &[RecordLocation], count: u64) -> HintCommand {
        self.resume.clone().arg(format!("--mark-done={}", self.numbers(lines, count)))
    }

    /// These lines as a list if they are all, else a placeholder such as `LINES`.
    fn numbers(&self, lines: &[RecordLocation], count: u64) -> String {
        if lines.is_empty() || lines.len() as u64 != count {
            format!("{}S", self.place.to_uppercase())
        } else {
            lines.iter().map(|place| place.line.to_string()).collect::<Vec<_>>().join(",")
        }
    }
}

/// The first lines of records that failed permanently, and how many there are.
#[derive(Debug, Default)]
pub struct FailedLines {
    lines: BTreeMap<u64, RecordLocation>,
    count: u64,
}

impl FailedLines {
    /// Adds the record in this place.
    pub fn add(&mut self, place: RecordLocation) {
        self.count += 1;
        self.lines.insert(place.line, place);
        if self.lines.len() > MAX_LINES {
            self.lines.pop_last();
        }
    }

    fn first(&self) -> Vec<RecordLocation> {
        self.lines.values().copied().collect()
    }
}

/// The records that failed permanently, by their remedy.
#[derive(Debug, Default)]
pub struct Failed {
    /// They have to be corrected in the input.
    pub at_fault: FailedLines,
    /// The shop does not allow them: they are sent again unchanged once it does.
    pub of_shop: FailedLines,
}

/// What became of the records, in one line.
pub fn sentence(operation: &str, count: RecordCounts, took: Duration) -> String {
    let successful = [(count.done_earlier, "already done"), (count.unchanged, "unchanged")];
    let parts = successful.into_iter().chain(unsuccessful_parts(count)).filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!(", {number} {what}")).collect();
    let records = count_records(count.total());
    let done = count.done;
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

/// The steps to continue, for each way in which records failed: unknown ones first, records to correct last.
pub fn hint(count: RecordCounts, failed: &Failed, next: &NextSteps) -> Hint {
    let mut steps = Vec::new();
    if count.unknown > 0 {
        steps.push(hint!(
            "check which unknown records took effect (",
            next.list(&["unknown", "sending"]),
            " lists them), then ",
            next.decide_unknown.clone()
        ));
    }
    let to_correct = failed.at_fault.count;
    let lines = failed.at_fault.first();
    let is_said = to_correct > 0 && !next.is_plan;
    // The other records do not wait for these corrections. Unknown ones are decided before, with a resumed run.
    let is_first = is_said && count.can_resume() && count.refused_in_part + count.unknown == 0;
    let fix = (to_correct > 0)
        .then(|| if is_first { next.resume_first(&lines, to_correct) } else { next.fix(&lines, to_correct) });
    let of_shop = &failed.of_shop;
    let retry = (of_shop.count > 0).then(|| next.retry(&of_shop.first(), of_shop.count));
    let is_stopped = fix.is_none() && retry.is_none() && count.unknown + count.mismatch == 0;
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
    steps.extend(retry);
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

/// The most lines of one kind that are named.
pub const MAX_LINES: usize = 5;

/// The first lines of one kind, and the number of the others.
pub fn list_lines(lines: &[u64], count: u64) -> String {
    list(lines.iter().map(u64::to_string), count)
}

fn list(lines: impl Iterator<Item = String>, count: u64) -> String {
    let shown: Vec<String> = lines.take(MAX_LINES).collect();
    let more = count.saturating_sub(shown.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A number of records in words.
pub fn count_records(number: u64) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}

/// The warning before records are sent again.
pub fn sent_again(records: u64) -> String {
    format!("{} of an earlier run may have been applied, and would be sent again", count_records(records))
}

/// How many records are not shown: `and 1 more record`.
pub fn count_more_records(number: u64) -> String {
    format!("and {number} more record{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{Failed, NextSteps, RecordLocation, hint};
    use storefront_core::failure::RecordCounts;
    use storefront_core::hint::storefront;

    fn next(is_plan: bool) -> NextSteps {
        NextSteps {
            resume: storefront("resume 1"),
            decide_unknown: "settle".into(),
            is_plan,
            place: "line",
            journal: "a.csv.journal".to_owned(),
        }
    }

    fn at(line: u64) -> RecordLocation {
        RecordLocation { record: line - 1, line, now: None }
    }

    fn failed(lines: impl IntoIterator<Item = u64>) -> Failed {
        let mut failed = Failed::default();
        lines.into_iter().for_each(|line| failed.at_fault.add(at(line)));
        failed
    }

    #[test]
    fn what_the_shop_does_not_allow_is_not_to_be_corrected() {
        let count = RecordCounts { failed: 2, ..RecordCounts::default() };
        let mut failed = failed([3]);
        failed.of_shop.add(at(7));
        assert_eq!(
            hint(count, &failed, &next(false)).to_string(),
            "fix line 3 in the input, then resume with `storefront resume 1`; to give it up, run \
             `storefront resume 1 --mark-done=3`; once the shop allows it, resume with `storefront \
             resume 1 --retry-failed=7`"
        );
    }

    #[test]
    fn records_that_were_not_sent_do_not_wait_for_failed_ones_to_be_fixed() {
        let count = RecordCounts { done: 50, failed: 1, not_sent: 120, ..RecordCounts::default() };
        assert_eq!(
            hint(count, &failed([52]), &next(false)).to_string(),
            "resume with `storefront resume 1`; line 52 can be fixed in the input before or after \
             that; to give it up, run `storefront resume 1 --mark-done=52`"
        );
        let count = RecordCounts { failed: 7, not_sent: 0, ..count };
        assert_eq!(
            hint(count, &failed(2..=8), &next(false)).to_string(),
            "fix lines 2, 3, 4, 5, 6 and 2 more in the input, then resume with `storefront resume 1`; \
             to give them up, run `storefront resume 1 --mark-done=LINES`"
        );
    }
}
