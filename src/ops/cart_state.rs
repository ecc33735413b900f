//! Sets a cart to a state (docs/interface.md, "Carts set to a state"): the cart is read, one call changes it, and the reply or
//! another read shows the result.

use std::slice;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::client::{Effect, LOOK_CLOSER, Reply, may_be_saved};
use crate::input::Draft;
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::{cart, read_until};
use crate::report::outcome::{CartOutcome, Outcome};
use storefront_core::absent::{Absent, named_in};
use storefront_core::cart::{Cart, find_item, is_asked, item_id, item_state};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Request;
use storefront_core::operation::{
    OperationSpec, QUOTE_CLEAR, QUOTE_REMOVE_ITEM, QUOTE_SET_ITEM, Success, scalar,
};
use storefront_core::profile::diff::{Change, Expected, ensure_planned_in};
use storefront_core::profile::equal::{same_flag, same_value};
use storefront_core::profile::path::FieldPath;
use storefront_core::profile::since::Since;

/// The field of an item's quantity.
const QTY: &str = "qty";

/// The customer's active cart as it was read.
struct Stored<'a> {
    service: &'a Service<'a>,
    cart: Cart<'a>,
    id: u64,
    items: Vec<Value>,
    /// Who the customer is.
    owner: Map<String, Value>,
}

/// What is wanted of a cart, and how it differs.
struct Wanted {
    operation: &'static OperationSpec,
    /// The item.
    item: i64,
    /// Its SKU, for people.
    sku: String,
    /// What the journal keeps for a later undo.
    before: Value,
    change: Change,
    request: Request,
}

impl Wanted {
    fn of(operation: &'static OperationSpec, item: &Value, change: Change, request: Request) -> Self {
        Self {
            operation,
            item: item_id(item).unwrap_or_default(),
            sku: scalar(item.get("sku")).unwrap_or_default(),
            before: Value::Array(vec![item_state(item)]),
            change,
            request,
        }
    }
}

/// What a read shows of a change.
enum Shown {
    Done,
    /// The cart is as it was before.
    Not,
    /// Neither.
    Other,
    Unreadable,
}

