//! Texts without what people spell in several ways.

/// The letters and digits of a name, without letter case and accents, in Latin letters.
pub fn folded(name: &str) -> String {
    let plain = deunicode::deunicode(name).to_ascii_lowercase();
    plain.chars().filter(char::is_ascii_alphanumeric).collect()
}
