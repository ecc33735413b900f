//! The operations over many records (docs/journal.md): check → journal → run → summary.

pub mod after;
mod assignments;
mod check;
mod command_line;
pub mod decide;
mod dry_run;
mod identity;
pub mod listing;
mod looks;
pub mod origin;
pub mod pace;
pub mod queue;
mod record;
pub mod records;
mod rows;
mod run;
mod same_input;
mod send;
mod sent;
pub mod states;
mod token;
pub mod undone;

use std::cell::RefCell;
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use clap::ValueEnum;
use futures_util::FutureExt;
use tokio::time::Instant;

use crate::batch::check::Checked;
use crate::batch::origin::Origin;
use crate::batch::pace::Pace;
use crate::batch::record::{RecordPreparer, hash};
use crate::batch::run::{Run, RunInput};
use crate::batch::send::RunContext;
use crate::batch::token::{RunToken, placeholders};
use crate::cli::{BatchArgs, GlobalArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::config::{Settings, TokenCommand};
use crate::journal::known::in_log;
use crate::journal::open::{Files, Opening};
use crate::journal::read::PreviousRuns;
use crate::journal::write::{Journal, journal};
use crate::journal::{Entry, JournalHeader, MadeOf, State};
use crate::log::{NewRun, WriteLog, new_uuid};
use crate::ops::{Operation, refuse_single_flag};
use crate::plan::{PLAN_AGAIN, Seen, Watcher, applying, is_there, journal_of};
use crate::report::Report;
use crate::report::summary::{count_records, sent_again};
use crate::state;
use crate::system::storage::{Lock, Log, real_path};
use storefront_core::effect::Kind;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, HintCommand, hint};
use storefront_core::interface::request::Bearer;
use storefront_core::operation::{OperationSpec, UNDO_OWNER, scalar};
use storefront_core::text::hash::fnv1a;

/// Runs an operation over many records.
///
/// # Errors
/// `usage` and `guard` before anything is sent; `partial`, `unknown`, `mismatch` or `unavailable` when some records did
/// not go through; `interrupted`; what stopped the run: `auth`, `refused`, or `internal` where the journal cannot be written.
pub async fn run(session: &Session<'_>, origin: Origin, operation: &dyn Operation) -> Result<(), Failure> {
    // Otherwise its columns would be refused, as not those of the interface.
    operation.spec().ensure_in(session.dialect)?;
    refuse_single_flag(operation, "batch input")?;
    refuse_two_words(&session.global.batch)?;
    if session.global.customer.is_some() {
        return Err(Failure::usage("--customer is one customer, and this input has many records")
            .hint("name the customer of each record in its field or column `customer`"));
    }
    // An input without a name has its journal by its content, which may be corrected before the run is resumed.
    let args = &session.global.batch;
    if origin.source().is_stream && args.journal.is_none() && args.resume {
        return Err(Failure::usage("which run is resumed is unknown: the input has no name")
            .hint("name the journal of the earlier run with --journal FILE; its last message has it"));
    }
    let origin = origin.copied(session.context)?;
    let mut report: Report = session.report.clone();
    report.place = origin.source().place();
    let session = &Session { report: &report, ..*session };
    let service = Service::open(session).await?;
    Box::pin(run_over(&service, &origin, operation)).await
}

/// Refuses a record that is named as sent again and as done.
fn refuse_two_words(args: &BatchArgs) -> Result<(), Failure> {
    let marked = args.mark_done.as_ref();
    let mut twice = args
        .named()
        .filter_map(|(flag, lines)| Some((flag, lines.common(marked?)?)).filter(|_| flag != "--mark-done"));
    match twice.next() {
        Some((flag, line)) => Err(Failure::usage(format!("{line} is in {flag} and in --mark-done"))
            .hint(format!("--mark-done is for what took effect, {flag} for what did not"))),
        None => Ok(()),
    }
}

async fn run_over(service: &Service<'_>, origin: &Origin, operation: &dyn Operation) -> Result<(), Failure> {
    if let Some(plan) = origin.plan() {
        applying::admit(service, plan)?;
    }
    with_context(service, origin, operation, async |shared| {
        if shared.global.dry_run {
            Box::pin(dry_run::run(shared)).await
        } else {
            Box::pin(send_records(shared)).await
        }
    })
    .await
}

