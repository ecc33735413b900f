//! Labels of options, store views and sets: when two of them are the same.
//!
//! Blanks around a label do not count, nor how a letter with its accent is written, nor the case of letters: Magento
//! refuses a second option of such a label. Labels that only look alike, such as `5µ` with the micro sign and `5μ` with
//! the letter, or `10²` and `102`, differ for a shop, and probably not for a person.

use std::collections::HashMap;

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization as _;

use crate::operation::scalar;
use crate::profile::equal::same_flag;
use crate::text::sanitize::quoted;

/// The key that labels have in common if they are the same.
pub fn key(label: &str) -> String {
    label.trim().nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// Whether two labels are the same.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || key(one) == key(other)
}

/// Whether two labels are the same, letter case included.
pub fn is_exact(one: &str, other: &str) -> bool {
    one.trim() == other.trim() || one.trim().nfc().eq(other.trim().nfc())
}

/// The key that labels have in common if they look alike.
pub fn shape(label: &str) -> String {
    label.trim().nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// Whether two labels look alike, and are not the same.
pub fn is_alike(one: &str, other: &str) -> bool {
    shape(one) == shape(other) && !is_same(one, other)
}

/// Two of these labels that look alike and are not the same.
pub fn alike<'a>(labels: impl Iterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for label in labels {
        let first = *seen.entry(shape(label)).or_insert(label);
        if !is_same(first, label) {
            return Some((first, label));
        }
    }
    None
}

/// The sentence about two labels that look alike.
pub fn alike_in_words(one: &str, other: &str) -> String {
    format!(
        "the labels {} and {} look alike and are written with other characters ({})",
        quoted(one),
        quoted(other),
        codes(one, other)
    )
}

/// The first characters in which they differ: `U+00B5 and U+03BC`.
fn codes(one: &str, other: &str) -> String {
    let code =
        |character: Option<char>| character.map_or("nothing".to_owned(), |it| format!("U+{:04X}", it as u32));
    let mut pairs =
        one.trim().chars().map(Some).chain([None]).zip(other.trim().chars().map(Some).chain([None]));
    let (one, other) = pairs.find(|(one, other)| one != other).unwrap_or_default();
    format!("{} and {}", code(one), code(other))
}

/// Joins options of one label into one, with the store labels of all of them. It is the default if one of them is.
///
/// # Errors
/// Two labels of one option for one store view.
pub fn joined(options: Vec<Value>) -> Result<Vec<Value>, String> {
    let mut all = Vec::<Value>::new();
    let mut places = HashMap::<String, usize>::new();
    for option in options {
        let label = option.get("label").and_then(Value::as_str).map(key).filter(|label| !label.is_empty());
        let earlier = label.as_ref().and_then(|label| places.get(label).copied());
        match (earlier.and_then(|at| all.get_mut(at)), option) {
            (Some(Value::Object(earlier)), Value::Object(option)) => join(earlier, option)?,
            (_, option) => {
                places.extend(label.map(|label| (label, all.len())));
                all.push(option);
            }
        }
    }
    Ok(all)
}

fn join(into: &mut Map<String, Value>, option: Map<String, Value>) -> Result<(), String> {
    const LABELS: &str = "store_labels";
    let named = scalar(into.get("label")).unwrap_or_default();
    for (name, value) in option {
        match (name.as_str(), value) {
            (LABELS, Value::Array(labels)) => {
                let own = into.entry(LABELS).or_insert_with(|| Value::Array(Vec::new()));
                let Value::Array(own) = own else { continue };
                for label in labels {
                    let view = scalar(label.get("store_id")).unwrap_or_default();
                    match own.iter().find(|one| scalar(one.get("store_id")).is_some_and(|it| it == view)) {
                        Some(one) if one.get("label") == label.get("label") => {}
                        Some(one) => {
                            let text = |of: &Value| scalar(of.get("label")).unwrap_or_default();
                            let (one, other) = (text(one), text(&label));
                            return Err(format!(
                                "the option `{named}` has two labels for the store view `{view}`: `{one}` and `{other}`"
                            ));
                        }
                        None => own.push(label),
                    }
                }
            }
            ("is_default", value) if same_flag(Some(&value), Some(&Value::Bool(true))) => {
                into.insert(name, value);
            }
            (_, value) => drop(into.entry(name).or_insert(value)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{alike, alike_in_words, is_alike, is_same, joined};

    #[test]
    fn labels_are_the_same_or_alike_or_others() {
        for (one, other) in
            [("Red", " red "), ("Größe", "GRÖSSE".replace("SS", "ß").as_str()), ("\u{e9}", "e\u{301}")]
        {
            assert!(is_same(one, other) && !is_alike(one, other), "{one} {other}");
        }
        for (one, other) in [("5\u{b5}", "5\u{3bc}"), ("10²", "102"), ("\u{fb01}t", "fit"), ("Ⅳ", "IV")] {
            assert!(is_alike(one, other) && !is_same(one, other), "{one} {other}");
        }
        for (one, other) in [("Red", "Reed"), ("e", "é")] {
            assert!(!is_alike(one, other) && !is_same(one, other), "{one} {other}");
        }
        let (one, other) = alike(["a", "5\u{b5}", "A", "5\u{3bc}"].into_iter()).unwrap();
        assert!(alike_in_words(one, other).ends_with("(U+00B5 and U+03BC)"));
    }

    #[test]
    fn rows_of_one_label_are_one_option_with_all_labels() {
        let row = |label: &str, view: &str, text: &str| json!({"label": label, "store_labels": [{"store_id": view, "label": text}]});
        let rows = vec![row("Red", "fr", "Rouge"), row("Blue", "fr", "Bleu"), row(" red", "de", "Rot")];
        assert_eq!(
            joined(rows).unwrap()[0]["store_labels"],
            json!([{"store_id": "fr", "label": "Rouge"}, {"store_id": "de", "label": "Rot"}])
        );
        let flagged =
            vec![json!({"label": "Red", "is_default": false}), json!({"label": "Red", "is_default": "1"})];
        assert_eq!(joined(flagged).unwrap(), [json!({"label": "Red", "is_default": "1"})]);
        let twice = joined(vec![row("Red", "fr", "Rouge"), row("Red", "fr", "Vermeil")]).unwrap_err();
        assert_eq!(twice, "the option `Red` has two labels for the store view `fr`: `Rouge` and `Vermeil`");
    }
}
