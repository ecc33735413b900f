//! The attributes of a shop as files have them: with the labels of all store views, and the names of sets and groups.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::catalog::{self, ADMINISTRATORS, Membership};
use super::names;
use crate::client::service::Service;
use crate::report::progress::Steps;
use storefront_core::attribute::compare::ShopAttribute;
use storefront_core::attribute::export::ReadAttribute;
use storefront_core::attribute::view::Attribute;
use storefront_core::attribute::{Named, StoredOptions, split_set};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::interface::request::Filter;
use storefront_core::operation::scalar;

/// What was read of a shop.
#[derive(Debug)]
pub struct Shop {
    /// The attributes by their codes.
    pub attributes: BTreeMap<String, ShopAttribute>,
    /// The store views of customers.
    pub views: Vec<Named>,
}

/// Reads the attributes that meet these conditions and are wanted. It takes a request for each page of 300 in each store
/// view, and those of [`catalog::memberships`].
///
/// # Errors
/// As [`Service::read`]; `unavailable` if the attributes change meanwhile.
pub async fn read(
    service: &Service<'_>,
    filters: &[Filter],
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Shop, Failure> {
    let mut steps = service.session.report.steps();
    let mut found = catalog::read(service, ADMINISTRATORS, filters, None, |count, total| {
        steps.show(&format!("reading attributes: {count} of {total}"));
    })
    .await?;
    found.retain(|attribute| is_wanted(Attribute(attribute).code()));
    let views = names::store_views(service).await?;
    let views: Vec<Named> = views.iter().filter(|view| view.id != "0").cloned().collect();
    let labels = labels(service, filters, &views, &found, &mut steps).await?;
    let codes: BTreeSet<&str> = found.iter().map(|attribute| Attribute(attribute).code()).collect();
    let places = if codes.is_empty() {
        BTreeMap::new()
    } else {
        catalog::memberships(service, &codes, filters, true, &mut steps).await?
    };
    let attributes = found.iter().map(|fields| {
        let code = Attribute(fields).code();
        let of_views: Vec<_> =
            labels.iter().map(|view| view.get(code).cloned().unwrap_or_default()).collect();
        let places: Vec<String> = places.get(code).into_iter().flatten().map(place).collect();
        let read = ReadAttribute { fields, views: &views, labels: &of_views, places: &places };
        let stored = StoredOptions::of(Attribute(fields)).ok();
        (code.to_owned(), ShopAttribute { exported: read.exported(), stored })
    });
    let attributes = attributes.collect();
    Ok(Shop { attributes, views })
}

fn place(Membership { set, group }: &Membership) -> String {
    group.as_ref().map_or_else(|| set.clone(), |group| format!("{set}/{group}"))
}

/// For each store view the labels of options by their ids, by the codes of their attributes.
type Labels = Vec<HashMap<String, HashMap<String, String>>>;

async fn labels(
    service: &Service<'_>,
    filters: &[Filter],
    views: &[Named],
    found: &[Map<String, Value>],
    steps: &mut Steps,
) -> Result<Labels, Failure> {
    if !found.iter().any(|attribute| !Attribute(attribute).labels_by_id().is_empty()) {
        return Ok(Vec::new());
    }
    let mut labels = Vec::new();
    for view in views {
        let shown = catalog::read(service, &view.name, filters, Some("options"), |count, total| {
            steps.show(&format!("reading labels in store view {}: {count} of {total}", view.name));
        })
        .await?;
        let shown = shown.iter().map(Attribute);
        let shown = shown.map(|attribute| (attribute.code().to_owned(), attribute.labels_by_id()));
        let shown: HashMap<_, _> = shown.collect();
        for attribute in found {
            let code = Attribute(attribute).code();
            let ids = Attribute(attribute).labels_by_id();
            let own = shown.get(code);
            if !own.is_some_and(|own| own.len() == ids.len() && ids.keys().all(|id| own.contains_key(id))) {
                let message = format!(
                    "store view `{}` shows other options of the attribute `{code}`: they changed while they were read",
                    view.name
                );
                return Err(Failure::new(FailureKind::Unavailable, message).hint("run the command again"));
            }
        }
        labels.push(shown);
    }
    Ok(labels)
}

/// The names in a file that the shop lacks, with those that it has: store views, attribute sets, and groups of sets.
///
/// # Errors
/// As [`Service::read`].
pub async fn missing_names(
    service: &Service<'_>,
    views: &[Named],
    sets: &[Named],
    file: &[Map<String, Value>],
) -> Result<Vec<String>, Failure> {
    let mut missing = Vec::new();
    let known = |list: &[Named]| list.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
    let said = |what: &str, lacks: &BTreeSet<String>, has: String| {
        let lacks = lacks.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        format!("missing {what}: {lacks}; the shop has: {has}")
    };
    let mut named = BTreeSet::new();
    file.iter().flat_map(Map::values).for_each(|value| named_views(value, &mut named));
    named.retain(|name| !views.iter().any(|view| view.name == *name));
    if !named.is_empty() {
        missing.push(said("store views", &named, known(views)));
    }
    let places: BTreeSet<String> = file.iter().flat_map(|one| Attribute(one).set_names()).collect();
    let is_known = |place: &&String| split_set(place, sets).is_ok();
    let (places, lost): (BTreeSet<&String>, BTreeSet<&String>) = places.iter().partition(is_known);
    if !lost.is_empty() {
        let lost = lost.into_iter().cloned().collect();
        missing.push(said("attribute sets", &lost, known(sets)));
    }
    let mut of_sets: BTreeMap<&str, (&Named, BTreeSet<&str>)> = BTreeMap::new();
    for place in places {
        if let Ok((set, Some(group))) = split_set(place, sets) {
            of_sets.entry(&set.id).or_insert((set, BTreeSet::new())).1.insert(group);
        }
    }
    for (set, wanted) in of_sets.into_values() {
        let groups = names::groups(service, &set.id).await?;
        let is_there = |group: &&str| Named::find(&groups, "attribute group", group).is_ok();
        let lost: BTreeSet<String> =
            wanted.into_iter().filter(|group| !is_there(group)).map(str::to_owned).collect();
        if !lost.is_empty() {
            missing.push(said(&format!("groups of the attribute set `{}`", set.name), &lost, known(&groups)));
        }
    }
    Ok(missing)
}

fn named_views(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| named_views(one, found)),
        Value::Object(fields) => {
            found.extend(scalar(fields.get("store_id")));
            fields.values().for_each(|inside| named_views(inside, found));
        }
        _ => {}
    }
}
