//! Shipping information and payment of a cart. Made by `scripts/magento-fields.py` from the schema that Magento publishes.

use super::super::member as field;
use super::address::CUSTOM_ATTRIBUTE;
use crate::wire::{FieldType, ObjectSchema, Scalar};

/// `quote-data-address-interface`
pub static QUOTE_ADDRESS: ObjectSchema = ObjectSchema {
    name: "quote address",
    section: "Magento",
    own_fields: &[
        field("id", FieldType::Scalar(Scalar::Integer), "Id"),
        field("region", FieldType::Scalar(Scalar::Text), "Region name"),
        field("region_id", FieldType::Scalar(Scalar::Integer), "Region id"),
        field("region_code", FieldType::Scalar(Scalar::Text), "Region code"),
        field("country_id", FieldType::Scalar(Scalar::Text), "Country id"),
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
        field("customer_id", FieldType::Scalar(Scalar::Integer), "Customer id"),
        field("email", FieldType::Scalar(Scalar::Text), "Billing/shipping email"),
        field("same_as_billing", FieldType::Scalar(Scalar::Integer), "Same as billing flag"),
        field("customer_address_id", FieldType::Scalar(Scalar::Integer), "Customer address id"),
        field("save_in_address_book", FieldType::Scalar(Scalar::Integer), "Save in address book flag"),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
        field("custom_attributes", FieldType::List(&CUSTOM_ATTRIBUTE), "Custom attributes values"),
    ],
};

/// `quote-data-payment-interface`
pub static PAYMENT: ObjectSchema = ObjectSchema {
    name: "payment",
    section: "Magento",
    own_fields: &[
        field("po_number", FieldType::Scalar(Scalar::Text), "Purchase order number"),
        field("method", FieldType::Scalar(Scalar::Text), "Payment method code"),
        field("additional_data", FieldType::TextList, "Payment additional details"),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
    ],
};

/// `checkout-data-shipping-information-interface`
pub static ADDRESS_INFORMATION: ObjectSchema = ObjectSchema {
    name: "address information",
    section: "Magento",
    own_fields: &[
        field("shipping_address", FieldType::Object(&QUOTE_ADDRESS), "Shipping address"),
        field("billing_address", FieldType::Object(&QUOTE_ADDRESS), "Billing address"),
        field("shipping_method_code", FieldType::Scalar(Scalar::Text), "Shipping method code"),
        field("shipping_carrier_code", FieldType::Scalar(Scalar::Text), "Carrier code"),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
        field("custom_attributes", FieldType::List(&CUSTOM_ATTRIBUTE), "Custom attributes values"),
    ],
};
