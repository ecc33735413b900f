//! Attribute sets, groups and store views that are named, looked up in the shop's lists. Each is read once a run.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::ops::list::Page;
use crate::ops::target_without_customer;
use storefront_core::attribute::{Named, split_set};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::interface::request::{Bearer, Filter, MAX_PAGE, Request, sorted_query};
use storefront_core::operation::scalar;
use storefront_core::profile::diff::FieldChange;
use storefront_core::text::exact_json;

/// The path of a call on attributes in an interface that can change them.
///
/// # Errors
/// `usage` for another interface.
pub fn path(service: &Service<'_>, template: &str, values: &[(&str, &str)]) -> Result<String, Failure> {
    let dialect = service.settings.dialect;
    if dialect.changes_attributes {
        return Ok(target_without_customer(service).path(template, values));
    }
    Err(Failure::usage(format!("the interface `{}` has no attribute sets", dialect.name))
        .hint("for a Magento shop, add --api magento"))
}

const SET_ID: &str = "attribute_set_id";

/// A group of an attribute set.
#[derive(Debug, Clone)]
pub struct AttributeGroup {
    /// As a person reads it: `Default/Content`, or the set alone if no group was named.
    pub name: String,
    /// Id of the set.
    pub set: String,
    /// Id of the group.
    pub id: String,
    /// Whether the group was named.
    pub names_group: bool,
}

/// Finds the groups that are named; for a set without a group, the first of its groups.
///
/// # Errors
/// `usage` for a set or a group that the shop does not have, and as [`Service::read`].
pub async fn find_groups(service: &Service<'_>, names: &[String]) -> Result<Vec<AttributeGroup>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let sets = sets(service).await?;
    let mut chosen = Vec::new();
    for name in names {
        let (set, group) = split_set(name, &sets)?;
        if chosen.iter().any(|one: &AttributeGroup| one.set == set.id) {
            return Err(Failure::usage(format!("the attribute set `{}` is named twice", set.name)));
        }
        let groups = groups(service, &set.id).await?;
        if groups.is_empty() {
            return Err(Failure::usage(format!("the attribute set `{}` has no group", set.name))
                .hint("add a group to the set in the admin panel"));
        }
        let found = match groups.first().filter(|_| group.is_none()) {
            Some(first) => first,
            None => {
                Named::find(&groups, "attribute group", group.unwrap_or_default()).map_err(|failure| {
                    let message = format!("attribute set `{}`: {}", set.name, failure.message);
                    Failure { message, ..failure }
                })?
            }
        };
        chosen.push(AttributeGroup {
            name: group.map_or_else(|| set.name.clone(), |_| format!("{}/{}", set.name, found.name)),
            set: set.id.clone(),
            id: found.id.clone(),
            names_group: group.is_some(),
        });
    }
    Ok(chosen)
}

/// The store views: their ids and codes.
///
/// # Errors
/// As [`Service::read`].
pub async fn store_views(service: &Service<'_>) -> Result<Rc<Vec<Named>>, Failure> {
    list(service, path(service, "/{store_view}/V1/store/storeViews", &[])?, ["id", "code"]).await
}

/// Refuses to put a customer into a website or a store view that the shop does not have: the shop fails while it saves,
/// and the outcome of the call would be unknown.
///
/// # Errors
/// `usage` for one that is not there, and as [`Service::read`].
pub async fn ensure_stores(service: &Service<'_>, changes: &[FieldChange]) -> Result<(), Failure> {
    // With a customer's own token the shop ignores these fields.
    if service.customer.is_none() || !service.settings.dialect.lists_store_views {
        return Ok(());
    }
    for change in changes {
        let (what, id) = match change.path.to_string().as_str() {
            "website_id" => ("website", "website_id"),
            "store_id" => ("store view", "id"),
            _ => continue,
        };
        let Some(wanted) = scalar(change.after.as_ref()) else { continue };
        let path = path(service, "/{store_view}/V1/store/storeViews", &[])?;
        let known = match list(service, path, [id, "code"]).await {
            // Who may change customers may not always list store views.
            Err(failure) if failure.kind == FailureKind::Auth => return Ok(()),
            known => known?,
        };
        if !known.iter().any(|known| known.id == wanted) {
            let ids: BTreeSet<&str> =
                known.iter().map(|known| known.id.as_str()).filter(|id| *id != "0").collect();
            let ids = ids.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Failure::usage(format!("the shop has no {what} {wanted}; it has {ids}")));
        }
    }
    Ok(())
}

