//! A line of text, typed or edited; `dialoguer`'s has no Esc.

use std::borrow::Cow;
use std::io;

use dialoguer::console::{Key, Term, measure_text_width};

use super::keyboard::Keyboard;
use super::{Prompt, file_name, rendered, stopped, wrapped};
use crate::failure::Failure;
use crate::sanitize::sanitize;

/// What is answered by a line of text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Question<'a> {
    /// The question, a few words.
    pub text: &'a str,
    /// What helps to answer it.
    pub note: &'a str,
    /// The text that is there at first, to be edited.
    pub initial: &'a str,
    /// Whether the text is not shown.
    pub is_secret: bool,
    /// Whether Tab completes the name of a file.
    pub is_file: bool,
}

/// What is said against a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// It cannot be right.
    Wrong(String),
    /// It looks wrong; given once more, it is taken.
    Doubt(String),
}

impl From<String> for Objection {
    fn from(wrong: String) -> Self {
        Self::Wrong(wrong)
    }
}

impl Prompt {
    /// A line of text that passes `check`; `None` for Esc. Only for where [`Self::can_ask`].
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn text(
        &self,
        question: &Question<'_>,
        check: impl Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let (term, keyboard) = self.begin()?;
        Ok(self.line(term, &keyboard, question, &check)?.map(|text| text.replace('\t', " ")))
    }

    /// Lines until an empty one, beginning with those of `initial`; `check` gets the number of the line, too. Esc goes back
    /// one line, and before the first it gives `None`. Empty lines within a paste do not end the list.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub fn text_lines(
        &self,
        question: impl Fn(usize) -> String,
        note: &str,
        initial: &[String],
        check: impl Fn(usize, &str) -> Result<(), Objection>,
    ) -> Result<Option<Vec<String>>, Failure> {
        let (term, keyboard) = self.begin()?;
        let mut lines: Vec<String> = Vec::new();
        let mut again: Option<String> = None;
        loop {
            let number = lines.len() + 1;
            let present = again.take().or_else(|| initial.get(lines.len()).cloned()).unwrap_or_default();
            let note = if number == 1 { note } else { "" };
            let (text, check) = (question(number), |text: &str| check(number, text.trim()));
            let question = Question { text: &text, note, initial: &present, ..Question::default() };
            match self.line(term, &keyboard, &question, &check)? {
                Some(text) if !text.trim().is_empty() => lines.push(text.trim().to_owned()),
                Some(_) if keyboard.has_more() => {}
                Some(_) => return Ok(Some(lines)),
                None if lines.is_empty() => return Ok(None),
                None => again = lines.pop(),
            }
        }
    }

    pub(super) fn line(
        &self,
        term: &Term,
        keyboard: &Keyboard,
        question: &Question<'_>,
        check: &dyn Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<String>, Failure> {
        let mut line = Line::new(question.initial);
        let (mut complaint, mut doubted) = (String::new(), None);
        let mut rows = Rows { term, above: 0, shown: String::new() };
        loop {
            self.draw(&mut rows, question, &complaint, &line);
            let key = keyboard.key(term).map_err(|error| rows.leave(stopped(error)))?;
            match key {
                Key::Enter => {}
                Key::Escape => {
                    rows.close("");
                    return Ok(None);
                }
                Key::CtrlC => return Err(rows.leave(Failure::cancelled())),
                Key::Char('\u{4}') if line.text.is_empty() => return Err(rows.leave(Failure::cancelled())),
                Key::Tab if question.is_file => {
                    line = Line::new(&file_name::completed(&line.text()));
                    continue;
                }
                key => {
                    line.press(&key);
                    continue;
                }
            }
            let text = line.text();
            match check(&text) {
                Err(Objection::Wrong(wrong)) => complaint = wrong,
                Err(Objection::Doubt(doubt)) if doubted.as_ref() != Some(&text) => {
                    complaint = format!("{doubt} (press Enter again to keep it)");
                    doubted = Some(text);
                }
                _ => {
                    rows.close(&self.answered(question, &line));
                    return Ok(Some(text));
                }
            }
            // The rest of a paste is no better answer.
            keyboard.flush();
        }
    }

    fn draw(&self, rows: &mut Rows<'_>, question: &Question<'_>, complaint: &str, line: &Line) {
        let columns = usize::from(rows.term.size().1).max(10);
        let mut text = String::new();
        let mut add = |line: String| {
            text.push_str(&line);
            text.push_str("\r\n");
        };
        let wrapped = |text: &str| wrapped(text, columns - 4);
        if !question.note.is_empty() {
            wrapped(question.note).lines().for_each(|line| add(line.to_owned()));
        }
        if !complaint.is_empty() {
            let error = rendered(|out| self.theme.format_error(out, &wrapped(complaint)));
            error.lines().for_each(|line| add(line.to_owned()));
        }
        let asked = rendered(|out| self.theme.format_input_prompt(out, &wrapped(question.text), None));
        let (first, mut last) = asked.rsplit_once('\n').unwrap_or(("", &asked));
        first.lines().for_each(|line| add(line.to_owned()));
        // A long question leaves no room next to it.
        if measure_text_width(last) > columns / 2 {
            add(last.trim_end().to_owned());
            last = "  ";
        }
        let room = if question.is_secret { 0 } else { columns - measure_text_width(last) - 1 };
        let (shown, after_cursor) = line.window(room);
        rows.draw(text + last + &shown, after_cursor);
    }

    /// What stays of a question that was answered.
    fn answered(&self, question: &Question<'_>, line: &Line) -> String {
        if line.text().trim().is_empty() {
            return String::new();
        }
        let text = if question.is_secret { "[hidden]".to_owned() } else { Line::shown(&line.text) };
        rendered(|out| self.theme.format_input_prompt_selection(out, question.text, text.trim()))
    }
}

