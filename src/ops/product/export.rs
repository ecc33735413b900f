//! The values of products as rows of a sheet that `product set` takes.

use serde_json::{Map, Value};

use super::{Catalog, search};
use crate::client::service::Service;
use crate::ops::list::read_page;
use storefront_core::failure::Failure;
use storefront_core::interface::request::{Bearer, Filter, MAX_PAGE, Request, sorted_query, with_fields};
use storefront_core::product::attribute::Attributes;
use storefront_core::sheet::address::Row;

/// The cells of a product in the columns of these attributes; `None` for a value that no cell can hold. A value that a
/// store view shares with all views is empty.
pub fn cells(
    codes: &[&str],
    attributes: &Attributes,
    values: &Map<String, Value>,
    of_all: Option<&Map<String, Value>>,
) -> Vec<Option<String>> {
    let cell = |code: &&str| match of_all {
        Some(of_all) if of_all.get(*code) == values.get(*code) => Some(String::new()),
        _ => attributes.cell(code, values),
    };
    codes.iter().map(cell).collect()
}

/// The attributes with these titles, in their order.
///
/// # Errors
/// `usage` for one that is missing, or whose values are not written; as [`Service::read`].
pub async fn attributes<'t>(
    service: &Service<'_>,
    catalog: &Catalog,
    titles: impl Iterator<Item = &'t str>,
) -> Result<(Vec<String>, Attributes), Failure> {
    let mut codes = Vec::new();
    let mut found = Attributes::default();
    for title in titles {
        let attribute = catalog.attribute(service, title.trim()).await??;
        if !codes.contains(&attribute.code) {
            codes.push(attribute.code.clone());
        }
        found.insert(attribute);
    }
    Ok((codes, found))
}

/// The attributes of an exported row.
///
/// # Errors
/// As [`attributes`].
pub async fn attributes_of(
    service: &Service<'_>,
    catalog: &Catalog,
    row: &Row,
) -> Result<Attributes, Failure> {
    let titles = row.cells.iter().map(|(title, _)| &**title);
    Ok(attributes(service, catalog, titles).await?.1)
}

/// The products of an attribute set after the one with this id, a page of them.
///
/// # Errors
/// As [`Service::read`].
pub async fn page_of_set(
    service: &Service<'_>,
    scope: &str,
    set: &str,
    after: u64,
) -> Result<Vec<Value>, Failure> {
    let mut filters = vec![Filter::equal(&["attribute_set_id"], set)];
    filters.extend((after > 0).then(|| Filter::above(&["entity_id"], after)));
    let query = with_fields(&sorted_query(&filters, "entity_id", MAX_PAGE), search::FIELDS);
    let request = Request::get(format!("{}?{query}", search::path(service, scope)?), Bearer::Admin);
    Ok(read_page(service, &request, "products", MAX_PAGE).await?.records)
}
