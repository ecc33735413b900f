//! Questions to a person, on the terminal; they look as `dialoguer`'s themes have it.
//!
//! `dialoguer`'s own prompts confirm by whatever was pasted or typed ahead, and take no Ctrl-D.

mod block;
mod choice;
mod confirmation;
mod device;
mod file_name;
mod keyboard;
mod keys;
mod line_editor;
mod list;
mod question;
mod text_input;
mod transcript;

use std::cell::RefCell;
use std::io;

use dialoguer::console;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};

pub use file_name::meant as file_meant;
pub use keyboard::signals_are_listened_to;
pub use question::{Answer, Objection, Question};

use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::failure::{Applied, Failure, FailureKind};
use crate::report::Report;
use crate::report::style::TextStyle;
use crate::sanitize::sanitize;
use block::rows;
use device::Device;
use keyboard::Keyboard;
use keys::Decoder;
use text_input::{Field, Mode, TextInput};
use transcript::Transcript;

#[cfg(test)]
mod tests;

/// Whether and how questions are asked in this run.
pub struct Prompt {
    device: Option<Device>,
    /// Standard input is a terminal, and `--no-input` is not given.
    is_attended: bool,
    no_input: bool,
    yes: bool,
    accessible: bool,
    theme: Box<dyn Theme>,
    typed_ahead: RefCell<Decoder>,
    transcript: Transcript,
}

impl Prompt {
    /// Decides from terminals and flags.
    pub fn new(context: &Context, global: &GlobalArgs, report: &Report) -> Self {
        console::set_colors_enabled_stderr(report.color_stderr);
        let is_attended = context.stdin_is_terminal && !global.no_input;
        let device = match (is_attended, context.stderr_is_terminal) {
            (false, _) => None,
            (true, true) => Some(Device::StandardError),
            (true, false) => Device::controlling(),
        };
        Self {
            device,
            is_attended,
            no_input: global.no_input,
            yes: global.yes,
            accessible: report.accessible,
            theme: if report.color_stderr {
                Box::new(ColorfulTheme::default())
            } else {
                Box::new(SimpleTheme)
            },
            ..Self::disabled()
        }
    }

    /// Asks nothing: for runs that change nothing.
    pub fn disabled() -> Self {
        Self {
            device: None,
            is_attended: false,
            no_input: true,
            yes: false,
            accessible: false,
            theme: Box::new(SimpleTheme),
            typed_ahead: RefCell::default(),
            transcript: Transcript::default(),
        }
    }

