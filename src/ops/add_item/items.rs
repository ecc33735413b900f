//! What a cart holds, and whether exactly one addition lies between two readings of it.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::exact_json;
use crate::failure::{Failure, FailureKind};
use crate::ops::cart;
use crate::plan::request::cart::Cart;
use crate::plan::request::{Bearer, Request, Target};
use crate::session::service::Service;
use crate::state::CartLine;

/// What a cart held when it was read.
#[derive(Debug, Clone, Default)]
pub struct Items {
    lines: Vec<Value>,
    /// When the cart was changed last, where it says so.
    changed: Option<Timestamp>,
    /// The service's time of the reading, where it says so.
    read: Option<Timestamp>,
}

impl Items {
    /// Reads the cart with this id, or the marketplace's quote where a setting names its path: twice, by two calls where
    /// there are two, so that an answer from a cache or a replica that lags behind is noticed. `None` where the two
    /// readings differ.
    ///
    /// # Errors
    /// As [`cart::read`]; `usage` where there is no such read, `unavailable` for a reply without lines.
    pub async fn read(
        service: &Service<'_>,
        cart: Option<u64>,
        quote: &Value,
    ) -> Result<Option<Self>, Failure> {
        let (first, second) = match cart {
            Some(cart) => {
                let (shown, read) = cart::read_with_date(service, cart).await?;
                let lines = lines_of(&list(service, cart).await?)?;
                let first = shown["items"].as_array().cloned().unwrap_or_else(|| lines.clone());
                (Self { lines: first, changed: changed(&shown), read }, Self { lines, ..Self::default() })
            }
            None => (read_quote(service, quote).await?, read_quote(service, quote).await?),
        };
        Ok(first.agreed(second))
    }

    /// This reading with the lines of another one, where both show the same. The cart itself does not name the options of
    /// a configurable product, its list of items does.
    fn agreed(self, other: Self) -> Option<Self> {
        self.has_same_lines(&other).then(|| Self { lines: other.lines, ..self })
    }

    /// Whether exactly one addition of `added` lies between this and what the cart holds `after`, and nothing else: one
    /// line holds exactly that much more, every other line is as it was, and the cart was not changed last before this was
    /// read. No where quantities cannot be read.
    pub fn shows_addition(&self, after: &Self, added: &Map<String, Value>) -> bool {
        let is_older = self.read.zip(after.changed).is_some_and(|(read, changed)| changed < read);
        let Some((before, after)) = keyed(&self.lines).zip(keyed(&after.lines)) else { return false };
        let earlier = |id: &String| before.iter().find(|(known, _)| known == id).map(|(_, line)| *line);
        let is_gone = |(id, _): &(String, &Value)| after.iter().all(|(other, _)| other != id);
        let mut changed = after
            .iter()
            .map(|(id, line)| (earlier(id), *line))
            .filter(|(earlier, line)| !earlier.is_some_and(|earlier| is_same(earlier, line)));
        let is_shown = changed.next().is_some_and(|(earlier, line)| is_addition(earlier, line, added));
        is_shown && changed.next().is_none() && !is_older && !before.iter().any(is_gone)
    }

    /// Whether the service says of `after` when the cart was changed, and of this when it was read.
    pub fn can_be_dated(&self, after: &Self) -> bool {
        self.read.is_some() && after.changed.is_some()
    }

    /// Whether the cart holds this line.
    pub fn holds(&self, (id, qty): &CartLine) -> bool {
        self.lines.iter().filter_map(line_of).any(|(shown, total)| shown == *id && is_close(total, *qty))
    }

    fn has_same_lines(&self, other: &Self) -> bool {
        let (Some(one), Some(other)) = (keyed(&self.lines), keyed(&other.lines)) else { return false };
        let is_in = |(id, line): &(String, &Value)| {
            other.iter().any(|(known, shown)| known == id && is_same(shown, line))
        };
        one.len() == other.len() && one.iter().all(is_in)
    }
}

/// The id and quantity of a line; `None` for anything else.
pub fn line_of(line: &Value) -> Option<CartLine> {
    Some((text(line, "item_id").filter(|id| !id.is_empty())?, number(line.get("qty")?)?))
}

/// The lines of a cart as the service shows them.
///
/// # Errors
/// As [`Service::read`]; `guard` for lines of another cart.
pub async fn list(service: &Service<'_>, cart: u64) -> Result<Value, Failure> {
    let shown = service.read(&Cart::new(service.target()?, Some(cart))?.read("/items")).await?.value();
    let quotes = shown.as_array().into_iter().flatten().filter_map(|line| text(line, "quote_id"));
    match quotes.into_iter().find(|quote| *quote != cart.to_string()) {
        Some(other) => Err(cart::refused(format!(
            "the service answered with the items of cart {other} instead of {cart}"
        ))),
        None => Ok(shown),
    }
}

