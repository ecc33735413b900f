//! `searchCriteria` of a query, and the search of customers, with the database's comparison of texts.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::customer_view;
use crate::call::Call;
use crate::coerce::{as_text, snake_case};
use crate::reply::ApiError;
use crate::store::{Database, SEARCHED};

/// One condition on one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Name of the field.
    pub field: String,
    /// The value that it is compared with.
    pub value: String,
    /// The comparison, such as `eq` and `like`.
    pub condition: String,
}

/// The criteria. Every group must hold; a group holds if one of its filters does.
#[derive(Debug, Default)]
pub struct SearchCriteria {
    /// The groups.
    pub groups: Vec<Vec<Filter>>,
    /// The most items of a page; all if it is missing.
    pub page_size: Option<usize>,
    /// The number of the page, from 1.
    pub current_page: usize,
    /// The field to sort by, and whether ascending, which is not the default.
    pub sort: Option<(String, bool)>,
}

/// Reads the criteria; 400 without any.
pub fn parse(query: &[(String, String)]) -> Result<SearchCriteria, ApiError> {
    let mut criteria = SearchCriteria::default();
    let mut filters: BTreeMap<(usize, usize), Filter> = BTreeMap::new();
    let mut is_given = false;
    for (name, value) in query {
        let keys: Vec<String> =
            name.split(['[', ']']).filter(|key| !key.is_empty()).map(snake_case).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        is_given |= keys.first() == Some(&"search_criteria");
        match keys[..] {
            ["search_criteria", "filter_groups", group, "filters", filter, key] => {
                let place = (group.parse().unwrap_or(0), filter.parse().unwrap_or(0));
                let filter = filters.entry(place).or_default();
                match key {
                    "field" => filter.field.clone_from(value),
                    "value" => filter.value.clone_from(value),
                    "condition_type" => filter.condition.clone_from(value),
                    _ => {}
                }
            }
            ["search_criteria", "page_size"] => {
                criteria.page_size = Some(number("pageSize", value)?).filter(|size| *size > 0);
            }
            ["search_criteria", "current_page"] => criteria.current_page = number("currentPage", value)?,
            ["search_criteria", "sort_orders", _, "field"] => {
                criteria.sort.get_or_insert_default().0.clone_from(value);
            }
            ["search_criteria", "sort_orders", _, "direction"] => {
                criteria.sort.get_or_insert_default().1 = value.eq_ignore_ascii_case("asc");
            }
            _ => {}
        }
    }
    if !is_given {
        return Err(ApiError::required("searchCriteria"));
    }
    criteria.groups = grouped(filters);
    Ok(criteria)
}

/// A number below zero counts as the first page; other texts are refused.
fn number(name: &str, value: &str) -> Result<usize, ApiError> {
    let number: i64 = value.parse().map_err(|_| {
        ApiError::new(
            400,
            &format!(
                "Error occurred during \"{name}\" processing. The \"{value}\" value's type is invalid. The \"int\" type was \
                 expected. Verify and try again."
            ),
        )
    })?;
    Ok(usize::try_from(number).unwrap_or(1))
}

/// The filters by their groups; one without a condition is `eq`.
fn grouped(filters: BTreeMap<(usize, usize), Filter>) -> Vec<Vec<Filter>> {
    let mut groups: BTreeMap<usize, Vec<Filter>> = BTreeMap::new();
    for ((group, _), mut filter) in filters {
        if filter.condition.is_empty() {
            "eq".clone_into(&mut filter.condition);
        }
        groups.entry(group).or_default().push(filter);
    }
    groups.into_values().collect()
}

impl SearchCriteria {
    /// Sorts pairs by the first, the record as it is searched, and returns the second of each.
    pub fn sorted(&self, mut found: Vec<(Value, Value)>) -> Vec<Value> {
        if let Some((field, is_ascending)) = &self.sort {
            let number = |record: &Value| as_text(&record[field.as_str()]).parse::<i64>();
            found.sort_by(|(one, _), (other, _)| {
                let order = match (number(one), number(other)) {
                    (Ok(one), Ok(other)) => one.cmp(&other),
                    _ => as_text(&one[field.as_str()]).cmp(&as_text(&other[field.as_str()])),
                };
                if *is_ascending { order } else { order.reverse() }
            });
        }
        found.into_iter().map(|(_, shown)| shown).collect()
    }

    /// The texts, folded, of which a field must have one because of a whole group.
    pub fn texts_of(&self, field: &str) -> Option<HashSet<String>> {
        let is_list = |filter: &Filter| filter.field == field && ["eq", "in"].contains(&&*filter.condition);
        let group = self.groups.iter().find(|group| group.iter().all(is_list) && !group.is_empty())?;
        let texts = group.iter().flat_map(|filter| match &*filter.condition {
            "in" => filter.value.split(',').collect(),
            _ => vec![filter.value.as_str()],
        });
        Some(texts.map(folded_text).collect())
    }

