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
    /// An object in the body whose fields input may give without it.
    pub nested: Option<&'static str>,
    /// The one field of the body that the interface calls required (docs/interface.md); of the others that is not shown.
    pub required: &'static str,
    /// A filled-in body. It names every field the interface lists, and runs in the sandbox.
    pub template: &'static str,
    /// The columns of a CSV.
    pub columns: ColumnTable,
    /// Whose token it carries. With the administrator's it belongs to no customer and to no store view.
    pub bearer: Bearer,
    /// The text field inside the wrapper that says what a record touches. Records that touch the same keep their order. `None`
    /// where that is whatever belongs to the token.
    pub key_field: Option<&'static str>,
    /// What the key is called, where two records of one key are suspicious.
    pub unique_key: Option<&'static str>,
    /// What is replaced as a whole: a second write undoes the first one.
    pub replaces: Option<&'static str>,
    /// The question before a batch, up to the number of records.
    pub batch_action: &'static str,
}

/// The columns of an operation's CSV.
#[derive(Debug)]
pub struct ColumnTable {
    /// The documented fields. Where two would have one title, the first keeps it.
    pub groups: &'static [ColumnGroup],
    /// Documented fields that are no columns.
    pub omitted: &'static [&'static str],
    /// Columns whose titles hold a name of the user's.
    pub named: Option<NamedColumns>,
    /// The column that holds labels with `|` between them.
    pub labels: Option<&'static str>,
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

/// No columns, for the fields that an operation does not name.
const NO_COLUMNS: ColumnTable = ColumnTable { groups: &[], omitted: &[], named: None, labels: None };

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
    /// What a cell becomes.
    pub cell: NamedCell,
}

/// What the cell of a named column becomes.
#[derive(Debug, Clone, Copy)]
pub enum NamedCell {
    /// A field of that name.
    Field,
    /// An element of a list, with the name in one field and the cell in the other.
    Element {
        /// The field of the name.
        name: (&'static str, FieldType),
        /// The field of the cell.
        value: (&'static str, FieldType),
    },
}

const fn element(name: (&'static str, FieldType), value: (&'static str, FieldType)) -> NamedCell {
    NamedCell::Element { name, value }
}

/// Saves shipping and billing address, shipping method and payment (docs/interface.md, "Shipping information"). The body
/// has no wrapper.
pub(super) static QUOTE_SHIP: OperationSpec = OperationSpec {
    name: "quote ship",
    wrapper: None,
    // Which of the two layouts is authoritative is not shown, so both are taken.
    nested: Some("addressInformation"),
    required: "paymentMethod",
    template: include_str!("../../template/quote_ship.json"),
    columns: ColumnTable {
        groups: &[
            group(|all| all.quote_address, &["addressInformation", "shipping_address"], "shipping_address."),
            group(|all| all.quote_address, &["addressInformation", "billing_address"], "billing_address."),
            group(|all| all.address_information, &["addressInformation"], ""),
            group(|all| all.quote_address, &["billingAddress"], "billingAddress."),
        ],
        named: Some(NamedColumns {
            prefix: "paymentMethod.",
            placeholder: "FIELD",
            path: &["paymentMethod"],
            cell: NamedCell::Field,
        }),
        ..NO_COLUMNS
    },
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("quote"),
    batch_action: "Save the shipping information of",
};

/// Adds an item to a quote (docs/interface.md, "Cart item").
pub(super) static QUOTE_ADD_ITEM: OperationSpec = OperationSpec {
    name: "quote add-item",
    wrapper: Some("cartItem"),
    nested: None,
    required: "cartItem",
    template: include_str!("../../template/quote_add_item.json"),
    columns: ColumnTable {
        groups: &[group(|all| all.cart_item, &[], "")],
        named: Some(NamedColumns {
            prefix: "option:",
            placeholder: "OPTION_ID",
            path: &["product_option", "extension_attributes", "configurable_item_options"],
            cell: element(("option_id", FieldType::Text), ("option_value", FieldType::Integer)),
        }),
        ..NO_COLUMNS
    },
    bearer: Bearer::Customer,
    key_field: Some("quote_id"),
    unique_key: None,
    replaces: None,
    batch_action: "Add the items of",
};

/// Replaces the customer's profile and addresses (docs/interface.md, "Profile"): the body is what changes in the stored
/// ones.
pub(super) static CUSTOMER_UPDATE: OperationSpec = OperationSpec {
    name: "customer update",
    wrapper: Some("customer"),
    nested: None,
    required: "customer",
    template: include_str!("../../template/customer_update.json"),
    columns: ColumnTable {
        groups: &[
            group(|all| all.customer, &[], ""),
            group(|all| all.region, &["addresses", "region"], ""),
            ColumnGroup {
                schema: |fields| fields.address,
                path: &["addresses"],
                prefix: "address_",
                prefixed: &["id", "firstname", "lastname", "middlename", "prefix", "suffix"],
            },
        ],
        // Which address is the default is for flags to say: the others must lose it.
        omitted: &["default_shipping", "default_billing"],
        named: Some(NamedColumns {
            prefix: "custom_attribute:",
            placeholder: "CODE",
            path: &["addresses", "custom_attributes"],
            cell: element(("attribute_code", FieldType::Text), ("value", FieldType::Text)),
        }),
        ..NO_COLUMNS
    },
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("customer"),
    batch_action: "Replace the profiles of",
};

/// Creates a product attribute (docs/interface.md, "Attribute").
pub(super) static ATTRIBUTE_CREATE: OperationSpec = OperationSpec {
    name: "attribute create",
    wrapper: Some("attribute"),
    nested: None,
    required: "attribute",
    template: include_str!("../../template/attribute_create.json"),
    columns: ColumnTable {
        groups: &[group(|all| all.attribute, &[], "")],
        named: Some(NamedColumns {
            prefix: "label:",
            placeholder: "STORE_ID",
            path: &["frontend_labels"],
            cell: element(("store_id", FieldType::Integer), ("label", FieldType::Text)),
        }),
        labels: Some("options"),
        ..NO_COLUMNS
    },
    bearer: Bearer::Admin,
    key_field: Some("attribute_code"),
    // The second attribute of a code would be refused, or overwrite the first.
    unique_key: Some("attribute code"),
    replaces: None,
    batch_action: "Create the attributes of",
};