impl<'a> Stored<'a> {
    /// Reads the active cart, which is the one that the draft names, if it names one.
    async fn read(service: &'a Service<'a>, draft: &Draft) -> Result<Self, Failure> {
        let target = service.target()?;
        let named = scalar(draft.fields.get("quote_id"));
        let Some(found) = cart::find(service, named.as_deref()).await? else {
            return Err(cart::no_active_cart(service));
        };
        let Some(items) = items_of(&found.shown, found.id) else {
            let message = "the cart was answered without a list of its items";
            return Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER));
        };
        let (items, customer) = (items.clone(), found.shown["customer"].as_object());
        let names = ["id", "email", "firstname", "lastname"];
        let owner = customer.into_iter().flatten().filter(|(name, _)| names.contains(&name.as_str()));
        let owner = owner.map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Self { service, cart: Cart::new(target, Some(found.id))?, id: found.id, items, owner })
    }

    /// What is stored at a place.
    fn find(&self, path: &FieldPath) -> Option<Value> {
        let item = self.items.iter().find(|item| item_id(item) == path.item_id())?;
        if path.is_item() { Some(item_state(item)) } else { item.get(path.last_name()).cloned() }
    }

    /// Reads the cart until it shows the change, for `limit` at most.
    async fn look(&self, change: &Change, limit: Duration) -> Shown {
        let is_done = |shown: &Value| {
            items_of(shown, self.id).is_some_and(|items| compare(items, change) == Some(true))
        };
        let (shown, is_done) = read_until(self.service, &self.cart.read(""), limit, is_done).await;
        match shown.as_ref().and_then(|shown| items_of(shown, self.id)) {
            _ if is_done => Shown::Done,
            None => Shown::Unreadable,
            Some(items) if compare(items, change) == Some(false) => Shown::Not,
            Some(_) => Shown::Other,
        }
    }

    /// Whether the service says of a removal that this cart does not have this item any more.
    fn says_gone(&self, failure: &Failure, change: &Change) -> bool {
        let item = change.path.item_id().filter(|_| change.after.is_none()).map(|id| id.to_string());
        failure.absent == Some(Absent::CartItem)
            && item.is_some_and(|item| named_in(failure.service.as_ref()) == [self.id.to_string(), item])
    }

    /// Whether the cart shows none of the items that were removed; what others add meanwhile stays.
    async fn is_cleared(&self, changes: &[Change], settle: Duration) -> Result<bool, Failure> {
        let has = |items: &[Value], change: &Change| {
            items.iter().any(|item| item_id(item) == change.path.item_id())
        };
        let is_cleared = |shown: &Value| {
            items_of(shown, self.id).is_some_and(|items| !changes.iter().any(|change| has(items, change)))
        };
        let (shown, is_so) = read_until(self.service, &self.cart.read(""), settle, is_cleared).await;
        let items = shown.as_ref().and_then(|shown| items_of(shown, self.id));
        let report = self.service.session.report;
        match items {
            Some(items) if is_so && !items.is_empty() => {
                report.warn("the cart has items that were added meanwhile");
            }
            Some(_) if !is_so => return Err(look_again(not_shown(200))),
            None => report.warn("the change is not verified: the cart could not be read"),
            Some(_) => {}
        }
        Ok(is_so)
    }

    /// Makes the change, or shows the call.
    async fn set(&self, draft: &Draft, wanted: Wanted, settle: Duration) -> Result<Outcome, Failure> {
        let Wanted { operation, item, sku, before, change, request } = wanted;
        let of_cart = CartOutcome { changes: vec![change.clone()], owner: self.owner.clone() };
        let (what, service) = (format!("item {item} ({sku})"), self.service);
        if change.is_same() {
            let unchanged = Some(format!("{what} has this quantity already"));
            let (reason, cart) = (Some("unchanged"), Some(CartOutcome::default()));
            return Ok(Outcome { reason, cart, unchanged, ..Outcome::not_sent(operation.name) });
        }
        if let Some(expected) = &draft.expect {
            ensure_planned_in(&expected.changes, &of_cart.changes, |path| self.find(path))?;
        }
        if service.session.global.dry_run {
            let shown = Outcome::dry_run(operation.name, service.preview(request));
            return Ok(Outcome { cart: Some(of_cart), ..shown });
        }
        if operation.deletes {
            let question = format!("Remove {what} from cart {}?", self.id);
            service.session.prompt().confirm_deletion(&question)?;
        }
        service.log_before_change(before).await?;
        let sent = service.send(operation.name, &request, Effect::Write).await;
        let (reply, verified) = self.judge(sent, &change, settle).await?;
        let text = said(&what, self.id, &change);
        let (status, response) = (reply.as_ref().map(|reply| reply.status), reply.map(|reply| reply.value));
        Ok(Outcome {
            applied: Applied::Yes,
            status,
            response,
            cart: Some(of_cart),
            verified: Some(verified),
            success: Some(Success { text, covers_response: true }),
            ..Outcome::not_sent(operation.name)
        })
    }

    /// What became of the call: its reply, and whether the cart shows the change.
    async fn judge(
        &self,
        sent: Result<Reply, Failure>,
        change: &Change,
        settle: Duration,
    ) -> Result<(Option<Reply>, bool), Failure> {
        let report = self.service.session.report;
        // The reply to a removal says no more than that it was done.
        let is_said = |reply: &Reply| {
            change.after.is_some() && compare(slice::from_ref(&reply.value), change) == Some(true)
        };
        let failure = match sent {
            Ok(reply) if is_said(&reply) => return Ok((Some(reply), true)),
            Ok(reply) => {
                let doubt = match self.look(change, settle).await {
                    Shown::Done => return Ok((Some(reply), true)),
                    Shown::Not => return Err(look_again(not_shown(reply.status))),
                    Shown::Other => "the cart shows something else",
                    Shown::Unreadable => "the cart could not be read",
                };
                report.warn(&format!("the change is not verified: {doubt}"));
                return Ok((Some(reply), false));
            }
            Err(failure) => failure,
        };
        if failure.applied == Applied::Unknown {
            if let Shown::Done = self.look(change, settle).await {
                report.warn(&format!("{}; verified as applied", failure.message));
                return Ok((None, true));
            }
        } else if self.says_gone(&failure, change) {
            if let Shown::Done = self.look(change, settle).await {
                report.warn(&format!("the item was removed by somebody else: {}", failure.message));
                return Ok((None, true));
            }
        } else if may_be_saved(&failure)
            && let Shown::Done = self.look(change, Duration::ZERO).await
        {
            let message = format!("refused, but saved: {}", failure.message);
            let (kind, applied) = (FailureKind::Mismatch, Applied::Unknown);
            return Err(look_again(Failure { kind, applied, message, ..failure }));
        }
        Err(if failure.applied == Applied::Unknown { look_again(failure) } else { failure })
    }
}

