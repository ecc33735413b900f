//! The fields of an address that Magento refuses to save, as one table (docs/magento.md, "What storefront does for you").
//!
//! It saves every stored address before it looks at what is sent: with one of these values in an address, every update of the
//! customer is refused, also one that corrects the address or leaves it out.

use crate::text::sanitize::quoted;
use serde_json::{Map, Value};
use unicode_normalization::char::is_combining_mark;

/// Street lines of an address, unless the shop is set up for more.
pub const STREET_LINES: usize = 2;

/// The fields that must not be empty. Which countries need a postcode as well is a setting of the shop.
const REQUIRED: [&str; 5] = ["firstname", "lastname", "street", "city", "telephone"];

/// Versions of Magento that check the texts of addresses by different rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 2.4.6 and 2.4.7: names.
    V246,
    /// 2.4.8: city and telephone, too.
    V248,
    /// 2.4.9, and shops of 2.4.8 with its patches: more characters in city and telephone, and some that a street cannot have.
    V249,
}

impl Version {
    const ALL: [Self; 3] = [Self::V246, Self::V248, Self::V249];

    /// The rules of a version that is written as `2.4.8` or `2.4.8-p1`; `None` if they are not known.
    pub fn named(text: &str) -> Option<Self> {
        match text.split_once('-').map_or(text, |(version, _)| version) {
            "2.4.6" | "2.4.7" => Some(Self::V246),
            "2.4.8" => Some(Self::V248),
            "2.4.9" => Some(Self::V249),
            _ => None,
        }
    }

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V246 => "2.4.6",
            Self::V248 => "2.4.8",
            Self::V249 => "2.4.9",
        }
    }
}

/// What a range of versions of Magento accepts in a text.
struct Pattern {
    field: &'static str,
    from: Version,
    to: Version,
    is_allowed: fn(char) -> bool,
    longest: usize,
    /// Whether the shop looks at every character. Otherwise it compares the first run of characters that it allows with the
    /// whole, and takes a text that has none.
    is_whole: bool,
    /// The characters, in words.
    accepted: &'static str,
}

const fn of_name(field: &'static str) -> Pattern {
    let accepted = "letters, digits, blanks and `,-_.'’&`";
    let from = Version::V246;
    let to = Version::V249;
    Pattern { field, from, to, is_allowed: is_of_name, longest: 255, is_whole: false, accepted }
}

/// The patterns by version.
const PATTERNS: [Pattern; 8] = [
    of_name("firstname"),
    of_name("lastname"),
    of_name("middlename"),
    Pattern {
        field: "city",
        from: Version::V248,
        to: Version::V248,
        is_allowed: |it| is_letter(it) || it.is_whitespace() || "-'".contains(it),
        longest: 100,
        is_whole: false,
        accepted: "letters, blanks, `-` and `'`",
    },
    Pattern {
        field: "city",
        from: Version::V249,
        to: Version::V249,
        is_allowed: |it| is_letter(it) || it.is_numeric() || it.is_whitespace() || "-_'’.,&()/".contains(it),
        longest: 100,
        is_whole: true,
        accepted: "100 letters, digits, blanks and `-_'’.,&()/`",
    },
    Pattern {
        field: "telephone",
        from: Version::V248,
        to: Version::V248,
        is_allowed: |it| it.is_numeric() || it.is_whitespace() || "+-()".contains(it),
        longest: 20,
        is_whole: false,
        accepted: "20 digits, blanks, `+`, `-`, `(` and `)`",
    },
    Pattern {
        field: "telephone",
        from: Version::V249,
        to: Version::V249,
        is_allowed: |it| it.is_numeric() || it.is_whitespace() || "+-()./".contains(it),
        longest: 20,
        is_whole: true,
        accepted: "20 digits, blanks and `+-()./`",
    },
    Pattern {
        field: "street",
        from: Version::V249,
        to: Version::V249,
        is_allowed: |it| !"\":;+°@".contains(it),
        longest: 255,
        is_whole: true,
        accepted: "255 characters, and none of `\":;+°@`",
    },
];

fn is_letter(it: char) -> bool {
    it.is_alphabetic() || is_combining_mark(it)
}

fn is_of_name(it: char) -> bool {
    is_letter(it) || it.is_numeric() || it.is_whitespace() || ",-_.'’`&".contains(it)
}

impl Pattern {
    /// Whether the shop refuses this text.
    fn refuses(&self, text: &str) -> bool {
        let fits = text.chars().all(self.is_allowed) && text.chars().count() <= self.longest;
        !fits && (self.is_whole || text.chars().any(self.is_allowed))
    }
}

/// A field of an address that the shop refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub field: &'static str,
    /// The text that is refused; `None` where the field is missing, or a street has too many lines.
    pub text: Option<String>,
    /// The versions of Magento that refuse it, ascending.
    pub versions: Vec<Version>,
    /// What is accepted there by the last of them.
    accepted: &'static str,
}

impl Refused {
    /// Whether every version refuses it.
    pub fn is_of_all(&self) -> bool {
        self.versions == Version::ALL
    }

