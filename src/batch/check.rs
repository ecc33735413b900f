//! The whole input is checked before the first request leaves, in one pass that holds one record at a time.

use std::collections::HashSet;

use crate::batch::record::{self, PreparedRecord, RecordPreparer};
use crate::batch::token::TokenSource;
use crate::cli::batch::BatchArgs;
use crate::failure::Failure;
use crate::input::document;
use crate::input::records::{Record, RecordReader, Source};
use crate::journal::read::{IndexEntry, PreviousRun};
use crate::journal::{self, Fnv1a, RecordState, Shard};
use crate::plan::operation::Operation;
use crate::report::{Report, summary};
use crate::session::Session;

/// As many invalid records are named.
const MAX_NAMED: usize = 20;

/// What the check found.
#[derive(Debug, Default)]
pub struct PreflightReport {
    /// Records of this part of the input.
    pub records: u64,
    /// Of these, how many are going to be sent.
    pub to_send: u64,
    /// Whether one of them needs the run's own token.
    pub needs_token: bool,
}

/// Checks a file, and holds it against what earlier runs have done.
///
/// # Errors
/// `usage` for records that cannot be sent (unless `--skip-invalid`) and for an input without records; `guard` when the
/// journal is not this input's, and with `--restart` for a record that another journal shows as sent.
pub fn run(
    session: &Session<'_>,
    source: &Source,
    preparer: &RecordPreparer<'_>,
    args: &BatchArgs,
    past: &PreviousRun,
) -> Result<PreflightReport, Failure> {
    let mut records = RecordReader::open(source, |header| preparer.columns(header))?;
    let mut checked = PreflightReport::default();
    let mut comparison = JournalComparison::default();
    let mut invalid = Invalid::default();
    let mut doubts = WarningCollector::new(session.report, preparer.operation.operation());
    let mut slots = past.entries();
    let mut number = 0;
    while let Some(record) = records.read()? {
        number = record.number;
        let hash = record::hash(&record.content);
        let slot = slots.read(hash)?;
        comparison.compare(&record, hash, slot);
        if is_settled(slot, hash, args, preparer.operation.operation()) {
            checked.records += 1;
            continue;
        }
        match preparer.prepare(&record, records.columns()) {
            Ok(prepared) if in_shard(args.shard, &prepared) => {
                if args.restart && slot.state != RecordState::NotSent {
                    return Err(settled_elsewhere(&record, past, slot));
                }
                let is_sent = is_to_be_sent(slot, hash, args.retry_unknown);
                checked.records += 1;
                checked.to_send += u64::from(is_sent);
                checked.needs_token |= prepared.token_source == TokenSource::Shared && is_sent;
                match slot.state {
                    RecordState::Done => doubts.note_done(&prepared),
                    _ => doubts.emit(record.number, &prepared),
                }
            }
            Ok(_) => {}
            Err(_) if args.skip_invalid => checked.records += u64::from(is_first_shard(args.shard)),
            Err(failure) => invalid.add(failure),
        }
    }
    invalid.verdict()?;
    if number == 0 {
        return Err(Failure::usage(format!("{} contains no records", document::quoted(&source.name()))));
    }
    comparison.ensure_matches(source, past, number)?;
    doubts.emit_suppressed_count();
    Ok(checked)
}

/// Whether a record needs no second check: it was checked before it was sent, and is not sent again. Which shard a record
/// belongs to, and whether an attribute's code is doubled, only its content says.
fn is_settled(slot: IndexEntry, hash: u64, args: &BatchArgs, operation: Operation) -> bool {
    slot.state == RecordState::Done
        && slot.hash == hash
        && args.shard.is_none()
        && !args.restart
        && operation != Operation::AttributeCreate
}

/// Whether a record that earlier runs left so is sent now.
fn is_to_be_sent(slot: IndexEntry, hash: u64, retry_unknown: bool) -> bool {
    match slot.state {
        RecordState::NotSent | RecordState::FailedTemporary => true,
        RecordState::Done => false,
        RecordState::Sending | RecordState::Unknown => retry_unknown,
        RecordState::FailedPermanent => slot.hash != hash,
    }
}

/// Starting again from nothing would send what another journal shows as sent.
fn settled_elsewhere(record: &Record, past: &PreviousRun, slot: IndexEntry) -> Failure {
    let journal = past.neighbour(slot).unwrap_or_default();
    Failure::guard(format!("journal `{journal}` shows record {} as {}", record.number, slot.state.name()))
        .hint(format!("use --resume, or remove `{journal}` if its records are to be sent again"))
}

/// Records that cannot be sent: all of them are counted, the first are named.
#[derive(Debug, Default)]
struct Invalid {
    first: Option<Failure>,
    others: Vec<String>,
    count: usize,
}

