//! What some shops refuse: long pages if they limit their input, and characters of addresses since 2.4.8, which also
//! sorts addresses.

use serde_json::{Value, json};

use crate::Version;
use crate::coerce::snake_case;
use crate::reply::ApiError;

/// The most records of a page, by Magento's default for limits.
const MAX_PAGE: u64 = 300;
/// The most characters of a telephone number.
const MAX_TELEPHONE: usize = 20;
/// The most characters of a city in 2.4.9, and of all lines of a street.
const MAX_CITY: usize = 100;
const MAX_STREET: usize = 255;

/// 400 for a page that is too long.
pub fn check_page(query: &[(String, String)]) -> Result<(), ApiError> {
    let is_size = |name: &str| snake_case(name).ends_with("[page_size]");
    let size = query.iter().find(|(name, _)| is_size(name)).and_then(|(_, size)| size.parse::<u64>().ok());
    match size {
        Some(size) if size > MAX_PAGE => {
            Err(ApiError::new(400, "Maximum SearchCriteria pageSize is %max").with(json!({"max": MAX_PAGE})))
        }
        _ => Ok(()),
    }
}

/// 400 for an address of a profile with a city, a telephone, a street or a name that 2.4.8 or 2.4.9 refuses.
pub fn check_addresses(profile: &Value, version: Version) -> Result<(), ApiError> {
    for address in profile["addresses"].as_array().into_iter().flatten() {
        let text = |name: &str| address[name].as_str().unwrap_or_default();
        let in_name = |one: char| is_in_city(one) || one.is_ascii_digit() || ",_.\u{2019}`&".contains(one);
        let names = [
            (is_one_run(text("firstname"), in_name), "First Name is not valid!"),
            (is_one_run(text("lastname"), in_name), "Last Name is not valid!"),
            (is_one_run(text("middlename"), in_name), "Middle Name is not valid!"),
        ];
        let others = if version >= Version::V249 { relaxed_rules(address) } else { first_rules(address) };
        if let Some((_, message)) = others.iter().chain(&names).find(|(is_taken, _)| !is_taken) {
            return Err(ApiError::new(400, message));
        }
    }
    Ok(())
}

/// Whether the address meets a rule, and the message if it does not.
type Rule = (bool, &'static str);

/// The rules for city and telephone of 2.4.8.
fn first_rules(address: &Value) -> Vec<Rule> {
    let text = |name: &str| address[name].as_str().unwrap_or_default();
    let in_telephone = |one: char| one.is_ascii_digit() || one.is_whitespace() || "+-()".contains(one);
    let is_short = text("telephone").chars().count() <= MAX_TELEPHONE;
    vec![
        (is_one_run(text("city"), is_in_city), "Invalid City. Please use A-Z, a-z, 0-9, -, ', spaces"),
        (
            is_one_run(text("telephone"), in_telephone) && is_short,
            "Invalid Phone Number. Please use 0-9, +, -, (, ) and space.",
        ),
    ]
}

/// The rules for city, telephone and street of 2.4.9: every character counts.
fn relaxed_rules(address: &Value) -> Vec<Rule> {
    let text = |name: &str| address[name].as_str().unwrap_or_default();
    let is_of = |name: &str, most: usize, is_allowed: &dyn Fn(char) -> bool| {
        text(name).chars().count() <= most && text(name).chars().all(is_allowed)
    };
    let in_city = |one: char| is_in_city(one) || one.is_ascii_digit() || "_\u{2019}.,&()/".contains(one);
    let in_telephone = |one: char| one.is_ascii_digit() || one.is_whitespace() || "+().-/".contains(one);
    let lines = address["street"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let street = lines.collect::<Vec<_>>().join("\n");
    let is_street = street.chars().count() <= MAX_STREET && !street.contains(['"', ':', ';', '+', '°', '@']);
    vec![
        (
            is_of("city", MAX_CITY, &in_city),
            "Invalid City. Please use A-Z, a-z, 0-9, spaces, -, _, ', ., ,, &, (, ), /",
        ),
        (
            is_of("telephone", MAX_TELEPHONE, &in_telephone),
            "Invalid Phone Number. Please use 0-9, +, -, (, ), ., / and space.",
        ),
        (is_street, "Invalid Street Address. Please use at most 255 characters, and none of \" : ; + ° @"),
    ]
}

/// Whether a city may have this character in 2.4.8: a letter, a mark, a blank, `-` or `'`.
fn is_in_city(one: char) -> bool {
    is_letter(one) || one.is_whitespace() || "-'".contains(one)
}

/// Customers as 2.4.8 shows them: the default shipping address comes first.
pub fn with_default_first(mut answer: Value) -> Value {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(sort),
            Value::Object(fields) => {
                if let Some(addresses) = fields.get_mut("addresses").and_then(Value::as_array_mut) {
                    addresses.sort_by_key(|address| address["default_shipping"] != true);
                }
                fields.values_mut().for_each(sort);
            }
            _ => {}
        }
    }
    sort(&mut answer);
    answer
}

