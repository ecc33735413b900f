//! The values of a product are set back.

use futures_util::future::LocalBoxFuture;

use super::back::{Back, OPERATION, Plan, Subject};
use crate::client::service::Service;
use crate::ops::product::back;
use crate::state::LockName;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;
use storefront_core::product::folded_sku;

/// A product whose values are set back if they are still as they were written.
pub struct ProductSubject<'a> {
    service: &'a Service<'a>,
    whole: Effect,
    sku: String,
}

impl<'a> ProductSubject<'a> {
    /// Finds it, or says in words that it is gone.
    ///
    /// # Errors
    /// As [`back::sku`].
    pub async fn find(service: &'a Service<'a>, whole: Effect) -> Result<Result<Self, String>, Failure> {
        Ok(match back::sku(service, &whole).await? {
            Some(sku) => Ok(Self { service, whole, sku }),
            None => Err(format!("{} is gone", whole.owner)),
        })
    }
}

impl Subject for ProductSubject<'_> {
    fn lock(&self) -> Option<LockName> {
        Some(LockName::product(&folded_sku(&self.sku)))
    }

    fn plan(&self) -> LocalBoxFuture<'_, Result<Plan<'_>, Failure>> {
        Box::pin(async {
            let back = match back::back(self.service, &self.whole).await? {
                Ok(back) => back,
                Err(left) => return Ok(Err(left)),
            };
            let back::Back { ready, left, notes } = back;
            let changes = ready.changes();
            let preview = ready.preview(OPERATION);
            let send = Box::pin(ready.send(OPERATION));
            Ok(Ok(Back { changes, left, warnings: notes, deleted: None, preview, send }))
        })
    }
}
