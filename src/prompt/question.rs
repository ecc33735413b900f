//! Questions and answers as values.

use crate::failure::Failure;

/// What was said to a confirmation. A no is the failure [`Failure::cancelled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// Esc: one step back.
    Back,
}

impl Answer {
    /// For a confirmation with no step before it.
    ///
    /// # Errors
    /// [`Failure::cancelled`] for Esc.
    pub fn or_cancel(self) -> Result<(), Failure> {
        if self == Self::Yes { Ok(()) } else { Err(Failure::cancelled()) }
    }
}

/// What a check has against an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// It is not taken.
    Wrong(String),
    /// It is taken when Enter is pressed again.
    Doubt(String),
}

impl From<String> for Objection {
    fn from(wrong: String) -> Self {
        Self::Wrong(wrong)
    }
}

/// A question that is answered by a line of text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Question<'a> {
    /// The question, a few words.
    pub text: &'a str,
    /// What can be answered: ` (y/n)`.
    pub choices: &'a str,
    /// What helps to answer it; gone afterwards.
    pub note: &'a str,
    /// What is answered by Enter alone; typing replaces it.
    pub initial: &'a str,
    /// Whether Tab completes the name of a file.
    pub is_file: bool,
}

impl<'a> Question<'a> {
    /// A question with nothing answered yet.
    pub fn new(text: &'a str) -> Self {
        Self { text, ..Self::default() }
    }

    /// With what Enter alone answers.
    #[must_use]
    pub fn initial(self, initial: &'a str) -> Self {
        Self { initial, ..self }
    }

    /// With a line that helps to answer it.
    #[must_use]
    pub fn note(self, note: &'a str) -> Self {
        Self { note, ..self }
    }
}
