//! One of several choices: with the arrow keys, or by its number where nothing may move on the screen.

use super::list::{Chosen, List};
use super::{Objection, Prompt, Question, rendered, stopped};
use crate::failure::Failure;
use crate::sanitize::sanitize_line;

impl Prompt {
    /// One of several, by its position, `present` chosen at first; `None` for Esc. Only for where
    /// [`Self::can_ask`]. Foreign text among the choices is escaped.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn select(
        &self,
        question: &str,
        choices: &[String],
        present: usize,
    ) -> Result<Option<usize>, Failure> {
        self.list(question, choices, present, false, &|choice| self.selected(question, choice))
    }

    /// The same for a long list, which typing narrows.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn search(
        &self,
        question: &str,
        choices: &[String],
        present: usize,
    ) -> Result<Option<usize>, Failure> {
        let answered = |choice: &str| self.selected(question, choice);
        self.list(&format!("{question} (type to search)"), choices, present, true, &answered)
    }

    /// What stays on the screen of a choice. What stands after two blanks explains it.
    fn selected(&self, question: &str, choice: &str) -> String {
        let choice = choice.split("  ").next().unwrap_or_default();
        rendered(|out| self.theme.format_select_prompt_selection(out, question, choice))
    }

    /// The same for a list that comes again and again: nothing stays of it on the screen.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn menu(&self, question: &str, choices: &[String], present: usize) -> Result<Option<usize>, Failure> {
        self.list(question, choices, present, false, &|_| String::new())
    }

    fn list(
        &self,
        question: &str,
        choices: &[String],
        present: usize,
        is_searched: bool,
        answered: &dyn Fn(&str) -> String,
    ) -> Result<Option<usize>, Failure> {
        let choices: Vec<String> = choices.iter().map(|choice| sanitize_line(choice)).collect();
        if self.accessible {
            return self.select_by_number(question, &choices);
        }
        let (device, mut keyboard) = self.begin()?;
        let list = List { device, theme: &*self.theme, question, choices: &choices, is_searched, answered };
        let (chosen, rows) = list.ask(&mut keyboard, present).map_err(stopped)?;
        match chosen {
            Chosen::Position(position) => {
                self.transcript.answered(rows);
                Ok(Some(position))
            }
            Chosen::Back => {
                self.transcript.go_back();
                Ok(None)
            }
            Chosen::Left => Err(Failure::cancelled()),
        }
    }

    fn select_by_number(&self, question: &str, choices: &[String]) -> Result<Option<usize>, Failure> {
        let list = choices.iter().enumerate().map(|(index, choice)| format!("{}. {choice}", index + 1));
        self.show(&std::iter::once(question.to_owned()).chain(list).collect::<Vec<_>>().join("\n"));
        let position = |text: &str| {
            let number: usize = text.trim().parse().ok()?;
            (1..=choices.len()).contains(&number).then(|| number - 1)
        };
        let wrong = format!("enter a number from 1 to {}", choices.len());
        let check = |text: &str| position(text).map(drop).ok_or_else(|| Objection::Wrong(wrong.clone()));
        let typed = self.text(&Question::new("Number"), check)?;
        Ok(typed.and_then(|text| position(&text)))
    }
}
