//! `storefront attribute option …`

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value, json};

use crate::cli::OperationArgs;
use crate::client::Session;
use crate::client::service::Service;
use crate::commands;
use crate::input::document::Named;
use crate::input::{Draft, document, options_file};
use crate::journal::Ahead;
use crate::ops::attribute::options;
use crate::ops::{Operation, Resolved, RunFuture};
use storefront_core::attribute::check_new_options;
use storefront_core::attribute::label::joined;
use storefront_core::attribute::view::Attribute;
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::{ATTRIBUTE_OPTION_ADD, ATTRIBUTE_OPTION_DEFAULT, OperationSpec, scalar};

/// Flags that name options.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Attribute options")]
pub struct OptionFlags {
    /// Options, in order
    #[arg(long = "option", value_name = "LABEL", num_args = 1..)]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub labels: Vec<String>,
    /// Default option
    #[arg(long, value_name = "LABEL", value_parser = NonEmptyStringValueParser::new())]
    pub default_option: Option<String>,
    /// CSV file of options: label,sort_order,is_default,label:STORE…; attribute_code where it is for many attributes
    #[arg(long = "options", value_name = "FILE.csv")]
    pub file: Option<PathBuf>,
    /// The options of that file, read once, each with the code of its attribute if the file has one.
    #[arg(skip)]
    pub read: OnceCell<Vec<(Option<String>, Value)>>,
    /// The attributes that took options of it.
    #[arg(skip)]
    pub served: RefCell<HashSet<String>>,
}

impl OptionFlags {
    /// Reads the file, if there is one, before the records: a mistake in it is not the fault of the record that needs it
    /// first.
    ///
    /// # Errors
    /// `usage` for a file that is not understood.
    pub fn load(&self, encoding: Named) -> Result<(), Failure> {
        if let (Some(file), None) = (&self.file, self.read.get()) {
            let _ = self.read.set(options_file(file, encoding)?);
        }
        Ok(())
    }

    /// Puts the options into the fields of an attribute.
    ///
    /// # Errors
    /// `usage` for a file that is not understood, and for a default that is none of the options.
    pub fn set(&self, fields: &mut Map<String, Value>, encoding: Named) -> Result<(), Failure> {
        let mut options = Vec::new();
        self.load(encoding)?;
        if self.file.is_some() {
            let code = fields.get("attribute_code").and_then(Value::as_str);
            self.served.borrow_mut().extend(code.map(str::to_owned));
            let is_for = |own: &Option<String>| own.is_none() || own.as_deref() == code;
            let all = self.read.get().into_iter().flatten();
            let rows = all.filter(|(own, _)| is_for(own)).map(|(_, option)| option.clone()).collect();
            let name = document::name(self.file.as_deref().unwrap_or(Path::new("-")));
            options = joined(rows).map_err(|what| Failure::usage(format!("{name}: {what}")))?;
        }
        for label in &self.labels {
            options.push(json!({"label": label, "sort_order": options.len() + 1, "is_default": false}));
        }
        if !options.is_empty() {
            fields.insert("options".to_owned(), Value::Array(options));
        }
        let Some(default) = &self.default_option else { return Ok(()) };
        let mut found = false;
        for option in fields.get_mut("options").and_then(Value::as_array_mut).into_iter().flatten() {
            // What is no option is refused with its place, when the whole input is checked.
            let Value::Object(option) = option else { return Ok(()) };
            let is_default = !found && option.get("label").and_then(Value::as_str) == Some(default);
            found |= is_default;
            option.insert("is_default".to_owned(), is_default.into());
        }
        if found {
            return Ok(());
        }
        Err(Failure::usage(format!("--default-option `{default}` is not one of the options"))
            .hint("use one of the --option labels"))
    }

    /// Whether options are given.
    pub fn are_given(&self) -> bool {
        self.file.is_some() || !self.labels.is_empty()
    }

