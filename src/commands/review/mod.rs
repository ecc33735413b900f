//! `storefront review`: a plan on a page in the browser, from which a person applies it.
//!
//! The page is served to one browser of this machine (docs/plans.md). What it applies, [`apply`] applies.

mod browser;
mod code;
mod page;
mod server;
mod session;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{sleep, timeout};
use url::Url;

use crate::batch::listing::Listing;
use crate::cli::command_line::CommandLine;
use crate::cli::{BatchArgs, GlobalArgs, PaceArgs, RequestArgs, hint, plan_file};
use crate::client::Session;
use crate::client::runtime::Signals;
use crate::client::service::Service;
use crate::commands::apply;
use crate::plan::{PLAN_AGAIN, Plan, Seen, Watcher, applying, is_there, journal_of};
use crate::report::summary::count_records;
use crate::state::page_file::{self, PageFile};
use crate::system::storage::real_path;
use code::Code;
use page::{Earlier, Page};
use server::Served;
use session::{ReviewSession, Told};
use storefront_core::failure::Failure;

/// How long a page that is still open may take to ask how it ended.
const PAGE_IS_OPEN: Duration = Duration::from_secs(3);
/// How long the last answer may take.
const LAST_ANSWER: Duration = Duration::from_secs(2);

/// Flags of `review`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  storefront customer update --sandbox --gender 1 --plan a && storefront review a --sandbox
  storefront customer update --sandbox --gender 1 --plan b && storefront review b --jobs 1 --sandbox
  storefront review --set-code")]
