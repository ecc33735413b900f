//! What `product set` asks for on a terminal where the command line sets nothing: the product, an attribute, and its value.

use super::set::SetArgs;
use crate::client::service::Service;
use crate::commands::{grammar, prepare};
use crate::ops;
use crate::prompt::{Objection, Question};
use storefront_core::failure::Failure;

/// Asks what is open, runs the command with the answers, and prints it.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves; whatever goes wrong with the command.
pub async fn run(service: &Service<'_>, args: &SetArgs) -> Result<(), Failure> {
    let session = service.session;
    let mut line = service.typed();
    if args.sku.is_none() {
        line = line.with(vec![typed(service, "SKU")?]);
    }
    let code = typed(service, "Attribute (code or label)")?;
    let value = typed(service, "Value")?;
    line = line.with(vec![format!("{code}={value}")]);
    let args = SetArgs { store_view: args.store_view.clone(), ..line.parse(grammar())? };
    let draft = prepare(session, &args, None)?;
    let done = ops::run(&args, service, &draft, None).await;
    service.stage.end(done.as_ref());
    let reported = done.and_then(|outcome| session.report.outcome(&outcome));
    session.report.equivalent(&line);
    reported
}

fn typed(service: &Service<'_>, text: &str) -> Result<String, Failure> {
    let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
    let question = Question { text, ..Question::default() };
    let typed = service.session.prompt().text(&question, is_given)?;
    Ok(typed.ok_or_else(Failure::cancelled)?.trim().to_owned())
}
