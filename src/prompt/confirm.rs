//! Yes and no.

use std::time::{Duration, Instant};

use super::{Objection, Prompt, Question};
use crate::failure::Failure;

/// Nobody reads a question and answers it in less.
const READING: Duration = Duration::from_millis(300);

impl Prompt {
    /// Yes or no, `present` answered by Enter alone; `None` for Esc. Only for where [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn yes_no(&self, question: &str, present: bool) -> Result<Option<bool>, Failure> {
        let text = format!("{question} ({})", if present { "Y/n" } else { "y/N" });
        let check = |text: &str| is_yes_or_no(if text.trim().is_empty() { "y" } else { text });
        let typed = self.text(&Question { text: &text, ..Question::default() }, check)?;
        Ok(typed.map(|text| yes_or_no(&text).unwrap_or(present)))
    }

    /// Asks for a yes that was typed after the question appeared. `--yes` answers it, and so does the absence of a
    /// person: a script has said what it wants.
    ///
    /// # Errors
    /// [`Failure::cancelled`] for anything but a yes; `guard` where a person has no terminal to be asked on.
    pub fn confirm(&self, question: &str) -> Result<(), Failure> {
        cancelled_unless(self.confirm_or_back(question)?)
    }

    /// The same; `false` for Esc, which leads back to what was asked before.
    ///
    /// # Errors
    /// As [`Self::confirm`].
    pub fn confirm_or_back(&self, question: &str) -> Result<bool, Failure> {
        if self.yes || !self.is_attended { Ok(true) } else { self.confirm_by_person(question) }
    }

    /// As [`Self::confirm`], but the absence of a person is no consent: for what deletes.
    ///
    /// # Errors
    /// As [`Self::confirm`], and `guard` where there is nobody to ask.
    pub fn confirm_deletion(&self, question: &str) -> Result<(), Failure> {
        cancelled_unless(self.yes || self.confirm_by_person(question)?)
    }

    fn confirm_by_person(&self, question: &str) -> Result<bool, Failure> {
        if !self.can_ask() {
            let message = format!("cannot ask `{question}`: {}", self.why_not());
            return Err(Failure::guard(message).hint("add --yes"));
        }
        match self.typed_yes(question)? {
            Some(false) => Err(Failure::cancelled()),
            answer => Ok(answer.is_some()),
        }
    }

    /// Whether a person wants to go on, by a yes as for [`Self::confirm`]. Only for where [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn agrees(&self, question: &str) -> Result<bool, Failure> {
        Ok(self.typed_yes(question)? == Some(true))
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
        let text = format!("This deletes {deleted} addresses. Type the number to confirm");
        self.require(&text, "add --allow-delete N")?;
        let number = |text: &str| text.trim().parse().ok();
        let check = |text: &str| Objection::unless(number(text).is_some(), "enter a number");
        self.typed(&text, &check)?.as_deref().and_then(number).ok_or_else(Failure::cancelled)
    }

    /// An answer that was typed after the question appeared: not one that was on its way before, and not one that came in
    /// one go, which is a paste.
    fn typed(
        &self,
        text: &str,
        check: &dyn Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let (term, keyboard) = self.begin()?;
        let question = Question { text, ..Question::default() };
        self.line((term, &keyboard), &question, Some(Instant::now() + READING), check)
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
