//! The operations over many records (docs/journal.md): check → journal → run → summary.

mod check;
mod command_line;
mod dry_run;
pub mod failed_file;
mod pace;
mod queue;
mod reader;
mod record;
mod run;
mod token;
mod token_locks;

use std::path::Path;

use check::PreflightReport;
use record::RecordPreparer;
use run::RunContext;
use token::{RunToken, TokenCommand};
use token_locks::TokenLocks;

use crate::batch::failed_file::{ensure_replaceable, is_one_file};
use crate::cli::GlobalArgs;
use crate::cli::batch::BatchArgs;
use crate::config::Settings;
use crate::failure::Failure;
use crate::input::document;
use crate::input::records::Source;
use crate::journal::open::{Mode, Opening, Places};
use crate::journal::read::PreviousRun;
use crate::journal::{FailedFileEntry, Header};
use crate::ops::record::RecordOperation;
use crate::plan::operation::Operation;
use crate::plan::request::Bearer;
use crate::prompt::Prompt;
use crate::report::ordered_results::OrderedResults;
use crate::report::summary;
use crate::session::Session;
use crate::session::service::Service;

pub use record::key_of;

/// Runs an operation over many records.
///
/// # Errors
/// `usage` and `guard` before anything is sent; `partial` when some records did not go through; `interrupted`.
pub async fn run(
    session: &Session<'_>,
    source: &Source,
    args: &BatchArgs,
    operation: RecordOperation<'_>,
) -> Result<(), Failure> {
    if let RecordOperation::UpdateProfile(update) = operation
        && update.base.is_some()
    {
        return Err(Failure::usage("`--base` cannot be used with batch input").hint("leave out `--base`"));
    }
    if session.global.customer.is_some() {
        return Err(Failure::usage("--customer is one customer, and this input has many records")
            .hint("name the customer of each record in its field or column `customer`"));
    }
    let service = Service::open(session).await?;
    Box::pin(run_over(&service, source, args, operation)).await
}

async fn run_over(
    service: &Service<'_>,
    source: &Source,
    args: &BatchArgs,
    operation: RecordOperation<'_>,
) -> Result<(), Failure> {
    let session = service.session;
    let results = OrderedResults::new(session.report);
    let bearer = bearer(&service.settings, operation.operation());
    let program = service.settings.token_for(bearer).token_command();
    // A record that names the batch's own token has the same key as those that name none.
    let token = match program.and_then(TokenCommand::new) {
        None if !session.global.dry_run => service.token(bearer).await.ok().cloned(),
        _ => None,
    };
    let preparer =
        RecordPreparer::new(session.dialect, operation, source, session.global.allow_unknown, program, token);
    let run_token = RunToken::new(program.filter(|_| preparer.command.is_none()).cloned());
    let admin_program = service.settings.token_for(Bearer::Admin).token_command();
    let admin_run_token =
        RunToken::new(admin_program.filter(|program| TokenCommand::new(program).is_none()).cloned());
    // Nobody can be asked about each of many records.
    let global = GlobalArgs { yes: true, no_input: true, ..session.global.clone() };
    let token_locks = TokenLocks::default();
    let replaces = operation.operation().spec().replaces.is_some();
    let token_locks = (preparer.command.is_some() && replaces).then_some(&token_locks);
    let shared = RunContext {
        service,
        global: &global,
        operation,
        run_token: &run_token,
        admin_run_token: &admin_run_token,
        token_locks,
    };
    if session.global.dry_run {
        return Box::pin(dry_run::run(shared, source, &preparer, args, results)).await;
    }
    send(shared, source, &preparer, args, results).await
}

async fn send(
    shared: RunContext<'_>,
    source: &Source,
    preparer: &RecordPreparer<'_>,
    args: &BatchArgs,
    results: OrderedResults,
) -> Result<(), Failure> {
    let service = shared.service;
    let session = service.session;
    let places = places(source, args)?;
    let header = header(service, source, &places, preparer, args);
    let (storage, clock) = (session.context.storage.clone(), session.context.clock);
    let path = places.journal.clone();
    let opening = Opening::look(storage, clock, places, mode(args), header).await?;
    for note in &opening.past.notes {
        session.report.warn(note);
    }
    let earlier_failed = failed_file(source, args, &path, &opening.past)?;
    let checked = checked(session, source, preparer, args, &opening.past)?;
    if checked.as_ref().is_some_and(|checked| checked.needs_token) {
        let own = bearer(&service.settings, preparer.operation.operation());
        service.token(if preparer.names_customers() { Bearer::Admin } else { own }).await?;
    }
    confirm(session, preparer.operation.operation(), checked.as_ref())?;
    let (journal, past) = opening.begin().await?;
    let input = run::Input {
        source,
        preparer,
        args,
        records: checked.map(|checked| checked.records),
        earlier_failed: earlier_failed.as_ref(),
    };
    run::Dispatcher::new(shared, &journal, input, past, results)?.run().await
}

