//! What the program says of itself: help, manual pages, templates.

use std::fmt::Write;
use std::path::Path;

use clap_mangen::Man;

use crate::cli::{self, OperationArgs, TemplateFormat};
use crate::failure::{Failure, KINDS};
use crate::plan::operation::Operation;
use crate::plan::request::dialect::MARKETPLACE;
use crate::report::style::{header, new_table, render};
use crate::session::Session;
use crate::suggestion::closest_match;
use crate::{environment, template};

/// A topic and its text.
type Topic = (&'static str, &'static str, fn() -> String);

const TOPICS: &[Topic] = &[
    ("exit-codes", "Exit codes", exit_codes),
    ("environment", "Environment variables", environment),
    ("input", "Input fields by operation", input),
];

/// Prints a topic, or the help of the command these words name.
///
/// # Errors
/// `usage` where there is neither.
pub fn help(session: &Session<'_>, words: &[String]) -> Result<(), Failure> {
    if let [word] = words
        && let Some((_, _, text)) = TOPICS.iter().find(|(name, ..)| name == word)
    {
        return session.report.stdout(&text());
    }
    let mut command = cli::command();
    command.build();
    let found = words.iter().try_fold(&mut command, |command, word| {
        let known: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
        command.find_subcommand_mut(word).ok_or_else(|| neither(word, &known))
    })?;
    // As `--help` does: the long form only where there is more to say.
    let is_long = found.get_long_about().is_some();
    let help = if is_long { found.render_long_help() } else { found.render_help() };
    let text = if session.report.color_stdout { help.ansi().to_string() } else { help.to_string() };
    let topics = if words.is_empty() { listed_topics() } else { String::new() };
    session.report.stdout(&format!("{}\n{topics}", text.trim_end()))
}

fn neither(word: &str, known: &[String]) -> Failure {
    let topics = TOPICS.iter().map(|(name, ..)| *name);
    let near = closest_match(word, known.iter().map(String::as_str).chain(topics.clone()));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("available topics: {}", topics.collect::<Vec<_>>().join(", ")),
    };
    Failure::usage(format!("no help topic or command `{word}`")).hint(hint)
}

fn listed_topics() -> String {
    format!("\nTopics of storefront help:\n{}", rows(TOPICS.iter().map(|(name, about, _)| (*name, *about))))
}

fn exit_codes() -> String {
    let rows = KINDS.iter().fold(String::new(), |mut text, (_, code, name, meaning)| {
        let _ = writeln!(text, "  {code:>3}  {name:<12} {meaning}");
        text
    });
    format!(
        "    0               done\n{rows}\nWith -o json an error is one JSON object on stderr; `kind` is the name above.\n"
    )
}

fn environment() -> String {
    rows(
        environment::ALL.iter().chain(environment::DIRECTORIES).map(|variable| (variable.name, variable.doc)),
    )
}

fn input() -> String {
    let mut text =
        "--input FILE reads JSON, NDJSON or CSV; - is stdin. Flags override the input.\nThe wrapper object is optional. A JSON array, NDJSON and CSV are processed as a batch.\n`storefront template OPERATION` prints an example, `storefront schema OPERATION` a JSON Schema.\n"
            .to_owned();
    for operation in Operation::ALL {
        let members = operation.schema(&MARKETPLACE).fields();
        let _ = writeln!(text, "\n{}", operation.name());
        text += &rows(members.iter().map(|(path, member)| (path.as_str(), member.doc)));
    }
    text
}

/// A topic is no wider than this.
const WIDTH: usize = 100;

/// A longer name has a line of its own.
const LONGEST_NAME: usize = 48;

/// Two columns, the second wrapped.
fn rows<'a>(rows: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let lengths = rows.clone().map(|(name, _)| name.len());
    let width = lengths.filter(|length| *length <= LONGEST_NAME).max().unwrap_or(0);
    let indent = width + 4;
    rows.fold(String::new(), |mut text, (name, meaning)| {
        let mut line = format!("  {name:<width$} ");
        if name.len() > width {
            let _ = writeln!(text, "  {name}");
            line = " ".repeat(indent - 1);
        }
        for word in meaning.split(' ') {
            if line.len() > indent && line.chars().count() + 1 + word.chars().count() > WIDTH {
                let _ = writeln!(text, "{line}");
                line = " ".repeat(indent - 1);
            }
            let _ = write!(line, " {word}");
        }
        let _ = writeln!(text, "{line}");
        text
    })
}

/// Writes one page a command to `directory`, or prints the first page.
///
/// # Errors
/// `internal` when the directory cannot be written.
pub fn man(session: &Session<'_>, directory: Option<&Path>) -> Result<(), Failure> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        Man::new(cli::command())
            .render(&mut page)
            .map_err(|error| Failure::internal(format!("cannot generate the man page: {error}")))?;
        return session.report.stdout(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(cli::command(), directory))
        .map_err(|error| Failure::internal(format!("cannot write `{}`: {error}", directory.display())))
}

/// Prints a template. JSON has no comments, so the explanations go to standard error.
///
/// # Errors
/// `usage` for an operation there is none of.
pub fn template(session: &Session<'_>, words: &OperationArgs, format: TemplateFormat) -> Result<(), Failure> {
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
