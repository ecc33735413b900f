//! `storefront product export`: values of products as a sheet that `product set` takes.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};

use crate::cli::hint::for_command;
use crate::cli::{RequestArgs, ToArgs};
use crate::client::service::Service;
use crate::input::document;
use crate::ops::attribute::names;
use crate::ops::product::search::{self, Room};
use crate::ops::product::{Catalog, export};
use crate::report::export::Export;
use storefront_core::attribute::Named;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::MAX_PAGE;
use storefront_core::product::attribute::Attributes;
use storefront_core::product::{ALL, Product};
use storefront_core::sheet::cells::{self, Cell};
use storefront_core::sheet::exported::{EXPORTED, Mark};

/// Flags of `product export`.
#[derive(Debug, Args)]
#[command(
    after_help = "One row is one product. Edit the cells, and give the sheet to `product set -i`. A row that was not
edited is not sent, an edited one only while the shop still has what was exported. A value of a
store view that is the same for all is an empty cell.

Examples:
  storefront product export mug-blue cap --attributes color,name --sandbox --api magento
  storefront product export --set Default --attributes color --to colors.csv --sandbox --api magento
  storefront product export cap --attributes name --store-view fr --sandbox --api magento"
)]
pub struct ExportArgs {
    /// SKUs of products
    #[arg(value_name = "SKU", value_parser = NonEmptyStringValueParser::new())]
    #[arg(required_unless_present_any = ["skus", "set"], conflicts_with_all = ["skus", "set"])]
    pub sku: Vec<String>,
    /// Export the products in FILE: a SKU a line, or the column `sku` of a sheet
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    pub skus: Option<PathBuf>,
    /// Export all products of this attribute set
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub set: Option<String>,
    /// Attributes, by code or label
    #[arg(long, value_name = "CODE", required = true, value_delimiter = ',', num_args = 1..)]
    pub attributes: Vec<String>,
    /// Where it goes.
    #[command(flatten)]
    pub to: ToArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Writes the sheet.
///
/// # Errors
/// `guard` where the file exists; `usage` for products and attributes that the shop does not have; as [`Service::read`].
pub async fn run(service: &Service<'_>, args: &ExportArgs) -> Result<(), Failure> {
    let export = Export::begin(service.session.report, &args.to)?;
    let catalog = Catalog::default();
    let scope = service.session.global.flags.store_view.as_deref().unwrap_or(ALL);
    if scope != ALL {
        catalog.website_of(service, scope).await?;
    }
    let titles = args.attributes.iter().map(String::as_str).filter(|title| !title.trim().is_empty());
    let (codes, attributes) = export::attributes(service, &catalog, titles).await?;
    let mut run = ExportRun { service, scope, codes, attributes, export, products: 0 };
    run.export.titles(&titles_of(&run.codes))?;
    match (&args.set, &args.skus) {
        (Some(set), _) => run.of_set(set).await?,
        (None, Some(file)) => run.named(&skus(file)?).await?,
        (None, None) => run.named(&args.sku).await?,
    }
    run.finish()
}

/// The SKUs of a file.
fn skus(file: &std::path::Path) -> Result<Vec<String>, Failure> {
    let text = document::read_text(file, None)?;
    let name = document::name(file);
    let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let rows: Result<Vec<csv::StringRecord>, _> = rows.records().collect();
    let rows = rows.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let is_title = |cell: &str| cells::clean(cell).eq_ignore_ascii_case("sku");
    let column = rows.first().and_then(|header| header.iter().position(is_title));
    let rows = rows.iter().skip(usize::from(column.is_some()));
    let skus =
        rows.filter_map(|row| row.get(column.unwrap_or(0))).map(|cell| cells::value(cell).into_owned());
    let skus: Vec<String> = skus.filter(|sku| !sku.is_empty()).collect();
    if skus.is_empty() {
        return Err(Failure::usage(format!("{name} lists no SKUs")));
    }
    Ok(skus)
}

/// A running export.
struct ExportRun<'a> {
    service: &'a Service<'a>,
    scope: &'a str,
    codes: Vec<String>,
    attributes: Attributes,
    export: Export<'a>,
    products: u64,
}

