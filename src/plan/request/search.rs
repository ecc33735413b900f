//! Magento's search criteria as a query string.

use percent_encoding::utf8_percent_encode;

use super::SEGMENT;

/// A condition that one of several fields must meet; all filters together must be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The fields.
    pub fields: &'static [&'static str],
    /// `eq`, `like` and so on.
    pub condition: &'static str,
    /// What the field is compared with.
    pub value: String,
}

/// The query that asks for the first `limit` records that meet all filters.
pub fn query(filters: &[Filter], limit: usize) -> String {
    let mut pairs = Vec::new();
    for (group, filter) in filters.iter().enumerate() {
        for (index, field) in filter.fields.iter().enumerate() {
            let name = format!("searchCriteria[filter_groups][{group}][filters][{index}]");
            pairs.push((format!("{name}[field]"), (*field).to_owned()));
            pairs.push((format!("{name}[value]"), filter.value.clone()));
            pairs.push((format!("{name}[condition_type]"), filter.condition.to_owned()));
        }
    }
    pairs.push(("searchCriteria[pageSize]".to_owned(), limit.to_string()));
    let encoded = |text: &str| utf8_percent_encode(text, SEGMENT).to_string();
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}