impl Invalid {
    fn add(&mut self, failure: Failure) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(failure);
        } else if self.count <= MAX_NAMED {
            self.others.push(failure.message);
        }
    }

    fn verdict(self) -> Result<(), Failure> {
        let Some(first) = self.first else { return Ok(()) };
        let mut lines = vec![first.message.clone()];
        lines.extend(self.others);
        if self.count > MAX_NAMED {
            lines.push(summary::count_more_records((self.count - MAX_NAMED) as u64));
        }
        let message = lines.join("\n");
        let hint = if self.count == 1 {
            "fix the record and try again; --skip-invalid sends the others"
        } else {
            "fix these records and try again; --skip-invalid sends the others"
        };
        Err(Failure { message, ..first }.hint(hint))
    }
}

/// Whether a record is of the part that is run.
pub fn in_shard(shard: Option<Shard>, prepared: &PreparedRecord) -> bool {
    journal::shard_contains(shard, &prepared.key)
}

/// A record that cannot be sent has no key: the first part reports it.
pub fn is_first_shard(shard: Option<Shard>) -> bool {
    shard.is_none_or(|shard| shard.index == 0)
}

/// The input held against the hashes of an earlier run.
#[derive(Debug, Default)]
pub struct JournalComparison {
    same: u64,
    changed: u64,
    first: Option<(u64, u64)>,
}

impl JournalComparison {
    fn compare(&mut self, record: &Record, hash: u64, slot: IndexEntry) {
        // Another journal's word counts only where the hash is the same.
        if slot.state == RecordState::NotSent || slot.journal > 0 {
            return;
        }
        let same = !is_changed(slot, hash);
        // Records that failed may be changed.
        if same || matches!(slot.state, RecordState::FailedTemporary | RecordState::FailedPermanent) {
            self.same += u64::from(same);
            return;
        }
        self.changed += 1;
        self.first.get_or_insert((record.number, record.line));
    }

    fn ensure_matches(&self, source: &Source, past: &PreviousRun, records: u64) -> Result<(), Failure> {
        if !past.exists() {
            return Ok(());
        }
        let name = document::quoted(&source.name());
        if self.same == 0 && self.changed > 1 {
            return Err(Failure::guard(format!(
                "the journal belongs to a different input: none of the records it shows as sent are in {name}"
            ))
            .hint("choose another with --journal, or use --restart"));
        }
        if let Some((record, line)) = self.first {
            let others =
                if self.changed > 1 { format!(", and {} more", self.changed - 1) } else { String::new() };
            return Err(changed(&source.name(), record, line, &others));
        }
        if past.last() > records {
            return Err(Failure::guard(format!(
                "{name} has only {records} records, but the journal covers record {}",
                past.last()
            ))
            .hint("use the original input, or --restart"));
        }
        Ok(())
    }
}

/// Whether the line of a record is another one than when it was written of.
pub fn is_changed(slot: IndexEntry, hash: u64) -> bool {
    slot.hash != hash && slot.hash != 0
}

/// A record that was sent reads otherwise now.
pub fn changed(name: &str, record: u64, line: u64, others: &str) -> Failure {
    Failure::guard(format!(
        "{name}: line {line} (record {record}{others}) was changed after it had been sent"
    ))
    .hint("restore the line and append the change as a new record, or use --restart")
}

/// As many warnings are printed one by one.
const MAX_SHOWN: u64 = 20;
/// As many keys are remembered to find duplicates.
const MAX_KEYS: usize = 100_000;

/// Looks at records as they come.
pub struct WarningCollector {
    report: Report,
    operation: Operation,
    keys: HashSet<u64>,
    found: u64,
}

impl WarningCollector {
    /// For records of one operation.
    pub fn new(report: &Report, operation: Operation) -> Self {
        Self { report: *report, operation, keys: HashSet::new(), found: 0 }
    }

    /// Prints the warnings about a record.
    pub fn emit(&mut self, record: u64, prepared: &PreparedRecord) {
        let duplicate =
            self.duplicate(&prepared.key).map(|key| format!("duplicate {key} `{}`", prepared.key));
        for doubt in prepared.body.warnings().iter().chain(&duplicate) {
            self.found += 1;
            if self.found <= MAX_SHOWN {
                self.report.for_record(record).warn(doubt);
            }
        }
    }

    /// Remembers a record that is done: a later one with the same code still gets the warning.
    pub fn note_done(&mut self, prepared: &PreparedRecord) {
        self.duplicate(&prepared.key);
    }

    /// Counts those that were not printed.
    pub fn emit_suppressed_count(&self) {
        if self.found > MAX_SHOWN {
            self.report.warn(&format!("{} more warnings not shown", self.found - MAX_SHOWN));
        }
    }

    /// What the key is called, where it is not the first of its kind and has to be.
    fn duplicate(&mut self, key: &str) -> Option<&'static str> {
        let called = self.operation.spec().unique_key?;
        let hash = Fnv1a::new().update(key.as_bytes()).finish();
        let is_known = self.keys.contains(&hash);
        if !is_known && self.keys.len() < MAX_KEYS {
            self.keys.insert(hash);
        }
        is_known.then_some(called)
    }
}
