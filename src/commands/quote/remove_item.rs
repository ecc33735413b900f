//! `storefront quote remove-item`

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
use storefront_core::interface::fields::Table;
use storefront_core::operation::{OperationSpec, QUOTE_REMOVE_ITEM, scalar};

/// Flags of `quote remove-item`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront quote remove-item --sandbox --api magento --item 1 --yes
  storefront quote remove-item --sandbox --api magento --sku mug-blue --dry-run
  storefront template quote-remove-item | storefront quote remove-item --sandbox --api magento -yi -")]
pub struct RemoveItemArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The item.
    #[command(flatten)]
    pub item: FieldArgs<StoredItem>,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// The flags that name an item.
#[derive(Debug, Clone)]
pub struct StoredItem;

impl FieldFlags for StoredItem {
    const HEADING: &'static str = "Item";
    const TABLE: Table = |tables| tables.stored_item;
    const FLAGS: &'static str = "item=item_id sku quote-id";
}

impl Operation for RemoveItemArgs {
    fn spec(&self) -> &'static OperationSpec {
        &QUOTE_REMOVE_ITEM
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
            return Err(Failure::usage("no item given").hint("use --item ID or --sku SKU, or --input FILE"));
        }
        Ok(Vec::new())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async {
            let service = with_id(service).await?;
            cart_state::remove_item(&service, draft).await
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

/// Reads the input and removes the item; on a terminal, an item that is not named is asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &RemoveItemArgs) -> Result<(), Failure> {
    let is_named = |name: &str| args.item.named.contains_key(name);
    let is_complete = is_named("item_id") || is_named("sku");
    commands::run_records(session, args, async |document| {
        let asks = document.is_none() && !is_complete && session.prompt().can_ask();
        if asks && session.dialect.carts.is_some() {
            let ask = async |service: &Service<'_>| {
                item_dialogue::run::<RemoveItemArgs>(service, &args.item.named, Answers::Item).await
            };
            return commands::with_customer(session, ask).await;
        }
        commands::run_one(session, args, document).await
    })
    .await
}
