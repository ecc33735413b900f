//! `storefront help`: topics, each read off the table the program itself uses; and the help of a command.

use std::fmt::Write;

use crate::failure::{Failure, FailureKind};
use crate::plan::operation::Operation;
use crate::plan::request::dialect::MARKETPLACE;
use crate::session::Session;
use crate::suggestion::closest_match;
use crate::{cli, environment};

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
pub fn run(session: &Session<'_>, words: &[String]) -> Result<(), Failure> {
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
    let codes = FailureKind::ALL.map(|kind| (kind.exit_code().to_string(), kind));
    let rows = codes.iter().fold(String::new(), |mut text, (code, kind)| {
        let _ = writeln!(text, "  {code:>3}  {:<12} {}", kind.name(), kind.meaning());
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

/// Two columns.
fn rows<'a>(rows: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.fold(String::new(), |mut text, (name, meaning)| {
        let _ = writeln!(text, "  {name:<width$}  {meaning}");
        text
    })
}
