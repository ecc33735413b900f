//! The default billing and shipping address after a PUT: they are easily lost.

use serde_json::{Value, json};

use super::address_book::Replaced;
use super::customer_view::{DEFAULTS, default_id};
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Document, StoredAddress};

/// The address list of a PUT.
pub enum SentList {
    /// No `addresses`.
    Absent,
    /// `null` or `""`.
    Nothing,
    /// A list.
    List(Replaced),
}

/// 400 for a default that is not one of the stored addresses, even if it is sent as it is stored, and in an
/// administrator's PUT even if it is stored and not sent. Null, `""` and 0 are not defaults.
///
/// Since 2.4.7-p4; 2.4.6 stores any default, and 2.4.7 up to -p3 compares with the addresses sent instead of
/// the stored.
pub fn check_sent(
    customer: &Document,
    stored: &[StoredAddress],
    sent: &Document,
    is_own: bool,
) -> Result<(), ApiError> {
    for name in DEFAULTS {
        let remembered = || customer.get(name).filter(|_| !is_own);
        let value = sent.get(name).or_else(remembered).filter(|value| !is_no_default(value));
        let is_stored = |value: &Value| stored.iter().any(|address| as_text(value) == address.id.to_string());
        if value.is_some_and(|value| !stored.is_empty() && !is_stored(value)) {
            let message = "The %fieldName value is invalid. Set the correct value and try again.";
            return Err(ApiError::new(400, message).with(json!({"fieldName": name})));
        }
    }
    Ok(())
}

fn is_no_default(value: &Value) -> bool {
    ["", "0"].contains(&as_text(value).as_str())
}

/// Sets the defaults of `customer`, as stored, after a PUT of `sent`; `is_own` on `customers/me`.
///
/// The last flag takes precedence over the top level. If neither is sent with a list, a customer's own PUT loses the
/// default and an administrator's keeps it, unless its flag was sent as false. A default goes with its address. `null`
/// clears it, and `""` and 0 do so by storing 0.
pub fn settle(customer: &mut Document, sent: &Document, list: &SentList, is_own: bool) {
    let is_list = matches!(list, SentList::List(_));
    for name in DEFAULTS {
        let stored = default_id(customer, name);
        let chosen = match list {
            SentList::Nothing if is_own => None,
            SentList::Nothing | SentList::Absent => stored,
            SentList::List(replaced) => {
                let top_level = default_id(sent, name);
                let remembered = stored.filter(|id| {
                    !is_own && !sent.contains_key(name) && !is_flagged_false(replaced, name, *id)
                });
                let chosen = last_flag(replaced, name).or(top_level).or(remembered);
                chosen.filter(|id| replaced.addresses.iter().any(|address| address.id == *id))
            }
        };
        match chosen {
            Some(id) => {
                customer.insert(name.to_owned(), Value::from(id.to_string()));
            }
            None if is_list
                && sent.get(name).is_some_and(|value| !value.is_null() && is_no_default(value)) =>
            {
                customer.insert(name.to_owned(), json!("0"));
            }
            None => {
                customer.shift_remove(name);
            }
        }
    }
}

/// Makes the flags of the stored addresses agree with the customer's defaults, for readers of the flags only.
pub fn mark(customer: &Document, addresses: &mut [StoredAddress]) {
    for name in DEFAULTS {
        let chosen = default_id(customer, name);
        for address in addresses.iter_mut() {
            if Some(address.id) == chosen {
                address.body.insert(name.to_owned(), Value::Bool(true));
            } else {
                address.body.shift_remove(name);
            }
        }
    }
}

fn last_flag(replaced: &Replaced, name: &str) -> Option<i64> {
    replaced.sent.iter().rev().find(|(_, sent)| sent.get(name) == Some(&Value::Bool(true))).map(|(id, _)| *id)
}

fn is_flagged_false(replaced: &Replaced, name: &str, id: i64) -> bool {
    replaced.sent.iter().any(|(sent_id, sent)| *sent_id == id && sent.get(name) == Some(&Value::Bool(false)))
}
