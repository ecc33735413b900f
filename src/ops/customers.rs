//! Customers that an administrator names: by id, by email, or by words that are searched.

use std::rc::Rc;

use serde_json::Value;

use crate::client::service::{CallToken, Service};
use crate::client::{LOOK_CLOSER, local_service};
use crate::ops::list::{Page, ends_early, read_page};
use crate::ops::positive;
use storefront_core::absent::Absent;
use storefront_core::email::{CustomerName, Email};
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::id::{AddressId, CustomerId};
use storefront_core::interface::request::{Bearer, Filter, MAX_PAGE, Request, search_query, sorted_query};
use storefront_core::profile::address::find_address;
use storefront_core::text::redact::secrets;
use storefront_core::text::sanitize::quoted;

/// The fields in which words are searched; words with digits are also searched in the last two.
const WITH_NUMBERS: [&str; 6] =
    ["email", "firstname", "lastname", "billing_company", "billing_postcode", "billing_telephone"];

/// What the list contains, for messages.
const CUSTOMERS: &str = "customers";

/// How many matches of an email are asked for at most: one customer may have an account on each website.
const MAX_MATCHES: usize = 20;

/// The service for the named customer, by an id or by an email that is not looked up yet; without a name, for the token's
/// own customer.
///
/// # Errors
/// `usage` if the interface has no such calls, and for a name that is neither an id nor an email.
pub fn select<'a>(service: &Service<'a>, named: Option<&str>) -> Result<Service<'a>, Failure> {
    let Some(named) = named else { return Ok(service.of_customer(service.customer)) };
    if service.settings.dialect.customers.is_none() {
        return select_token(service, named);
    }
    match CustomerName::parse(named) {
        Some(CustomerName::Id(id @ CustomerId(0))) => Err(no_such_customer(id)),
        Some(CustomerName::Id(id)) => Ok(service.of_customer(Some(id))),
        Some(CustomerName::Email(email)) => {
            Ok(Service { customer: None, email: Some(email), ..service.clone() })
        }
        None => Err(Failure::usage(format!("`{named}` is neither a customer ID nor an email"))
            .hint(hint!("search with ", storefront("customer find TEXT")))),
    }
}

/// The same service, with the id of a customer whom an email names: for calls that take nothing else.
///
/// # Errors
/// As [`find_by_email`].
pub async fn with_id<'a>(service: &Service<'a>) -> Result<Service<'a>, Failure> {
    let Some(email) = &service.email else { return Ok(service.clone()) };
    // In a box: most records name no email, and each record in flight would hold room for this.
    let found = Box::pin(find_by_email(service, email)).await?;
    let id = positive(&text(&found, "id")).ok_or_else(without_id)?;
    Ok(service.of_customer(Some(CustomerId(id))))
}

/// The failure if no customer has this id.
pub fn no_such_customer(id: CustomerId) -> Failure {
    no_customer_has(&format!("ID {id}"))
}

fn no_customer_has(named: &str) -> Failure {
    let failure =
        Failure { absent: Some(Absent::Customer), ..Failure::usage(format!("no customer has the {named}")) };
    failure.hint(hint!("search with ", storefront("customer find TEXT")))
}

/// Selects a customer in an interface without administrators' calls: only the built-in service gives out the customers'
/// own tokens.
fn select_token<'a>(service: &Service<'a>, named: &str) -> Result<Service<'a>, Failure> {
    let name = service.settings.dialect.name;
    if service.settings.sandbox.is_none() {
        return Err(Failure::usage(format!(
            "the {name} interface has no call that reads or writes a named customer: the token decides \
             whose profile it is"
        ))
        .hint("use the token of that customer, or --api magento if the service is a Magento shop"));
    }
    let tokens = local_service::tokens(service.session.context, None)?;
    let is_named = |id: Option<i64>, email: Option<&str>| {
        let is_email = |own| Email::new(own) == Email::new(named);
        id.is_some_and(|id| id.to_string() == named) || email.is_some_and(is_email)
    };
    let found = tokens.iter().find(|issued| is_named(issued.customer_id, issued.email.as_deref()));
    let token = found
        .and_then(|issued| storefront_core::text::token::Credential::new(&issued.token))
        .ok_or_else(|| {
            Failure::usage(format!("the sandbox has no customer `{named}`"))
                .hint(hint!(storefront("sandbox tokens"), " lists the customers"))
        })?;
    secrets().add(&token);
    let token = CallToken::OfRun(Rc::new(token));
    Ok(Service { token, ..service.of_customer(None) })
}

