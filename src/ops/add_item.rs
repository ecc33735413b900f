//! Adds an item to a quote, in either interface, and compares the cart before and after (docs/interface.md, "Adding an
//! item").

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::client::{CHECK_BEFORE_RETRY, may_be_saved};
use crate::input::Draft;
use crate::ops::cart;
use crate::ops::{read_until, request, send_request};
use crate::report::outcome::Outcome;
use storefront_core::cart::Cart;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::interface::request::Request;
use storefront_core::operation::{QUOTE_ADD_ITEM, Success, scalar};

/// Adds the item, or shows what would be sent; with `verify` the cart is read before and after. The request is never repeated: after an unknown outcome the message says what
/// the cart held before, where that was read, and what it holds now.
///
/// # Errors
/// As [`Service::write`]; `usage` for a quote id that is not that of the customer's active cart.
pub async fn perform(service: &Service<'_>, draft: &Draft, verify: bool) -> Result<Outcome, Failure> {
    let is_dry = service.session.global.dry_run;
    let mut draft = Cow::Borrowed(draft);
    let (request, lines) = if service.settings.dialect.carts.is_some() {
        Box::pin(prepare(service, draft.to_mut(), verify)).await?
    } else {
        let lines = if verify && !is_dry { Some(quote_lines(service, &draft).await?) } else { None };
        (request(service, &draft, service.settings.dialect.add_item)?, lines)
    };
    let item = &draft.fields;
    let sent = send_request(service, &QUOTE_ADD_ITEM, request, |reply| added(item, reply)).await;
    let sent = sent.and_then(|outcome| as_asked(service, item, outcome));
    let Some(lines) = lines.filter(|_| !is_dry) else {
        return sent.map_err(|failure| cart::look_first_hint(service, failure));
    };
    let settle = service.settings.settle;
    match sent {
        Ok(outcome) if verify => {
            let line = outcome.response.as_ref().and_then(|reply| scalar(reply.get("item_id")));
            let count = Count { item, line };
            let (before, after) = lines.wait_for_change(service, &count, settle).await;
            let verified = count.is_added(before, after);
            if !verified {
                let warning = format!("the added quantity is not verified: {}", count.compare(before, after));
                service.session.report.warn(&warning);
            }
            Ok(Outcome { verified: Some(verified), ..outcome })
        }
        Err(failure) if failure.applied == Applied::Unknown => {
            let count = Count { item, line: None };
            let limit = if verify { settle } else { Duration::ZERO };
            let (before, after) = lines.wait_for_change(service, &count, limit).await;
            let message = format!("{}; {}", failure.message, count.compare(before, after));
            Err(cart::look_first_hint(service, Failure { message, ..failure }))
        }
        Err(failure) if verify && may_be_saved(&failure) => {
            let failure = lines.look_after_refusal(service, item, failure).await;
            Err(cart::look_first_hint(service, failure))
        }
        sent => sent.map_err(|failure| cart::look_first_hint(service, failure)),
    }
}

/// Finds or creates the cart, and names it in the item: what is sent, and what the cart held before, where that was read. It
/// is read where that has another reason; otherwise the call that creates one gives its id.
async fn prepare(
    service: &Service<'_>,
    draft: &mut Draft,
    verify: bool,
) -> Result<(Request, Option<Lines>), Failure> {
    let target = service.target()?;
    let is_dry = service.session.global.dry_run;
    let named = scalar(draft.fields.get("quote_id"));
    let is_read = named.is_some() || verify || is_dry || target.customer.is_some();
    let found = if is_read { cart::find(service, named.as_deref()).await? } else { None };
    let (id, shown) = match (found, &named) {
        (Some(cart), _) => (cart.id, Some(cart.shown)),
        (None, Some(named)) => return Err(no_cart_named(named)),
        (None, None) if is_dry => {
            let warning = "there is no active cart yet: this call creates it, and the item follows";
            service.session.report.warn(warning);
            return Ok((Cart::new(target, None)?.create(), None));
        }
        (None, None) => {
            (cart::create(service, QUOTE_ADD_ITEM.name).await?, is_read.then(|| Value::Array(Vec::new())))
        }
    };
    if named.is_none() {
        draft.fields.insert("quote_id".to_owned(), id.to_string().into());
    }
    let cart = Cart::new(target, Some(id))?;
    let before = shown.as_ref().and_then(items_of).cloned();
    let lines = before.map(|before| Lines { before, read: cart.read("/items") });
    Ok((cart.add_item(draft.body_text()), lines))
}

fn added(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let quote =
        scalar(asked.get("quote_id")).map_or_else(|| "the cart".to_owned(), |id| format!("quote {id}"));
    let text = format!("Added {} × {} to {quote}", scalar(asked.get("qty"))?, scalar(asked.get("sku"))?);
    let Some(item) = scalar(reply.get("item_id")) else {
        return Some(Success { text, covers_response: false });
    };
    // The service answers with the line of the cart, which holds what was in it before, too.
    let text = match scalar(reply.get("qty")) {
        Some(total) => format!("{text} (item {item}, now {total} in the cart)"),
        None => format!("{text} (item {item})"),
    };
    Some(Success { text, covers_response: true })
}