pub struct ReviewArgs {
    /// Plan that --plan wrote
    #[arg(value_name = "PLAN", value_parser = plan_file(), required_unless_present = "set_code")]
    pub file: Option<PathBuf>,
    /// Print the link to the page instead of opening a browser
    #[arg(long)]
    pub no_browser: bool,
    /// Set the code for reviews that have no terminal to show one on
    #[arg(long, conflicts_with = "file")]
    pub set_code: bool,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Shows a plan in a browser, and applies what is selected there.
///
/// # Errors
/// As [`apply::carry_out`]; `guard` where the session ended without that, `interrupted` where a signal ended it.
pub async fn run(session: &Session<'_>, args: &ReviewArgs) -> Result<(), Failure> {
    let Some(file) = args.file.as_ref().filter(|_| !args.set_code) else { return code::set(session) };
    let state = &session.context.directories()?.state;
    let plan = Plan::read(&*session.context.storage, state, file)?;
    page_file::remove_abandoned(session.context);
    let mut signals = Signals::listen(session.context)?;
    // A signal that comes before the run listens is not lost.
    let mut context = session.context.clone();
    context.stop = Some(signals.shared());
    let session = &Session { context: &context, ..*session };
    {
        let service = Service::open(session).await?;
        applying::admit(&service, &plan)?;
    }
    let earlier = earlier(session, &plan)?;
    let (told, mut heard) = mpsc::unbounded_channel();
    let code = Code::new(session)?;
    let page = Page::new(session, &plan, &earlier, code.place())?;
    let review = Arc::new(ReviewSession::new(code, told)?);
    let failed = |error: std::io::Error| Failure::internal(format!("cannot serve the page: {error}"));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
    let host = listener.local_addr().map_err(failed)?.to_string();
    // The file posts the secret, so that no command line and no address contains it.
    let opener = PageFile::new(session.context, &page::opener(&host, &review.secret))?;
    let served = Served { host, page, review: review.clone() };
    let server = server::start(listener, served);
    announce(session, args, &plan, &opener).await?;
    let selected = tokio::select! {
        biased;
        () = signals.next() => Err(Failure::cancelled()),
        selected = selected(session, &mut heard) => selected,
        () = expiry(session, &plan) => {
            let message = format!("plan `{}` expired at {}", file.display(), plan.header.expires);
            Err(Failure::guard(message).hint(PLAN_AGAIN))
        }
    };
    drop((opener, signals));
    let result = match selected {
        Ok(only) => Box::pin(apply_selected(session, &review, plan, only)).await,
        Err(failure) => Err(failure),
    };
    let _ = timeout(LAST_ANSWER, server.stop()).await;
    result
}

/// Opens the browser, or says how to open the page.
async fn announce(
    session: &Session<'_>,
    args: &ReviewArgs,
    plan: &Plan,
    opener: &PageFile,
) -> Result<(), Failure> {
    let report = session.report;
    let path = opener.path();
    let link = Url::from_file_path(path).map_or_else(|()| path.display().to_string(), Into::into);
    if args.no_browser {
        report.value(&json!({"review": link}), |_| format!("{link}\n"))?;
    } else if !browser::open(session, path).await {
        report.warn(&format!("cannot open a browser; open this link in one:\n{link}"));
    } else {
        report.status(&format!("Opened {link}"));
    }
    let records = count_records(plan.header.records);
    applying::warn(report, plan)?;
    report.status(&format!("Waiting for the review of {records}; press Ctrl-C to end it"));
    Ok(())
}

/// What earlier runs left of the records.
fn earlier(session: &Session<'_>, plan: &Plan) -> Result<BTreeMap<u64, Earlier>, Failure> {
    let journal = journal_of(&real_path(&plan.path));
    let mut earlier = BTreeMap::new();
    if is_there(&*session.context.storage, &journal) {
        Listing::read(session, &journal)?.rows(&[], |row| {
            earlier.insert(row.line, Earlier { state: row.state, reason: row.entry.reason });
            Ok(())
        })?;
    }
    Ok(earlier)
}

/// Waits for the records that are to be applied.
async fn selected(session: &Session<'_>, heard: &mut UnboundedReceiver<Told>) -> Result<Vec<u64>, Failure> {
    loop {
        match heard.recv().await {
            Some(Told::Opened) => session.report.status("The page was opened"),
            Some(Told::OpenedAgain) => {
                session.report.warn("a second page tried to open the review, and was refused");
            }
            Some(Told::Apply(only)) => return Ok(only),
            Some(Told::Guessed) => {
                return Err(Failure::guard("five wrong codes ended the review: nothing was applied"));
            }
            None => return Err(Failure::internal("the review was closed")),
        }
    }
}

/// Resolves when a plan that was not started can no longer be started.
async fn expiry(session: &Session<'_>, plan: &Plan) {
    if is_there(&*session.context.storage, &journal_of(&real_path(&plan.path))) {
        return std::future::pending().await;
    }
    let left = plan.header.expires.duration_since(session.context.clock.now());
    sleep(left.unsigned_abs()).await;
}

/// Applies the selected records as `apply --only` does, and notes the others as declined; the page may be closed meanwhile.
async fn apply_selected(
    session: &Session<'_>,
    review: &Arc<ReviewSession>,
    mut plan: Plan,
    only: Vec<u64>,
) -> Result<(), Failure> {
    let words = vec!["apply".to_owned(), plan.path.display().to_string()];
    let service = hint::service_flags(session.global);
    let typed = CommandLine::of_words(words).for_target(&service, None);
    session.report.status(&format!("Applying {}", count_records(only.len() as u64)));
    // The code was the confirmation.
    let global = GlobalArgs { typed, yes: true, no_input: true, ..session.global.clone() };
    let session = &Session { global: &global, ..*session };
    let watching = review.clone();
    plan.watcher = Some(Watcher(Arc::new(move |seen| match seen {
        Seen::Started => watching.begin(),
        Seen::Step(step) => watching.step(*step),
    })));
    (plan.only, plan.declines_others) = (Some(only.into_iter().collect()), true);
    let batch = BatchArgs::default();
    let state = &session.context.directories()?.state;
    let result = match Plan::read(&*session.context.storage, state, &plan.path) {
        Ok(now) if now.sha256 == plan.sha256 => apply::carry_out(session, &plan, batch).await,
        Ok(_) => Err(Failure::guard("the plan has changed since it was shown").hint("review it again")),
        Err(failure) => Err(failure),
    };
    let journal = journal_of(&real_path(&plan.path)).display().to_string();
    let journal = Some(journal).filter(|journal| is_there(&*session.context.storage, journal.as_ref()));
    review.end(match &result {
        Ok(()) => json!({"journal": journal}),
        Err(failure) => {
            let next = failure.hint.clone().map(|hint| hint::for_command(hint, session.global).to_string());
            json!({"journal": journal, "error": failure.message, "hint": next})
        }
    });
    // A person who closed the page reads the terminal.
    let _ = timeout(PAGE_IS_OPEN, review.end_is_read.notified()).await;
    result
}
