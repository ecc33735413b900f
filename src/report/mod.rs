//! The only writer to standard output and standard error, except for the protocol of `mcp`.
//!
//! Standard output is data only; notes, warnings and errors go to standard error.

pub mod attribute;
pub mod changes;
pub mod export;
pub mod failure;
pub mod fields;
pub mod jq;
pub mod list;
pub mod ordered_results;
pub mod outcome;
pub mod profile;
pub mod progress;
pub mod style;
pub mod summary;

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;

use crate::cli::command_line::CommandLine;
use crate::cli::{Color, OutputFormat};
use crate::system::context::Context;
use crate::system::environment;
use crate::system::output::Output;
use jq::Filter;
use storefront_core::failure::{Applied, Failure};
use storefront_core::text::exact_json;
use storefront_core::text::redact::secrets;
use storefront_core::text::sanitize::{self, sanitize};
use style::{OutputStyle, TextStyle};

/// The most warnings that a plan notes.
const MAX_NOTED: usize = 100;

/// The output of this run: format, verbosity, color.
#[derive(Debug, Clone)]
pub struct Report {
    /// The line of the record that notes and warnings are about, in a batch.
    pub line: Option<u64>,
    /// The word for the places of records: `line`, or `record` in a plan.
    pub place: &'static str,
    /// Format of results.
    pub format: OutputFormat,
    /// Whether only results, warnings and errors are printed.
    pub quiet: bool,
    /// 0 silent about traffic, 1 requests and replies, 2 with bodies.
    pub verbose: u8,
    /// Whether the command may change something at the service, so that a failure says whether it did.
    pub can_write: bool,
    /// Standard output, for text a person reads.
    pub stdout_style: OutputStyle,
    /// Standard error, for text a person reads.
    pub stderr_style: OutputStyle,
    /// The filter of each result under `-o json`.
    pub filter: Option<Arc<Filter>>,
    /// Numbered questions and no moving parts, for screen readers (`STOREFRONT_ACCESSIBLE`) and `TERM=dumb`.
    pub accessible: bool,
    /// Whether a call that takes long shows a sign of life.
    shows_progress: bool,
    /// The first warnings since they were last taken, for the plan that is made.
    noted: Arc<Mutex<Vec<String>>>,
    /// Where everything is written.
    output: Arc<dyn Output>,
    /// Whether standard output is a terminal, which obeys what it is sent.
    stdout_is_terminal: bool,
}

impl Report {
    /// Decides about color from flag, environment and terminals.
    pub fn new(
        context: &Context,
        format: OutputFormat,
        color: Option<Color>,
        quiet: bool,
        verbose: u8,
    ) -> Self {
        let is_set = |name| context.var(name).ok().flatten().is_some_and(|value| value != "0");
        let forced = match color.unwrap_or_default() {
            Color::Always => Some(true),
            Color::Never => Some(false),
            Color::Auto if is_set(environment::CLICOLOR_FORCE) => Some(true),
            Color::Auto => is_set(environment::NO_COLOR).then_some(false),
        };
        // A dumb terminal cannot draw.
        let is_dumb = context.var(environment::TERM).is_ok_and(|term| term == Some("dumb"));
        let accessible = is_dumb || is_set(environment::ACCESSIBLE);
        let style = |width, is_terminal: bool| OutputStyle {
            width,
            color: forced.unwrap_or(is_terminal && context.obeys_escape_sequences && !is_dumb),
        };
        Self {
            line: None,
            place: "line",
            format,
            quiet,
            verbose,
            can_write: false,
            stdout_style: style(context.stdout_width, context.stdout_is_terminal),
            stderr_style: style(context.stderr_width, context.stderr_is_terminal),
            filter: None,
            accessible,
            noted: Arc::default(),
            output: context.output.clone(),
            stdout_is_terminal: context.stdout_is_terminal,
            shows_progress: context.stderr_is_terminal && !quiet && verbose == 0 && !accessible,
        }
    }

    /// This report, about the record on one line of a batch, or about none.
    #[must_use]
    pub fn for_line(&self, line: Option<u64>) -> Self {
        Self { line, ..self.clone() }
    }

    /// Whether results are JSON.
    pub fn is_json(&self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Writes the outcome of an operation.
    ///
    /// # Errors
    /// As [`Self::json`], with whether the write took effect. If it did, a reader that went away is an error, too.
    pub fn outcome(&self, outcome: &outcome::Outcome) -> Result<(), Failure> {
        let text = if self.is_json() {
            self.json_text(outcome, self.stdout_is_terminal)
        } else {
            Ok(outcome.to_text(self.stdout_style))
        };
        let written = text.and_then(|text| match self.write(text.as_bytes()) {
            Err(error) if outcome.applied == Applied::Yes || !is_reader_gone(&error) => {
                Err(unwritable(&error))
            }
            _ => Ok(()),
        });
        written.map_err(|failure| outcome.print_failed(failure))
    }

    /// Writes one JSON value to standard output, indented on a terminal, or what `--jq` makes of it.
    ///
    /// # Errors
    /// `usage` when the filter fails, `internal` when standard output cannot be written; a reader that went away is no
    /// error.
    pub fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        self.stdout(&self.json_text(value, self.stdout_is_terminal)?)
    }

