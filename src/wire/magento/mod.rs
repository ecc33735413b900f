//! The fields of Magento's interface. The tables are generated; the bodies around them are what its routes take.

mod address;
mod attribute;
mod cart_item;
mod customer;
mod shipping;

use super::{FieldTables, FieldType, ObjectSchema, member};

/// Magento's tables.
pub static MAGENTO_FIELDS: FieldTables = FieldTables {
    customer_body: &CUSTOMER_BODY,
    customer: &customer::CUSTOMER,
    address: &address::ADDRESS,
    address_flags: &NO_FIELDS,
    region: &address::REGION,
    cart_item_body: &CART_ITEM_BODY,
    cart_item: &cart_item::CART_ITEM,
    attribute_body: &ATTRIBUTE_BODY,
    attribute: &attribute::ATTRIBUTE,
    shipping_information: &SHIPPING_INFORMATION,
    address_information: &shipping::ADDRESS_INFORMATION,
    quote_address: &shipping::QUOTE_ADDRESS,
};

static NO_FIELDS: ObjectSchema =
    ObjectSchema { name: "profile address", section: "Magento", own_fields: &[] };

static CUSTOMER_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "Magento",
    own_fields: &[member(
        "customer",
        FieldType::Object(&customer::CUSTOMER),
        "The profile and its addresses",
    )],
};

static CART_ITEM_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "Magento",
    own_fields: &[member("cartItem", FieldType::Object(&cart_item::CART_ITEM), "The item to add")],
};

static ATTRIBUTE_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "Magento",
    own_fields: &[member("attribute", FieldType::Object(&attribute::ATTRIBUTE), "The attribute to create")],
};

/// Addresses and payment are two calls, and one document.
static SHIPPING_INFORMATION: ObjectSchema = ObjectSchema {
    name: "shipping information",
    section: "Magento",
    own_fields: &[
        member(
            "addressInformation",
            FieldType::Object(&shipping::ADDRESS_INFORMATION),
            "Addresses, carrier and method",
        ),
        member("paymentMethod", FieldType::Object(&shipping::PAYMENT), "Payment, sent in a call of its own"),
    ],
};
