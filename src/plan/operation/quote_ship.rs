//! `quote ship` (docs/interface.md, "Shipping information").

use super::spec::{ColumnGroup, ColumnTable, NamedCell, NamedColumns, NestedObject, OperationSpec, Success};
use crate::plan::request::{Bearer, Request};
use crate::plan::validate::lint;

/// Saves shipping and billing address, shipping method and payment. The body has no wrapper.
pub static SPEC: OperationSpec = OperationSpec {
    name: "quote ship",
    schema: |fields| fields.shipping_information,
    wrapper: None,
    // Which of the two layouts is authoritative is not shown, so both are taken.
    nested: Some(NestedObject { name: "addressInformation", schema: |fields| fields.address_information }),
    required: "paymentMethod",
    examples: [
        "storefront quote ship --sandbox --ship-to-address 2 --payment-method checkmo",
        "storefront quote ship --sandbox --ship-to-address 2 --bill-to-address 1 --payment-method free",
        "storefront template quote-ship | storefront quote ship --sandbox -i - --dry-run",
    ],
    template: include_str!("../../template/quote_ship.json"),
    columns: ColumnTable {
        groups: &[
            ColumnGroup {
                schema: |fields| fields.quote_address,
                path: &["addressInformation", "shipping_address"],
                prefix: "shipping_address.",
                prefixed: &[],
            },
            ColumnGroup {
                schema: |fields| fields.quote_address,
                path: &["addressInformation", "billing_address"],
                prefix: "billing_address.",
                prefixed: &[],
            },
            ColumnGroup {
                schema: |fields| fields.address_information,
                path: &["addressInformation"],
                prefix: "",
                prefixed: &[],
            },
            ColumnGroup {
                schema: |fields| fields.quote_address,
                path: &["billingAddress"],
                prefix: "billingAddress.",
                prefixed: &[],
            },
        ],
        omitted: &[],
        named: Some(NamedColumns {
            prefix: "paymentMethod.",
            placeholder: "FIELD",
            path: &["paymentMethod"],
            cell: NamedCell::Field,
        }),
        labels: None,
    },
    lint: |body, _| Ok(lint::of_quote(body)),
    is_merged: false,
    bearer: Bearer::Customer,
    request: Request::ship_quote,
    key_field: None,
    unique_key: None,
    replaces: Some("quote"),
    batch_action: "Save the shipping information of",
    success: |_, _| {
        Some(Success { text: "Saved the shipping information".to_owned(), covers_response: false })
    },
};
