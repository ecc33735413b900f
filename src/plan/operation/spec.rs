//! What distinguishes one operation from another, as data and pure functions. A new operation is one more value.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::request::{Bearer, Request, Target};
use crate::plan::validate::body::Warnings;
use crate::sanitize::sanitize_line;
use crate::wire::{FieldTables, FieldType, ObjectSchema};

/// One operation. Its flags are in `cli` and `input`, the steps of sending it in `ops`.
#[derive(Debug)]
pub struct OperationSpec {
    /// As it is typed and reported, such as `customer update`; also in journals.
    pub name: &'static str,
    /// Shape of the body, wrapper included.
    pub schema: fn(&FieldTables) -> &'static ObjectSchema,
    /// Name of the body's wrapper field. Input is taken with or without it.
    pub wrapper: Option<&'static str>,
    /// An object in the body whose fields input may give without it.
    pub nested: Option<NestedObject>,
    /// The one field of the body that the interface calls required (docs/interface.md); of the others that is not shown.
    pub required: &'static str,
    /// Three command lines for its help. Each runs as it is.
    pub examples: [&'static str; 3],
    /// A filled-in body. It names every field the interface lists, and runs in the sandbox.
    pub template: &'static str,
    /// The columns of a CSV.
    pub columns: ColumnTable,
    /// Refuses what cannot work, unless it is forced, and warns of what is suspicious. It gets what is inside the wrapper.
    pub lint: fn(&Map<String, Value>, bool) -> Result<Warnings, Failure>,
    /// Whether the body is merged into what is stored, which then decides about wrong and masked values.
    pub is_merged: bool,
    /// Whose token it carries. With the administrator's it belongs to no customer and to no store view.
    pub bearer: Bearer,
    /// The call, from the text of the whole body.
    pub request: fn(&Target<'_>, Cow<'static, str>) -> Request,
    /// The text field inside the wrapper that says what a record touches. Records that touch the same keep their order. `None`
    /// where that is whatever belongs to the token.
    pub key_field: Option<&'static str>,
    /// What the key is called, where two records of one key are suspicious.
    pub unique_key: Option<&'static str>,
    /// What is replaced as a whole: a second write undoes the first one.
    pub replaces: Option<&'static str>,
    /// The question before a batch, up to the number of records.
    pub batch_action: &'static str,
    /// The success of a call with these fields inside the wrapper, and this reply; `None` where its outcome speaks for
    /// itself.
    pub success: fn(&Map<String, Value>, &Value) -> Option<Success>,
}

/// An object of a body whose fields may also be given at the top of the body.
#[derive(Debug)]
pub struct NestedObject {
    /// Its name.
    pub name: &'static str,
    /// Its documented fields.
    pub schema: fn(&FieldTables) -> &'static ObjectSchema,
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
    pub schema: fn(&FieldTables) -> &'static ObjectSchema,
    /// Where it is inside the wrapper.
    pub path: &'static [&'static str],
    /// What stands before the names of the fields in the titles.
    pub prefix: &'static str,
    /// The fields that have the prefix; where none is named, all.
    pub prefixed: &'static [&'static str],
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

/// A success in a person's words.
#[derive(Debug, Clone)]
pub struct Success {
    /// Such as `Created attribute fabric (id 145)`; without control characters.
    pub text: String,
    /// Whether it says what is of interest in the reply, which is then not printed.
    pub covers_response: bool,
}

/// A number or a text of a body or a reply, on one line.
pub fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(sanitize_line(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
