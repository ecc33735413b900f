//! Addresses (docs/interface.md, "Address"): one list of fields, of which a quote and a profile each take
//! their part.

use super::member;
use crate::wire::{Field, FieldType, ObjectSchema};

/// Region of a profile address (docs/interface.md, "Address").
pub static REGION: ObjectSchema = ObjectSchema {
    name: "region",
    section: "2.2",
    own_fields: &[
        member("region_code", FieldType::TextOrNull, "Region code"),
        member("region", FieldType::TextOrNull, "Region name"),
        member("region_id", FieldType::Integer, "Region ID"),
    ],
};

/// Custom attribute of a profile address (docs/interface.md, "Address").
pub static CUSTOM_ATTRIBUTE: ObjectSchema = ObjectSchema {
    name: "custom attribute",
    section: "2.2",
    own_fields: &[
        member("attribute_code", FieldType::Text, "Code of the attribute"),
        member("value", FieldType::Text, "Its value"),
    ],
};

/// Address in a customer profile (docs/interface.md, "Address").
pub static PROFILE_ADDRESS: ObjectSchema = ObjectSchema {
    name: "profile address",
    section: "2.2",
    own_fields: &[
        member(
            "id",
            FieldType::Integer,
            "Id of the stored address this changes; without it a new address is created",
        ),
        CUSTOMER_ID,
        member("region", FieldType::Object(&REGION), "Region of the address"),
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
            FieldType::List(&CUSTOM_ATTRIBUTE),
            "Custom attributes, one element per code",
        ),
    ],
};

/// Fields of a profile address that the interface does not list, and that flags set nevertheless: services of the family
/// have them.
pub static PROFILE_ADDRESS_FLAGS: ObjectSchema = ObjectSchema {
    name: "profile address",
    section: "ours",
    own_fields: &[
        member("company", FieldType::TextOrNull, "Company"),
        member("vat_id", FieldType::TextOrNull, "VAT number"),
        member("default_shipping", FieldType::Boolean, "Whether it is the default shipping address"),
        member("default_billing", FieldType::Boolean, "Whether it is the default billing address"),
    ],
};

/// Shipping or billing address of a quote (docs/interface.md, "Address").
pub static QUOTE_ADDRESS: ObjectSchema = ObjectSchema {
    name: "quote address",
    section: "2.2",
    own_fields: &[
        CUSTOMER_ID,
        REGION_ID,
        COUNTRY_ID,
        STREET,
        TELEPHONE,
        POSTCODE,
        CITY,
        FIRSTNAME,
        LASTNAME,
        member("email", FieldType::Text, "E-mail address"),
    ],
};

const CUSTOMER_ID: Field = member("customer_id", FieldType::Integer, "Id of the owning customer");
const REGION_ID: Field = member("region_id", FieldType::Integer, "Region ID");
const COUNTRY_ID: Field = member("country_id", FieldType::Text, "Country code, two letters");
const STREET: Field = member("street", FieldType::TextList, "Street lines");
const TELEPHONE: Field = member("telephone", FieldType::Text, "Telephone number");
const POSTCODE: Field = member("postcode", FieldType::TextOrNull, "Postcode");
const CITY: Field = member("city", FieldType::Text, "City");
const FIRSTNAME: Field = member("firstname", FieldType::Text, "First name");
const LASTNAME: Field = member("lastname", FieldType::Text, "Last name");
