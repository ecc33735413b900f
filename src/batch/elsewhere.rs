//! What other runs sent of the records of a run: those of the sheet that a plan was made of, and those of other plans of it. A
//! plan's record is known by the hash of the row that it was made of, in its own journal, too.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::batch::made_of;
use crate::batch::record::RecordPreparer;
use crate::cli::hint::for_command;
use crate::journal::JournalHeader;
use crate::journal::known::{KnownRun, known_runs};
use crate::journal::open::{is_in_use, journals_of};
use crate::journal::read::{self, PreviousRun};
use crate::report::summary::{MAX_LINES, count_records, list_lines};
use crate::system::storage::{LogAccess, real_path};
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};

/// So long a plan of a file is one of the same input although the file differs: rows are added, and a file of another day has the
/// same name.
const SAME_INPUT: Duration = Duration::from_secs(20 * 60 * 60);

/// The records that other journals show as sent, by their hashes: each hash as often as it was sent, with its journal.
#[derive(Debug, Default)]
pub struct Elsewhere {
    sent: HashMap<u64, Vec<usize>>,
    journals: Vec<PathBuf>,
}

impl Elsewhere {
    /// Reads the other journals of the input of a run with this journal and this header: of a plan those of its sheet and of other
    /// plans of it, of a sheet those of plans. That of another input of the same division is refused where it is opened.
    ///
    /// # Errors
    /// `guard` for one that another process writes, and for one that cannot be read.
    pub async fn look(
        preparer: &RecordPreparer<'_>,
        journal: &Path,
        header: &JournalHeader,
    ) -> Result<Self, Failure> {
        let storage = &*preparer.session.context.storage;
        let mut found = Self::default();
        for path in others(preparer, journal, header)? {
            let unreadable =
                |error| Failure::guard(format!("cannot read journal `{}`: {error}", path.display()));
            let log = match storage.open_log(&path, LogAccess::Read) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                log => log.map_err(unreadable)?,
            };
            let Some(theirs) = read::header(&*log).map_err(unreadable)? else { continue };
            let is_same = |of: fn(&JournalHeader) -> &str| of(&theirs) == of(header);
            if !is_same(|it| &it.service) || !is_same(|it| &it.interface) || !is_same(|it| &it.operation) {
                continue;
            }
            if is_in_use(storage, &path).await? {
                let message =
                    format!("another run over this input is in progress: journal `{}`", path.display());
                return Err(Failure::guard(message).hint("wait for it to finish"));
            }
            let past = read::read(&path, &log, &theirs)?;
            for (_, latest) in past.records().filter(|(_, latest)| latest.may_be_applied()) {
                found.sent.entry(latest.hash).or_default().push(found.journals.len());
            }
            found.journals.push(path);
        }
        Ok(found)
    }

    /// How many records were sent.
    pub fn count(&self) -> usize {
        self.sent.values().map(Vec::len).sum()
    }

    /// How many were sent with each hash, here and in the run that left `past`.
    pub fn with(&self, past: &PreviousRun) -> HashMap<u64, u64> {
        let mut sent: HashMap<u64, u64> =
            self.sent.iter().map(|(hash, journals)| (*hash, journals.len() as u64)).collect();
        for (_, latest) in past.records().filter(|(_, latest)| latest.may_be_applied()) {
            *sent.entry(latest.hash).or_default() += 1;
        }
        sent
    }

    /// The journal in which a record with this hash was sent, beyond the `known` ones; each is taken once.
    pub fn take(&mut self, hash: u64, known: u64) -> Option<&Path> {
        let journals = self.sent.get_mut(&hash).filter(|journals| journals.len() as u64 > known)?;
        let journal = journals.pop()?;
        self.journals.get(journal).map(PathBuf::as_path)
    }

    /// Refuses a run that would send records which were sent elsewhere. Where it is meant to send them again, gives their number.
    ///
    /// # Errors
    /// `guard`, and those of the input.
    pub fn ensure_not_sent(
        mut self,
        preparer: &RecordPreparer<'_>,
        past: &PreviousRun,
    ) -> Result<u64, Failure> {
        if self.sent.is_empty() {
            return Ok(0);
        }
        let is_meant = preparer.args.restart
            || past.is_restarted
            || preparer.plan.is_some_and(|plan| plan.header.restart);
        let (mut count, mut numbers, mut first) = (0, Vec::new(), None);
        let mut reader = preparer.reader()?;
        while let Some(record) = reader.read()? {
            let decided = preparer.decide(past, &record, reader.columns());
            let is_counted = is_meant && decided.latest.may_be_applied();
            if !decided.decision.is_sent() || is_counted {
                continue;
            }
            let Some(journal) = self.take(decided.hash, known(preparer, record.number)) else { continue };
            first.get_or_insert_with(|| journal.to_owned());
            count += 1;
            if numbers.len() < MAX_LINES {
                numbers.push(record.line);
            }
        }
        match first.filter(|_| !is_meant) {
            Some(journal) => Err(refused(preparer, &numbers, count, &journal)),
            None => Ok(count),
        }
    }
}

