//! `storefront template`: an input to edit on standard output, the meaning of its fields on standard error.

use crate::cli::{OperationArgs, TemplateFormat};
use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::report::table::{header, new_table, render};
use crate::session::Session;
use crate::template;

/// Prints a template. JSON has no comments, so the explanations go to standard error.
///
/// # Errors
/// `usage` for an operation there is none of.
pub fn run(session: &Session<'_>, words: &OperationArgs, format: TemplateFormat) -> Result<(), Failure> {
    let operation = Operation::parse(&words.words)?;
    match format {
        TemplateFormat::Json => {
            session.report.stdout(&template::json(session.dialect, operation)?)?;
            explain(session, operation);
        }
        TemplateFormat::Csv => {
            session.report.stdout(&template::csv(session.dialect, operation)?)?;
            explain_columns(session, operation);
        }
    }
    Ok(())
}

fn explain_columns(session: &Session<'_>, operation: Operation) {
    let mut table = new_table(session.report.stderr_style());
    table.set_header(header(&["COLUMN", "CELLS", "DESCRIPTION"]));
    for (title, holds, doc) in template::columns(session.dialect, operation) {
        table.add_row([title.as_str(), holds, doc.as_str()]);
    }
    session.report.status(&render(&table));
    session.report.status("Leave out any column you do not need; an empty cell leaves the value unchanged.");
}

fn explain(session: &Session<'_>, operation: Operation) {
    let mut table = new_table(session.report.stderr_style());
    table.set_header(header(&["FIELD", "TYPE", "DESCRIPTION"]));
    for (path, member) in operation.schema(session.dialect).fields() {
        table.add_row([path.as_str(), member.field_type.expected(), member.doc]);
    }
    session.report.status(&render(&table));
    session.report.status(&format!(
        "Only {} is required; omit any other field you do not need.",
        operation.spec().required
    ));
}
