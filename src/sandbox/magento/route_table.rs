//! Every call of Magento's interface that the sandbox answers, one row each.

use axum::http::Method;

use super::call::Call;
use super::fields::{self, Fields};
use super::{attributes, cart_items, carts, customers, directory, payment, search, shipping, tokens, totals};
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::{AccessMode, Database};

/// Whose token a call needs. All refusals are 401, and name the permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Anybody.
    Anonymous,
    /// The customer's own; an administrator gets as far as the call itself, which then lacks the customer's id.
    Own,
    /// An administrator's with this permission.
    Administrator(&'static str),
}

/// One call.
pub struct Route {
    /// HTTP method.
    pub method: Method,
    /// Path behind `/V1/`; a segment in braces is a parameter.
    pub path: &'static str,
    /// Whose token it needs.
    pub permission: Permission,
    /// Whether its transaction may write.
    pub mode: AccessMode,
    /// What it does.
    pub operation: fn(&Database<'_>, Call) -> Result<Reply, ApiError>,
    /// The parameter that the body holds, and its fields.
    pub body: Option<(&'static str, &'static Fields)>,
    /// One line of meaning.
    pub summary: &'static str,
}

const CUSTOMER: Permission = Permission::Administrator("Magento_Customer::customer");
const MANAGE_CUSTOMERS: Permission = Permission::Administrator("Magento_Customer::manage");
const MANAGE_CARTS: Permission = Permission::Administrator("Magento_Cart::manage");
const ATTRIBUTES: Permission = Permission::Administrator("Magento_Catalog::attributes_attributes");
const OWN: Permission = Permission::Own;
const ANYBODY: Permission = Permission::Anonymous;

type Operation = fn(&Database<'_>, Call) -> Result<Reply, ApiError>;
type Body = Option<(&'static str, &'static Fields)>;

const fn read(
    path: &'static str,
    permission: Permission,
    operation: Operation,
    summary: &'static str,
) -> Route {
    Route { method: Method::GET, path, permission, mode: AccessMode::Read, operation, body: None, summary }
}

const fn write(
    method: Method,
    path: &'static str,
    permission: Permission,
    operation: Operation,
    body: Body,
    summary: &'static str,
) -> Route {
    Route { method, path, permission, mode: AccessMode::Write, operation, body, summary }
}

/// All of them. The first row that fits counts, so that `me` and `search` stand before `{id}`.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    write(Method::POST, "integration/customer/token", ANYBODY, tokens::customer, None, "Issue a token to a customer"),
    write(Method::POST, "integration/admin/token", ANYBODY, tokens::administrator, None, "Issue a token to an administrator"),
    read("customers/me", OWN, customers::show_own, "The token's own customer"),
    write(Method::PUT, "customers/me", OWN, customers::update_own, Some(("customer", &fields::CUSTOMER)), "Replace the own profile and its address list"),
    read("customers/me/billingAddress", OWN, customers::default_billing, "The own default billing address"),
    read("customers/me/shippingAddress", OWN, customers::default_shipping, "The own default shipping address"),
    read("customers/search", CUSTOMER, search::search, "Find customers"),
    read("customers/{customerId}", CUSTOMER, customers::show, "A customer"),
    write(Method::PUT, "customers/{customerId}", MANAGE_CUSTOMERS, customers::update, Some(("customer", &fields::CUSTOMER)), "Replace a profile and its address list"),
    write(Method::DELETE, "customers/{customerId}", Permission::Administrator("Magento_Customer::delete"), customers::remove, None, "Delete a customer"),
    write(Method::POST, "customers", ANYBODY, customers::create, Some(("customer", &fields::CUSTOMER)), "Create a customer"),
    write(Method::POST, "customers/{customerId}/carts", MANAGE_CARTS, carts::create_for, None, "The active cart of a customer, made where there is none"),
    read("carts/search", MANAGE_CARTS, carts::search, "Find carts"),
    read("carts/mine", OWN, carts::show_own, "The own active cart"),
    write(Method::POST, "carts/mine", OWN, carts::create_own, None, "The id of the own active cart, made where there is none"),
    read("carts/mine/items", OWN, cart_items::list_own, "Items of the own cart"),
    write(Method::POST, "carts/mine/items", OWN, cart_items::add_own, Some(("cartItem", &fields::CART_ITEM)), "Add an item to the own cart"),
    write(Method::PUT, "carts/mine/items/{itemId}", OWN, cart_items::change_own, Some(("cartItem", &fields::CART_ITEM)), "Set the quantity of an item"),
    write(Method::DELETE, "carts/mine/items/{itemId}", OWN, cart_items::remove_own, None, "Remove an item"),
    read("carts/mine/totals", OWN, totals::show_own, "Totals of the own cart"),
    read("carts/mine/shipping-methods", OWN, shipping::methods_own, "Shipping methods of the own cart"),
    write(Method::POST, "carts/mine/estimate-shipping-methods", OWN, shipping::estimate_own, Some(("address", &fields::QUOTE_ADDRESS)), "Shipping methods to an address"),
    write(Method::POST, "carts/mine/estimate-shipping-methods-by-address-id", OWN, shipping::estimate_saved_own, None, "Shipping methods to an address of the customer"),
    write(Method::POST, "carts/mine/shipping-information", OWN, shipping::save_own, Some(("addressInformation", &fields::SHIPPING_INFORMATION)), "Save addresses and shipping method"),
    read("carts/mine/payment-methods", OWN, payment::methods_own, "Payment methods of the own cart"),
    read("carts/mine/selected-payment-method", OWN, payment::selected_own, "Payment method of the own cart"),
    write(Method::PUT, "carts/mine/selected-payment-method", OWN, payment::select_own, Some(("method", &fields::PAYMENT)), "Set the payment method of the own cart"),
    write(Method::POST, "carts/mine/set-payment-information", OWN, payment::set_information, Some(("paymentMethod", &fields::PAYMENT)), "Set payment method and billing address"),
    write(Method::POST, "carts/mine/payment-information", OWN, payment::order, Some(("paymentMethod", &fields::PAYMENT)), "Place the order"),
    read("carts/{cartId}", MANAGE_CARTS, carts::show, "A cart"),
    read("carts/{cartId}/items", MANAGE_CARTS, cart_items::list, "Items of a cart"),
    write(Method::POST, "carts/{cartId}/items", MANAGE_CARTS, cart_items::add, Some(("cartItem", &fields::CART_ITEM)), "Add an item to the cart that quote_id names"),
    write(Method::PUT, "carts/{cartId}/items/{itemId}", MANAGE_CARTS, cart_items::change, Some(("cartItem", &fields::CART_ITEM)), "Set the quantity of an item"),
    write(Method::DELETE, "carts/{cartId}/items/{itemId}", MANAGE_CARTS, cart_items::remove, None, "Remove an item"),
    read("carts/{cartId}/totals", MANAGE_CARTS, totals::show, "Totals of a cart"),
    read("carts/{cartId}/shipping-methods", MANAGE_CARTS, shipping::methods, "Shipping methods of a cart"),
    write(Method::POST, "carts/{cartId}/estimate-shipping-methods", MANAGE_CARTS, shipping::estimate, Some(("address", &fields::QUOTE_ADDRESS)), "Shipping methods to an address"),
    write(Method::POST, "carts/{cartId}/estimate-shipping-methods-by-address-id", MANAGE_CARTS, shipping::estimate_saved, None, "Shipping methods to an address of the customer"),
    write(Method::POST, "carts/{cartId}/shipping-information", MANAGE_CARTS, shipping::save, Some(("addressInformation", &fields::SHIPPING_INFORMATION)), "Save addresses and shipping method"),
    read("carts/{cartId}/payment-methods", MANAGE_CARTS, payment::methods, "Payment methods of a cart"),
    read("carts/{cartId}/selected-payment-method", MANAGE_CARTS, payment::selected, "Payment method of a cart"),
    write(Method::PUT, "carts/{cartId}/selected-payment-method", MANAGE_CARTS, payment::select, Some(("method", &fields::PAYMENT)), "Set the payment method of a cart"),
    read("directory/countries", ANYBODY, directory::list, "Countries and their regions"),
    read("directory/countries/{countryId}", ANYBODY, directory::show, "A country and its regions"),
    write(Method::POST, "products/attributes", ATTRIBUTES, attributes::create, Some(("attribute", &fields::ATTRIBUTE)), "Create a product attribute"),
    read("products/attributes/{attributeCode}", ATTRIBUTES, attributes::show, "A product attribute"),
    write(Method::PUT, "products/attributes/{attributeCode}", ATTRIBUTES, attributes::update, Some(("attribute", &fields::ATTRIBUTE)), "Change a product attribute, or create it"),
    write(Method::DELETE, "products/attributes/{attributeCode}", ATTRIBUTES, attributes::remove, None, "Delete a product attribute"),
    read("store/storeViews", Permission::Administrator("Magento_Backend::store"), directory::store_views, "Store views"),
];

/// The row for these segments, and the values of its parameters.
pub fn find(method: &Method, segments: &[String]) -> Option<(&'static Route, Vec<String>)> {
    ROUTES
        .iter()
        .find_map(|route| (route.method == *method).then_some(route).zip(parameters(route.path, segments)))
}

fn parameters(path: &str, segments: &[String]) -> Option<Vec<String>> {
    let pattern: Vec<&str> = path.split('/').collect();
    if pattern.len() != segments.len() {
        return None;
    }
    let mut values = Vec::new();
    for (expected, segment) in pattern.iter().zip(segments) {
        if expected.starts_with('{') {
            values.push(segment.clone());
        } else if expected != segment {
            return None;
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_get_is_run_as_a_read() {
        for route in ROUTES {
            assert_eq!(route.mode == AccessMode::Read, route.method == Method::GET, "{}", route.path);
        }
    }

    #[test]
    fn every_row_can_be_reached() {
        for route in ROUTES {
            let segments: Vec<String> = route.path.split('/').map(str::to_owned).collect();
            let (found, _) = find(&route.method, &segments).unwrap();
            assert!(std::ptr::eq(found, route), "{} hides {}", found.path, route.path);
        }
    }
}
