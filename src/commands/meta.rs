//! What the program tells about itself: help, manual pages, templates.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::{Args, ValueEnum};
use clap_complete::engine::CompletionCandidate;
use clap_mangen::Man;

use super::grammar;
use crate::client::Session;
use crate::input::template;
use crate::report::Report;
use crate::report::style::{OutputStyle, table, wrap};
use crate::system::environment;
use crate::system::storage::replace_durably;
use storefront_core::failure::{Failure, KINDS};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::dialect::MARKETPLACE;
use storefront_core::operation::{OPERATIONS, OperationSpec};
use storefront_core::text::sanitize::sanitize_line;
use storefront_core::text::suggestion::closest_match;

/// The operation whose input is described.
#[derive(Debug, Args)]
pub struct OperationName {
    /// The operation, as it is typed or as one word: quote ship, or quote-ship
    #[arg(id = "operation", value_name = "OPERATION", required = true, num_args = 1..=3)]
    pub words: Vec<String>,
}

/// Form of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TemplateFormat {
    /// One document.
    Json,
    /// A header and one row.
    Csv,
}

/// Print an example input to edit (field descriptions go to stderr)
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  storefront template quote ship
  storefront template customer-update -q > change.json
  storefront template attribute create --format csv")]
pub struct TemplateArgs {
    /// The operation.
    #[command(flatten)]
    pub operation: OperationName,
    /// Input format
    #[arg(long, value_name = "json|csv", default_value = "json", hide_possible_values = true)]
    pub format: TemplateFormat,
}

/// What `--version` prints: the version, the commit where the build was told of one, and the target.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("STOREFRONT_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.map(|commit| format!("{commit:.10}, ")).unwrap_or_default();
    let libc = if cfg!(target_env = "musl") { "-musl" } else { "" };
    format!("{} ({commit}{ARCH}-{OS}{libc})", env!("CARGO_PKG_VERSION"))
});

/// A topic: its name, what it is about, and its text for that screen.
pub type Topic = (&'static str, &'static str, fn(OutputStyle) -> String);

/// What `storefront help` explains besides the commands.
pub const TOPICS: [Topic; 4] = [
    ("exit-codes", "Exit codes", exit_codes),
    ("environment", "Environment variables", environment),
    ("input", "Input fields by operation", input),
    ("assistants", "Instructions for an assistant (a skill file)", |_| {
        include_str!("assistants.md").to_owned()
    }),
];

/// The words that can follow `help`, and a command in it: topics and commands.
fn names(command: &clap::Command) -> Vec<String> {
    let commands = command.get_subcommands().map(clap::Command::get_name);
    TOPICS.iter().map(|(name, ..)| *name).chain(commands).map(str::to_owned).collect()
}

/// The completions of `help`.
pub fn help_words() -> Vec<CompletionCandidate> {
    names(&grammar()).into_iter().map(CompletionCandidate::new).collect()
}

/// Prints a topic, or the help of the command these words name.
///
/// # Errors
/// `usage` where there is neither.
pub fn help(report: &Report, words: &[String]) -> Result<(), Failure> {
    if let [word] = words
        && let Some((_, _, text)) = TOPICS.iter().find(|(name, ..)| name == word)
    {
        return report.stdout(text(report.stdout_style));
    }
    let mut command = grammar();
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            let known = names(&command);
            let hint = match closest_match(word, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?").into(),
                None => hint!("run ", storefront("help"), " to see commands and topics"),
            };
            return Err(Failure::usage(format!("no help topic or command `{word}`")).hint(hint));
        };
        command = found.clone();
    }
    // As `--help` does: the long form only where there is more to say.
    let is_long = command.get_long_about().is_some();
    let help = if is_long { command.render_long_help() } else { command.render_help() };
    let text = if report.stdout_style.color { help.ansi().to_string() } else { help.to_string() };
    report.stdout(format!("{}\n", text.trim_end()))?;
    if words.is_empty() {
        let topics = TOPICS.map(|(name, about, _)| format!("  {name:<11}  {about}\n")).concat();
        report.stdout(format!("\nTopics of storefront help:\n{topics}"))?;
    }
    Ok(())
}

fn exit_codes(screen: OutputStyle) -> String {
    // The width of the columns before a meaning.
    let indent = " ".repeat(20);
    let row = |(_, code, name, meaning)| {
        let columns = screen.width.map_or(1000, usize::from).max(40);
        wrap(meaning, columns, &format!("  {code:>3}  {name:<12} "), &indent).join("\n") + "\n"
    };
    let rows = KINDS.map(row).concat();
    format!(
        "    0               done\n{rows}
For a batch, the first of these that applies:
    7  some records failed permanently: correct them
    8  some may have been applied: look which were
    9  some were written with an address or a change missing: compare them
    5  some were not sent or failed temporarily: --resume sends them

With -o json an error is one JSON object on stderr; `kind` is the name above.\n"
    )
}

