//! Writes and reads command lines for the shell of this system: commands that are printed to be run, and commands that
//! are given as one text.

use std::borrow::Cow;

/// The shell that a person copies a command into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// `sh` and its relatives.
    Posix,
    /// PowerShell 7.3 or later. Words without `"`, `$` and backticks are quoted so that `cmd.exe` takes them too.
    Windows,
}

impl Shell {
    /// The shell of the system this program runs on.
    pub const NATIVE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };

    /// One word, in quotes where it needs them.
    pub fn quote(self, word: &str) -> Cow<'_, str> {
        match self {
            Self::Posix => quote_for_posix(word),
            Self::Windows => quote_for_windows(word),
        }
    }

    /// Words as one line.
    pub fn join<W: AsRef<str>>(self, words: impl IntoIterator<Item = W>) -> String {
        let words = words.into_iter().map(|word| self.quote(word.as_ref()).into_owned());
        words.collect::<Vec<_>>().join(" ")
    }

    /// The words of a line. On Windows a backslash separates the parts of a path and quotes only a `"`, as in the
    /// command line of a Windows process.
    ///
    /// # Errors
    /// Where a quote is not closed.
    pub fn split(self, line: &str) -> Result<Vec<String>, &'static str> {
        match self {
            Self::Posix => shell_words::split(line).map_err(|_| MISSING_QUOTE),
            Self::Windows => split_for_windows(line),
        }
    }
}

const MISSING_QUOTE: &str = "missing closing quote";

/// PowerShell takes these for `'`.
const SINGLE_QUOTES: [char; 5] = ['\'', '‘', '’', '‚', '‛'];

/// And these for `"`.
const DOUBLE_QUOTES: [char; 4] = ['"', '“', '”', '„'];

/// Quotes a word. An equals sign needs no quotes: `--searchable=false` stays as one would type it.
fn quote_for_posix(word: &str) -> Cow<'_, str> {
    let is_plain = |text: &str| !text.is_empty() && matches!(shell_words::quote(text), Cow::Borrowed(_));
    match word.split_once('=') {
        Some((name, value)) if is_plain(name) && !value.is_empty() => {
            format!("{name}={}", shell_words::quote(value)).into()
        }
        _ => shell_words::quote(word),
    }
}

fn quote_for_windows(word: &str) -> Cow<'_, str> {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-./\\:=+".contains(one);
    // PowerShell splits some words that begin like a parameter at a full stop or a colon.
    let is_split = word.starts_with('-') && word.contains(['.', ':']);
    if !word.is_empty() && word.chars().all(is_plain) && !is_split {
        return Cow::Borrowed(word);
    }
    if word.contains(DOUBLE_QUOTES) || word.contains(['$', '`']) {
        return quote_for_powershell(word).into();
    }
    // A backslash before the closing quote would quote it.
    let backslashes = word.len() - word.trim_end_matches('\\').len();
    format!("\"{word}{}\"", "\\".repeat(backslashes)).into()
}

fn quote_for_powershell(word: &str) -> String {
    let doubled = |one: char| if SINGLE_QUOTES.contains(&one) { vec![one, one] } else { vec![one] };
    format!("'{}'", word.chars().flat_map(doubled).collect::<String>())
}

/// Splits by the rules of `CommandLineToArgvW`: blanks separate, `"` quotes, and backslashes count only before a `"`.
fn split_for_windows(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(one) = rest.next() {
        match one {
            ' ' | '\t' | '\r' | '\n' if !is_quoted => words.extend(word.take()),
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                rest.next();
                word.get_or_insert_default().push('"');
            }
            '"' => {
                word.get_or_insert_default();
                is_quoted = !is_quoted;
            }
            '\\' => {
                let mut count = 1;
                while rest.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let is_before_quote = rest.peek() == Some(&'"');
                let word = word.get_or_insert_default();
                word.push_str(&"\\".repeat(if is_before_quote { count / 2 } else { count }));
                if is_before_quote && count % 2 == 1 {
                    rest.next();
                    word.push('"');
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if is_quoted { Err(MISSING_QUOTE) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Shell::{Posix, Windows};

    #[test]
    fn a_windows_line_is_split_as_a_windows_program_splits_it() {
        for (line, words) in [
            (r"C:\Tools\op.exe read x", &[r"C:\Tools\op.exe", "read", "x"][..]),
            (
                r#""C:\Program Files\op.exe" read "op://a b/c""#,
                &[r"C:\Program Files\op.exe", "read", "op://a b/c"],
            ),
            (r#"a "" b"#, &["a", "", "b"]),
            (r#"a\\\"b "c\\" \\server\share"#, &[r#"a\"b"#, r"c\", r"\\server\share"]),
            (r#""a""b" 'c d'"#, &[r#"a"b"#, "'c", "d'"]),
            ("  a\tb  ", &["a", "b"]),
            ("", &[]),
        ] {
            assert_eq!(Windows.split(line).unwrap(), words, "{line}");
        }
        assert!(Windows.split(r#""C:\x"#).is_err() && Posix.split("'x").is_err());
    }

    #[test]
    fn words_are_quoted_for_the_shell_that_reads_them() {
        for (word, posix, windows) in [
            (r"C:\data\a.csv", r"'C:\data\a.csv'", r"C:\data\a.csv"),
            ("a b", "'a b'", "\"a b\""),
            (r"C:\a b\", r"'C:\a b\'", r#""C:\a b\\""#),
            ("d'été", r"'d'\''été'", "\"d'été\""),
            ("50 %", "'50 %'", "\"50 %\""),
            ("it's $5", r"'it'\''s $5'", "'it''s $5'"),
            ("say “‘hi’”", "'say “‘hi’”'", "'say “‘‘hi’’”'"),
            ("", "''", "\"\""),
            ("a,b", "a,b", "\"a,b\""),
            ("--price=1.5", "--price=1.5", "\"--price=1.5\""),
            ("2=Couleur d'été", r"2='Couleur d'\''été'", "\"2=Couleur d'été\""),
            ("=x", "'=x'", "=x"),
            ("--city", "--city", "--city"),
        ] {
            assert_eq!(Posix.quote(word), posix, "{word}");
            assert_eq!(Windows.quote(word), windows, "{word}");
        }
        assert_eq!(Windows.join(["storefront", "a b"]), "storefront \"a b\"");
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_split_into_the_same_words(words in prop::collection::vec("\\PC{0,8}", 0..4)) {
            prop_assert_eq!(&Posix.split(&Posix.join(&words)).unwrap(), &words);
            // What is in single quotes is for PowerShell alone.
            let plain = |one: &char| !super::DOUBLE_QUOTES.contains(one) && !"$`".contains(*one);
            let words: Vec<String> = words.iter().map(|word| word.chars().filter(plain).collect()).collect();
            prop_assert_eq!(&Windows.split(&Windows.join(&words)).unwrap(), &words);
        }
    }
}
