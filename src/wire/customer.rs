//! The customer profile (interface 2.3).

use super::{Holds, PROFILE_ADDRESS, Shape, member};

/// Customer profile as the update takes it (2.3), inside the wrapper `customer` (4.2).
pub static CUSTOMER: Shape = Shape {
    name: "customer",
    section: "2.3",
    members: &[
        member("group_id", Holds::Integer, "Customer group"),
        member("email", Holds::Text, "E-mail address"),
        member("firstname", Holds::Text, "First name"),
        member("lastname", Holds::Text, "Last name"),
        member("gender", Holds::Integer, "Gender"),
        member("store_id", Holds::Integer, "Store"),
        member("website_id", Holds::Integer, "Website"),
        member("addresses", Holds::List(&PROFILE_ADDRESS), "The customer's addresses"),
        member("disable_auto_group_change", Holds::Integer, "Flag: 1 keeps the customer group as it is"),
    ],
};

/// Body of the call: the wrapper and nothing beside it (4.2).
pub static CUSTOMER_BODY: Shape = Shape {
    name: "body",
    section: "4.2",
    members: &[member("customer", Holds::Object(&CUSTOMER), "The profile and its addresses")],
};
