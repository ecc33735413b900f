//! The customer profile (docs/interface.md, "Profile").

use super::{PROFILE_ADDRESS, member};
use crate::wire::{FieldType, ObjectSchema};

/// Customer profile as the update takes it (docs/interface.md, "Profile"), inside the wrapper `customer`
/// (docs/interface.md, "Operations").
pub static CUSTOMER: ObjectSchema = ObjectSchema {
    name: "customer",
    section: "2.3",
    own_fields: &[
        member("group_id", FieldType::Integer, "Customer group"),
        member("email", FieldType::Text, "E-mail address"),
        member("firstname", FieldType::Text, "First name"),
        member("lastname", FieldType::Text, "Last name"),
        member("gender", FieldType::Integer, "Gender"),
        member("store_id", FieldType::Integer, "Store"),
        member("website_id", FieldType::Integer, "Website"),
        member("addresses", FieldType::List(&PROFILE_ADDRESS), "The customer's addresses"),
        member(
            "disable_auto_group_change",
            FieldType::Integer,
            "Set to 1 to disable automatic group changes",
        ),
    ],
};

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static CUSTOMER_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "4.2",
    own_fields: &[member("customer", FieldType::Object(&CUSTOMER), "The profile and its addresses")],
};