/// The profile of the one customer with an email, as the search has it.
///
/// # Errors
/// `usage` for an unknown email, and for one that several customers have.
pub async fn find_by_email(service: &Service<'_>, email: &Email) -> Result<Value, Failure> {
    let filters = [Filter::equal(&["email"], email)];
    // Some shops fail at the search for one customer, whom other calls show.
    let failed = |failure: Failure| match failure.status {
        Some(500) => failure.hint("name the customer by ID, which needs no search: --customer ID"),
        _ => failure,
    };
    let page = search(service, &filters, MAX_MATCHES).await.map_err(failed)?;
    let is_whole = page.is_last();
    let count = page.total.unwrap_or(MAX_MATCHES as u64);
    // The shop's database may ignore accents and blanks; an email matches only if it is spelled so.
    let is_it = |customer: &Value| Email::of(&customer["email"]).as_ref() == Some(email);
    let mut matches: Vec<Value> = page.records.into_iter().filter(is_it).collect();
    match (matches.len(), is_whole) {
        // Without an id a request would be for the token's own customer.
        (1, true) if positive(&text(&matches[0], "id")).is_none() => Err(without_id()),
        (1, true) => Ok(matches.remove(0)),
        (0, true) => Err(no_customer_has(&format!("email {}", quoted(email)))),
        (0 | 1, false) => {
            let message =
                format!("the shop answered the search for the email `{email}` with {count} customers");
            Err(Failure::unexpected_reply(message).hint("name the customer by ID: --customer ID"))
        }
        (several, _) => {
            let each =
                |customer| format!("{} (website {})", text(customer, "id"), text(customer, "website_id"));
            let each = matches.iter().map(each).collect::<Vec<_>>().join(", ");
            Err(Failure::usage(format!("{several} customers have the email `{email}`: {each}"))
                .hint("name the customer by ID: --customer ID"))
        }
    }
}

/// The message if a search finds nobody.
pub const NO_CUSTOMER_FOUND: &str = "no customer found; each word must be a part of the email, first name, last name or company, or a number of the telephone \
     or postcode; of addresses only the default billing address can be searched";

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The customers, at most as many as were asked for.
    pub customers: Vec<Value>,
    /// How many there are, if the service says so.
    pub total: Option<u64>,
}

/// Customers who have every word, as [`Pages::of_words`] says, at most `limit`.
///
/// # Errors
/// `usage` where the interface has no search, and as [`Service::read`].
pub async fn find(service: &Service<'_>, text: &str, limit: usize) -> Result<Found, Failure> {
    let mut pages = Pages::of_words(text)?;
    let mut all = Found { customers: Vec::new(), total: None };
    while all.customers.len() < limit
        && let Some(page) = pages.next(service, limit - all.customers.len()).await?
    {
        all.total = all.total.or(pages.total);
        all.customers.extend(page);
    }
    Ok(all)
}

/// The customers that meet some filters, page by page in the order of their ids: even if customers are added or deleted
/// meanwhile, nobody else is passed over or comes twice. A page beyond the last one has no customers, and the shop
/// ignores which page is asked for, so ids tell where to continue.
pub struct Pages {
    filters: Vec<Filter>,
    last: u64,
    is_last: bool,
    count: u64,
    /// How many there are, if the service says so.
    pub total: Option<u64>,
    /// The number that is searched; the shop can only compare its digits one by one.
    number: Option<Number>,
}

/// A number to find: as it was typed, and its last digits.
struct Number {
    text: String,
    digits: String,
}

/// How many digits of a telephone number are compared, however its beginning is written.
const TELLING_DIGITS: usize = 7;

impl Number {
    /// A text that is a telephone number or a postcode, as far as its characters say.
    fn of(text: &str) -> Option<Self> {
        let is_sign = |it: char| it.is_ascii_digit() || it.is_whitespace() || "+-()./".contains(it);
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        (digits.len() >= 3 && text.chars().all(is_sign)).then(|| {
            let start = digits.len().saturating_sub(TELLING_DIGITS);
            Self { text: text.trim().to_owned(), digits: digits[start..].to_owned() }
        })
    }

    /// A filter that allows anything between two digits of a stored number.
    fn filter(&self) -> Filter {
        let digits: Vec<String> = self.digits.chars().map(String::from).collect();
        Filter {
            fields: &["email", "firstname", "lastname", "billing_company", "billing_postcode"],
            condition: "like",
            value: format!("%{}%", escape_like(&self.text)),
            or: Some(("billing_telephone", format!("%{}%", digits.join("%")))),
        }
    }

    /// Whether a customer has the number, and not just its digits in a longer number.
    fn is_of(&self, customer: &Value) -> bool {
        let billing = billing_address(customer).unwrap_or(&Value::Null);
        let telephone = text(billing, "telephone");
        let telephone: String = telephone.chars().filter(char::is_ascii_digit).collect();
        let texts = ["company", "postcode"].map(|name| text(billing, name));
        let own = ["email", "firstname", "lastname"].map(|name| text(customer, name));
        telephone.contains(&self.digits) || texts.iter().chain(&own).any(|text| text.contains(&self.text))
    }
}

/// The default billing address of a customer: the only one whose fields a shop searches.
pub fn billing_address(customer: &Value) -> Option<&Value> {
    let id = customer.get("default_billing").and_then(AddressId::of)?;
    find_address(customer.as_object()?, id)
}

