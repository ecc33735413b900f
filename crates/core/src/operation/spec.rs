//! What distinguishes one operation from another as plain data.

use crate::interface::dialect::Dialect;
use crate::interface::fields::{FieldType, Scalar, Table};
use crate::interface::request::Bearer;

/// All that a person names; [`UNDO`] is none of them.
pub const OPERATIONS: [&OperationSpec; 12] = [
    &QUOTE_SHIP,
    &QUOTE_ADD_ITEM,
    &QUOTE_SET_ITEM,
    &QUOTE_REMOVE_ITEM,
    &QUOTE_CLEAR,
    &CUSTOMER_UPDATE,
    &ATTRIBUTE_CREATE,
    &ATTRIBUTE_ASSIGN,
    &ATTRIBUTE_OPTION_ADD,
    &ATTRIBUTE_OPTION_DEFAULT,
    &PRODUCT_SET,
    &ORDER_UPDATE,
];

/// One operation. Its flags are in `commands`, the steps of sending it in `ops`.
#[derive(Debug)]
pub struct OperationSpec {
    /// As it is typed and reported, such as `customer update`; also in journals. Only the two of `undo` have one name.
    pub name: &'static str,
    /// Shape of the body, wrapper included.
    pub body: Table,
    /// Name of the body's wrapper field. Input is taken with or without it.
    pub wrapper: Option<&'static str>,
    /// A filled-in body. It names every field the interface lists, and runs in the sandbox.
    pub template: &'static str,
    /// The columns of a CSV: the documented fields. Of two with one title, the first keeps it.
    pub columns: &'static [ColumnGroup],
    /// Flags that are not named as the column of their field, each with this column.
    pub flag_columns: &'static [(&'static str, &'static str)],
    /// Columns whose titles hold a name of the user's.
    pub named_columns: Option<NamedColumns>,
    /// The column that holds labels with `|` between them.
    pub label_column: Option<&'static str>,
    /// Whose token it carries.
    pub bearer: Bearer,
    /// The text field inside the wrapper that says what a record touches. Records that touch the same keep their order.
    /// `None` if they touch whatever belongs to the token.
    pub key_field: Option<&'static str>,
    /// What [`Self::key_field`] is called if no two records may have the same one.
    pub unique_key: Option<&'static str>,
    /// What is replaced as a whole, so that a second write undoes the first one.
    pub replaces: Option<&'static str>,
    /// Whether the body is merged into what is stored; then unknown fields and wrong values are checked after the
    /// merge.
    pub is_merged: bool,
    /// Whether it can be found out later whether a record was applied.
    pub can_resolve: bool,
    /// What an interface must have for it: see [`Self::is_in`].
    pub needs: fn(&Dialect) -> bool,
    /// Whether one request does it all.
    pub is_one_call: bool,
    /// Whether its first call creates something, which sending a changed record again would not change.
    pub creates: bool,
    /// Whether its fields may have the words of the admin panel, as in spreadsheets.
    pub has_admin_words: bool,
    /// Whether it deletes, so that a person must agree, with `--yes` or an answer.
    pub deletes: bool,
    /// The question before a batch, up to the number of records.
    pub batch_action: &'static str,
}

impl OperationSpec {
    /// Whether a sheet for it may be an export.
    pub fn is_exported(&self) -> bool {
        self.is_merged || *self == PRODUCT_SET
    }

    /// Whether an interface has its call.
    pub fn is_in(&self, dialect: &Dialect) -> bool {
        (self.needs)(dialect)
    }
}

impl PartialEq for OperationSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OperationSpec {}

