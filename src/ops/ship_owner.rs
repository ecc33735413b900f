//! A cart to which shipping information and a payment are saved, as an owner of a write.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::cart::{self, ActiveCart};
use crate::client::service::Service;
use crate::client::{LOOK_CLOSER, Reply, error_body};
use crate::ops::positive;
use crate::write::owner::{Owner, Shown};
use storefront_core::absent::Absent;
use storefront_core::cart::Cart;
use storefront_core::effect::{self, Before, Change, Document, Effect, Kind, Look, Sent, Third};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, storefront};
use storefront_core::interface::request::Request;
use storefront_core::operation::scalar;
use storefront_core::profile::path::{FieldPath, List};
use storefront_core::text::exact_json;

/// Fields of an address that a cart shows as they were sent. It resolves regions, and sets flags itself.
const COMPARED: [&str; 8] =
    ["firstname", "lastname", "street", "city", "postcode", "country_id", "telephone", "company"];

/// The names of the shipping address, the billing address and the method in the document.
const SIDES: [&str; 2] = ["shipping_address", "billing_address"];
const METHOD: &str = "method";
const PAYMENT: &str = "payment";

/// What one of the two calls saves.
pub struct Saved<'a> {
    service: &'a Service<'a>,
    read: Request,
    is_payment: bool,
    effect: Effect,
}

impl<'a> Saved<'a> {
    /// The addresses and the method; `found` has the values before, if the shop shows them.
    pub fn shipping(service: &'a Service<'a>, cart: &Cart<'_>, found: &ActiveCart, sent: &Value) -> Self {
        let before = saved_document(&found.shown);
        let before_at = |path: &FieldPath| match &before {
            Some(before) => Before::Read(Document(before).at(path).cloned()),
            None => Before::NotRead,
        };
        let change = |path: FieldPath, value: &Value| Change {
            before: before_at(&path),
            path,
            sent: Sent::Value(Some(value.clone())),
            seen: None,
        };
        let fields = SIDES.iter().flat_map(|side| {
            let fields = sent.get(side).and_then(Value::as_object).into_iter().flatten();
            let fields = fields.filter(|(name, _)| COMPARED.contains(&name.as_str()));
            fields.map(|(name, value)| change(FieldPath::default().member(side).member(name), value))
        });
        let mut effect = Effect::on(effect::Owner::new(Kind::Cart, found.id));
        effect.changes = fields.collect();
        let codes = ["shipping_carrier_code", "shipping_method_code"].map(|name| scalar(sent.get(name)));
        if let [Some(carrier), Some(method)] = codes {
            let method = Value::from(format!("{carrier}_{method}"));
            effect.changes.push(change(FieldPath::default().member(METHOD), &method));
        }
        Self { service, read: cart.read(""), is_payment: false, effect }
    }

    /// The payment, such as `{"method": "checkmo"}`, which is not read before.
    pub fn payment(service: &'a Service<'a>, cart: &Cart<'_>, found: &ActiveCart, sent: &Value) -> Self {
        let mut effect = Effect::on(effect::Owner::new(Kind::Cart, found.id));
        let fields = sent.as_object().into_iter().flatten();
        effect.changes = fields
            .map(|(name, value)| Change {
                path: FieldPath::default().member(PAYMENT).member(name),
                before: Before::NotRead,
                sent: Sent::Value(Some(value.clone())),
                seen: None,
            })
            .collect();
        Self { service, read: cart.read("/selected-payment-method"), is_payment: true, effect }
    }

    /// What the call changes.
    pub fn effect(&self) -> Effect {
        self.effect.clone()
    }
}