/// Sets the quantity of an item, or shows the call. Where the outcome is unknown the cart is read for `settle` at most; nothing
/// is sent again.
///
/// # Errors
/// `usage` for an item that is not in the cart; `refused` without a cart; as [`Service::send`].
pub async fn set_item(service: &Service<'_>, draft: &Draft, settle: Duration) -> Result<Outcome, Failure> {
    let stored = Stored::read(service, draft).await?;
    let item = find_item(&stored.items, &draft.fields)?;
    let (id, qty) = (item_id(item).unwrap_or_default(), quantity(draft));
    let change = Change {
        path: FieldPath::item(id).member(QTY),
        before: item.get(QTY).cloned(),
        after: Some(qty.clone()),
    };
    let request = stored.cart.set_item(id, qty)?;
    stored.set(draft, Wanted::of(&QUOTE_SET_ITEM, item, change, request), settle).await
}

/// Removes an item, or shows the call, by the same rules. A person has to agree.
///
/// # Errors
/// As [`set_item`]; `cancelled`, or `guard` where nobody can be asked.
pub async fn remove_item(service: &Service<'_>, draft: &Draft, settle: Duration) -> Result<Outcome, Failure> {
    let stored = Stored::read(service, draft).await?;
    let item = find_item(&stored.items, &draft.fields)?;
    let id = item_id(item).unwrap_or_default();
    let change = Change { path: FieldPath::item(id), before: Some(item_state(item)), after: None };
    let request = stored.cart.remove_item(id);
    stored.set(draft, Wanted::of(&QUOTE_REMOVE_ITEM, item, change, request), settle).await
}

/// Removes all items, one call each, or shows the calls. A person has to agree.
///
/// # Errors
/// As [`set_item`]; `partial` where some items were removed; `cancelled`, or `guard` where nobody can be asked.
pub async fn clear(service: &Service<'_>, draft: &Draft, settle: Duration) -> Result<Outcome, Failure> {
    let stored = Stored::read(service, draft).await?;
    let name = QUOTE_CLEAR.name;
    let items: Vec<(i64, &Value)> =
        stored.items.iter().filter_map(|item| Some((item_id(item)?, item))).collect();
    let change = |(id, item): &(i64, &Value)| Change {
        path: FieldPath::item(*id),
        before: Some(item_state(item)),
        after: None,
    };
    let changes: Vec<Change> = items.iter().map(change).collect();
    if changes.is_empty() {
        let unchanged = Some(format!("cart {} is empty already", stored.id));
        let (reason, cart) = (Some("unchanged"), Some(CartOutcome::default()));
        return Ok(Outcome { reason, cart, unchanged, ..Outcome::not_sent(name) });
    }
    if let Some(expected) = &draft.expect {
        ensure_planned_in(&expected.changes, &changes, |path| stored.find(path))?;
    }
    let call = |(id, item): &(i64, &Value)| {
        let sku = scalar(item.get("sku")).unwrap_or_default();
        (format!("remove item {id} ({sku})"), stored.cart.remove_item(*id))
    };
    let planned: Vec<Planned> = items.iter().map(call).collect();
    let cart = Some(CartOutcome { changes: changes.clone(), owner: stored.owner.clone() });
    if service.session.global.dry_run {
        return Ok(Outcome { cart, ..preview(service, name, planned) });
    }
    let count = if changes.len() == 1 { "1 item".to_owned() } else { format!("all {} items", changes.len()) };
    service.session.prompt().confirm_deletion(&format!("Remove {count} from cart {}?", stored.id))?;
    service.log_before_change(stored.items.iter().map(item_state).collect()).await?;
    let mut calls = Calls::new(service, name);
    for (call, change) in planned.iter().zip(&changes) {
        let Err(failure) = calls.send_next(call, Effect::Write).await else { continue };
        let is_lost = failure.applied == Applied::Unknown || stored.says_gone(&failure, change);
        if is_lost && matches!(stored.look(change, settle).await, Shown::Done) {
            calls.last_is_applied(&failure);
        } else {
            let again = hint!(
                "look at the cart with ",
                storefront("quote show"),
                "; the command again removes what is left"
            );
            return Err(calls.failed(failure, &planned, Some(again)));
        }
    }
    let done = calls.finish();
    let verified = stored.is_cleared(&changes, settle).await?;
    let text = format!("Removed {count} from cart {}", stored.id);
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { cart, verified: Some(verified), success, ..done })
}

