//! Where text for a person goes: how wide it is there, and whether it has colour.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

/// One of the two outputs, as far as the look of text depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputStyle {
    /// Columns of the terminal; `None` where there is none.
    pub width: Option<u16>,
    /// Whether colour is wanted. It is never the only signal.
    pub color: bool,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// The word `error`.
    Error,
    /// The word `warning`.
    Warning,
    /// The word `hint`.
    Hint,
    /// A value that goes.
    Before,
    /// A value that comes.
    After,
    /// The head of a table, or of a part of it.
    Head,
    /// An id that other commands take.
    Id,
    /// What matters less than the text around it.
    Dim,
}

impl TextStyle {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(anstyle::Color::Ansi(color)));
        match self {
            Self::Error => color(AnsiColor::Red).bold(),
            Self::Warning => color(AnsiColor::Yellow).bold(),
            Self::Hint => color(AnsiColor::Cyan).bold(),
            Self::Before => color(AnsiColor::Red),
            Self::After => color(AnsiColor::Green),
            Self::Head => Style::new().bold(),
            Self::Id => color(AnsiColor::Cyan),
            Self::Dim => Style::new().dimmed(),
        }
    }
}

impl OutputStyle {
    /// The text in this ink, if there is colour.
    pub fn paint(self, ink: TextStyle, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = ink.style();
        format!("{style}{text}{style:#}")
    }

    /// The text broken between words where the terminal is too narrow for it; what follows is indented. What stands in
    /// backticks stays whole: commands have to be copied.
    pub fn wrapped(self, text: &str) -> String {
        let columns = self.width.map_or(usize::MAX, |width| usize::from(width).max(20));
        let mut wrapped = String::new();
        for line in text.split('\n') {
            let mut used = 0;
            for (index, word) in words(line).enumerate() {
                let width = word.width();
                if index > 0 && used + 1 + width > columns {
                    wrapped.push_str("\n  ");
                    used = 2;
                } else if index > 0 {
                    wrapped.push(' ');
                    used += 1;
                }
                wrapped.push_str(word);
                used += width;
            }
            wrapped.push('\n');
        }
        wrapped.pop();
        wrapped
    }

    /// Whether the terminal has fewer columns than that.
    pub fn is_narrower_than(self, columns: u16) -> bool {
        self.width.is_some_and(|width| width < columns)
    }
}

/// The words of a line, with what stands in backticks as one word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |character| {
        is_quoted ^= character == '`';
        character == ' ' && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use crate::report::terminal::{OutputStyle, TextStyle};

    #[test]
    fn lines_break_between_words_and_only_where_there_is_a_terminal() {
        let screen = OutputStyle { width: Some(20), color: true };
        assert_eq!(screen.wrapped("warning: 両国 is no code\nat all"), "warning: 両国 is no\n  code\nat all");
        assert_eq!(OutputStyle::default().wrapped("a  b"), "a  b");
        assert_eq!(screen.wrapped(&"x".repeat(30)), "x".repeat(30));
        assert_eq!(
            screen.wrapped("run `a bb ccc dddd eeeee`, or wait"),
            "run\n  `a bb ccc dddd eeeee`,\n  or wait"
        );
    }

    #[test]
    fn colour_surrounds_the_text_and_only_where_it_is_wanted() {
        let screen = OutputStyle { width: None, color: true };
        assert_eq!(screen.paint(TextStyle::Before, "75001"), "\u{1b}[31m75001\u{1b}[0m");
        assert_eq!(screen.paint(TextStyle::Before, ""), "");
        assert_eq!(OutputStyle::default().paint(TextStyle::Error, "error"), "error");
    }
}
