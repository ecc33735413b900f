//! Fields of Magento's objects, from the schema that 2.4.6 publishes.

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// A string.
    Text,
    /// An integer.
    Integer,
    /// Any number.
    Float,
    /// `true` or `false`.
    Boolean,
    /// An array of strings.
    TextList,
    /// An object.
    Object(&'static Fields),
    /// An array of objects.
    List(&'static Fields),
    /// `[{"attribute_code", "value"}]`, or an object of codes and values.
    CustomAttributes,
    /// Anything.
    Any,
}

/// An object's fields.
#[derive(Debug)]
pub struct Fields {
    /// Name in the OpenAPI description.
    pub name: &'static str,
    /// Name and type of each.
    pub rows: &'static [(&'static str, Type)],
}

use Type::{Any, Boolean, CustomAttributes, Float, Integer, List, Object, Text, TextList};

/// Extension attributes of objects that have none.
static NONE: Fields = Fields { name: "Extension", rows: &[] };

static REGION: Fields = Fields {
    name: "Region",
    rows: &[
        ("region_code", Text),
        ("region", Text),
        ("region_id", Integer),
        ("extension_attributes", Object(&NONE)),
    ],
};

/// An address of the address book.
pub static ADDRESS: Fields = Fields {
    name: "Address",
    rows: &[
        ("id", Integer),
        ("customer_id", Integer),
        ("region", Object(&REGION)),
        ("region_id", Integer),
        ("country_id", Text),
        ("street", TextList),
        ("company", Text),
        ("telephone", Text),
        ("fax", Text),
        ("postcode", Text),
        ("city", Text),
        ("firstname", Text),
        ("lastname", Text),
        ("middlename", Text),
        ("prefix", Text),
        ("suffix", Text),
        ("vat_id", Text),
        ("default_shipping", Boolean),
        ("default_billing", Boolean),
        ("extension_attributes", Object(&NONE)),
        ("custom_attributes", CustomAttributes),
    ],
};

static CUSTOMER_EXTENSION: Fields = Fields {
    name: "CustomerExtension",
    rows: &[("assistance_allowed", Integer), ("is_subscribed", Boolean)],
};

/// A customer with the address list.
pub static CUSTOMER: Fields = Fields {
    name: "Customer",
    rows: &[
        ("id", Integer),
        ("group_id", Integer),
        ("default_billing", Text),
        ("default_shipping", Text),
        ("confirmation", Text),
        ("created_at", Text),
        ("updated_at", Text),
        ("created_in", Text),
        ("dob", Text),
        ("email", Text),
        ("firstname", Text),
        ("lastname", Text),
        ("middlename", Text),
        ("prefix", Text),
        ("suffix", Text),
        ("gender", Integer),
        ("store_id", Integer),
        ("taxvat", Text),
        ("website_id", Integer),
        ("addresses", List(&ADDRESS)),
        ("disable_auto_group_change", Integer),
        ("extension_attributes", Object(&CUSTOMER_EXTENSION)),
        ("custom_attributes", CustomAttributes),
    ],
};

static CONFIGURABLE_OPTION: Fields = Fields {
    name: "ConfigurableItemOption",
    rows: &[("option_id", Text), ("option_value", Integer), ("extension_attributes", Object(&NONE))],
};

static PRODUCT_OPTION_EXTENSION: Fields = Fields {
    name: "ProductOptionExtension",
    rows: &[
        ("custom_options", Any),
        ("bundle_options", Any),
        ("downloadable_option", Any),
        ("grouped_options", Any),
        ("configurable_item_options", List(&CONFIGURABLE_OPTION)),
    ],
};

static PRODUCT_OPTION: Fields =
    Fields { name: "ProductOption", rows: &[("extension_attributes", Object(&PRODUCT_OPTION_EXTENSION))] };

static CART_ITEM_EXTENSION: Fields = Fields { name: "CartItemExtension", rows: &[("discounts", Any)] };

