//! What the columns of a CSV mean.

use crate::input::records;
use crate::plan::operation::Operation;
use crate::plan::request::Dialect;
use crate::wire::FieldType;

/// A column: its title, what its cells hold, and what it is for.
pub type Column = (String, &'static str, &'static str);

/// The columns that a CSV of an operation may have.
pub fn columns(dialect: &'static Dialect, operation: Operation) -> Vec<Column> {
    let fields = operation.schema(dialect).fields();
    let known = records::paths(dialect, operation).filter_map(|(title, path)| {
        let path = operation.spec().wrapper.into_iter().chain(path.iter().copied());
        let path = path.collect::<Vec<_>>().join(".");
        let field = fields.iter().find(|(name, _)| name.replace("[]", "") == path).map(|(_, field)| field)?;
        let holds = if title == "is_searchable" { "yes or no" } else { holds(field.field_type) };
        Some((title, holds, field.doc))
    });
    let more = named_by_the_user(operation).iter();
    known.chain(more.map(|(title, holds, doc)| ((*title).to_owned(), *holds, *doc))).collect()
}

fn holds(field: FieldType) -> &'static str {
    match field {
        FieldType::Text | FieldType::TextOrNull => "text",
        FieldType::TextList => "lines separated by |",
        FieldType::Boolean => "yes or no",
        other => other.expected(),
    }
}

/// Columns with a code or an id in their title, and those that stand for a list.
fn named_by_the_user(operation: Operation) -> &'static [(&'static str, &'static str, &'static str)] {
    match operation {
        Operation::AttributeCreate => &[
            ("label:STORE_ID", "text", "Label in the store view with this ID"),
            ("options", "labels separated by |", "Options to choose from; * marks the default"),
        ],
        Operation::QuoteAddItem => {
            &[("option:OPTION_ID", "an integer", "Chosen value of that option of a configurable product")]
        }
        Operation::CustomerUpdate => {
            &[("custom_attribute:CODE", "text", "Custom attribute of the address with this code")]
        }
        Operation::QuoteShip => &[("paymentMethod.FIELD", "text", "Field of the payment, such as method")],
    }
}
