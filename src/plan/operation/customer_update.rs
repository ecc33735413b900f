//! `customer update` (docs/interface.md, "Profile").

use super::spec::{ColumnGroup, ColumnTable, NamedCell, NamedColumns, OperationSpec};
use crate::plan::request::{Bearer, Request};
use crate::wire::FieldType;

/// Replaces the customer's profile and addresses: the body is what changes in the stored ones.
pub static SPEC: OperationSpec = OperationSpec {
    name: "customer update",
    schema: |fields| fields.customer_body,
    wrapper: Some("customer"),
    nested: None,
    required: "customer",
    examples: [
        "storefront customer update --sandbox --address 2 --street '350 Fifth Avenue' 'Floor 34'",
        "storefront customer update --sandbox --remove-address 3 --dry-run",
        "storefront customer update --sandbox --address 2 --city Albany --jq '.changes[].after'",
    ],
    template: include_str!("../../template/customer_update.json"),
    columns: ColumnTable {
        groups: &[
            ColumnGroup { schema: |fields| fields.customer, path: &[], prefix: "", prefixed: &[] },
            ColumnGroup {
                schema: |fields| fields.region,
                path: &["addresses", "region"],
                prefix: "",
                prefixed: &[],
            },
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
            cell: NamedCell::Element {
                name: ("attribute_code", FieldType::Text),
                value: ("value", FieldType::Text),
            },
        }),
        labels: None,
    },
    lint: |_, _| Ok(Vec::new()),
    is_merged: true,
    bearer: Bearer::Customer,
    request: Request::replace_profile,
    key_field: None,
    unique_key: None,
    replaces: Some("customer"),
    batch_action: "Replace the profiles of",
    success: |_, _| None,
};
