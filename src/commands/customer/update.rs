//! `storefront customer update`: applies a patch to the stored profile.

use std::rc::Rc;

use crate::cli::customer::UpdateArgs;
use crate::commands;
use crate::failure::Failure;
use crate::interactive::customer::{Edit, Editor, StartScreen, command_lines};
use crate::ops::profile::{Change, Update, read, replace};
use crate::ops::record::RecordOperation;
use crate::ops::{customers, draft};
use crate::plan::operation::Operation;
use crate::plan::profile::diff::AddressIndex;
use crate::plan::profile::stored::Profile;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
use crate::shell::Shell;

/// Reads the input, then replaces the profile; of many records, one after another.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    let operation = RecordOperation::UpdateProfile(args);
    commands::run_records(session, operation, &args.batch, async || update_one(session, args).await).await
}

async fn update_one(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    let prompt = Rc::new(Prompt::new(session.context, session.global, session.report));
    let asks = prompt.can_ask() && session.global.input.is_none();
    let (args, start) = if asks { interactive_start(args) } else { (args.clone(), None) };
    let draft = draft(session, Operation::CustomerUpdate, &args)?;
    let mut update = if asks { Update::new_incomplete(draft, &args)? } else { Update::new(draft, &args)? };
    with_service(session, async |service| {
        let service = &customers::select(service, args.choice.customer.as_deref())?;
        if update.patch.is_empty() {
            let profile = match &update.base {
                Some(base) => base.clone(),
                None => read::read_profile(service).await?,
            };
            let start = start.unwrap_or(StartScreen::List);
            if let StartScreen::Address(id) = start {
                AddressIndex::of(profile.addresses())?.find(id)?;
            }
            return ask_and_replace(service, &mut update, prompt, &profile, (&args, start)).await;
        }
        let outcome = replace::replace(service, Change::Update(&update)).await?;
        session.report.outcome(&outcome)
    })
    .await
}

/// Asks what is to be changed, again whenever the person goes back from the confirmation. What was typed is not lost
/// with what fails, or is cancelled: the equivalent command is printed.
async fn ask_and_replace(
    service: &Service<'_>,
    update: &mut Update,
    prompt: Rc<Prompt>,
    profile: &Profile,
    (args, start): (&UpdateArgs, StartScreen),
) -> Result<(), Failure> {
    let session = service.session;
    let mut editor = Editor::new(&prompt, service, profile, start);
    update.prompt = Some(prompt.clone());
    let keep = |edit: &Edit| {
        let customer = args.choice.customer.as_deref();
        let lines = command_lines(edit, customer, session.global, Shell::NATIVE);
        let name = if lines.len() == 1 { "Equivalent command" } else { "Equivalent commands" };
        session.report.status(&format!("{name}:\n  {}", lines.join("\n  ")));
    };
    loop {
        let edit = match editor.ask().await {
            Ok(edit) => edit,
            Err(failure) => {
                editor.edit().iter().for_each(keep);
                return Err(failure);
            }
        };
        update.patch.default_addresses.clone_from(&edit.default_addresses);
        update.patch.draft.clone_from(&edit.draft);
        match replace::replace(service, Change::Update(update)).await {
            Ok(outcome) => return session.report.outcome(&outcome),
            Err(_) if update.went_back.take() => {}
            Err(failure) => {
                keep(&edit);
                return Err(failure);
            }
        }
    }
}

/// An address that is named without any change is where the questions begin.
fn interactive_start(args: &UpdateArgs) -> (UpdateArgs, Option<StartScreen>) {
    let mut left = args.clone();
    let says_more = !args.members.named.is_empty()
        || !args.custom_attributes.is_empty()
        || !args.profile.named.is_empty()
        || args.default_address().is_some()
        || !args.remove_addresses.is_empty()
        || args.replace_addresses;
    if says_more {
        return (left, None);
    }
    let start = match (left.address.take(), std::mem::take(&mut left.add_address)) {
        (Some(id), _) => Some(StartScreen::Address(id)),
        (None, true) => Some(StartScreen::NewAddress),
        (None, false) => None,
    };
    (left, start)
}
