//! A product in a scope, as an owner of a write.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::search;
use crate::client::Reply;
use crate::client::service::Service;
use crate::write::owner::{Owner, Shown};
use storefront_core::effect::{Change, Document, Effect, Kind, Look, Sent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, storefront};
use storefront_core::operation::scalar;
use storefront_core::product::attribute::Attributes;
use storefront_core::product::{Product, SALE};
use storefront_core::profile::equal::same_value;
use storefront_core::profile::path::FieldPath;

/// A product in a scope, and what was read of it.
pub struct ProductOwner<'a> {
    pub service: &'a Service<'a>,
    /// `all`, or the code of a store view.
    pub scope: &'a str,
    pub product: &'a Product,
    /// What was read of it, as effects see it.
    pub before: Map<String, Value>,
    pub attributes: &'a Attributes,
    /// The values for all, if values of a store view are cleared: the view then shows them.
    pub of_all: Option<Map<String, Value>>,
    /// Whether a sale may begin.
    pub allows_sale: bool,
}

impl ProductOwner<'_> {
    /// The product of a reply, if it is this one.
    fn shown(&self, reply: &Value) -> Option<Map<String, Value>> {
        let product = Product::of(reply, self.attributes)?;
        (product.id == self.product.id).then(|| product.document())
    }

    /// The values of the sale that are not as they were.
    fn sale(&self, effect: &Effect, shown: &Map<String, Value>) -> Vec<FieldPath> {
        let is_other = |code: &&&str| {
            let path = FieldPath::value_of(code);
            !same_value("value", Document(&self.before).at(&path), Document(shown).at(&path))
                && !effect.changes.iter().any(|change| change.path.last_name() == **code)
        };
        let others = SALE.iter().filter(is_other);
        if self.allows_sale { Vec::new() } else { others.map(|code| FieldPath::value_of(code)).collect() }
    }
}

impl Owner for ProductOwner<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            let shown = search::shown(self.service, self.scope, &[&self.product.sku]).await?;
            let is_it = |one: &&Value| scalar(one.get("id")).as_ref() == Some(&self.product.id);
            Ok(match shown.iter().find(is_it).and_then(|it| self.shown(it)) {
                Some(document) => Shown::Whole(document),
                None => Shown::Gone(format!("there is no product {} any more", self.product.sku)),
            })
        })
    }

    /// The reply is the product as the next read in the same scope shows it.
    fn in_answer(&self, _: &Effect, reply: &Reply) -> Option<Result<Shown, Failure>> {
        self.shown(&reply.value).map(|shown| Ok(Shown::Whole(shown)))
    }

    /// A store view shows the value for all after its own is cleared.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let mut expected = effect.clone();
        for change in &mut expected.changes {
            if let (Sent::Value(sent @ None), Some(of_all)) = (&mut change.sent, &self.of_all) {
                *sent = Document(of_all).at(&change.path).cloned();
            }
        }
        let mut look = expected.look(shown);
        look.lost.extend(self.sale(effect, shown));
        look
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Product.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("product show").arg(&*self.product.sku).into()
    }
}

/// The codes whose values differ although the call did not name them.
pub fn others_changed(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    changes: &[Change],
) -> Vec<String> {
    let is_named = |code: &&String| changes.iter().any(|change| change.path.last_name() == **code);
    let mut codes: Vec<&String> = before.keys().chain(after.keys()).filter(|code| !is_named(code)).collect();
    codes.sort();
    codes.dedup();
    codes.retain(|code| !same_value("value", before.get(*code), after.get(*code)));
    codes.retain(|code| !SALE.contains(&code.as_str()) && *code != "updated_at");
    codes.into_iter().cloned().collect()
}
