//! Addresses (interface 2.2): one list of fields, of which a quote and a profile each take their part.

use super::{Holds, Member, Shape, member};

/// Region of a profile address (2.2).
pub static REGION: Shape = Shape {
    name: "region",
    section: "2.2",
    members: &[
        member("region_code", Holds::TextOrNull, "Region code"),
        member("region", Holds::TextOrNull, "Region name"),
        member("region_id", Holds::Integer, "Region identifier"),
    ],
};

/// Custom attribute of a profile address (2.2).
pub static CUSTOM_ATTRIBUTE: Shape = Shape {
    name: "custom attribute",
    section: "2.2",
    members: &[
        member("attribute_code", Holds::Text, "Code of the attribute"),
        member("value", Holds::Text, "Its value"),
    ],
};

/// Address in a customer profile (2.2).
pub static PROFILE_ADDRESS: Shape = Shape {
    name: "profile address",
    section: "2.2",
    members: &[
        member(
            "id",
            Holds::Integer,
            "Id of the stored address this changes; without it a new address is created",
        ),
        CUSTOMER_ID,
        member("region", Holds::Object(&REGION), "Region of the address"),
        REGION_ID,
        COUNTRY_ID,
        STREET,
        TELEPHONE,
        POSTCODE,
        CITY,
        FIRSTNAME,
        LASTNAME,
        member(
            "custom_attributes",
            Holds::List(&CUSTOM_ATTRIBUTE),
            "Custom attributes, one element per code",
        ),
    ],
};

/// Fields of a profile address that the interface does not list, and that flags set nevertheless: services of the family
/// have them.
pub static PROFILE_ADDRESS_FLAGS: Shape = Shape {
    name: "profile address",
    section: "ours",
    members: &[
        member("company", Holds::TextOrNull, "Company"),
        member("vat_id", Holds::TextOrNull, "VAT number"),
        member("default_shipping", Holds::Boolean, "Whether it is the default shipping address"),
        member("default_billing", Holds::Boolean, "Whether it is the default billing address"),
    ],
};

/// Shipping or billing address of a quote (2.2).
pub static QUOTE_ADDRESS: Shape = Shape {
    name: "quote address",
    section: "2.2",
    members: &[
        CUSTOMER_ID,
        REGION_ID,
        COUNTRY_ID,
        STREET,
        TELEPHONE,
        POSTCODE,
        CITY,
        FIRSTNAME,
        LASTNAME,
        member("email", Holds::Text, "E-mail address"),
    ],
};

const CUSTOMER_ID: Member = member("customer_id", Holds::Integer, "Id of the owning customer");
const REGION_ID: Member = member("region_id", Holds::Integer, "Region identifier");
const COUNTRY_ID: Member = member("country_id", Holds::Text, "Country code, two letters");
const STREET: Member = member("street", Holds::TextList, "Street lines");
const TELEPHONE: Member = member("telephone", Holds::Text, "Telephone number");
const POSTCODE: Member = member("postcode", Holds::TextOrNull, "Postcode");
const CITY: Member = member("city", Holds::Text, "City");
const FIRSTNAME: Member = member("firstname", Holds::Text, "First name");
const LASTNAME: Member = member("lastname", Holds::Text, "Last name");
