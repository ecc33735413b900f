//! Files and flags become drafts: the documented body, checked, with the flags laid over it.

mod attribute;
pub mod attribute_options;
mod cart_item;
mod cell;
mod customer;
pub mod document;
pub mod records;
mod shipping;

pub use attribute_options::read as options_file;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::nearest::nearest;
use crate::plan::check::{self, Warnings};
use crate::plan::operation::Operation;
use crate::plan::{address_check, attribute_check};

/// Flags that can be laid over a body.
pub trait Overlay {
    /// Lays the flags over what is inside the body's wrapper (over the body itself where it has none). They win.
    ///
    /// # Errors
    /// `usage` for flags that contradict each other or name what is not there.
    fn lay_over(&self, inner: &mut Map<String, Value>) -> Result<(), Failure>;

    /// Whether no flag is given that would be laid over a body.
    fn is_empty(&self) -> bool {
        false
    }
}

/// No flags at all.
#[derive(Debug, Clone, Copy)]
pub struct NoFlags;

impl Overlay for NoFlags {
    fn lay_over(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }
}

/// A checked body, flags and all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The body, inside its wrapper where the operation has one.
    pub body: Map<String, Value>,
    /// What the check mended, and what is doubtful.
    pub warnings: Warnings,
}

impl Draft {
    /// Checks a record's document and lays the flags over it.
    ///
    /// # Errors
    /// `usage` for unknown members, wrong types, and what the flags refuse.
    pub fn new(
        operation: Operation,
        document: Option<Value>,
        flags: &dyn Overlay,
        allow_unknown: bool,
    ) -> Result<Self, Failure> {
        let mut body = wrapped(operation, document)?;
        let mut warnings = check::check(&mut body, operation.body(), allow_unknown)?;
        match operation.wrapper() {
            None => {
                flags.lay_over(&mut body)?;
                warnings.extend(address_check::of_quote(&body));
            }
            Some(wrapper) => {
                if let Value::Object(inner) = body.entry(wrapper).or_insert_with(|| Value::Object(Map::new()))
                {
                    flags.lay_over(inner)?;
                    if operation == Operation::AttributeCreate {
                        warnings.extend(attribute_check::doubts(inner));
                    }
                }
            }
        }
        Ok(Self { body, warnings })
    }

    /// Takes out what is inside the wrapper; what stood beside it stays.
    pub fn take_inner(&mut self, operation: Operation) -> Map<String, Value> {
        match operation.wrapper().and_then(|wrapper| self.body.shift_remove(wrapper)) {
            Some(Value::Object(inner)) => inner,
            _ => Map::new(),
        }
    }
}

/// The document as the service wants it: bodies are taken with or without their wrapper.
fn wrapped(operation: Operation, document: Option<Value>) -> Result<Map<String, Value>, Failure> {
    let document = match document {
        None => Map::new(),
        Some(Value::Object(document)) => document,
        Some(_) => return Err(Failure::usage("the input must be a JSON object; nothing was sent")),
    };
    let Some(wrapper) = operation.wrapper() else { return Ok(shipping::nested(document)) };
    let misspelt = |name: &str, value: &Value| value.is_object() && nearest(name, [wrapper]).is_some();
    if document.iter().any(|(name, value)| name.trim() == wrapper || misspelt(name, value)) {
        return Ok(document);
    }
    Ok(Map::from_iter([(wrapper.to_owned(), Value::Object(document))]))
}
