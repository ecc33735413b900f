//! Whose cart an answer shows.

use serde_json::Value;

use crate::failure::{Failure, FailureKind};
use crate::ops::profile::read::read_profile;
use crate::session::service::Service;

/// Id of the customer of a cart, as a number or its text; `None` where the cart shows none, as a guest's.
pub fn customer_of(cart: &Value) -> Option<String> {
    match cart.pointer("/customer/id")? {
        Value::Number(id) => Some(id.to_string()),
        Value::String(id) => Some(id.trim().to_owned()).filter(|id| !id.is_empty()),
        _ => None,
    }
}

/// Whether a cart is active: no order was made of it.
pub fn is_active(cart: &Value) -> bool {
    match &cart["is_active"] {
        Value::Bool(is_active) => *is_active,
        Value::Number(number) => number.as_u64() == Some(1),
        Value::String(text) => matches!(text.trim(), "1" | "true"),
        _ => false,
    }
}

/// Makes sure that a cart is the customer's: a cache that does not look at the token answers with any other.
///
/// # Errors
/// `guard` where it is another customer's, and where an administrator names the customer, also where it shows none;
/// `unavailable` where the profile cannot be reached to compare them.
pub async fn ensure(service: &Service<'_>, cart: &Value) -> Result<(), Failure> {
    let shown = customer_of(cart);
    match (service.customer, shown) {
        (Some(customer), shown) if shown.as_ref() != Some(&customer.to_string()) => {
            let whose = shown.map_or_else(|| "no customer".to_owned(), |other| format!("customer {other}"));
            Err(refused(format!(
                "the service answered with a cart of {whose} instead of customer {customer}"
            )))
        }
        (None, Some(shown)) => {
            if !service.has_read_customer() {
                // The profile says who the token's customer is. Where it has another form there is nothing to compare.
                match Box::pin(read_profile(service)).await {
                    Err(failure) if failure.kind == FailureKind::Unavailable => return Err(failure),
                    _ => {}
                }
            }
            service.ensure_same_customer("cart", Some(shown))
        }
        _ => Ok(()),
    }
}

/// An answer that is not about the customer's cart.
pub fn refused(message: String) -> Failure {
    Failure::guard(message).hint("check the token and any cache in front of the service, then try again")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{customer_of, is_active};

    #[test]
    fn ids_and_flags_may_come_as_numbers_or_text() {
        for active in [json!(true), json!(1), json!("1"), json!("true")] {
            assert!(is_active(&json!({"is_active": active})), "{active}");
        }
        for inactive in [json!(false), json!(0), json!("0"), json!(""), json!(null), json!("no")] {
            assert!(!is_active(&json!({"is_active": inactive})), "{inactive}");
        }
        assert!(!is_active(&json!({})));
        for id in [json!(7), json!("7"), json!(" 7 ")] {
            assert_eq!(customer_of(&json!({"customer": {"id": id}})).as_deref(), Some("7"));
        }
        for none in [json!({}), json!({"customer": {}}), json!({"customer": {"id": ""}}), json!([])] {
            assert_eq!(customer_of(&none), None);
        }
    }
}
