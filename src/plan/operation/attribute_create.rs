//! `attribute create` (docs/interface.md, "Attribute").

use serde_json::{Map, Value};

use super::spec::{ColumnGroup, ColumnTable, NamedCell, NamedColumns, OperationSpec, Success, scalar};
use crate::failure::Failure;
use crate::plan::attribute_compare::in_reply;
use crate::plan::request::{Bearer, Request};
use crate::plan::validate::body::Warnings;
use crate::plan::validate::lint;
use crate::wire::FieldType;

/// Creates a product attribute.
pub static SPEC: OperationSpec = OperationSpec {
    name: "attribute create",
    schema: |fields| fields.attribute_body,
    wrapper: Some("attribute"),
    nested: None,
    required: "attribute",
    examples: [
        "storefront attribute create --sandbox --code fit --label Fit --type select --option Slim Wide",
        "storefront attribute create --sandbox --code note --label Note --type text --dry-run",
        "storefront template attribute-create | storefront attribute create --sandbox -i -",
    ],
    template: include_str!("../../template/attribute_create.json"),
    columns: ColumnTable {
        groups: &[ColumnGroup { schema: |fields| fields.attribute, path: &[], prefix: "", prefixed: &[] }],
        omitted: &[],
        named: Some(NamedColumns {
            prefix: "label:",
            placeholder: "STORE_ID",
            path: &["frontend_labels"],
            cell: NamedCell::Element {
                name: ("store_id", FieldType::Integer),
                value: ("label", FieldType::Text),
            },
        }),
        labels: Some("options"),
    },
    lint,
    is_merged: false,
    bearer: Bearer::Admin,
    request: Request::create_attribute,
    key_field: Some("attribute_code"),
    // The second attribute of a code would be refused, or overwrite the first.
    unique_key: Some("attribute code"),
    replaces: None,
    batch_action: "Create the attributes of",
    success,
};

fn lint(attribute: &Map<String, Value>, is_forced: bool) -> Result<Warnings, Failure> {
    let mut warnings = lint::missing_code(attribute);
    warnings.extend(lint::attribute_errors(attribute));
    if !is_forced && !warnings.is_empty() {
        return Err(
            Failure::usage_problems(warnings).hint("fix the input, or send it nevertheless with --force")
        );
    }
    warnings.extend(lint::of_attribute(attribute));
    Ok(warnings)
}

fn success(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let stored = in_reply(reply.clone());
    let code = stored.as_ref().and_then(|stored| scalar(stored.get("attribute_code")));
    let text = format!("Created attribute {}", code.or_else(|| scalar(asked.get("attribute_code")))?);
    let id = stored.as_ref().and_then(|stored| scalar(stored.get("attribute_id")));
    Some(match id {
        Some(id) => Success { text: format!("{text} (id {id})"), covers_response: true },
        None => Success { text, covers_response: false },
    })
}