/// The journals that may have records of this run, except its own.
fn others(
    preparer: &RecordPreparer<'_>,
    journal: &Path,
    header: &JournalHeader,
) -> Result<BTreeSet<PathBuf>, Failure> {
    let context = preparer.session.context;
    let input = match (preparer.plan, &header.made_of) {
        (None, _) => made_of(preparer, header.sha256.clone().unwrap_or_default())?,
        (Some(_), Some(input)) => input.clone(),
        (Some(_), None) => return Ok(BTreeSet::new()),
    };
    let is_same = |run: &KnownRun| match &run.header.made_of {
        Some(of) if of.sha256 == input.sha256 => true,
        // Rows may have been added to the file since, or be those of another day.
        Some(of) => {
            (of.input.is_some() && of.input == input.input || of.journal == input.journal)
                && run.is_newer_than(context.clock.now(), SAME_INPUT)
        }
        None => preparer.plan.is_some() && run.header.sha256.as_ref() == Some(&input.sha256),
    };
    let known = known_runs(context)?.into_iter().filter(is_same).map(|run| run.path);
    let mut others: BTreeSet<PathBuf> = known.collect();
    if preparer.plan.is_some() {
        others.insert(input.journal.into());
        if let Some(input) = input.input {
            let beside = journals_of(&*context.storage, Path::new(&input))?;
            others.extend(beside.into_iter().map(|(path, _)| path));
        }
    }
    others.remove(&real_path(journal));
    Ok(others)
}

/// How many equal ones were known as sent when this record was planned.
fn known(preparer: &RecordPreparer<'_>, record: u64) -> u64 {
    let planned = preparer.plan.zip(usize::try_from(record).ok());
    let planned = planned.and_then(|(plan, record)| plan.records.get(record.checked_sub(1)?));
    planned.and_then(|planned| planned.of).map_or(0, |of| of.sent)
}

fn refused(preparer: &RecordPreparer<'_>, numbers: &[u64], count: u64, journal: &Path) -> Failure {
    let (what, next) = match preparer.plan {
        Some(_) => ("plan", "make the plan again with --resume and --plan: it leaves them out"),
        None => ("input", "to send the others, make a plan of them with --resume and --plan"),
    };
    let (records, numbers) = (count_records(count), list_lines(numbers, count));
    let were = if count == 1 { "was" } else { "were" };
    let journal = journal.display().to_string();
    let show = storefront("history").arg(&*journal);
    let message = format!("{records} ({numbers}) of this {what} {were} sent already: journal `{journal}`");
    let next = hint!(show, format!(" shows what became of them; {next}"));
    Failure::guard(message).hint(for_command(next, preparer.session.global))
}
