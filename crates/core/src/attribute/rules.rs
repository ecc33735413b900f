//! The code of an attribute, `[a-z][a-z0-9_]{0,59}`, and the kinds of input it can have, both after Magento: the
//! marketplace's interface shows `select` only.

use std::fmt;

use crate::text::suggestion::closest_match;

/// One kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontendInput {
    /// As `frontend_input` has it.
    pub name: &'static str,
    /// What the shop's admin pages call it.
    pub label: &'static str,
    /// What a merchandiser gets, in one line.
    pub meaning: &'static str,
    /// Whether it offers options to choose from.
    pub takes_options: bool,
}

/// Every kind, the common ones first.
pub static FRONTEND_INPUTS: [FrontendInput; 13] = [
    choice("select", "Dropdown", "One option, e.g. a color"),
    choice("multiselect", "Multiple Select", "Multiple options, e.g. features"),
    kind("text", "Text Field", "One line of text"),
    kind("textarea", "Text Area", "Several lines of text"),
    kind("texteditor", "Text Editor", "Text with formatting"),
    kind("boolean", "Yes/No", "Yes or no"),
    kind("price", "Price", "Price"),
    kind("date", "Date", "A day"),
    kind("datetime", "Date and Time", "Date and time"),
    choice("swatch_visual", "Visual Swatch", "One of several options, shown as color or image"),
    choice("swatch_text", "Text Swatch", "One of several options, shown as short text"),
    kind("media_image", "Media Image", "An image of the product"),
    kind("weee", "Fixed Product Tax", "A fixed product tax"),
];

const fn kind(name: &'static str, label: &'static str, meaning: &'static str) -> FrontendInput {
    FrontendInput { name, label, meaning, takes_options: false }
}

const fn choice(name: &'static str, label: &'static str, meaning: &'static str) -> FrontendInput {
    FrontendInput { name, label, meaning, takes_options: true }
}

/// With its label, which may be what was typed.
impl fmt::Display for FrontendInput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` ({})", self.name, self.label)
    }
}

impl FrontendInput {
    /// The kind called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        FRONTEND_INPUTS.iter().find(|kind| kind.name == name)
    }

    /// The kind that an admin page calls so, or that has this name in other letter case.
    pub fn by_label(label: &str) -> Option<&'static Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(label.trim());
        if YES_NO.into_iter().any(is) {
            return Self::find("boolean");
        }
        FRONTEND_INPUTS.iter().find(|kind| is(kind.label) || is(kind.name))
    }

    /// What Magento shows of an input type that it stores as another one.
    pub fn stored_as(name: &str) -> &str {
        match name {
            "swatch_visual" | "swatch_text" => "select",
            "texteditor" => "textarea",
            other => other,
        }
    }

    /// The name or the label of the kind that was probably meant: whichever is nearer to what was typed.
    pub fn closest_match(typed: &str) -> Option<&'static str> {
        closest_match(typed, FRONTEND_INPUTS.iter().flat_map(|kind| [kind.label, kind.name]))
    }
}

/// What admin pages in other languages call a Yes/No attribute.
const YES_NO: [&str; 4] = ["ja/nein", "oui/non", "si/no", "sí/no"];

/// The kinds that Magento does not offer as filters.
pub const NOT_FILTERABLE: [&str; 5] = ["date", "datetime", "text", "textarea", "texteditor"];

/// The most characters a code has.
const MAX_LENGTH: usize = 60;

/// Whether Magento accepts this code.
pub fn is_valid_code(code: &str) -> bool {
    code.starts_with(|first: char| first.is_ascii_lowercase())
        && code.len() <= MAX_LENGTH
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A code made from a label: `Größe (EU)` gives `groesse_eu`. Empty where the label has no letter or digit at all.
pub fn suggest_code(label: &str) -> String {
    // German umlauts become two letters.
    let label = label.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    let plain = deunicode::deunicode(&label).to_ascii_lowercase().replace('\'', "");
    let words = plain.split(|it: char| !it.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut code = words.collect::<Vec<_>>().join("_");
    if code.starts_with(|first: char| first.is_ascii_digit()) {
        code.insert_str(0, "attr_");
    }
    code.truncate(MAX_LENGTH);
    code.trim_end_matches('_').to_owned()
}

/// The most characters a label has.
const MAX_LABEL: usize = 255;

/// Why Magento would store a label as another one: it is cut, or has characters of four bytes, each of which becomes `?`.
pub fn label_problem(label: &str) -> Option<String> {
    let short: String = label.chars().take(40).collect();
    if label.chars().count() > MAX_LABEL {
        return Some(format!("the label `{short}…` has more than {MAX_LABEL} characters"));
    }
    let odd = label.chars().find(|one| one.len_utf8() == 4)?;
    Some(format!("the label `{short}` has the character `{odd}`, which Magento stores as `?`"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FRONTEND_INPUTS, FrontendInput, is_valid_code, suggest_code};
    use crate::interface::dialect::MARKETPLACE;
    use crate::operation::ATTRIBUTE_CREATE;

    #[test]
    fn the_description_of_the_field_names_every_kind() {
        let field = ATTRIBUTE_CREATE.inner_schema(&MARKETPLACE).field("frontend_input").unwrap();
        let names = FRONTEND_INPUTS.map(|kind| kind.name).join(", ");
        assert_eq!(field.doc, format!("Input type: {names}"));
    }

    #[test]
    fn a_kind_is_found_by_what_admin_pages_call_it() {
        for (label, kind) in
            [("Dropdown", "select"), ("Yes/No", "boolean"), ("Ja/Nein", "boolean"), (" Select ", "select")]
        {
            assert_eq!(FrontendInput::by_label(label).map(|kind| kind.name), Some(kind), "{label}");
        }
        assert!(FrontendInput::by_label("perhaps").is_none());
    }

    #[test]
    fn a_misspelled_kind_is_found_in_the_words_it_was_typed_in() {
        for (typed, meant) in [
            ("Dropdwon", "Dropdown"),
            ("selct", "select"),
            ("Multi Select", "multiselect"),
            ("Visual Swatsh", "Visual Swatch"),
            ("yesno", "Yes/No"),
        ] {
            assert_eq!(FrontendInput::closest_match(typed), Some(meant), "{typed}");
        }
        assert_eq!(FrontendInput::closest_match("perhaps"), None);
    }

    #[test]
    fn a_label_of_any_language_gives_a_code_one_can_read() {
        for (label, code) in [
            ("Colour", "colour"),
            ("Größe (EU)", "groesse_eu"),
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
