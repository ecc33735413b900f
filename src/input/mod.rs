//! Files and flags become drafts: the documented body, checked, with the flags applied to it.

mod attribute;
pub mod attribute_options;
mod cart_item;
mod cell;
mod customer;
pub mod document;
pub mod encoding;
pub mod problems;
pub mod records;
mod shipping;
mod strict_csv;

pub use attribute_options::read as options_file;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::plan::request::Dialect;
use crate::plan::validate::body::{self, Finding, FindingKind, Warnings};
use crate::plan::validate::{lint_address, lint_attribute, lint_cart_item, masked_values};
use crate::redact::secrets;
use crate::suggestion::closest_match;

/// Flags that can be applied to a body.
pub trait FlagOverrides {
    /// Applies the flags to what is inside the body's wrapper (to the body itself where it has none). They take precedence.
    ///
    /// # Errors
    /// `usage` for flags that contradict each other or name what is not there.
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure>;

    /// Whether no flag is given that would be applied to a body.
    fn is_empty(&self) -> bool {
        false
    }

    /// Whether what cannot work is sent nevertheless.
    fn forces(&self) -> bool {
        false
    }

    /// Whether the result is read back.
    fn verifies(&self) -> bool {
        false
    }
}

/// No flags at all.
#[derive(Debug, Clone, Copy)]
pub struct NoFlags;

impl FlagOverrides for NoFlags {
    fn apply(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }
}

/// No flags yet: questions complete the document, and what cannot work so far may work then.
#[derive(Debug, Clone, Copy)]
pub struct Unfinished;

impl FlagOverrides for Unfinished {
    fn apply(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }

    fn forces(&self) -> bool {
        true
    }
}

/// A checked body, flags and all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The body, inside its wrapper where the operation has one.
    pub body: Map<String, Value>,
    /// What the check corrected, and its warnings.
    pub warnings: Warnings,
    /// Findings in a customer that only the stored profile can decide: it may have the same field, or the same value.
    pub deferred: Vec<Finding>,
    /// Whether the result is read back, where that is a choice.
    pub verify: bool,
}

impl Draft {
    /// Applies the flags to a record's document, and checks both together: a flag replaces a wrong value too.
    ///
    /// # Errors
    /// `usage` for unknown fields, wrong types, what cannot work, and what the flags refuse. Of a customer's document the
    /// findings are [`Self::deferred`].
    pub fn new(
        dialect: &Dialect,
        operation: Operation,
        document: Option<Value>,
        flags: &dyn FlagOverrides,
        allow_unknown: bool,
    ) -> Result<Self, Failure> {
        let is_document = document.is_some();
        let mut body = wrapped(dialect, operation, document)?;
        let mut warnings = body::tidy(&mut body, dialect.schema(operation))?;
        match operation.wrapper() {
            None => flags.apply(&mut body)?,
            Some(wrapper) => {
                if let Value::Object(inner) = body.entry(wrapper).or_insert_with(|| Value::Object(Map::new()))
                {
                    flags.apply(inner)?;
                }
            }
        }
        let findings = body::findings(&body, dialect.schema(operation), allow_unknown);
        let is_inside = |finding: &Finding| finding.steps.len() > 1 && operation == Operation::CustomerUpdate;
        let (deferred, refused): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| is_document && is_inside(finding));
        body::refuse(&refused)?;
        if operation != Operation::CustomerUpdate {
            // Nothing is stored that the mask could stand for.
            masked_values::resolve(&body, &Map::new(), false, secrets())?;
        }
        let inner = |name: &str| body.get(name).and_then(Value::as_object);
        match operation {
            Operation::QuoteShip => warnings.extend(lint_address::of_quote(&body)),
            Operation::QuoteAddItem => lint_cart_item::refuse(inner("cartItem"))?,
            Operation::AttributeCreate => {
                let inner = inner("attribute").into_iter();
                let errors: Vec<String> = inner.clone().flat_map(lint_attribute::errors).collect();
                if !flags.forces() && !errors.is_empty() {
                    return Err(Failure::usage_problems(errors)
                        .hint("fix the input, or send it nevertheless with --force"));
                }
                warnings.extend(errors);
                warnings.extend(inner.flat_map(lint_attribute::lint));
            }
            Operation::CustomerUpdate => {}
        }
        Ok(Self { body, warnings, deferred, verify: flags.verifies() })
    }

    /// Refuses deferred wrong values now, where it matters more to find them before anything is sent than that a stored
    /// profile with the same value could be sent back. Unknown fields stay deferred.
    ///
    /// # Errors
    /// `usage`, with all of them.
    pub fn refuse_wrong_values(&self) -> Result<(), Failure> {
        let wrong = self.deferred.iter().filter(|finding| finding.kind == FindingKind::WrongValue);
        body::refuse(&wrong.cloned().collect::<Vec<_>>())
    }

    /// Takes out what is inside the wrapper; fields outside of it stay.
    pub fn take_inner(&mut self, operation: Operation) -> Map<String, Value> {
        match operation.wrapper().and_then(|wrapper| self.body.shift_remove(wrapper)) {
            Some(Value::Object(inner)) => inner,
            _ => Map::new(),
        }
    }
}

/// The document as the service wants it: bodies are taken with or without their wrapper.
fn wrapped(
    dialect: &Dialect,
    operation: Operation,
    document: Option<Value>,
) -> Result<Map<String, Value>, Failure> {
    let document = match document {
        None => Map::new(),
        Some(Value::Object(document)) => document,
        Some(_) => return Err(Failure::usage("the input must be a JSON object")),
    };
    let Some(wrapper) = operation.wrapper() else {
        return Ok(shipping::to_wrapped_layout(document, dialect.fields.address_information));
    };
    let misspelt = |name: &str, value: &Value| value.is_object() && closest_match(name, [wrapper]).is_some();
    if document.iter().any(|(name, value)| name.trim() == wrapper || misspelt(name, value)) {
        return Ok(document);
    }
    Ok(Map::from_iter([(wrapper.to_owned(), Value::Object(document))]))
}

#[cfg(test)]
mod tests;
