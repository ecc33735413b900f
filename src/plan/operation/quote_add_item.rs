//! `quote add-item` (docs/interface.md, "Cart item").

use serde_json::{Map, Value};

use super::spec::{ColumnGroup, ColumnTable, NamedCell, NamedColumns, OperationSpec, Success, scalar};
use crate::plan::request::{Bearer, Request};
use crate::plan::validate::lint;
use crate::wire::FieldType;

/// Adds an item to a quote.
pub static SPEC: OperationSpec = OperationSpec {
    name: "quote add-item",
    schema: |fields| fields.cart_item_body,
    wrapper: Some("cartItem"),
    nested: None,
    required: "cartItem",
    examples: [
        "storefront quote add-item --sandbox --sku mug-blue --qty 2 --quote-id 1",
        "storefront quote add-item --sandbox --sku cap --qty 1 --quote-id 1 --option 93=50",
        "storefront template quote-add-item | storefront quote add-item --sandbox -i - --qty 5",
    ],
    template: include_str!("../../template/quote_add_item.json"),
    columns: ColumnTable {
        groups: &[ColumnGroup { schema: |fields| fields.cart_item, path: &[], prefix: "", prefixed: &[] }],
        omitted: &[],
        named: Some(NamedColumns {
            prefix: "option:",
            placeholder: "OPTION_ID",
            path: &["product_option", "extension_attributes", "configurable_item_options"],
            cell: NamedCell::Element {
                name: ("option_id", FieldType::Text),
                value: ("option_value", FieldType::Integer),
            },
        }),
        labels: None,
    },
    lint: |item, _| lint::refuse_item(item).map(|()| Vec::new()),
    is_merged: false,
    bearer: Bearer::Customer,
    request: Request::add_item,
    key_field: Some("quote_id"),
    unique_key: None,
    replaces: None,
    batch_action: "Add the items of",
    success,
};

fn success(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let quote =
        scalar(asked.get("quote_id")).map_or_else(|| "the cart".to_owned(), |id| format!("quote {id}"));
    let text = format!("Added {} × {} to {quote}", scalar(asked.get("qty"))?, scalar(asked.get("sku"))?);
    let Some(item) = scalar(reply.get("item_id")) else {
        return Some(Success { text, covers_response: false });
    };
    // The service answers with the line of the cart, which holds what was in it before, too.
    let text = match scalar(reply.get("qty")) {
        Some(total) => format!("{text} (item {item}, now {total} in the cart)"),
        None => format!("{text} (item {item})"),
    };
    Some(Success { text, covers_response: true })
}
