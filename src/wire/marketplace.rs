//! The fields of the marketplace's interface (docs/interface.md).

use std::sync::LazyLock;

use super::FieldType::{AnyObject, Boolean, Integer, List, Number, Object, Text, TextList, TextOrNull};
use super::{Field, FieldTables, FieldType, ObjectSchema, Origin, field};

/// The marketplace's.
pub static MARKETPLACE_FIELDS: LazyLock<FieldTables> = LazyLock::new(|| FieldTables {
    customer_body: &CUSTOMER_BODY,
    customer: &CUSTOMER,
    address: &PROFILE_ADDRESS,
    region: &REGION,
    cart_item_body: &CART_ITEM_BODY,
    cart_item: &CART_ITEM,
    attribute_body: &ATTRIBUTE_BODY,
    attribute: &ATTRIBUTE,
    shipping_information: &SHIPPING_INFORMATION,
    address_information: &ADDRESS_INFORMATION,
    quote_address: &QUOTE_ADDRESS,
});

/// Customer profile as the update takes it (docs/interface.md, "Profile"), inside the wrapper `customer`
/// (docs/interface.md, "Operations").
pub static CUSTOMER: ObjectSchema = object(
    "customer",
    "2.3",
    &[
        field("group_id", Integer, "Customer group"),
        field("email", Text, "Email address"),
        field("firstname", Text, "First name"),
        field("lastname", Text, "Last name"),
        field("gender", Integer, "Gender"),
        field("store_id", Integer, "Store"),
        field("website_id", Integer, "Website"),
        field("addresses", List(&PROFILE_ADDRESS), "The customer's addresses"),
        field("disable_auto_group_change", Integer, "Set to 1 to disable automatic group changes"),
    ],
);

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static CUSTOMER_BODY: ObjectSchema =
    object("body", "4.2", &[field("customer", Object(&CUSTOMER), "The profile and its addresses")]);

/// Region of a profile address (docs/interface.md, "Address").
pub static REGION: ObjectSchema = object(
    "region",
    "2.2",
    &[
        field("region_code", TextOrNull, "Region code"),
        field("region", TextOrNull, "Region name"),
        field("region_id", Integer, "Region ID"),
    ],
);

/// Custom attribute of a profile address (docs/interface.md, "Address").
pub static CUSTOM_ATTRIBUTE: ObjectSchema = object(
    "custom attribute",
    "2.2",
    &[field("attribute_code", Text, "Code of the attribute"), field("value", Text, "Its value")],
);

/// Address in a customer profile (docs/interface.md, "Address").
pub static PROFILE_ADDRESS: ObjectSchema = object(
    "profile address",
    "2.2",
    &[
        field("id", Integer, "Address ID; omit to add an address"),
        CUSTOMER_ID,
        field("region", Object(&REGION), "Region of the address"),
        REGION_ID,
        COUNTRY_ID,
        STREET,
        TELEPHONE,
        POSTCODE,
        CITY,
        FIRSTNAME,
        LASTNAME,
        field("custom_attributes", List(&CUSTOM_ATTRIBUTE), "Custom attributes, one element per code"),
        // Services of the family have these.
        ours("company", TextOrNull, "Company"),
        ours("vat_id", TextOrNull, "VAT number"),
        ours("default_shipping", Boolean, "Whether it is the default shipping address"),
        ours("default_billing", Boolean, "Whether it is the default billing address"),
    ],
);

/// Shipping or billing address of a quote (docs/interface.md, "Address").
pub static QUOTE_ADDRESS: ObjectSchema = object(
    "quote address",
    "2.2",
    &[
        CUSTOMER_ID,
        REGION_ID,
        COUNTRY_ID,
        STREET,
        TELEPHONE,
        POSTCODE,
        CITY,
        FIRSTNAME,
        LASTNAME,
        field("email", Text, "Email address"),
    ],
);

const CUSTOMER_ID: Field = field("customer_id", Integer, "ID of the owning customer");
const REGION_ID: Field = field("region_id", Integer, "Region ID");
const COUNTRY_ID: Field = field("country_id", Text, "Country code, two letters");
const STREET: Field = field("street", TextList, "Street lines");
const TELEPHONE: Field = field("telephone", Text, "Telephone number");
const POSTCODE: Field = field("postcode", TextOrNull, "Postcode");
const CITY: Field = field("city", Text, "City");
const FIRSTNAME: Field = field("firstname", Text, "First name");
const LASTNAME: Field = field("lastname", Text, "Last name");

/// Label in one store view (docs/interface.md, "Attribute").
pub static STORE_LABEL: ObjectSchema = object(
    "store label",
    "2.5",
    &[field("store_id", Integer, "ID of the store view"), field("label", Text, "Label shown there")],
);

