//! Questions to a person, on standard error. The only user of `dialoguer`.

mod line;
mod typed;

use std::time::{Duration, Instant};

use dialoguer::console::{self, Term, measure_text_width};
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, Password, Select};

use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::failure::{Applied, Failure, Kind};
use crate::report::Report;
use crate::report::escape::one_line;
use typed::Typed;

/// An empty line that comes sooner than this is part of a paste.
const FASTEST_TYPING: Duration = Duration::from_millis(30);

/// Whether and how questions are asked in this run.
pub struct Prompt {
    terminal: bool,
    no_input: bool,
    yes: bool,
    accessible: bool,
    theme: Box<dyn Theme>,
}

/// A person decided not to go on.
pub fn cancelled() -> Failure {
    Failure::new(Kind::Interrupted, "cancelled").applied(Applied::No)
}

impl Prompt {
    /// Decides from terminals and flags.
    pub fn new(context: &Context, global: &GlobalArgs, report: &Report) -> Self {
        console::set_colors_enabled_stderr(report.color_stderr);
        Self {
            terminal: context.can_prompt(),
            no_input: global.no_input,
            yes: global.yes,
            accessible: report.accessible,
            theme: if report.color_stderr {
                Box::new(ColorfulTheme::default())
            } else {
                Box::new(SimpleTheme)
            },
        }
    }

    /// Asks nothing: for runs that change nothing.
    pub fn silent() -> Self {
        Self { terminal: false, no_input: true, yes: false, accessible: false, theme: Box::new(SimpleTheme) }
    }

    /// How many addresses may be deleted: a person has to type the number.
    ///
    /// # Errors
    /// `interrupted` when the person leaves.
    pub fn number_of_deletions(&self, deleted: usize) -> Result<usize, Failure> {
        let question = format!("This deletes {deleted} of the addresses. Type that number to allow it");
        let check =
            |text: &str| text.trim().parse::<usize>().map(drop).map_err(|_| "type a number".to_owned());
        let typed = self.input(&question, "add --allow-delete N", None, check)?;
        Ok(typed.trim().parse().unwrap_or(0))
    }

    /// Whether a question would be asked: on a terminal, and not forbidden.
    pub fn can_ask(&self) -> bool {
        self.terminal && !self.no_input
    }

    /// Whether `--yes` answers what is confirmed.
    pub fn says_yes(&self) -> bool {
        self.yes
    }

    /// A line of text that passes `check`, which answers with what is wrong. `hint` says how to give it without a question.
    ///
    /// # Errors
    /// `usage` when nobody can be asked, `interrupted` when the person leaves, by Esc too.
    pub fn input(
        &self,
        question: &str,
        hint: &str,
        default: Option<&str>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Failure> {
        self.require(question, hint)?;
        self.line(question, default.unwrap_or_default(), check)?.ok_or_else(left)
    }

    /// A secret, not shown while it is typed.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn password(&self, question: &str, hint: &str) -> Result<String, Failure> {
        self.require(question, hint)?;
        Password::with_theme(&*self.theme).with_prompt(question).interact().map_err(stopped)
    }

