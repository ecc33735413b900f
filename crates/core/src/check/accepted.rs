//! The fields of an address that Magento refuses to save, as one table (docs/magento.md, "A customer who is locked").
//!
//! It saves every stored address before it looks at what is sent: with one of these values in an address, every update of the
//! customer is refused, also one that corrects the address or leaves it out.

use serde_json::{Map, Value};
use unicode_normalization::char::is_combining_mark;

/// Street lines of an address, unless the shop is set up for more.
pub const STREET_LINES: usize = 2;

/// The fields that must not be empty. Which countries need a postcode as well, the shop is set up for.
const REQUIRED: [&str; 5] = ["firstname", "lastname", "street", "city", "telephone"];

/// What is accepted in a text since a version of Magento.
struct Pattern {
    field: &'static str,
    is_allowed: fn(char) -> bool,
    longest: usize,
    /// The characters, in words.
    accepted: &'static str,
}

/// The patterns of Magento 2.4.8; those of names were those of customers before, and are now of addresses, too.
const PATTERNS: [Pattern; 5] = [
    Pattern {
        field: "city",
        is_allowed: |it| is_letter(it) || it.is_whitespace() || "-'".contains(it),
        longest: 100,
        accepted: "letters, blanks, `-` and `'`",
    },
    Pattern {
        field: "telephone",
        is_allowed: |it| it.is_numeric() || it.is_whitespace() || "+-()".contains(it),
        longest: 20,
        accepted: "20 digits, blanks, `+`, `-`, `(` and `)`",
    },
    Pattern {
        field: "firstname",
        is_allowed: is_of_name,
        longest: 255,
        accepted: "letters, digits, blanks and `,-_.'’&`",
    },
    Pattern {
        field: "lastname",
        is_allowed: is_of_name,
        longest: 255,
        accepted: "letters, digits, blanks and `,-_.'’&`",
    },
    Pattern {
        field: "middlename",
        is_allowed: is_of_name,
        longest: 255,
        accepted: "letters, digits, blanks and `,-_.'’&`",
    },
];

fn is_letter(it: char) -> bool {
    it.is_alphabetic() || is_combining_mark(it)
}

fn is_of_name(it: char) -> bool {
    is_letter(it) || it.is_numeric() || it.is_whitespace() || ",-_.'’`&".contains(it)
}

impl Pattern {
    /// Whether the shop refuses this text: it compares the first run of characters that it allows with the whole. Where there
    /// is none at all, it looks no further.
    fn refuses(&self, text: &str) -> bool {
        let is_whole = text.chars().all(self.is_allowed) && text.chars().count() <= self.longest;
        text.chars().any(self.is_allowed) && !is_whole
    }
}

/// A field of an address that the shop refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub field: &'static str,
    /// The text that only Magento 2.4.8 and later refuse; `None` for what every version does: it is missing, or too many
    /// street lines.
    pub text: Option<String>,
    /// What is accepted there.
    accepted: &'static str,
}

impl Refused {
    /// The warning about a value that is about to be sent.
    pub fn warning(&self) -> Option<String> {
        let (text, field, accepted) = (self.text.as_ref()?, self.field, self.accepted);
        Some(format!(
            "`{text}` as {field} is refused by Magento 2.4.8, which takes {accepted}; an address that has it blocks \
             every update of the customer there"
        ))
    }
}

/// The texts of an address that Magento 2.4.8 refuses, of the fields that `is_named` names.
pub fn refused_texts(address: &Map<String, Value>, is_named: impl Fn(&str) -> bool) -> Vec<Refused> {
    let text = |pattern: &Pattern| address.get(pattern.field)?.as_str().map(str::to_owned);
    let refused = |pattern: &Pattern| {
        let text = text(pattern).filter(|text| pattern.refuses(text))?;
        let Pattern { field, accepted, .. } = *pattern;
        Some(Refused { field, text: Some(text), accepted })
    };
    PATTERNS.iter().filter(|pattern| is_named(pattern.field)).filter_map(refused).collect()
}

/// All that the shop refuses in a stored address.
pub fn refused(address: &Map<String, Value>) -> Vec<Refused> {
    let is_missing = |field: &&str| is_empty(address.get(*field));
    let of = |field: &'static str| Refused { field, text: None, accepted: "" };
    let mut found: Vec<Refused> = REQUIRED.into_iter().filter(is_missing).map(of).collect();
    if address.get("street").and_then(Value::as_array).is_some_and(|lines| lines.len() > STREET_LINES) {
        found.push(of("street"));
    }
    found.extend(refused_texts(address, |_| true));
    found
}

/// Whether there is nothing to see in a value.
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

    use super::{refused, refused_texts};

    fn is_refused(field: &str, text: &str) -> bool {
        !refused_texts(json!({field: text}).as_object().unwrap(), |_| true).is_empty()
    }

    /// As measured.
    #[test]
    fn the_texts_are_those_that_2_4_8_refuses() {
        for (field, accepted, others) in [
            (
                "city",
                &["Saint-Étienne", "L'Aquila", "千代田区", "75002", ""][..],
                &["St. Louis", "Paris 2e", "Frankfurt (Oder)", "Frankfurt/Main", "L’Aquila", "A, B"][..],
            ),
            (
                "telephone",
                &["+1 (555) 010-0100", "abc"],
                &["555.010.0100", "555-0100 ext. 12", "+49/30/1234567", "123456789012345678901234"],
            ),
            ("firstname", &["Anne-Marie & Bob", "M. O’Neil, Jr."], &["A/B", "A (x)", "x@y"]),
            ("middlename", &["Anne-Marie", ""], &["A/B", "A (x)", "x@y"]),
            ("street", &["1/2 Main St #5"], &[]),
        ] {
            for text in accepted {
                assert!(!is_refused(field, text), "{field} {text}");
            }
            for text in others {
                assert!(is_refused(field, text), "{field} {text}");
            }
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
