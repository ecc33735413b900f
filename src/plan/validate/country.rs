//! Countries by name.

use keshvar::{Alpha2, Country, CountryIterator};

/// The code of a country that is named by its code, in letters of any case, or by one of its names.
pub fn country_code(text: &str) -> Option<String> {
    let code = text.to_uppercase();
    if Alpha2::try_from(code.as_str()).is_ok() {
        return Some(code);
    }
    let is_meant = |country: &Country| {
        let names = country.unofficial_name_list().iter().copied().chain([country.iso_short_name()]);
        names.into_iter().any(|name| name.to_lowercase() == text.to_lowercase())
    };
    CountryIterator::new().find(is_meant).map(|country| country.alpha2().to_string())
}

#[cfg(test)]
mod tests {
    use super::country_code;

    #[test]
    fn a_country_is_its_code_or_one_of_its_names() {
        for text in ["DE", "de", "Germany", "deutschland"] {
            assert_eq!(country_code(text).as_deref(), Some("DE"), "{text}");
        }
        assert_eq!(country_code("Narnia"), None);
        assert_eq!(country_code(""), None);
    }
}
