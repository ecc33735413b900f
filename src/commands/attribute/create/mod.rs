//! `storefront attribute create`

mod wizard;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value};

use self::wizard::Wizard;
use super::option::OptionFlags;
use crate::cli::OperationArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlags, parse_store_label};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::commands;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::{Operation, Resolved, RunFuture, attribute};
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::interface::fields::{PRODUCT_ENTITY_TYPE_ID, Table};
use storefront_core::lint;
use storefront_core::operation::{ATTRIBUTE_CREATE, OperationSpec};
use storefront_core::text::exact_json;

/// Flags of `attribute create`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront attribute create --sandbox --code fit --label Fit --type select --option Slim Wide
  storefront attribute create --sandbox --api magento --code fit --label F --type text --set Default
  storefront template attribute-create | storefront attribute create --sandbox -i -")]
pub struct CreateArgs {
    /// The attribute.
    #[command(flatten)]
    pub attribute: FieldArgs<AttributeFlags>,
    /// Include in search (sent as "1" or "0")
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", help_heading = AttributeFlags::HEADING)]
    pub searchable: Option<bool>,
    /// Label for a store view, as STORE=LABEL; STORE is its ID or, for magento, its code
    #[arg(long = "store-label", value_name = "STORE=LABEL", num_args = 1..)]
    #[arg(value_parser = parse_store_label, help_heading = AttributeFlags::HEADING)]
    pub store_labels: Vec<(String, String)>,
    /// Attribute set to assign it to so products can use it (magento)
    #[arg(long = "set", value_name = "NAME[/GROUP]", num_args = 1.., help_heading = AttributeFlags::HEADING)]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub sets: Vec<String>,
    /// Its options.
    #[command(flatten)]
    pub options: OptionFlags,
    /// Skip consistency checks
    #[arg(long, help_heading = AttributeFlags::HEADING)]
    pub force: bool,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// Flags that set members of the attribute.
#[derive(Debug, Clone)]
pub struct AttributeFlags;

impl FieldFlags for AttributeFlags {
    const HEADING: &'static str = "Attribute";
    const TABLE: Table = |tables| tables.attribute;
    const FLAGS: &'static str = "code=attribute_code label=default_frontend_label type=frontend_input \
        required=is_required filterable=is_filterable";
}

impl Operation for CreateArgs {
    fn spec(&self) -> &'static OperationSpec {
        &ATTRIBUTE_CREATE
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        fields.extend(self.attribute.named.clone());
        if let Some(searchable) = self.searchable {
            fields.insert("is_searchable".to_owned(), if searchable { "1" } else { "0" }.into());
        }
        if !self.store_labels.is_empty() {
            let label = |(view, label): &(String, String)| {
                let view = exact_json::number(view).map_or_else(|| view.as_str().into(), Value::Number);
                exact_json::object([("store_id", view), ("label", label.as_str().into())])
            };
            fields.insert("frontend_labels".to_owned(), self.store_labels.iter().map(label).collect());
        }
        if !self.sets.is_empty() {
            fields.insert("attribute_set".to_owned(), self.sets.iter().map(String::as_str).collect());
        }
        self.options.set(fields, self.run.input.encoding)?;
        if fields.is_empty() {
            return Err(
                Failure::usage("no attribute given").hint("use --code, --label and --type, or --input FILE")
            );
        }
        fields.entry("entity_type_id").or_insert_with(|| PRODUCT_ENTITY_TYPE_ID.into());
        Ok(())
    }

    fn sets_what_is_compared(&self) -> bool {
        !self.attribute.named.is_empty() || self.searchable.is_some() || self.options.are_given()
    }

    fn leftover(&self) -> Option<String> {
        self.options.leftover()
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        lint::of_attribute(&draft.fields, &draft.names, self.force)
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, created: Option<u64>) -> RunFuture<'a> {
        Box::pin(attribute::create(service, draft, created))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        _: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(attribute::resolve_unknown(service, &draft.fields))
    }
}

/// Reads the input and creates the attribute; on a terminal, what is missing is asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &CreateArgs) -> Result<(), Failure> {
    if !args.sets.is_empty() && !session.dialect.changes_attributes {
        return Err(Failure::usage("--set is for Magento shops only").hint("add --api magento"));
    }
    args.options.load(args.run.input.encoding)?;
    commands::run_records(session, args, async |document| {
        let prompt = session.prompt();
        if prompt.can_ask() {
            // What is missing so far is not refused yet.
            let given = document.clone();
            let allow_unknown = session.global.input.allow_unknown;
            let input =
                Draft::new(session.dialect, &ATTRIBUTE_CREATE, given.into(), &|_| Ok(()), allow_unknown)?;
            let mut wizard = Wizard::new(session, &prompt, args, input.fields);
            if wizard.lacks_something() {
                return with_service(session, async |service| {
                    commands::send(service, args, &wizard.run(service, document).await?).await
                })
                .await;
            }
        }
        commands::run_one(session, args, document).await
    })
    .await
}
