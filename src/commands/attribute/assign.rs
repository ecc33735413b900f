//! `storefront attribute assign`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value};

use crate::cli::OperationArgs;
use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::attribute::assign;
use crate::ops::{Operation, Resolved, RunFuture};
use storefront_core::attribute::view::Attribute;
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::{ATTRIBUTE_ASSIGN, OperationSpec, scalar};

/// Flags of `attribute assign`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront attribute assign size --set Default --sandbox --api magento
  storefront attribute assign size --set 'Clothing/Size and Fit' --sandbox --api magento
  storefront template attribute-assign | storefront attribute assign --sandbox --api magento -i -")]
pub struct AssignArgs {
    /// Code of the attribute
    #[arg(value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    pub code: Option<String>,
    /// Attribute set; without a group, its first one
    #[arg(long = "set", value_name = "NAME[/GROUP]", num_args = 1..)]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub sets: Vec<String>,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

impl Operation for AssignArgs {
    fn spec(&self) -> &'static OperationSpec {
        &ATTRIBUTE_ASSIGN
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        if let Some(code) = &self.code {
            fields.insert("attribute_code".to_owned(), code.as_str().into());
        }
        if !self.sets.is_empty() {
            fields.insert("attribute_set".to_owned(), self.sets.iter().map(String::as_str).collect());
        }
        Ok(())
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        if scalar(draft.fields.get("attribute_code")).is_none()
            || Attribute(&draft.fields).set_names().is_empty()
        {
            return Err(Failure::usage("no attribute or no attribute set given").hint(hint!(
                "use ",
                storefront("attribute assign CODE --set NAME"),
                ", or --input FILE"
            )));
        }
        Ok(Vec::new())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(assign::assign(service, draft))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        _: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(assign::resolve_unknown(service, draft))
    }
}
