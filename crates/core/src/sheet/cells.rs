//! What spreadsheets do to cells: blanks around them, formulas that hold a text, and yes and no in the language of the
//! program. A cell that is written here is read back unchanged, also after a spreadsheet has opened and saved it.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::text::exact_json;

/// Whether a character cannot be seen at the end of a cell.
fn is_invisible(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// A value without the blanks and invisible characters around it.
pub fn bare(value: &str) -> &str {
    value.trim_matches(is_invisible)
}

/// The text in a formula such as `="02138"`, which keeps it from becoming a number. A quote in it is written twice.
fn in_formula(cell: &str) -> Option<Cow<'_, str>> {
    let text = bare(cell).strip_prefix("=\"")?.strip_suffix('"')?;
    match text.contains('"') {
        false => Some(bare(text).into()),
        true if text.replace("\"\"", "").contains('"') => None,
        true => Some(bare(&text.replace("\"\"", "\"")).to_owned().into()),
    }
}

/// A cell without what is around its value; the text of a formula that is a text.
pub fn clean(cell: &str) -> Cow<'_, str> {
    in_formula(cell).unwrap_or_else(|| bare(cell).into())
}

/// What a cell says: the text of such a formula, or what follows the mark of a text.
pub fn value(cell: &str) -> Cow<'_, str> {
    in_formula(cell).unwrap_or_else(|| unmarked(bare(cell)).into())
}

/// A cell as it is compared: as it is after a spreadsheet has saved a formula as its text.
pub fn compared(cell: &str) -> String {
    unmarked(&clean(cell)).to_owned()
}

/// Magento's own word in import files for clearing a field; an empty cell changes nothing.
pub const CLEARED: &str = "__EMPTY__VALUE__";

/// Whether a cell clears its field.
///
/// # Errors
/// What was expected, for a similar word: it would be stored literally.
pub fn clears(cell: &str) -> Result<bool, String> {
    match cell {
        CLEARED => Ok(true),
        other if other.starts_with("__EMPTY") => Err(format!("expected {CLEARED}, found {other:?}")),
        _ => Ok(false),
    }
}

/// A cell that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// A number by which the shop identifies something, or a word of ours: no spreadsheet changes it.
    Plain(String),
    /// A value of the shop, to be [`written`].
    Value(String),
    /// A value that no cell can hold.
    Lost,
}

impl Cell {
    /// The cell of a text of the shop.
    pub fn of(text: &str) -> Self {
        if text.contains(['\n', '\r', '\0']) { Self::Lost } else { Self::Value(text.to_owned()) }
    }
}

/// How many characters a formula can hold in Excel.
pub const MAX_FORMULA: usize = 255;

/// A value as a cell that no spreadsheet changes or runs: a value that holds a digit, does not begin with a letter, or
/// is a word for true or false becomes a formula that is a text.
pub fn written(value: &str) -> Cow<'_, str> {
    let is_word = value.starts_with(char::is_alphabetic) && !value.contains(|it: char| it.is_numeric());
    if value.is_empty() || is_word && flag(value).is_err() {
        return value.into();
    }
    if value.chars().count() > MAX_FORMULA {
        // Such a long text is not a number; the mark keeps it from being run.
        return if value.starts_with(['=', '+', '-', '@']) {
            format!("'{value}").into()
        } else {
            value.into()
        };
    }
    format!("=\"{}\"", value.replace('"', "\"\"")).into()
}

/// Whether something around a cell is dropped.
pub fn is_trimmed(cell: &str) -> bool {
    bare(cell) != cell
}

/// A cell without the apostrophe with which a spreadsheet keeps the text from becoming a number or a formula.
fn unmarked(cell: &str) -> &str {
    let rest = cell.strip_prefix('\'');
    rest.filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit() || "+-=@".contains(first)))
        .map_or(cell, bare)
}

