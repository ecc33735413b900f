//! The default billing and shipping address after a PUT: by far the easiest thing to lose.

use serde_json::Value;

use super::address_book::Replaced;
use super::coerce::as_text;
use super::customer_view::{DEFAULTS, default_id};
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::{Document, StoredAddress};

/// What a PUT says about the address list.
pub enum SentList {
    /// No `addresses`.
    Absent,
    /// `null` or `""`.
    Nothing,
    /// A list.
    List(Replaced),
}

/// 400 for a default that is not one of the customer's addresses, also where it is sent as it is stored (2.4.7 only;
/// 2.4.6 stores it).
pub fn check_sent(sent: &Document, stored: &[StoredAddress]) -> Result<(), ApiError> {
    for name in DEFAULTS {
        let Some(value) = sent.get(name).filter(|value| !as_text(value).is_empty()) else { continue };
        let named = default_id(sent, name);
        if !stored.iter().any(|address| Some(address.id) == named) {
            return Err(ApiError::invalid_value(name, value));
        }
    }
    Ok(())
}

/// Sets the defaults of `customer`, as stored, after a PUT of `sent`; `is_own` on `customers/me`.
///
/// The last flag wins over the top level. Where neither is sent with a list, a customer's own PUT loses the default and
/// an administrator's keeps it, unless its flag was sent as false. A default goes with its address.
pub fn settle(customer: &mut Document, sent: &Document, list: &SentList, is_own: bool) {
    for name in DEFAULTS {
        let stored = default_id(customer, name);
        let chosen = match list {
            SentList::Nothing if is_own => None,
            SentList::Nothing | SentList::Absent => stored,
            SentList::List(replaced) => {
                let top_level = default_id(sent, name);
                let remembered = stored.filter(|id| !is_own && !is_flagged_false(replaced, name, *id));
                let chosen = last_flag(replaced, name).or(top_level).or(remembered);
                chosen.filter(|id| replaced.addresses.iter().any(|address| address.id == *id))
            }
        };
        match chosen {
            Some(id) => {
                customer.insert(name.to_owned(), Value::from(id.to_string()));
            }
            None => {
                customer.shift_remove(name);
            }
        }
    }
}

/// Makes the flags of the stored addresses agree with the customer's defaults, for readers of the flags
/// without.
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
