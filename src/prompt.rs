//! Questions to a person, on the terminal, in the words and colors of `dialoguer`'s themes. Lists, lines of text and
//! confirmations are ours: they take Esc, and no yes that was typed ahead.

mod consent;
mod keyboard;
mod list;
mod text;
mod theme;

use std::io;
use std::time::{Duration, Instant};

use dialoguer::console::{self, Term, measure_text_width, truncate_str};
use dialoguer::theme::{ColorfulTheme, Theme};

pub use consent::{Asked, Consent};
pub use text::{Objection, Question};

use crate::cli::GlobalArgs;
use crate::report::Report;
use crate::system::context::Context;
use keyboard::Keyboard;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::text::sanitize::sanitize_line;
use theme::PlainTheme;

/// Nobody reads a question and answers it in less time.
const READING: Duration = Duration::from_millis(300);

/// Whether and how questions are asked in this run.
pub struct Prompt {
    /// The terminal for questions; `None` if nobody can be asked.
    term: Option<Term>,
    /// Whether standard input is a terminal, and `--no-input` is not given.
    is_attended: bool,
    no_input: bool,
    yes: bool,
    accessible: bool,
    theme: Box<dyn Theme>,
    consent: Consent,
}

/// The consent without a question.
#[derive(Debug, Clone, Copy)]
pub struct Unasked {
    yes: bool,
    can_ask: bool,
    why_not: &'static str,
}

impl Unasked {
    /// Whether `--yes` was given.
    pub fn is_given(self) -> bool {
        self.yes
    }

    /// Whether somebody could be asked at another time.
    pub fn can_be_asked(self) -> bool {
        self.can_ask
    }

    /// As [`Prompt::confirm_deletion`], without the question.
    ///
    /// # Errors
    /// `guard` without `--yes`.
    pub fn given_to(self, question: &str) -> Result<(), Failure> {
        if self.yes { Ok(()) } else { Err(cannot_ask(question, self.why_not)) }
    }
}

fn cannot_ask(question: &str, why_not: &str) -> Failure {
    Failure::guard(format!("cannot ask `{question}`: {why_not}")).hint("add --yes")
}

impl Prompt {
    /// Decides by terminals and flags.
    pub fn new(context: &Context, global: &GlobalArgs, report: &Report, consent: &Consent) -> Self {
        console::set_colors_enabled_stderr(report.stderr_style.color);
        let is_attended = context.stdin_is_terminal && !global.no_input;
        let term = match (is_attended, context.stderr_is_terminal) {
            (false, _) => None,
            (true, true) => Some(Term::stderr()),
            (true, false) => controlling_terminal(),
        };
        // Without color the marks of this theme are still there; on a plain terminal they would only be read out.
        let theme: Box<dyn Theme> =
            if report.accessible { Box::new(PlainTheme) } else { Box::new(ColorfulTheme::default()) };
        let no_input = global.no_input;
        let yes = global.yes;
        let accessible = report.accessible;
        Self { term, is_attended, no_input, yes, accessible, theme, consent: consent.clone() }
    }

