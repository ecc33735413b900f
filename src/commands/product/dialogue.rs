//! The questions of `product set` on a terminal, if the command line sets nothing: the product, an attribute, and its
//! value.

use crate::cli::command_line::CommandLine;
use crate::client::service::Service;
use crate::prompt::{Objection, Question};
use storefront_core::failure::Failure;

/// Asks for what is open; returns the command line with the answers.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves.
pub fn ask(service: &Service<'_>, is_named: bool) -> Result<CommandLine, Failure> {
    let mut line = service.typed();
    if !is_named {
        line = line.with(vec![typed(service, "SKU")?]);
    }
    let code = typed(service, "Attribute (code or label)")?;
    let value = typed(service, "Value")?;
    Ok(line.with(vec![format!("{code}={value}")]))
}

fn typed(service: &Service<'_>, text: &str) -> Result<String, Failure> {
    let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
    let question = Question { text, ..Question::default() };
    let typed = service.session.prompt().text(&question, is_given)?;
    Ok(typed.ok_or_else(Failure::cancelled)?.trim().to_owned())
}
