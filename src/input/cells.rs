//! What spreadsheets do to cells: blanks around them, numbers that were texts, formulas that hold a text, errors of a
//! formula, and yes and no in the language of the program.

use serde_json::{Value, json};

/// Whether a character is seen by nobody at the end of a cell.
fn is_invisible(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// A cell without the blanks and invisible characters around it; of `="02138"`, which keeps a text from becoming a number,
/// the text.
pub fn clean(cell: &str) -> &str {
    let bare = cell.trim_matches(is_invisible);
    let text = bare.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
    text.filter(|text| !text.contains('"')).map_or(bare, |text| text.trim_matches(is_invisible))
}

/// Whether something around a cell is left out.
pub fn is_trimmed(cell: &str) -> bool {
    cell.trim_matches(is_invisible) != cell
}

/// Errors of formulas in English, German, French and Spanish.
const ERRORS: [&str; 39] = [
    "#N/A",
    "#REF!",
    "#VALUE!",
    "#DIV/0!",
    "#NAME?",
    "#NULL!",
    "#NUM!",
    "#SPILL!",
    "#CALC!",
    "#FIELD!",
    "#BLOCKED!",
    "#UNKNOWN!",
    "#CONNECT!",
    "#BUSY!",
    "#GETTING_DATA",
    "#NV",
    "#BEZUG!",
    "#WERT!",
    "#ZAHL!",
    "#ÜBERLAUF!",
    "#KALK!",
    "#VALEUR!",
    "#NOM?",
    "#NUL!",
    "#NOMBRE!",
    "#PROPAGATION!",
    "#EPARS!",
    "#N/D",
    "#¡REF!",
    "#¡VALOR!",
    "#¡DIV/0!",
    "#¿NOMBRE?",
    "#¡NULO!",
    "#¡NUM!",
    "#¡DESBORDAMIENTO!",
    "#¡CALC!",
    "#¡VALOR",
    "#¡REF",
    "#ERROR!",
];

/// What is wrong with a cell of this field, whatever the field holds.
pub fn problem(field: &str, cell: &str) -> Option<String> {
    // LibreOffice has numbers for some errors, and a column that is too narrow for its number is copied as `###`.
    let is_number = |digits: &str| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_error = ERRORS.contains(&cell)
        || cell.strip_prefix("Err:").is_some_and(is_number)
        || cell.len() > 2 && cell.bytes().all(|byte| byte == b'#');
    if is_error {
        return Some(format!("`{cell}` is an error of the spreadsheet, not a value"));
    }
    let is_shortened = match field {
        "telephone" | "fax" | "postcode" => is_scientific(cell, false),
        "sku" => is_scientific(cell, true),
        _ => false,
    };
    is_shortened.then(|| {
        format!(
            "the spreadsheet shortened a number to `{cell}`: format the column as text and enter it again"
        )
    })
}

/// Whether a number is written as `4.47912E+11`.
fn is_scientific(cell: &str, needs_decimals: bool) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((number, exponent)) = cell.split_once(['E', 'e']) else { return false };
    let is_number = match number.split_once(['.', ',']) {
        Some((whole, decimals)) => is_digits(whole) && is_digits(decimals),
        None => is_digits(number) && !needs_decimals,
    };
    is_number && exponent.strip_prefix('+').is_some_and(is_digits)
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
    let (mut labels, mut characters) = (vec![String::new()], cell.chars().peekable());
    while let Some(character) = characters.next() {
        let label = labels.last_mut();
        match (character, characters.peek()) {
            ('|' | '\n' | '\r', _) => labels.push(String::new()),
            ('\\', Some('|')) => label.into_iter().for_each(|label| label.push('|')),
            _ => label.into_iter().for_each(|label| label.push(character)),
        }
        if character == '\\' && characters.peek() == Some(&'|') {
            characters.next();
        }
    }
    let labels = labels.iter().map(|label| clean(label)).filter(|label| !label.is_empty()).enumerate();
    labels
        .map(|(index, label)| {
            let (label, is_default) = match label.strip_prefix('*') {
                Some(bare) => (bare.trim_start(), true),
                None => {
                    (label.strip_prefix('\\').filter(|rest| rest.starts_with('*')).unwrap_or(label), false)
                }
            };
            json!({"label": label, "sort_order": index + 1, "is_default": is_default})
        })
        .collect()
}

/// A label as [`options`] reads it.
pub fn option(label: &str) -> String {
    let escaped = label.replace('|', "\\|");
    if escaped.starts_with('*') { format!("\\{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{clean, flag, option, options, problem};

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
    fn errors_and_shortened_numbers_are_no_values() {
        for cell in ["#N/A", "#NV", "#VALEUR!", "#¿NOMBRE?", "Err:502", "####"] {
            assert!(problem("city", cell).is_some(), "{cell}");
        }
        for (field, cell) in
            [("telephone", "4.47912E+11"), ("postcode", "4,5E+4"), ("fax", "4E+11"), ("sku", "1.5E+12")]
        {
            assert!(problem(field, cell).is_some(), "{cell}");
        }
        for (field, cell) in [
            ("sku", "1E+12"),
            ("sku", "12E5"),
            ("city", "1.5E+12"),
            ("postcode", "1E5"),
            ("city", "#1"),
            ("company", "#NV Consulting"),
            ("telephone", "+49 30 1"),
        ] {
            assert_eq!(problem(field, cell), None, "{cell}");
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
            labels(r"\*NEW*|A\|B|C:\D|\\x"),
            [plain("*NEW*"), plain("A|B"), plain(r"C:\D"), plain(r"\\x")]
        );
        for label in ["*NEW*", "A|B", r"C:\D", "|", "**"] {
            assert_eq!(labels(&option(label)), [plain(label)], "{label}");
        }
        assert_eq!(options("*One")[0], json!({"label": "One", "sort_order": 1, "is_default": true}));
    }
}