/// Replaces the codes of store views by ids in the labels of an attribute and of its options.
///
/// # Errors
/// `usage` for a store view that the shop does not have, and as [`Service::read`].
pub async fn resolve_store_views(
    service: &Service<'_>,
    fields: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let mut named = Vec::new();
    fields.values_mut().for_each(|value| find_store_views(value, &mut named));
    if named.is_empty() || !service.settings.dialect.lists_store_views {
        return Ok(());
    }
    let has_codes = named.iter().any(|view| view.as_str().is_some_and(|text| text.parse::<u64>().is_err()));
    let views = match store_views(service).await {
        // Who may create attributes may not always list store views; ids need no list.
        Err(failure) if failure.kind == FailureKind::Auth && !has_codes => return Ok(()),
        views => views?,
    };
    for view in &mut named {
        let text = view.as_str().map_or_else(|| view.to_string(), |text| text.trim().to_owned());
        if !views.iter().any(|known| known.id == text) {
            let id = &Named::find(&views, "store view", &text)?.id;
            **view = exact_json::number(id).map_or(Value::Null, Value::Number);
        }
    }
    match fields.values().find_map(named_twice) {
        Some(id) => {
            let view = views.iter().find(|view| view.id == id).map_or(&*id, |view| &view.name);
            Err(Failure::usage(format!("the store view `{view}` has two labels"))
                .hint("name each store view once, by its code or its ID"))
        }
        None => Ok(()),
    }
}

/// A store view that one list of labels names twice: the shop keeps the last label.
fn named_twice(value: &Value) -> Option<String> {
    match value {
        Value::Array(list) => {
            let mut views = list.iter().filter_map(|one| scalar(one.get("store_id")));
            let mut seen = HashSet::new();
            views.find(|view| !seen.insert(view.clone())).or_else(|| list.iter().find_map(named_twice))
        }
        Value::Object(fields) => fields.values().find_map(named_twice),
        _ => None,
    }
}

fn find_store_views<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Value>) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| find_store_views(one, found)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, inside)| match name.as_str() {
            "store_id" => found.push(inside),
            _ => find_store_views(inside, found),
        }),
        _ => {}
    }
}

/// The groups of an attribute set in their order, which does not follow from their ids.
///
/// # Errors
/// As [`Service::read`].
pub async fn groups(service: &Service<'_>, set: &str) -> Result<Rc<Vec<Named>>, Failure> {
    let path = path(service, "/{store_view}/V1/products/attribute-sets/groups/list", &[])?;
    let query = sorted_query(&[Filter::equal(&[SET_ID], set)], "sort_order", MAX_PAGE);
    list(service, format!("{path}?{query}"), ["attribute_group_id", "attribute_group_name"]).await
}

/// The attribute sets, read in pages, each with the ids that are greater than the last one.
///
/// # Errors
/// As [`Service::read`].
pub async fn sets(service: &Service<'_>) -> Result<Vec<Named>, Failure> {
    let path = path(service, "/{store_view}/V1/products/attribute-sets/sets/list", &[])?;
    let mut all = Vec::new();
    let mut last = 0;
    loop {
        let above = (last > 0).then(|| Filter::above(&[SET_ID], last));
        let query = sorted_query(above.as_slice(), SET_ID, MAX_PAGE);
        let page = list(service, format!("{path}?{query}"), [SET_ID, "attribute_set_name"]).await?;
        let id = |one: &Named| one.id.parse::<u64>().unwrap_or_default();
        all.extend(page.iter().filter(|one| last == 0 || id(one) > last).cloned());
        match page.iter().map(id).max() {
            Some(greatest) if page.len() >= MAX_PAGE && greatest > last => last = greatest,
            Some(_) if page.len() >= MAX_PAGE => {
                let message = "the shop does not continue its list of attribute sets";
                return Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER));
            }
            _ => return Ok(all),
        }
    }
}

/// Reads a list of the shop once a run; `names` are the fields of the id and of the name.
async fn list(service: &Service<'_>, path: String, [id, name]: [&str; 2]) -> Result<Rc<Vec<Named>>, Failure> {
    let key = format!("{path} {id}");
    if let Some(known) = service.lists.borrow().get(&key) {
        return Ok(known.clone());
    }
    let reply = service.read(&Request::get(path.clone(), Bearer::Admin)).await?;
    let what = name.replace('_', " ");
    let elements = match reply.value {
        Value::Array(elements) => elements,
        page => Page::of(page, &what, MAX_PAGE)?.records,
    };
    let read = Named::list(&elements, id, name).filter(|_| reply.warning.is_none());
    let read = Rc::new(read.ok_or_else(|| {
        Failure::unexpected_reply(format!("unexpected response: no list of {what}")).hint(LOOK_CLOSER)
    })?);
    service.lists.borrow_mut().insert(key, read.clone());
    Ok(read)
}
