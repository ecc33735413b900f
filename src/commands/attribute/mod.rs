//! `storefront attribute …`

mod show;

use serde_json::Value;

use crate::cli::attribute::{AttributeCommand, CreateArgs};
use crate::commands::dispatch;
use crate::failure::Failure;
use crate::input::{Draft, Unfinished};
use crate::interactive::attribute::{Answers, Wizard};
use crate::ops::record::RecordOperation;
use crate::ops::{draft, perform};
use crate::plan::operation::Operation;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Runs an attribute command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &AttributeCommand) -> Result<(), Failure> {
    match command {
        AttributeCommand::Create(args) => create(session, args).await,
        AttributeCommand::Show(args) => {
            with_service(session, async |service| show::show(service, &args.code).await).await
        }
    }
}

async fn create(session: &Session<'_>, args: &CreateArgs) -> Result<(), Failure> {
    let operation = RecordOperation::Direct(Operation::AttributeCreate, args);
    dispatch::run(session, operation, &args.batch, async || create_one(session, args).await).await
}

/// On a terminal, what is missing is asked for first.
async fn create_one(session: &Session<'_>, args: &CreateArgs) -> Result<(), Failure> {
    let document = draft::document(session)?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    if prompt.can_ask() {
        let answers = answers(session, args, document.clone())?;
        if answers.lack_something() {
            return with_service(session, async |service| {
                let mut wizard = Wizard::new(session, &prompt, answers);
                let draft = wizard.run(document)?;
                let sent = perform::perform_and_report(service, draft).await;
                wizard.tell_command_line();
                sent
            })
            .await;
        }
    }
    let draft = draft::draft_from(session, Operation::AttributeCreate, document, args)?;
    dispatch::send(session, None, draft).await
}

fn answers(session: &Session<'_>, args: &CreateArgs, document: Option<Value>) -> Result<Answers, Failure> {
    let operation = Operation::AttributeCreate;
    let input = Draft::new(session.dialect, operation, document, &Unfinished, session.global.allow_unknown)?;
    Ok(Answers::new(args.clone(), &input.fields))
}
