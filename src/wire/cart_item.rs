//! Items of a quote (docs/interface.md, "Cart item").

use super::member;
use crate::wire::{FieldType, ObjectSchema};

/// One chosen option of a configurable product (docs/interface.md, "Cart item").
pub static CONFIGURABLE_ITEM_OPTION: ObjectSchema = ObjectSchema {
    name: "configurable item option",
    section: "2.6",
    own_fields: &[
        member("option_id", FieldType::Text, "The attribute_id of the configurable attribute"),
        member("option_value", FieldType::Integer, "The chosen value, as the product detail gives it"),
    ],
};

/// Extension attributes of a product option (docs/interface.md, "Cart item").
pub static PRODUCT_OPTION_EXTENSION: ObjectSchema = ObjectSchema {
    name: "product option extension attributes",
    section: "2.6",
    own_fields: &[member(
        "configurable_item_options",
        FieldType::List(&CONFIGURABLE_ITEM_OPTION),
        "One element per configurable attribute",
    )],
};

/// Product option of a cart item (docs/interface.md, "Cart item").
pub static PRODUCT_OPTION: ObjectSchema = ObjectSchema {
    name: "product option",
    section: "2.6",
    own_fields: &[member(
        "extension_attributes",
        FieldType::Object(&PRODUCT_OPTION_EXTENSION),
        "Configurable products only",
    )],
};

/// Item to add to a quote (docs/interface.md, "Cart item"), inside the wrapper `cartItem` (docs/interface.md,
/// "Operations").
pub static CART_ITEM: ObjectSchema = ObjectSchema {
    name: "cart item",
    section: "2.6",
    own_fields: &[
        member("sku", FieldType::Text, "Product SKU"),
        member("qty", FieldType::Number, "Quantity"),
        member("quote_id", FieldType::Text, "Id of the quote"),
        member("product_option", FieldType::Object(&PRODUCT_OPTION), "Configurable products only"),
    ],
};

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static CART_ITEM_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "4.4",
    own_fields: &[member("cartItem", FieldType::Object(&CART_ITEM), "The item to add")],
};
