//! What some shops refuse: long pages where they limit their input, and characters of addresses in 2.4.8, which also sorts them.

use serde_json::{Value, json};

use crate::coerce::snake_case;
use crate::reply::ApiError;

/// Most records of a page, as Magento is delivered with its limits on.
const MAX_PAGE: u64 = 300;
/// Most characters of a telephone number.
const MAX_TELEPHONE: usize = 20;

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

/// 400 for an address of a profile with a city, a telephone or a name that 2.4.8 does not take.
pub fn check_addresses(profile: &Value) -> Result<(), ApiError> {
    for address in profile["addresses"].as_array().into_iter().flatten() {
        let text = |name: &str| address[name].as_str().unwrap_or_default();
        let in_city = |one: char| is_letter(one) || one.is_whitespace() || "-'".contains(one);
        let in_telephone = |one: char| one.is_ascii_digit() || one.is_whitespace() || "+-()".contains(one);
        let in_name = |one: char| in_city(one) || one.is_ascii_digit() || ",_.\u{2019}`&".contains(one);
        for (is_taken, message) in [
            (is_one_run(text("city"), in_city), "Invalid City. Please use A-Z, a-z, 0-9, -, ', spaces"),
            (
                is_one_run(text("telephone"), in_telephone)
                    && text("telephone").chars().count() <= MAX_TELEPHONE,
                "Invalid Phone Number. Please use 0-9, +, -, (, ) and space.",
            ),
            (is_one_run(text("firstname"), in_name), "First Name is not valid!"),
            (is_one_run(text("lastname"), in_name), "Last Name is not valid!"),
            (is_one_run(text("middlename"), in_name), "Middle Name is not valid!"),
        ] {
            if !is_taken {
                return Err(ApiError::new(400, message));
            }
        }
    }
    Ok(())
}

/// Customers as 2.4.8 shows them: the address that is the default for shipping comes first.
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

/// Whether the first run of allowed characters is the whole text. A text without any passes: nothing is found in it.
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
            let check = |value: &str| check_addresses(&json!({"addresses": [{field: value}]}));
            for value in taken {
                assert!(check(value).is_ok(), "{value}");
            }
            for value in refused {
                assert_eq!(check(value).unwrap_err().status, 400, "{value}");
            }
        }
        assert!(check_addresses(&json!(true)).is_ok());
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
