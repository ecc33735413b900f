//! A line of text that is typed or edited; `dialoguer`'s has no Esc.

use std::borrow::Cow;
use std::io;
use std::time::Instant;

use dialoguer::console::{Key, Term, measure_text_width};

use super::keyboard::Keyboard;
use super::{Prompt, rendered, stopped};
use crate::report::style::OutputStyle;
use storefront_core::failure::Failure;
use storefront_core::text::sanitize::sanitize;

/// A question that a line of text answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Question<'a> {
    /// The question, a few words.
    pub text: &'a str,
    /// Help for the answer.
    pub note: &'a str,
    /// The initial text, to be edited.
    pub initial: &'a str,
    /// How to give the answer without a question, if nobody can be asked.
    pub hint: &'a str,
    /// What an empty text stands for, if it is an answer.
    pub when_empty: &'a str,
    /// Whether the text is not shown.
    pub is_secret: bool,
    /// Whether a wrong text is typed again from the start, not edited: it names a line of a list.
    pub is_choice: bool,
}

/// An objection to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// It cannot be right.
    Wrong(String),
    /// It looks wrong; it is taken if it is given once more.
    Doubt(String),
}

impl Objection {
    /// An objection, unless the text is right.
    ///
    /// # Errors
    /// The objection.
    pub fn unless(is_right: bool, wrong: &str) -> Result<(), Self> {
        if is_right { Ok(()) } else { Err(Self::Wrong(wrong.to_owned())) }
    }
}

impl From<String> for Objection {
    fn from(wrong: String) -> Self {
        Self::Wrong(wrong)
    }
}

impl Prompt {
    /// Asks for a line of text that passes `check`; `None` for Esc, which leads back to the question before.
    ///
    /// # Errors
    /// `usage` when nobody can be asked, [`Failure::cancelled`] when the person leaves.
    pub fn text(
        &self,
        question: &Question<'_>,
        check: impl Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        self.require(question.text, question.hint)?;
        let (term, keyboard) = self.begin()?;
        let typed = self.line((term, &keyboard), question, None, &check)?;
        Ok(typed.map(|text| text.replace('\t', " ")))
    }

