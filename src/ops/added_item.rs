//! A cart to which an item is added, as an owner of a write: compared by the quantities of its lines.

use std::cell::RefCell;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::client::{CHECK_BEFORE_RETRY, LOOK_CLOSER, Reply};
use crate::write::owner::{Owner, Shown};
use storefront_core::cart::{is_asked, item_id, item_state};
use storefront_core::effect::{self, Before, Change, Created, Effect, Kept, Kind, Look, Seen, Sent, Third};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{Hint, storefront};
use storefront_core::interface::request::Request;
use storefront_core::operation::scalar;
use storefront_core::profile::path::{FieldPath, List};
use storefront_core::text::exact_json;

/// A cart and the item that is added to it.
pub struct AddedItem<'a> {
    /// The service that reads it.
    pub service: &'a Service<'a>,
    /// The item as it is sent.
    pub item: &'a Map<String, Value>,
    /// Its lines before, if they were read.
    pub before: Option<Vec<Value>>,
    /// The call that reads its lines, if there is one.
    pub read: Option<Request>,
    /// How long to look at it.
    pub settle: Duration,
    /// The line that the service named.
    pub line: RefCell<Option<String>>,
}

impl AddedItem<'_> {
    /// What the call changes: the quantity of the line with this SKU, or it creates a line. Lines with other SKUs are
    /// kept.
    pub fn effect(&self) -> Effect {
        let id = scalar(self.item.get("quote_id")).filter(|id| !id.trim().is_empty());
        let owner = effect::Owner { id, ..effect::Owner::to_be_made(Kind::Cart) };
        let lines = self.before.as_deref().unwrap_or_default();
        let is_same = |line: &&Value| !has_options(self.item) && is_asked(line, &sku_of(self.item));
        let same: Vec<&Value> = lines.iter().filter(is_same).collect();
        let qty = self.item.get("qty").cloned().unwrap_or_default();
        let mut effect = Effect::on(owner);
        match same[..] {
            [line] if item_id(line).is_some() => effect.changes.push(Change {
                path: FieldPath::item(item_id(line).unwrap_or_default()).member("qty"),
                before: Before::Read(line.get("qty").cloned()),
                sent: Sent::Plus(qty),
                seen: None,
            }),
            _ => {
                let sku = self.item.get("sku").cloned().unwrap_or_default();
                effect.creates.push(Created {
                    list: List::Items,
                    content: exact_json::object([("sku", sku), ("qty", qty)]),
                    known: lines.iter().filter_map(item_id).collect(),
                    id: None,
                    seen: None,
                });
            }
        }
        // If a product has options, nobody knows which line it becomes.
        let others = lines.iter().filter(|line| !has_options(self.item) && !is_same(line));
        effect.keeps = others
            .filter_map(|line| {
                Some(Kept { path: FieldPath::item(item_id(line)?), content: item_state(line) })
            })
            .collect();
        effect
    }

    /// Whether another addition was of the same item.
    pub fn is_added_by(&self, effect: &Effect) -> bool {
        let own = sku(self.item.get("sku"));
        let is_created = effect.creates.iter().any(|created| sku(created.content.get("sku")) == own);
        let is_same = |id| {
            let lines = self.before.iter().flatten();
            lines.filter(|line| item_id(line) == Some(id)).any(|line| sku(line.get("sku")) == own)
        };
        let added = effect.changes.iter().filter(|change| matches!(change.sent, Sent::Plus(_)));
        is_created || added.filter_map(|change| change.path.item_id()).any(is_same)
    }

    fn count(&self) -> Count<'_> {
        Count { item: self.item, line: self.line.borrow().clone() }
    }

    fn quantities(&self, shown: Option<&Map<String, Value>>) -> [Option<f64>; 2] {
        let count = self.count();
        let lines = shown.and_then(|shown| shown.get(List::Items.name())?.as_array());
        [self.before.as_deref(), lines.map(Vec::as_slice)]
            .map(|lines| lines.and_then(|lines| count.of(lines)))
    }
}