/// The addition, where the reply does not show another item: whose it is then is not known. What a customer chose of a
/// product may change its SKU, or be added to it.
fn as_asked(service: &Service<'_>, asked: &Map<String, Value>, outcome: Outcome) -> Result<Outcome, Failure> {
    if !service.settings.dialect.shows_replies || has_options(asked) {
        return Ok(outcome);
    }
    let reply = outcome.response.as_ref();
    let [shown, own] = [sku(reply.and_then(|reply| reply.get("sku"))), sku(asked.get("sku"))];
    match (shown, own) {
        (Some(shown), Some(own)) if !shown.starts_with(&own) => {
            service.stage.doubt();
            let message = format!("the service answered with the item `{shown}`, not with `{own}`");
            let failure = Failure::new(FailureKind::Unknown, message).hint(CHECK_BEFORE_RETRY);
            Err(Failure { status: outcome.status, ..failure })
        }
        _ => Ok(outcome),
    }
}

fn no_cart_named(named: &str) -> Failure {
    Failure::usage(format!("quote `{named}` is not the customer's active cart, which does not exist"))
        .hint("leave out --quote-id, and a cart is created")
}

/// The lines of the marketplace's quote, where a setting names the path that shows it.
async fn quote_lines(service: &Service<'_>, draft: &Draft) -> Result<Lines, Failure> {
    let quote = scalar(draft.fields.get("quote_id")).unwrap_or_default();
    let read = cart::quote_request(service, &service.target()?, &quote)?;
    let not_read = |message| format!("the cart could not be read before the item is added: {message}");
    let reply = service.read(&read).await;
    let shown = reply.map_err(|failure| Failure { message: not_read(failure.message), ..failure })?.value;
    let before = items_of(&shown).cloned().ok_or_else(|| {
        Failure::unexpected_reply("the response has no list of items")
            .hint("check the setting `read.quote-path` and what -vv shows of the answer")
    })?;
    Ok(Lines { before, read })
}

fn items_of(cart: &Value) -> Option<&Vec<Value>> {
    ["", "/items", "/quote/items", "/cart/items"].into_iter().find_map(|at| cart.pointer(at)?.as_array())
}

/// The lines of a cart before the item was added, and the call that reads them again.
struct Lines {
    before: Vec<Value>,
    read: Request,
}

impl Lines {
    /// The quantity before, and what a read shows as soon as it differs, for `limit` at most.
    async fn wait_for_change(
        &self,
        service: &Service<'_>,
        count: &Count<'_>,
        limit: Duration,
    ) -> (Option<f64>, Option<f64>) {
        let before = count.of(&self.before);
        let of = |shown: &Value| items_of(shown).and_then(|lines| count.of(lines));
        let differs =
            |shown: &Value| before.zip(of(shown)).is_some_and(|(before, after)| !is_close(before, after));
        let (shown, _) = read_until(service, &self.read, limit, differs).await;
        (before, shown.as_ref().and_then(of))
    }

    /// The failure of a request that was refused, which says so where the cart shows the item all the same.
    async fn look_after_refusal(
        &self,
        service: &Service<'_>,
        item: &Map<String, Value>,
        failure: Failure,
    ) -> Failure {
        let count = Count { item, line: None };
        let (before, after) = self.wait_for_change(service, &count, Duration::ZERO).await;
        if !count.is_added(before, after) {
            return failure;
        }
        let message = format!("refused, but added: {}; {}", failure.message, count.compare(before, after));
        Failure { kind: FailureKind::Mismatch, applied: Applied::Unknown, message, ..failure }
    }
}

/// What is counted in a cart: one line where the service named it, else the lines of the sku. A configurable product is
/// shown by the sku of what was chosen, so that there everything counts.
struct Count<'a> {
    item: &'a Map<String, Value>,
    line: Option<String>,
}

impl Count<'_> {
    /// The quantity; `None` where a line has none.
    fn of(&self, lines: &[Value]) -> Option<f64> {
        let is_counted = |shown: &&Value| match &self.line {
            Some(line) => scalar(shown.get("item_id")).as_ref() == Some(line),
            None if self.is_configurable() => true,
            None => sku(shown.get("sku")) == sku(self.item.get("sku")),
        };
        lines.iter().filter(is_counted).try_fold(0.0, |sum, line| Some(sum + number(line.get("qty")?)?))
    }

    /// Whether the quantity that was asked for came to it.
    fn is_added(&self, before: Option<f64>, after: Option<f64>) -> bool {
        let added = before.zip(after).map(|(before, after)| after - before);
        let asked = self.item.get("qty").and_then(number);
        added.zip(asked).is_some_and(|(added, asked)| is_close(added, asked))
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
            (None, _) => "the quantities in the cart cannot be read".to_owned(),
        }
    }
}

/// Whether a customer chose something of the product.
fn has_options(item: &Map<String, Value>) -> bool {
    item.get("product_option").is_some_and(|option| !option.is_null())
}

fn sku(value: Option<&Value>) -> Option<String> {
    scalar(value).map(|sku| sku.trim().to_lowercase())
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
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
