//! The code of an attribute: `[a-z][a-z0-9_]{0,59}`, after Magento.

/// The most characters a code has.
const MAX_LENGTH: usize = 60;

/// Whether a service after Magento would take this code.
pub fn is_valid_code(code: &str) -> bool {
    code.starts_with(|first: char| first.is_ascii_lowercase())
        && code.len() <= MAX_LENGTH
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A code made from a label: `Größe (EU)` gives `grosse_eu`. Empty where the label has no letter or digit at all.
pub fn suggest_code(label: &str) -> String {
    let plain = deunicode::deunicode(label).to_ascii_lowercase().replace('\'', "");
    let words = plain.split(|it: char| !it.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut code = words.collect::<Vec<_>>().join("_");
    if code.starts_with(|first: char| first.is_ascii_digit()) {
        code.insert_str(0, "attr_");
    }
    code.truncate(MAX_LENGTH);
    code.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::plan::validate::attribute_code::{is_valid_code, suggest_code};

    #[test]
    fn a_label_of_any_language_gives_a_code_one_can_read() {
        for (label, code) in [
            ("Colour", "colour"),
            ("Größe (EU)", "grosse_eu"),
            ("Matière & entretien", "matiere_entretien"),
            ("Men's fit", "mens_fit"),
            ("Ширина, см", "shirina_sm"),
            ("サイズ", "saizu"),
            ("3D model", "attr_3d_model"),
            ("  Neck__line ", "neck_line"),
            ("?!", ""),
        ] {
            assert_eq!(suggest_code(label), code, "{label}");
        }
    }

    #[test]
    fn codes_out_of_the_pattern_are_unusual() {
        for code in ["", "Color", "1st", "_x", "a-b", "größe", "a b", &"a".repeat(61)] {
            assert!(!is_valid_code(code), "{code}");
        }
        assert!(is_valid_code("a") && is_valid_code(&"a_9".repeat(20)));
    }

    proptest! {
        #[test]
        fn what_is_suggested_is_usual(label in "\\PC{0,80}") {
            let code = suggest_code(&label);
            prop_assert!(code.is_empty() || is_valid_code(&code), "{code}");
        }
    }
}
