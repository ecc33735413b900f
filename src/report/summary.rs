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
        let named = self.named(lines, count);
        let fix = hint!(format!("fix {named} in the input, then resume with "), self.resume.clone());
        hint!(fix, "; ", self.give_up_all(lines, count))
    }

    /// How to continue where other records can be sent before those that failed permanently are corrected.
    fn resume_first(&self, lines: &[u64], count: u64) -> Hint {
        let named = self.named(lines, count);
        let later = format!("; {named} can be fixed in the input before or after that");
        let resume = hint!("resume with ", self.resume.clone(), later);
        hint!(resume, "; ", self.give_up_all(lines, count))
    }

    /// `line 5`, or `lines 5, 6`
    fn named(&self, lines: &[u64], count: u64) -> String {
        let places = if count == 1 { self.place.to_owned() } else { format!("{}s", self.place) };
        format!("{places} {}", list_lines(lines, count))
    }

    fn give_up_all(&self, lines: &[u64], count: u64) -> Hint {
        let them = if count == 1 { "it" } else { "them" };
        hint!(format!("to give {them} up, run "), self.give_up(lines, count))
    }

    /// The command that notes records that failed permanently, so many of which these are the first, as done.
    pub fn give_up(&self, lines: &[u64], count: u64) -> HintCommand {
        let named = if lines.is_empty() || lines.len() as u64 != count {
            format!("{}S", self.place.to_uppercase())
        } else {
            lines.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
        };
        self.resume.clone().arg(format!("--mark-done={named}"))
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
    let is_said = count.failed > 0 && !next.is_plan;
    // The others do not wait until these are corrected. What is unknown is settled before, with a resumed run.
    let is_first = is_said && count.can_resume() && count.refused_in_part + count.unknown == 0;
    let fix = (count.failed > 0).then(|| {
        if is_first { next.resume_first(failed, count.failed) } else { next.fix(failed, count.failed) }
    });
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

/// What is said before records are sent once more.
pub fn sent_again(records: u64) -> String {
    format!("{} of an earlier run may have been applied, and would be sent again", count_records(records))
}

/// How many records are not shown: `and 1 more record`.
pub fn count_more_records(number: u64) -> String {
    format!("and {number} more record{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{NextSteps, hint};
    use storefront_core::failure::RecordCounts;
    use storefront_core::hint::storefront;

    fn next(is_plan: bool) -> NextSteps {
        NextSteps {
            resume: storefront("quote add-item --input a.csv --resume"),
            settle: "settle".into(),
            is_plan,
            place: "line",
            journal: "a.csv.journal".to_owned(),
        }
    }

    #[test]
    fn records_that_were_not_sent_do_not_wait_for_failed_ones_to_be_fixed() {
        let count = RecordCounts { done: 50, failed: 1, not_sent: 120, ..RecordCounts::default() };
        assert_eq!(
            hint(count, &[52], &next(false)).to_string(),
            "resume with `storefront quote add-item --input a.csv --resume`; line 52 can be fixed in the input before or after \
             that; to give it up, run `storefront quote add-item --input a.csv --resume --mark-done=52`"
        );
        let count = RecordCounts { failed: 7, not_sent: 0, ..count };
        assert_eq!(
            hint(count, &[2, 3, 4, 5, 6], &next(false)).to_string(),
            "fix lines 2, 3, 4, 5, 6 and 2 more in the input, then resume with `storefront quote add-item --input a.csv \
             --resume`; to give them up, run `storefront quote add-item --input a.csv --resume --mark-done=LINES`"
        );
    }
}
