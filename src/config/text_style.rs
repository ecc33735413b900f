//! How a text file writes its lines, so that a change of one setting changes no other byte.

/// Line ends and byte order mark of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextStyle {
    crlf: bool,
    byte_order_mark: bool,
}

impl TextStyle {
    /// The style of a text. One with mixed line ends counts as LF.
    pub fn of(text: &str) -> Self {
        let ends = text.matches('\n').count();
        Self {
            crlf: ends > 0 && text.matches("\r\n").count() == ends,
            byte_order_mark: text.starts_with('\u{feff}'),
        }
    }

    /// The text in this style.
    pub fn apply(self, text: &str) -> String {
        let text = text.trim_start_matches('\u{feff}');
        let text = if self.crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text.to_owned() };
        if self.byte_order_mark { format!("\u{feff}{text}") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::TextStyle;

    #[test]
    fn a_text_keeps_its_line_ends_and_mark() {
        for text in ["a\r\nb\r\n", "a\nb\n", "\u{feff}a\r\n", "", "a"] {
            assert_eq!(TextStyle::of(text).apply(text), text, "{text:?}");
        }
        assert_eq!(TextStyle::of("a\r\n").apply("a\r\nb\n"), "a\r\nb\r\n");
        assert_eq!(TextStyle::of("a\r\nb\n").apply("a\r\nb\n"), "a\r\nb\n", "mixed ends are left alone");
    }
}
