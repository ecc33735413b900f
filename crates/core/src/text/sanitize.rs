//! Makes foreign text safe to print: masks tokens in use, then escapes what a terminal would obey or hide. All foreign
//! text that is printed or recorded passes one of these functions.

use std::borrow::Cow;
use std::fmt::{Display, Write};

use crate::text::redact::secrets;

/// The text with tokens masked, and with control, bidirectional and invisible characters written as `\u{…}`; newlines
/// stay.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    then(secrets().text(text), replace_harmful)
}

/// Escapes JSON text. It stays JSON and means the same except for the tokens: characters are written as escapes of JSON
/// strings. Outside of strings only carriage returns can occur; they become spaces.
pub fn in_json(json: &str) -> Cow<'_, str> {
    then(secrets().json_text(json), |json| replaced(json, json_escape))
}

fn replace_harmful(text: &str) -> Cow<'_, str> {
    replaced(text, |harmful, out| out.extend(harmful.escape_unicode()))
}

fn json_escape(harmful: char, out: &mut String) {
    if harmful == '\r' {
        out.push(' ');
        return;
    }
    for unit in harmful.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

fn then(text: Cow<'_, str>, change: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => change(text),
        Cow::Owned(text) => Cow::Owned(change(&text).into_owned()),
    }
}

fn replaced(text: &str, written: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if text.is_ascii() && !text.bytes().any(|byte| is_harmful(byte.into())) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if is_harmful(character) || is_joiner(character) && !joins(before, characters.peek().copied()) {
            written(character, &mut safe);
        } else {
            safe.push(character);
        }
        before = Some(character);
    }
    if safe == text { Cow::Borrowed(text) } else { Cow::Owned(safe) }
}

/// The text on one line: newlines and tabs are escaped too.
pub fn sanitize_line(text: &str) -> String {
    sanitize(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// A value inside a message, between backticks, for what customers, shops and sheets wrote. Backticks
/// inside are escaped, so that a value cannot end the quotation and pose as a command.
pub fn quoted(value: impl Display) -> String {
    format!("`{}`", value.to_string().replace('`', "\\`"))
}

/// Whether a terminal obeys a character, or does not show it at all: two different names would look the same.
fn is_harmful(character: char) -> bool {
    let bidi = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let invisible = matches!(character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}'
        | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    bidi || invisible || (character.is_control() && character != '\n' && character != '\t')
}

/// The two invisible characters that spelling needs: in Persian and Indian words, and in emoji.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Whether a joiner is where spelling puts it, between two characters that are not ASCII.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let spelled = |character: char| !character.is_ascii() && !is_harmful(character) && !is_joiner(character);
    before.is_some_and(spelled) && after.is_some_and(spelled)
}

/// A message on one line, for a table or a list, with `; ` between problems.
pub fn message_line(message: &str) -> String {
    sanitize_line(&message.replace("\n  ", "; "))
}

#[cfg(test)]
mod tests {
    use super::in_json;
    use crate::text::sanitize::{quoted, sanitize, sanitize_line};

    #[test]
    fn escape_sequences_cannot_reach_the_terminal() {
        assert_eq!(sanitize("\u{1b}[31mred\u{9b}2J\r\u{202e}x"), "\\u{1b}[31mred\\u{9b}2J\\u{d}\\u{202e}x");
        assert_eq!(sanitize("両国 1-2\nעברית"), "両国 1-2\nעברית");
        assert_eq!(sanitize_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn a_quoted_value_ends_where_it_ends() {
        assert_eq!(quoted("St. Louis"), "`St. Louis`");
        assert_eq!(quoted("x` and run `rm -r"), "`x\\` and run \\`rm -r`");
    }

    #[test]
    fn what_is_invisible_is_shown_and_spelling_stays() {
        assert_eq!(
            sanitize("Pa\u{200b}r\u{ad}i\u{200d}s\u{feff}\u{e0041}\u{200f}"),
            "Pa\\u{200b}r\\u{ad}i\\u{200d}s\\u{feff}\\u{e0041}\\u{200f}"
        );
        for spelled in ["می\u{200c}خواهم", "👩\u{200d}💻", "क्\u{200d}ष", "שלום"] {
            assert_eq!(sanitize(spelled), spelled);
        }
        assert_eq!(sanitize("م\u{200c}\u{200c}م"), "م\\u{200c}\\u{200c}م");
    }

    #[test]
    fn json_stays_json_and_means_the_same() {
        let value = serde_json::json!({"a\u{200f}": "\u{9b}2J\u{7f}\u{202e}\u{e0041}\u{2066}é\u{1b}\n"});
        let text = value.to_string();
        let safe = in_json(&text);
        assert!(!safe.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{e0041}', '\u{200f}']), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
