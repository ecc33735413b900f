//! Product attributes (docs/interface.md, "Attribute").

use super::member;
use crate::wire::{FieldType, ObjectSchema};

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
