//! Shipping information of a quote (interface 2.4).

use super::{Holds, QUOTE_ADDRESS, Shape, member};

/// What the sample request nests inside `addressInformation` (2.4).
pub static ADDRESS_INFORMATION: Shape = Shape {
    name: "address information",
    section: "2.4",
    members: &[
        member("shipping_address", Holds::Object(&QUOTE_ADDRESS), "Where the goods go"),
        member("billing_address", Holds::Object(&QUOTE_ADDRESS), "Where the bill goes"),
        member("shipping_method_code", Holds::Text, "Code of the shipping method"),
        member("shipping_carrier_code", Holds::Text, "Code of the carrier"),
    ],
};

/// Shipping, billing and payment of a quote (2.4). It has no wrapper of its own.
pub static SHIPPING_INFORMATION: Shape = Shape {
    name: "shipping information",
    section: "2.4",
    members: &[
        member("addressInformation", Holds::Object(&ADDRESS_INFORMATION), "Addresses, carrier and method"),
        member("paymentMethod", Holds::AnyObject, "Payment; its members are not shown in the interface"),
        member(
            "billingAddress",
            Holds::Object(&QUOTE_ADDRESS),
            "Billing address beside the wrapper, optional",
        ),
    ],
};
