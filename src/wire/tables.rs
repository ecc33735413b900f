//! The tables of one interface together.

use super::{
    ADDRESS_INFORMATION, ATTRIBUTE, ATTRIBUTE_BODY, CART_ITEM, CART_ITEM_BODY, CUSTOMER, CUSTOMER_BODY,
    PROFILE_ADDRESS, PROFILE_ADDRESS_FLAGS, QUOTE_ADDRESS, REGION, SHIPPING_INFORMATION,
};
use crate::wire::ObjectSchema;

/// The objects that an interface documents.
#[derive(Debug)]
pub struct FieldTables {
    /// Body of a profile: the wrapper around [`Self::customer`].
    pub customer_body: &'static ObjectSchema,
    /// A customer.
    pub customer: &'static ObjectSchema,
    /// An address of a profile.
    pub address: &'static ObjectSchema,
    /// Fields of such an address that flags and columns set although the interface does not list them there.
    pub address_flags: &'static ObjectSchema,
    /// Region of such an address.
    pub region: &'static ObjectSchema,
    /// Body of a cart item.
    pub cart_item_body: &'static ObjectSchema,
    /// A cart item.
    pub cart_item: &'static ObjectSchema,
    /// Body of an attribute.
    pub attribute_body: &'static ObjectSchema,
    /// An attribute.
    pub attribute: &'static ObjectSchema,
    /// Shipping information and payment.
    pub shipping_information: &'static ObjectSchema,
    /// Addresses, carrier and method in it.
    pub address_information: &'static ObjectSchema,
    /// An address of a quote.
    pub quote_address: &'static ObjectSchema,
}

/// The marketplace's.
pub static MARKETPLACE_FIELDS: FieldTables = FieldTables {
    customer_body: &CUSTOMER_BODY,
    customer: &CUSTOMER,
    address: &PROFILE_ADDRESS,
    address_flags: &PROFILE_ADDRESS_FLAGS,
    region: &REGION,
    cart_item_body: &CART_ITEM_BODY,
    cart_item: &CART_ITEM,
    attribute_body: &ATTRIBUTE_BODY,
    attribute: &ATTRIBUTE,
    shipping_information: &SHIPPING_INFORMATION,
    address_information: &ADDRESS_INFORMATION,
    quote_address: &QUOTE_ADDRESS,
};
