//! Where text for a person goes: how wide it is there, and whether it has colour.

use anstyle::{AnsiColor, Style};

/// One of the two outputs, as far as the look of text depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Screen {
    /// Columns of the terminal; `None` where there is none.
    pub width: Option<u16>,
    /// Whether colour is wanted. It is never the only signal.
    pub color: bool,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
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
}

impl Ink {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(anstyle::Color::Ansi(color)));
        match self {
            Self::Error => color(AnsiColor::Red).bold(),
            Self::Warning => color(AnsiColor::Yellow).bold(),
            Self::Hint => color(AnsiColor::Cyan).bold(),
            Self::Before => color(AnsiColor::Red),
            Self::After => color(AnsiColor::Green),
            Self::Head => Style::new().bold(),
        }
    }
}

impl Screen {
    /// The text in this ink, if there is colour.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = ink.style();
        format!("{style}{text}{style:#}")
    }

    /// Whether the terminal has fewer columns than that.
    pub fn is_narrower_than(self, columns: u16) -> bool {
        self.width.is_some_and(|width| width < columns)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ink, Screen};

    #[test]
    fn colour_surrounds_the_text_and_only_where_it_is_wanted() {
        let screen = Screen { width: None, color: true };
        assert_eq!(screen.paint(Ink::Before, "75001"), "\u{1b}[31m75001\u{1b}[0m");
        assert_eq!(screen.paint(Ink::Before, ""), "");
        assert_eq!(Screen::default().paint(Ink::Error, "error"), "error");
    }
}