    /// What is said of a text: who refuses it, and what is taken instead.
    pub fn warning(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        let field = self.field;
        let accepted = self.accepted;
        let names: Vec<&str> = self.versions.iter().map(|version| version.name()).collect();
        let by = if self.is_of_all() { String::new() } else { format!(" {}", names.join(" and ")) };
        Some(format!(
            "{} as {field} is refused by Magento{by}, which takes {accepted}; an address that has it blocks \
             every update of the customer there",
            quoted(text)
        ))
    }
}

/// The texts of an address that versions of Magento refuse, of the fields that `is_named` names.
pub fn refused_texts(address: &Map<String, Value>, is_named: impl Fn(&str) -> bool) -> Vec<Refused> {
    let mut found: Vec<Refused> = Vec::new();
    for pattern in PATTERNS.iter().filter(|pattern| is_named(pattern.field)) {
        let Some(text) = text_of(address.get(pattern.field)).filter(|text| pattern.refuses(text)) else {
            continue;
        };
        let Pattern { field, accepted, from, to, .. } = *pattern;
        let versions = Version::ALL.into_iter().filter(|version| (from..=to).contains(version));
        match found.iter_mut().find(|known| known.field == field) {
            Some(known) => {
                known.versions.extend(versions);
                known.accepted = accepted;
            }
            None => found.push(Refused { field, text: Some(text), versions: versions.collect(), accepted }),
        }
    }
    found
}

/// A text, or the lines of one.
fn text_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")),
        _ => None,
    }
}

/// All that the shop refuses in a stored address.
pub fn refused(address: &Map<String, Value>) -> Vec<Refused> {
    let is_missing = |field: &&str| is_empty(address.get(*field));
    let of =
        |field: &'static str| Refused { field, text: None, versions: Version::ALL.to_vec(), accepted: "" };
    let mut found: Vec<Refused> = REQUIRED.into_iter().filter(is_missing).map(of).collect();
    if address.get("street").and_then(Value::as_array).is_some_and(|lines| lines.len() > STREET_LINES) {
        found.push(of("street"));
    }
    found.extend(refused_texts(address, |_| true));
    found
}

/// Whether a value is missing, null or blank.
pub fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(lines)) => lines.iter().all(|line| is_empty(Some(line))),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Version, refused, refused_texts};

    /// The versions that refuse a text, each by its last digit.
    fn refusing(field: &str, value: Value) -> String {
        let found = refused_texts(json!({field: value}).as_object().unwrap(), |_| true);
        found.iter().flat_map(|it| &it.versions).map(|version| &version.name()[4..]).collect()
    }

    /// As measured.
    #[test]
    fn the_texts_are_those_that_each_version_refuses() {
        for (field, texts, refused) in [
            ("city", &["Saint-Étienne", "L'Aquila", "千代田区", ""][..], ""),
            (
                "city",
                &[
                    "St. Louis",
                    "Paris 2e",
                    "Frankfurt (Oder)",
                    "Frankfurt/Main",
                    "L’Aquila",
                    "Trinidad & Tobago",
                ],
                "8",
            ),
            ("city", &["X!", "a:b"], "89"),
            ("telephone", &["+1 (555) 010-0100", ""], ""),
            ("telephone", &["555.010.0100", "+49/30/1234567"], "8"),
            ("telephone", &["555-0100 ext. 12", "123456789012345678901234"], "89"),
            ("telephone", &["abc"], "9"),
            ("firstname", &["Anne-Marie & Bob", "M. O’Neil, Jr."], ""),
            ("firstname", &["A/B", "A (x)", "x@y"], "689"),
            ("middlename", &["Anne-Marie", ""], ""),
            ("middlename", &["A/B", "A (x)", "x@y"], "689"),
        ] {
            for text in texts {
                assert_eq!(refusing(field, json!(text)), refused, "{field} {text}");
            }
        }
        assert_eq!(refusing("street", json!(["1/2 Main St #5", "2nd floor"])), "");
        assert_eq!(refusing("street", json!(["c/o: Bob"])), "9");
    }

    #[test]
    fn a_version_is_written_with_its_patch_or_without() {
        for (text, version) in [
            ("2.4.8-p1", Some(Version::V248)),
            ("2.4.7", Some(Version::V246)),
            ("2.4.9", Some(Version::V249)),
            ("2.3", None),
        ] {
            assert_eq!(Version::named(text), version, "{text}");
        }
    }

    #[test]
    fn an_address_without_a_required_field_or_with_three_lines_is_refused_by_every_version() {
        let whole = json!({"firstname": "A", "lastname": "B", "street": ["x"], "city": "C", "telephone": "5550100",
            "postcode": "1", "country_id": "FR"});
        let with = |name: &str, value: Value| {
            let mut address = whole.clone();
            address[name] = value;
            refused(address.as_object().unwrap()).into_iter().map(|it| it.field).collect::<Vec<_>>()
        };
        assert_eq!(with("fax", json!("")), Vec::<&str>::new());
        for name in ["telephone", "lastname", "city"] {
            assert_eq!(with(name, json!("")), [name]);
        }
        assert_eq!(with("street", json!(["x", "y", "z"])), ["street"]);
    }
}
