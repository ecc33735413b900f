//! Yes and no.

use super::{Answer, Objection, Prompt, Question};
use crate::failure::Failure;
use crate::prompt::text_input::Mode;

const YES_OR_NO: &str = "type y or n";

impl Prompt {
    /// Yes or no, `present` answered by Enter alone, `None` for Esc. Only for where [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn yes_no(&self, question: &str, present: bool) -> Result<Option<bool>, Failure> {
        let initial = if present { "yes" } else { "no" };
        let question = Question { choices: " (y/n)", initial, ..Question::new(question) };
        Ok(self.text(&question, yes_or_no)?.map(|text| is_yes(&text)))
    }

    /// Asks for a yes that was typed after the question appeared. `--yes` answers it, and so does the absence of a
    /// person: a script has said what it wants.
    ///
    /// # Errors
    /// [`Failure::cancelled`] for a no and when the person leaves; `guard` where a person has no terminal to be asked on.
    pub fn confirm(&self, question: &str) -> Result<Answer, Failure> {
        if self.yes || !self.is_attended {
            return Ok(Answer::Yes);
        }
        self.confirm_by_person(question)
    }

    /// The same, where the absence of a person is no consent: for what deletes.
    ///
    /// # Errors
    /// As [`Self::confirm`], and `guard` where there is nobody to ask.
    pub fn confirm_deletion(&self, question: &str) -> Result<Answer, Failure> {
        if self.yes { Ok(Answer::Yes) } else { self.confirm_by_person(question) }
    }

    fn confirm_by_person(&self, question: &str) -> Result<Answer, Failure> {
        if !self.can_ask() {
            let why = if self.no_input { "--no-input is given" } else { "there is no terminal to ask on" };
            return Err(
                Failure::guard(format!("confirmation required, but {why}: {question}")).hint("add --yes")
            );
        }
        let question = Question { choices: " (y/n)", ..Question::new(question) };
        match self.field(&question, Mode::Confirmation(is_no), &yes_or_no)? {
            Some(text) if is_yes(&text) => Ok(Answer::Yes),
            Some(_) => Err(Failure::cancelled()),
            None => Ok(Answer::Back),
        }
    }

    /// How many addresses may be deleted: a person has to type the number.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn number_of_deletions(&self, deleted: usize) -> Result<usize, Failure> {
        let text = format!("This deletes {deleted} addresses. Type the number to confirm");
        self.require(&text, "add --allow-delete N")?;
        let check = |text: &str| {
            text.trim().parse::<usize>().map(drop).map_err(|_| "enter a number".to_owned().into())
        };
        let typed = self.field(&Question::new(&text), Mode::Confirmation(|_| false), &check)?;
        Ok(typed.ok_or_else(Failure::cancelled)?.trim().parse().unwrap_or(0))
    }
}

fn yes_or_no(text: &str) -> Result<(), Objection> {
    if is_yes(text) || is_no(text) { Ok(()) } else { Err(YES_OR_NO.to_owned().into()) }
}

fn is_yes(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "y" | "yes")
}

fn is_no(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "n" | "no")
}
