//! Shipping information of a quote (interface 2.4).

use super::{QUOTE_ADDRESS, member};
use crate::wire::{FieldType, ObjectSchema};

/// What the sample request nests inside `addressInformation` (2.4).
pub static ADDRESS_INFORMATION: ObjectSchema = ObjectSchema {
    name: "address information",
    section: "2.4",
    own_fields: &[
        member("shipping_address", FieldType::Object(&QUOTE_ADDRESS), "Where the goods go"),
        member("billing_address", FieldType::Object(&QUOTE_ADDRESS), "Where the bill goes"),
        member("shipping_method_code", FieldType::Text, "Code of the shipping method"),
        member("shipping_carrier_code", FieldType::Text, "Code of the carrier"),
    ],
};

/// Shipping, billing and payment of a quote (2.4). It has no wrapper of its own.
pub static SHIPPING_INFORMATION: ObjectSchema = ObjectSchema {
    name: "shipping information",
    section: "2.4",
    own_fields: &[
        member(
            "addressInformation",
            FieldType::Object(&ADDRESS_INFORMATION),
            "Addresses, carrier and method",
        ),
        member("paymentMethod", FieldType::AnyObject, "Payment; its members are not shown in the interface"),
        member(
            "billingAddress",
            FieldType::Object(&QUOTE_ADDRESS),
            "Billing address beside the wrapper, optional",
        ),
    ],
};