/// Option of an attribute (docs/interface.md, "Attribute").
pub static ATTRIBUTE_OPTION: ObjectSchema = object(
    "attribute option",
    "2.5",
    &[
        field("label", Text, "Label of the option"),
        field("sort_order", Integer, "Position in the list"),
        field("is_default", Boolean, "Whether it is chosen by default"),
        field("store_labels", List(&STORE_LABEL), "Labels per store view"),
    ],
);

/// Product attribute (docs/interface.md, "Attribute"), inside the wrapper `attribute` (docs/interface.md,
/// "Operations").
pub static ATTRIBUTE: ObjectSchema = object(
    "attribute",
    "2.5",
    &[
        field("attribute_code", Text, "Code of the attribute"),
        field("frontend_input", Text, "Input type, e.g. select"),
        field("entity_type_id", Text, "Entity type; 4 denotes products"),
        field("is_filterable", Boolean, "Whether shoppers can filter by it"),
        field("is_searchable", Text, "Include in search: the text 1 or 0"),
        field("is_required", Boolean, "Required for every product"),
        field("default_frontend_label", Text, "Default label"),
        field("frontend_labels", List(&STORE_LABEL), "Labels per store view"),
        field("options", List(&ATTRIBUTE_OPTION), "Options to choose from"),
    ],
);

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static ATTRIBUTE_BODY: ObjectSchema =
    object("body", "4.3", &[field("attribute", Object(&ATTRIBUTE), "The attribute to create")]);

/// One chosen option of a configurable product (docs/interface.md, "Cart item").
pub static CONFIGURABLE_ITEM_OPTION: ObjectSchema = object(
    "configurable item option",
    "2.6",
    &[
        field("option_id", Text, "The attribute_id of the configurable attribute"),
        field("option_value", Integer, "The chosen value, as the product detail gives it"),
        Field { origin: Origin::Ignored, ..field("note", Text, "Explains the sample of the interface") },
    ],
);

/// Extension attributes of a product option (docs/interface.md, "Cart item").
pub static PRODUCT_OPTION_EXTENSION: ObjectSchema = object(
    "product option extension attributes",
    "2.6",
    &[field(
        "configurable_item_options",
        List(&CONFIGURABLE_ITEM_OPTION),
        "One element per configurable attribute",
    )],
);

/// Product option of a cart item (docs/interface.md, "Cart item").
pub static PRODUCT_OPTION: ObjectSchema = object(
    "product option",
    "2.6",
    &[field("extension_attributes", Object(&PRODUCT_OPTION_EXTENSION), "Configurable products only")],
);

/// Item to add to a quote (docs/interface.md, "Cart item"), inside the wrapper `cartItem` (docs/interface.md,
/// "Operations").
pub static CART_ITEM: ObjectSchema = object(
    "cart item",
    "2.6",
    &[
        field("sku", Text, "Product SKU"),
        field("qty", Number, "Quantity"),
        field("quote_id", Text, "Quote ID"),
        field("product_option", Object(&PRODUCT_OPTION), "Configurable products only"),
    ],
);

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static CART_ITEM_BODY: ObjectSchema =
    object("body", "4.4", &[field("cartItem", Object(&CART_ITEM), "The item to add")]);

/// What the sample request nests inside `addressInformation` (docs/interface.md, "Shipping information").
pub static ADDRESS_INFORMATION: ObjectSchema = object(
    "address information",
    "2.4",
    &[
        field("shipping_address", Object(&QUOTE_ADDRESS), "Shipping address"),
        field("billing_address", Object(&QUOTE_ADDRESS), "Billing address"),
        field("shipping_method_code", Text, "Code of the shipping method"),
        field("shipping_carrier_code", Text, "Carrier code"),
    ],
);

/// Shipping, billing and payment of a quote (docs/interface.md, "Shipping information"). It has no wrapper of
/// its own.
pub static SHIPPING_INFORMATION: ObjectSchema = object(
    "shipping information",
    "2.4",
    &[
        field("addressInformation", Object(&ADDRESS_INFORMATION), "Addresses, carrier and method"),
        field("paymentMethod", AnyObject, "Payment (fields are service-specific)"),
        field("billingAddress", Object(&QUOTE_ADDRESS), "Billing address outside the wrapper (optional)"),
    ],
);

const fn object(name: &'static str, section: &'static str, own_fields: &'static [Field]) -> ObjectSchema {
    ObjectSchema { name, section, own_fields }
}

/// A field that the interface does not list, and that flags and columns set nevertheless.
const fn ours(name: &'static str, holds: FieldType, doc: &'static str) -> Field {
    Field { origin: Origin::Ours, ..field(name, holds, doc) }
}
