//! What to do with a record: one decision, which the check, the question, `--dry-run`, the run and `apply` share.

use crate::batch::record::{self, PreparedRecord, RecordPreparer};
use crate::cli::BatchArgs;
use crate::input::records::{Columns, Record};
use crate::journal::read::{LatestEntry, PreviousRuns};
use crate::journal::{State, shard_contains};
use crate::report::ordered_results::RecordLocation;
use storefront_core::failure::Failure;
use storefront_core::operation::OperationSpec;

/// What the flags say about a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nothing but that the run is started or resumed.
    Resume,
    /// `--retry-unknown` or `--retry-failed` names it.
    Retry,
    /// `--mark-done` names it.
    Mark,
    /// `--restart`
    Restart,
    /// `--shard` or `--only` leave it out.
    Others,
}

impl Asked {
    /// What the flags say about the record with this name and state.
    pub fn of(args: &BatchArgs, line: u64, state: State) -> Self {
        match line {
            _ if args.restart => Self::Restart,
            line if args.marks_done(line) => Self::Mark,
            line if args.retries(line, state) => Self::Retry,
            _ => Self::Resume,
        }
    }
}

/// What to do with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Send it.
    Send,
    /// Look at it: an earlier run sent it, with unknown outcome, and nobody has looked yet.
    Look,
    /// Report it as the earlier run left it.
    Report,
    /// Note it as done.
    Mark,
    /// Refuse the run: its line was changed after it was sent.
    Refuse,
    /// Let it fail: sending the changed line cannot change what its first call created.
    RefuseRecord,
    /// Ignore it: it belongs to another part of the input, or was declined.
    NotOurs,
}

impl Decision {
    /// Whether a request that writes may leave for it.
    pub fn is_sent(self) -> bool {
        self == Self::Send
    }
}

/// What to do with a record with this hash and this latest entry in the journal.
pub fn decide(latest: LatestEntry, hash: u64, asked: Asked, operation: &OperationSpec) -> Decision {
    let is_changed = !latest.is_of(hash);
    match (latest.state, asked) {
        (_, Asked::Others) | (State::Declined, _) => Decision::NotOurs,
        (_, Asked::Restart) | (State::NotSent, _) => Decision::Send,
        // It may be marked whatever its line says: it, or its missing part, was done by hand.
        (State::FailedTemporary, Asked::Mark) => Decision::Mark,
        (State::FailedTemporary, _) if latest.is_partial && is_changed && operation.creates => {
            Decision::RefuseRecord
        }
        (State::FailedTemporary, _) => Decision::Send,
        (State::FailedPermanent, _) if is_changed && !latest.is_applied => Decision::Send,
        (_, _) if is_changed => Decision::Refuse,
        (State::FailedPermanent | State::Sending | State::Unknown, Asked::Mark) => Decision::Mark,
        (State::FailedPermanent, Asked::Retry) if !latest.is_applied => Decision::Send,
        (State::Sending | State::Unknown, _) if !latest.is_looked_at => Decision::Look,
        (State::Sending | State::Unknown, Asked::Retry) => Decision::Send,
        (State::FailedPermanent | State::Done | State::Mismatch | State::Sending | State::Unknown, _) => {
            Decision::Report
        }
    }
}

/// A record, and what to do with it.
pub struct Decided {
    /// Where it is, and its name.
    pub location: RecordLocation,
    /// What the journal knows of it.
    pub latest: LatestEntry,
    /// Its hash in the input.
    pub hash: u64,
    /// What to do.
    pub decision: Decision,
    /// The prepared record; `None` where its content decides nothing.
    pub prepared: Option<Result<PreparedRecord, Failure>>,
}

/// Where a record is, and its name.
pub fn location(past: &PreviousRuns, record: &Record) -> RecordLocation {
    let line = past.places().name(record.line);
    RecordLocation { record: record.number, line, now: Some(record.line).filter(|now| *now != line) }
}

