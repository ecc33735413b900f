//! Records that another run sent, under another name or through a plan: additions must not be sent twice by mistake. The
//! log knows the records one by one, whatever became of journals and inputs.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::batch::command_line::OF_RESUMING;
use crate::batch::decide::Decided;
use crate::batch::record::{PreparedRecord, RecordPreparer};
use crate::batch::send::{Position, RunContext};
use crate::cli::command_line::{CommandLine, flag};
use crate::cli::hint::{for_command, typed};
use crate::input::records::{Columns, Content, Record};
use crate::journal::known::known_runs;
use crate::journal::open::is_in_use;
use crate::journal::read::PreviousRuns;
use crate::log::{SentBy, SentRecords, WriteLog};
use crate::plan::Planned;
use crate::report::changes::local;
use crate::report::summary::{MAX_LINES, count_records, list_lines};
use crate::system::storage::real_path;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::operation::QUOTE_ADD_ITEM;

/// How long a record counts as the same one; after that, the same sheet is that of another day.
const SAME_INPUT: Duration = Duration::from_secs(20 * 60 * 60);

/// The flag with which an update adds addresses that are stored already.
const ALLOW_DUPLICATE: &str = "--allow-duplicate";

/// Whether these flags of an operation let it add what is stored already.
pub fn allow_duplicates(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == ALLOW_DUPLICATE)
}

/// The records that a run is going to send.
#[derive(Debug, Default)]
pub struct ToSend {
    /// Whether the operation adds something; of no other operation anything is noted.
    adds: bool,
    records: Vec<OneToSend>,
}

#[derive(Debug)]
struct OneToSend {
    /// Its number.
    line: u64,
    /// The hash of its content.
    hash: u64,
    /// See [`RecordPreparer::identity`].
    identity: u64,
    /// How many equal ones were known as sent when it was planned.
    known: u64,
}

/// Those that were sent before.
#[derive(Debug, Default)]
pub struct Again {
    /// How many there are.
    pub count: u64,
    /// The numbers of the first ones.
    lines: Vec<u64>,
    /// The run that sent one of them.
    by: Option<SentBy>,
}

/// Whether the operation adds something each time that it is run, whatever the shop has.
fn adds(preparer: &RecordPreparer<'_>) -> bool {
    *preparer.operation.spec() == QUOTE_ADD_ITEM
        || allow_duplicates(&preparer.flags)
        || preparer.origin.plan().is_some_and(|plan| allow_duplicates(&plan.header.options))
}

impl ToSend {
    /// No records yet.
    pub fn new(preparer: &RecordPreparer<'_>) -> Self {
        Self { adds: adds(preparer), records: Vec::new() }
    }

    /// Notes a record, if it is sent. Records that this batch sent before are counted in its journal.
    pub fn note(
        &mut self,
        preparer: &RecordPreparer<'_>,
        record: &Record,
        columns: Option<&Columns>,
        decided: &Decided,
    ) {
        if !self.adds || !decided.decision.is_sent() || decided.latest.may_be_applied() {
            return;
        }
        if let Some(Ok(prepared)) = &decided.prepared {
            let identity = preparer.identity(record, columns, prepared);
            self.records.push(OneToSend {
                line: decided.location.line,
                hash: decided.hash,
                identity,
                known: known(preparer, &record.content),
            });
        }
    }

    /// The identity of a record, which is not made again where it was noted.
    pub fn identity(
        &self,
        preparer: &RecordPreparer<'_>,
        record: &Record,
        columns: Option<&Columns>,
        Position { location, hash }: Position,
        prepared: &PreparedRecord,
    ) -> u64 {
        let noted = self.records.binary_search_by_key(&location.line, |noted| noted.line);
        let noted = noted.ok().map(|at| &self.records[at]).filter(|noted| noted.hash == hash);
        noted.map_or_else(|| preparer.identity(record, columns, prepared), |noted| noted.identity)
    }

    /// Puts the records into the order of their numbers, once all are noted.
    pub fn sort(&mut self) {
        self.records.sort_unstable_by_key(|record| record.line);
    }

    /// Those of them that other runs than these have sent.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn sent(
        &self,
        shared: RunContext<'_>,
        log: &WriteLog,
        own: &[String],
    ) -> Result<SentRecords, Failure> {
        if self.records.is_empty() {
            return Ok(SentRecords::default());
        }
        let RunContext { service, preparer, .. } = shared;
        let now = service.session.context.clock.now();
        let since = now.checked_sub(SAME_INPUT).unwrap_or(now);
        let hashes: Vec<u64> = self.records.iter().map(|record| record.identity).collect();
        let of_service = service.settings.service_id().to_string();
        log.sent_records((&of_service, preparer.operation.spec().name), own, since, &hashes)
    }

    /// Those that were sent before.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn again(&self, shared: RunContext<'_>, log: &WriteLog, own: &[String]) -> Result<Again, Failure> {
        let mut sent = self.sent(shared, log, own)?;
        let mut again = Again::default();
        for record in &self.records {
            let Some(by) = sent.take(record.identity, record.known) else { continue };
            again.by.get_or_insert(by);
            again.count += 1;
            if again.lines.len() < MAX_LINES {
                again.lines.push(record.line);
            }
        }
        Ok(again)
    }
}