    /// A line of text that passes `check`, beginning with `initial`, which can be edited; `None` for Esc. Only for
    /// where [`Self::can_ask`].
    ///
    /// # Errors
    /// `interrupted` when the person leaves.
    pub fn line(
        &self,
        question: &str,
        initial: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<Option<String>, Failure> {
        match typed::ask(&*self.theme, question, initial, &check).map_err(|error| stopped(error.into()))? {
            Typed::Text(text) => Ok(Some(text)),
            Typed::Back => Ok(None),
            Typed::Left => Err(left()),
        }
    }

    /// Lines until an empty one, beginning with those of `initial`, which can be edited. Esc goes back one line, and
    /// before the first it gives `None`. An empty line within a paste does not end it: nobody types that fast.
    ///
    /// # Errors
    /// `interrupted` when the person leaves.
    pub fn lines(
        &self,
        question: impl Fn(usize) -> String,
        initial: &[String],
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<Option<Vec<String>>, Failure> {
        let check = |text: &str| if text.trim().is_empty() { Ok(()) } else { check(text) };
        let mut lines: Vec<String> = Vec::new();
        let mut again: Option<String> = None;
        loop {
            let asked = Instant::now();
            let present = again.take().or_else(|| initial.get(lines.len()).cloned()).unwrap_or_default();
            match self.line(&question(lines.len() + 1), &present, check)? {
                Some(line) if !line.trim().is_empty() => lines.push(line),
                Some(_) if asked.elapsed() > FASTEST_TYPING => return Ok(Some(lines)),
                Some(_) => {}
                None => match lines.pop() {
                    Some(last) => again = Some(last),
                    None => return Ok(None),
                },
            }
        }
    }

    /// One of several, by its position, `present` chosen at first; `None` for Esc. Only for where
    /// [`Self::can_ask`]. Foreign text among the choices is escaped.
    ///
    /// # Errors
    /// `interrupted` when the person leaves.
    pub fn pick(&self, question: &str, choices: &[String], present: usize) -> Result<Option<usize>, Failure> {
        let choices: Vec<String> = choices.iter().map(|choice| one_line(choice)).collect();
        if self.accessible {
            return self.pick_by_number(question, &choices);
        }
        let columns = usize::from(Term::stderr().size().1);
        let fitted = choices.iter().map(|choice| fitted(choice, columns));
        let picked = Select::with_theme(&*self.theme)
            .with_prompt(question)
            .items(fitted)
            .default(present)
            .report(false)
            .interact_opt()
            .map_err(stopped)?;
        if let Some(choice) = picked.and_then(|position| choices.get(position)) {
            // What stands after two blanks explains the choice.
            let choice = choice.split("  ").next().unwrap_or_default();
            self.say(|theme, out| theme.format_select_prompt_selection(out, question, choice));
        }
        Ok(picked)
    }

    fn pick_by_number(&self, question: &str, choices: &[String]) -> Result<Option<usize>, Failure> {
        let term = Term::stderr();
        let list = choices.iter().enumerate().map(|(index, choice)| format!("{}. {choice}", index + 1));
        for line in std::iter::once(question.to_owned()).chain(list) {
            term.write_line(&line).map_err(|error| stopped(error.into()))?;
        }
        let position = |text: &str| {
            let number: usize = text.trim().parse().ok()?;
            (1..=choices.len()).contains(&number).then(|| number - 1)
        };
        let wrong = format!("type a number from 1 to {}", choices.len());
        let typed = self.line("Number", "", |text| position(text).map(drop).ok_or_else(|| wrong.clone()))?;
        Ok(typed.and_then(|text| position(&text)))
    }

    /// Yes or no, `None` for Esc. Only for where [`Self::can_ask`].
    ///
    /// # Errors
    /// `interrupted` when the person leaves.
    pub fn agree(&self, question: &str, present: bool) -> Result<Option<bool>, Failure> {
        if self.accessible {
            let answer = |text: &str| match text.trim().to_lowercase().as_str() {
                "y" | "yes" => Some(true),
                "n" | "no" => Some(false),
                _ => None,
            };
            let check = |text: &str| answer(text).map(drop).ok_or_else(|| "type yes or no".to_owned());
            let typed = self.line(&format!("{question} (yes or no)"), "", check)?;
            return Ok(typed.and_then(|text| answer(&text)));
        }
        let answer = Confirm::with_theme(&*self.theme)
            .with_prompt(question)
            .default(present)
            .report(false)
            .interact_opt()
            .map_err(stopped)?;
        if answer.is_some() {
            self.say(|theme, out| theme.format_confirm_prompt_selection(out, question, answer));
        }
        Ok(answer)
    }

    /// Yes or no. `--yes` answers it, and so does the absence of a terminal: a script has said what it wants.
    /// Esc is a no.
    ///
    /// # Errors
    /// `usage` on a terminal with `--no-input` and no `--yes`, `interrupted` when the person leaves.
    pub fn confirm(&self, question: &str) -> Result<bool, Failure> {
        if self.yes || !self.terminal {
            return Ok(true);
        }
        self.require(question, "add --yes")?;
        Ok(self.agree(question, false)?.unwrap_or(false))
    }

    /// What was answered, where the question stood.
    fn say(&self, answered: impl FnOnce(&dyn Theme, &mut String) -> std::fmt::Result) {
        let mut text = String::new();
        if answered(&*self.theme, &mut text).is_ok() {
            // The terminal may be gone; the next question finds that out.
            let _ = Term::stderr().write_line(&text);
        }
    }

    fn require(&self, question: &str, hint: &str) -> Result<(), Failure> {
        if self.can_ask() {
            return Ok(());
        }
        let why = if self.no_input { "--no-input forbids to ask" } else { "there is no terminal to ask on" };
        Err(Failure::usage(format!("{why}: {question}")).hint(hint))
    }
}

/// A choice cut to one line of the terminal. `dialoguer` takes bytes for columns when it clears its list, and would
/// wipe a line too many above it: so neither may be more than a line has.
fn fitted(choice: &str, columns: usize) -> String {
    let fits = |text: &str| measure_text_width(text) + 4 <= columns && text.len() <= columns;
    if fits(choice) {
        return choice.to_owned();
    }
    let ends = choice.char_indices().rev().map(|(end, _)| format!("{}…", &choice[..end]));
    ends.into_iter().find(|cut| fits(cut)).unwrap_or_default()
}

/// The person left, or the terminal went away: nothing was done yet.
fn stopped(error: dialoguer::Error) -> Failure {
    // `dialoguer` leaves the cursor hidden when Ctrl-C ends a list.
    let _ = Term::stderr().show_cursor();
    let dialoguer::Error::IO(error) = error;
    if error.kind() == std::io::ErrorKind::Interrupted {
        return left();
    }
    Failure::new(Kind::Interrupted, format!("no answer: {error}")).applied(Applied::No)
}

fn left() -> Failure {
    Failure::new(Kind::Interrupted, "left at a question").applied(Applied::No)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Prompt, fitted};
    use crate::cli::{GlobalArgs, OutputFormat};
    use crate::context::Context;
    use crate::report::Report;

    fn prompt(terminal: bool, yes: bool, no_input: bool) -> Prompt {
        let mut context = Context::made_up(&[], Path::new("/"));
        context.stdin_is_terminal = terminal;
        context.stderr_is_terminal = terminal;
        let global = GlobalArgs { yes, no_input, ..GlobalArgs::default() };
        let report = Report::new(&context, OutputFormat::Table, None, false, 0);
        Prompt::new(&context, &global, &report)
    }

    #[test]
    fn nobody_is_asked_where_nobody_is() {
        let failure = prompt(false, false, false).input("name", "-p NAME", None, |_| Ok(())).unwrap_err();
        assert_eq!(failure.hint.as_deref(), Some("-p NAME"));
        assert!(prompt(true, false, true).password("token", "").unwrap_err().message.contains("--no-input"));
        assert!(prompt(true, false, true).input("which", "", None, |_| Ok(())).is_err());
    }

    #[test]
    fn a_script_and_yes_confirm_and_no_input_does_not() {
        assert!(prompt(false, false, false).confirm("sure?").unwrap());
        assert!(prompt(true, true, true).confirm("sure?").unwrap());
        assert_eq!(
            prompt(true, false, true).confirm("sure?").unwrap_err().hint.as_deref(),
            Some("add --yes")
        );
    }

    #[test]
    fn a_choice_keeps_to_one_line_in_columns_and_in_bytes() {
        assert_eq!(fitted("18 rue de la Paix", 40), "18 rue de la Paix");
        assert_eq!(fitted("18 rue de la Paix", 12), "18 rue …");
        assert_eq!(fitted("東京都墨田区両国", 12), "東京都…");
    }
}