impl Owner for Saved<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            let shown = match self.service.read(&self.read).await {
                Ok(reply) => reply.value,
                Err(failure) if failure.absent == Some(Absent::Cart) => {
                    return Ok(Shown::Gone(format!("{} is not active any more", self.effect.owner)));
                }
                Err(failure) => return Err(failure),
            };
            if self.is_payment {
                return Ok(Shown::Part([(PAYMENT.to_owned(), shown)].into_iter().collect()));
            }
            if scalar(shown.get("id")) != self.effect.owner.id {
                return Ok(Shown::Gone(format!("{} is not active any more", self.effect.owner)));
            }
            saved_document(&shown).map(Shown::Whole).ok_or_else(|| {
                Failure::unexpected_reply("the cart was answered without its addresses").hint(LOOK_CLOSER)
            })
        })
    }

    /// Only an id, or `true`, says that the payment was set.
    fn doubt(&self, _: &Effect, reply: &Reply) -> Option<Failure> {
        let status = error_body::status_in_words(reply.status);
        let message = format!("the service answered {status} without the id of the payment that was set");
        (self.is_payment && !says_set(&reply.value)).then(|| Failure::new(FailureKind::Unknown, message))
    }

    /// A missing cart means that nothing was saved; a missing method means that the addresses were.
    fn told(&self, refused: &Failure) -> Option<Applied> {
        if cart::is_no_cart(refused) {
            return Some(refused.applied);
        }
        (refused.absent == Some(Absent::ShippingMethod)).then_some(Applied::Partial)
    }

    /// A payment is as it was asked for, or it is not. Saving the same again proves nothing.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let look = effect.look(shown);
        let is_all = look.third.is_empty() && look.before == 0;
        if self.is_payment {
            let (after, before) = if is_all { (1, 0) } else { (0, 1) };
            return Look { after, before, ..Look::default() };
        }
        if !is_all || look.after > 0 {
            return look;
        }
        match effect.changes.iter().find(|change| change.before == Before::NotRead) {
            None => Look { before: 1, ..look },
            Some(change) => {
                let path = change.path.clone();
                let now = Document(shown).at(&change.path).cloned();
                Look { third: vec![Third { path, written: change.after(&[]), now }], ..look }
            }
        }
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Cart.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("quote show").into()
    }
}

/// The addresses and the method of a cart; `None` if the shop does not show them.
pub fn saved_document(shown: &Value) -> Option<Map<String, Value>> {
    let assignments = shown.pointer("/extension_attributes/shipping_assignments")?.as_array()?;
    let shipping = assignments.first().and_then(|assignment| assignment.get("shipping"));
    let member = |of: Option<&Value>, name: &str| of.and_then(|of| of.get(name)).cloned().unwrap_or_default();
    let document = exact_json::object([
        (SIDES[0], member(shipping, "address")),
        (SIDES[1], member(Some(shown), SIDES[1])),
        (METHOD, member(shipping, METHOD)),
    ]);
    document.as_object().cloned()
}

/// What a cart shows of what an earlier call saved to it: its addresses and method, and the payment if that is asked for;
/// or in words why it cannot be compared.
///
/// # Errors
/// As [`cart::find`].
pub async fn read_saved(
    service: &Service<'_>,
    effect: &Effect,
) -> Result<Result<Map<String, Value>, String>, Failure> {
    let Some(found) = cart::find(service, effect.owner.id.as_deref()).await? else {
        return Err(cart::no_active_cart(service));
    };
    let Some(mut shown) = saved_document(&found.shown) else {
        return Ok(Err("the cart was answered without its addresses".to_owned()));
    };
    let is_payment = |change: &Change| change.path.to_string().starts_with(PAYMENT);
    if effect.changes.iter().any(is_payment) {
        let cart = Cart::new(service.target()?, Some(found.id))?;
        let payment = service.read(&cart.read("/selected-payment-method")).await?;
        shown.insert(PAYMENT.to_owned(), payment.value);
    }
    Ok(Ok(shown))
}

/// Whether an effect is what a call saved to a cart, and not a change of its items.
pub fn is_saved(effect: &Effect) -> bool {
    effect.creates.is_empty() && !effect.changes.iter().any(|change| List::of(&change.path).is_some())
}

/// Whether an answer says that the payment was set: by its id, as a number or text, or by `true`.
fn says_set(answer: &Value) -> bool {
    *answer == true || scalar(Some(answer)).is_some_and(|id| id.trim() == "true" || positive(&id).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::says_set;

    #[test]
    fn only_an_id_or_true_says_that_the_payment_was_set() {
        for set in [json!("1"), json!(1), json!("17"), json!(true), json!("true")] {
            assert!(says_set(&set), "{set}");
        }
        for not in
            [json!(false), json!(null), json!(""), json!(0), json!("0"), json!(-1), json!([]), json!({})]
        {
            assert!(!says_set(&not), "{not}");
        }
        assert!(!says_set(&json!("false")) && !says_set(&json!("no")));
    }
}
