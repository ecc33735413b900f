//! `storefront product show`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;

use crate::cli::RequestArgs;
use crate::client::service::Service;
use crate::ops::product::{Catalog, search};
use crate::report::fields::format_value;
use crate::report::style::{OutputStyle, TextStyle, cell, table};
use storefront_core::failure::Failure;
use storefront_core::product::attribute::FIELDS;
use storefront_core::product::attribute::{Attribute, Attributes};
use storefront_core::product::{ALL, Product};
use storefront_core::text::sanitize::sanitize_line;

/// Flags of `product show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  storefront product show mug-blue --sandbox --api magento
  storefront product show mug-blue --store-view fr --sandbox --api magento
  storefront product show mug-blue --sandbox --api magento --jq '.custom_attributes[]'")]
pub struct ShowArgs {
    /// SKU of the product
    #[arg(value_name = "SKU", value_parser = NonEmptyStringValueParser::new())]
    pub sku: String,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Prints a product as it came under `-o json`; else the values that `product set` sets, for all and in each store view.
///
/// # Errors
/// `usage` if the shop has no such product; as [`Service::read`].
pub async fn run(service: &Service<'_>, sku: &str) -> Result<(), Failure> {
    let report = service.session.report;
    let catalog = Catalog::default();
    let view = service.session.global.flags.store_view.as_deref();
    let scope = view.unwrap_or(ALL);
    if report.is_json() {
        return report.json(&search::whole(service, scope, sku).await?);
    }
    let first = search::read(service, scope, sku, &Attributes::default()).await?;
    let attributes = catalog.of_set(service, &first.set).await?;
    let scopes = match view {
        Some(view) => vec![view.to_owned()],
        None => [vec![ALL.to_owned()], catalog.views(service).await?].concat(),
    };
    let mut shown = Vec::new();
    for scope in &scopes {
        shown.push(search::read(service, scope, &first.sku, &attributes).await?);
    }
    let text = text(&first, &attributes, &scopes, &shown, report.stdout_style);
    report.stdout(text)
}

/// A table with a column for each scope. A value of a store view that equals that of all store views is left out.
fn text(
    first: &Product,
    attributes: &Attributes,
    scopes: &[String],
    shown: &[Product],
    screen: OutputStyle,
) -> String {
    let value = |product: &Product, attribute: &Attribute| -> Option<Value> {
        let value = product.values.get(&attribute.code)?;
        Some(attributes.in_words(&attribute.code, value.clone()))
    };
    let row = |attribute: &Attribute| {
        let of_first = value(&shown[0], attribute);
        let others = shown.iter().enumerate().map(|(at, product)| match value(product, attribute) {
            of_view if at > 0 && of_view == of_first => String::new(),
            of_view => of_view.map_or_else(String::new, |value| format_value(Some(&value))),
        });
        let head = cell(TextStyle::Head, sanitize_line(&attribute.code));
        let label = sanitize_line(&attribute.label).into();
        [head, label].into_iter().chain(others.map(Into::into)).collect::<Vec<_>>()
    };
    let own = FIELDS.iter().filter_map(|code| Attribute::field(code));
    let own: Vec<Attribute> = own.collect();
    let of_set = attributes.iter().filter(|attribute| !FIELDS.contains(&&*attribute.code));
    let rows = own.iter().chain(of_set).map(row);
    let titles: Vec<String> = ["CODE", "LABEL"]
        .into_iter()
        .map(str::to_owned)
        .chain(scopes.iter().map(|scope| scope.to_uppercase()))
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let head =
        screen.paint(TextStyle::Head, &sanitize_line(&format!("{} (product {})", first.sku, first.id)));
    format!("{head}\n\n{}\n", table(screen, &titles, rows))
}
