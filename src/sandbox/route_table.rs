//! Every call of the marketplace interface, one row each: the router and the OpenAPI description both read it.

use axum::http::Method;

use super::auth::Access;
use super::reply::Reply;
use crate::sandbox::call::Call;
use crate::sandbox::marketplace::{attribute, profile, quote};
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::{AccessMode, Database};
use crate::wire::Table;

/// What a call does inside its transaction.
pub type Operation = fn(&Database<'_>, Call) -> Result<Reply, ApiError>;

/// One call that the sandbox answers.
pub struct Route {
    /// HTTP method.
    pub method: Method,
    /// Path with its parameters in braces, as the interface writes it.
    pub path: &'static str,
    /// Other spellings of the path that are answered too.
    pub aliases: &'static [&'static str],
    /// Kind of token that it needs.
    pub access: Access,
    /// Whether its transaction may write. A call that writes has a JSON body.
    pub mode: AccessMode,
    /// What it does.
    pub operation: Operation,
    /// Name in the OpenAPI description.
    pub id: &'static str,
    /// One line of meaning, with the section of the interface.
    pub summary: &'static str,
    /// Fields of the body.
    pub body: Option<Table>,
    /// Status of a success.
    pub success: &'static str,
}

/// Path of the profile.
pub const PROFILE: &str = "/V1/storeview/{store_view_code}/customer/profile";

/// All of them.
pub static ROUTES: &[Route] = &[
    Route {
        method: Method::GET,
        path: PROFILE,
        aliases: &[],
        access: Access::Customer,
        mode: AccessMode::Read,
        operation: profile::show,
        id: "showProfile",
        summary: "The stored profile (not shown in the interface)",
        body: None,
        success: "200",
    },
    Route {
        method: Method::PUT,
        path: PROFILE,
        aliases: &[],
        access: Access::Customer,
        mode: AccessMode::Write,
        operation: profile::replace,
        id: "replaceProfile",
        summary: "Replace the profile and its address list",
        body: Some(|tables| tables.customer_body),
        success: "200",
    },
    Route {
        method: Method::POST,
        path: "/V1/storeview/{store_view_code}/user/quote/shipping-information",
        aliases: &[],
        access: Access::Customer,
        mode: AccessMode::Write,
        operation: quote::save,
        id: "saveShippingInformation",
        summary: "Save shipping, billing and payment on the customer's quote",
        body: Some(|tables| tables.shipping_information),
        success: "320",
    },
    Route {
        method: Method::POST,
        path: "/V1/storeview/{store_view_code}/user/quote/item",
        aliases: &[],
        access: Access::Customer,
        mode: AccessMode::Write,
        operation: quote::add,
        id: "addItem",
        summary: "Add an item to a quote",
        body: Some(|tables| tables.cart_item_body),
        success: "200",
    },
    Route {
        method: Method::POST,
        path: "/V1/admin/product/attribute/",
        // The interface writes the final slash; Magento answers both.
        aliases: &["/V1/admin/product/attribute"],
        access: Access::Admin,
        mode: AccessMode::Write,
        operation: attribute::create,
        id: "createAttribute",
        summary: "Create a product attribute",
        body: Some(|tables| tables.attribute_body),
        success: "200",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_get_is_run_as_a_read_and_what_has_a_body_may_write() {
        for route in ROUTES {
            assert_eq!(route.mode == AccessMode::Read, route.method == Method::GET, "{}", route.id);
            assert_eq!(route.mode == AccessMode::Write, route.body.is_some(), "{}", route.id);
        }
    }
}
