//! The customer's active cart, in an interface in which a cart is found or created before it is written to, and the
//! shipping methods that it can have.

use serde_json::{Map, Value};

use crate::client::LOOK_CLOSER;
use crate::client::service::{CART_MAY_BE_MADE, Service};
use crate::client::{CHECK_BEFORE_RETRY, may_be_saved, says};
use crate::input::Draft;
use crate::ops::attribute::names;
use crate::ops::customers::no_such_customer;
use crate::ops::list::{ends_early, read_page};
use crate::ops::profile::read::read_profile;
use crate::ops::{check_first, positive};
use crate::write;
use storefront_core::absent::Absent;
use storefront_core::cart::{Cart, MAX_CARTS, item_state};
use storefront_core::effect::Kind;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::id::CustomerId;
use storefront_core::interface::request::{Bearer, Request, Target};
use storefront_core::operation::scalar;
use storefront_core::profile::address::own_id;
use storefront_core::profile::equal::same_flag;
use storefront_core::profile::path::List;
use storefront_core::text::exact_json;

/// The field of a record, and of what a plan expects, that names the cart.
pub const QUOTE_ID: &str = "quote_id";

fn check_cart() -> Hint {
    hint!("look at the cart before you try again: ", storefront("quote show"))
}

/// The active cart of the customer.
#[derive(Debug)]
pub struct ActiveCart {
    /// Its id.
    pub id: u64,
    /// The cart as the service shows it.
    pub shown: Value,
}

impl ActiveCart {
    /// The cart in an answer, unless something between here and the shop has mixed it up with another answer.
    fn new(shown: Value) -> Result<Self, Failure> {
        let id = id_of(&shown["id"])?;
        if shown.get("is_active").is_none() && !shown["items"].is_array() {
            return Err(
                Failure::unexpected_reply("the answer in place of the cart is none").hint(LOOK_CLOSER)
            );
        }
        Ok(Self { id, shown })
    }