impl RecordPreparer<'_> {
    /// The latest entry of a record, by its name; a declined record that `--only` names counts as never sent.
    fn latest(&self, past: &PreviousRuns, name: u64) -> LatestEntry {
        let latest = past.latest(name);
        let is_named =
            self.origin.plan().is_some_and(|plan| plan.only.as_ref().is_some_and(|only| only.contains(name)));
        if latest.state == State::Declined && is_named { LatestEntry::default() } else { latest }
    }

    /// Whether a record of a plan is sent; its line has not changed.
    pub fn is_sent(&self, past: &PreviousRuns, record: u64) -> bool {
        let latest = self.latest(past, record);
        let asked =
            if self.takes(record) { Asked::of(self.args, record, latest.state) } else { Asked::Others };
        decide(latest, latest.hash, asked, self.operation.spec()).is_sent()
    }

    /// What to do with a record after the earlier runs.
    pub fn decide(&self, past: &PreviousRuns, record: &Record, columns: Option<&Columns>) -> Decided {
        let args = self.args;
        let operation = self.operation.spec();
        let location = location(past, record);
        let latest = self.latest(past, location.line);
        let hash = record::hash(&record.content);
        // Only the content says which shard a record belongs to, and whether an attribute's code is doubled.
        let is_done = latest.state == State::Done && !args.restart;
        let is_read = !is_done || args.shard.is_some() || operation.unique_key.is_some();
        let is_ours = self.takes(record.number) && latest.state != State::Declined;
        let prepared = (is_ours && is_read).then(|| self.prepare(record, columns));
        let is_in_journal = latest.state != State::NotSent;
        let is_ours = is_ours
            && match &prepared {
                None => true,
                // The journal of a shard has no records of the others; a corrected record may belong to another shard
                // now.
                Some(Ok(prepared)) => {
                    is_in_journal && latest.is_of(hash) || shard_contains(args.shard, &prepared.key)
                }
                // A record that cannot be sent has no key: the first shard reports it.
                Some(Err(_)) => is_in_journal || record::is_first(args.shard),
            };
        let asked = if is_ours { Asked::of(args, location.line, latest.state) } else { Asked::Others };
        Decided { location, latest, hash, decision: decide(latest, hash, asked, operation), prepared }
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};
    use storefront_core::operation::{ATTRIBUTE_CREATE, QUOTE_SHIP};

    use super::{Asked, Decision, decide};
    use crate::journal::State;
    use crate::journal::read::LatestEntry;

    /// For each state, of a line that is as it was and of one that was changed: what is done under each flag.
    #[test]
    fn a_record_is_decided_by_its_state_its_line_and_the_flags() {
        let word = |decision| match decision {
            Decision::Send => "send",
            Decision::Look => "look",
            Decision::Report => "report",
            Decision::Mark => "mark",
            Decision::Refuse => "refuse",
            Decision::RefuseRecord => "fail",
            Decision::NotOurs => "-",
        };
        let cells = |words: [&str; 7]| {
            let [state, line, rest @ ..] = words;
            let rest = rest.iter().fold(String::new(), |cells, word| cells + &format!("{word:12}"));
            format!("{state:20}{line:10}{rest}").trim_end().to_owned() + "\n"
        };
        let mut table = cells(["", "", "resume", "retry", "mark", "restart", "others"]);
        let states = [
            ("not sent", State::NotSent, false, &QUOTE_SHIP),
            ("sending", State::Sending, false, &QUOTE_SHIP),
            ("unknown", State::Unknown, false, &QUOTE_SHIP),
            ("looked at", State::Unknown, false, &QUOTE_SHIP),
            ("done", State::Done, false, &QUOTE_SHIP),
            ("failed temporarily", State::FailedTemporary, false, &QUOTE_SHIP),
            ("partial", State::FailedTemporary, true, &QUOTE_SHIP),
            ("partial, created", State::FailedTemporary, true, &ATTRIBUTE_CREATE),
            ("failed", State::FailedPermanent, false, &QUOTE_SHIP),
            ("failed, applied", State::FailedPermanent, false, &QUOTE_SHIP),
            ("mismatch", State::Mismatch, false, &QUOTE_SHIP),
            ("declined", State::Declined, false, &QUOTE_SHIP),
        ];
        for (name, state, is_partial, operation) in states {
            for (line, hash) in [("same", 7), ("changed", 8)] {
                let is_looked_at = name == "looked at";
                let is_applied = name.ends_with("applied");
                let latest = LatestEntry {
                    state,
                    is_partial,
                    is_looked_at,
                    is_applied,
                    hash: 7,
                    ..LatestEntry::default()
                };
                let of = |asked| word(decide(latest, hash, asked, operation));
                let [resume, retry, mark] = [Asked::Resume, Asked::Retry, Asked::Mark].map(of);
                let [restart, others] = [Asked::Restart, Asked::Others].map(of);
                table += &cells([name, line, resume, retry, mark, restart, others]);
            }
        }
        assert_data_eq!(
            table,
            str![[r"
                              resume      retry       mark        restart     others
not sent            same      send        send        send        send        -
not sent            changed   send        send        send        send        -
sending             same      look        look        mark        send        -
sending             changed   refuse      refuse      refuse      send        -
unknown             same      look        look        mark        send        -
unknown             changed   refuse      refuse      refuse      send        -
looked at           same      report      send        mark        send        -
looked at           changed   refuse      refuse      refuse      send        -
done                same      report      report      report      send        -
done                changed   refuse      refuse      refuse      send        -
failed temporarily  same      send        send        mark        send        -
failed temporarily  changed   send        send        mark        send        -
partial             same      send        send        mark        send        -
partial             changed   send        send        mark        send        -
partial, created    same      send        send        mark        send        -
partial, created    changed   fail        fail        mark        send        -
failed              same      report      send        mark        send        -
failed              changed   send        send        send        send        -
failed, applied     same      report      report      mark        send        -
failed, applied     changed   refuse      refuse      refuse      send        -
mismatch            same      report      report      report      send        -
mismatch            changed   refuse      refuse      refuse      send        -
declined            same      -           -           -           -           -
declined            changed   -           -           -           -           -

"]]
        );
    }
}
