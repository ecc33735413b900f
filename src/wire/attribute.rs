//! Product attributes (interface 2.5).

use super::member;
use crate::wire::{FieldType, ObjectSchema};

/// Label in one store view (2.5).
pub static STORE_LABEL: ObjectSchema = ObjectSchema {
    name: "store label",
    section: "2.5",
    own_fields: &[
        member("store_id", FieldType::Integer, "Id of the store view"),
        member("label", FieldType::Text, "Label shown there"),
    ],
};

/// Option of an attribute (2.5).
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

/// Product attribute (2.5), inside the wrapper `attribute` (4.3).
pub static ATTRIBUTE: ObjectSchema = ObjectSchema {
    name: "attribute",
    section: "2.5",
    own_fields: &[
        member("attribute_code", FieldType::Text, "Code of the attribute"),
        member("frontend_input", FieldType::Text, "Input kind, such as select"),
        member("entity_type_id", FieldType::Text, "Entity type; 4 denotes products"),
        member("is_filterable", FieldType::Boolean, "Whether shoppers can filter by it"),
        member("is_searchable", FieldType::Text, "Whether search looks at it: the text 1 or 0"),
        member("is_required", FieldType::Boolean, "Whether every product must have it"),
        member("default_frontend_label", FieldType::Text, "Label where a store view has none of its own"),
        member("frontend_labels", FieldType::List(&STORE_LABEL), "Labels per store view"),
        member("options", FieldType::List(&ATTRIBUTE_OPTION), "Options to choose from"),
    ],
};

/// Body of the call: the wrapper and nothing beside it (4.3).
pub static ATTRIBUTE_BODY: ObjectSchema = ObjectSchema {
    name: "body",
    section: "4.3",
    own_fields: &[member("attribute", FieldType::Object(&ATTRIBUTE), "The attribute to create")],
};
