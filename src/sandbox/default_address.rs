//! Default billing and shipping address. All of it is ours: the interface does not mention them.
//!
//! Magento writes a default twice, as `default_billing: "7"` on the customer and as `default_billing: true` on
//! address 7, and both may be sent. What says something new counts, a flag before the customer's member. Then both
//! are made to agree, and a default that names no address of the list is gone, as in Magento.

use serde_json::Value;

use super::store::{Document, StoredAddress};

/// The members that name a default.
const DEFAULTS: &[&str] = &["default_billing", "default_shipping"];

/// Makes the defaults agree in `profile` (the stored customer), `sent` (the members sent) and `addresses` (the list
/// as it is to be); `flagged` are the address members as they were sent.
pub fn settle(
    profile: &mut Document,
    sent: &mut Document,
    flagged: &[(i64, Document)],
    addresses: &mut [StoredAddress],
) {
    for name in DEFAULTS {
        let stored = profile.shift_remove(*name).as_ref().and_then(address_id);
        let flag = flagged
            .iter()
            .filter(|(id, body)| body.get(*name) == Some(&Value::Bool(true)) && Some(*id) != stored)
            .map(|(id, _)| *id)
            .next_back();
        let chosen = match (flag, sent.shift_remove(*name)) {
            (Some(id), _) => Some(id),
            (None, Some(Value::Null)) => None,
            (None, Some(value)) => address_id(&value).or(stored),
            (None, None) => stored,
        };
        let chosen = chosen.filter(|id| addresses.iter().any(|address| address.id == *id));
        if let Some(id) = chosen {
            profile.insert((*name).to_owned(), Value::from(id.to_string()));
        }
        for address in addresses.iter_mut() {
            mark(&mut address.body, name, Some(address.id) == chosen);
        }
    }
}

/// Text in Magento's own bodies, taken as a number too.
fn address_id(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Only a flag that says otherwise is touched: most addresses carry none.
fn mark(address: &mut Document, name: &str, is_default: bool) {
    let says = address.get(name).and_then(Value::as_bool).unwrap_or(false);
    if says != is_default {
        address.insert(name.to_owned(), Value::from(is_default));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(value: Value) -> Document {
        serde_json::from_value(value).unwrap()
    }

    /// Settles a customer whose default billing address is 1, of addresses 1 and 2.
    fn settled(sent: Value, flagged: &[(i64, Value)], ids: &[i64]) -> (Option<Value>, Vec<i64>) {
        let mut profile = document(json!({"default_billing": "1"}));
        let mut addresses: Vec<StoredAddress> = ids
            .iter()
            .map(|id| StoredAddress {
                id: *id,
                body: document(if *id == 1 { json!({"default_billing": true}) } else { json!({}) }),
            })
            .collect();
        let flagged: Vec<_> = flagged.iter().map(|(id, body)| (*id, document(body.clone()))).collect();
        settle(&mut profile, &mut document(sent), &flagged, &mut addresses);
        let marked = addresses
            .iter()
            .filter(|address| address.body.get("default_billing") == Some(&Value::Bool(true)))
            .map(|address| address.id);
        (profile.get("default_billing").cloned(), marked.collect())
    }

    #[test]
    fn what_is_new_counts_and_both_places_agree() {
        let flag = json!({"default_billing": true});
        let stays = (Some(json!("1")), vec![1]);
        let moved = (Some(json!("2")), vec![2]);
        assert_eq!(settled(json!({}), &[], &[1, 2]), stays);
        assert_eq!(settled(json!({"default_billing": "true"}), &[], &[1, 2]), stays);
        assert_eq!(settled(json!({"default_billing": "1"}), &[(1, flag.clone())], &[1, 2]), stays);
        assert_eq!(settled(json!({"default_billing": "2"}), &[(1, flag.clone())], &[1, 2]), moved);
        assert_eq!(settled(json!({"default_billing": 2}), &[], &[1, 2]), moved);
        assert_eq!(settled(json!({"default_billing": "1"}), &[(1, flag.clone()), (2, flag)], &[1, 2]), moved);
    }

    #[test]
    fn a_default_goes_with_its_address() {
        let gone = (None, vec![]);
        assert_eq!(settled(json!({}), &[], &[2]), gone);
        assert_eq!(settled(json!({"default_billing": "1"}), &[], &[2]), gone);
        assert_eq!(settled(json!({"default_billing": "9"}), &[], &[1, 2]), gone);
        assert_eq!(settled(json!({"default_billing": null}), &[], &[1, 2]), gone);
    }
}
