//! Texts that a spreadsheet put in place of a value: errors of its formulas, and numbers that it shortened. Nobody means them,
//! whether they come in a sheet, in what a program exported from one, or pasted.

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

/// What is wrong with the text of this field, whatever the field holds.
pub fn problem(field: &str, text: &str) -> Option<String> {
    // LibreOffice has numbers for some errors, and a column that is too narrow for its number is copied as `###`.
    let is_number = |digits: &str| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_sign = |text: &str| text.len() > 2 && text.bytes().all(|byte| byte == b'#');
    let is_error = text.strip_prefix("Err:").is_some_and(is_number)
        || text.starts_with('#') && (ERRORS.contains(&text) || is_sign(text));
    if is_error {
        return Some(format!("`{text}` is an error of the spreadsheet, not a value"));
    }
    let is_shortened = match field {
        "telephone" | "fax" | "postcode" => is_scientific(text, false),
        "sku" => is_scientific(text, true),
        _ => false,
    };
    is_shortened.then(|| {
        format!(
            "the spreadsheet shortened a number to `{text}`: format the column as text and enter it again"
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

#[cfg(test)]
mod tests {
    use super::problem;

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
}
