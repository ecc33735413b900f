//! `storefront product set`

use std::rc::Rc;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value, json};

use super::dialogue;
use crate::cli::OperationArgs;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::commands::{self, grammar};
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::product::Catalog;
use crate::ops::product::set;
use crate::ops::product::sheet::Sheet;
use crate::ops::{Examiner, Operation, Resolved, RunFuture};
use storefront_core::check::body::Warnings;
use storefront_core::check::field_names::FieldNames;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::StoreView;
use storefront_core::operation::{OperationSpec, PRODUCT_SET, scalar};
use storefront_core::product::asked::Asked;
use storefront_core::product::attribute::FIELDS;
use storefront_core::sheet::cells::CLEARED;

/// Flags of `product set`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Attributes are named by code or label, options by label. A value is for all store views, unless --store-view or
the column `store_view` names one. An empty cell changes nothing; __EMPTY__VALUE__ clears.

Examples:
  storefront product set mug-blue color=Red --sandbox --api magento
  storefront product set cap name=Casquette --store-view fr --sandbox --api magento -n
  storefront template product-set | storefront product set --sandbox --api magento -i -"
)]
pub struct SetArgs {
    /// SKU of the product
    #[arg(value_name = "SKU", value_parser = NonEmptyStringValueParser::new())]
    pub sku: Option<String>,
    /// Value of an attribute; several options are separated by |
    #[arg(value_name = "CODE=VALUE", value_parser = assignment)]
    pub values: Vec<(String, String)>,
    /// Clear a value
    #[arg(long, value_name = "CODE", num_args = 1.., value_parser = NonEmptyStringValueParser::new())]
    pub clear: Vec<String>,
    /// Add an option to an attribute that takes several
    #[arg(long, value_name = "CODE=LABEL", num_args = 1.., value_parser = assignment)]
    pub add: Vec<(String, String)>,
    /// Remove an option from an attribute that takes several
    #[arg(long, value_name = "CODE=LABEL", num_args = 1.., value_parser = assignment)]
    pub remove: Vec<(String, String)>,
    /// Write to store views of products with a special price, which begins today then
    #[arg(long)]
    pub allow_special_price: bool,
    /// Take numbers without the zeros, + and blanks that a spreadsheet removes; the message that needs it names it
    #[arg(long, hide = true)]
    pub allow_spreadsheet_loss: bool,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
    /// The store view that the command line names.
    #[arg(skip)]
    pub store_view: Option<String>,
    /// What was read of the shop.
    #[arg(skip)]
    pub catalog: Rc<Catalog>,
}

/// Reads `CODE=VALUE`.
///
/// # Errors
/// What was expected.
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((code, value)) if !code.trim().is_empty() && !value.is_empty() => {
            Ok((code.trim().to_owned(), value.to_owned()))
        }
        Some((code, "")) if !code.trim().is_empty() => {
            Err(format!("an empty value changes nothing; --clear {} clears", code.trim()))
        }
        _ => Err("expected CODE=VALUE".to_owned()),
    }
}

impl SetArgs {
    /// The values that flags name, each with the title that it has in an input.
    fn named(&self) -> Vec<(String, String)> {
        let mut named: Vec<(String, String)> = self.values.clone();
        named.extend(self.clear.iter().map(|code| (code.clone(), CLEARED.to_owned())));
        for (flags, end) in [(&self.add, ":add"), (&self.remove, ":remove")] {
            for (code, label) in flags {
                let title = format!("{code}{end}");
                let label = label.replace('|', "\\|");
                match named.iter_mut().find(|(known, _)| *known == title) {
                    Some((_, labels)) => *labels = format!("{labels}|{label}"),
                    None => named.push((title, label)),
                }
            }
        }
        named
    }
}

impl Operation for SetArgs {
    fn spec(&self) -> &'static OperationSpec {
        &PRODUCT_SET
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        if let Some(sku) = &self.sku {
            fields.insert("sku".to_owned(), sku.as_str().into());
        }
        if let Some(view) = &self.store_view {
            if let Some(other) = scalar(fields.get("store_view")).filter(|other| other.trim() != view) {
                let message =
                    format!("the record is for the store view `{other}`, and the command line for `{view}`");
                return Err(Failure::usage(message).hint("leave out --store-view"));
            }
            fields.insert("store_view".to_owned(), view.as_str().into());
        }
        for (title, value) in self.named() {
            if FIELDS.contains(&&*title) {
                fields.insert(title, value.into());
                continue;
            }
            let list = fields.entry("custom_attributes").or_insert_with(|| json!([]));
            let Value::Array(list) = list else { continue };
            let is_same = |one: &Value| one["attribute_code"].as_str().is_some_and(|it| it.trim() == title);
            list.retain(|one| !is_same(one));
            list.push(json!({"attribute_code": title, "value": value}));
        }
        Ok(())
    }

    fn sets_what_is_compared(&self) -> bool {
        self.sku.is_some() || !self.named().is_empty()
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        if scalar(draft.fields.get("sku")).is_none_or(|sku| sku.trim().is_empty()) {
            return Err(Failure::usage(draft.names.missing("sku")).hint(hint!(
                "use ",
                storefront("product set SKU CODE=VALUE"),
                ", or --input FILE"
            )));
        }
        if let Some(view) = scalar(draft.fields.get("store_view")) {
            StoreView::new(view.trim())?;
        }
        // A row of a sheet whose cells are empty changes nothing.
        if Asked::of(&draft.fields).is_empty() && draft.names == FieldNames::default() {
            return Err(Failure::usage("no value is given").hint(hint!(
                "use ",
                storefront("product set SKU CODE=VALUE"),
                ", or --clear CODE"
            )));
        }
        Ok(Vec::new())
    }

    fn allows_spreadsheet_loss(&self) -> bool {
        self.allow_spreadsheet_loss
    }

    fn examiner<'a>(&'a self, service: &'a Service<'a>) -> Option<Box<dyn Examiner + 'a>> {
        Some(Box::new(Sheet::new(service, &self.catalog)))
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(set::set(service, &self.catalog, draft, self.allow_special_price))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(set::resolve_unknown(service, &self.catalog, draft, ahead))
    }
}

/// Reads the input and sets the values; on a terminal, an attribute and a value are asked for where none is named. The store view of
/// a profile or a variable does not count.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &SetArgs) -> Result<(), Failure> {
    let args = SetArgs { store_view: session.global.flags.store_view.clone(), ..args.clone() };
    commands::run_records(session, &args, async |document| {
        if document.is_none() && args.named().is_empty() && session.prompt().can_ask() {
            return with_service(session, async |service| run_asked(service, &args).await).await;
        }
        commands::run_one(session, &args, document).await
    })
    .await
}

/// Runs the command with what a person answers, and prints it.
async fn run_asked(service: &Service<'_>, args: &SetArgs) -> Result<(), Failure> {
    let line = dialogue::ask(service, args.sku.is_some())?;
    let args = SetArgs { store_view: args.store_view.clone(), ..line.parse(grammar())? };
    commands::run_answered(service, &args, &line).await
}
