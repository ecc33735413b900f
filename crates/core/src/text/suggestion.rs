//! "Did you mean …?"

/// How similar two names must be, from 0 to 1, to suggest one for the other.
const THRESHOLD: f64 = 0.6;

/// The known name nearest to what was typed, if any is near enough. Case, `-` and `_` do not count.
pub fn closest_match<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let typed = plain(typed);
    known
        .into_iter()
        // A much longer text cannot be similar, and comparing takes time and memory by both lengths.
        .filter(|name| typed.len() <= 8 * name.len())
        .map(|name| (strsim::normalized_damerau_levenshtein(&typed, &plain(name)), name))
        .filter(|(alike, _)| *alike >= THRESHOLD)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use crate::text::suggestion::closest_match;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
        let known = ["postcode", "country_id", "is_searchable", "default_frontend_label"];
        assert_eq!(closest_match("postcod", known), Some("postcode"));
        assert_eq!(closest_match("countryId", known), Some("country_id"));
        assert_eq!(closest_match("Country-ID", known), Some("country_id"));
        assert_eq!(closest_match("default_value", known), None);
        assert_eq!(closest_match("zip", known), None);
    }
}
