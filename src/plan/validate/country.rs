//! Countries: their codes, their names and the form of their postcodes.

/// A line for each, in the order of their codes: both codes, the name, the form of postcodes or nothing, and other names.
/// A test makes it from the crate `keshvar`, which is larger.
const TABLE: &str = include_str!("countries.tsv");

/// A country by ISO 3166.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Country {
    /// Code of two letters.
    pub alpha2: &'static str,
    /// Code of three letters.
    pub alpha3: &'static str,
    /// Its short name in English.
    pub name: &'static str,
    /// The form of its postcodes, a regular expression.
    pub postcode: Option<&'static str>,
    /// Its names in other languages, with tabs between them.
    other_names: &'static str,
}

impl Country {
    /// The country with this code of two letters, in upper or lower case.
    pub fn find(alpha2: &str) -> Option<Self> {
        Self::all().find(|country| country.alpha2.eq_ignore_ascii_case(alpha2))
    }

    fn all() -> impl Iterator<Item = Self> {
        TABLE.lines().filter_map(Self::parse)
    }

    fn parse(line: &'static str) -> Option<Self> {
        let mut fields = line.splitn(5, '\t');
        let mut next = || fields.next();
        let (alpha2, alpha3, name, postcode) = (next()?, next()?, next()?, next()?);
        let postcode = Some(postcode).filter(|form| !form.is_empty());
        Some(Self { alpha2, alpha3, name, postcode, other_names: next().unwrap_or_default() })
    }
}

/// The code of a country that is named by its code, in letters of any case, or by one of its names.
pub fn country_code(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let is_meant = |country: &Country| {
        let mut names = [country.alpha2, country.name].into_iter().chain(country.other_names.split('\t'));
        names.any(|name| !name.is_empty() && name.to_lowercase() == text)
    };
    Country::all().find(is_meant).map(|country| country.alpha2.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Country, country_code};

    #[test]
    fn a_country_is_its_code_or_one_of_its_names() {
        for text in ["DE", "de", "Germany", "deutschland"] {
            assert_eq!(country_code(text).as_deref(), Some("DE"), "{text}");
        }
        assert_eq!(country_code("Narnia"), None);
        assert_eq!(country_code(""), None);
    }

    /// `SNAPSHOTS=overwrite` makes it again.
    #[test]
    fn the_table_is_that_of_the_crate() {
        let line = |country: keshvar::Country| {
            let (alpha2, alpha3) = (country.alpha2().to_string(), country.alpha3().to_string());
            let postcode = country.postal_code_format().unwrap_or_default();
            let mut fields = vec![&alpha2, &alpha3, country.iso_short_name(), postcode];
            fields.extend(country.unofficial_name_list());
            fields.join("\t") + "\n"
        };
        let table: String = keshvar::CountryIterator::new().map(line).collect();
        snapbox::assert_data_eq!(table, snapbox::file!["countries.tsv": Text].raw());
    }

    #[test]
    fn the_table_is_whole() {
        assert_eq!(Country::all().count(), 249);
        assert!(Country::all().is_sorted_by_key(|country| country.alpha2));
        for country in Country::all() {
            assert_eq!(Country::find(&country.alpha2.to_lowercase()), Some(country));
            assert_eq!((country.alpha2.len(), country.alpha3.len()), (2, 3), "{country:?}");
            assert!(!country.name.is_empty(), "{country:?}");
        }
        let germany = Country::find("de").unwrap();
        assert_eq!((germany.alpha3, germany.name, germany.postcode), ("DEU", "Germany", Some("\\d{5}")));
        assert_eq!(Country::find("HK").unwrap().postcode, None);
        for other in ["deu", "", "D", "DE\tDEU", "DE\tDEU\tGermany", "\nDE"] {
            assert_eq!(Country::find(other), None, "{other:?}");
        }
    }
}
