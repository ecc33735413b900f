//! `storefront quote clear`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value};

use crate::cli::{CustomerChoice, OperationArgs};
use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::customers::with_id;
use crate::ops::{Operation, Resolved, RunFuture, cart_state};
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::operation::{OperationSpec, QUOTE_CLEAR};

/// Flags of `quote clear`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront quote clear --sandbox --api magento --yes
  storefront quote clear --sandbox --api magento --customer 2 --dry-run
  storefront template quote-clear | storefront quote clear --sandbox --api magento --yes -i -")]
pub struct ClearArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Quote ID
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub quote_id: Option<String>,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

impl Operation for ClearArgs {
    fn spec(&self) -> &'static OperationSpec {
        &QUOTE_CLEAR
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        fields.extend(self.quote_id.iter().map(|id| ("quote_id".to_owned(), id.as_str().into())));
        Ok(())
    }

    fn lint(&self, _: &Draft) -> Result<Warnings, Failure> {
        Ok(Vec::new())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async {
            let service = with_id(service).await?;
            cart_state::clear(&service, draft).await
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