impl Pages {
    /// Only the customers whose ids are greater.
    #[must_use]
    pub fn after(self, id: u64) -> Self {
        Self { last: id, ..self }
    }

    /// All customers.
    pub const fn of_all() -> Self {
        Self { filters: Vec::new(), last: 0, is_last: false, count: 0, total: None, number: None }
    }

    /// Customers for whom every word is in the email, first name, last name or company of the default billing address,
    /// or, if it has digits, in its telephone or postcode; or whose telephone has the digits of a number, however it is
    /// written.
    ///
    /// # Errors
    /// `usage` for a text without words.
    pub fn of_words(text: &str) -> Result<Self, Failure> {
        if let Some(number) = Number::of(text) {
            return Ok(Self { filters: vec![number.filter()], number: Some(number), ..Self::of_all() });
        }
        let word = |word: &str| Filter {
            fields: if word.contains(|it: char| it.is_ascii_digit()) {
                &WITH_NUMBERS
            } else {
                &WITH_NUMBERS[..4]
            },
            condition: "like",
            value: format!("%{}%", escape_like(word)),
            or: None,
        };
        let filters: Vec<Filter> = text.split_whitespace().map(word).collect();
        if filters.is_empty() {
            return Err(Failure::usage("nothing to search for")
                .hint("give a part of an email, a name, a company, or a telephone number"));
        }
        Ok(Self { filters, ..Self::of_all() })
    }

    /// The next customers, at most `limit` and as many as a page has; `None` at the end.
    ///
    /// # Errors
    /// `usage` if the interface has no search; `unavailable` if the service gives the same customers again in place of
    /// the next ones; and as [`read_page`].
    pub async fn next(&mut self, service: &Service<'_>, limit: usize) -> Result<Option<Vec<Value>>, Failure> {
        loop {
            let Some(mut page) = self.next_page(service, limit).await? else { return Ok(None) };
            let Some(number) = &self.number else { return Ok(Some(page)) };
            page.retain(|customer| number.is_of(customer));
            if !page.is_empty() {
                return Ok(Some(page));
            }
        }
    }

    async fn next_page(
        &mut self,
        service: &Service<'_>,
        limit: usize,
    ) -> Result<Option<Vec<Value>>, Failure> {
        if self.is_last {
            return Ok(None);
        }
        let size = limit.min(MAX_PAGE);
        let mut filters = self.filters.clone();
        filters.extend((self.last > 0).then(|| Filter::above(&["entity_id"], self.last)));
        let query = sorted_query(&filters, "entity_id", size);
        let page = read_page(service, &request(service, &query)?, CUSTOMERS, size).await?;
        // The service counts what is left, not what there was at first.
        self.is_last = page.is_last();
        // For a number, it is not known how many of them have it.
        self.total = self.total.or(page.total.filter(|_| self.number.is_none()));
        let mut customers = page.records;
        let id = |customer: &Value| positive(&text(customer, "id"));
        customers.retain(|customer| id(customer).is_none_or(|id| id > self.last));
        self.count += customers.len() as u64;
        match customers.iter().filter_map(id).max() {
            Some(greatest) => self.last = greatest,
            None if !self.is_last => {
                return Err(ends_early(CUSTOMERS, self.count, self.total.unwrap_or(self.count)));
            }
            None => {}
        }
        Ok((!customers.is_empty()).then_some(customers))
    }
}

/// A search that finds nobody: it needs an administrator's token, and reads nobody's data. `None` if the interface has no
/// search.
pub fn none_request(service: &Service<'_>) -> Option<Request> {
    search_request(service, &[Filter::equal(&["entity_id"], 0)], 1).ok()
}

/// Escapes SQL's wildcards.
fn escape_like(word: &str) -> String {
    word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

async fn search(service: &Service<'_>, filters: &[Filter], limit: usize) -> Result<Page, Failure> {
    read_page(service, &search_request(service, filters, limit)?, CUSTOMERS, limit).await
}

fn search_request(service: &Service<'_>, filters: &[Filter], limit: usize) -> Result<Request, Failure> {
    request(service, &search_query(filters, limit))
}

fn request(service: &Service<'_>, query: &str) -> Result<Request, Failure> {
    let dialect = service.settings.dialect;
    let Some(routes) = dialect.customers else {
        return Err(Failure::usage(format!("the {} interface has no search for customers", dialect.name))
            .hint("use --api magento if the service is a Magento shop"));
    };
    let path = format!("{}?{query}", service.target()?.path(routes.search, &[]));
    Ok(Request::get(path, Bearer::Admin))
}

fn without_id() -> Failure {
    Failure::unexpected_reply("unexpected response: a customer without an id").hint(LOOK_CLOSER)
}

/// A field of a customer as text.
pub fn text(customer: &Value, name: &str) -> String {
    match customer.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
