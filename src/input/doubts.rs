//! Texts that are probably not meant, in any format: words that programs print for missing values, and wrongly decoded
//! text.

use encoding_rs::WINDOWS_1252;
use serde_json::{Map, Value};

use storefront_core::check::body::Warnings;
use storefront_core::check::field_names::FieldNames;

/// Words that programs print for missing values.
const NOTHING: [&str; 5] = ["null", "undefined", "nan", "[object object]", "\\n"];

/// The warnings about texts, with their paths.
pub fn of_texts(fields: &Map<String, Value>, names: &FieldNames) -> Warnings {
    let mut found = Vec::new();
    fields.iter().for_each(|(name, value)| of_value(value, &|| name.clone(), names, &mut found));
    found
}

/// The path is built only for a warning: few records of a batch have one.
fn of_value(value: &Value, path: &dyn Fn() -> String, names: &FieldNames, found: &mut Warnings) {
    match value {
        Value::String(text) => found.extend(of_text(text).map(|doubt| names.at(&path(), doubt))),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                of_value(element, &|| format!("{}[{index}]", path()), names, found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                of_value(value, &|| format!("{}.{name}", path()), names, found);
            }
        }
        _ => {}
    }
}

fn of_text(text: &str) -> Option<String> {
    if NOTHING.iter().any(|word| word.eq_ignore_ascii_case(text.trim())) {
        return Some(format!("`{}` is sent as a text", text.trim()));
    }
    if text.is_ascii() {
        return None;
    }
    if text.contains('\u{fffd}') {
        return Some(
            "a character was lost and replaced by U+FFFD when the text was read or saved".to_owned(),
        );
    }
    text.split(' ')
        .any(is_wrongly_decoded)
        .then(|| "the text looks decoded with the wrong encoding".to_owned())
}

/// Whether a word is UTF-8 that was read as Windows-1252: decoded the other way, it is sound.
fn is_wrongly_decoded(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    let (bytes, _, is_lossy) = WINDOWS_1252.encode(word);
    !is_lossy && std::str::from_utf8(&bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn text_that_was_decoded_wrongly_is_doubted_and_sound_text_is_not() {
        for text in [
            "MÃ¼nchen",
            "Bad KÃ¶nigshofen",
            "SÃ£o",
            "â€“",
            "M\u{fffd}nchen",
            "NULL",
            "[object Object]",
            "\\N",
        ] {
            assert!(of_text(text).is_some(), "{text}");
        }
        for text in
            ["München", "São Paulo", "Łódź", "ÅÄÖ", "É", "東京", "Nulls", "18 rue de l’Été", "شارع الحمرا ١٢"]
        {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
