//! A line of text while it is typed: the text, the cursor, and the part of it that fits the terminal.

use dialoguer::console::{Key, measure_text_width};

/// The line and where the cursor stands in it, in characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    text: Vec<char>,
    cursor: usize,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// The line may have changed; more is expected.
    Edited,
    /// Enter.
    Done,
    /// Esc: one step back.
    Back,
    /// Ctrl-C, or Ctrl-D on an empty line.
    Left,
}

/// The part of a line that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The characters.
    pub text: String,
    /// Columns between the cursor and the end of `text`.
    pub after_cursor: usize,
}

impl Line {
    /// A line that begins with `text`, the cursor at its end.
    pub fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        Self { cursor: text.len(), text }
    }

    /// The text.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Lets a key act, as a shell's line editor would.
    pub fn press(&mut self, key: &Key) -> Pressed {
        match key {
            Key::Enter => return Pressed::Done,
            Key::Escape => return Pressed::Back,
            Key::CtrlC => return Pressed::Left,
            Key::Char('\u{4}') if self.text.is_empty() => return Pressed::Left,
            Key::Char('\u{15}') => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
            Key::Char('\u{b}') => self.text.truncate(self.cursor),
            Key::Char('\u{17}') => self.delete_word(),
            Key::Tab => self.insert('\t'),
            Key::Char(character) if !character.is_control() => self.insert(*character),
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
            _ => {}
        }
        Pressed::Edited
    }

    /// The part around the cursor that is at most `columns` wide.
    pub fn window(&self, columns: usize) -> Window {
        let wide = |text: &[char]| measure_text_width(&shown(text));
        let mut start = 0;
        while start < self.cursor && wide(&self.text[start..self.cursor]) > columns {
            start += 1;
        }
        let mut end = self.text.len();
        while end > self.cursor && wide(&self.text[start..end]) > columns {
            end -= 1;
        }
        Window { text: shown(&self.text[start..end]), after_cursor: wide(&self.text[self.cursor..end]) }
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

/// A tab is one blank on the screen, and what could steer the terminal is none at all.
fn shown(text: &[char]) -> String {
    text.iter().map(|&it| if it.is_control() { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use super::{Line, Pressed};

    fn after(text: &str, keys: &[Key]) -> String {
        let mut line = Line::new(text);
        for key in keys {
            assert_eq!(line.press(key), Pressed::Edited);
        }
        line.text()
    }

    #[test]
    fn keys_edit_as_in_a_shell() {
        let ctrl = |letter: char| Key::Char(char::from(letter as u8 - b'a' + 1));
        assert_eq!(after("Pari", &[Key::Char('s')]), "Paris");
        assert_eq!(after("Paris", &[Key::ArrowLeft, Key::Backspace]), "Pars");
        assert_eq!(after("両国", &[Key::Home, Key::Del, Key::Char('帝')]), "帝国");
        assert_eq!(after("rue de la Paix", &[ctrl('w'), Key::Char('x')]), "rue de la x");
        assert_eq!(after("75002", &[ctrl('u'), Key::Char('1')]), "1");
        assert_eq!(after("75002", &[Key::Home, Key::ArrowRight, ctrl('k')]), "7");
        assert_eq!(after("a", &[Key::ArrowUp, Key::UnknownEscSeq(vec!['b']), Key::Char('\u{7}')]), "a");
    }

    #[test]
    fn some_keys_end_the_line() {
        for (key, ends) in [
            (Key::Enter, Pressed::Done),
            (Key::Escape, Pressed::Back),
            (Key::CtrlC, Pressed::Left),
            (Key::Char('\u{4}'), Pressed::Left),
        ] {
            assert_eq!(Line::default().press(&key), ends);
        }
        assert_eq!(Line::new("text").press(&Key::Char('\u{4}')), Pressed::Edited);
    }

    #[test]
    fn the_window_follows_the_cursor_in_columns_and_not_in_characters() {
        let mut line = Line::new("東京都墨田区両国");
        assert_eq!(line.window(16).text, "東京都墨田区両国");
        assert_eq!(line.window(7).text, "区両国");
        line.press(&Key::Home);
        let window = line.window(7);
        assert_eq!((window.text.as_str(), window.after_cursor), ("東京都", 6));
        assert_eq!(Line::new("a\tb").window(9).text, "a b");
    }
}
