//! Finds products by their SKUs: as many in a request as its URL can hold.

use serde_json::Value;

use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::ops::list::read_page;
use crate::ops::target_without_customer;
use storefront_core::failure::Failure;
use storefront_core::interface::request::{
    Bearer, Filter, MAX_PAGE, Request, any_query, search_query, segment, with_fields,
};
use storefront_core::operation::scalar;
use storefront_core::product::attribute::Attributes;
use storefront_core::product::{Product, is_same_sku};

/// How many SKUs a request has at most.
pub const MAX_SKUS: usize = 100;

/// A URL length that every server accepts.
const MAX_URL: usize = 4096;

/// How many SKUs with a comma, each of which needs its own condition, a request has at most.
const MAX_SINGLE: usize = 8;

/// What is read of a product.
pub const FIELDS: &str = "items[id,sku,name,weight,status,attribute_set_id,custom_attributes,extension_attributes[website_ids]],total_count";

/// The path of products in a scope.
///
/// # Errors
/// `usage` where the interface has none.
pub fn path(service: &Service<'_>, scope: &str) -> Result<String, Failure> {
    let dialect = service.settings.dialect;
    let path = dialect.products.ok_or_else(|| {
        Failure::usage(format!("the interface `{}` has no products", dialect.name))
            .hint("for a Magento shop, add --api magento")
    })?;
    Ok(target_without_customer(service).path(path, &[("view", scope)]))
}

/// How much room SKUs take in a request.
#[derive(Debug)]
pub struct Room {
    left: usize,
    count: usize,
    single: usize,
}

impl Room {
    /// The room in a request without SKUs.
    ///
    /// # Errors
    /// As [`path`].
    pub fn of(service: &Service<'_>, scope: &str) -> Result<Self, Failure> {
        let request = request(service, scope, &[])?;
        Ok(Self { left: MAX_URL.saturating_sub(service.client.url(&request).len()), count: 0, single: 0 })
    }

    /// Whether there is room for another SKU, which is then taken.
    pub fn takes(&mut self, sku: &str) -> bool {
        let is_single = sku.contains(',');
        // A condition of its own has three parameters.
        let length = segment(sku).len() + if is_single { 250 } else { segment(",").len() };
        let is_full = self.count >= MAX_SKUS || is_single && self.single >= MAX_SINGLE;
        // Every request takes at least one SKU.
        if self.count > 0 && (is_full || length > self.left) {
            return false;
        }
        self.left = self.left.saturating_sub(length);
        self.count += 1;
        self.single += usize::from(is_single);
        true
    }
}

fn request(service: &Service<'_>, scope: &str, skus: &[&str]) -> Result<Request, Failure> {
    let (single, listed): (Vec<&str>, Vec<&str>) = skus.iter().partition(|sku| sku.contains(','));
    let listed = Some(listed.join(",")).filter(|listed| !listed.is_empty() || single.is_empty());
    let listed = listed.map(|listed| ("in", listed));
    let conditions: Vec<(&str, String)> =
        listed.into_iter().chain(single.into_iter().map(|sku| ("eq", sku.to_owned()))).collect();
    let query = any_query("sku", &conditions, FIELDS, MAX_PAGE);
    Ok(Request::get(format!("{}?{query}", path(service, scope)?), Bearer::Admin))
}

/// The products with these SKUs as a scope shows them, each once.
///
/// # Errors
/// As [`Service::read`].
pub async fn shown(service: &Service<'_>, scope: &str, skus: &[&str]) -> Result<Vec<Value>, Failure> {
    let mut skus = skus.to_vec();
    skus.sort_unstable();
    skus.dedup();
    let page = read_page(service, &request(service, scope, &skus)?, "products", MAX_PAGE).await?;
    Ok(page.records)
}

/// The product with this SKU among those of a reply.
pub fn named<'a>(shown: &'a [Value], sku: &str) -> Option<&'a Value> {
    let is_it = |one: &&Value| one["sku"].as_str().is_some_and(|own| is_same_sku(own, sku));
    // A product that is spelled exactly so comes first.
    shown.iter().find(|one| one["sku"] == sku).or_else(|| shown.iter().find(is_it))
}

/// Reads the product with this SKU in a scope.
///
/// # Errors
/// `usage` if the shop has no such product; as [`Service::read`].
pub async fn read(
    service: &Service<'_>,
    scope: &str,
    sku: &str,
    attributes: &Attributes,
) -> Result<Product, Failure> {
    let shown = shown(service, scope, &[sku]).await?;
    let found = named(&shown, sku).ok_or_else(|| unknown(sku, &shown))?;
    Product::of(found, attributes).ok_or_else(unexpected)
}

/// The product with this id in a scope; `None` if it is gone.
///
/// # Errors
/// As [`Service::read`].
pub async fn by_id(service: &Service<'_>, scope: &str, id: &str) -> Result<Option<Value>, Failure> {
    let query = with_fields(&search_query(&[Filter::equal(&["entity_id"], id)], MAX_PAGE), FIELDS);
    let request = Request::get(format!("{}?{query}", path(service, scope)?), Bearer::Admin);
    let shown = read_page(service, &request, "products", MAX_PAGE).await?.records;
    Ok(shown.into_iter().find(|one| scalar(one.get("id")).as_deref() == Some(id)))
}

/// Reads the product with this SKU as the service shows it.
///
/// # Errors
/// As [`read`].
pub async fn whole(service: &Service<'_>, scope: &str, sku: &str) -> Result<Value, Failure> {
    let query = search_query(&[Filter::equal(&["sku"], sku)], MAX_PAGE);
    let request = Request::get(format!("{}?{query}", path(service, scope)?), Bearer::Admin);
    let shown = read_page(service, &request, "products", MAX_PAGE).await?.records;
    let found = named(&shown, sku).cloned();
    found.ok_or_else(|| unknown(sku, &shown))
}

fn unknown(sku: &str, shown: &[Value]) -> Failure {
    let others = shown.iter().filter_map(|one| one["sku"].as_str()).collect::<Vec<_>>().join("`, `");
    let others = if others.is_empty() { String::new() } else { format!("; it has `{others}`") };
    Failure::usage(format!("the shop has no product `{sku}`{others}"))
}

fn unexpected() -> Failure {
    Failure::unexpected_reply("unexpected response: not a product").hint(LOOK_CLOSER)
}