/// Yes in the languages that spreadsheets are used in; the words for `TRUE` come first.
const YES: [&str; 27] = [
    "1",
    "true",
    "wahr",
    "vrai",
    "verdadero",
    "vero",
    "verdadeiro",
    "waar",
    "prawda",
    "sant",
    "sand",
    "sann",
    "tosi",
    "pravda",
    "igaz",
    "doğru",
    "истина",
    "yes",
    "y",
    "x",
    "ja",
    "j",
    "oui",
    "si",
    "sí",
    "sim",
    "tak",
];

/// No in the same languages.
const NO: [&str; 25] = [
    "0", "false", "falsch", "faux", "falso", "onwaar", "fałsz", "falskt", "falsk", "usann", "epätosi",
    "nepravda", "hamis", "yanlış", "ложь", "no", "n", "nein", "non", "não", "nee", "nie", "nej", "nei", "ei",
];

/// Yes or no, in the words of spreadsheets.
///
/// # Errors
/// What was expected.
pub fn flag(cell: &str) -> Result<bool, String> {
    let word = cell.trim().to_lowercase();
    match (YES.contains(&&*word), NO.contains(&&*word)) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => {
            Err(format!("expected yes or no (or true, false, 1, 0, ja, nein, oui, non, si), found {cell:?}"))
        }
    }
}

/// Lines separated by `|` or line breaks; `\|` is a literal `|`. Empty lines are left out.
pub fn lines(cell: &str) -> Vec<String> {
    let lines = parted(cell).into_iter().map(|line| line.trim().replace("\\|", "|"));
    lines.filter(|line| !line.is_empty()).collect()
}

/// Lines as one cell, which [`lines`] reads.
pub fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(|line| line.replace('|', "\\|")).collect::<Vec<_>>().join("|")
}

/// What is wrong with a number that has a dot or a comma before three digits: it may separate thousands or decimals.
pub fn ambiguous(text: &str) -> Option<String> {
    let number = exact_json::with_decimal_point(text).unwrap_or_else(|| text.trim().to_owned());
    let is_group = |text: &str| matches!(text.len(), 1..=3) && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, rest) = number.trim_start_matches(['-', '+']).split_once('.')?;
    let is_it = whole != "0" && is_group(whole) && is_group(rest) && rest.len() == 3;
    is_it.then(|| format!("{text:?} is ambiguous: write {} or {number}0", number.replace('.', "")))
}

/// Labels separated by `|` or line breaks; a leading `*` marks the default. `\|` and `\*` are literal characters.
pub fn options(cell: &str) -> Value {
    let labels = parted(cell);
    let labels = labels.iter().map(|label| clean(label)).filter(|label| !label.is_empty()).enumerate();
    labels
        .map(|(index, label)| {
            let (label, is_default) = match label.strip_prefix('*') {
                Some(bare) => (bare.trim_start(), true),
                None => (&*label, false),
            };
            let label = label.replace("\\|", "|").replace("\\*", "*");
            json!({"label": label, "sort_order": index + 1, "is_default": is_default})
        })
        .collect()
}

/// The labels of a cell as they are written.
fn parted(cell: &str) -> Vec<String> {
    let mut labels = vec![String::new()];
    let mut is_escaped = false;
    for character in cell.chars() {
        match labels.last_mut() {
            Some(label) if !matches!(character, '\n' | '\r') && (is_escaped || character != '|') => {
                label.push(character);
            }
            _ => labels.push(String::new()),
        }
        is_escaped = character == '\\';
    }
    labels
}