/// An item of a cart.
pub static CART_ITEM: Fields = Fields {
    name: "CartItem",
    rows: &[
        ("item_id", Integer),
        ("sku", Text),
        ("qty", Float),
        ("name", Text),
        ("price", Float),
        ("product_type", Text),
        ("quote_id", Text),
        ("product_option", Object(&PRODUCT_OPTION)),
        ("extension_attributes", Object(&CART_ITEM_EXTENSION)),
    ],
};

static QUOTE_ADDRESS_EXTENSION: Fields =
    Fields { name: "QuoteAddressExtension", rows: &[("pickup_location_code", Text), ("discounts", Any)] };

/// An address of a cart: its region is a text here, not an object.
pub static QUOTE_ADDRESS: Fields = Fields {
    name: "QuoteAddress",
    rows: &[
        ("id", Integer),
        ("region", Text),
        ("region_id", Integer),
        ("region_code", Text),
        ("country_id", Text),
        ("street", TextList),
        ("company", Text),
        ("telephone", Text),
        ("fax", Text),
        ("postcode", Text),
        ("city", Text),
        ("firstname", Text),
        ("lastname", Text),
        ("middlename", Text),
        ("prefix", Text),
        ("suffix", Text),
        ("vat_id", Text),
        ("customer_id", Integer),
        ("email", Text),
        ("same_as_billing", Integer),
        ("customer_address_id", Integer),
        ("save_in_address_book", Integer),
        ("extension_attributes", Object(&QUOTE_ADDRESS_EXTENSION)),
        ("custom_attributes", CustomAttributes),
    ],
};

/// Addresses and shipping method of a cart. It has no payment.
pub static SHIPPING_INFORMATION: Fields = Fields {
    name: "ShippingInformation",
    rows: &[
        ("shipping_address", Object(&QUOTE_ADDRESS)),
        ("billing_address", Object(&QUOTE_ADDRESS)),
        ("shipping_method_code", Text),
        ("shipping_carrier_code", Text),
        ("extension_attributes", Object(&NONE)),
        ("custom_attributes", CustomAttributes),
    ],
};

/// Payment of a cart.
pub static PAYMENT: Fields = Fields {
    name: "Payment",
    rows: &[("po_number", Text), ("method", Text), ("additional_data", Any), ("extension_attributes", Any)],
};

static STORE_LABEL: Fields = Fields { name: "StoreLabel", rows: &[("store_id", Integer), ("label", Text)] };

static ATTRIBUTE_OPTION: Fields = Fields {
    name: "AttributeOption",
    rows: &[
        ("label", Text),
        ("value", Text),
        ("sort_order", Integer),
        ("is_default", Boolean),
        ("store_labels", List(&STORE_LABEL)),
    ],
};

/// A product attribute.
pub static ATTRIBUTE: Fields = Fields {
    name: "ProductAttribute",
    rows: &[
        ("extension_attributes", Object(&NONE)),
        ("is_wysiwyg_enabled", Boolean),
        ("is_html_allowed_on_front", Boolean),
        ("used_for_sort_by", Boolean),
        ("is_filterable", Boolean),
        ("is_filterable_in_search", Boolean),
        ("is_used_in_grid", Boolean),
        ("is_visible_in_grid", Boolean),
        ("is_filterable_in_grid", Boolean),
        ("position", Integer),
        ("apply_to", TextList),
        ("is_searchable", Text),
        ("is_visible_in_advanced_search", Text),
        ("is_comparable", Text),
        ("is_used_for_promo_rules", Text),
        ("is_visible_on_front", Text),
        ("used_in_product_listing", Text),
        ("is_visible", Boolean),
        ("scope", Text),
        ("attribute_id", Integer),
        ("attribute_code", Text),
        ("frontend_input", Text),
        ("entity_type_id", Text),
        ("is_required", Boolean),
        ("options", List(&ATTRIBUTE_OPTION)),
        ("is_user_defined", Boolean),
        ("default_frontend_label", Text),
        ("frontend_labels", List(&STORE_LABEL)),
        ("note", Text),
        ("backend_type", Text),
        ("backend_model", Text),
        ("source_model", Text),
        ("default_value", Text),
        ("is_unique", Text),
        ("frontend_class", Text),
        ("validation_rules", Any),
        ("custom_attributes", CustomAttributes),
    ],
};