/// The rows that a question takes on the screen, the cursor in the last one.
struct Rows<'a> {
    term: &'a Term,
    above: usize,
    shown: String,
}

impl Rows<'_> {
    /// Shows this text, the cursor so many columns before its end. What was only added to is not drawn anew: a screen
    /// reader would read all of it again.
    fn draw(&mut self, text: String, before_end: usize) {
        let _ = match text.strip_prefix(&self.shown) {
            Some(added) if before_end == 0 && !self.shown.is_empty() => self.term.write_str(added),
            _ => self.erase().and_then(|()| self.term.write_str(&text)),
        };
        let _ = self.term.move_cursor_left(before_end);
        self.above = text.matches('\n').count();
        self.shown = if before_end == 0 { text } else { String::new() };
    }

    /// Leaves this text, if any, in its place.
    fn close(self, text: &str) {
        let _ = self.erase();
        if !text.is_empty() {
            let _ = self.term.write_line(text);
        }
    }

    /// Leaves the question as it is; what comes next stands on a line of its own.
    fn leave(&self, failure: Failure) -> Failure {
        let _ = self.term.write_line("");
        failure
    }

    fn erase(&self) -> io::Result<()> {
        self.term.move_cursor_up(self.above)?;
        self.term.write_str("\r")?;
        self.term.clear_to_end_of_screen()
    }
}

/// The text while it is typed, and where the cursor stands in it.
#[derive(Debug, Default)]
struct Line {
    text: Vec<char>,
    cursor: usize,
}

impl Line {
    fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        Self { cursor: text.len(), text }
    }

    fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Lets a key act, as a shell's line editor would.
    fn press(&mut self, key: &Key) {
        match key {
            Key::Char('\u{15}') => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
            Key::Char('\u{b}') => self.text.truncate(self.cursor),
            Key::Char('\u{17}') => {
                let before = self.text[..self.cursor].iter().rev();
                let start =
                    before.skip_while(|it| it.is_whitespace()).skip_while(|it| !it.is_whitespace()).count();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Del | Key::Char('\u{4}') if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            Key::ArrowLeft => self.cursor = self.cursor.saturating_sub(1),
            Key::ArrowRight => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Tab => self.insert('\t'),
            Key::Char(character) if !character.is_control() => self.insert(*character),
            _ => {}
        }
    }

    fn insert(&mut self, character: char) {
        self.text.insert(self.cursor, character);
        self.cursor += 1;
    }

    /// The part around the cursor that is at most `columns` wide, and the columns of it after the cursor.
    fn window(&self, columns: usize) -> (String, usize) {
        let mut room = columns;
        let mut fits = |it: &&char| {
            let width = measure_text_width(&Self::shown(&[**it]));
            let fits = width <= room;
            room = room.saturating_sub(width);
            fits
        };
        let start = self.cursor - self.text[..self.cursor].iter().rev().take_while(&mut fits).count();
        let end = self.cursor + self.text[self.cursor..].iter().take_while(&mut fits).count();
        let after_cursor = measure_text_width(&Self::shown(&self.text[self.cursor..end]));
        (Self::shown(&self.text[start..end]), after_cursor)
    }

    /// A control character of the stored text is one blank on the screen: what could steer the terminal does not reach it.
    fn shown(text: &[char]) -> String {
        let is_harmful =
            |it: char| it.is_control() || matches!(sanitize(it.encode_utf8(&mut [0; 4])), Cow::Owned(_));
        text.iter().map(|&it| if is_harmful(it) { ' ' } else { it }).collect()
    }
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use super::Line;

    fn after(text: &str, keys: &[Key]) -> String {
        let mut line = Line::new(text);
        for key in keys {
            line.press(key);
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
        let mut line = Line::new("東京都墨田区両国");
        assert_eq!(line.window(16).0, "東京都墨田区両国");
        assert_eq!(line.window(7).0, "区両国");
        line.press(&Key::Home);
        assert_eq!(line.window(7), ("東京都".to_owned(), 6));
        assert_eq!(Line::new("a\tb").window(9).0, "a b");
    }
}
