//! A line of text while it is typed: the text, the cursor, and the part of it that fits the terminal.

use std::borrow::Cow;

use dialoguer::console::{Key, measure_text_width};

use crate::sanitize::sanitize;

/// The line and where the cursor stands in it, in characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEditor {
    text: Vec<char>,
    cursor: usize,
    /// Nothing was edited yet: what is typed takes the place of the whole text.
    is_untouched: bool,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOutcome {
    /// The line may have changed; more is expected.
    Edited,
    /// Enter.
    Done,
    /// Esc: one step back.
    Back,
    /// Ctrl-C, or Ctrl-D where there is nothing to delete.
    Interrupted,
}

/// The part of a line that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The characters.
    pub text: String,
    /// Columns between the cursor and the end of `text`.
    pub after_cursor: usize,
}

impl LineEditor {
    /// A line that begins with `text`, the cursor at its end. The first character typed replaces it; a key that moves or
    /// deletes edits it.
    pub fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        Self { cursor: text.len(), is_untouched: !text.is_empty(), text }
    }

    /// The same, where what is typed is added to the text.
    pub fn edited(text: &str) -> Self {
        Self { is_untouched: false, ..Self::new(text) }
    }

    /// The text.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Whether the next character replaces all of it.
    pub const fn is_untouched(&self) -> bool {
        self.is_untouched
    }

    /// Lets a key act, as a shell's line editor would.
    pub fn press(&mut self, key: &Key) -> KeyOutcome {
        match key {
            Key::Enter => return KeyOutcome::Done,
            Key::Escape => return KeyOutcome::Back,
            Key::CtrlC => return KeyOutcome::Interrupted,
            Key::Char('\u{4}') if self.text.is_empty() || self.is_untouched => {
                return KeyOutcome::Interrupted;
            }
            Key::Char(character) if !character.is_control() => {
                self.replace_untouched();
                self.insert(*character);
                return KeyOutcome::Edited;
            }
            Key::Char('\u{15}') => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
            Key::Char('\u{b}') => self.text.truncate(self.cursor),
            Key::Char('\u{17}') => self.delete_word(),
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
            _ => return KeyOutcome::Edited,
        }
        self.is_untouched = false;
        KeyOutcome::Edited
    }

    /// Inserts what was pasted. It is one line here: line breaks and tabs become blanks, and those at its end nothing.
    pub fn paste(&mut self, text: &str) {
        self.replace_untouched();
        let text = text.trim_end_matches(['\r', '\n']).replace("\r\n", " ");
        let pasted: Vec<char> = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
        let end = self.cursor + pasted.len();
        self.text.splice(self.cursor..self.cursor, pasted);
        self.cursor = end;
    }

    fn replace_untouched(&mut self) {
        if std::mem::take(&mut self.is_untouched) {
            self.text.clear();
            self.cursor = 0;
        }
    }

    /// The part around the cursor that is at most `columns` wide.
    pub fn window(&self, columns: usize) -> Window {
        let width = |&it: &char| measure_text_width(format_key(&[it]).as_str());
        let mut room = columns;
        let mut fits = |it: &char| {
            width(it) <= room && {
                room -= width(it);
                true
            }
        };
        let start = self.cursor - self.text[..self.cursor].iter().rev().take_while(|it| fits(it)).count();
        let end = self.cursor + self.text[self.cursor..].iter().take_while(|it| fits(it)).count();
        let after_cursor = self.text[self.cursor..end].iter().map(width).sum();
        Window { text: format_key(&self.text[start..end]), after_cursor }
    }

    fn insert(&mut self, character: char) {
        self.text.insert(self.cursor, character);
        self.cursor += 1;
    }

    fn delete_word(&mut self) {
        let before = &self.text[..self.cursor];
        let word =
            before.iter().rev().skip_while(|it| it.is_whitespace()).skip_while(|it| !it.is_whitespace());
        let start = word.count();
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }
}

/// A control character of the stored text is one blank on the screen: what could steer the terminal does not reach it.
fn format_key(text: &[char]) -> String {
    let is_harmful =
        |it: char| it.is_control() || matches!(sanitize(it.encode_utf8(&mut [0; 4])), Cow::Owned(_));
    text.iter().map(|&it| if is_harmful(it) { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use crate::prompt::line_editor::{KeyOutcome, LineEditor};

    fn after(text: &str, keys: &[Key]) -> String {
        let mut line = LineEditor::new(text);
        for key in keys {
            assert_eq!(line.press(key), KeyOutcome::Edited);
        }
        line.text()
    }

    #[test]
    fn keys_edit_as_in_a_shell() {
        let ctrl = |letter: char| Key::Char(char::from(letter as u8 - b'a' + 1));
        assert_eq!(after("Pari", &[Key::End, Key::Char('s')]), "Paris");
        assert_eq!(after("Paris", &[Key::ArrowLeft, Key::Backspace]), "Pars");
        assert_eq!(after("両国", &[Key::Home, Key::Del, Key::Char('帝')]), "帝国");
        assert_eq!(after("rue de la Paix", &[ctrl('w'), Key::Char('x')]), "rue de la x");
        assert_eq!(after("75002", &[ctrl('u'), Key::Char('1')]), "1");
        assert_eq!(after("75002", &[Key::Home, Key::ArrowRight, ctrl('k')]), "7");
        assert_eq!(after("a", &[Key::ArrowUp, Key::UnknownEscSeq(vec!['b']), Key::Char('\u{7}')]), "a");
    }

    #[test]
    fn the_first_character_replaces_what_was_there_and_any_other_key_keeps_it() {
        let typed = [Key::Char('1'), Key::Char('0')];
        assert_eq!(after("10118", &typed), "10");
        assert_eq!(after("10118", &[&[Key::ArrowLeft], &typed[..]].concat()), "1011108");
        assert_eq!(after("10118", &[&[Key::Backspace], &typed[..]].concat()), "101110");
        let mut line = LineEditor::new("Paris");
        line.paste("Pots\r\ndam\n\nyours\tsincerely\r\n");
        assert_eq!(line.text(), "Pots dam  yours sincerely");
        line.paste(".");
        assert_eq!(line.text(), "Pots dam  yours sincerely.");
    }

    #[test]
    fn some_keys_end_the_line() {
        for (key, ends) in [
            (Key::Enter, KeyOutcome::Done),
            (Key::Escape, KeyOutcome::Back),
            (Key::CtrlC, KeyOutcome::Interrupted),
            (Key::Char('\u{4}'), KeyOutcome::Interrupted),
        ] {
            assert_eq!(LineEditor::default().press(&key), ends);
        }
        assert_eq!(LineEditor::new("text").press(&Key::Char('\u{4}')), KeyOutcome::Interrupted);
        let mut edited = LineEditor::new("text");
        edited.press(&Key::Home);
        assert_eq!((edited.press(&Key::Char('\u{4}')), edited.text().as_str()), (KeyOutcome::Edited, "ext"));
    }

    #[test]
    fn the_window_follows_the_cursor_in_columns_and_not_in_characters() {
        let mut line = LineEditor::new("東京都墨田区両国");
        assert_eq!(line.window(16).text, "東京都墨田区両国");
        assert_eq!(line.window(7).text, "区両国");
        line.press(&Key::Home);
        let window = line.window(7);
        assert_eq!((window.text.as_str(), window.after_cursor), ("東京都", 6));
        assert_eq!(LineEditor::new("a\tb").window(9).text, "a b");
    }
}