/// Whether the first run of allowed characters is the whole text. A text without such characters passes.
fn is_one_run(text: &str, is_allowed: impl Fn(char) -> bool) -> bool {
    let run = text.trim_start_matches(|one| !is_allowed(one));
    run.is_empty() || run.len() == text.len() && text.chars().all(is_allowed)
}

/// A letter or a mark.
fn is_letter(one: char) -> bool {
    one.is_alphabetic() || matches!(one, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' if !one.is_numeric())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{check_addresses, check_page};
    use crate::Version;

    #[test]
    fn addresses_are_taken_as_2_4_8_was_measured() {
        for (field, taken, refused) in [
            (
                "city",
                &["Saint-Étienne", "L'Aquila", "千代田区", "75002"][..],
                &["St. Louis", "Paris 2e", "Frankfurt (Oder)", "Frankfurt/Main", "L\u{2019}Aquila", "A, B"][..],
            ),
            (
                "telephone",
                &["+1 (555) 010-0100", "abc"],
                &["555.010.0100", "555-0100 ext. 12", "+49/30/1234567", "123456789012345678901234"],
            ),
            ("middlename", &["Anne-Marie", ""], &["A/B", "x@y", "(x)"]),
            ("firstname", &["Anne-Marie & Bob", "M. O\u{2019}Neil, Jr."], &["A/B", "A (x)", "x@y"]),
        ] {
            let check = |value: &str| check_addresses(&json!({"addresses": [{field: value}]}), Version::V248);
            for value in taken {
                assert!(check(value).is_ok(), "{value}");
            }
            for value in refused {
                assert_eq!(check(value).unwrap_err().status, 400, "{value}");
            }
        }
        assert!(check_addresses(&json!(true), Version::V248).is_ok());
    }

    #[test]
    fn addresses_are_taken_as_the_rules_of_2_4_9_were_measured() {
        for (field, taken, refused) in [
            (
                "city",
                &[
                    "",
                    "St. Louis",
                    "Paris 2e",
                    "Frankfurt (Oder)",
                    "Frankfurt/Main",
                    "L\u{2019}Aquila",
                    "Trinidad & Tobago",
                    "千代田区",
                ][..],
                &["X!", "a:b"][..],
            ),
            (
                "telephone",
                &["", "555.010.0100", "+49/30/1234567", "+1 (555) 010-0100"],
                &["abc", "ext. 12", "123456789012345678901234"],
            ),
            ("firstname", &["Anne-Marie & Bob"], &["A/B"]),
        ] {
            let check = |value: &str| check_addresses(&json!({"addresses": [{field: value}]}), Version::V249);
            for value in taken {
                assert!(check(value).is_ok(), "{value}");
            }
            for value in refused {
                assert_eq!(check(value).unwrap_err().status, 400, "{value}");
            }
        }
        for (street, is_taken) in [
            (json!(["1/2 Main St #5", "Flat 3"]), true),
            (json!(["c/o A: B"]), false),
            (json!(["1 Main St", "\"blue\" door"]), false),
            (json!(["a".repeat(255)]), true),
            (json!(["a".repeat(256)]), false),
        ] {
            for (version, expected) in [(Version::V249, is_taken), (Version::V248, true)] {
                let checked = check_addresses(&json!({"addresses": [{"street": street}]}), version);
                assert_eq!(checked.is_ok(), expected, "{street}");
            }
        }
    }

    #[test]
    fn a_page_has_at_most_300_records() {
        for (size, is_taken) in [("300", true), ("301", false)] {
            for name in ["searchCriteria[pageSize]", "search_criteria[page_size]"] {
                assert_eq!(check_page(&[(name.to_owned(), size.to_owned())]).is_ok(), is_taken, "{name}");
            }
        }
        assert!(check_page(&[]).is_ok());
    }
}