    /// The warning about attributes of the file that no record has: their options are not used.
    pub fn leftover(&self) -> Option<String> {
        let file = document::name(self.file.as_deref()?);
        let served = self.served.borrow();
        let codes: HashSet<&str> = self.read.get()?.iter().filter_map(|(code, _)| code.as_deref()).collect();
        let mut codes: Vec<&str> = codes.into_iter().filter(|code| !served.contains(*code)).collect();
        codes.sort_unstable();
        let first = codes.first()?;
        let more = match codes.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        Some(format!("{file}: no record has the attribute_code `{first}`{more}; its options are not used"))
    }
}

/// Add options, and set the default one.
#[derive(Debug, Subcommand)]
pub enum OptionCommand {
    /// Add options to an attribute, which keeps its default option
    Add(Box<AddArgs>),
    /// Make an option the default
    Default(Box<DefaultArgs>),
}

/// Flags of `attribute option add`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront attribute option add color --option Orange Pink --sandbox --api magento
  storefront attribute option add size --option XXL --default-option XXL --sandbox --api magento
  storefront attribute option add color --option Orange --sandbox --api magento --dry-run --curl")]
pub struct AddArgs {
    /// Code of the attribute
    #[arg(value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    pub code: Option<String>,
    /// The options.
    #[command(flatten)]
    pub options: OptionFlags,
    /// Add labels that only look like those of other options
    #[arg(long, help_heading = "Attribute options")]
    pub force: bool,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// Flags of `attribute option default`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront attribute option default color Blue --sandbox --api magento
  storefront attribute option default color Blue --sandbox --api magento --dry-run
  storefront attribute option default size XL --sandbox --api magento -o json")]
pub struct DefaultArgs {
    /// Code of the attribute
    #[arg(value_name = "CODE", value_parser = NonEmptyStringValueParser::new(), requires = "label")]
    pub code: Option<String>,
    /// Label of the option, as administrators see it
    #[arg(value_name = "LABEL", value_parser = NonEmptyStringValueParser::new())]
    pub label: Option<String>,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

impl Operation for DefaultArgs {
    fn spec(&self) -> &'static OperationSpec {
        &ATTRIBUTE_OPTION_DEFAULT
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        for (name, given) in [("attribute_code", &self.code), ("label", &self.label)] {
            if let Some(given) = given {
                fields.insert(name.to_owned(), given.as_str().into());
            }
        }
        Ok(())
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        let has = |name: &str| scalar(draft.fields.get(name)).is_some();
        if has("attribute_code") && has("label") {
            return Ok(Vec::new());
        }
        Err(Failure::usage("no attribute or no option given").hint(hint!(
            "use ",
            storefront("attribute option default CODE LABEL"),
            ", or --input FILE"
        )))
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(options::set_default(service, draft))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(options::resolve_default(service, draft, ahead))
    }
}

impl Operation for AddArgs {
    fn leftover(&self) -> Option<String> {
        self.options.leftover()
    }

    fn spec(&self) -> &'static OperationSpec {
        &ATTRIBUTE_OPTION_ADD
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        if let Some(code) = &self.code {
            fields.insert("attribute_code".to_owned(), code.as_str().into());
        }
        self.options.set(fields, self.run.input.encoding)
    }

    fn sets_what_is_compared(&self) -> bool {
        self.code.is_some() || self.options.are_given()
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        check_new_options(Attribute(&draft.fields), &draft.names, self.force).map(|()| Vec::new())
    }

    fn question<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
    ) -> LocalBoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(options::question(service, draft, self.force))
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(options::add(service, draft, self.force))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(options::resolve_unknown(service, draft, ahead))
    }
}

/// Runs the command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &OptionCommand) -> Result<(), Failure> {
    match command {
        OptionCommand::Add(args) => {
            args.options.load(args.run.input.encoding)?;
            commands::run_operation(session, &**args).await
        }
        OptionCommand::Default(args) => commands::run_operation(session, &**args).await,
    }
}
