//! `searchCriteria` of a query: groups of filters, page size and page.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::coerce::snake_case;
use crate::sandbox::reply::ApiError;

/// One condition on one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Name of the field.
    pub field: String,
    /// What it is compared with.
    pub value: String,
    /// How, such as `eq` and `like`.
    pub condition: String,
}

/// What is asked for. Every group must hold; a group holds where one of its filters does.
#[derive(Debug, Default)]
pub struct SearchCriteria {
    /// The groups.
    pub groups: Vec<Vec<Filter>>,
    /// Most items of a page; all where it is not given.
    pub page_size: Option<usize>,
    /// Page from 1 on.
    pub current_page: Option<usize>,
}

/// Reads the criteria; 400 where there are none.
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
                criteria.page_size = value.parse().ok().filter(|size| *size > 0);
            }
            ["search_criteria", "current_page"] => criteria.current_page = value.parse().ok(),
            _ => {}
        }
    }
    if !is_given {
        return Err(ApiError::required("searchCriteria"));
    }
    criteria.groups = grouped(filters);
    Ok(criteria)
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
    /// The answer: the page of `found`, the criteria again, and how many there are in all.
    pub fn answer(&self, found: Vec<Value>) -> Value {
        let total = found.len();
        let size = self.page_size.unwrap_or(usize::MAX);
        // A page behind the last one is the last one.
        let last = total.saturating_sub(1) / size.min(total.max(1));
        let page = self.current_page.unwrap_or(1).saturating_sub(1).min(last);
        let items: Vec<Value> = found.into_iter().skip(page.saturating_mul(size)).take(size).collect();
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|filters| {
                let filters: Vec<Value> = filters
                    .iter()
                    .map(|filter| {
                        json!({"field": filter.field, "value": filter.value, "condition_type": filter.condition})
                    })
                    .collect();
                json!({"filters": filters})
            })
            .collect();
        let mut criteria = json!({"filter_groups": groups});
        if let Some(size) = self.page_size {
            criteria["page_size"] = json!(size);
        }
        if let Some(page) = self.current_page {
            criteria["current_page"] = json!(page);
        }
        json!({"items": items, "search_criteria": criteria, "total_count": total})
    }

    /// Whether every group holds for a record, whose fields `value` gives.
    pub fn holds(
        &self,
        value: impl Fn(&str) -> Option<String>,
        fits: impl Fn(&Filter, &str) -> bool,
    ) -> bool {
        self.groups.iter().all(|group| {
            group.iter().any(|filter| value(&filter.field).is_some_and(|value| fits(filter, &value)))
        })
    }

    /// 400 for a filter on a field that there is not.
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
            ("searchCriteria[currentPage]", "2"),
        ]))
        .unwrap();
        assert_eq!(criteria.groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(
            (criteria.groups[0][0].condition.as_str(), criteria.groups[0][1].condition.as_str()),
            ("eq", "like")
        );
        let answer = criteria.answer(vec![json!(1), json!(2), json!(3)]);
        assert_eq!((&answer["items"], &answer["total_count"]), (&json!([3]), &json!(3)));
        assert_eq!(parse(&query(&[("fields", "items")])).unwrap_err().status, 400);
    }
}