/// Runs `task` with what all records of an input share.
async fn with_context(
    service: &Service<'_>,
    origin: &Origin,
    operation: &dyn Operation,
    task: impl AsyncFnOnce(RunContext<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let session = service.session;
    if operation.spec().bearer == Bearer::Customer {
        service.target()?;
    }
    let bearer = bearer(&service.settings, operation.spec());
    let command = service.settings.token_for(bearer).token_command();
    let prints_one = |command: &&TokenCommand| placeholders(command).is_empty();
    // A record that names the batch's own token has the same key as records without a token.
    let is_known = command.is_none_or(|command| prints_one(&command)) && !session.global.dry_run;
    let token = if is_known { service.token(bearer).await.ok().cloned() } else { None };
    let preparer = &RecordPreparer::new(service, origin, operation, command, token);
    let run_token = &RunToken::new(command.filter(prints_one).cloned());
    let admin_command = service.settings.token_for(Bearer::Admin).token_command();
    let admin_run_token = &RunToken::new(admin_command.filter(prints_one).cloned());
    // The records are not asked about one by one: a yes to the batch, or to its plan, is a yes to each of them.
    let yes = session.global.yes || origin.plan().is_some() || session.prompt().can_ask();
    let global = &GlobalArgs { yes, no_input: true, ..session.global.clone() };
    let args = session.global.pace;
    let pace = Rc::new(RefCell::new(Pace::new(args.jobs(), args.rate)));
    let paced = pace.clone();
    let observe = move |signal| paced.borrow_mut().on_signal(signal, Instant::now());
    service.client.observe(Box::new(observe));
    task(RunContext { service, global, preparer, run_token, admin_run_token, pace: &pace }).await
}

/// Looks, checks, asks, begins, and sends: no write leaves before all of the input was checked.
async fn send_records(shared: RunContext<'_>) -> Result<(), Failure> {
    let service = shared.service;
    let preparer = shared.preparer;
    let log = service.log()?.clone();
    let files = files(preparer)?;
    let header = JournalHeader { log: Some(log.id()?), ..header(&service.settings, &files, preparer)? };
    let path = files.journal.clone();
    let mut opening = open(shared, files, &header, &log).await?;
    let looks = looks::find_out(shared, &mut opening.past).await?;
    sent::ensure_alone(preparer, &path, header.sha256.as_deref()).await?;
    let checked = check_all(shared, &opening.past, &path, &log).await?;
    confirm(preparer, &checked.records, &opening.past)?;
    let reader = preparer.reader()?;
    let begun = begin(shared, opening, header, &checked, &log).await?;
    let (journal, writer) = journal(path.clone(), begun.file, service.session.context.clock);
    let mut writer = pin!(writer.fuse());
    tokio::select! {
        biased;
        declined = decline(preparer, &begun.past, &journal) => declined?,
        // While the journal is open, only an error ends the writer.
        written = &mut writer => written?,
    }
    let next = command_line::next_steps(preparer, &path);
    let Checked { records, to_send, additions, .. } = checked.records;
    let CheckedInput { jobs, .. } = checked;
    let past = begun.past;
    let input = RunInput { jobs, records, to_send, additions, past, looks, reader, next };
    let ended = Run::new(shared, journal, input).run(writer).await;
    service.end_run(&ended);
    ended
}

/// Opens the journal that an earlier run left, if there is one; refuses one that is not what the log says of it.
async fn open(
    shared: RunContext<'_>,
    files: Files,
    header: &JournalHeader,
    log: &WriteLog,
) -> Result<Opening, Failure> {
    let preparer = shared.preparer;
    let session = preparer.session;
    let args = preparer.args;
    let path = files.journal.clone();
    let restart = files.commands.restart.clone();
    ensure_started(session, args, &path)?;
    let storage = session.context.storage.clone();
    let clock = session.context.clock;
    let opening = Opening::read(storage, clock, files, header.clone()).await;
    let mut opening = opening.map_err(|failure| match preparer.origin.plan() {
        // A plan has no flags for its journal.
        Some(_) => failure.hint("wait until nobody else applies the plan, or make it again with --plan"),
        None => failure,
    })?;
    same_input::ensure_newest(session, log, &path, &opening.past)?;
    same_input::ensure_replaceable(log, &opening)?;
    if opening.starts_new() {
        opening.past = PreviousRuns::default();
    }
    settle_sending(&mut opening.past, log)?;
    preparer.find_places(&mut opening.past)?;
    if let Some(warning) = &opening.past.warning {
        session.report.warn(warning);
    }
    if !args.restart {
        undone::warn(session, &path, &opening.past, &again(preparer, restart));
    }
    Ok(opening)
}

/// What is known of an input before anything is sent.
struct CheckedInput {
    records: Checked,
    /// How many of them other runs have sent before.
    again: u64,
    /// How many records are in flight at most.
    jobs: u16,
}

/// Checks all records, and whether they are to be sent; looks up what several of them need.
async fn check_all(
    shared: RunContext<'_>,
    past: &PreviousRuns,
    journal: &Path,
    log: &WriteLog,
) -> Result<CheckedInput, Failure> {
    let service = shared.service;
    let preparer = shared.preparer;
    let mut records = check::run(preparer, past)?;
    let again = records.additions.again(shared, log, past.runs())?;
    records.again += again.ensure_meant(preparer, past, journal)?;
    if records.needs_token {
        let own = bearer(&service.settings, preparer.operation.spec());
        service.token(if preparer.names_customers() { Bearer::Admin } else { own }).await?;
    }
    check::compare_with_shop(shared, past).await?;
    let jobs = at_a_time(preparer, &records);
    shared.pace.borrow_mut().limit_to(jobs);
    Ok(CheckedInput { records, again: again.count, jobs })
}

/// A run that is in its journal and in the log.
struct StartedRun {
    file: Arc<dyn Log>,
    _lock: Lock,
    past: PreviousRuns,
}

/// Begins the run, in the journal and in the log. Refused where another one began meanwhile that sends the same records.
async fn begin(
    shared: RunContext<'_>,
    opening: Opening,
    header: JournalHeader,
    checked: &CheckedInput,
    log: &WriteLog,
) -> Result<StartedRun, Failure> {
    let service = shared.service;
    let preparer = shared.preparer;
    let session = service.session;
    let path = opening.files.journal.clone();
    let is_new = !is_there(&*session.context.storage, &path);
    let begins = opening.begins();
    let of_shard = header.shard.as_ref().map(|_| checked.records.records);
    let started = session.context.clock.now().to_string();
    let header = JournalHeader { started, records: Some(checked.records.of_input), of_shard, ..header };
    let mut own = opening.past.runs().to_vec();
    let is_of_log = opening.past.is_of_log(&log.id()?);
    // A run that noted a record was in the log: where it is not, this log is an older one, or was emptied.
    let has_noted = |run: &String| opening.past.noting_runs().contains(run);
    let first = own.first().filter(|first| !begins && is_of_log && !has_noted(first)).cloned();
    let (file, lock, past) = opening.begin(&header).await?;
    let undoes = undone::undone_run(log, header.undoes.as_ref())?;
    let real = real_path(&path);
    let new_run = |uuid: String, begins: bool| {
        let header = JournalHeader { run: Some(uuid.clone()), ..header.clone() };
        let journal = in_log(&real, &header);
        let journal = journal.map(|(path, header)| (path, same_input::with_place(header, begins)));
        NewRun { uuid, journal, undoes, ..service.new_run(preparer.operation.spec().name) }
    };
    // The run that began the journal may have been killed before it was in the log. Without it nothing would tell which batch
    // this one continues, nor that the journal was cut.
    if let Some(first) = first
        && log.known_runs(&own)? == 0
    {
        log.begin_run(NewRun { is_lost: true, ..new_run(first, true) }).await?;
    }
    let uuid = header.run.clone().unwrap_or_default();
    own.push(uuid.clone());
    service.run.set(Some(log.begin_run(new_run(uuid, begins)).await?));
    let is_alone = sent::ensure_alone(preparer, &path, header.sha256.as_deref()).await.is_ok();
    if !is_alone || checked.records.additions.again(shared, log, &own)?.count != checked.again {
        return Err(begun_at_once(session, &path, is_new));
    }
    if let Some(plan) = preparer.origin.plan() {
        applying::claim(session, log, plan, &path, is_new).await?;
    }
    Ok(StartedRun { file, _lock: lock, past })
}

/// Resets records whose run died after the journal's `sending` and before the write was in the log: without that nothing
/// leaves.
///
/// # Errors
/// `guard` where the log cannot be read.
fn settle_sending(past: &mut PreviousRuns, log: &WriteLog) -> Result<(), Failure> {
    past.settle_sending(|runs, records| log.unsent(runs, records))
}

/// As [`settle_sending`], for commands that send nothing; without a usable log the journal counts as it is.
fn settle_where_known(past: &mut PreviousRuns, session: &Session<'_>) {
    if let Ok(Some(log)) = WriteLog::to_read(session.context) {
        let _ = settle_sending(past, &log);
    }
}

/// How the records of a batch are sent again.
fn again(preparer: &RecordPreparer<'_>, restart: HintCommand) -> Hint {
    match preparer.origin.plan() {
        Some(_) => PLAN_AGAIN.into(),
        None => hint!(restart, " sends all records again"),
    }
}

/// Notes the records that a review left out, unless something of them was sent, and then tells the watcher: from here on
/// none of them is ever sent.
async fn decline(
    preparer: &RecordPreparer<'_>,
    past: &PreviousRuns,
    journal: &Journal,
) -> Result<(), Failure> {
    let Some(plan) = preparer.origin.plan().filter(|plan| plan.declines_others) else { return Ok(()) };
    let mut records = preparer.reader()?;
    let mut last = None;
    while let Some(record) = records.read()? {
        let latest = past.latest(record.line);
        let is_open = match latest.state {
            State::NotSent => true,
            State::FailedTemporary => !latest.is_partial,
            _ => false,
        };
        if is_open && !preparer.takes(record.number) {
            let entry = Entry::new(record.line, hash(&record.content), State::Declined);
            last.replace(entry).into_iter().for_each(|entry| journal.append(entry));
        }
    }
    if let Some(last) = last {
        journal.append_synced(last).await?;
    }
    if let Some(Watcher(tell)) = &plan.watcher {
        tell(Seen::Started);
    }
    Ok(())
}

/// How many records are in flight at most. If it is one although more were asked for, this is reported.
fn at_a_time(preparer: &RecordPreparer<'_>, checked: &Checked) -> u16 {
    let session = preparer.session;
    let first = preparer.origin.plan().and_then(|plan| scalar(plan.first.as_ref()?.get(UNDO_OWNER)));
    let is_of_attribute = preparer.operation.spec().wrapper == Some("attribute")
        || first.is_some_and(|owner| owner.starts_with(Kind::Attribute.noun()));
    let is_sequential = is_of_attribute && session.dialect.attributes_one_at_a_time;
    let jobs = if is_sequential { 1 } else { session.global.pace.jobs() };
    if checked.is_one_key && jobs > 1 {
        session.report.status("all records have the same key: they are sent one at a time");
    } else if is_sequential && checked.to_send > 1 {
        session.report.status("attributes are written one at a time");
    }
    jobs
}

/// Refuses to resume a shard without its journal: on another disk, what was sent elsewhere would be sent again.
fn ensure_started(session: &Session<'_>, args: &BatchArgs, journal: &Path) -> Result<(), Failure> {
    match args.shard.filter(|_| args.resume && !args.start) {
        Some(shard) if !is_there(&*session.context.storage, journal) => {
            let message = format!("shard {shard} has no journal `{}`", journal.display());
            Err(Failure::guard(message)
                .hint("if it was never run, add --start; else put back the journal of its earlier run"))
        }
        _ => Ok(()),
    }
}

/// The failure of a run if another run of the same records began at the same time. A journal that was created for it is
/// removed.
fn begun_at_once(session: &Session<'_>, journal: &Path, is_new: bool) -> Failure {
    if is_new && let Err(error) = session.context.storage.remove(journal) {
        return Failure::internal(format!("cannot remove `{}`: {error}", journal.display()));
    }
    Failure::guard("another run over this input began meanwhile")
        .hint("wait for it to finish, and run the command again: what it sent is counted")
}

/// Asks once before a batch writes: about the changes of a plan, or about the number of records.
fn confirm(preparer: &RecordPreparer<'_>, checked: &Checked, past: &PreviousRuns) -> Result<(), Failure> {
    let session = preparer.session;
    let operation = preparer.operation.spec();
    match preparer.origin.plan() {
        _ if checked.to_send == 0 => Ok(()),
        Some(plan) => {
            let is_sent = |number| preparer.is_sent(past, number);
            applying::confirm(session, operation, plan, checked.again, is_sent)
        }
        None => confirm_count(session, operation, checked),
    }
}

/// Asks before records are sent. Where some are sent again, that is a warning, and needs a yes even if nobody can be asked.
fn confirm_count(session: &Session<'_>, operation: &OperationSpec, checked: &Checked) -> Result<(), Failure> {
    let prompt = session.prompt();
    let records = count_records(checked.records);
    let of = Some(format!("{} of ", checked.to_send)).filter(|_| checked.to_send < checked.records);
    let question = format!("{} {}{records}?", operation.batch_action, of.unwrap_or_default());
    if checked.again == 0 {
        return if operation.deletes {
            prompt.confirm_deletion(&question)
        } else {
            prompt.confirm(&question)
        };
    }
    session.report.warn(&sent_again(checked.again));
    prompt.confirm_deletion(&question)
}

fn header(
    settings: &Settings,
    files: &Files,
    preparer: &RecordPreparer<'_>,
) -> Result<JournalHeader, Failure> {
    let reader = preparer.reader()?;
    let titles = reader.columns().map(|columns| columns.titles.iter().collect::<Vec<_>>().join("\0"));
    let id = settings.service_id();
    let input_format =
        preparer.session.global.input.input_format.and_then(|format| format.to_possible_value());
    let file_name = files.input.as_deref().and_then(Path::file_name);
    Ok(JournalHeader {
        service: id.url.clone(),
        interface: id.interface.clone(),
        store_view: settings.store_view.as_ref().map(|view| view.code().to_owned()),
        operation: preparer.operation.spec().name.to_owned(),
        input: file_name
            .map_or_else(|| preparer.origin.source().name(), |name| name.to_string_lossy().into_owned()),
        input_format: input_format.map(|format| format.get_name().to_owned()),
        encoding: preparer.origin.source().encoding.map(|encoding| encoding.name().to_owned()),
        titles: titles.map(|titles| format!("{:016x}", fnv1a(titles.as_bytes()))),
        sha256: Some(preparer.origin.source().sha256()?),
        shard: preparer.args.shard.map(|shard| shard.to_string()),
        undoes: preparer.origin.plan().and_then(|plan| plan.header.undoes.clone()),
        made_of: preparer.origin.plan().and_then(|plan| plan.header.made_of.clone()),
        restart: preparer.args.restart,
        run: Some(new_uuid()),
        flags: preparer.origin.plan().is_none() && preparer.operation.sets_what_is_compared(),
        ..JournalHeader::new()
    })
}

/// The journal is `INPUT.journal`, `INPUT.I-N.journal` for a shard, next to the real path of the input, or what
/// `--journal` names. For an input without a name it is in the state directory, named by the contents: the same contents again
/// are refused.
fn files(preparer: &RecordPreparer<'_>) -> Result<Files, Failure> {
    let source = preparer.origin.source();
    let args = preparer.args;
    if preparer.origin.plan().is_some() {
        let input = real_path(&source.path);
        let journal = journal_of(&input);
        let commands = command_line::commands(preparer, &journal);
        return Ok(Files {
            journal,
            input: Some(input),
            resume: true,
            restart: false,
            replaces_unfinished: false,
            commands,
        });
    }
    let input = Some(&*source.path).filter(|_| !source.is_stream).map(real_path);
    let shard = args.shard.map(|shard| format!(".{}-{}", shard.index, shard.count)).unwrap_or_default();
    let journal = match (&args.journal, &input) {
        (Some(journal), _) => journal.clone(),
        (None, Some(input)) => {
            let mut path = input.clone().into_os_string();
            path.push(format!("{shard}.journal"));
            path.into()
        }
        (None, None) => {
            let operation = preparer.operation.spec().slug();
            let sha256 = source.sha256()?;
            let directory = state::journals_of_stdin(preparer.session.context)?;
            directory.join(format!("{operation}-{}{shard}.journal", &sha256[..12]))
        }
    };
    let commands = command_line::commands(preparer, &journal);
    let replaces_unfinished = same_input::is_compared(preparer);
    Ok(Files { journal, input, resume: args.resume, restart: args.restart, replaces_unfinished, commands })
}

/// The input of a batch, for the plan that is made of it.
fn made_of(preparer: &RecordPreparer<'_>, sha256: String) -> Result<MadeOf, Failure> {
    let Files { journal, input, .. } = files(preparer)?;
    let text = |path: &Path| path.display().to_string();
    Ok(MadeOf { input: input.as_deref().map(text), sha256, journal: text(&real_path(&journal)) })
}

/// Whose token the run's own token is: also the administrator's if there is no other, because records may name customers.
fn bearer(settings: &Settings, operation: &OperationSpec) -> Bearer {
    let is_admin = settings.dialect.customers.is_some() && settings.token.is_absent();
    if is_admin { Bearer::Admin } else { operation.bearer }
}
