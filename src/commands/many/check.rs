//! The whole input is checked before the first request leaves, in one pass that holds one record at a time.

use super::doubts::Doubts;
use super::intake::{self, Intake, Prepared};
use super::tokens::Own;
use crate::batch::fingerprint;
use crate::batch::past::Past;
use crate::batch::verdict::State;
use crate::cli::run::{RunArgs, Shard};
use crate::commands::Session;
use crate::failure::Failure;
use crate::input::records::{Record, Records, Source};

/// What the check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Records of this part of the input.
    pub records: u64,
    /// Whether one of them needs the run's own token.
    pub needs_token: bool,
}

/// Checks a file, and holds it against what an earlier run has done.
///
/// # Errors
/// `usage` for the first record that cannot be sent (unless `--skip-invalid`) and for an input without records;
/// `guard` when the journal is not this input's.
pub fn check(
    session: &Session<'_>,
    source: &Source,
    intake: &Intake<'_>,
    args: &RunArgs,
    past: &mut Past,
) -> Result<Checked, Failure> {
    let mut records = Records::open(source, |header| intake.columns(header))?;
    let mut checked = Checked::default();
    let mut comparison = Comparison::default();
    let mut doubts = Doubts::new(session.report, intake.work.operation());
    let mut slots = past.slots()?;
    let mut number = 0;
    while let Some(record) = records.read()? {
        number = record.number;
        let slot = slots
            .read()
            .map_err(|error| Failure::internal(format!("the journal's table cannot be read: {error}")))?;
        comparison.compare(&record, slot.state, slot.hash);
        match intake.prepare(&record, records.columns()) {
            Ok(prepared) if is_ours(args.shard, &prepared) => {
                checked.records += 1;
                checked.needs_token |= prepared.own == Own::Run && slot.state != State::Done;
                match slot.state {
                    State::Done => doubts.pass_over(&prepared),
                    _ => doubts.tell(record.number, &prepared),
                }
            }
            Ok(_) => {}
            Err(_) if args.skip_invalid => checked.records += u64::from(is_first(args.shard)),
            Err(failure) => return Err(refused(failure)),
        }
    }
    if number == 0 {
        return Err(Failure::usage(format!("{} holds no records; nothing was sent", source.name())));
    }
    comparison.verdict(source, past, number)?;
    doubts.tell_rest();
    Ok(checked)
}

/// Whether a record is of the part that is run.
pub fn is_ours(shard: Option<Shard>, prepared: &Prepared) -> bool {
    fingerprint::is_in(shard, &prepared.key)
}

/// A record that cannot be sent has no key: the first part reports it.
pub fn is_first(shard: Option<Shard>) -> bool {
    shard.is_none_or(|shard| shard.index == 0)
}

fn refused(failure: Failure) -> Failure {
    let message = if failure.message.contains("nothing was sent") {
        failure.message
    } else {
        format!("{}; nothing was sent", failure.message)
    };
    Failure { message, ..failure }
        .hint("mend the record and run the command again; --skip-invalid sends the others")
}

/// The input held against the hashes of an earlier run.
#[derive(Debug, Default)]
pub struct Comparison {
    same: u64,
    changed: u64,
    first: Option<(u64, u64)>,
}

impl Comparison {
    fn compare(&mut self, record: &Record, state: State, hash: u64) {
        if state == State::Fresh {
            return;
        }
        let same = intake::hash(&record.content) == hash;
        // Who failed may be mended.
        if same || matches!(state, State::FailedPassing | State::FailedLasting) {
            self.same += u64::from(same);
            return;
        }
        self.changed += 1;
        self.first.get_or_insert((record.number, record.line));
    }

    fn verdict(&self, source: &Source, past: &Past, records: u64) -> Result<(), Failure> {
        if !past.is_there() {
            return Ok(());
        }
        let name = source.name();
        let foreign = past.input != name || self.changed > 1;
        if self.same == 0 && self.changed > 0 && foreign {
            return Err(Failure::guard(format!(
                "the journal is of another input: none of its records is in {name}, it was written for {}; nothing was sent",
                past.input
            ))
            .hint("name another one with --journal; --restart throws it away and runs every record of this input"));
        }
        if let Some((record, line)) = self.first {
            let others =
                if self.changed > 1 { format!(", and {} more", self.changed - 1) } else { String::new() };
            return Err(changed(&name, record, line, &others));
        }
        if past.last() > records {
            return Err(Failure::guard(format!(
                "{name} ends after record {records}, and the journal knows record {}; nothing was sent",
                past.last()
            ))
            .hint("run the input it was written for; --restart throws the journal away"));
        }
        Ok(())
    }
}

/// A record that was sent reads otherwise now.
pub fn changed(name: &str, record: u64, line: u64, others: &str) -> Failure {
    Failure::guard(format!(
        "{name}: line {line} (record {record}{others}) was changed after it had been sent; nothing was sent now"
    ))
    .hint("put the line back as it was and append the change as a new record; --restart runs every record again")
}
