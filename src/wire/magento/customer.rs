//! Customers. Made by `scripts/magento-fields.py` from the schema that Magento publishes.

use super::super::member as field;
use super::address::ADDRESS;
use super::address::CUSTOM_ATTRIBUTE;
use crate::wire::{FieldType, ObjectSchema, Scalar};

/// `customer-data-customer-extension-interface`
pub static CUSTOMER_EXTENSION: ObjectSchema = ObjectSchema {
    name: "customer extension attributes",
    section: "Magento",
    own_fields: &[
        field("assistance_allowed", FieldType::Scalar(Scalar::Integer), "Assistance allowed"),
        field("is_subscribed", FieldType::Scalar(Scalar::Boolean), "Is subscribed"),
    ],
};

/// `customer-data-customer-interface`
pub static CUSTOMER: ObjectSchema = ObjectSchema {
    name: "customer",
    section: "Magento",
    own_fields: &[
        field("id", FieldType::Scalar(Scalar::Integer), "Customer id"),
        field("group_id", FieldType::Scalar(Scalar::Integer), "Group id"),
        field("default_billing", FieldType::Scalar(Scalar::Text), "Default billing address id"),
        field("default_shipping", FieldType::Scalar(Scalar::Text), "Default shipping address id"),
        field("confirmation", FieldType::Scalar(Scalar::Text), "Confirmation"),
        field("created_at", FieldType::Scalar(Scalar::Text), "Created at time"),
        field("updated_at", FieldType::Scalar(Scalar::Text), "Updated at time"),
        field("created_in", FieldType::Scalar(Scalar::Text), "Created in area"),
        field(
            "dob",
            FieldType::Scalar(Scalar::Text),
            "In keeping with current security and privacy best practices, be sure you are aware of any potential legal and security risks associated with the storage of customers’ full date of birth (month, day, year) along with other personal identifiers (e.g., full name) before collecting or processing such data",
        ),
        field("email", FieldType::Scalar(Scalar::Text), "Email address"),
        field("firstname", FieldType::Scalar(Scalar::Text), "First name"),
        field("lastname", FieldType::Scalar(Scalar::Text), "Last name"),
        field("middlename", FieldType::Scalar(Scalar::Text), "Middle name"),
        field("prefix", FieldType::Scalar(Scalar::Text), "Prefix"),
        field("suffix", FieldType::Scalar(Scalar::Text), "Suffix"),
        field("gender", FieldType::Scalar(Scalar::Integer), "Gender"),
        field("store_id", FieldType::Scalar(Scalar::Integer), "Store id"),
        field("taxvat", FieldType::Scalar(Scalar::Text), "Tax Vat"),
        field("website_id", FieldType::Scalar(Scalar::Integer), "Website id"),
        field("addresses", FieldType::List(&ADDRESS), "Customer addresses"),
        field(
            "disable_auto_group_change",
            FieldType::Scalar(Scalar::Integer),
            "Disable auto group change flag",
        ),
        field("extension_attributes", FieldType::Object(&CUSTOMER_EXTENSION), "Extension attributes"),
        field("custom_attributes", FieldType::List(&CUSTOM_ATTRIBUTE), "Custom attributes values"),
    ],
};