/// The columns of the fields of one object.
#[derive(Debug)]
pub struct ColumnGroup {
    /// The object.
    pub schema: Table,
    /// Where it is inside the wrapper.
    pub path: &'static [&'static str],
    /// The prefix of the fields in the titles.
    pub prefix: &'static str,
    /// The fields that have the prefix; all of them if none is named.
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
    /// Stands for the name in messages and help.
    pub placeholder: &'static str,
    /// Where it is inside the wrapper.
    pub path: &'static [&'static str],
    /// The fields of the name and of the cell in an element of the list there; `None` if a cell is a field of that
    /// name.
    pub element: Option<[(&'static str, FieldType); 2]>,
}

/// An object in the body of [`QUOTE_SHIP`]; an input may give its fields without it. The interface does not show which
/// of the two layouts is authoritative.
pub const NESTED: &str = "addressInformation";

/// Saves shipping and billing address, shipping method and payment. The body has no wrapper.
pub static QUOTE_SHIP: OperationSpec = OperationSpec {
    name: "quote ship",
    body: |all| all.shipping_information,
    wrapper: None,
    template: include_str!("template/quote_ship.json"),
    columns: &[
        group(|all| all.quote_address, &[NESTED, "shipping_address"], "shipping_address."),
        group(|all| all.quote_address, &[NESTED, "billing_address"], "billing_address."),
        group(|all| all.address_information, &[NESTED], ""),
        group(|all| all.quote_address, &["billingAddress"], "billingAddress."),
        group(|all| all.shipping_information, &[], ""),
    ],
    flag_columns: &[
        ("carrier", "shipping_carrier_code"),
        ("method", "shipping_method_code"),
        ("payment_method", "paymentMethod.method"),
    ],
    named_columns: Some(NamedColumns {
        prefix: "paymentMethod.",
        placeholder: "FIELD",
        path: &["paymentMethod"],
        element: None,
    }),
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("quote"),
    is_merged: false,
    can_resolve: false,
    needs: |_| true,
    is_one_call: false,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Save the shipping information of",
};

/// Adds an item to a quote.
pub static QUOTE_ADD_ITEM: OperationSpec = OperationSpec {
    name: "quote add-item",
    body: |all| all.cart_item_body,
    wrapper: Some("cartItem"),
    template: include_str!("template/quote_add_item.json"),
    columns: &[group(|all| all.cart_item, &[], "")],
    flag_columns: &[],
    named_columns: Some(NamedColumns {
        prefix: "option:",
        placeholder: "OPTION_ID",
        path: &["product_option", "extension_attributes", "configurable_item_options"],
        element: Some([("option_id", FieldType::Text), ("option_value", FieldType::Integer)]),
    }),
    label_column: None,
    bearer: Bearer::Customer,
    key_field: Some("quote_id"),
    unique_key: None,
    replaces: None,
    is_merged: false,
    can_resolve: false,
    needs: |_| true,
    is_one_call: true,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Add the items of",
};

/// Sets the quantity of an item that is in the cart.
pub static QUOTE_SET_ITEM: OperationSpec = OperationSpec {
    name: "quote set-item",
    body: |all| all.item_quantity_body,
    wrapper: Some("cartItem"),
    template: include_str!("template/quote_set_item.json"),
    columns: &[group(|all| all.item_quantity, &[], "")],
    flag_columns: &[("item", "item_id")],
    named_columns: None,
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("cart"),
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.carts.is_some(),
    is_one_call: true,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Set the quantities of",
};

/// Removes an item from the cart.
pub static QUOTE_REMOVE_ITEM: OperationSpec = OperationSpec {
    name: "quote remove-item",
    body: |all| all.stored_item_body,
    wrapper: Some("cartItem"),
    template: include_str!("template/quote_remove_item.json"),
    columns: &[group(|all| all.stored_item, &[], "")],
    flag_columns: &[("item", "item_id")],
    named_columns: None,
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("cart"),
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.carts.is_some(),
    is_one_call: true,
    creates: false,
    has_admin_words: false,
    deletes: true,
    batch_action: "Remove the items of",
};

/// Removes all items of the cart.
pub static QUOTE_CLEAR: OperationSpec = OperationSpec {
    name: "quote clear",
    body: |all| all.cart_body,
    wrapper: Some("cart"),
    template: include_str!("template/quote_clear.json"),
    columns: &[group(|all| all.cart, &[], "")],
    flag_columns: &[],
    named_columns: None,
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("cart"),
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.carts.is_some(),
    is_one_call: false,
    creates: false,
    has_admin_words: false,
    deletes: true,
    batch_action: "Remove all items from the carts of",
};

/// Replaces the customer's profile and addresses: the body has the changes to the stored ones.
pub static CUSTOMER_UPDATE: OperationSpec = OperationSpec {
    name: "customer update",
    body: |all| all.customer_body,
    wrapper: Some("customer"),
    template: include_str!("template/customer_update.json"),
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
    flag_columns: &[
        ("address", "address_id"),
        ("country", "country_id"),
        // Titles of the admin panel that only an address has.
        ("street_address", "street"),
        ("phone_number", "telephone"),
        ("zip/postal_code", "postcode"),
        ("state/province", "region"),
        ("vat_number", "vat_id"),
    ],
    named_columns: Some(NamedColumns {
        prefix: "custom_attribute:",
        placeholder: "CODE",
        path: &["addresses", "custom_attributes"],
        element: Some([("attribute_code", FieldType::Text), ("value", FieldType::Text)]),
    }),
    label_column: None,
    bearer: Bearer::Customer,
    key_field: None,
    unique_key: None,
    replaces: Some("customer"),
    is_merged: true,
    can_resolve: true,
    needs: |_| true,
    is_one_call: true,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Update the customers of",
};

/// Creates a product attribute.
pub static ATTRIBUTE_CREATE: OperationSpec = OperationSpec {
    name: "attribute create",
    body: |all| all.attribute_body,
    wrapper: Some("attribute"),
    template: include_str!("template/attribute_create.json"),
    columns: &[group(|all| all.attribute, &[], "")],
    flag_columns: &[
        ("code", "attribute_code"),
        ("label", "default_frontend_label"),
        ("type", "frontend_input"),
        ("required", "is_required"),
        ("filterable", "is_filterable"),
        ("searchable", "is_searchable"),
        ("option", "options"),
        ("set", "attribute_set"),
        // The titles of the admin panel.
        ("default_label", "default_frontend_label"),
        ("catalog_input_type_for_store_owner", "frontend_input"),
        ("values_required", "is_required"),
        ("use_in_search", "is_searchable"),
        ("unique_value", "is_unique"),
        ("visible_in_advanced_search", "is_visible_in_advanced_search"),
        ("comparable_on_storefront", "is_comparable"),
        ("use_in_layered_navigation", "is_filterable"),
        ("use_in_search_results_layered_navigation", "is_filterable_in_search"),
        ("use_for_promo_rule_conditions", "is_used_for_promo_rules"),
        ("allow_html_tags_on_storefront", "is_html_allowed_on_front"),
        ("visible_on_catalog_pages_on_storefront", "is_visible_on_front"),
        ("used_for_sorting_in_product_listing", "used_for_sort_by"),
        ("add_to_column_options", "is_used_in_grid"),
        ("use_in_filter_options", "is_filterable_in_grid"),
        ("input_validation_for_store_owner", "frontend_class"),
    ],
    named_columns: Some(NamedColumns {
        prefix: "label:",
        placeholder: "STORE",
        path: &["frontend_labels"],
        element: Some([("store_id", FieldType::Scalar(Scalar::StoreView)), ("label", FieldType::Text)]),
    }),
    label_column: Some("options"),
    bearer: Bearer::Admin,
    key_field: Some("attribute_code"),
    unique_key: Some("attribute code"),
    replaces: None,
    is_merged: false,
    can_resolve: true,
    needs: |_| true,
    is_one_call: false,
    creates: true,
    has_admin_words: true,
    deletes: false,
    batch_action: "Create the attributes of",
};

/// Puts an attribute into attribute sets, so that products can use it.
pub static ATTRIBUTE_ASSIGN: OperationSpec = OperationSpec {
    name: "attribute assign",
    body: |all| all.assignment_body,
    wrapper: Some("attribute"),
    template: include_str!("template/attribute_assign.json"),
    columns: &[group(|all| all.assignment, &[], "")],
    flag_columns: &[("code", "attribute_code"), ("set", "attribute_set")],
    named_columns: None,
    label_column: None,
    bearer: Bearer::Admin,
    key_field: Some("attribute_code"),
    unique_key: None,
    replaces: None,
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.changes_attributes,
    is_one_call: false,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Assign the attributes of",
};

/// Adds options to an attribute, which keeps its default option.
pub static ATTRIBUTE_OPTION_ADD: OperationSpec = OperationSpec {
    name: "attribute option add",
    body: |all| all.new_options_body,
    wrapper: Some("attribute"),
    template: include_str!("template/attribute_option_add.json"),
    columns: &[group(|all| all.new_options, &[], ""), group(|all| all.attribute_option, &["options"], "")],
    flag_columns: &[("code", "attribute_code"), ("option", "label")],
    named_columns: Some(NamedColumns {
        prefix: "label:",
        placeholder: "STORE",
        path: &["options", "store_labels"],
        element: Some([("store_id", FieldType::Scalar(Scalar::StoreView)), ("label", FieldType::Text)]),
    }),
    label_column: None,
    bearer: Bearer::Admin,
    key_field: Some("attribute_code"),
    unique_key: None,
    replaces: None,
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.changes_attributes,
    is_one_call: false,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Add the options of",
};

/// Makes an option of an attribute the default one.
pub static ATTRIBUTE_OPTION_DEFAULT: OperationSpec = OperationSpec {
    name: "attribute option default",
    body: |all| all.default_option_body,
    wrapper: Some("attribute"),
    template: include_str!("template/attribute_option_default.json"),
    columns: &[group(|all| all.default_option, &[], "")],
    flag_columns: &[("code", "attribute_code"), ("option", "label")],
    named_columns: None,
    label_column: None,
    bearer: Bearer::Admin,
    key_field: Some("attribute_code"),
    unique_key: None,
    replaces: None,
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.changes_attributes,
    is_one_call: true,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Set the default options of",
};

/// Corrects an address of a placed order, and adds a comment that says so.
pub static ORDER_UPDATE: OperationSpec = OperationSpec {
    name: "order update",
    body: |all| all.order_change_body,
    wrapper: Some("entity"),
    template: include_str!("template/order_update.json"),
    columns: &[group(|all| all.order_change, &[], "")],
    flag_columns: &[
        ("increment_id", "order"),
        ("country", "country_id"),
        ("address_firstname", "firstname"),
        ("address_lastname", "lastname"),
        ("address_prefix", "prefix"),
        ("address_middlename", "middlename"),
        ("address_suffix", "suffix"),
    ],
    named_columns: None,
    label_column: None,
    bearer: Bearer::Admin,
    key_field: Some("order"),
    unique_key: None,
    replaces: Some("order"),
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.orders.is_some(),
    is_one_call: false,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Correct the addresses of the orders of",
};

/// Sets values of a product's attributes, in one store view or for all.
pub static PRODUCT_SET: OperationSpec = OperationSpec {
    name: "product set",
    body: |all| all.product_values_body,
    wrapper: Some("product"),
    template: include_str!("template/product_set.json"),
    columns: &[group(|all| all.product_values, &[], "")],
    flag_columns: &[],
    named_columns: Some(NamedColumns {
        prefix: "",
        placeholder: "ATTRIBUTE",
        path: &["custom_attributes"],
        element: Some([("attribute_code", FieldType::Text), ("value", FieldType::Text)]),
    }),
    label_column: None,
    bearer: Bearer::Admin,
    key_field: Some("sku"),
    unique_key: None,
    replaces: Some("product"),
    is_merged: false,
    can_resolve: true,
    needs: |dialect| dialect.products.is_some(),
    is_one_call: true,
    creates: false,
    has_admin_words: false,
    deletes: false,
    batch_action: "Set the values of",
};

/// Takes back what the records of a batch wrote: the operation of the plans that `undo` writes. A record is one owner
/// with its writes.
pub static UNDO: OperationSpec = undo(Bearer::Customer);

/// The field of a record of [`UNDO`] that says what is written to, in words: `cart 4`.
pub const UNDO_OWNER: &str = "owner";

/// The field of a record of [`UNDO`] that says how many things it deletes.
pub const UNDO_DELETES: &str = "deletes";

/// The field of a record of [`UNDO`] that says in words what it deletes.
pub const UNDO_DELETED: &str = "deleted";

/// [`UNDO`] of what an administrator's token changes.
pub static UNDO_BY_ADMIN: OperationSpec = undo(Bearer::Admin);

const fn undo(bearer: Bearer) -> OperationSpec {
    OperationSpec {
        name: "undo",
        body: |all| all.undo,
        wrapper: None,
        template: "{}",
        columns: &[],
        flag_columns: &[],
        named_columns: None,
        label_column: None,
        bearer,
        key_field: Some("owner"),
        unique_key: None,
        replaces: None,
        is_merged: false,
        can_resolve: true,
        needs: |_| true,
        is_one_call: false,
        creates: false,
        has_admin_words: false,
        deletes: true,
        batch_action: "Undo the writes of",
    }
}
