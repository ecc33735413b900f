//! Foreign text, made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters, bidirectional overrides included, written as `\u{…}`; newlines stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_harmful(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// JSON that means the same, with such characters as `\uXXXX` in its strings; beside those it can only have carriage
/// returns, which become spaces.
pub fn in_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_harmful) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 8);
    for character in json.chars() {
        match character {
            '\r' => safe.push(' '),
            harmful if is_harmful(harmful) => {
                let _ = write!(safe, "\\u{:04x}", u32::from(harmful));
            }
            harmless => safe.push(harmless),
        }
    }
    Cow::Owned(safe)
}

/// The text on one line: newlines and tabs are escaped too.
pub fn one_line(text: &str) -> String {
    escaped(text).replace('\n', "\\n").replace('\t', "\\t")
}

fn is_harmful(character: char) -> bool {
    let bidi =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    bidi || (character.is_control() && character != '\n' && character != '\t')
}

#[cfg(test)]
mod tests {
    use super::{escaped, one_line};

    #[test]
    fn escape_sequences_cannot_reach_the_terminal() {
        assert_eq!(escaped("\u{1b}[31mred\u{9b}2J\r\u{202e}x"), "\\u{1b}[31mred\\u{9b}2J\\u{d}\\u{202e}x");
        assert_eq!(escaped("両国 1-2\nעברית"), "両国 1-2\nעברית");
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
    }
}
