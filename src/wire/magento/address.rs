//! Addresses of a customer. Made by `scripts/magento-fields.py` from the schema that Magento publishes.

use super::super::member as field;
use crate::wire::{FieldType, ObjectSchema, Scalar};

/// `framework-attribute-interface`
pub static CUSTOM_ATTRIBUTE: ObjectSchema = ObjectSchema {
    name: "custom attribute",
    section: "Magento",
    own_fields: &[
        field("attribute_code", FieldType::Scalar(Scalar::Text), "Attribute code"),
        field("value", FieldType::Scalar(Scalar::Text), "Attribute value"),
    ],
};

/// `customer-data-region-interface`
pub static REGION: ObjectSchema = ObjectSchema {
    name: "region",
    section: "Magento",
    own_fields: &[
        field("region_code", FieldType::Scalar(Scalar::Text), "Region code"),
        field("region", FieldType::Scalar(Scalar::Text), "Region"),
        field("region_id", FieldType::Scalar(Scalar::Integer), "Region id"),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
    ],
};

/// `customer-data-address-interface`
pub static ADDRESS: ObjectSchema = ObjectSchema {
    name: "profile address",
    section: "Magento",
    own_fields: &[
        field("id", FieldType::Scalar(Scalar::Integer), "ID"),
        field("customer_id", FieldType::Scalar(Scalar::Integer), "Customer ID"),
        field("region", FieldType::Object(&REGION), "Region"),
        field("region_id", FieldType::Scalar(Scalar::Integer), "Region ID"),
        field("country_id", FieldType::Scalar(Scalar::Text), "Country code in ISO_3166-2 format"),
        field("street", FieldType::TextList, "Street"),
        field("company", FieldType::Scalar(Scalar::Text), "Company"),
        field("telephone", FieldType::Scalar(Scalar::Text), "Telephone number"),
        field("fax", FieldType::Scalar(Scalar::Text), "Fax number"),
        field("postcode", FieldType::Scalar(Scalar::Text), "Postcode"),
        field("city", FieldType::Scalar(Scalar::Text), "City name"),
        field("firstname", FieldType::Scalar(Scalar::Text), "First name"),
        field("lastname", FieldType::Scalar(Scalar::Text), "Last name"),
        field("middlename", FieldType::Scalar(Scalar::Text), "Middle name"),
        field("prefix", FieldType::Scalar(Scalar::Text), "Prefix"),
        field("suffix", FieldType::Scalar(Scalar::Text), "Suffix"),
        field("vat_id", FieldType::Scalar(Scalar::Text), "Vat id"),
        field(
            "default_shipping",
            FieldType::Scalar(Scalar::Boolean),
            "If this address is default shipping address",
        ),
        field(
            "default_billing",
            FieldType::Scalar(Scalar::Boolean),
            "If this address is default billing address",
        ),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
        field("custom_attributes", FieldType::List(&CUSTOM_ATTRIBUTE), "Custom attributes values"),
    ],
};