    /// Its items, as far as the service shows them.
    pub fn items(&self) -> &[Value] {
        self.shown["items"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Who the customer is.
    pub fn customer(&self) -> Map<String, Value> {
        let names = ["id", "email", "firstname", "lastname"];
        let customer = self.shown["customer"].as_object().into_iter().flatten();
        let customer = customer.filter(|(name, _)| names.contains(&name.as_str()));
        customer.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Such as `7 (store 2, 1 item)`.
    fn described(&self) -> String {
        let count = scalar(self.shown.get("items_count")).unwrap_or_else(|| self.items().len().to_string());
        let items = if count == "1" { "item" } else { "items" };
        let store = scalar(self.shown.get("store_id")).unwrap_or_else(|| "unknown".to_owned());
        format!("{} (store {store}, {count} {items})", self.id)
    }
}

/// The active cart: the one that is `named`, if one is; `None` if the customer has none. If several stores have one each,
/// it is that of the store view.
///
/// # Errors
/// As [`Service::read`], `unavailable` for a reply without an id; `usage` for a named quote that is not an active cart of
/// the customer, and if several fit; `guard` if an earlier run wrote the record to another cart.
pub async fn find(service: &Service<'_>, named: Option<&str>) -> Result<Option<ActiveCart>, Failure> {
    let found = find_active(service, named).await?;
    match earlier_cart(service) {
        Some(earlier) if found.as_ref().is_none_or(|cart| cart.id.to_string() != earlier) => {
            let refused = other_cart(earlier, found.as_ref(), "the record was sent to it");
            let hint = "see in the shop what became of that cart, and note the record with --mark-done";
            Err(refused.hint(hint).for_good())
        }
        _ => Ok(found),
    }
}

/// The cart to which an earlier run may have written the record.
pub fn earlier_cart<'a>(service: &Service<'a>) -> Option<&'a str> {
    let write = service.write_ahead?.earlier().writes.last()?;
    write.owner.as_deref().filter(|_| write.owner_kind == Kind::Cart.noun())
}

/// What a plan expects of the cart: its id (null without a cart) and the customer.
pub fn planned_owner(found: Option<&ActiveCart>) -> Map<String, Value> {
    let id = found.map_or(Value::Null, |cart| cart.id.into());
    let customer = found.map(ActiveCart::customer).unwrap_or_default();
    std::iter::once((QUOTE_ID.to_owned(), id)).chain(customer).collect()
}

/// Whether a plan says which cart its record is for.
pub fn is_planned(draft: &Draft) -> bool {
    draft.expect.as_ref().is_some_and(|expected| expected.owner.contains_key(QUOTE_ID))
}

/// Refuses another cart than the one for which a record was planned. If there was none, it accepts one that this run
/// created or that the record was sent to before, and an empty one, which a failed apply leaves.
///
/// # Errors
/// `guard`.
pub fn ensure_planned(
    service: &Service<'_>,
    draft: &Draft,
    found: Option<&ActiveCart>,
) -> Result<(), Failure> {
    let Some(planned) = draft.expect.as_ref().and_then(|expected| expected.owner.get(QUOTE_ID)) else {
        return Ok(());
    };
    let refused = match (scalar(Some(planned)), found) {
        (planned, found) if planned == found.map(|cart| cart.id.to_string()) => return Ok(()),
        (None, Some(found)) if found.items().is_empty() => return Ok(()),
        (None, Some(found)) if service.made_carts.borrow().contains(&found.id) => return Ok(()),
        // [`find`] has checked that it is the same one.
        (None, Some(_)) if earlier_cart(service).is_some() => return Ok(()),
        (Some(planned), found) => other_cart(&planned, found, "the record was planned for it"),
        (None, found) => {
            let found = found.map_or_else(String::new, ActiveCart::described);
            let message =
                format!("the customer had no active cart when this was planned, and now has {found}");
            Failure::guard(message)
        }
    };
    Err(refused.hint("make the plan again with --plan").for_good())
}

fn other_cart(id: &str, found: Option<&ActiveCart>, why: &str) -> Failure {
    let now = found.map_or_else(|| "there is none".to_owned(), |cart| format!("that is {}", cart.id));
    Failure::guard(format!("cart {id} is not the active cart, {now}: {why}"))
}

async fn find_active(service: &Service<'_>, named: Option<&str>) -> Result<Option<ActiveCart>, Failure> {
    let target = service.target()?;
    let cart = Cart::new(target, None)?;
    let mut active = match target.customer {
        // The service uses the token's own cart, whichever is named.
        None => match service.read(&cart.read("")).await {
            Ok(reply) => vec![ActiveCart::new(reply.value)?],
            Err(failure) if is_no_cart(&failure) => Vec::new(),
            Err(failure) => return Err(failure),
        },
        Some(customer) => search(service, &cart, customer).await?,
    };
    if let Some(named) = named.map(str::trim)
        && !active.is_empty()
    {
        let at = active.iter().position(|cart| cart.id.to_string() == named);
        return at.map(|at| Some(active.swap_remove(at))).ok_or_else(|| not_active(named, &active));
    }
    if active.len() > 1
        && let Some(store) = store(service).await
    {
        let is_there = |cart: &ActiveCart| scalar(cart.shown.get("store_id")).as_ref() == Some(&store);
        if active.iter().any(is_there) {
            active.retain(is_there);
        }
    }
    match &active[..] {
        [] | [_] => Ok(active.pop()),
        several => {
            let message = format!("the customer has {} active carts: {}", several.len(), list(several));
            Err(Failure::usage(message)
                .hint("name one with --quote-id ID, or its store view with --store-view CODE"))
        }
    }
}

/// The active carts of a customer whom an administrator names, by their ids.
async fn search(
    service: &Service<'_>,
    cart: &Cart<'_>,
    customer: CustomerId,
) -> Result<Vec<ActiveCart>, Failure> {
    let page = read_page(service, &cart.search(customer), CARTS, MAX_CARTS).await?;
    if !page.is_last() {
        let count = page.records.len() as u64;
        return Err(ends_early(CARTS, count, page.total.unwrap_or(count)));
    }
    // The service ignores a filter that it does not understand: the found carts are checked.
    let is_own = |cart: &Value| is_active(cart) && id_of(&cart["customer"]["id"]).ok() == Some(customer.0);
    let own = page.records.into_iter().filter(is_own);
    let mut own = own.map(ActiveCart::new).collect::<Result<Vec<_>, _>>()?;
    own.sort_by_key(|cart| cart.id);
    Ok(own)
}

/// The id of the store view that calls are for, if one is set and the shop lists it.
async fn store(service: &Service<'_>) -> Option<String> {
    let code = service.settings.store_view.as_ref()?.code();
    // Who may write carts may not always list store views.
    let views = names::store_views(service).await.ok()?;
    views.iter().find(|view| view.name == code).map(|view| view.id.clone())
}

/// What the list contains, for messages.
const CARTS: &str = "carts";

fn list(carts: &[ActiveCart]) -> String {
    carts.iter().map(ActiveCart::described).collect::<Vec<_>>().join(", ")
}

/// The failure of a named quote that is not one of the active carts.
fn not_active(named: &str, active: &[ActiveCart]) -> Failure {
    let message = match active {
        [only] => format!("quote `{named}` is not the customer's active cart, which is `{}`", only.id),
        several => format!("quote `{named}` is not an active cart of the customer: {}", list(several)),
    };
    let failure = Failure { absent: Some(Absent::Cart), ..Failure::usage(message) };
    failure.hint("leave out the quote id, or give the id of an active cart")
}

/// The failure of a customer without an active cart.
pub fn no_active_cart(service: &Service<'_>) -> Failure {
    let failure = Failure::new(FailureKind::Refused, "the customer has no active cart");
    Failure { absent: Some(Absent::Cart), ..failure }.hint(without_cart(service))
}

/// The hint without an active cart. The search for carts also finds none if the customer does not exist.
pub fn without_cart(service: &Service<'_>) -> Hint {
    let add = storefront("quote add-item --sku SKU --qty N");
    if service.customer.is_some() {
        hint!("check the customer with ", storefront("customer show"), ", or add an item first: ", add)
    } else {
        hint!("add an item first: ", add)
    }
}

/// Whether the service says that the customer has no active cart.
pub fn is_no_cart(failure: &Failure) -> bool {
    matches!(failure.absent, Some(Absent::Cart | Absent::Entity))
}

/// Creates the cart; if there is an active one, the service answers with its id.
///
/// # Errors
/// If the cart cannot be created, or the outcome of that is unknown: nothing was added to it.
pub async fn create(service: &Service<'_>, operation: &str) -> Result<u64, Failure> {
    let target = service.target()?;
    let created = write::send_preparation(service, operation, &Cart::new(target, None)?.create()).await;
    match (created, target.customer) {
        (Err(failure), Some(customer)) if is_no_cart(&failure) => Err(no_such_customer(customer)),
        (Err(failure), _) if failure.applied != Applied::Unknown && may_be_saved(&failure) => {
            // Some shops create it all the same, which a look shows.
            match find(service, None).await {
                Ok(Some(made)) => Ok(made.id),
                _ => Err(not_created(failure)),
            }
        }
        (created, _) => id_of(&created.map_err(not_created)?.value).map_err(|failure| Failure {
            message: format!("{}{CART_MAY_BE_MADE}", failure.message),
            ..failure
        }),
    }
}

/// Nobody asked for the empty cart itself: whatever became of it, the operation was not applied.
fn not_created(failure: Failure) -> Failure {
    // Without a token, nothing was tried.
    if failure.kind == FailureKind::Auth && failure.status.is_none() {
        return failure;
    }
    let may_be_made =
        failure.applied == Applied::Unknown || may_be_saved(&failure) && !failure.is_misdirected;
    let (kind, hint) = match failure.kind {
        FailureKind::Unknown => (FailureKind::Unavailable, Some("run the command again".into())),
        kind => (kind, failure.hint),
    };
    let or = if may_be_made { CART_MAY_BE_MADE } else { "" };
    let message = format!("the cart could not be created: {}{or}", failure.message);
    Failure { kind, hint, message, applied: Applied::No, ..failure }
}

/// Names the command that shows a write whose outcome is unknown, if a cart can be read.
pub fn with_hint(service: &Service<'_>, failure: Failure) -> Failure {
    match failure.kind {
        FailureKind::Unknown | FailureKind::Mismatch if can_be_read(service) => failure.hint(check_cart()),
        _ => failure,
    }
}

/// Adds the hint to look at the cart first to the failure of a write that must not be sent twice: even a refused one may
/// have been saved.
pub fn with_hint_to_check(service: &Service<'_>, failure: Failure) -> Failure {
    let hint = if can_be_read(service) { check_cart() } else { CHECK_BEFORE_RETRY.into() };
    check_first(with_hint(service, failure), hint)
}

fn can_be_read(service: &Service<'_>) -> bool {
    service.settings.dialect.carts.is_some() || service.settings.read.quote_path.is_some()
}

/// The request that reads a quote of the marketplace.
///
/// # Errors
/// `usage` if no setting names its path, and for an id that would change it.
pub fn quote_request(service: &Service<'_>, target: &Target<'_>, quote: &str) -> Result<Request, Failure> {
    let path = service.settings.read.quote_path.as_deref().ok_or_else(|| {
        let interface = target.dialect.name;
        Failure::usage(format!("the interface `{interface}` does not support reading quotes"))
            .hint("set `read.quote-path` in the profile to the path that shows it")
    })?;
    if matches!(quote, "." | "..") {
        return Err(Failure::usage(format!(
            "invalid quote id `{quote}`: it would change the path of the call"
        )));
    }
    Ok(Request::get(target.path(path, &[("quote_id", quote)]), Bearer::Customer))
}

/// The shipping methods of a cart. A cart has no shipping address until shipping information is saved, and until then the
/// service lists no methods. Then those for the customer's default shipping address, or else for the first address, are
/// listed instead, with a warning.
///
/// # Errors
/// As [`Service::read`].
pub async fn shipping_methods(service: &Service<'_>, cart: &Cart<'_>) -> Result<Value, Failure> {
    let refused = match service.read(&cart.read("/shipping-methods")).await {
        Err(failure)
            if failure.status == Some(400)
                && says(failure.service.as_ref(), "The shipping address is missing") =>
        {
            failure
        }
        read => return Ok(read?.value),
    };
    let none = |why: &str, failure: &Failure| {
        let warning = format!("no shipping methods are listed, because {why}: {}", failure.message);
        service.session.report.warn(&warning);
        Ok(Value::Array(Vec::new()))
    };
    let profile = match read_profile(service).await {
        Ok(profile) => profile,
        Err(failure) => {
            let why = "the cart has no shipping address yet, and those of the customer cannot be read";
            return none(why, &failure);
        }
    };
    let is_default = |address: &&Value| is_set(&address["default_shipping"]);
    let chosen = profile.addresses().iter().find(is_default).or_else(|| profile.addresses().first());
    let Some(id) = chosen.and_then(own_id) else {
        return none("neither the cart nor the customer has an address", &refused);
    };
    service.session.report.warn(&format!(
        "the cart has no shipping address yet: the shipping methods are those to address {id} of the customer"
    ));
    Ok(service.read(&cart.estimate_shipping(id)).await?.value)
}

/// The items as effects see them: by id, SKU and quantity.
pub fn items_document(items: &[Value]) -> Map<String, Value> {
    let items: Value = items.iter().map(item_state).collect();
    let Value::Object(document) = exact_json::object([(List::Items.name(), items)]) else {
        return Map::new();
    };
    document
}

/// Whether a cart is active: it has not become an order.
fn is_active(cart: &Value) -> bool {
    is_set(&cart["is_active"])
}

fn is_set(flag: &Value) -> bool {
    same_flag(Some(flag), Some(&Value::Bool(true)))
}

/// An id as a number or its text.
fn id_of(id: &Value) -> Result<u64, Failure> {
    scalar(Some(id)).and_then(|id| positive(&id)).ok_or_else(|| {
        Failure::unexpected_reply("the service's answer names no cart")
            .hint("check the base URL and what -vv shows of the answer")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_active;

    #[test]
    fn flags_may_come_as_numbers_or_text() {
        for active in [json!(true), json!(1), json!("1"), json!("true")] {
            assert!(is_active(&json!({"is_active": active})), "{active}");
        }
        for inactive in [json!(false), json!(0), json!("0"), json!(""), json!(null), json!("no")] {
            assert!(!is_active(&json!({"is_active": inactive})), "{inactive}");
        }
        assert!(!is_active(&json!({})));
    }
}
