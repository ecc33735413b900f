//! The attributes of a shop, read in pages: what each of them is, their labels in store views, and their places in
//! attribute sets. An attribute does not show its places: they are found by searching each set, and each of its groups.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::names;
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::ops::list::read_page;
use crate::ops::target_without_customer;
use crate::report::progress::Steps;
use storefront_core::attribute::Named;
use storefront_core::attribute::view::Attribute;
use storefront_core::failure::Failure;
use storefront_core::interface::request::{Bearer, Filter, MAX_PAGE, Request, sorted_query, with_fields};

/// The field that pages are sorted by. Unlike the id, no other table that the search joins has it.
const CODE: &str = "attribute_code";

/// Attributes that people have created, in this shop or by an extension.
pub fn user_defined() -> Filter {
    Filter::equal(&["is_user_defined"], 1)
}

/// The condition that saves reading all pages if only one attribute is meant; others are filtered out afterwards.
pub fn only(codes: &BTreeSet<&str>) -> Option<Filter> {
    codes.first().filter(|_| codes.len() == 1).map(|code| Filter::equal(&[CODE], code))
}

/// Reads the attributes that meet all of these conditions, sorted by code, as a store view shows them. With `fields` they
/// have only these and their codes.
///
/// # Errors
/// As [`Service::read`]; `usage` where the interface has no list of attributes.
pub async fn read(
    service: &Service<'_>,
    view: &str,
    filters: &[Filter],
    fields: Option<&str>,
    mut tell: impl FnMut(usize, u64),
) -> Result<Vec<Map<String, Value>>, Failure> {
    let path = path(service, view)?;
    let mut all = Vec::new();
    let mut last = None;
    let mut seen = HashSet::new();
    loop {
        let mut filters = filters.to_vec();
        filters.extend(last.as_ref().map(|code: &String| Filter::above(&[CODE], code)));
        let mut query = sorted_query(&filters, CODE, MAX_PAGE);
        if let Some(fields) = fields {
            query = with_fields(&query, &format!("items[{CODE},{fields}],total_count"));
        }
        let request = Request::get(format!("{path}?{query}"), Bearer::Admin);
        let page = read_page(service, &request, "attributes", MAX_PAGE).await?;
        let is_last = page.is_last();
        let count = page.records.len() as u64;
        let left = page.total.map_or(u64::from(!is_last), |total| total.saturating_sub(count));
        for attribute in page.records {
            let Value::Object(attribute) = attribute else {
                return Err(
                    Failure::unexpected_reply("unexpected response: no list of attributes").hint(LOOK_CLOSER)
                );
            };
            let code = Attribute(&attribute).code().to_owned();
            if code.is_empty() || !seen.insert(code.clone()) {
                let message = format!(
                    "the list of attributes has `{code}` twice: its pages are not the ones asked for"
                );
                return Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER));
            }
            last = Some(code);
            all.push(attribute);
        }
        tell(all.len(), all.len() as u64 + left);
        if count == 0 || is_last {
            return Ok(all);
        }
    }
}

/// The path of the list of attributes in a store view.
///
/// # Errors
/// `usage` where the interface has none.
pub fn path(service: &Service<'_>, view: &str) -> Result<String, Failure> {
    let dialect = service.settings.dialect;
    let path = dialect.attributes.ok_or_else(|| {
        Failure::usage(format!("the interface `{}` has no list of attributes", dialect.name))
            .hint("for a Magento shop, add --api magento")
    })?;
    Ok(target_without_customer(service).path(path, &[("view", view)]))
}

/// The store view of administrators.
pub const ADMINISTRATORS: &str = "all";

/// A place in an attribute set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// Name of the set.
    pub set: String,
    /// Name of the group, if it was asked for and is shown.
    pub group: Option<String>,
}

/// The places of attributes, by their codes. It takes one request for each set; with groups one more for each set, and
/// one for each group until all attributes are found.
///
/// # Errors
/// As [`Service::read`].
pub async fn memberships(
    service: &Service<'_>,
    codes: &BTreeSet<&str>,
    filters: &[Filter],
    with_groups: bool,
    steps: &mut Steps,
) -> Result<BTreeMap<String, Vec<Membership>>, Failure> {
    let mut places: BTreeMap<String, Vec<Membership>> = BTreeMap::new();
    for set in names::sets(service).await? {
        steps.show(&format!("reading attribute sets: {}", set.name));
        let in_set = with(filters, Filter::equal(&["attribute_set_id"], &set.id));
        let mut members = members(service, &in_set, codes).await?;
        if with_groups && !members.is_empty() {
            for group in names::groups(service, &set.id).await?.iter() {
                if members.is_empty() {
                    break;
                }
                let in_group = with(filters, Filter::equal(&["attribute_group_id"], &group.id));
                for code in self::members(service, &in_group, codes).await? {
                    if members.remove(&code) {
                        add(&mut places, code, &set, Some(group));
                    }
                }
            }
        }
        for code in members {
            add(&mut places, code, &set, None);
        }
    }
    for places in places.values_mut() {
        places.sort();
    }
    Ok(places)
}

fn with(filters: &[Filter], one: Filter) -> Vec<Filter> {
    [filters, &[one]].concat()
}

fn add(places: &mut BTreeMap<String, Vec<Membership>>, code: String, set: &Named, group: Option<&Named>) {
    let group = group.map(|group| group.name.trim().to_owned());
    places.entry(code).or_default().push(Membership { set: set.name.trim().to_owned(), group });
}

/// Which of these attributes meet the conditions.
///
/// # Errors
/// As [`Service::read`].
pub(super) async fn members(
    service: &Service<'_>,
    filters: &[Filter],
    codes: &BTreeSet<&str>,
) -> Result<BTreeSet<String>, Failure> {
    let found = read(service, ADMINISTRATORS, filters, Some("frontend_input"), |_, _| ()).await?;
    let found = found.iter().map(|attribute| Attribute(attribute).code());
    Ok(found.filter(|code| codes.contains(code)).map(str::to_owned).collect())
}