impl Owner for AddedItem<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async move {
            let Some(read) = &self.read else {
                return Err(Failure::unexpected_reply("no call reads the cart"));
            };
            let shown = self.service.read(read).await?.value;
            let lines = items_of(&shown).ok_or_else(|| {
                Failure::unexpected_reply("the response has no list of items").hint(LOOK_CLOSER)
            })?;
            let lines = Value::from(lines.clone());
            Ok(Shown::Whole([(List::Items.name().to_owned(), lines)].into_iter().collect()))
        })
    }

    fn is_readable(&self) -> bool {
        self.read.is_some()
    }

    /// The answer is the line with its new quantity; the quantity before is the difference.
    fn note_ids(&self, effect: &mut Effect, shown: &Value) {
        let Some((id, quantity)) = item_id(shown).zip(shown.get("qty")) else { return };
        let asked = self.count().asked();
        let before = number(quantity).zip(asked).map(|(total, asked)| total - asked);
        let Some(before) = before.filter(|_| self.service.settings.dialect.shows_replies) else { return };
        match (&mut effect.creates[..], &mut effect.changes[..]) {
            ([created], []) if is_close(before, 0.0) && !created.known.contains(&id) => {
                (created.id, created.seen) = (Some(id), Some(item_state(shown)));
            }
            ([_], []) if before > 0.0 => {
                effect.creates.clear();
                effect.changes.push(Change {
                    path: FieldPath::item(id).member("qty"),
                    before: Before::Read(number_value(before)),
                    sent: Sent::Plus(self.item.get("qty").cloned().unwrap_or_default()),
                    seen: Some(Seen { value: Some(quantity.clone()) }),
                });
            }
            ([], [change]) if change.path.item_id() == Some(id) => {
                change.before = Before::Read(number_value(before));
                change.seen = Some(Seen { value: Some(quantity.clone()) });
            }
            _ => {}
        }
    }

    /// A reply that shows another item may be of somebody else. The options that a customer chose may change the SKU, or
    /// extend it.
    fn doubt(&self, _: &Effect, reply: &Reply) -> Option<Failure> {
        if !self.service.settings.dialect.shows_replies || has_options(self.item) {
            return None;
        }
        let shown = sku(reply.value.get("sku"))?;
        let own = sku(self.item.get("sku"))?;
        let message = format!("the service answered with the item `{shown}`, not with `{own}`");
        (!shown.starts_with(&own))
            .then(|| Failure::new(FailureKind::Unknown, message).hint(CHECK_BEFORE_RETRY))
    }

    fn can_prove(&self) -> bool {
        false
    }

    fn compared(&self, shown: Option<&Map<String, Value>>) -> Option<String> {
        let [before, after] = self.quantities(shown);
        Some(self.count().compare(before, after))
    }

    /// Compares quantities, not lines: others change other lines at the same time, and an id may change.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let (count, [before, after]) = (self.count(), self.quantities(Some(shown)));
        let mut look = Look { lost: effect.look(shown).lost, ..Look::default() };
        let is_less =
            after.zip(count.asked()).is_some_and(|(after, asked)| after < asked && !is_close(after, asked));
        if count.is_added(before, after) {
            look.after = 1;
        } else if before.zip(after).is_some_and(|(before, after)| is_close(before, after))
            || (before.is_none() && is_less)
        {
            look.before = 1;
        } else {
            let now = after.and_then(serde_json::Number::from_f64).map(Value::Number);
            look.third.push(Third {
                path: FieldPath::default().member(List::Items.name()),
                written: None,
                now,
            });
        }
        look
    }

    fn settle_time(&self) -> Duration {
        self.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Cart.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("quote show").into()
    }
}

/// The lines of a cart, wherever the service has them.
pub fn items_of(cart: &Value) -> Option<&Vec<Value>> {
    ["", "/items", "/quote/items", "/cart/items"].into_iter().find_map(|at| cart.pointer(at)?.as_array())
}

/// What is counted in a cart: the line that the service named, else the lines with the SKU. A configurable product is
/// shown with the SKU of what was chosen, so all lines count.
struct Count<'a> {
    item: &'a Map<String, Value>,
    line: Option<String>,
}