/// Whether the cart has the state of a record of an earlier run; `None` while that is unknown. That an item is not there says
/// nothing of a cart that is not named: it may be a new one, after an order.
///
/// # Errors
/// Where the cart cannot be read.
pub async fn resolve_unknown(service: &Service<'_>, draft: &Draft) -> Result<Option<Outcome>, Failure> {
    let stored = Stored::read(service, draft).await?;
    let is_named = scalar(draft.fields.get("quote_id")).is_some();
    let is_set = if *draft.operation == QUOTE_SET_ITEM {
        let found = find_item(&stored.items, &draft.fields);
        found.is_ok_and(|item| same_value(QTY, item.get(QTY), Some(&quantity(draft))))
    } else if *draft.operation == QUOTE_REMOVE_ITEM {
        is_named && !stored.items.iter().any(|item| is_asked(item, &draft.fields))
    } else {
        is_named && stored.items.is_empty()
    };
    let (reason, verified) = (Some("done earlier"), Some(true));
    Ok(is_set.then(|| Outcome {
        applied: Applied::Yes,
        reason,
        verified,
        ..Outcome::not_sent(draft.operation.name)
    }))
}

/// What of a record that set the quantity of an item, or removed it, is not as it was left. That there is no such cart any more is
/// said in words.
///
/// # Errors
/// Where the cart cannot be read.
pub async fn since(service: &Service<'_>, draft: &Draft) -> Result<Result<Vec<Since>, String>, Failure> {
    let stored = match Stored::read(service, draft).await {
        Ok(stored) => stored,
        Err(failure) if has_no_cart(&failure) => return Ok(Err(failure.message)),
        Err(failure) => return Err(failure),
    };
    let item = stored.items.iter().find(|item| is_asked(item, &draft.fields));
    let id = item.and_then(item_id).or_else(|| scalar(draft.fields.get("item_id"))?.parse().ok());
    let path = FieldPath::item(id.unwrap_or_default());
    let is_set = *draft.operation == QUOTE_SET_ITEM;
    let (written, now) = if is_set {
        (Some(quantity(draft)), item.and_then(|item| item.get(QTY)).cloned())
    } else {
        (None, item.map(item_state))
    };
    let path = if is_set { path.member(QTY) } else { path };
    let is_as_written = match (&written, &now) {
        (None, None) => true,
        (Some(_), Some(_)) => same_value(QTY, now.as_ref(), written.as_ref()),
        _ => false,
    };
    Ok(Ok(if is_as_written { Vec::new() } else { vec![Since { path, written, now }] }))
}

/// What sets the quantity of an item back.
#[derive(Debug)]
pub enum SetBack {
    /// The fields of a record, and what it changes.
    Draft(Map<String, Value>, Expected),
    /// It is as it was before.
    Nothing,
    /// Why it is left.
    Left(String),
}