/// The titles of the columns.
fn titles_of(codes: &[String]) -> Vec<&str> {
    let codes = codes.iter().map(String::as_str);
    ["sku", "store_view"].into_iter().chain(codes).chain([EXPORTED]).collect()
}

impl ExportRun<'_> {
    /// Writes the products of an attribute set, a page at a time.
    async fn of_set(&mut self, name: &str) -> Result<(), Failure> {
        let sets = names::sets(self.service).await?;
        let set = Named::find(&sets, "attribute set", name)?.id.clone();
        let mut last = 0;
        loop {
            let page = export::page_of_set(self.service, self.scope, &set, last).await?;
            let of_all = match self.scope {
                ALL => Vec::new(),
                _ => export::page_of_set(self.service, ALL, &set, last).await?,
            };
            self.write(&page, &of_all)?;
            let greatest = page.iter().filter_map(|one| one["id"].as_u64()).max();
            match greatest.filter(|greatest| page.len() >= MAX_PAGE && *greatest > last) {
                Some(greatest) => last = greatest,
                None => return Ok(()),
            }
        }
    }

    /// Writes the named products, as many at a time as a request takes.
    async fn named(&mut self, skus: &[String]) -> Result<(), Failure> {
        let mut left = skus;
        while !left.is_empty() {
            let mut room = Room::of(self.service, self.scope)?;
            let count = left.iter().take_while(|sku| room.takes(sku)).count();
            let (now, later) = left.split_at(count);
            left = later;
            let now: Vec<&str> = now.iter().map(String::as_str).collect();
            let shown = search::shown(self.service, self.scope, &now).await?;
            let of_all = match self.scope {
                ALL => Vec::new(),
                _ => search::shown(self.service, ALL, &now).await?,
            };
            let missing: Vec<&str> =
                now.iter().filter(|sku| search::named(&shown, sku).is_none()).copied().collect();
            if !missing.is_empty() {
                let missing = missing.join("`, `");
                return Err(Failure::usage(format!("the shop has no product `{missing}`")));
            }
            let in_order = now.iter().filter_map(|sku| search::named(&shown, sku)).cloned();
            self.write(&in_order.collect::<Vec<_>>(), &of_all)?;
        }
        Ok(())
    }

    fn write(&mut self, shown: &[Value], of_all: &[Value]) -> Result<(), Failure> {
        let titles = titles_of(&self.codes);
        let codes: Vec<&str> = self.codes.iter().map(String::as_str).collect();
        for one in shown {
            let Some(product) = Product::of(one, &self.attributes) else { continue };
            let of_all = search::named(of_all, &product.sku).and_then(|it| Product::of(it, &self.attributes));
            let of_all = of_all.as_ref().map(|of_all| &of_all.values);
            let texts = export::cells(&codes, &self.attributes, &product.values, of_all);
            let now = codes.iter().copied().zip(texts.iter().map(|text| text.as_deref().unwrap_or_default()));
            let mark = Mark::of(now, [false; 2]);
            let view = if self.scope == ALL { "" } else { self.scope };
            let mut row = vec![Cell::Value(product.sku.clone()), Cell::Plain(view.to_owned())];
            row.extend(texts.into_iter().map(|text| text.map_or(Cell::Lost, Cell::Value)));
            row.push(Cell::Plain(mark.to_string()));
            self.export.row(&product.sku, &titles, &row)?;
            self.products += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        let Self { service, export, products, .. } = self;
        let report = service.session.report;
        let file = export.finish()?;
        if let (Some(file), true) = (&file, report.is_json()) {
            return report.json(&json!({"file": file, "products": products}));
        }
        let Some(file) = file else { return Ok(()) };
        let count = if products == 1 { "1 product".to_owned() } else { format!("{products} products") };
        report.status(&format!("Exported {count} to {file}"));
        let set = storefront("product set").arg("-i").arg(&*file);
        let next = hint!("edit it, and write what you changed with ", set);
        report.status(&for_command(next, service.session.global).to_string());
        Ok(())
    }
}
