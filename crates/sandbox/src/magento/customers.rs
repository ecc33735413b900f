//! `customers/me` and `customers/{id}`: reading and replacing a profile.

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex_lite::Regex;
use serde_json::{Value, json};

use super::address_book;
use super::custom_attributes::{self, CUSTOMER_ATTRIBUTES};
use super::customer_view::{self, DEFAULTS, default_id, merge_attributes, storable};
use super::default_addresses::{self, SentList};
use super::search::same_text;
use crate::call::Call;
use crate::coerce::as_text;
use crate::fault::spec::FaultKind;
use crate::marketplace::profile::{now, unchanged};
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// The administrators' website, that of the store views, and a second one with other customers.
const WEBSITES: [i64; 3] = [0, 1, 2];

/// Fields that a PUT cannot set.
const FIXED: &[&str] = &["id", "created_at", "updated_at", "created_in", "addresses", "custom_attributes"];
/// Fields that only an administrator's PUT sets.
const ADMINISTRATORS: &[&str] = &["group_id", "website_id", "store_id"];

/// GET `customers/{me|customerId}`.
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let id = if call.is_own { call.customer()? } else { existing(records, call.id(0)?)? };
    customer_view::customer(records, id)
}

/// PUT `customers/{me|customerId}`. On `me` the id is the token's, even if another was sent. Otherwise the id in the body
/// takes precedence over the one in the path; fields that are not sent are taken from the customer in the path, also the
/// email.
///
/// An administrator's token on `me` is refused: Magento would make a new customer.
pub fn replace(records: &Database<'_>, mut call: Call) -> Result<Value, ApiError> {
    if call.is_own {
        if blank(&call.sent, "email") {
            return Err(ApiError::new(400, "The customer email is missing. Enter and try again."));
        }
        let own = call.customer()?;
        return save(records, &mut call, own);
    }
    let in_path = existing(records, call.id(0)?)?;
    if blank(&call.sent, "email") && call.sent.get("email") != Some(&json!("")) {
        let email = records.customer(in_path)?.get("email").cloned().unwrap_or_default();
        call.sent.insert("email".to_owned(), email);
    }
    let target = match call.sent.get("id").and_then(Value::as_i64) {
        Some(id) if id != in_path => existing(records, id)?,
        _ => in_path,
    };
    check_scope(&call.sent)?;
    save(records, &mut call, target)
}

/// DELETE `addresses/{addressId}`: of any customer, and without checks of it or the other addresses. A default that it
/// was is removed from the profile; nothing else changes.
pub fn remove_address(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let id = call.id(0)?;
    let owner = records.address_owner(id)?.ok_or_else(|| ApiError::no_such_entity("addressId", id))?;
    remove_from(records, owner, id)?;
    for lost in call.struck.lost(records.addresses(owner)?) {
        remove_from(records, owner, lost.id)?;
    }
    Ok(json!(true))
}

/// Deletes an address of `owner`, with the defaults that name it.
fn remove_from(records: &Database<'_>, owner: i64, id: i64) -> Result<(), ApiError> {
    let mut customer = records.customer(owner)?;
    for name in DEFAULTS {
        if default_id(&customer, name) == Some(id) {
            customer.shift_remove(name);
        }
    }
    records.put_customer(owner, &customer)?;
    Ok(records.remove_address(id)?)
}

/// 500 for an unknown website or store view.
fn check_scope(sent: &Document) -> Result<(), ApiError> {
    for (name, known) in [("website_id", &WEBSITES[..]), ("store_id", &[0, 1, 2, 3])] {
        if sent.get(name).and_then(Value::as_i64).is_some_and(|id| !known.contains(&id)) {
            return Err(ApiError::internal());
        }
    }
    Ok(())
}

/// `id` if it is a customer; 404 otherwise.
pub fn existing(records: &Database<'_>, id: i64) -> Result<i64, ApiError> {
    if records.customer_exists(id)? { Ok(id) } else { Err(ApiError::no_such_entity("customerId", id)) }
}

fn save(records: &Database<'_>, call: &mut Call, target: i64) -> Result<Value, ApiError> {
    if let Some(text) = call.sent.get("dob").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        let date = birthday(text)?;
        call.sent.insert("dob".to_owned(), date.into());
    }
    let sent = &call.sent;
    let is_own = call.is_own;
    let mut customer = records.customer(target)?;
    let before = records.addresses(target)?;
    default_addresses::check_sent(&customer, &before, sent, is_own)?;
    check_fields(&customer, sent, is_own)?;
    custom_attributes::check(sent)?;
    check_email(records, sent, target)?;
    before.iter().try_for_each(|address| address_book::check_stored(&address.body))?;
    merge(&mut customer, sent, is_own);
    let mut list = match sent.get("addresses") {
        None => SentList::Absent,
        Some(Value::Array(elements)) => {
            let kept =
                elements.len() - usize::from(call.struck.has(FaultKind::DropAddress) && !elements.is_empty());
            SentList::List(address_book::replace(records, target, &elements[..kept])?)
        }
        Some(_) => SentList::Nothing,
    };
    default_addresses::settle(&mut customer, sent, &list, is_own);
    customer.insert("updated_at".to_owned(), Value::from(now()));
    records.put_customer(target, &customer)?;
    records.put_order_emails(target, &customer.get("email").map(as_text).unwrap_or_default())?;
    let mut addresses = match &mut list {
        SentList::List(replaced) => std::mem::take(&mut replaced.addresses),
        _ => before.clone(),
    };
    default_addresses::mark(&customer, &mut addresses);
    for (position, address) in (0..).zip(&addresses) {
        records.put_address(position, address)?;
    }
    for lost in call.struck.lost(unchanged(&before, &addresses)) {
        remove_from(records, target, lost)?;
    }
    customer_view::customer(records, target)
}

