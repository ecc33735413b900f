//! Product attributes. Made by `scripts/magento-fields.py` from the schema that Magento publishes.

use super::super::member as field;
use super::address::CUSTOM_ATTRIBUTE;
use crate::wire::{FieldType, ObjectSchema, Scalar};

/// `eav-data-attribute-frontend-label-interface`
pub static STORE_LABEL: ObjectSchema = ObjectSchema {
    name: "store label",
    section: "Magento",
    own_fields: &[
        field("store_id", FieldType::Scalar(Scalar::Integer), "Store id"),
        field("label", FieldType::Scalar(Scalar::Text), "Option label"),
    ],
};

/// `eav-data-attribute-option-label-interface`
pub static OPTION_LABEL: ObjectSchema = ObjectSchema {
    name: "option label",
    section: "Magento",
    own_fields: &[
        field("store_id", FieldType::Scalar(Scalar::Integer), "Store id"),
        field("label", FieldType::Scalar(Scalar::Text), "Option label"),
    ],
};

/// `eav-data-attribute-option-interface`
pub static ATTRIBUTE_OPTION: ObjectSchema = ObjectSchema {
    name: "attribute option",
    section: "Magento",
    own_fields: &[
        field("label", FieldType::Scalar(Scalar::Text), "Option label"),
        field("value", FieldType::Scalar(Scalar::Text), "Option value"),
        field("sort_order", FieldType::Scalar(Scalar::Integer), "Option order"),
        field("is_default", FieldType::Scalar(Scalar::Boolean), "Default"),
        field("store_labels", FieldType::List(&OPTION_LABEL), "Option label for store scopes"),
    ],
};

/// `catalog-data-product-attribute-interface`
pub static ATTRIBUTE: ObjectSchema = ObjectSchema {
    name: "attribute",
    section: "Magento",
    own_fields: &[
        field("extension_attributes", FieldType::AnyObject, "Extension attributes"),
        field("is_wysiwyg_enabled", FieldType::Scalar(Scalar::Boolean), "WYSIWYG flag"),
        field(
            "is_html_allowed_on_front",
            FieldType::Scalar(Scalar::Boolean),
            "The HTML tags are allowed on the frontend",
        ),
        field(
            "used_for_sort_by",
            FieldType::Scalar(Scalar::Boolean),
            "It is used for sorting in product listing",
        ),
        field("is_filterable", FieldType::Scalar(Scalar::Boolean), "It used in layered navigation"),
        field(
            "is_filterable_in_search",
            FieldType::Scalar(Scalar::Boolean),
            "It is used in search results layered navigation",
        ),
        field("is_used_in_grid", FieldType::Scalar(Scalar::Boolean), "It is used in catalog product grid"),
        field(
            "is_visible_in_grid",
            FieldType::Scalar(Scalar::Boolean),
            "It is visible in catalog product grid",
        ),
        field(
            "is_filterable_in_grid",
            FieldType::Scalar(Scalar::Boolean),
            "It is filterable in catalog product grid",
        ),
        field("position", FieldType::Scalar(Scalar::Integer), "Position"),
        field("apply_to", FieldType::TextList, "Apply to value for the element"),
        field("is_searchable", FieldType::Scalar(Scalar::Text), "The attribute can be used in Quick Search"),
        field(
            "is_visible_in_advanced_search",
            FieldType::Scalar(Scalar::Text),
            "The attribute can be used in Advanced Search",
        ),
        field(
            "is_comparable",
            FieldType::Scalar(Scalar::Text),
            "The attribute can be compared on the frontend",
        ),
        field(
            "is_used_for_promo_rules",
            FieldType::Scalar(Scalar::Text),
            "The attribute can be used for promo rules",
        ),
        field(
            "is_visible_on_front",
            FieldType::Scalar(Scalar::Text),
            "The attribute is visible on the frontend",
        ),
        field(
            "used_in_product_listing",
            FieldType::Scalar(Scalar::Text),
            "The attribute can be used in product listing",
        ),
        field("is_visible", FieldType::Scalar(Scalar::Boolean), "Attribute is visible on frontend"),
        field("scope", FieldType::Scalar(Scalar::Text), "Attribute scope"),
        field("attribute_id", FieldType::Scalar(Scalar::Integer), "Id of the attribute"),
        field("attribute_code", FieldType::Scalar(Scalar::Text), "Code of the attribute"),
        field("frontend_input", FieldType::Scalar(Scalar::Text), "HTML for input element"),
        field("entity_type_id", FieldType::Scalar(Scalar::Text), "Entity type id"),
        field("is_required", FieldType::Scalar(Scalar::Boolean), "Attribute is required"),
        field(
            "options",
            FieldType::List(&ATTRIBUTE_OPTION),
            "Options of the attribute (key => value pairs for select)",
        ),
        field(
            "is_user_defined",
            FieldType::Scalar(Scalar::Boolean),
            "Current attribute has been defined by a user",
        ),
        field("default_frontend_label", FieldType::Scalar(Scalar::Text), "Frontend label for default store"),
        field("frontend_labels", FieldType::List(&STORE_LABEL), "Frontend label for each store"),
        field("note", FieldType::Scalar(Scalar::Text), "The note attribute for the element"),
        field("backend_type", FieldType::Scalar(Scalar::Text), "Backend type"),
        field("backend_model", FieldType::Scalar(Scalar::Text), "Backend model"),
        field("source_model", FieldType::Scalar(Scalar::Text), "Source model"),
        field("default_value", FieldType::Scalar(Scalar::Text), "Default value for the element"),
        field("is_unique", FieldType::Scalar(Scalar::Text), "This is a unique attribute"),
        field("frontend_class", FieldType::Scalar(Scalar::Text), "Frontend class of attribute"),
        field("validation_rules", FieldType::AnyList, "Validation rules"),
        field("custom_attributes", FieldType::List(&CUSTOM_ATTRIBUTE), "Custom attributes values"),
    ],
};
