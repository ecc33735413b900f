//! Product attributes (interface 2.5).

use super::{Holds, Shape, member};

/// Label in one store view (2.5).
pub static STORE_LABEL: Shape = Shape {
    name: "store label",
    section: "2.5",
    members: &[
        member("store_id", Holds::Integer, "Id of the store view"),
        member("label", Holds::Text, "Label shown there"),
    ],
};

/// Option of an attribute (2.5).
pub static ATTRIBUTE_OPTION: Shape = Shape {
    name: "attribute option",
    section: "2.5",
    members: &[
        member("label", Holds::Text, "Label of the option"),
        member("sort_order", Holds::Integer, "Position in the list"),
        member("is_default", Holds::Boolean, "Whether it is chosen by default"),
        member("store_labels", Holds::List(&STORE_LABEL), "Labels per store view"),
    ],
};

/// Product attribute (2.5), inside the wrapper `attribute` (4.3).
pub static ATTRIBUTE: Shape = Shape {
    name: "attribute",
    section: "2.5",
    members: &[
        member("attribute_code", Holds::Text, "Code of the attribute"),
        member("frontend_input", Holds::Text, "Input kind, such as select"),
        member("entity_type_id", Holds::Text, "Entity type; 4 denotes products"),
        member("is_filterable", Holds::Boolean, "Whether shoppers can filter by it"),
        member("is_searchable", Holds::Text, "Whether search looks at it: the text 1 or 0"),
        member("is_required", Holds::Boolean, "Whether every product must have it"),
        member("default_frontend_label", Holds::Text, "Label where a store view has none of its own"),
        member("frontend_labels", Holds::List(&STORE_LABEL), "Labels per store view"),
        member("options", Holds::List(&ATTRIBUTE_OPTION), "Options to choose from"),
    ],
};

/// Body of the call: the wrapper and nothing beside it (4.3).
pub static ATTRIBUTE_BODY: Shape = Shape {
    name: "body",
    section: "4.3",
    members: &[member("attribute", Holds::Object(&ATTRIBUTE), "The attribute to create")],
};