    /// The fields that are filtered and sorted by.
    fn fields(&self) -> Vec<&str> {
        let filtered = self.groups.iter().flatten().map(|filter| filter.field.as_str());
        let mut fields: Vec<&str> =
            filtered.chain(self.sort.iter().map(|(field, _)| field.as_str())).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// The answer: a page of `found`, empty beyond the last one, the criteria, and the total number.
    pub fn answer(&self, found: Vec<Value>) -> Value {
        let total = found.len();
        let size = self.page_size.unwrap_or(usize::MAX);
        // Without a size there is one page, even if another is asked for.
        let page = if self.page_size.is_some() { self.current_page.max(1) } else { 1 };
        let items: Vec<Value> = found.into_iter().skip((page - 1).saturating_mul(size)).take(size).collect();
        let filters = |filters: &Vec<Filter>| -> Value {
            let shown = filters.iter().map(|filter| {
                json!({"field": filter.field, "value": filter.value, "condition_type": filter.condition})
            });
            json!({"filters": shown.collect::<Vec<_>>()})
        };
        let mut criteria = json!({"filter_groups": self.groups.iter().map(filters).collect::<Vec<_>>()});
        if let Some(size) = self.page_size {
            criteria["page_size"] = json!(size);
        }
        if self.current_page > 0 {
            criteria["current_page"] = json!(self.current_page);
        }
        json!({"items": items, "search_criteria": criteria, "total_count": total})
    }

    /// Whether every group holds for a record with these fields.
    pub fn holds(&self, record: &Value) -> bool {
        let holds = |filter: &Filter| {
            let value = record.get(&filter.field).filter(|value| !value.is_null());
            match filter.condition.as_str() {
                "notnull" => value.is_some(),
                "null" => value.is_none(),
                _ => value.is_some_and(|value| fits(filter, &as_text(value))),
            }
        };
        self.groups.iter().all(|group| group.iter().any(holds))
    }

    /// 400 for a filter on an unknown field.
    pub fn check_fields(&self, known: &[&str]) -> Result<(), ApiError> {
        let unknown = self.groups.iter().flatten().find(|filter| !known.contains(&filter.field.as_str()));
        match unknown {
            None => Ok(()),
            Some(filter) => {
                Err(ApiError::new(400, "The \"%1\" attribute name is invalid. Reset the name and try again.")
                    .with(json!([filter.field])))
            }
        }
    }
}

/// GET `customers/search`. Only the fields of the criteria are compared, and only the customers of the page are read, so
/// that a list of 40,000 can be read to its end.
pub fn customers(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = parse(&call.query)?;
    let known: Vec<&str> = SEARCHED.iter().map(|(name, _)| *name).chain(["entity_id"]).collect();
    criteria.check_fields(&known)?;
    let mut found = Vec::new();
    for customer in records.searched_customers(&criteria.fields())? {
        let customer = Value::Object(customer);
        if criteria.holds(&customer) {
            let id = customer["entity_id"].clone();
            found.push((customer, id));
        }
    }
    let mut answer = criteria.answer(criteria.sorted(found));
    for item in answer["items"].as_array_mut().into_iter().flatten() {
        *item = customer_view::customer(records, item.as_i64().unwrap_or_default())?;
    }
    Ok(answer)
}

/// Whether a value fits a filter; nothing fits an unknown condition. Only the conditions that the client uses exist.
pub fn fits(filter: &Filter, value: &str) -> bool {
    match filter.condition.as_str() {
        "eq" => same_text(value, &filter.value),
        "in" => filter.value.split(',').any(|one| same_text(value, one)),
        // In a list with commas.
        "finset" => value.split(',').any(|one| same_text(one, &filter.value)),
        "gt" => {
            let number = |text: &str| text.trim().parse::<f64>().ok();
            match (number(value), number(&filter.value)) {
                (Some(value), Some(than)) => value > than,
                _ => folded(value) > folded(&filter.value),
            }
        }
        "like" => is_like(&folded(value), &folded(&filter.value)),
        _ => false,
    }
}

/// Equal in the collation `utf8mb4_general_ci`: case, accents and blanks at the end do not count.
pub fn same_text(one: &str, other: &str) -> bool {
    folded_text(one) == folded_text(other)
}

/// A text as that collation compares it.
pub fn folded_text(text: &str) -> String {
    folded(text.trim_end_matches(' '))
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

/// SQL's LIKE: `%` is any text, `_` one character, and a backslash takes the next one literally.
fn is_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // The beginnings of the text that the pattern so far fits.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_pages_cut() {
        let query = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let criteria = parse(&query(&[
            ("searchCriteria[filterGroups][0][filters][0][field]", "email"),
            ("searchCriteria[filterGroups][0][filters][0][value]", "a"),
            ("search_criteria[filter_groups][0][filters][1][field]", "firstname"),
            ("searchCriteria[filter_groups][0][filters][1][condition_type]", "like"),
            ("searchCriteria[filter_groups][2][filters][0][field]", "lastname"),
            ("searchCriteria[pageSize]", "2"),
        ]))
        .unwrap();
        assert_eq!(criteria.groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(
            (criteria.groups[0][0].condition.as_str(), criteria.groups[0][1].condition.as_str()),
            ("eq", "like")
        );
        let answer = criteria.answer(vec![json!(1), json!(2), json!(3)]);
        assert_eq!((&answer["items"], &answer["total_count"]), (&json!([1, 2]), &json!(3)));
        assert_eq!(parse(&query(&[("fields", "items")])).unwrap_err().status, 400);
        let sorted = parse(&query(&[
            ("searchCriteria[sortOrders][0][field]", "id"),
            ("searchCriteria[pageSize]", "2"),
            ("searchCriteria[currentPage]", "9"),
        ]))
        .unwrap();
        let found = [10, 9, 11].map(|id| (json!({"id": id}), json!(id))).to_vec();
        let sorted_found = sorted.sorted(found);
        assert_eq!(sorted_found, [json!(11), json!(10), json!(9)], "descending is the default");
        assert_eq!(sorted.answer(sorted_found)["items"], json!([]), "beyond the last page");
    }

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