    /// Asks for lines until an empty one, beginning with `lines`, which gets the typed lines even if the person leaves;
    /// `check` gets the lines before, too. Esc goes back one line, and `false` is returned for Esc on the first line.
    /// Empty lines within a paste do not end the list.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn text_lines(
        &self,
        question: impl Fn(usize) -> String,
        note: &str,
        lines: &mut Vec<String>,
        check: impl Fn(&[String], &str) -> Result<(), Objection>,
    ) -> Result<bool, Failure> {
        let (term, keyboard) = self.begin()?;
        let mut known = 0;
        loop {
            let present = lines.get(known).cloned().unwrap_or_default();
            let note = if known == 0 { note } else { "" };
            let (text, check) = (question(known + 1), |text: &str| check(&lines[..known], text.trim()));
            let question = Question { text: &text, note, initial: &present, ..Question::default() };
            match self.line((term, &keyboard), &question, None, &check)? {
                Some(text) if !text.trim().is_empty() => {
                    lines.splice(known..lines.len().min(known + 1), [text.trim().to_owned()]);
                    known += 1;
                }
                Some(_) if keyboard.has_more() => {}
                Some(_) => {
                    lines.truncate(known);
                    return Ok(true);
                }
                None if known == 0 => return Ok(false),
                None => known -= 1,
            }
        }
    }

    /// Reads the line. If it has to be `fresh`, it is typed after that time and key by key: text that comes at once was
    /// pasted.
    pub(super) fn line(
        &self,
        (term, keyboard): (&Term, &Keyboard),
        question: &Question<'_>,
        fresh: Option<Instant>,
        check: &dyn Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let mut line = EditedText { before: question.initial.to_owned(), after: String::new() };
        let mut complaint = String::new();
        let mut doubted = None;
        let mut rows = Rows::new(term, self.accessible);
        loop {
            self.draw(&mut rows, question, &complaint, &line);
            let came_at_once = keyboard.has_more();
            match term.read_key_raw().map_err(|error| rows.leave(stopped(error)))? {
                Key::Enter => {}
                Key::Escape => {
                    rows.close("");
                    return Ok(None);
                }
                Key::CtrlC => return Err(rows.leave(Failure::cancelled())),
                Key::Char('\u{4}') if line.text().is_empty() => return Err(rows.leave(Failure::cancelled())),
                key => {
                    line.press(key);
                    continue;
                }
            }
            let text = line.text();
            let is_stale = |fresh: Instant| came_at_once || Instant::now() < fresh;
            complaint = match check(&text) {
                _ if fresh.is_some_and(is_stale) => "type the answer, then press Enter".to_owned(),
                Err(Objection::Wrong(wrong)) => {
                    if question.is_choice {
                        line = EditedText { before: String::new(), after: String::new() };
                    }
                    wrong
                }
                Err(Objection::Doubt(doubt)) if doubted.as_ref() != Some(&text) => {
                    doubted = Some(text);
                    format!("{doubt} (press Enter again to keep it)")
                }
                _ => {
                    rows.close(&self.answered(question, &text));
                    return Ok(Some(text));
                }
            };
            // The rest of a paste is not a better answer.
            keyboard.flush();
        }
    }

    /// What stays on the screen of a question and its answer; empty without an answer.
    fn answered(&self, question: &Question<'_>, text: &str) -> String {
        let answer = if text.trim().is_empty() { question.when_empty } else { text.trim() };
        if answer.is_empty() {
            return String::new();
        }
        let shown = if question.is_secret { "[hidden]".to_owned() } else { shown(answer) };
        rendered(|out| self.theme.format_input_prompt_selection(out, question.text, &shown))
    }

    fn draw(&self, rows: &mut Rows<'_>, question: &Question<'_>, complaint: &str, line: &EditedText) {
        let columns = usize::from(rows.term.size().1).max(10);
        let screen = OutputStyle { width: u16::try_from(columns - 4).ok(), color: false };
        let wrapped = |text: &str| screen.wrapped(text);
        let error = |out: &mut String| self.theme.format_error(out, &wrapped(complaint));
        let error = if complaint.is_empty() { String::new() } else { rendered(error) };
        // An initial or refused text has to be cleared for another answer.
        let is_in_the_way = !question.initial.is_empty() || !complaint.is_empty();
        let text = wrapped(&match question.text.strip_suffix(')') {
            _ if !is_in_the_way || question.is_secret => question.text.to_owned(),
            Some(explained) => format!("{explained}; Ctrl-U clears)"),
            None => format!("{} (Ctrl-U clears)", question.text),
        });
        let mut asked = rendered(|out| self.theme.format_input_prompt(out, &text, None));
        let last_width = |text: &str| measure_text_width(text.rsplit('\n').next().unwrap_or_default());
        // A long question leaves no room next to it.
        if last_width(&asked) > columns / 2 && !self.accessible {
            asked = format!("{}\n  ", asked.trim_end());
        }
        let room = match (question.is_secret, self.accessible) {
            (true, _) => 0,
            (false, true) => usize::MAX,
            (false, false) => columns - last_width(&asked) - 1,
        };
        let (before, after) = line.window(room);
        let above = [wrapped(question.note), error].into_iter().filter(|text| !text.is_empty());
        let above: String = above.map(|text| text + "\n").collect();
        rows.draw(above + &asked + &before + &after, measure_text_width(&after));
    }
}

/// The rows that a question takes on the screen, the cursor in the last one.
pub(super) struct Rows<'a> {
    term: &'a Term,
    /// Whether the cursor can only be moved forward and, by one column, back: nothing is erased then.
    is_plain: bool,
    above: usize,
    shown: String,
    before_end: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(term: &'a Term, is_plain: bool) -> Self {
        Self { term, is_plain, above: 0, shown: String::new(), before_end: 0 }
    }

    /// Shows this text, with the cursor so many columns before its end. If text was only added, the rest is not drawn
    /// again: a screen reader would read all of it again.
    pub(super) fn draw(&mut self, text: String, before_end: usize) {
        let is_at_end = self.before_end == 0 && !self.shown.is_empty();
        let added = text.strip_prefix(&self.shown).filter(|_| is_at_end);
        let removed = self.shown.strip_prefix(&text).filter(|_| self.is_plain && is_at_end);
        let _ = match (added, removed) {
            (Some(added), _) if before_end == 0 || self.is_plain => self.term.write_str(added),
            (_, Some(removed)) if !removed.contains('\n') => {
                self.term.write_str(&"\u{8} \u{8}".repeat(measure_text_width(removed)))
            }
            _ if self.shown.is_empty() => self.term.write_str(&text),
            _ => self.erase().and_then(|()| self.term.write_str(&text)),
        };
        let _ = if self.is_plain {
            self.term.write_str(&"\u{8}".repeat(before_end))
        } else {
            self.term.move_cursor_left(before_end)
        };
        self.above = text.matches('\n').count();
        self.shown = text;
        self.before_end = before_end;
    }

    /// Leaves this text, if any, in place of the question; if nothing can be erased, the question stays.
    pub(super) fn close(self, text: &str) {
        if self.is_plain {
            let _ = self.term.write_line("");
            return;
        }
        let _ = self.erase();
        if !text.is_empty() {
            let _ = self.term.write_line(text);
        }
    }

    /// Leaves the question as it is; the next output begins on a new line.
    pub(super) fn leave(&self, failure: Failure) -> Failure {
        let _ = self.term.write_line("");
        failure
    }

    fn erase(&self) -> io::Result<()> {
        if self.is_plain {
            return self.term.write_str("\n");
        }
        self.term.move_cursor_up(self.above)?;
        self.term.write_str("\r")?;
        self.term.clear_to_end_of_screen()
    }
}