/// Null keeps the stored value, an empty text clears it. A date is cleared by null, too, and with the customer's own
/// token by leaving it out.
fn merge(customer: &mut Document, sent: &Document, is_own: bool) {
    for (name, value) in sent {
        let is_fixed = FIXED.contains(&name.as_str()) || DEFAULTS.contains(&name.as_str());
        if is_fixed || value.is_null() || (is_own && ADMINISTRATORS.contains(&name.as_str())) {
            continue;
        }
        match (name.as_str(), value) {
            ("extension_attributes", Value::Object(extension)) => {
                let stored = customer.entry("extension_attributes").or_insert_with(|| json!({}));
                for (name, value) in extension.iter().filter(|(_, value)| !value.is_null()) {
                    stored[name.as_str()] = value.clone();
                }
            }
            (_, Value::String(text)) => {
                customer.insert(name.clone(), Value::from(storable(text)));
            }
            (_, value) => {
                customer.insert(name.clone(), value.clone());
            }
        }
    }
    if sent.get("dob").map_or(is_own, Value::is_null) && customer.contains_key("dob") {
        customer.insert("dob".to_owned(), Value::from(""));
    }
    merge_attributes(customer, sent.get("custom_attributes"), CUSTOMER_ATTRIBUTES);
}

/// A date of birth as it is stored, without a time. 400 for any other text, and for a future date.
fn birthday(text: &str) -> Result<String, ApiError> {
    let Some(date) = date(text)? else { return Ok("0000-00-00".to_owned()) };
    if date > crate::system_time().to_zoned(TimeZone::UTC).date() {
        return Err(ApiError::new(400, "The Date of Birth should not be greater than today."));
    }
    Ok(date.to_string())
}

/// A date as it is understood: `03/02/1990` is the second of March, and `1990-02-30` too; none for zeros. 400 for any
/// other text.
pub fn date(text: &str) -> Result<Option<Date>, ApiError> {
    let parts = |sign: char| -> Vec<i16> {
        let date = text.split(['T', ' ']).next().unwrap_or_default();
        date.split(sign).filter_map(|part| part.parse().ok()).collect()
    };
    let (year, month, day) = match (&parts('-')[..], &parts('/')[..]) {
        ([0, 0, 0], _) => return Ok(None),
        ([year, month, day], _) | (_, [month, day, year]) => (*year, *month, *day),
        _ => return Err(ApiError::new(400, "Invalid date")),
    };
    let first = i8::try_from(month).ok().and_then(|month| Date::new(year, month, 1).ok());
    let date = first.filter(|_| (1..=31).contains(&day)).map(|first| first.saturating_add((day - 1).days()));
    date.map(Some).ok_or_else(|| ApiError::new(400, "Invalid date"))
}

/// Checks names and gender. A customer's own PUT needs the names, an administrator's may leave them out.
fn check_fields(stored: &Document, sent: &Document, is_own: bool) -> Result<(), ApiError> {
    let mut wrong = Vec::new();
    for (name, label) in [("firstname", "First Name"), ("lastname", "Last Name")] {
        let value = sent.get(name).filter(|value| !value.is_null());
        let value = value.or_else(|| stored.get(name).filter(|_| !is_own));
        let text = value.map(as_text).unwrap_or_default();
        if text.trim().is_empty() {
            wrong.push(format!("\"{label}\" is a required value."));
        } else if !is_name(&text) {
            wrong.push(format!("{label} is not valid!"));
        }
    }
    if sent.get("middlename").is_some_and(|name| !is_name(&as_text(name))) {
        wrong.push("Middle Name is not valid!".to_owned());
    }
    if !wrong.is_empty() {
        return Err(ApiError::new(400, &wrong.join("\n")));
    }
    match sent.get("gender").and_then(Value::as_i64) {
        Some(gender @ (..0 | 4..)) => {
            Err(ApiError::new(400, &format!("Attribute gender does not contain option with Id {gender}")))
        }
        _ => Ok(()),
    }
}

/// Letters of any script, marks, digits, blanks and a few signs.
fn is_name(text: &str) -> bool {
    let is_mark = |letter: char| !letter.is_ascii() && !letter.is_control();
    text.chars().count() <= 255
        && text.chars().all(|letter| {
            letter.is_alphanumeric()
                || letter.is_whitespace()
                || is_mark(letter)
                || ",-_.'`&".contains(letter)
        })
}

/// Checks that no other customer of the website of `own` has the email, as the database compares, and that it is valid.
fn check_email(records: &Database<'_>, sent: &Document, own: i64) -> Result<(), ApiError> {
    let email_of = |customer: &Document| customer.get("email").map(as_text).unwrap_or_default();
    let email = email_of(sent);
    if email_of(&records.customer(own)?) == email {
        return Ok(());
    }
    let others = records.searched_customers(&["email", "website_id"])?;
    let website =
        |id: i64| others.iter().find(|other| other["entity_id"] == id).map(|other| &other["website_id"]);
    let is_taken = |other: &Document| {
        other["entity_id"] != own
            && same_text(&email_of(other), &email)
            && Some(&other["website_id"]) == website(own)
    };
    if others.iter().any(is_taken) {
        let message = "A customer with the same email address already exists in an associated website.";
        return Err(ApiError::new(400, message));
    }
    let form = Regex::new(r"^[^@\s]+@[^@\s]+\.[^@\s]+$").map_err(|_| ApiError::crash())?;
    if !form.is_match(&email) {
        return Err(ApiError::new(400, "\"Email\" is not a valid email address."));
    }
    Ok(())
}

fn blank(object: &Document, name: &str) -> bool {
    object.get(name).is_none_or(|value| as_text(value).is_empty())
}
