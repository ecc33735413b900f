//! Shipping information of a quote (docs/interface.md, "Shipping information").

use super::{QUOTE_ADDRESS, member};
use crate::wire::{FieldType, ObjectSchema};

/// What the sample request nests inside `addressInformation` (docs/interface.md, "Shipping information").
pub static ADDRESS_INFORMATION: ObjectSchema = ObjectSchema {
    name: "address information",
    section: "2.4",
    own_fields: &[
        member("shipping_address", FieldType::Object(&QUOTE_ADDRESS), "Shipping address"),
        member("billing_address", FieldType::Object(&QUOTE_ADDRESS), "Billing address"),
        member("shipping_method_code", FieldType::Text, "Code of the shipping method"),
        member("shipping_carrier_code", FieldType::Text, "Carrier code"),
    ],
};

/// Shipping, billing and payment of a quote (docs/interface.md, "Shipping information"). It has no wrapper of
/// its own.
pub static SHIPPING_INFORMATION: ObjectSchema = ObjectSchema {
    name: "shipping information",
    section: "2.4",
    own_fields: &[
        member(
            "addressInformation",
            FieldType::Object(&ADDRESS_INFORMATION),
            "Addresses, carrier and method",
        ),
        member("paymentMethod", FieldType::AnyObject, "Payment (fields are service-specific)"),
        member(
            "billingAddress",
            FieldType::Object(&QUOTE_ADDRESS),
            "Billing address beside the wrapper, optional",
        ),
    ],
};
