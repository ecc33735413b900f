//! `customers/search`, with the database's idea of what texts are the same.

use serde_json::Value;

use super::call::Call;
use super::coerce::as_text;
use super::customer_view;
use super::search_criteria::{self, Filter};
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::Database;

/// Fields that can be searched.
const FIELDS: &[&str] =
    &["email", "entity_id", "firstname", "group_id", "lastname", "store_id", "website_id"];

/// GET `customers/search`.
pub fn search(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let criteria = search_criteria::parse(&call.query)?;
    criteria.check_fields(FIELDS)?;
    let mut found = Vec::new();
    for id in records.customer_ids()? {
        let customer = customer_view::customer(records, id)?;
        let value = |field: &str| {
            let field = if field == "entity_id" { "id" } else { field };
            customer.get(field).map(as_text)
        };
        if criteria.holds(value, fits) {
            found.push(customer);
        }
    }
    Ok(Reply::ok(criteria.answer(found)))
}

/// Whether a value fits a filter; nothing fits a condition that there is not.
pub fn fits(filter: &Filter, value: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let compare = || number(value).zip(number(&filter.value));
    match filter.condition.as_str() {
        "eq" => same_text(value, &filter.value),
        "neq" => !same_text(value, &filter.value),
        "like" => is_like(&folded(value), &folded(&filter.value)),
        "nlike" => !is_like(&folded(value), &folded(&filter.value)),
        "in" => filter.value.split(',').any(|one| same_text(value, one)),
        "nin" => !filter.value.split(',').any(|one| same_text(value, one)),
        "gt" => compare().is_some_and(|(value, than)| value > than),
        "gteq" => compare().is_some_and(|(value, than)| value >= than),
        "lt" => compare().is_some_and(|(value, than)| value < than),
        "lteq" => compare().is_some_and(|(value, than)| value <= than),
        "notnull" => true,
        _ => false,
    }
}

/// Equal in the collation `utf8mb4_general_ci`: case, accents and blanks at the end do not count.
pub fn same_text(one: &str, other: &str) -> bool {
    folded(one.trim_end_matches(' ')) == folded(other.trim_end_matches(' '))
}

fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).fold(String::new(), |mut folded, letter| {
        match letter {
            '\u{c0}'..='\u{24f}' => {
                folded.push_str(&deunicode::deunicode_char(letter).unwrap_or("").to_lowercase());
            }
            other => folded.push(other),
        }
        folded
    })
}

/// SQL's LIKE: `%` is anything, `_` one character, a backslash takes the next one literally.
fn is_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // Which beginnings of the text the pattern so far fits.
    let mut fits = vec![false; text.len() + 1];
    fits[0] = true;
    let mut pattern = pattern.chars();
    while let Some(sign) = pattern.next() {
        let mut next = vec![false; text.len() + 1];
        if sign == '%' {
            let mut reached = false;
            for (place, fitted) in fits.iter().enumerate() {
                reached |= fitted;
                next[place] = reached;
            }
        } else {
            let literal = if sign == '\\' {
                pattern.next().or(Some('\\'))
            } else {
                Some(sign).filter(|sign| *sign != '_')
            };
            for (place, letter) in text.iter().enumerate() {
                next[place + 1] = fits[place] && literal.is_none_or(|literal| literal == *letter);
            }
        }
        fits = next;
    }
    fits.last() == Some(&true)
}

/// A cart's or a customer's field as text, for a filter.
pub fn field_text(document: &Value, field: &str) -> Option<String> {
    document.get(field).map(as_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_trailing_blanks_do_not_count() {
        for same in ["dëmo@example.com", "demo@éxample.com", "demo@example.com ", "DEMO@example.com"] {
            assert!(same_text("demo@example.com", same), "{same}");
        }
        assert!(!same_text("demo@example.com", " demo@example.com"));
        assert!(!same_text("健二", "健三"));
    }

    #[test]
    fn like_has_wildcards_that_can_be_escaped() {
        for (pattern, fits) in [
            ("%mo%", true),
            ("demo", true),
            ("d_mo", true),
            ("%x%", false),
            ("dem", false),
            ("d\\_mo", false),
            ("%", true),
        ] {
            assert_eq!(is_like("demo", pattern), fits, "{pattern}");
        }
        assert!(is_like("100%", "100\\%") && !is_like("1000", "100\\%"));
    }
}