async fn read_quote(service: &Service<'_>, quote: &Value) -> Result<Items, Failure> {
    let quote = quote.as_str().map_or_else(|| quote.to_string(), str::to_owned);
    let reply = service.read(&quote_request(service, &service.target()?, &quote)?).await?;
    let shown = reply.value();
    let quote = ["/quote", "/cart"].into_iter().find_map(|pointer| shown.pointer(pointer)).unwrap_or(&shown);
    Ok(Items { lines: lines_of(&shown)?, changed: changed(quote), read: reply.date })
}

fn lines_of(reply: &Value) -> Result<Vec<Value>, Failure> {
    let mut lines = ["", "/items", "/quote/items", "/cart/items"].into_iter();
    let lines = lines.find_map(|pointer| reply.pointer(pointer)?.as_array().cloned());
    lines.ok_or_else(|| {
        Failure::new(FailureKind::Unavailable, "the service's answer holds no list of items")
            .hint("check the setting `read.quote-path` and what -vv shows of the answer")
    })
}

/// Reads the marketplace's quote.
///
/// # Errors
/// `usage` where no setting names its path.
pub fn quote_request(service: &Service<'_>, target: &Target<'_>, quote: &str) -> Result<Request, Failure> {
    let path = service.settings.read.quote_path.as_deref().ok_or_else(|| {
        let interface = target.dialect.name;
        Failure::usage(format!("the interface `{interface}` documents no call that reads a quote"))
            .hint("set `read.quote-path` in the profile to the path that shows it")
    })?;
    if matches!(quote, "." | "..") {
        return Err(Failure::usage(format!(
            "invalid quote id `{quote}`: it would change the path of the call"
        )));
    }
    Ok(Request::get(target.path(path, &[("quote_id", quote)]), Bearer::Customer))
}

/// When a cart was changed last; Magento writes its times in UTC, without a zone.
fn changed(cart: &Value) -> Option<Timestamp> {
    let text = cart["updated_at"].as_str()?.trim();
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let time: DateTime = text.parse().ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Each line by its id; `None` where one has none, or another has the same.
fn keyed(lines: &[Value]) -> Option<Vec<(String, &Value)>> {
    let keyed: Vec<(String, &Value)> = lines
        .iter()
        .map(|line| Some((text(line, "item_id").filter(|id| !id.is_empty())?, line)))
        .collect::<Option<_>>()?;
    let is_repeated = |at: usize| keyed[..at].iter().any(|(id, _)| *id == keyed[at].0);
    (!(0..keyed.len()).any(is_repeated)).then_some(keyed)
}

/// Whether a line is what `added` made of an earlier one, or of none.
fn is_addition(earlier: Option<&Value>, line: &Value, added: &Map<String, Value>) -> bool {
    let before = earlier.map_or(Some(0.0), |earlier| number(&earlier["qty"]));
    let difference = number(&line["qty"]).zip(before).map(|(after, before)| after - before);
    let is_same_product = earlier.is_none_or(|earlier| text(earlier, "sku") == text(line, "sku"));
    let qty = added.get("qty").and_then(number);
    is_same_product
        && is_of(line, added)
        && difference.zip(qty).is_some_and(|(difference, qty)| is_close(difference, qty))
}

/// Whether two readings show the same of one line.
fn is_same(one: &Value, other: &Value) -> bool {
    let qty = number(&one["qty"]).zip(number(&other["qty"]));
    text(one, "sku") == text(other, "sku") && qty.is_some_and(|(one, other)| is_close(one, other))
}

/// Whether a line is of the product that was added, with the options that were chosen. The line of a configurable product
/// may have the sku of the chosen simple one, which then begins with the other.
fn is_of(line: &Value, added: &Map<String, Value>) -> bool {
    const OPTIONS: &str = "/product_option/extension_attributes/configurable_item_options";
    let asked = added.get("product_option").cloned().unwrap_or_default();
    let asked = exact_json::object([("product_option", asked)]);
    let Some((shown, sku)) = text(line, "sku").zip(added.get("sku").and_then(scalar)) else { return false };
    let (shown, sku) = (shown.to_lowercase(), sku.to_lowercase());
    if let (Some(asked), Some(options)) = (asked.pointer(OPTIONS), line.pointer(OPTIONS)) {
        return shown.starts_with(&sku) && choices(asked) == choices(options);
    }
    shown == sku
}

/// The chosen options as sorted pairs.
fn choices(options: &Value) -> Vec<(Option<String>, Option<String>)> {
    let pair = |option: &Value| (text(option, "option_id"), text(option, "option_value"));
    let mut pairs: Vec<_> = options.as_array().into_iter().flatten().map(pair).collect();
    pairs.sort();
    pairs
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

fn text(object: &Value, field: &str) -> Option<String> {
    object.get(field).and_then(scalar)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests;
