//! Items of a quote (interface 2.6).

use super::{Holds, Shape, member};

/// One chosen option of a configurable product (2.6).
pub static CONFIGURABLE_ITEM_OPTION: Shape = Shape {
    name: "configurable item option",
    section: "2.6",
    members: &[
        member("option_id", Holds::Text, "The attribute_id of the configurable attribute"),
        member("option_value", Holds::Integer, "The chosen value, as the product detail gives it"),
    ],
};

/// Extension attributes of a product option (2.6).
pub static PRODUCT_OPTION_EXTENSION: Shape = Shape {
    name: "product option extension attributes",
    section: "2.6",
    members: &[member(
        "configurable_item_options",
        Holds::List(&CONFIGURABLE_ITEM_OPTION),
        "One element per configurable attribute",
    )],
};

/// Product option of a cart item (2.6).
pub static PRODUCT_OPTION: Shape = Shape {
    name: "product option",
    section: "2.6",
    members: &[member(
        "extension_attributes",
        Holds::Object(&PRODUCT_OPTION_EXTENSION),
        "Configurable products only",
    )],
};

/// Item to add to a quote (2.6), inside the wrapper `cartItem` (4.4).
pub static CART_ITEM: Shape = Shape {
    name: "cart item",
    section: "2.6",
    members: &[
        member("sku", Holds::Text, "Product SKU"),
        member("qty", Holds::Number, "Quantity"),
        member("quote_id", Holds::Text, "Id of the quote"),
        member("product_option", Holds::Object(&PRODUCT_OPTION), "Configurable products only"),
    ],
};

/// Body of the call: the wrapper and nothing beside it (4.4).
pub static CART_ITEM_BODY: Shape = Shape {
    name: "body",
    section: "4.4",
    members: &[member("cartItem", Holds::Object(&CART_ITEM), "The item to add")],
};
