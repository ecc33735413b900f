//! GET `products/attributes`: the attributes that meet conditions, also conditions on their sets and groups.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::shown;
use crate::call::Call;
use crate::magento::search;
use crate::reply::ApiError;
use crate::store::Database;

/// A page of attributes, each as GET shows it in this store view; 400 without `searchCriteria`, 500 for a condition on an
/// unknown field.
pub fn list(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = search::parse(&call.query)?;
    let places = places(records)?;
    let mut found = Vec::new();
    for id in records.attribute_ids()? {
        let attribute = shown(records, &records.attribute(id)?, &call.store_view)?;
        let searched = |set: Option<i64>, group: Option<i64>| {
            let mut searched = attribute.clone();
            for value in searched.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
                if let Value::Bool(flag) = *value {
                    *value = u8::from(flag).into();
                }
            }
            searched["attribute_set_id"] = json!(set);
            searched["attribute_group_id"] = json!(group);
            searched
        };
        // An attribute is searched in each of its places, and shown once.
        let rows: Vec<Value> = match places.get(&id) {
            Some(places) => places.iter().map(|(set, group)| searched(Some(*set), Some(*group))).collect(),
            None => vec![searched(None, None)],
        };
        let known = |field: &str| rows.iter().all(|row| row.get(field).is_some());
        if !criteria.groups.iter().flatten().all(|filter| known(&filter.field)) {
            return Err(ApiError::internal());
        }
        if let Some(row) = rows.into_iter().find(|row| criteria.holds(row)) {
            found.push((row, attribute));
        }
    }
    Ok(criteria.answer(criteria.sorted(found)))
}

/// Set and group of each place that an attribute has.
fn places(records: &Database<'_>) -> Result<BTreeMap<i64, Vec<(i64, i64)>>, ApiError> {
    let mut places: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for set in records.attribute_sets()?.iter().filter_map(|set| set["attribute_set_id"].as_i64()) {
        for (attribute, group) in records.assignments(set)? {
            places.entry(attribute).or_default().push((set, group));
        }
    }
    Ok(places)
}
