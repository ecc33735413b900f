//! Items of a cart. Made by `scripts/magento-fields.py` from the schema that Magento publishes.

use super::super::member as field;
use crate::wire::{FieldType, ObjectSchema, Scalar};

/// `configurable-product-data-configurable-item-option-value-interface`
pub static CONFIGURABLE_ITEM_OPTION: ObjectSchema = ObjectSchema {
    name: "configurable item option",
    section: "Magento",
    own_fields: &[
        field("option_id", FieldType::Scalar(Scalar::Text), "Option SKU"),
        field("option_value", FieldType::Scalar(Scalar::Integer), "Item id"),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
    ],
};

/// `quote-data-product-option-extension-interface`
pub static PRODUCT_OPTION_EXTENSION: ObjectSchema = ObjectSchema {
    name: "product option extension attributes",
    section: "Magento",
    own_fields: &[
        field("custom_options", FieldType::AnyList, "Custom options"),
        field("bundle_options", FieldType::AnyList, "Bundle options"),
        field("downloadable_option", FieldType::AnyObject, "Downloadable option"),
        field("grouped_options", FieldType::AnyList, "Grouped options"),
        field(
            "configurable_item_options",
            FieldType::List(&CONFIGURABLE_ITEM_OPTION),
            "Configurable item options",
        ),
    ],
};

/// `quote-data-product-option-interface`
pub static PRODUCT_OPTION: ObjectSchema = ObjectSchema {
    name: "product option",
    section: "Magento",
    own_fields: &[field(
        "extension_attributes",
        FieldType::Object(&PRODUCT_OPTION_EXTENSION),
        "Extension attributes",
    )],
};

/// `quote-data-cart-item-interface`
pub static CART_ITEM: ObjectSchema = ObjectSchema {
    name: "cart item",
    section: "Magento",
    own_fields: &[
        field("item_id", FieldType::Scalar(Scalar::Integer), "Item ID. Otherwise, null"),
        field("sku", FieldType::Scalar(Scalar::Text), "Product SKU. Otherwise, null"),
        field("qty", FieldType::Scalar(Scalar::Number), "Product quantity"),
        field("name", FieldType::Scalar(Scalar::Text), "Product name. Otherwise, null"),
        field("price", FieldType::Scalar(Scalar::Number), "Product price. Otherwise, null"),
        field("product_type", FieldType::Scalar(Scalar::Text), "Product type. Otherwise, null"),
        field("quote_id", FieldType::Scalar(Scalar::Text), "Quote id"),
        field("product_option", FieldType::Object(&PRODUCT_OPTION), "Product option"),
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
    ],
};
