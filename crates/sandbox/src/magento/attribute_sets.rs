//! Attribute sets, their groups, and the attributes in them.

use serde_json::{Value, json};

use super::attributes::{coded, is_user_defined, shown};
use super::search;
use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::Database;
use storefront_core::interface::fields::PRODUCT_ENTITY_TYPE_ID;

/// GET `products/attribute-sets/sets/list`: sets of products only.
pub fn list(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = search::parse(&call.query)?;
    let mut sets = records.attribute_sets()?;
    sets.retain(|set| is_of_products(set) && criteria.holds(set));
    Ok(criteria.answer(criteria.sorted(sets.into_iter().map(|set| (set.clone(), set)).collect())))
}

/// GET `products/attribute-sets/groups/list`.
pub fn groups(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = search::parse(&call.query)?;
    let mut groups = records.attribute_groups()?;
    groups.retain(|group| criteria.holds(group));
    // The groups are in the order of their ids; their places are not shown.
    let placed = |group: Value| {
        let mut searched = group.clone();
        searched["sort_order"] = group["attribute_group_id"].clone();
        (searched, group)
    };
    Ok(criteria.answer(criteria.sorted(groups.into_iter().map(placed).collect())))
}

/// POST `products/attribute-sets/attributes`: answers an id as text. An attribute that is in the set is moved.
pub fn assign(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let sent = |name: &str| match call.sent.get(name) {
        None | Some(Value::Null) => Err(ApiError::required(name)),
        Some(value) => Ok(as_text(value)),
    };
    let set = sent("attributeSetId")?;
    let group = sent("attributeGroupId")?;
    let code = sent("attributeCode")?;
    if !is_of_products(&named(records, &set)?) {
        return Err(ApiError::new(400, "The attribute set ID is incorrect. Verify the ID and try again."));
    }
    let mut groups = records.attribute_groups()?.into_iter();
    let is_it = |known: &Value| {
        known["attribute_group_id"] == group.as_str() && as_text(&known["attribute_set_id"]) == set
    };
    groups.find(is_it).ok_or_else(|| unknown("group with the", &group))?;
    let attribute = coded(records, &code)?;
    // Both are ids of rows.
    let id = |text: &str| text.parse().unwrap_or_default();
    Ok(records.assign(id(&set), id(&group), attribute)?.to_string().into())
}

/// DELETE `products/attribute-sets/{attributeSetId}/attributes/{attributeCode}`: the values of the set's products go with it.
pub fn unassign(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let set = call.parameter(0);
    let code = call.parameter(1);
    named(records, set)?;
    let attribute = coded(records, code)?;
    let id = call.id(0)?;
    if !records.assignments(id)?.iter().any(|(known, _)| *known == attribute) {
        let message = "The \"%1\" attribute wasn't found in the \"%2\" attribute set. Enter the attribute and try again.";
        return Err(ApiError::new(400, message).with(json!([code, set])));
    }
    if !is_user_defined(&records.attribute(attribute)?) {
        return Err(ApiError::new(400, "The system attribute can't be deleted."));
    }
    records.unassign(id, attribute)?;
    records.remove_values(code, Some(id))?;
    Ok(json!(true))
}

/// The set with this id; 404 if it is missing.
fn named(records: &Database<'_>, id: &str) -> Result<Value, ApiError> {
    let mut sets = records.attribute_sets()?.into_iter();
    let found = sets.find(|known| as_text(&known["attribute_set_id"]) == id);
    found.ok_or_else(|| unknown("AttributeSet with a", id))
}

/// GET `products/attribute-sets/{attributeSetId}/attributes`.
pub fn attributes(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let set = call.id(0)?;
    if !records.attribute_sets()?.iter().any(|known| known["attribute_set_id"] == set) {
        return Err(ApiError::no_such_entity("attributeSetId", set));
    }
    let assigned = records.assignments(set)?.into_iter();
    assigned.map(|(id, _)| shown(records, &records.attribute(id)?, &call.store_view)).collect()
}

fn is_of_products(set: &Value) -> bool {
    as_text(&set["entity_type_id"]) == PRODUCT_ENTITY_TYPE_ID
}

fn unknown(what: &str, id: &str) -> ApiError {
    ApiError::new(404, &format!("The {what} \"%1\" ID doesn't exist. Verify the ID and try again."))
        .with(json!([id]))
}
