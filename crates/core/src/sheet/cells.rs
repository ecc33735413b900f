//! What spreadsheets do to cells: blanks around them, formulas that hold a text, and yes and no in the language of the program.

use serde_json::{Value, json};

/// Whether a character is seen by nobody at the end of a cell.
fn is_invisible(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// A value without the blanks and invisible characters around it.
pub fn bare(value: &str) -> &str {
    value.trim_matches(is_invisible)
}

/// A cell without what is around its value; of `="02138"`, which keeps a text from becoming a number, the text.
pub fn clean(cell: &str) -> &str {
    let bare = bare(cell);
    let text = bare.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
    text.filter(|text| !text.contains('"')).map_or(bare, self::bare)
}

/// Whether something around a cell is left out.
pub fn is_trimmed(cell: &str) -> bool {
    bare(cell) != cell
}

/// A clean cell without the apostrophe by which a spreadsheet keeps what follows from becoming a number or a formula.
pub fn unmarked(cell: &str) -> &str {
    let rest = cell.strip_prefix('\'');
    rest.filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit() || "+-=@".contains(first)))
        .map_or(cell, bare)
}

/// Yes in the languages that spreadsheets are used in, first what `TRUE` is called in them.
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

/// Yes or no, in the ways spreadsheets say it.
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

/// Labels with `|` or line breaks between them; a leading `*` marks the default. `\|` and `\*` are the characters.
pub fn options(cell: &str) -> Value {
    let labels = parted(cell);
    let labels = labels.iter().map(|label| clean(label)).filter(|label| !label.is_empty()).enumerate();
    labels
        .map(|(index, label)| {
            let (label, is_default) = match label.strip_prefix('*') {
                Some(bare) => (bare.trim_start(), true),
                None => (label, false),
            };
            let label = label.replace("\\|", "|").replace("\\*", "*");
            json!({"label": label, "sort_order": index + 1, "is_default": is_default})
        })
        .collect()
}

/// The labels of a cell as they are written.
fn parted(cell: &str) -> Vec<String> {
    let (mut labels, mut is_escaped) = (vec![String::new()], false);
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

    use super::{clean, flag, option, options, unmarked};

    #[test]
    fn what_nobody_sees_around_a_cell_is_left_out() {
        for cell in
            [" Troy", "Troy\u{a0}", "\u{feff}Troy\u{200b}", "\u{2007}Troy\t", "=\"Troy\"", "=\" Troy\" "]
        {
            assert_eq!(clean(cell), "Troy", "{cell:?}");
        }
        for cell in ["New\u{a0}York", "=A1", "=\"a\"&\"b\"", "\"Troy\"", "="] {
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
