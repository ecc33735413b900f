//! `storefront quote add-item`

use clap::Args;
use serde_json::{Map, Number, Value};

use super::questions;
use crate::cli::field_flags::{FieldArgs, FieldFlags, parse_label_number};
use crate::cli::{CustomerChoice, OperationArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::commands;
use crate::input::Draft;
use crate::ops::customers::with_id;
use crate::ops::{Operation, RunFuture, add_item};
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::interface::fields::Table;
use storefront_core::lint;
use storefront_core::operation::{OperationSpec, QUOTE_ADD_ITEM};
use storefront_core::text::exact_json;

/// Flags of `quote add-item`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront quote add-item --sandbox --sku mug-blue --qty 2 --quote-id 1
  storefront quote add-item --sandbox --sku cap --qty 1 --quote-id 1 --option 93=50
  storefront template quote-add-item | storefront quote add-item --sandbox -i - --qty 5")]
pub struct AddItemArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The item.
    #[command(flatten)]
    pub item: FieldArgs<Item>,
    /// Option of a configurable product, as OPTION_ID=OPTION_VALUE
    #[arg(long = "option", value_name = "OPTION_ID=OPTION_VALUE", num_args = 1..)]
    #[arg(help_heading = Item::HEADING, value_parser = parse_label_number)]
    pub options: Vec<(String, Number)>,
    /// Verify by comparing the cart before and after
    #[arg(long, help_heading = Item::HEADING)]
    pub verify: bool,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// The flags of an item.
#[derive(Debug, Clone)]
pub struct Item;

impl FieldFlags for Item {
    const HEADING: &'static str = "Item";
    const TABLE: Table = |tables| tables.cart_item;
    const FLAGS: &'static str = "sku qty quote-id";
}

/// Reads the input and adds the item; on a terminal, what is not named is asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &AddItemArgs) -> Result<(), Failure> {
    let is_named = |name: &str| args.item.named.contains_key(name);
    let is_complete = is_named("sku") && is_named("qty");
    commands::run_records(session, args, async |document| {
        if document.is_none() && !is_complete && session.prompt().can_ask() {
            let ask = async |service: &Service<'_>| {
                questions::add_item::<AddItemArgs>(service, &args.item.named).await
            };
            return commands::with_customer(session, ask).await;
        }
        commands::run_one(session, args, document).await
    })
    .await
}

impl Operation for AddItemArgs {
    fn spec(&self) -> &'static OperationSpec {
        &QUOTE_ADD_ITEM
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        fields.extend(self.item.named.clone());
        if !self.options.is_empty() {
            let option = |(id, value): &(String, Number)| {
                exact_json::object([
                    ("option_id", id.as_str().into()),
                    ("option_value", value.clone().into()),
                ])
            };
            let options: Value = self.options.iter().map(option).collect();
            fields.insert(
                "product_option".to_owned(),
                exact_json::object([(
                    "extension_attributes",
                    exact_json::object([("configurable_item_options", options)]),
                )]),
            );
        }
        if fields.is_empty() {
            return Err(Failure::usage("no item given").hint("use --sku and --qty, or --input FILE"));
        }
        Ok(())
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        lint::refuse_item(&draft.fields, &draft.names).map(|()| Vec::new())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async { add_item::perform(&with_id(service).await?, draft, self.verify).await })
    }
}
