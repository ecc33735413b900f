//! An order as the one way to write sees it: its two addresses and its comments.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::client::service::Service;
use crate::ops::orders::read_by_id;
use crate::write::owner::{Owner, Shown};
use storefront_core::absent::Absent;
use storefront_core::effect::Kind;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::order::{Order, OrderCalls};

/// An order, and what was read of it.
pub struct OrderOwner<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// The calls on it.
    pub calls: OrderCalls,
    /// As it was read before the first call.
    pub order: Order,
    /// How long it is looked at until it shows a change.
    pub settle: Duration,
}

/// The answer to a saved address repeats what was sent, and that to a comment is `true`: only a read shows what is stored.
impl Owner for OrderOwner<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            match read_by_id(self.service, &self.calls, self.order.id).await {
                Ok(order) => Ok(Shown::Whole(order.document())),
                Err(failure) if failure.absent == Some(Absent::Entity) => {
                    Ok(Shown::Gone(format!("order {} is not there any more", self.order.number)))
                }
                Err(failure) => Err(failure),
            }
        })
    }

    fn settle(&self) -> Duration {
        self.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Order.noun()
    }

    fn look_hint(&self) -> Hint {
        hint!(storefront("order show").arg(&*self.order.number))
    }
}