    /// Whether a person is there: what writes is then confirmed, or refused where the question cannot be shown.
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }

    /// Whether a question would be asked: on a terminal, and not forbidden.
    pub fn can_ask(&self) -> bool {
        self.device.is_some()
    }

    /// Whether `--yes` answers what is confirmed.
    pub fn assume_yes(&self) -> bool {
        self.yes
    }

    /// Prints what a question is about, where questions are printed; it goes again when the person goes back. As it is
    /// written as it is, the caller escapes what is foreign.
    pub fn show(&self, text: &str) {
        let Some(device) = &self.device else { return };
        device.write(&format!("{text}\n"));
        self.transcript.shown(rows(text, device.size().0));
    }

    /// A warning about what is asked, shown as [`Self::show`] does; where nobody can be asked it goes to the report.
    pub fn warn(&self, report: &Report, text: &str) {
        const LABEL: &str = "warning:";
        if !self.can_ask() {
            return report.warn(text);
        }
        let screen = report.stderr_style();
        let text = screen.wrapped(&format!("{LABEL} {}", sanitize(text)));
        self.show(&format!("{}{}", screen.paint(TextStyle::Warning, LABEL), &text[LABEL.len()..]));
    }

    /// A line of text that passes `check`, which answers with what is wrong. `hint` says how to give it without a question.
    ///
    /// # Errors
    /// `usage` when nobody can be asked, [`Failure::cancelled`] when the person leaves, by Esc too.
    pub fn input(
        &self,
        question: &str,
        hint: &str,
        default: Option<&str>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Failure> {
        self.require(question, hint)?;
        let question = Question::new(question).initial(default.unwrap_or_default());
        self.text(&question, |text| Ok(check(text)?))?.ok_or_else(Failure::cancelled)
    }

    /// A secret, not shown while it is typed.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn password(&self, question: &str, hint: &str) -> Result<String, Failure> {
        self.require(question, hint)?;
        self.field(&Question::new(question), Mode::Secret, &|_| Ok(()))?.ok_or_else(Failure::cancelled)
    }

    /// A line of text that passes `check`; `None` for Esc. Only for where [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn text(
        &self,
        question: &Question<'_>,
        check: impl Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let mode = if question.is_file { Mode::FileName } else { Mode::Text };
        self.field(question, mode, &check)
    }

    /// Lines until an empty one, beginning with those of `initial`. Esc goes back one line, and before the first it
    /// gives `None`. A paste gives as many lines as it has, and the empty ones among them do not end the list.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn text_lines(
        &self,
        question: impl Fn(usize) -> String,
        note: &str,
        initial: &[String],
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<Option<Vec<String>>, Failure> {
        let check = |text: &str| match text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(&check)
            .find(Result::is_err)
        {
            Some(Err(wrong)) => Err(wrong.into()),
            _ => Ok(()),
        };
        let mut lines: Vec<String> = Vec::new();
        let mut again: Option<String> = None;
        loop {
            let present = again.take().or_else(|| initial.get(lines.len()).cloned()).unwrap_or_default();
            let text = question(lines.len() + 1);
            let question = Question::new(&text).note(note).initial(&present);
            match self.field(&question, Mode::Lines, &check)? {
                Some(text) if text.trim().is_empty() => return Ok(Some(lines)),
                Some(text) => {
                    lines.extend(
                        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned),
                    );
                }
                None => match lines.pop() {
                    Some(last) => again = Some(last),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Asks for a line; `None` for Esc.
    fn field(
        &self,
        question: &Question<'_>,
        mode: Mode,
        check: &dyn Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let (device, mut keyboard) = self.begin()?;
        let field = Field { device, theme: &*self.theme, question, mode, check };
        let (typed, rows) = field.ask(&mut keyboard).map_err(stopped)?;
        match typed {
            TextInput::Text(text) => {
                self.transcript.answered(rows);
                Ok(Some(text))
            }
            TextInput::Back => {
                self.transcript.go_back();
                Ok(None)
            }
            TextInput::Interrupted => Err(Failure::cancelled()),
        }
    }

    /// Takes the terminal over; of a question that is asked again, nothing stays of the first time.
    fn begin(&self) -> Result<(&Device, Keyboard<'_>), Failure> {
        let Some(device) = &self.device else { return Err(stopped(io::ErrorKind::NotConnected.into())) };
        let rows = self.transcript.taken_back();
        if rows > 0 && !self.accessible {
            device.write(&format!("\x1b[{rows}A\r\x1b[J"));
        }
        let keyboard = Keyboard::open(device, &self.typed_ahead).map_err(stopped)?;
        Ok((device, keyboard))
    }

    fn require(&self, question: &str, hint: &str) -> Result<(), Failure> {
        if self.can_ask() {
            return Ok(());
        }
        Err(Failure::usage(format!("cannot ask for the {question}: {}", self.why_not())).hint(hint))
    }

    fn why_not(&self) -> &'static str {
        if self.no_input { "`--no-input` was given" } else { "not a terminal" }
    }
}

fn rendered(format: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = format(&mut text);
    text
}

/// A signal came, or the terminal went away: nothing was done yet.
fn stopped(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::Interrupted {
        return Failure::cancelled();
    }
    Failure::new(FailureKind::Interrupted, format!("cannot read the answer: {error}")).applied(Applied::No)
}
