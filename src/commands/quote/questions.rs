//! The questions of `quote add-item` and `quote ship` on a terminal, for what the command line does not name.

use clap::Args;
use serde_json::{Map, Value};

use crate::cli::command_line::{CommandLine, flag};
use crate::client::service::Service;
use crate::commands::{self, grammar};
use crate::ops::Operation;
use crate::ops::cart::{find, no_active_cart};
use crate::ops::customers::with_id;
use crate::ops::profile::read::read_profile;
use crate::prompt::{Objection, Question};
use crate::report::fields::format_value;
use crate::report::profile::place_first;
use storefront_core::cart::Cart;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::lint;
use storefront_core::profile::address::own_id;

/// Asks for the item, its quantity, and the quote if the interface needs it.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves; whatever goes wrong with the command.
pub async fn add_item<A: Args + Operation>(
    service: &Service<'_>,
    named: &Map<String, Value>,
) -> Result<(), Failure> {
    let is_named = |name: &str| named.contains_key(name);
    let mut line = service.typed();
    let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
    if !is_named("sku") {
        line = line.with(flag("sku", &typed(service, "SKU", is_given)?));
    }
    if !is_named("qty") {
        // The field begins empty, so that a digit is not added to a text: 2 must not become 12.
        let meant = |text: &str| if text.trim().is_empty() { "1".to_owned() } else { text.trim().to_owned() };
        let check = |text: &str| Objection::unless(lint::is_quantity(&meant(text)), "enter a number above 0");
        line = line.with(flag("qty", &meant(&typed(service, "Quantity (empty: 1)", check)?)));
    }
    if service.settings.dialect.carts.is_none() && !is_named("quote_id") {
        line = line.with(flag("quote-id", &typed(service, "Quote ID", is_given)?));
    }
    run::<A>(service, line).await
}

/// What the command line of `quote ship` names.
pub struct ShipNames<'a> {
    /// The cart.
    pub quote_id: Option<&'a str>,
    /// Whether it names a shipping method.
    pub has_method: bool,
    /// Whether it names a payment, or none.
    pub has_payment: bool,
}

/// Asks for one of the customer's addresses, a shipping method that the shop offers there, and a payment method.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves; `refused` where there is no cart, `usage` where there is no item, no
/// address or no method; whatever goes wrong with the command.
pub async fn ship<A: Args + Operation>(service: &Service<'_>, named: ShipNames<'_>) -> Result<(), Failure> {
    let service = &with_id(service).await?;
    let found = find(service, named.quote_id).await?.ok_or_else(|| no_active_cart(service))?;
    if found.items().is_empty() {
        return Err(Failure::usage(format!("cart {} has no items, and so no shipping method", found.id))
            .hint(hint!("add one with ", storefront("quote add-item"))));
    }
    let cart = Cart::new(service.target()?, Some(found.id))?;
    let mut line = service.typed();
    let profile = read_profile(service).await?;
    let addresses: Vec<_> =
        profile.addresses().iter().filter_map(|it| Some((own_id(it)?, it.as_object()?))).collect();
    let lines: Vec<String> =
        addresses.iter().map(|(id, address)| format!("{}  {id}", place_first(address))).collect();
    let chosen = pick(service, "Ship to which address?", &lines, || {
        Failure::usage("the customer has no address")
            .hint(hint!("add one with ", storefront("customer update --add-address")))
    })?;
    let (id, _) = addresses[chosen];
    line = line.with(flag("ship-to-address", &id.to_string()));
    if !named.has_method {
        let [carrier, method] = shipping_method(service, &cart, id).await?;
        line = line.with(flag("carrier", &carrier)).with(flag("method", &method));
    }
    if !named.has_payment {
        line = line.with(match payment_method(service, &cart).await? {
            Some(code) => flag("payment-method", &code),
            None => vec!["--no-payment".to_owned()],
        });
    }
    run::<A>(service, line).await
}

/// Asks for one of the shipping methods that the shop offers to a stored address: the codes of its carrier and of itself.
async fn shipping_method(
    service: &Service<'_>,
    cart: &Cart<'_>,
    address: AddressId,
) -> Result<[String; 2], Failure> {
    let offered = service.read(&cart.estimate_shipping(address)).await?.value;
    let methods = list(&offered);
    let name = |method: &&Value| {
        let [carrier, title, amount, code] = ["carrier_title", "method_title", "amount", "method_code"]
            .map(|name| format_value(method.get(name)));
        format!("{carrier}  {title}  {amount} {code}")
    };
    let lines: Vec<String> = methods.iter().map(name).collect();
    let chosen = pick(service, "Which shipping method?", &lines, || {
        Failure::usage("the shop offers no shipping method to this address")
            .hint(hint!("look with ", storefront("quote methods")))
    })?;
    Ok(["carrier_code", "method_code"].map(|name| format_value(methods[chosen].get(name))))
}

/// Asks for the code of one of the payment methods that the shop offers; `None` if it offers none.
async fn payment_method(service: &Service<'_>, cart: &Cart<'_>) -> Result<Option<String>, Failure> {
    let offered = service.read(&cart.read("/payment-methods")).await?.value;
    let methods = list(&offered);
    if methods.is_empty() {
        return Ok(None);
    }
    let member = |method: &Value, name: &str| format_value(method.get(name));
    let name = |method: &&Value| format!("{}  {}", member(method, "title"), member(method, "code"));
    let lines: Vec<String> = methods.iter().map(name).collect();
    let chosen = pick(service, "Which payment method?", &lines, Failure::cancelled)?;
    Ok(Some(member(methods[chosen], "code")))
}

/// The methods of an answer that can be chosen.
fn list(offered: &Value) -> Vec<&Value> {
    let methods = offered.as_array().into_iter().flatten();
    methods.filter(|method| method.get("available").is_none_or(|it| *it != Value::Bool(false))).collect()
}

fn pick(
    service: &Service<'_>,
    question: &str,
    lines: &[String],
    none: impl FnOnce() -> Failure,
) -> Result<usize, Failure> {
    if lines.is_empty() {
        return Err(none());
    }
    service.session.prompt().select(question, lines, 0)?.ok_or_else(Failure::cancelled)
}

fn typed(
    service: &Service<'_>,
    text: &str,
    check: impl Fn(&str) -> Result<(), Objection>,
) -> Result<String, Failure> {
    let question = Question { text, ..Question::default() };
    Ok(service.session.prompt().text(&question, check)?.ok_or_else(Failure::cancelled)?.trim().to_owned())
}

/// Runs the command with the answers, and prints the outcome.
///
/// # Errors
/// Whatever went wrong.
pub async fn run<A: Args + Operation>(service: &Service<'_>, line: CommandLine) -> Result<(), Failure> {
    let args: A = line.parse(grammar())?;
    commands::run_answered(service, &args, &line).await
}
