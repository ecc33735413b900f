//! Foreign text, made harmless for a terminal.

use std::borrow::Cow;

/// The text with control characters, bidirectional overrides included, written as `\u{…}`; newlines stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    without_harm(text, |harmful| harmful.escape_unicode().to_string())
}

/// JSON that means the same, such characters written as its strings escape them. Outside of strings only carriage
/// returns can stand among them; they become spaces.
pub fn in_json(json: &str) -> Cow<'_, str> {
    without_harm(json, |harmful| match harmful {
        '\r' => " ".to_owned(),
        other => format!("\\u{:04x}", u32::from(other)),
    })
}

fn without_harm(text: &str, written: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let safe = text
        .chars()
        .map(|character| if is_harmful(character) { written(character) } else { character.into() });
    Cow::Owned(safe.collect())
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
