//! Products and the values of their attributes, in one store view or for all.

pub mod back;
mod catalog;
pub mod count;
pub mod export;
mod owner;
pub mod search;
pub mod set;
pub mod sheet;

use serde_json::{Map, Value};

use crate::client::service::Service;
pub use catalog::Catalog;
use storefront_core::failure::Failure;
use storefront_core::operation::scalar;
use storefront_core::product::ALL;
use storefront_core::product::asked::{Asked, Target, push};
use storefront_core::product::attribute::{Attributes, Scope};

/// What a record asks for, as the shop understands it.
#[derive(Debug)]
pub struct Wanted {
    /// The SKU as it is written.
    pub sku: String,
    /// `all`, or the code of a store view.
    pub scope: String,
    /// What each value is to become.
    pub targets: Vec<Target>,
    /// The attributes that it names.
    pub attributes: Attributes,
}

/// Finds the attributes and options that a record names. Each attribute is read once a run.
///
/// # Errors
/// `usage` for what the shop does not have, or cannot have in this store view; as [`Service::read`].
pub async fn wanted(
    service: &Service<'_>,
    catalog: &Catalog,
    fields: &Map<String, Value>,
) -> Result<Wanted, Failure> {
    let sku = scalar(fields.get("sku")).map(|sku| sku.trim().to_owned()).unwrap_or_default();
    let view = scalar(fields.get("store_view")).map(|view| view.trim().to_owned());
    let scope = view.unwrap_or_else(|| ALL.to_owned());
    if scope != ALL {
        catalog.website_of(service, &scope).await?;
    }
    let mut targets = Vec::new();
    let mut attributes = Attributes::default();
    let mut problems = Vec::new();
    for asked in Asked::of(fields) {
        let attribute = match catalog.attribute(service, asked.title).await? {
            Ok(attribute) => attribute,
            Err(refused) => {
                problems.push(refused);
                continue;
            }
        };
        let target = asked.target(&attribute).and_then(|target| push(&mut targets, target));
        let target = match (target, attribute.scope) {
            (Ok(()), Scope::Global) if scope != ALL => {
                Err("it is the same in all store views, and would be changed in all of them".to_owned())
            }
            (target, _) => target,
        };
        problems.extend(target.err().map(|what| Failure::usage(format!("`{}`: {what}", asked.title))));
        attributes.insert(attribute);
    }
    match problems
        .into_iter()
        .reduce(|one, other| Failure { message: format!("{}; {}", one.message, other.message), ..one })
    {
        Some(problems) => Err(problems),
        None => Ok(Wanted { sku, scope, targets, attributes }),
    }
}
