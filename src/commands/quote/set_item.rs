//! `storefront quote set-item`

use clap::Args;
use serde_json::{Map, Value};

use super::item_dialogue::{self, Answers};
use crate::cli::field_flags::{FieldArgs, FieldFlags};
use crate::cli::{CustomerChoice, OperationArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::commands;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::customers::with_id;
use crate::ops::{Operation, Resolved, RunFuture, cart_state};
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::fields::Table;
use storefront_core::lint;
use storefront_core::operation::{OperationSpec, QUOTE_SET_ITEM, scalar};
use storefront_core::profile::equal::same_value;

/// Flags of `quote set-item`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront quote set-item --sandbox --api magento --item 1 --qty 3
  storefront quote set-item --sandbox --api magento --sku mug-blue --qty 5 --dry-run
  storefront template quote-set-item | storefront quote set-item --sandbox --api magento -i -")]
pub struct SetItemArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The item and its quantity.
    #[command(flatten)]
    pub item: FieldArgs<Quantity>,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// The flags of an item and its quantity.
#[derive(Debug, Clone)]
pub struct Quantity;

impl FieldFlags for Quantity {
    const HEADING: &'static str = "Item";
    const TABLE: Table = |tables| tables.item_quantity;
    const FLAGS: &'static str = "item=item_id sku qty quote-id";
}

impl Operation for SetItemArgs {
    fn spec(&self) -> &'static OperationSpec {
        &QUOTE_SET_ITEM
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        fields.extend(self.item.named.clone());
        Ok(())
    }

    fn sets_what_is_compared(&self) -> bool {
        !self.item.named.is_empty()
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        if ["item_id", "sku"].iter().all(|name| scalar(draft.fields.get(*name)).is_none()) {
            return Err(Failure::usage("no item given")
                .hint("use --item ID or --sku SKU with --qty N, or --input FILE"));
        }
        let is_zero = same_value("qty", draft.fields.get("qty"), Some(&0.into()));
        let refused = lint::refuse_quantity(&draft.fields, &draft.names);
        if is_zero {
            // The shop would set 1.
            let hint = hint!("remove the item with ", storefront("quote remove-item"));
            return refused.map(|()| Vec::new()).map_err(|failure| failure.hint(hint));
        }
        refused.map(|()| Vec::new())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async {
            let service = with_id(service).await?;
            cart_state::set_item(&service, draft).await
        })
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        _: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(
            async move { cart_state::resolve_unknown(&with_id(service).await?, self.spec(), ahead).await },
        )
    }
}

/// Reads the input and sets the quantity; on a terminal, what is missing is asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &SetItemArgs) -> Result<(), Failure> {
    let is_named = |name: &str| args.item.named.contains_key(name);
    let is_complete = (is_named("item_id") || is_named("sku")) && is_named("qty");
    commands::run_records(session, args, async |document| {
        let asks = document.is_none() && !is_complete && session.prompt().can_ask();
        if asks && session.dialect.carts.is_some() {
            let ask = async |service: &Service<'_>| {
                item_dialogue::run::<SetItemArgs>(service, &args.item.named, Answers::ItemAndQuantity).await
            };
            return commands::with_customer(session, ask).await;
        }
        commands::run_one(session, args, document).await
    })
    .await
}
