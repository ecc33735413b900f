//! What distinguishes one operation from another as plain data.

use crate::plan::request::Bearer;
use crate::wire::{FieldType, Table};

/// One operation. Its flags are in `cli` and `input`, the steps of sending it in `ops`.
#[derive(Debug)]
pub struct OperationSpec {
    /// As it is typed and reported, such as `customer update`; also in journals.
    pub name: &'static str,
    /// Name of the body's wrapper field. Input is taken with or without it.
    pub wrapper: Option<&'static str>,
    /// A filled-in body. It names every field the interface lists, and runs in the sandbox.
    pub template: &'static str,
    /// The columns of a CSV: the documented fields. Where two would have one title, the first keeps it.
    pub columns: &'static [ColumnGroup],
    /// Columns whose titles hold a name of the user's.
    pub named_columns: NamedColumns,
    /// The column that holds labels with `|` between them.
    pub label_column: Option<&'static str>,
    /// Whose token it carries. With the administrator's it belongs to no customer and to no store view.
    pub bearer: Bearer,
    /// The text field inside the wrapper that says what a record touches. Records that touch the same keep their order. `None`
    /// where that is whatever belongs to the token.
    pub key_field: Option<&'static str>,
    /// What is replaced as a whole: a second write undoes the first one.
    pub replaces: Option<&'static str>,
    /// The question before a batch, up to the number of records.
    pub batch_action: &'static str,
}

/// The columns of the fields of one object.
#[derive(Debug)]
pub struct ColumnGroup {
    /// The object.
    pub schema: Table,
    /// Where it is inside the wrapper.
    pub path: &'static [&'static str],
    /// What stands before the names of the fields in the titles.
    pub prefix: &'static str,
    /// The fields that have the prefix; where none is named, all.
    pub prefixed: &'static [&'static str],
}

const fn group(schema: Table, path: &'static [&'static str], prefix: &'static str) -> ColumnGroup {
    ColumnGroup { schema, path, prefix, prefixed: &[] }
}

impl ColumnGroup {
    /// The title of a field's column.
    pub fn title(&self, field: &str) -> String {
        let is_prefixed = self.prefixed.is_empty() || self.prefixed.contains(&field);
        if is_prefixed { format!("{}{field}", self.prefix) } else { field.to_owned() }
    }
}

/// Columns such as `option:93`.
#[derive(Debug)]
pub struct NamedColumns {
    /// The title up to the name.
    pub prefix: &'static str,
    /// Stands for the name in messages.
    pub placeholder: &'static str,
    /// Where it is inside the wrapper.
    pub path: &'static [&'static str],
    /// The fields of the name and of the cell in an element of the list there; where there are none, a cell is a field of
    /// that name.
    pub element: Option<[(&'static str, FieldType); 2]>,
}

/// An object in the body of [`QUOTE_SHIP`] whose fields input may give without it. Which of the two layouts is authoritative
/// is not shown.
pub const NESTED: &str = "addressInformation";

/// Saves shipping and billing address, shipping method and payment (docs/interface.md, "Shipping information"). The body
/// has no wrapper.
pub(super) static QUOTE_SHIP: OperationSpec = OperationSpec {
    name: "quote ship",
    wrapper: None,
    template: include_str!("../../template/quote_ship.json"),
    columns: &[
        group(|all| all.quote_address, &[NESTED, "shipping_address"], "shipping_address."),
        group(|all| all.quote_address, &[NESTED, "billing_address"], "billing_address."),
        group(|all| all.address_information, &[NESTED], ""),
        group(|all| all.quote_address, &["billingAddress"], "billingAddress."),
    ],
    named_columns: NamedColumns {
        prefix: "paymentMethod.",
        placeholder: "FIELD",
        path: &["paymentMethod"],
        element: None,
    },
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    replaces: Some("quote"),
    batch_action: "Save the shipping information of",
};

/// Adds an item to a quote (docs/interface.md, "Cart item").
pub(super) static QUOTE_ADD_ITEM: OperationSpec = OperationSpec {
    name: "quote add-item",
    wrapper: Some("cartItem"),
    template: include_str!("../../template/quote_add_item.json"),
    columns: &[group(|all| all.cart_item, &[], "")],
    named_columns: NamedColumns {
        prefix: "option:",
        placeholder: "OPTION_ID",
        path: &["product_option", "extension_attributes", "configurable_item_options"],
        element: Some([("option_id", FieldType::Text), ("option_value", FieldType::Integer)]),
    },
    label_column: None,
    bearer: Bearer::Customer,
    key_field: Some("quote_id"),
    replaces: None,
    batch_action: "Add the items of",
};

/// Replaces the customer's profile and addresses (docs/interface.md, "Profile"): the body is what changes in the stored
/// ones.
pub(super) static CUSTOMER_UPDATE: OperationSpec = OperationSpec {
    name: "customer update",
    wrapper: Some("customer"),
    template: include_str!("../../template/customer_update.json"),
    columns: &[
        group(|all| all.customer, &[], ""),
        group(|all| all.region, &["addresses", "region"], ""),
        ColumnGroup {
            schema: |fields| fields.address,
            path: &["addresses"],
            prefix: "address_",
            prefixed: &["id", "firstname", "lastname", "middlename", "prefix", "suffix"],
        },
    ],
    named_columns: NamedColumns {
        prefix: "custom_attribute:",
        placeholder: "CODE",
        path: &["addresses", "custom_attributes"],
        element: Some([("attribute_code", FieldType::Text), ("value", FieldType::Text)]),
    },
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    replaces: Some("customer"),
    batch_action: "Replace the profiles of",
};

/// Creates a product attribute (docs/interface.md, "Attribute").
pub(super) static ATTRIBUTE_CREATE: OperationSpec = OperationSpec {
    name: "attribute create",
    wrapper: Some("attribute"),
    template: include_str!("../../template/attribute_create.json"),
    columns: &[group(|all| all.attribute, &[], "")],
    named_columns: NamedColumns {
        prefix: "label:",
        placeholder: "STORE_ID",
        path: &["frontend_labels"],
        element: Some([("store_id", FieldType::Integer), ("label", FieldType::Text)]),
    },
    label_column: Some("options"),
    bearer: Bearer::Admin,
    key_field: Some("attribute_code"),
    replaces: None,
    batch_action: "Create the attributes of",
};