/// What leads from the quantity that a record set back to the one that was there `before` it, as its journal has it, where the cart
/// still has what was set.
///
/// # Errors
/// Where the cart cannot be read.
pub async fn set_back(service: &Service<'_>, draft: &Draft, before: &Value) -> Result<SetBack, Failure> {
    let (Some(item), set) = (before.get(0), quantity(draft)) else {
        return Ok(SetBack::Left("the journal does not say what was there before".to_owned()));
    };
    let what = |id| format!("item {id} ({})", scalar(item.get("sku")).unwrap_or_default());
    let stored = match Stored::read(service, draft).await {
        Ok(stored) => stored,
        Err(failure) if has_no_cart(&failure) => return Ok(SetBack::Left(failure.message)),
        Err(failure) => return Err(failure),
    };
    let own = |name: &str| Map::from_iter([(name.to_owned(), item.get(name).cloned().unwrap_or_default())]);
    // The id of an item can change when its quantity is set.
    let by_sku = || find_item(&stored.items, &own("sku")).ok();
    let Some(now) = find_item(&stored.items, &own("item_id")).ok().or_else(by_sku) else {
        return Ok(SetBack::Left(format!(
            "{} is no longer in the cart",
            what(item_id(item).unwrap_or_default())
        )));
    };
    let (id, qty) = (item_id(now).unwrap_or_default(), now.get(QTY));
    if same_value(QTY, qty, item.get(QTY)) {
        return Ok(SetBack::Nothing);
    }
    if !same_value(QTY, qty, Some(&set)) {
        let now = scalar(qty).unwrap_or_default();
        return Ok(SetBack::Left(format!("{} has changed since: its quantity is {now}", what(id))));
    }
    let (path, after) = (FieldPath::item(id).member(QTY), item.get(QTY).cloned());
    let fields = [("item_id", id.into()), (QTY, after.clone().unwrap_or_default())];
    let fields = fields.into_iter().chain([("quote_id", stored.id.to_string().into())]);
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).collect();
    let changes = vec![Change { path, before: qty.cloned(), after }];
    Ok(SetBack::Draft(fields, Expected { owner: stored.owner.clone(), changes, ..Expected::default() }))
}

/// The quantity as a number, which the interface also takes as text.
fn quantity(draft: &Draft) -> Value {
    let given = draft.fields.get(QTY).cloned().unwrap_or_default();
    let number = given.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
    number.map_or(given, Value::Number)
}

/// Whether a read showed that there is no such cart, or no such customer.
fn has_no_cart(failure: &Failure) -> bool {
    matches!(failure.absent, Some(Absent::Cart | Absent::Customer))
}

/// The items of a cart, where it is this one and active.
fn items_of(shown: &Value, id: u64) -> Option<&Vec<Value>> {
    let is_it = scalar(shown.get("id")) == Some(id.to_string());
    let is_active = same_flag(shown.get("is_active"), Some(&Value::Bool(true)));
    shown.get("items")?.as_array().filter(|_| is_it && is_active)
}

/// Whether items are as after the change (`true`) or as before (`false`); `None` where they are neither.
fn compare(items: &[Value], change: &Change) -> Option<bool> {
    let item = items.iter().find(|item| item_id(item) == change.path.item_id());
    let is_whole = change.path.is_item();
    let now =
        item.map(|item| if is_whole { item_state(item) } else { item.get(QTY).cloned().unwrap_or_default() });
    let is = |side: &Option<Value>| match (&now, side) {
        (None, None) => true,
        (Some(now), Some(side)) => same_value(QTY, Some(now), Some(side)),
        _ => false,
    };
    if is(&change.after) { Some(true) } else { is(&change.before).then_some(false) }
}

fn said(what: &str, cart: u64, change: &Change) -> String {
    if change.after.is_none() {
        return format!("Removed {what} from cart {cart}");
    }
    let [before, after] =
        [&change.before, &change.after].map(|side| scalar(side.as_ref()).unwrap_or_default());
    format!("Set {what} of cart {cart} from {before} to {after}")
}

fn not_shown(status: u16) -> Failure {
    let message = "the service accepted the change, and the cart does not show it";
    Failure { status: Some(status), ..Failure::new(FailureKind::Mismatch, message) }
}

/// It is not sent again automatically.
fn look_again(failure: Failure) -> Failure {
    failure.hint(hint!(
        "look at the cart with ",
        storefront("quote show"),
        "; if it is as before, run the command again"
    ))
}