impl Count<'_> {
    /// The quantity; `None` if a line has none.
    fn of(&self, lines: &[Value]) -> Option<f64> {
        let is_counted = |shown: &&Value| match &self.line {
            Some(line) => scalar(shown.get("item_id")).as_ref() == Some(line),
            None if self.is_configurable() => true,
            None => sku(shown.get("sku")) == sku(self.item.get("sku")),
        };
        lines.iter().filter(is_counted).try_fold(0.0, |sum, line| Some(sum + number(line.get("qty")?)?))
    }

    /// Whether the cart has gained the quantity that was asked for.
    fn is_added(&self, before: Option<f64>, after: Option<f64>) -> bool {
        let added = before.zip(after).map(|(before, after)| after - before);
        added.zip(self.asked()).is_some_and(|(added, asked)| is_close(added, asked))
    }

    fn asked(&self) -> Option<f64> {
        self.item.get("qty").and_then(number)
    }

    fn is_configurable(&self) -> bool {
        has_options(self.item)
    }

    /// Such as `the cart had 2 × mug, now 4`.
    fn compare(&self, before: Option<f64>, after: Option<f64>) -> String {
        let what = match scalar(self.item.get("sku")) {
            Some(sku) if self.line.is_some() || !self.is_configurable() => format!(" × {sku}"),
            _ => " items in all".to_owned(),
        };
        match (before, after) {
            (Some(before), Some(after)) if is_close(before, after) => {
                format!("the cart had {before}{what}, and still has {after}")
            }
            (Some(before), Some(after)) => format!("the cart had {before}{what}, now {after}"),
            (Some(before), None) => format!("the cart had {before}{what}, and now it cannot be read"),
            (None, Some(after)) => format!("the cart has {after}{what}, and what it had before was not read"),
            (None, None) => "the quantities in the cart cannot be read".to_owned(),
        }
    }
}

/// Whether the customer chose options of the product.
fn has_options(item: &Map<String, Value>) -> bool {
    item.get("product_option").is_some_and(|option| !option.is_null())
}

fn sku_of(item: &Map<String, Value>) -> Map<String, Value> {
    item.iter()
        .filter(|(name, _)| *name == "sku")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn sku(value: Option<&Value>) -> Option<String> {
    scalar(value).map(|sku| sku.trim().to_lowercase())
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A quantity, without decimals if it is whole.
fn number_value(quantity: f64) -> Option<Value> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a quantity without decimals is written as an integer"
    )]
    let whole = quantity as i64;
    #[expect(clippy::cast_precision_loss, reason = "only whole quantities come here")]
    let is_whole = is_close(whole as f64, quantity);
    if is_whole { Some(whole.into()) } else { serde_json::Number::from_f64(quantity).map(Value::Number) }
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Count;

    fn count(item: &Value, line: Option<&str>, lines: &Value) -> Option<f64> {
        let item = item.as_object().unwrap();
        Count { item, line: line.map(str::to_owned) }.of(lines.as_array().unwrap())
    }

    #[test]
    fn the_line_that_the_service_named_counts_or_the_sku() {
        let lines = json!([{"item_id": 1, "sku": "MUG", "qty": 2}, {"item_id": "2", "sku": "mug", "qty": "1.5"},
            {"item_id": 3, "sku": "hat", "qty": 4}]);
        let mug = json!({"sku": "mug", "qty": 1});
        assert_eq!(count(&mug, None, &lines), Some(3.5));
        assert_eq!(count(&mug, Some("2"), &lines), Some(1.5));
        assert_eq!(count(&mug, Some("9"), &lines), Some(0.0), "a new line was not there before");
        let shirt = json!({"sku": "shirt", "qty": 1, "product_option": {"extension_attributes": {}}});
        assert_eq!(count(&shirt, None, &lines), Some(7.5));
        assert_eq!(count(&mug, None, &json!([{"item_id": 1, "sku": "mug"}])), None);
    }
}
