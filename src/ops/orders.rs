//! Placed orders: found by their number or their customer, and read.

use std::collections::HashSet;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::list::read_page;
use crate::ops::{Examiner, Refused, positive};
use storefront_core::absent::Absent;
use storefront_core::email::{CustomerName, Email};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Filter, MAX_PAGE, Request};
use storefront_core::operation::scalar;
use storefront_core::order::{Order, OrderCalls};

/// What the list contains, for messages.
const ORDERS: &str = "orders";
/// How many orders with one number are asked for: several websites may give the same number.
const MAX_MATCHES: usize = 20;
/// How many digits an order number has; a spreadsheet drops the leading zeros.
const DIGITS: usize = 9;
/// The fields that are read to find an order.
const TO_FIND: &str = "items[entity_id,increment_id,store_id],total_count";
/// The fields that are read for a list of orders.
const TO_LIST: &str = "items[entity_id,increment_id,created_at,state,status,grand_total,order_currency_code,customer_id,\
    customer_email,extension_attributes[shipping_assignments[shipping[address[city]]]]],total_count";

/// How an order is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderName {
    /// By its id.
    Id(u64),
    /// By the number that people know.
    Number(String),
}

impl OrderName {
    /// The order that a draft names.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn in_draft(draft: &Draft) -> Result<Self, Failure> {
        let field = |name| scalar(draft.fields.get(name));
        Self::of(field("order"), field("order_id"))
    }

    /// The name in the fields of an input.
    ///
    /// # Errors
    /// `usage` without one, or with both.
    pub fn of(number: Option<String>, id: Option<String>) -> Result<Self, Failure> {
        match (number, id) {
            (Some(number), None) => Ok(Self::Number(number.trim().to_owned())),
            (None, Some(id)) => positive(&id)
                .map(Self::Id)
                .ok_or_else(|| Failure::usage(format!("`{id}` is not the ID of an order"))),
            (Some(_), Some(_)) => Err(Failure::usage("the order is named by its number and by its ID")
                .hint("leave out one of them")),
            (None, None) => Err(Failure::usage("no order given").hint(hint!(
                "name it by its number, such as 000000002; ",
                storefront("order list --customer ID"),
                " lists the orders of a customer"
            ))),
        }
    }
}

/// Reads an order. For a number one search is enough, which shows all of it.
///
/// # Errors
/// `usage` if there is no such order, or there are several; as [`Service::read`].
pub async fn read(service: &Service<'_>, name: &OrderName) -> Result<Order, Failure> {
    let calls = OrderCalls::new(service.settings.dialect)?;
    match name {
        OrderName::Id(id) => read_by_id(service, &calls, *id).await,
        OrderName::Number(number) => {
            let found = search(service, &calls, number, None).await?;
            Order::of(only(service, &calls, number, found).await?).ok_or_else(unexpected)
        }
    }
}

/// The id of an order.
///
/// # Errors
/// As [`read`]; the failure for a number without its leading zeros names the number that exists.
pub async fn find(service: &Service<'_>, name: &OrderName) -> Result<u64, Failure> {
    let calls = OrderCalls::new(service.settings.dialect)?;
    let number = match name {
        OrderName::Id(id) => return Ok(*id),
        OrderName::Number(number) => number,
    };
    let found = search(service, &calls, number, Some(TO_FIND)).await?;
    let order = only(service, &calls, number, found).await?;
    scalar(order.get("entity_id")).and_then(|id| positive(&id)).ok_or_else(unexpected)
}

/// Reads the order with this id.
///
/// # Errors
/// As [`read`].
pub async fn read_by_id(service: &Service<'_>, calls: &OrderCalls, id: u64) -> Result<Order, Failure> {
    let reply = service.read(&calls.read(id)).await.map_err(|failure| match failure.absent {
        Some(Absent::Entity) => {
            Failure { absent: failure.absent, ..Failure::usage(format!("no order has the ID {id}")) }
        }
        _ => failure,
    })?;
    // With half an order, the other half would be lost.
    let is_whole = reply.warning.is_none();
    Order::of(reply.value).filter(|order| is_whole && order.id == id).ok_or_else(unexpected)
}

fn unexpected() -> Failure {
    Failure::unexpected_reply("unexpected response: not the order").hint(LOOK_CLOSER)
}

/// The orders with this number.
async fn search(
    service: &Service<'_>,
    calls: &OrderCalls,
    number: &str,
    fields: Option<&str>,
) -> Result<Vec<Value>, Failure> {
    let request = calls.search(Filter::equal(&["increment_id"], number), MAX_MATCHES, fields);
    let page = read_page(service, &request, ORDERS, MAX_MATCHES).await?;
    // The database also finds numbers that only look alike.
    let is_it = |order: &Value| scalar(order.get("increment_id")).as_deref() == Some(number);
    Ok(page.records.into_iter().filter(is_it).collect())
}

