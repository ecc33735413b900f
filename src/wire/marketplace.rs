//! The fields of the marketplace's interface (docs/interface.md).

use super::{Field, FieldTables, FieldType, ObjectSchema, member};

/// The marketplace's.
pub static MARKETPLACE_FIELDS: FieldTables = FieldTables {
    customer_body: &CUSTOMER_BODY,
    customer: &CUSTOMER,
    address: &PROFILE_ADDRESS,
    address_flags: &PROFILE_ADDRESS_FLAGS,
    region: &REGION,
    cart_item_body: &CART_ITEM_BODY,
    cart_item: &CART_ITEM,
    attribute_body: &ATTRIBUTE_BODY,
    attribute: &ATTRIBUTE,
    shipping_information: &SHIPPING_INFORMATION,
    address_information: &ADDRESS_INFORMATION,
    quote_address: &QUOTE_ADDRESS,
};

/// Customer profile as the update takes it (docs/interface.md, "Profile"), inside the wrapper `customer`
/// (docs/interface.md, "Operations").
pub static CUSTOMER: ObjectSchema = ObjectSchema {
    name: "customer",
    section: "2.3",
    own_fields: &[
        member("group_id", FieldType::Integer, "Customer group"),
        member("email", FieldType::Text, "E-mail address"),
        member("firstname", FieldType::Text, "First name"),
        member("lastname", FieldType::Text, "Last name"),
        member("gender", FieldType::Integer, "Gender"),
        member("store_id", FieldType::Integer, "Store"),
        member("website_id", FieldType::Integer, "Website"),
        member("addresses", FieldType::List(&PROFILE_ADDRESS), "The customer's addresses"),
        member(
            "disable_auto_group_change",
            FieldType::Integer,
            "Set to 1 to disable automatic group changes",
        ),
    ],
};

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static CUSTOMER_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "4.2",
    own_fields: &[member("customer", FieldType::Object(&CUSTOMER), "The profile and its addresses")],
};

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

/// Label in one store view (docs/interface.md, "Attribute").
pub static STORE_LABEL: ObjectSchema = ObjectSchema {
    name: "store label",
    section: "2.5",
    own_fields: &[
        member("store_id", FieldType::Integer, "Id of the store view"),
        member("label", FieldType::Text, "Label shown there"),
    ],
};

/// Option of an attribute (docs/interface.md, "Attribute").
pub static ATTRIBUTE_OPTION: ObjectSchema = ObjectSchema {
    name: "attribute option",
    section: "2.5",
    own_fields: &[
        member("label", FieldType::Text, "Label of the option"),
        member("sort_order", FieldType::Integer, "Position in the list"),
        member("is_default", FieldType::Boolean, "Whether it is chosen by default"),
        member("store_labels", FieldType::List(&STORE_LABEL), "Labels per store view"),
    ],
};

/// Product attribute (docs/interface.md, "Attribute"), inside the wrapper `attribute` (docs/interface.md,
/// "Operations").
pub static ATTRIBUTE: ObjectSchema = ObjectSchema {
    name: "attribute",
    section: "2.5",
    own_fields: &[
        member("attribute_code", FieldType::Text, "Code of the attribute"),
        member("frontend_input", FieldType::Text, "Input type, e.g. select"),
        member("entity_type_id", FieldType::Text, "Entity type; 4 denotes products"),
        member("is_filterable", FieldType::Boolean, "Whether shoppers can filter by it"),
        member("is_searchable", FieldType::Text, "Include in search: the text 1 or 0"),
        member("is_required", FieldType::Boolean, "Required for every product"),
        member("default_frontend_label", FieldType::Text, "Default label"),
        member("frontend_labels", FieldType::List(&STORE_LABEL), "Labels per store view"),
        member("options", FieldType::List(&ATTRIBUTE_OPTION), "Options to choose from"),
    ],
};

/// Body of the call: the wrapper and nothing else (docs/interface.md, "Operations").
pub static ATTRIBUTE_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "4.3",
    own_fields: &[member("attribute", FieldType::Object(&ATTRIBUTE), "The attribute to create")],
};

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

/// What the sample request nests inside `addressInformation` (docs/interface.md, "Shipping information").
pub static ADDRESS_INFORMATION: ObjectSchema = ObjectSchema {
    name: "address information",
    section: "2.4",
    own_fields: &[
        member("shipping_address", FieldType::Object(&QUOTE_ADDRESS), "Shipping address"),
        member("billing_address", FieldType::Object(&QUOTE_ADDRESS), "Billing address"),
        member("shipping_method_code", FieldType::Text, "Code of the shipping method"),
        member("shipping_carrier_code", FieldType::Text, "Carrier code"),
    ],
};

/// Shipping, billing and payment of a quote (docs/interface.md, "Shipping information"). It has no wrapper of
/// its own.
pub static SHIPPING_INFORMATION: ObjectSchema = ObjectSchema {
    name: "shipping information",
    section: "2.4",
    own_fields: &[
        member(
            "addressInformation",
            FieldType::Object(&ADDRESS_INFORMATION),
            "Addresses, carrier and method",
        ),
        member("paymentMethod", FieldType::AnyObject, "Payment (fields are service-specific)"),
        member(
            "billingAddress",
            FieldType::Object(&QUOTE_ADDRESS),
            "Billing address beside the wrapper, optional",
        ),
    ],
};