    /// Whether a person is there: then writes are confirmed, or refused if the question cannot be shown.
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }

    /// Whether questions can be asked: there is a terminal, and they are not forbidden.
    pub fn can_ask(&self) -> bool {
        self.term.is_some()
    }

    /// Whether [`Self::confirm`] asks, or refuses if the question cannot be shown.
    pub fn confirms(&self) -> bool {
        self.is_attended && !self.yes
    }

    /// Whether `--yes` answers confirmations.
    pub fn assume_yes(&self) -> bool {
        self.yes
    }

    /// Prints the subject of a question to its terminal, as it is: the caller escapes foreign text.
    pub fn show(&self, text: &str) {
        if let Some(term) = &self.term {
            let _ = term.write_line(text);
        }
    }

    /// Asks for a secret, which is not shown while it is typed. An empty one is asked for again. `hint` tells how to give
    /// it without a question.
    ///
    /// # Errors
    /// As [`Self::text`]; [`Failure::cancelled`] by Esc, too.
    pub fn password(&self, text: &str, hint: &str) -> Result<String, Failure> {
        let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
        let question = Question { text, hint, is_secret: true, ..Question::default() };
        self.text(&question, is_given)?.ok_or_else(Failure::cancelled)
    }

    /// Asks for one of several choices; returns its position, or `None` for Esc. `present` is marked at first. Only if
    /// [`Self::can_ask`]. Foreign text in the choices is escaped. Text after two blanks explains a choice.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn select(
        &self,
        question: &str,
        choices: &[String],
        present: usize,
    ) -> Result<Option<usize>, Failure> {
        self.list(question, choices, present, true)
    }

    /// Asks with a list that is shown repeatedly, and erased when it is answered.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn menu(&self, question: &str, choices: &[String], present: usize) -> Result<Option<usize>, Failure> {
        self.list(question, choices, present, false)
    }

    fn list(
        &self,
        question: &str,
        choices: &[String],
        present: usize,
        stays: bool,
    ) -> Result<Option<usize>, Failure> {
        let choices: Vec<String> = choices.iter().map(|choice| sanitize_line(choice)).collect();
        if self.accessible {
            return self.select_by_number(question, &choices, present);
        }
        let (term, keyboard) = self.begin()?;
        let chosen = self.choose((term, &keyboard), question, &choices, present)?;
        if let Some(chosen) = chosen.filter(|_| stays) {
            let choice = choices[chosen].split("  ").next().unwrap_or_default();
            // The marks of the theme are six columns.
            let room = usize::from(term.size().1).saturating_sub(measure_text_width(question) + 6).max(10);
            let choice = truncate_str(choice, room, "…");
            self.show(&rendered(|out| self.theme.format_select_prompt_selection(out, question, &choice)));
        }
        Ok(chosen)
    }

    fn select_by_number(
        &self,
        question: &str,
        choices: &[String],
        present: usize,
    ) -> Result<Option<usize>, Failure> {
        let list = choices.iter().enumerate().map(|(index, choice)| format!("{}. {choice}", index + 1));
        self.show(&std::iter::once(question.to_owned()).chain(list).collect::<Vec<_>>().join("\n"));
        let last = choices.len();
        let enter = present + 1;
        let text = format!("Number or words of a line (1 to {last}, Enter for {enter})");
        let check = |text: &str| match text.trim() {
            "" => Ok(()),
            text => list::check_line(choices, text),
        };
        let question = Question { text: &text, is_choice: true, ..Question::default() };
        let typed = self.text(&question, check)?;
        Ok(typed.and_then(|text| match text.trim() {
            "" => Some(present),
            text => list::line_of(choices, text).ok(),
        }))
    }

    /// Asks for yes or no; `None` for Esc. Enter alone answers `present`. Only if [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn yes_no(&self, question: &str, present: bool) -> Result<Option<bool>, Failure> {
        let (choice, when_empty) = if present { ("Y/n", "yes") } else { ("y/N", "no") };
        let text = format!("{question} ({choice})");
        let check = |text: &str| is_yes_or_no(if text.trim().is_empty() { "y" } else { text });
        let typed = self.text(&Question { text: &text, when_empty, ..Question::default() }, check)?;
        Ok(typed.map(|text| yes_or_no(&text).unwrap_or(present)))
    }

    /// Asks for a yes that is typed after the question appeared. `--yes` answers it, and so does the absence of a person:
    /// a script has decided.
    ///
    /// # Errors
    /// [`Failure::cancelled`] for any other answer; `guard` if a person is there without a terminal for the question.
    pub fn confirm(&self, question: &str) -> Result<(), Failure> {
        cancelled_unless(self.confirm_or_back(question)?)
    }

    /// Asks for a confirmation; `false` for Esc, which leads back to the question before.
    ///
    /// # Errors
    /// As [`Self::confirm`].
    pub fn confirm_or_back(&self, question: &str) -> Result<bool, Failure> {
        if self.confirms() { self.confirm_by_person(question) } else { Ok(true) }
    }

    /// As [`Self::confirm`], but the absence of a person is not consent: for deletions.
    ///
    /// # Errors
    /// As [`Self::confirm`], and `guard` if nobody can be asked.
    pub fn confirm_deletion(&self, question: &str) -> Result<(), Failure> {
        cancelled_unless(self.yes || self.confirm_by_person(question)?)
    }

    /// The consent without a question.
    pub fn unasked(&self) -> Unasked {
        Unasked { yes: self.yes, can_ask: self.can_ask(), why_not: self.why_not() }
    }

    fn confirm_by_person(&self, question: &str) -> Result<bool, Failure> {
        if !self.can_ask() {
            return Err(cannot_ask(question, self.why_not()));
        }
        match self.typed_yes(question)? {
            Some(false) => Err(Failure::cancelled()),
            Some(true) => {
                self.consent.was_given();
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Asks whether a command may write at all, before anything is shown. Only if [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] for any other answer.
    pub fn permits(&self, question: &str) -> Result<(), Failure> {
        cancelled_unless(self.agrees(question)?)?;
        self.consent.to_write_was_given();
        Ok(())
    }

    /// Whether a person wants to continue, by a yes as for [`Self::confirm`]. It is no consent to a write. Only if
    /// [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn agrees(&self, question: &str) -> Result<bool, Failure> {
        Ok(self.typed_yes(question)? == Some(true))
    }

    /// Whether a person continues in spite of a refusal; `--yes` does not answer it.
    ///
    /// # Errors
    /// The refusal, if nobody can be asked.
    pub fn accepts(&self, refusal: &Failure) -> Result<bool, Failure> {
        if !self.can_ask() {
            return Err(refusal.clone());
        }
        self.agrees(&format!("{}. Continue?", refusal.message))
    }

    fn typed_yes(&self, question: &str) -> Result<Option<bool>, Failure> {
        let typed = self.typed(&format!("{question} (y/n)"), &is_yes_or_no)?;
        Ok(typed.and_then(|text| yes_or_no(&text)))
    }

    /// How many addresses may be deleted: a person has to type the number.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn number_of_deletions(&self, deleted: usize) -> Result<usize, Failure> {
        let addresses = if deleted == 1 { "address" } else { "addresses" };
        let text = format!("This deletes {deleted} {addresses}. Type the number to confirm");
        self.require(&text, "add --allow-delete N")?;
        let number = |text: &str| text.trim().parse().ok();
        let check = |text: &str| Objection::unless(number(text).is_some(), "enter a number");
        let typed = self.typed(&text, &check)?.as_deref().and_then(number).ok_or_else(Failure::cancelled)?;
        if typed == deleted {
            self.consent.was_given();
        }
        Ok(typed)
    }

    /// An answer that is typed after the question appeared: not one that was typed before, and not one that came at once,
    /// which is a paste.
    fn typed(
        &self,
        text: &str,
        check: &dyn Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let (term, keyboard) = self.begin()?;
        let question = Question { text, ..Question::default() };
        self.line((term, &keyboard), &question, Some(Instant::now() + READING), check)
    }

    /// Takes the terminal over. Text that was typed before the question appeared does not answer it.
    fn begin(&self) -> Result<(&Term, Keyboard), Failure> {
        let Some(term) = &self.term else { return Err(stopped(io::ErrorKind::NotConnected.into())) };
        Ok((term, Keyboard::open().map_err(stopped)?))
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

fn cancelled_unless(yes: bool) -> Result<(), Failure> {
    if yes { Ok(()) } else { Err(Failure::cancelled()) }
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

fn is_yes_or_no(text: &str) -> Result<(), Objection> {
    Objection::unless(yes_or_no(text).is_some(), "type y or n")
}

/// The terminal that controls this process, if standard error is redirected.
#[cfg(unix)]
fn controlling_terminal() -> Option<Term> {
    let terminal = std::fs::File::options().read(true).write(true).open("/dev/tty").ok()?;
    Some(Term::read_write_pair(terminal.try_clone().ok()?, terminal))
}

/// Windows has no such file; standard output is used instead.
#[cfg(windows)]
fn controlling_terminal() -> Option<Term> {
    Some(Term::stdout()).filter(Term::is_term)
}

fn rendered(format: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = format(&mut text);
    text
}

/// The failure after a signal, or when the terminal went away: nothing was done yet.
fn stopped(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::Interrupted {
        return Failure::cancelled();
    }
    Failure::new(FailureKind::Interrupted, format!("cannot read the answer: {error}")).applied(Applied::No)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Prompt, Question};
    use crate::cli::{GlobalArgs, OutputFormat};
    use crate::report::Report;
    use crate::system::context::Context;
    use storefront_core::failure::FailureKind;

    fn prompt(terminal: bool, yes: bool, no_input: bool) -> Prompt {
        let mut context = Context::detached(&[], Path::new("/"));
        context.stdin_is_terminal = terminal;
        context.stderr_is_terminal = terminal;
        let global = GlobalArgs { no_input, yes, ..GlobalArgs::default() };
        let report = Report::new(&context, OutputFormat::Table, None, false, 0);
        Prompt::new(&context, &global, &report, &super::Consent::default())
    }

    #[test]
    fn nobody_is_asked_where_nobody_is() {
        let question = Question { text: "name", hint: "use -p NAME", ..Question::default() };
        let failure = prompt(false, false, false).text(&question, |_| Ok(())).unwrap_err();
        assert_eq!(failure.hint, Some("use -p NAME".into()));
        assert!(prompt(true, false, true).password("token", "").unwrap_err().message.contains("--no-input"));
        assert!(prompt(true, false, true).text(&question, |_| Ok(())).is_err());
    }

    #[test]
    fn a_script_and_yes_confirm_and_a_deletion_needs_the_yes() {
        for (terminal, yes, no_input) in [(false, false, false), (true, true, true), (true, false, true)] {
            let prompt = prompt(terminal, yes, no_input);
            assert_eq!(prompt.confirm("sure?").map_err(|failure| failure.message), Ok(()));
            let deletion = prompt.confirm_deletion("sure?").map_err(|failure| (failure.kind, failure.hint));
            let refused = (FailureKind::Guard, Some("add --yes".into()));
            assert_eq!(deletion, if yes { Ok(()) } else { Err(refused) });
        }
    }
}