/// The only order that was found.
async fn only(
    service: &Service<'_>,
    calls: &OrderCalls,
    number: &str,
    mut found: Vec<Value>,
) -> Result<Value, Failure> {
    if found.len() > 1 {
        let each = |order: &Value| {
            let part = |name| scalar(order.get(name)).unwrap_or_default();
            format!("{} (store {})", part("entity_id"), part("store_id"))
        };
        let each = found.iter().map(each).collect::<Vec<_>>().join(", ");
        let message = format!("{} orders have the number `{number}`: {each}", found.len());
        return Err(Failure::usage(message).hint("name the order by its ID: --id ID, or `order_id`"));
    }
    if let Some(order) = found.pop() {
        return Ok(order);
    }
    let absent = |message| Failure { absent: Some(Absent::Entity), ..Failure::usage(message) };
    let has_lost_zeros = number.len() < DIGITS && number.bytes().all(|digit| digit.is_ascii_digit());
    let whole = format!("{number:0>DIGITS$}");
    if has_lost_zeros && !search(service, calls, &whole, Some(TO_FIND)).await?.is_empty() {
        let message = format!("no order has the number `{number}`; there is `{whole}`");
        return Err(absent(message)
            .hint("give the number with its zeros; in a spreadsheet, make the column a text first"));
    }
    Err(absent(format!("no order has the number `{number}`"))
        .hint(hint!("list the orders of a customer with ", storefront("order list --customer ID"))))
}

/// The newest orders of a customer, named by id or by the email of the orders (guests have only an email). Returns at
/// most `limit`, and how many there are.
///
/// # Errors
/// `usage` for a name that is neither; as [`read_page`].
pub async fn of_customer(
    service: &Service<'_>,
    customer: &str,
    limit: usize,
) -> Result<(Vec<Value>, Option<u64>), Failure> {
    let calls = OrderCalls::new(service.settings.dialect)?;
    let name = CustomerName::parse(customer).ok_or_else(|| {
        Failure::usage(format!("`{customer}` is neither a customer ID nor an email"))
            .hint(hint!("search with ", storefront("customer find TEXT")))
    })?;
    let filter = match &name {
        CustomerName::Id(id) => Filter::equal(&["customer_id"], id),
        CustomerName::Email(email) => Filter::equal(&["customer_email"], email),
    };
    let request: Request = calls.search(filter, limit, Some(TO_LIST));
    let page = read_page(service, &request, ORDERS, limit).await?;
    // The shop's database may ignore accents, and a filter that it does not understand.
    let is_own = |order: &Value| match &name {
        CustomerName::Id(id) => scalar(order.get("customer_id")) == Some(id.to_string()),
        CustomerName::Email(email) => Email::of(&order["customer_email"]).as_ref() == Some(email),
    };
    Ok((page.records.into_iter().filter(is_own).collect(), page.total))
}

/// Looks up the numbers of the orders that a batch is going to correct, many with one request.
pub struct Numbers<'a> {
    service: &'a Service<'a>,
    /// The numbers that were not looked up yet, with their lines.
    pending: Vec<(u64, String)>,
}

impl<'a> Numbers<'a> {
    /// How many numbers one request looks up.
    const TOGETHER: usize = 100;

    /// No numbers so far.
    pub fn new(service: &'a Service<'a>) -> Self {
        Self { service, pending: Vec::new() }
    }

    async fn find_pending(&mut self) -> Result<Vec<Refused>, Failure> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(Vec::new());
        }
        let calls = OrderCalls::new(self.service.settings.dialect)?;
        let numbers: HashSet<&str> = pending.iter().map(|(_, number)| number.as_str()).collect();
        let list = numbers.into_iter().collect::<Vec<_>>().join(",");
        let filter = Filter { condition: "in", ..Filter::equal(&["increment_id"], list) };
        let request = calls.search(filter, MAX_PAGE, Some(TO_FIND));
        let page = read_page(self.service, &request, ORDERS, MAX_PAGE).await?;
        let found = page.records.iter().filter_map(|order| scalar(order.get("increment_id")));
        let found: Vec<String> = found.collect();
        let is_once = |number: &String| found.iter().filter(|own| *own == number).count() == 1;
        let mut refused = Vec::new();
        for (line, number) in pending.into_iter().filter(|(_, number)| !is_once(number)) {
            match Box::pin(find(self.service, &OrderName::Number(number))).await {
                Err(failure) if failure.kind == FailureKind::Usage => refused.push((line, failure)),
                found => drop(found?),
            }
        }
        Ok(refused)
    }
}

impl Examiner for Numbers<'_> {
    fn take<'s>(
        &'s mut self,
        line: u64,
        draft: &'s Draft,
    ) -> LocalBoxFuture<'s, Result<Vec<Refused>, Failure>> {
        Box::pin(async move {
            if let OrderName::Number(number) = OrderName::in_draft(draft)? {
                self.pending.push((line, number));
            }
            if self.pending.len() < Self::TOGETHER { Ok(Vec::new()) } else { self.find_pending().await }
        })
    }

    fn finish(&mut self) -> LocalBoxFuture<'_, Result<Vec<Refused>, Failure>> {
        Box::pin(self.find_pending())
    }
}
