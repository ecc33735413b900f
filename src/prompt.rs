//! Questions to a person, on standard error. The only user of `dialoguer`.

use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, Input, Password, Select};

use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::failure::{Applied, Failure, Kind};
use crate::report::Report;

/// Whether and how questions are asked in this run.
pub struct Prompt {
    terminal: bool,
    no_input: bool,
    yes: bool,
    theme: Box<dyn Theme>,
}

impl Prompt {
    /// Decides from terminals and flags.
    pub fn new(context: &Context, global: &GlobalArgs, report: &Report) -> Self {
        Self {
            terminal: context.can_prompt(),
            no_input: global.no_input,
            yes: global.yes,
            theme: if report.color_stderr {
                Box::new(ColorfulTheme::default())
            } else {
                Box::new(SimpleTheme)
            },
        }
    }

    /// Asks nothing: for runs that change nothing.
    pub fn silent() -> Self {
        Self { terminal: false, no_input: true, yes: false, theme: Box::new(SimpleTheme) }
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
    /// `usage` when nobody can be asked, `interrupted` when the person leaves.
    pub fn input(
        &self,
        question: &str,
        hint: &str,
        default: Option<&str>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Failure> {
        self.require(question, hint)?;
        let mut input = Input::<String>::with_theme(&*self.theme)
            .with_prompt(question)
            .validate_with(|text: &String| check(text));
        if let Some(default) = default {
            input = input.default(default.to_owned());
        }
        input.interact_text().map_err(stopped)
    }

    /// A secret, not shown while it is typed.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn password(&self, question: &str, hint: &str) -> Result<String, Failure> {
        self.require(question, hint)?;
        Password::with_theme(&*self.theme).with_prompt(question).interact().map_err(stopped)
    }

    /// One of several, by its position; the first is the default.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn select(&self, question: &str, hint: &str, choices: &[&str]) -> Result<usize, Failure> {
        self.require(question, hint)?;
        Select::with_theme(&*self.theme)
            .with_prompt(question)
            .items(choices)
            .default(0)
            .interact()
            .map_err(stopped)
    }

    /// Yes or no. `--yes` answers it, and so does the absence of a terminal: a script has said what it wants.
    ///
    /// # Errors
    /// `usage` on a terminal with `--no-input` and no `--yes`, `interrupted` when the person leaves.
    pub fn confirm(&self, question: &str) -> Result<bool, Failure> {
        if self.yes || !self.terminal {
            return Ok(true);
        }
        self.require(question, "add --yes")?;
        Confirm::with_theme(&*self.theme).with_prompt(question).default(false).interact().map_err(stopped)
    }

    fn require(&self, question: &str, hint: &str) -> Result<(), Failure> {
        if self.can_ask() {
            return Ok(());
        }
        let why = if self.no_input { "--no-input forbids to ask" } else { "there is no terminal to ask on" };
        Err(Failure::usage(format!("{why}: {question}")).hint(hint))
    }
}

/// The person left, or the terminal went away: nothing was done yet.
fn stopped(error: dialoguer::Error) -> Failure {
    let dialoguer::Error::IO(error) = error;
    Failure::new(Kind::Interrupted, format!("no answer: {error}")).applied(Applied::No)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Prompt;
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
        assert!(prompt(true, false, true).select("which", "", &["a"]).is_err());
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
}