    /// Writes a value as [`Self::json`] does under `-o json`, and else its text.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn value(
        &self,
        value: &impl Serialize,
        text: impl FnOnce(OutputStyle) -> String,
    ) -> Result<(), Failure> {
        if self.is_json() { self.json(value) } else { self.stdout(text(self.stdout_style)) }
    }

    /// Writes a JSON document as it is laid out, whatever the output format, or what `--jq` makes of it.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn document(&self, text: &str) -> Result<(), Failure> {
        self.stdout(self.shown_json(text)?)
    }

    /// Writes one JSON value of a list as one line, also on a terminal, or what `--jq` makes of it.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn json_line(&self, value: &impl Serialize) -> Result<(), Failure> {
        self.stdout(&self.json_text(value, false)?)
    }

    /// A value, or what `--jq` makes of it, with its tokens masked, and on a terminal free of what that would obey.
    fn json_text(&self, value: &impl Serialize, is_indented: bool) -> Result<String, Failure> {
        let is_indented = is_indented && self.filter.is_none();
        let write = if is_indented { serde_json::to_string_pretty } else { serde_json::to_string };
        let mut json = write(value)
            .map_err(|error| Failure::internal(format!("cannot write the result as JSON: {error}")))?;
        json.push('\n');
        self.shown_json(&json)
    }

    /// A JSON text as it is printed, or what `--jq` makes of it.
    fn shown_json(&self, json: &str) -> Result<String, Failure> {
        let Some(filter) = &self.filter else {
            let shown =
                if self.stdout_is_terminal { sanitize::in_json(json) } else { secrets().json_text(json) };
            return Ok(shown.into_owned());
        };
        // The input of the filter is masked, and its output again, because it may join parts of a token.
        let result = filter.apply(&secrets().json_text(json))?;
        let result = secrets().text(&result);
        Ok(if self.stdout_is_terminal { sanitize(&result).into_owned() } else { result.into_owned() })
    }

    /// Writes text or bytes to standard output as they are: the caller escapes what is foreign.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn stdout(&self, text: impl AsRef<[u8]>) -> Result<(), Failure> {
        match self.write(text.as_ref()) {
            Err(error) if !is_reader_gone(&error) => Err(unwritable(&error)),
            _ => Ok(()),
        }
    }

    /// Writes lines of foreign text to standard output: as they are to a file, and to a terminal free of what that would obey.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn foreign(&self, text: &str) -> Result<(), Failure> {
        let masked = secrets().text(text);
        self.stdout(if self.stdout_is_terminal {
            sanitize(&masked).into_owned()
        } else {
            masked.into_owned()
        })
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        progress::suspend(|| self.output.stdout(bytes))
    }

    /// A message on standard error, unless quiet or under `-o json`, where standard error is for objects. Control
    /// characters are escaped.
    pub fn status(&self, text: &str) {
        self.laid_out(&self.stderr_style.wrapped(&sanitize(&self.about(text))));
    }

    /// Prints a text on standard error that is not broken into lines, such as a command to copy; the caller escapes what is foreign.
    pub fn laid_out(&self, text: &str) {
        if !self.quiet && !self.is_json() {
            self.stderr(text);
        }
    }

    /// Prints a command that does the same as the answers of a dialogue.
    pub fn equivalent(&self, line: &CommandLine) {
        self.laid_out(&format!("Equivalent command:\n  {}", sanitize(&line.to_string())));
    }

    /// Takes the noted warnings: none is returned again.
    pub fn noted(&self) -> Vec<String> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A warning on standard error, also when quiet: something was changed or left out.
    pub fn warn(&self, text: &str) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < MAX_NOTED {
            noted.push(text.to_owned());
        }
        drop(noted);
        let text = self.about(text);
        if self.is_json() {
            let message = exact_json::object([("message", text.as_ref().into())]);
            return self.stderr_object("warning", message);
        }
        self.stderr(&self.labelled(TextStyle::Warning, "warning", &text));
    }

    fn about<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.line.map_or(Cow::Borrowed(text), |line| format!("{} {line}: {text}", self.place).into())
    }

    /// A foreign text after its label, as standard error shows it.
    pub fn labelled(&self, style: TextStyle, label: &str, text: &str) -> String {
        let label = format!("{label}:");
        let text = self.stderr_style.wrapped(&format!("{label} {}", sanitize(text)));
        format!("{}{}", self.stderr_style.paint(style, &label), &text[label.len()..])
    }

    /// An object of standard error under `-o json`, such as `{"warning": …}`.
    pub fn stderr_object(&self, kind: &str, value: Value) {
        self.stderr(&sanitize::in_json(&exact_json::object([(kind, value)]).to_string()));
    }

    /// A line on standard error as it is: the caller escapes what is foreign.
    pub fn stderr(&self, line: &str) {
        progress::suspend(|| self.output.stderr(line));
    }
}

fn is_reader_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write to stdout: {error}"))
}

/// Standard output, which suspends the progress line.
struct StandardOutput(Arc<dyn Output>);

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        progress::suspend(|| self.0.stdout(bytes)).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
