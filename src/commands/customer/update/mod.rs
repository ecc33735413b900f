//! `storefront customer update`: applies a patch to the stored profile.

pub mod dialogue;
mod form;

use self::dialogue::select;
use crate::cli::customer::UpdateArgs;
use crate::commands;
use crate::failure::Failure;
use crate::ops::draft;
use crate::ops::profile::replace::replace;
use crate::ops::profile::{Change, Update};
use crate::ops::record::RecordOperation;
use crate::plan::operation::Operation;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Reads the input, then replaces the profile; of many records, one after another.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    let operation = RecordOperation::UpdateProfile(args);
    commands::run_records(session, operation, &args.batch, async || update_one(session, args).await).await
}

/// On a terminal, what is not named is asked for.
async fn update_one(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    let prompt = Prompt::new(session.context, session.global, session.report);
    let customer = args.choice.customer.as_deref();
    if prompt.can_ask() && session.global.input.is_none() && !names_a_change(args) {
        return with_service(session, async |service| {
            dialogue::update(&select(service, customer).await?, &prompt, args).await
        })
        .await;
    }
    let update = Update::new(draft(session, Operation::CustomerUpdate, args)?, args)?;
    with_service(session, async |service| {
        let service = &select(service, customer).await?;
        session.report.outcome(&replace(service, Change::Update(&update)).await?)
    })
    .await
}

/// An address that is named without any change is where the questions begin.
fn names_a_change(args: &UpdateArgs) -> bool {
    !args.members.named.is_empty()
        || !args.custom_attributes.is_empty()
        || !args.clear.is_empty()
        || !args.profile.named.is_empty()
        || args.default_addresses().next().is_some()
        || !args.remove_addresses.is_empty()
        || args.replace_addresses
}