impl Again {
    /// Refuses a run over this journal that would send them again, unless that is intended, or a person agrees; `--yes`
    /// is not enough. Returns how many still need a yes: none if a person has agreed here.
    ///
    /// # Errors
    /// `guard`; [`Failure::cancelled`] by a no.
    pub fn ensure_meant(
        &self,
        preparer: &RecordPreparer<'_>,
        past: &PreviousRuns,
        journal: &Path,
    ) -> Result<u64, Failure> {
        let is_meant = preparer.args.restart
            || past.is_restarted
            || preparer.origin.plan().is_some_and(|plan| plan.header.restart);
        let Some(by) = self.by.as_ref().filter(|_| !is_meant) else { return Ok(self.count) };
        let refused = self.refused(preparer, by, journal);
        let session = preparer.session;
        let can_answer = !session.global.yes && !session.global.dry_run;
        match can_answer && session.prompt().accepts(&refused)? {
            true => Ok(0),
            false if can_answer => Err(Failure::cancelled()),
            false => Err(refused),
        }
    }

    fn refused(&self, preparer: &RecordPreparer<'_>, by: &SentBy, journal: &Path) -> Failure {
        let records = count_records(self.count);
        let lines = list_lines(&self.lines, self.count);
        let what = if preparer.origin.plan().is_some() { "plan" } else { "input" };
        let (were, them) = if self.count == 1 { ("was", "it") } else { ("were", "them") };
        let began = local(by.began, &TimeZone::system());
        let message = format!(
            "{records} ({lines}) of this {what} {were} sent already, by run {} of {began}: journal `{}`",
            by.run, by.journal
        );
        let show = storefront("history").arg(&*by.journal);
        let is_own = by.journal == real_path(journal).to_string_lossy();
        let next = match others(preparer) {
            _ if is_own => {
                let resume = storefront("resume").arg(by.run.to_string());
                hint!("; ", resume, " sends what is left of it")
            }
            Some(others) => hint!("; ", typed(&others), " makes a plan of the others"),
            None => Hint::from(""),
        };
        let hint = hint!(show, format!(" shows what became of {them}"), next);
        Failure::guard(message).hint(for_command(hint, preparer.session.global))
    }
}

/// The command that makes a plan of what was not sent of the input; `None` if the input has no name.
fn others(preparer: &RecordPreparer<'_>) -> Option<CommandLine> {
    let (line, input) = match preparer.origin.plan() {
        Some(plan) => {
            let input = plan.header.made_of.as_ref()?.input.clone()?;
            let words = plan.header.operation.split(' ').map(str::to_owned).collect();
            let line = CommandLine::of_words(words).with(flag("input", &input));
            (line.with(plan.header.options.clone()), input)
        }
        None if preparer.origin.source().is_stream => return None,
        None => {
            let line = preparer.session.global.typed.without(&OF_RESUMING);
            (line.without(&["--dry-run", "--yes"]), preparer.origin.source().path.display().to_string())
        }
    };
    let name = Path::new(&input).file_stem()?.to_string_lossy().into_owned();
    Some(line.with(vec!["--resume".to_owned()]).with(flag("plan", &format!("{name}-rest.plan"))))
}

/// How many records with each hash the journal of this batch shows as sent.
pub fn own(past: &PreviousRuns) -> HashMap<u64, u64> {
    let mut sent = HashMap::new();
    for (_, latest) in past.records().filter(|(_, latest)| latest.may_be_applied()) {
        *sent.entry(latest.hash).or_default() += 1;
    }
    sent
}

/// Refuses a run while another run of the same input is going on: neither knows what the other is going to send.
///
/// # Errors
/// `guard`.
pub async fn ensure_alone(
    preparer: &RecordPreparer<'_>,
    journal: &Path,
    sha256: Option<&str>,
) -> Result<(), Failure> {
    let context = preparer.session.context;
    let made_of = preparer.origin.plan().and_then(|plan| plan.header.made_of.as_ref()).map(|of| &*of.sha256);
    let ours = [sha256, made_of];
    let own = real_path(journal);
    for run in known_runs(context)?.into_iter().filter(|run| run.path != own) {
        let header = &run.header;
        let theirs = [header.sha256.as_deref(), header.made_of.as_ref().map(|of| &*of.sha256)];
        if theirs.into_iter().flatten().any(|theirs| ours.contains(&Some(theirs)))
            && header.shard.is_none()
            && header.operation == preparer.operation.spec().name
            && is_in_use(&*context.storage, &run.path).await?
        {
            let message =
                format!("another run over this input is in progress: journal `{}`", run.path.display());
            return Err(Failure::guard(message).hint("wait for it to finish"));
        }
    }
    Ok(())
}

/// How many equal records were known as sent when this record was planned.
fn known(preparer: &RecordPreparer<'_>, content: &Content) -> u64 {
    let (Some(_), Content::Json(text)) = (preparer.origin.plan(), content) else { return 0 };
    Planned::parse(text).and_then(|planned| planned.of).map_or(0, |of| of.sent)
}