fn environment(screen: OutputStyle) -> String {
    let variables = environment::ALL.iter().chain(environment::DIRECTORIES);
    table(screen, &[], variables.map(|variable| [variable.name, variable.doc])) + "\n"
}

fn input(screen: OutputStyle) -> String {
    let fields = OPERATIONS.map(|operation| {
        let fields = operation.schema(&MARKETPLACE).fields();
        let rows = fields.iter().map(|(path, field)| [path.as_str(), field.doc]);
        format!("\n{}\n{}\n", operation.name, table(screen, &[], rows))
    });
    format!(
        r#"--input FILE reads JSON, NDJSON or CSV; - is stdin. Flags override the input.
The wrapper object is optional. A JSON array, NDJSON and CSV are processed as
a batch. With an administrator's token each record of a batch names its customer
beside the fields, without a wrapper: {{"customer": 2, "firstname": "Ada"}}; or it
has the token of its customer in `token`.
`storefront template OPERATION` prints an example,
`storefront schema OPERATION` a JSON Schema.
{}"#,
        fields.concat()
    )
}

/// The first line of a page that `man` wrote, a comment: such a page may be replaced.
const OUR_PAGE: &str = ".\\\" Written by `storefront man`, which replaces this file.\n";

/// Writes one page a command to `directory`, or prints the first page.
///
/// # Errors
/// `guard` where a page would replace a file that is not one of ours, `internal` when the directory cannot be written.
pub fn man(report: &Report, directory: Option<&Path>) -> Result<(), Failure> {
    // The pages are the same on every system.
    let grammar = grammar().version(env!("CARGO_PKG_VERSION"));
    let Some(directory) = directory else {
        let mut page = Vec::new();
        let rendered = Man::new(grammar).render(&mut page);
        rendered.map_err(|error| Failure::internal(format!("cannot write the man page: {error}")))?;
        return report.stdout(&page);
    };
    let cannot =
        |error: io::Error| Failure::internal(format!("cannot write `{}`: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(cannot)?;
    let new = tempfile::tempdir().map_err(cannot)?;
    let pages = pages(grammar, new.path()).map_err(cannot)?;
    let targets = pages.iter().map(|page| directory.join(page.file_name().unwrap_or_default()));
    let targets: Vec<PathBuf> = targets.collect();
    if let Some(other) = targets.iter().find(|target| !is_free(target)) {
        let message = format!("`{}` exists and was not written by `storefront man`", other.display());
        return Err(Failure::guard(message).hint("choose another directory, or remove the file"));
    }
    pages.iter().zip(&targets).try_for_each(|(page, target)| write_page(page, target)).map_err(cannot)
}

/// Writes a page for each command to an empty directory, and lists the files there.
fn pages(grammar: clap::Command, directory: &Path) -> io::Result<Vec<PathBuf>> {
    clap_mangen::generate_to(grammar, directory)?;
    fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

/// Whether writing a page there loses nothing: there is no file, or a page of ours, and no link that leads elsewhere.
fn is_free(target: &Path) -> bool {
    match fs::symlink_metadata(target) {
        Ok(found) => {
            found.is_file() && fs::read(target).is_ok_and(|text| text.starts_with(OUR_PAGE.as_bytes()))
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn write_page(page: &Path, target: &Path) -> io::Result<()> {
    let text = [OUR_PAGE.as_bytes(), &fs::read(page)?].concat();
    match fs::OpenOptions::new().write(true).create_new(true).open(target) {
        Ok(mut file) => file.write_all(&text),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_free(target) => {
            replace_durably(target, &text, Some(fs::metadata(page)?.permissions()))
        }
        Err(error) => Err(error),
    }
}

/// Prints a template. JSON has no comments, so the explanations go to standard error.
///
/// # Errors
/// `usage` for an unknown operation.
pub fn template(session: &Session<'_>, args: &TemplateArgs) -> Result<(), Failure> {
    let operation = OperationSpec::parse(&args.operation.words)?;
    let dialect = session.dialect;
    let report = session.report;
    let (heads, rows, note) = match args.format {
        TemplateFormat::Json => {
            report.stdout(&*template::json(dialect, operation)?)?;
            let fields = operation.schema(dialect).fields().into_iter();
            let rows = fields.map(|(path, field)| (path, field.field_type.expected(), field.doc.to_owned()));
            let note = "Leave out any field you do not need; `storefront help input` explains batches.";
            (["FIELD", "TYPE", "DESCRIPTION"], rows.collect(), note)
        }
        TemplateFormat::Csv => {
            report.stdout(&template::csv(dialect, operation)?)?;
            let note = "Leave out any column you do not need; an empty cell leaves the value unchanged.";
            (["COLUMN", "CELLS", "DESCRIPTION"], template::columns(dialect, operation), note)
        }
    };
    let rows = rows.iter().map(|(name, holds, doc)| [name, *holds, doc].map(sanitize_line));
    report.laid_out(&table(report.stderr_style, &heads, rows));
    report.status(note);
    Ok(())
}
