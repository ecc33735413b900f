//! Stock Magento's REST interface over the same store, as 2.4.6 and 2.4.7 were measured to behave, traps
//! included.
//!
//! Where the versions differ, 2.4.7 is followed, and the comment there says so. Calls that the client never makes are not
//! routes.

mod address_book;
mod attribute_sets;
mod attributes;
mod cart_items;
mod carts;
mod custom_attributes;
mod customer_view;
mod customers;
mod default_addresses;
mod directory;
pub mod fields;
pub mod limits;
pub mod oauth;
mod orders;
mod payment;
mod products;
mod search;
mod shipping;
mod tokens;
mod totals;

pub use orders::renew_grid;

use crate::route::Permission::{Administrator, Anybody, Own};
use crate::route::{Permission, Route, delete, get, post, put};

const CUSTOMER: Permission = Administrator("Magento_Customer::customer");
const MANAGE_CUSTOMERS: Permission = Administrator("Magento_Customer::manage");
const CARTS: Permission = Administrator("Magento_Cart::manage");
const ATTRIBUTES: Permission = Administrator("Magento_Catalog::attributes_attributes");
const PRODUCTS: Permission = Administrator("Magento_Catalog::products");
const SETS: Permission = Administrator("Magento_Catalog::sets");
const SEE_ORDERS: Permission = Administrator("Magento_Sales::actions_view");
const SAVE_ORDERS: Permission = Administrator("Magento_Sales::create");
const COMMENT_ORDERS: Permission = Administrator("Magento_Sales::comment");
const STORES: Permission = Administrator("Magento_Backend::store");

const ESTIMATE: &str = "carts/{mine|cartId}/estimate-shipping-methods-by-address-id";
const ESTIMATE_TO: &str = "carts/{mine|cartId}/estimate-shipping-methods";
const SHIPPING: &str = "carts/{mine|cartId}/shipping-information";
const SELECTED: &str = "carts/{mine|cartId}/selected-payment-method";