/// A label as [`options`] reads it.
pub fn option(label: &str) -> String {
    let escaped = label.replace('|', "\\|");
    if escaped.starts_with('*') { format!("\\{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ambiguous, clean, flag, joined, lines, option, options, unmarked, value, written};

    #[test]
    fn what_nobody_sees_around_a_cell_is_left_out() {
        for cell in
            [" Troy", "Troy\u{a0}", "\u{feff}Troy\u{200b}", "\u{2007}Troy\t", "=\"Troy\"", "=\" Troy\" "]
        {
            assert_eq!(clean(cell), "Troy", "{cell:?}");
        }
        for cell in ["New\u{a0}York", "=A1", "=\"a\"&\"b\"", "\"Troy\"", "=", "=\""] {
            assert_eq!(clean(cell), cell);
        }
    }

    #[test]
    fn the_mark_of_a_text_goes_and_an_apostrophe_of_a_word_stays() {
        for (cell, text) in
            [("'10119", "10119"), ("'+1 212", "+1 212"), ("'=1", "=1"), ("'@x", "@x"), ("'-", "-")]
        {
            assert_eq!(unmarked(cell), text);
        }
        for cell in ["'s-Hertogenbosch", "'", "''1", "1'", "O'Neil"] {
            assert_eq!(unmarked(cell), cell);
        }
    }

    #[test]
    fn a_formula_holds_what_was_written() {
        for text in [
            "02138",
            "=1+1",
            "24\" Main",
            "'10119",
            "TRUE",
            "wahr",
            "+1 212",
            "@x",
            "1,000",
            "=\"x\"",
            "#1",
            "-",
        ] {
            let cell = written(text);
            assert!(
                cell.starts_with("=\"") && value(&cell) == text && clean(&cell) == text,
                "{text}: {cell}"
            );
        }
        for text in ["Troy", "Łódź", "東京", "May", ""] {
            assert_eq!((&*written(text), &*value(text)), (text, text));
        }
        let long = format!("={}", "a".repeat(300));
        assert_eq!((&*written(&long), &*value(&written(&long))), (&*format!("'{long}"), &*long));
    }

    #[test]
    fn a_separator_before_three_digits_may_be_one_of_thousands() {
        for (text, said) in
            [("1,000", "1000 or 1.0000"), ("1.000", "1000 or 1.0000"), ("-12,500", "-12500 or -12.5000")]
        {
            assert!(ambiguous(text).unwrap_or_default().contains(said), "{text}");
        }
        for text in ["1,5", "1.50", "0,125", "1000", "1,0000", "x", "1234.567"] {
            assert_eq!(ambiguous(text), None, "{text}");
        }
    }

    #[test]
    fn lines_are_joined_and_parted() {
        for text in [&["Main St 2", "Rear house"][..], &["a|b", "c"], &["|"]] {
            assert_eq!(lines(&joined(text.iter().copied())), text);
        }
        assert_eq!(lines("a | b\n\nc"), ["a", "b", "c"]);
    }

    #[test]
    fn yes_and_no_are_read_in_the_words_of_spreadsheets() {
        for (cell, expected) in [
            ("WAHR", true),
            ("Vrai", true),
            ("FALSO", false),
            ("FAŁSZ", false),
            ("Y", true),
            (" n ", false),
            ("x", true),
        ] {
            assert_eq!(flag(cell), Ok(expected), "{cell}");
        }
        assert!(flag("maybe").is_err());
    }

    #[test]
    fn labels_are_separated_and_escaped() {
        let labels = |cell: &str| -> Vec<(String, bool)> {
            let options = options(cell);
            let label =
                |it: &serde_json::Value| (it["label"].as_str().unwrap().to_owned(), it["is_default"] == true);
            options.as_array().unwrap().iter().map(label).collect()
        };
        let plain = |label: &str| (label.to_owned(), false);
        assert_eq!(
            labels("Linen\r\nCotton | *Wool|"),
            [plain("Linen"), plain("Cotton"), ("Wool".to_owned(), true)]
        );
        assert_eq!(
            labels(r"\*NEW*|A\|B|C:\D|\\x|5\*5|*\*S\*"),
            [
                plain("*NEW*"),
                plain("A|B"),
                plain(r"C:\D"),
                plain(r"\\x"),
                plain("5*5"),
                ("*S*".to_owned(), true)
            ]
        );
        for label in ["*NEW*", "A|B", r"C:\D", "|", "**"] {
            assert_eq!(labels(&option(label)), [plain(label)], "{label}");
        }
        assert_eq!(options("*One")[0], json!({"label": "One", "sort_order": 1, "is_default": true}));
    }
}
