//! `storefront attribute create`

mod wizard;

use std::cell::OnceCell;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Number, Value, json};

use self::wizard::Wizard;
use crate::cli::OperationArgs;
use crate::cli::batch::BatchArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags, parse_number_label};
use crate::commands;
use crate::failure::Failure;
use crate::input::{Draft, options_file};
use crate::ops::{Operation, Run, attribute};
use crate::plan::operation::{ATTRIBUTE_CREATE, OperationSpec};
use crate::plan::validate::attribute::FrontendInput;
use crate::plan::validate::body::Warnings;
use crate::plan::validate::lint;
use crate::prompt::Prompt;
use crate::report::outcome::Outcome;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
use crate::text::exact_json;
use crate::wire::{PRODUCT_ENTITY_TYPE_ID, Table};

const ATTRIBUTE: Table = |tables| tables.attribute;

/// Flags of `attribute create`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront attribute create --sandbox --code fit --label Fit --type select --option Slim Wide
  storefront attribute create --sandbox --code note --label Note --type text --dry-run
  storefront template attribute-create | storefront attribute create --sandbox -i -")]
pub struct CreateArgs {
    /// The attribute.
    #[command(flatten)]
    pub attribute: FieldArgs<AttributeFlags>,
    /// Include in search (sent as "1" or "0")
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = AttributeFlags::HEADING)]
    pub searchable: Option<bool>,
    /// Label for a store view, as STORE_ID=LABEL
    #[arg(long = "store-label", value_name = "STORE_ID=LABEL", num_args = 1.., value_parser = parse_number_label, help_heading = AttributeFlags::HEADING)]
    pub store_labels: Vec<(Number, String)>,
    /// Options, in order
    #[arg(long = "option", value_name = "LABEL", num_args = 1.., value_parser = NonEmptyStringValueParser::new(), help_heading = "Attribute options")]
    pub options: Vec<String>,
    /// Default option
    #[arg(long, value_name = "LABEL", value_parser = NonEmptyStringValueParser::new(), help_heading = "Attribute options")]
    pub default_option: Option<String>,
    /// CSV file of options: label,sort_order,is_default,label:STORE_ID…; attribute_code where it is for many attributes
    #[arg(long = "options", value_name = "FILE.csv", help_heading = "Attribute options")]
    pub options_file: Option<PathBuf>,
    /// What that file has, read once: each option with the code of its attribute, where the file names it.
    #[arg(skip)]
    pub options_read: OnceCell<Vec<(Option<String>, Value)>>,
    /// Skip consistency checks
    #[arg(long, help_heading = AttributeFlags::HEADING)]
    pub force: bool,
    /// What every operation takes.
    #[command(flatten)]
    pub run: OperationArgs,
    /// Many records.
    #[command(flatten)]
    pub batch: BatchArgs,
}

/// Flags that set members of the attribute.
#[derive(Debug, Clone)]
pub struct AttributeFlags;

impl FieldFlags for AttributeFlags {
    const HEADING: &'static str = "Attribute";
    const FLAGS: &'static [FieldFlag] = &[
        FieldFlag::new("code", ATTRIBUTE, "attribute_code"),
        FieldFlag::new("label", ATTRIBUTE, "default_frontend_label"),
        FieldFlag::new("type", ATTRIBUTE, "frontend_input"),
        FieldFlag::new("required", ATTRIBUTE, "is_required"),
        FieldFlag::new("filterable", ATTRIBUTE, "is_filterable"),
    ];
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
            let label = |(id, label): &(Number, String)| {
                exact_json::object([("store_id", id.clone().into()), ("label", label.as_str().into())])
            };
            fields.insert("frontend_labels".to_owned(), self.store_labels.iter().map(label).collect());
        }
        self.set_options(fields)?;
        if let Some(Value::String(kind)) = fields.get_mut("frontend_input")
            && let Some(meant) = FrontendInput::by_label(kind)
        {
            meant.name.clone_into(kind);
        }
        if fields.is_empty() {
            return Err(
                Failure::usage("no attribute given").hint("use --code, --label and --type, or --input FILE")
            );
        }
        fields.entry("entity_type_id").or_insert_with(|| PRODUCT_ENTITY_TYPE_ID.into());
        Ok(())
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        lint::of_attribute(&draft.fields, self.force)
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> Run<'a> {
        Box::pin(attribute::create(service, draft))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        _: Option<&'a str>,
    ) -> LocalBoxFuture<'a, Option<Outcome>> {
        Box::pin(attribute::resolve_unknown(service, &draft.fields))
    }
}

impl CreateArgs {
    fn set_options(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        let mut options = Vec::new();
        if let Some(file) = &self.options_file {
            if self.options_read.get().is_none() {
                let _ = self.options_read.set(options_file(file, self.run.input.encoding)?);
            }
            let code = fields.get("attribute_code").and_then(Value::as_str);
            let is_for = |own: &Option<String>| own.is_none() || own.as_deref() == code;
            let all = self.options_read.get().into_iter().flatten();
            options.extend(all.filter(|(own, _)| is_for(own)).map(|(_, option)| option.clone()));
        }
        for label in &self.options {
            options.push(json!({"label": label, "sort_order": options.len() + 1, "is_default": false}));
        }
        if !options.is_empty() {
            fields.insert("options".to_owned(), Value::Array(options));
        }
        let Some(default) = &self.default_option else { return Ok(()) };
        let mut found = false;
        for option in fields.get_mut("options").and_then(Value::as_array_mut).into_iter().flatten() {
            let is_default = option.get("label").and_then(Value::as_str) == Some(default);
            found |= is_default;
            option["is_default"] = is_default.into();
        }
        if found {
            return Ok(());
        }
        Err(Failure::usage(format!("--default-option `{default}` is not one of the options"))
            .hint("use one of the --option labels"))
    }
}

/// Reads the input and creates the attribute; on a terminal, what is missing is asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &CreateArgs) -> Result<(), Failure> {
    commands::run_records(session, args, &args.batch, async |document| {
        let prompt = Prompt::new(session.context, session.global, session.report);
        if prompt.can_ask() {
            // What is missing so far is not refused yet.
            let (given, allow_unknown) = (document.clone(), session.global.allow_unknown);
            let input = Draft::new(session.dialect, &ATTRIBUTE_CREATE, given, &|_| Ok(()), allow_unknown)?;
            let mut wizard = Wizard::new(session, &prompt, args.clone(), input.fields);
            if wizard.lacks_something() {
                return with_service(session, async |service| {
                    let sent = commands::send(service, args, &wizard.run(document)?).await;
                    wizard.tell();
                    sent
                })
                .await;
            }
        }
        commands::run_one(session, args, document).await
    })
    .await
}
