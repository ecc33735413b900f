//! The operations over many records (DESIGN 7): check → journal → run → summary.

mod check;
mod crew;
mod doubts;
mod dry;
mod feed;
mod intake;
pub mod signals;
mod task;
mod tokens;
mod work;

use std::path::PathBuf;

use super::service::Service;
use super::{Session, on_runtime};
use crate::batch::journal::{Header, Mode, Opening};
use crate::batch::past::Past;
use crate::cli::GlobalArgs;
use crate::cli::run::RunArgs;
use crate::failure::Failure;
use crate::input::records::{self, Source};
use crate::plan::operation::Operation;
use crate::plan::request::Bearer;
use crate::prompt::Prompt;
use crate::report::summary;
use check::Checked;
use intake::Intake;
use task::Shared;

pub use work::Work;

/// The input, where it is one of many records.
///
/// # Errors
/// `usage` when it cannot be read, and for flags of a run without one.
pub fn source(session: &Session<'_>, args: &RunArgs) -> Result<Option<Source>, Failure> {
    let source = records::detect(session.global)?;
    match (&source, args.first_given()) {
        (None, Some(flag)) => Err(Failure::usage(format!("{flag} is for many records; nothing was sent"))
            .hint("give them with --input: a CSV, NDJSON or a JSON array; for standard input add --input-format")),
        _ => Ok(source),
    }
}

/// Runs an operation over many records.
///
/// # Errors
/// `usage` and `guard` before anything is sent; `partial` when some records did not go through; `interrupted`.
pub fn run(session: &Session<'_>, source: &Source, args: &RunArgs, work: Work<'_>) -> Result<(), Failure> {
    if let Work::Update(update) = work
        && update.base.is_some()
    {
        return Err(Failure::usage(
            "--base is the profile of one customer, and this input has many records; nothing was sent",
        ));
    }
    on_runtime(async {
        let service = Service::open(session).await?;
        let bearer = bearer(work.operation());
        let command = service.settings.token_for(bearer).token_command();
        let intake = Intake::new(work, source, session.global.allow_unknown, command);
        // Nobody can be asked about each of many records.
        let global = GlobalArgs { yes: true, no_input: true, ..session.global.clone() };
        let shared = Shared { service: &service, global: &global, journal: None, work };
        if session.global.dry_run {
            return dry::run(shared, source, &intake, args).await;
        }
        send(shared, source, &intake, args).await
    })
}

async fn send(
    shared: Shared<'_>,
    source: &Source,
    intake: &Intake<'_>,
    args: &RunArgs,
) -> Result<(), Failure> {
    let service = shared.service;
    let session = service.session;
    let path = journal_path(source, args)?;
    let mut opening = Opening::look(&path, mode(args), header(service, source, intake, args))?;
    for note in &opening.past.notes {
        session.report.warn(note);
    }
    let checked = checked(session, source, intake, args, &mut opening.past)?;
    if checked.as_ref().is_some_and(|checked| checked.needs_token) {
        service.token(bearer(intake.work.operation())).await?;
    }
    confirm(session, intake.work.operation(), checked.as_ref())?;
    let (journal, past) = opening.begin()?;
    let shared = Shared { journal: Some(&journal), ..shared };
    let records = checked.map(|checked| checked.records);
    crew::Crew::new(shared, &journal, source, intake, args, past, records)?.run().await
}

/// A file is checked before anything is sent; what flows by is checked as it flows.
fn checked(
    session: &Session<'_>,
    source: &Source,
    intake: &Intake<'_>,
    args: &RunArgs,
    past: &mut Past,
) -> Result<Option<Checked>, Failure> {
    if source.is_stream() {
        session.report.note(&format!(
            "{} cannot be read twice: each record is checked when its turn comes, not all of them before the first is sent",
            source.name()
        ));
        return Ok(None);
    }
    check::check(session, source, intake, args, past).map(Some)
}

/// A person who replaces many profiles is asked once.
fn confirm(session: &Session<'_>, operation: Operation, checked: Option<&Checked>) -> Result<(), Failure> {
    if operation != Operation::CustomerUpdate {
        return Ok(());
    }
    let prompt = Prompt::new(session.context, session.global, session.report);
    let many = checked.map_or_else(|| "every record".to_owned(), |checked| summary::records(checked.records));
    if prompt.confirm(&format!("Replace the profiles of {many}?"))? {
        return Ok(());
    }
    Err(Failure::guard("not confirmed; nothing was written")
        .hint("run the command again and answer yes, or add --yes"))
}

fn mode(args: &RunArgs) -> Mode {
    match (args.resume, args.restart) {
        (true, _) => Mode::Resume,
        (_, true) => Mode::Restart,
        _ => Mode::Begin,
    }
}

fn header(service: &Service<'_>, source: &Source, intake: &Intake<'_>, args: &RunArgs) -> Header {
    Header {
        operation: intake.work.operation().name(),
        input: source.name(),
        service: service.identity(),
        shard: args.shard,
    }
}

/// `INPUT.journal`, `INPUT.I-N.journal` for a part, or what `--journal` names.
fn journal_path(source: &Source, args: &RunArgs) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.journal {
        return Ok(path.clone());
    }
    if source.is_stream() {
        return Err(Failure::usage(format!(
            "a run over {} needs a place for its journal; nothing was sent",
            source.name()
        ))
        .hint("add --journal FILE"));
    }
    let part = args.shard.map(|shard| format!(".{}-{}", shard.index, shard.of)).unwrap_or_default();
    let mut path = source.path().as_os_str().to_owned();
    path.push(format!("{part}.journal"));
    Ok(path.into())
}

fn bearer(operation: Operation) -> Bearer {
    match operation {
        Operation::AttributeCreate => Bearer::Admin,
        _ => Bearer::Customer,
    }
}

/// The command that goes on with this run, as it was typed.
fn resume_command(session: &Session<'_>, source: &Source) -> String {
    let mut words: Vec<String> =
        session.context.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        "storefront".clone_into(program);
    }
    words.retain(|word| word != "--restart");
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".to_owned());
    }
    let again = if source.is_stream() { " (with the same input)" } else { "" };
    format!("go on with: {}{again}", shell_words::join(words))
}
