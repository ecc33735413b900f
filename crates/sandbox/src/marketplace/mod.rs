//! The marketplace's interface (docs/interface.md).

pub(crate) mod attribute;
pub(crate) mod profile;
pub(crate) mod quote;

use crate::route::Permission::{Administrator, Own};
use crate::route::{Route, get, post, put};
use storefront_core::interface::fields::SHIPPING_SAVED_STATUS;

const PROFILE: &str = "storeview/{store_view_code}/customer/profile";
const SHIPPING: &str = "storeview/{store_view_code}/user/quote/shipping-information";
const ITEM: &str = "storeview/{store_view_code}/user/quote/item";
const ATTRIBUTES: &str = "Magento_Catalog::attributes_attributes";

/// All routes. The interface lists as required only the wrappers, the payment, and the fields of an added simple product;
/// for everything else it says "not shown".
pub static ROUTES: &[Route] = &[
    get(PROFILE, Own, profile::show, "The stored profile (not shown in the interface)"),
    put(PROFILE, Own, profile::replace, "Replace the profile and its address list").takes(
        "customer",
        |tables| tables.customer,
        &[],
    ),
    post(SHIPPING, Own, quote::save, "Save shipping, billing and payment on the customer's quote")
        .takes("", |tables| tables.shipping_information, &["paymentMethod"])
        .answers(SHIPPING_SAVED_STATUS),
    post(ITEM, Own, quote::add, "Add an item to a quote").takes(
        "cartItem",
        |tables| tables.cart_item,
        &["sku", "qty", "quote_id"],
    ),
    post(
        "admin/product/attribute",
        Administrator(ATTRIBUTES),
        attribute::create,
        "Create a product attribute",
    )
    .takes("attribute", |tables| tables.attribute, &[]),
];