/// The text while it is typed, before and after the cursor.
struct EditedText {
    before: String,
    after: String,
}

impl EditedText {
    fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// Handles a key, as a shell's line editor would.
    fn press(&mut self, key: Key) {
        match key {
            Key::Char('\u{15}') => self.before.clear(),
            Key::Char('\u{b}') => self.after.clear(),
            Key::Char('\u{17}') => {
                let start = self.before.trim_end().rfind(char::is_whitespace);
                self.before.truncate(start.map_or(0, |blank| blank + 1));
            }
            Key::Backspace => drop(self.before.pop()),
            Key::Del | Key::Char('\u{4}') if !self.after.is_empty() => drop(self.after.remove(0)),
            Key::ArrowLeft => self.before.pop().into_iter().for_each(|it| self.after.insert(0, it)),
            Key::ArrowRight if !self.after.is_empty() => self.before.push(self.after.remove(0)),
            Key::Home => self.after.insert_str(0, &std::mem::take(&mut self.before)),
            Key::End => self.before.push_str(&std::mem::take(&mut self.after)),
            Key::Tab => self.before.push('\t'),
            Key::Char(character) if !character.is_control() => self.before.push(character),
            _ => {}
        }
    }

    /// The text that fits around the cursor, before and after it.
    fn window(&self, columns: usize) -> (String, String) {
        let mut room = columns;
        let mut fits = |it: &char| {
            let width = measure_text_width(it.encode_utf8(&mut [0; 4]));
            let fits = width <= room;
            room = room.saturating_sub(width);
            fits
        };
        let (before, after) = (shown(&self.before), shown(&self.after));
        let before: Vec<char> = before.chars().rev().take_while(&mut fits).collect();
        (before.into_iter().rev().collect(), after.chars().take_while(&mut fits).collect())
    }
}

/// The text with blanks for characters that could steer the terminal.
fn shown(text: &str) -> String {
    let is_harmful =
        |it: char| it.is_control() || matches!(sanitize(it.encode_utf8(&mut [0; 4])), Cow::Owned(_));
    text.chars().map(|it| if is_harmful(it) { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use super::EditedText;

    fn line(text: &str) -> EditedText {
        EditedText { before: text.to_owned(), after: String::new() }
    }

    fn after(text: &str, keys: &[Key]) -> String {
        let mut line = line(text);
        for key in keys {
            line.press(key.clone());
        }
        line.text()
    }

    #[test]
    fn keys_edit_as_in_a_shell() {
        let ctrl = |letter: char| Key::Char(char::from(letter as u8 - b'a' + 1));
        assert_eq!(after("Pari", &[Key::Char('s')]), "Paris", "the text that is there is edited");
        assert_eq!(after("Paris", &[Key::ArrowLeft, Key::Backspace]), "Pars");
        assert_eq!(after("両国", &[Key::Home, Key::Del, Key::Char('帝')]), "帝国");
        assert_eq!(after("rue de la Paix", &[ctrl('w'), Key::Char('x')]), "rue de la x");
        assert_eq!(after("75002", &[ctrl('u'), Key::Char('1')]), "1");
        assert_eq!(after("75002", &[Key::Home, Key::ArrowRight, ctrl('k')]), "7");
        assert_eq!(after("ab", &[Key::Home, ctrl('d')]), "b");
        assert_eq!(after("a", &[Key::ArrowUp, Key::UnknownEscSeq(vec!['b']), Key::Char('\u{7}')]), "a");
    }

    #[test]
    fn the_window_follows_the_cursor_in_columns_and_not_in_characters() {
        let mut line = line("東京都墨田区両国");
        assert_eq!(line.window(16).0, "東京都墨田区両国");
        assert_eq!(line.window(7).0, "区両国");
        line.press(Key::Home);
        assert_eq!(line.window(7), (String::new(), "東京都".to_owned()));
        assert_eq!(self::line("a\tb").window(9).0, "a b");
    }
}
