//! Countries: their codes, their names and the form of their postcodes.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::text::fold::folded;
use crate::text::sanitize::quoted;
use crate::text::suggestion::closest_match;

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
        // A test sees that the table is sorted; 40,000 address books look up 100,000 codes.
        static LINES: LazyLock<Vec<&str>> = LazyLock::new(|| TABLE.lines().collect());
        let code = alpha2.to_ascii_uppercase();
        let place =
            LINES.binary_search_by(|line| line.split('\t').next().unwrap_or_default().cmp(&code)).ok()?;
        Self::parse(LINES[place])
    }

    /// Whether Magento wants a postcode there by default. Its setting for optional postcodes names Hong Kong, Ireland,
    /// Macao and Panama.
    pub fn requires_postcode(&self) -> bool {
        self.postcode.is_some() && !["HK", "IE", "MO", "PA"].contains(&self.alpha2)
    }

    fn all() -> impl Iterator<Item = Self> {
        TABLE.lines().filter_map(Self::parse)
    }

    fn parse(line: &'static str) -> Option<Self> {
        let mut fields = line.splitn(5, '\t');
        let mut next = || fields.next();
        let alpha2 = next()?;
        let alpha3 = next()?;
        let name = next()?;
        let postcode = next()?;
        let postcode = Some(postcode).filter(|form| !form.is_empty());
        Some(Self { alpha2, alpha3, name, postcode, other_names: next().unwrap_or_default() })
    }
}

/// Short names that people use and the table does not have.
const MORE_NAMES: &[(&str, &str)] = &[
    ("AE", "UAE\tVAE"),
    ("AT", "Oesterreich"),
    ("BA", "Bosnia\tBosnien\tBosnien-Herzegowina\tBosnie\tBosnie-Herzégovine"),
    ("CD", "DR Congo\tDemokratische Republik Kongo\tRépublique démocratique du Congo"),
    ("CI", "Costa de Marfil"),
    ("CN", "Volksrepublik China"),
    ("CZ", "Tschechien\tTchéquie\tChequia"),
    ("DK", "Daenemark"),
    (
        "GB",
        "Britain\tScotland\tWales\tNorthern \
         Ireland\tSchottland\tNordirland\tGrande-Bretagne\tAngleterre\tÉcosse",
    ),
    ("GB", "Gran Bretaña\tInglaterra\tEscocia"),
    // The code of Greece in VAT numbers.
    ("GR", "EL"),
    ("KR", "Korea"),
    ("MD", "Moldau\tRepublik Moldau"),
    ("MK", "Nordmazedonien\tMacédoine du Nord\tMacedonia del Norte"),
    ("MM", "Birma\tBirmanie\tBirmania"),
    ("MX", "Méjico"),
    ("NL", "Holland\tHollande\tHolanda"),
    ("NZ", "Nueva Zelandia"),
    ("QA", "Catar"),
    ("RU", "Russische Föderation"),
    ("SA", "Arabia Saudita"),
    ("SK", "Eslovaquia"),
    ("TL", "Osttimor"),
    ("TR", "Tuerkei"),
    ("US", "Vereinigte Staaten\tEE. UU."),
    ("VA", "Vatikanstadt\tVatican\tVaticano"),
    ("ZA", "Südafrika\tSudáfrica"),
];

/// The code of a country that is named by its code, or by one of its names; letter case, accents, blanks and hyphens do
/// not matter.
pub fn country_code(text: &str) -> Option<String> {
    static CODES: LazyLock<HashMap<String, &str>> =
        LazyLock::new(|| names().map(|(name, code)| (folded(name), code)).collect());
    let code = Country::find(text).map(|country| country.alpha2);
    code.or_else(|| CODES.get(&folded(text)).copied()).map(str::to_owned)
}

/// What is wrong with a code that is stored or sent: it is not one of ISO 3166, or not in upper case.
pub fn unknown_country(code: &str) -> Option<String> {
    if Country::find(code).is_some() && !code.chars().any(char::is_lowercase) {
        return None;
    }
    let meant = country_code(code).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Some(format!("{} is not an ISO 3166 country code{meant}", quoted(code)))
}

/// The country's name that was probably meant.
pub fn nearest(text: &str) -> Option<&'static str> {
    closest_match(text, names().map(|(name, _)| name))
}

/// Every name, with the code of its country.
fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let known = Country::all().flat_map(|Country { alpha2, name, other_names, .. }| {
        std::iter::once(name).chain(other_names.split('\t')).map(move |name| (name, alpha2))
    });
    let more = MORE_NAMES.iter().flat_map(|(code, names)| names.split('\t').map(|name| (name, *code)));
    known.chain(more).filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Country, country_code};

    #[test]
    fn a_country_is_its_code_or_one_of_its_names() {
        for (text, code) in [
            ("DE", "DE"),
            ("de", "DE"),
            ("Germany", "DE"),
            ("deutschland", "DE"),
            ("Vereinigte Staaten", "US"),
            ("etats unis", "US"),
            ("EE.UU.", "US"),
            ("USA", "US"),
            ("UK", "GB"),
            ("el", "GR"),
            ("Großbritannien", "GB"),
            ("grossbritannien", "GB"),
            ("Grande-Bretagne", "GB"),
            ("Inglaterra", "GB"),
            ("Tschechien", "CZ"),
            ("Holanda", "NL"),
            ("Nordmazedonien", "MK"),
            ("Osterreich", "AT"),
            ("Perou", "PE"),
            ("Bosnie-Herzégovine", "BA"),
        ] {
            assert_eq!(country_code(text).as_deref(), Some(code), "{text}");
        }
        assert_eq!(country_code("Narnia"), None);
        assert_eq!(country_code(""), None);
    }

    /// `SNAPSHOTS=overwrite` makes it again.
    #[test]
    fn the_table_is_that_of_the_crate() {
        let line = |country: keshvar::Country| {
            let alpha2 = country.alpha2().to_string();
            let alpha3 = country.alpha3().to_string();
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
