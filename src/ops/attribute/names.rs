//! Attribute sets, groups and store views that are named, looked up in the shop's lists. Each is read once a run.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::failure::{Failure, FailureKind};
use crate::ops::{LOOK_CLOSER, target_without_customer};
use crate::plan::attribute::{Named, split_set};
use crate::plan::request::dialect::AttributeRoutes;
use crate::plan::request::{Bearer, Filter, Request, search_query};
use crate::session::service::Service;
use crate::text::exact_json;

/// More than a shop has of anything that is listed here.
const ALL: usize = 10_000;

/// The calls on attributes.
///
/// # Errors
/// `usage` where the interface has none.
pub fn routes(service: &Service<'_>) -> Result<&'static AttributeRoutes, Failure> {
    service.settings.dialect.attributes.ok_or_else(|| {
        Failure::usage(format!("the interface `{}` has no attribute sets", service.settings.dialect.name))
            .hint("for a Magento shop, add --api magento")
    })
}

/// A group of an attribute set.
#[derive(Debug)]
pub struct Place {
    /// As a person reads it: `Default/Content`, or the set alone where no group was named.
    pub name: String,
    /// Id of the set.
    pub set: String,
    /// Id of the group.
    pub group: String,
    /// Whether the group was named.
    pub names_group: bool,
}

/// The places that are meant by names; without a group it is the first one of the set.
///
/// # Errors
/// `usage` for a set or a group that the shop does not have, and as [`Service::read`].
pub async fn places(service: &Service<'_>, names: &[String]) -> Result<Vec<Place>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let routes = routes(service)?;
    let query = search_query(&[], ALL);
    let sets = list(service, routes.sets, &[], &query, ["attribute_set_id", "attribute_set_name"]).await?;
    let mut places = Vec::new();
    for name in names {
        let (set, group) = split_set(name, &sets)?;
        let query = search_query(&[Filter::equal(&["attribute_set_id"], &set.id)], ALL);
        let ids = ["attribute_group_id", "attribute_group_name"];
        let groups = list(service, routes.groups, &[], &query, ids).await?;
        let found = match (group, groups.first()) {
            (Some(group), _) => Named::find(&groups, "attribute group", group).map_err(|failure| {
                let message = format!("{} of the set `{}`", failure.message, set.name);
                Failure { message, ..failure }
            })?,
            (None, Some(first)) => first,
            (None, None) => {
                return Err(Failure::usage(format!("the attribute set `{}` has no group", set.name)));
            }
        };
        places.push(Place {
            name: group.map_or_else(|| set.name.clone(), |_| format!("{}/{}", set.name, found.name)),
            set: set.id.clone(),
            group: found.id.clone(),
            names_group: group.is_some(),
        });
    }
    Ok(places)
}

/// Whether an attribute is in a set, as far as this run has read.
///
/// # Errors
/// As [`Service::read`].
pub async fn is_in_set(service: &Service<'_>, code: &str, set: &str) -> Result<bool, Failure> {
    let members = routes(service)?.members;
    let members = list(service, members, &[("set", set)], "", ["attribute_id", "attribute_code"]).await?;
    Ok(members.iter().any(|member| member.name == code))
}

/// The store views: their ids and codes.
///
/// # Errors
/// As [`Service::read`].
pub async fn store_views(service: &Service<'_>) -> Result<Rc<Vec<Named>>, Failure> {
    list(service, routes(service)?.store_views, &[], "", ["id", "code"]).await
}

/// Puts ids in place of the codes of store views in the labels of an attribute and of its options.
///
/// # Errors
/// `usage` for a store view that the shop does not have, and as [`Service::read`].
pub async fn resolve_store_views(
    service: &Service<'_>,
    fields: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let mut named: Vec<&mut Value> = Vec::new();
    for (name, value) in fields {
        match name.as_str() {
            "frontend_labels" => named.extend(views_in(value)),
            "options" => {
                let options = elements(value).filter_map(|option| option.get_mut("store_labels"));
                named.extend(options.flat_map(views_in));
            }
            _ => {}
        }
    }
    if named.is_empty() || service.settings.dialect.attributes.is_none() {
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
    Ok(())
}

fn elements(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

/// The store views of a list of labels.
fn views_in(labels: &mut Value) -> impl Iterator<Item = &mut Value> {
    elements(labels).filter_map(|label| label.get_mut("store_id"))
}

/// A list of the shop; `names` are the fields of the id and of the name.
async fn list(
    service: &Service<'_>,
    template: &str,
    values: &[(&str, &str)],
    query: &str,
    names: [&str; 2],
) -> Result<Rc<Vec<Named>>, Failure> {
    let mut path = target_without_customer(service).path(template, values);
    if !query.is_empty() {
        path = format!("{path}?{query}");
    }
    if let Some(known) = service.lists.borrow().get(&path) {
        return Ok(known.clone());
    }
    let reply = service.read(&Request::get(path.clone(), Bearer::Admin)).await?;
    let read = Named::list(&reply.value(), names[0], names[1]).filter(|_| reply.warning.is_none());
    let read = Rc::new(read.ok_or_else(|| {
        let message = format!("unexpected response: no list of {}", names[1].replace('_', " "));
        Failure::new(FailureKind::Unavailable, message).hint(LOOK_CLOSER)
    })?);
    service.lists.borrow_mut().insert(path, read.clone());
    Ok(read)
}