/// All routes. The first that fits counts, so that `search` comes before an id.
pub static ROUTES: &[Route] = &[
    post("integration/customer/token", Anybody, tokens::customer, "Issue a token to a customer"),
    post("integration/admin/token", Anybody, tokens::administrator, "Issue a token to an administrator"),
    get("customers/search", CUSTOMER, search::customers, "Find customers"),
    get("customers/{me|customerId}", CUSTOMER, customers::show, "A customer"),
    put(
        "customers/{me|customerId}",
        MANAGE_CUSTOMERS,
        customers::replace,
        "Replace a profile and its addresses",
    )
    .forces("customer", |tables| tables.customer),
    delete("addresses/{addressId}", MANAGE_CUSTOMERS, customers::remove_address, "Delete an address"),
    post("customers/{customerId}/carts", CARTS, carts::create_for, "A customer's active cart, or a new one"),
    get("carts/search", CARTS, carts::search, "Find carts"),
    post("carts/mine", Own, carts::create_own, "The own active cart, or a new one"),
    get("carts/{mine|cartId}", CARTS, carts::show, "A cart"),
    get("carts/{mine|cartId}/items", CARTS, cart_items::list, "Items of a cart"),
    post(
        "carts/{mine|cartId}/items",
        CARTS,
        cart_items::add,
        "Add an item to the own cart, or to that of quote_id",
    )
    .forces("cartItem", |tables| tables.cart_item),
    put(
        "carts/{mine|cartId}/items/{itemId}",
        CARTS,
        cart_items::replace,
        "Set the quantity of an item in the own cart, or in that of quote_id",
    )
    .forces("cartItem", |tables| tables.cart_item),
    delete("carts/{mine|cartId}/items/{itemId}", CARTS, cart_items::remove, "Remove an item"),
    get("carts/{mine|cartId}/totals", CARTS, totals::show, "Totals of a cart"),
    get("carts/{mine|cartId}/shipping-methods", CARTS, shipping::methods, "Shipping methods of a cart"),
    post(ESTIMATE, CARTS, shipping::estimate, "Shipping methods to an address of the customer"),
    post(ESTIMATE_TO, CARTS, shipping::estimate_to, "Shipping methods to an address that is not saved")
        .takes("address", |tables| tables.quote_address, &[]),
    post(SHIPPING, CARTS, shipping::save, "Save addresses and shipping method").takes(
        "addressInformation",
        |tables| tables.address_information,
        &[],
    ),
    get("carts/{mine|cartId}/payment-methods", CARTS, payment::methods, "Payment methods of a cart"),
    get(SELECTED, CARTS, payment::selected, "Payment method of a cart"),
    put(SELECTED, CARTS, payment::select, "Set the payment method of a cart").takes(
        "method",
        payment::fields,
        &[],
    ),
    put("carts/{mine|cartId}/order", CARTS, orders::place, "Order what is in a cart")
        .may_take("paymentMethod", payment::fields),
    get("orders", SEE_ORDERS, orders::list, "Find orders"),
    get("orders/{orderId}", SEE_ORDERS, orders::show, "An order"),
    put("orders/{orderId}", SAVE_ORDERS, orders::put_address, "Save an address of an order").takes(
        "entity",
        |tables| tables.order_address,
        &[],
    ),
    post("orders/{orderId}/comments", COMMENT_ORDERS, orders::comment, "Add a comment to an order").takes(
        "statusHistory",
        |tables| tables.order_comment,
        &[],
    ),
    get("directory/countries/{countryId}", Anybody, directory::country, "A country and its regions"),
    get(
        "attributeMetadata/{entityType}/custom",
        Anybody,
        custom_attributes::list,
        "The custom attributes of customers or addresses",
    ),
    post("products/attributes", ATTRIBUTES, attributes::create, "Create a product attribute").takes(
        "attribute",
        |tables| tables.attribute,
        &[],
    ),
    get("products/attributes", ATTRIBUTES, attributes::list::list, "Find product attributes"),
    get("products/attributes/{attributeCode}", ATTRIBUTES, attributes::show, "A product attribute"),
    put(
        "products/attributes/{attributeCode}",
        ATTRIBUTES,
        attributes::update,
        "Change an attribute, or create it",
    )
    .takes("attribute", |tables| tables.attribute, &[]),
    delete("products/attributes/{attributeCode}", ATTRIBUTES, attributes::remove, "Delete an attribute"),
    post(
        "products/attributes/{attributeCode}/options",
        ATTRIBUTES,
        attributes::options::add,
        "Add an option",
    )
    .takes("option", |tables| tables.attribute_option, &[]),
    put(
        "products/attributes/{attributeCode}/options/{optionId}",
        ATTRIBUTES,
        attributes::options::replace,
        "Change an option",
    )
    .takes("option", |tables| tables.attribute_option, &[]),
    delete(
        "products/attributes/{attributeCode}/options/{optionId}",
        ATTRIBUTES,
        attributes::options::remove,
        "Delete an option",
    ),
    get("products/attribute-sets/sets/list", SETS, attribute_sets::list, "Find attribute sets"),
    get("products/attribute-sets/groups/list", SETS, attribute_sets::groups, "Find groups of attribute sets"),
    post("products/attribute-sets/attributes", SETS, attribute_sets::assign, "Put an attribute into a set"),
    get(
        "products/attribute-sets/{attributeSetId}/attributes",
        SETS,
        attribute_sets::attributes,
        "The attributes in a set",
    ),
    delete(
        "products/attribute-sets/{attributeSetId}/attributes/{attributeCode}",
        SETS,
        attribute_sets::unassign,
        "Take an attribute out of a set",
    ),
    get("products", PRODUCTS, products::list, "Find products"),
    get("products/{sku}", PRODUCTS, products::show, "A product"),
    put("products/{sku}", PRODUCTS, products::replace, "Change values of a product, or create it").takes(
        "product",
        products::fields,
        &[],
    ),
    get("store/storeViews", STORES, directory::store_views, "Store views"),
];