/// What is left of an earlier run's file of failed records; nothing else is ever replaced.
fn failed_file(
    source: &Source,
    args: &BatchArgs,
    journal: &Path,
    past: &PreviousRun,
) -> Result<Option<FailedFileEntry>, Failure> {
    let Some(path) = &args.failed else { return Ok(None) };
    let others = [(source.path(), "the input"), (journal, "the journal")];
    ensure_replaceable(path, &others, past.failed_files())
}

/// A file is checked before anything is sent; what flows by is checked as it flows.
fn checked(
    session: &Session<'_>,
    source: &Source,
    preparer: &RecordPreparer<'_>,
    args: &BatchArgs,
    past: &PreviousRun,
) -> Result<Option<PreflightReport>, Failure> {
    if source.is_stream() {
        session.report.status(&format!(
            "{} is a stream: records are validated as they are read, not up front",
            document::quoted(&source.name())
        ));
        return Ok(None);
    }
    check::run(session, source, preparer, args, past).map(Some)
}

/// A person is asked once before a batch writes, and sees how much it is.
fn confirm(
    session: &Session<'_>,
    operation: Operation,
    checked: Option<&PreflightReport>,
) -> Result<(), Failure> {
    if checked.is_some_and(|checked| checked.to_send == 0) {
        return Ok(());
    }
    let prompt = Prompt::new(session.context, session.global, session.report);
    let what = operation.spec().batch_action;
    let many = match checked {
        None => "every record".to_owned(),
        Some(checked) if checked.to_send == checked.records => summary::count_records(checked.records),
        Some(checked) => format!("{} of {}", checked.to_send, summary::count_records(checked.records)),
    };
    prompt.confirm(&format!("{what} {many}?"))
}

fn mode(args: &BatchArgs) -> Mode {
    match (args.resume, args.restart) {
        (true, _) => Mode::Resume,
        (_, true) => Mode::Restart,
        _ => Mode::Begin,
    }
}

fn header(
    service: &Service<'_>,
    source: &Source,
    places: &Places,
    preparer: &RecordPreparer<'_>,
    args: &BatchArgs,
) -> Header {
    let id = service.settings.service_id();
    let file_name = places.input.as_deref().and_then(Path::file_name);
    Header {
        service: id.url.clone(),
        interface: id.interface.clone(),
        store_view: service.settings.store_view.as_ref().map(|view| view.code().to_owned()),
        operation: preparer.operation.operation().name().to_owned(),
        input: file_name.map_or_else(|| source.name(), |name| name.to_string_lossy().into_owned()),
        shard: args.shard,
    }
}

/// The journal is `INPUT.journal`, `INPUT.I-N.journal` for a shard, next to the real path of the input, or what
/// `--journal` names.
fn places(source: &Source, args: &BatchArgs) -> Result<Places, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("cannot read {}: {error}", document::quoted(&source.name())))
    };
    let input =
        if source.is_stream() { None } else { Some(dunce::canonicalize(source.path()).map_err(unreadable)?) };
    let journal = match (&args.journal, &input) {
        (Some(path), _) => path.clone(),
        (None, Some(input)) => {
            let shard =
                args.shard.map(|shard| format!(".{}-{}", shard.index, shard.count)).unwrap_or_default();
            let mut path = input.as_os_str().to_owned();
            path.push(format!("{shard}.journal"));
            path.into()
        }
        (None, None) => {
            return Err(Failure::usage("streaming input needs a journal file").hint("use --journal FILE"));
        }
    };
    if input.as_deref().is_some_and(|input| is_one_file(&journal, input)) {
        return Err(Failure::guard(format!("journal `{}` is the input", journal.display()))
            .hint("choose another file with --journal"));
    }
    Ok(Places { journal, input })
}

/// Whose token the run's own is: the administrator's too where there is no other, and records may name customers.
fn bearer(settings: &Settings, operation: Operation) -> Bearer {
    match operation.spec().bearer {
        Bearer::Admin => Bearer::Admin,
        Bearer::Customer if settings.dialect.customers.is_some() && settings.token.is_absent() => {
            Bearer::Admin
        }
        Bearer::Customer => Bearer::Customer,
    }
}
