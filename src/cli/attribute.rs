//! The flags of `attribute create`.

use std::cell::OnceCell;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Number, Value};

use crate::cli::OperationArgs;
use crate::cli::batch::BatchArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags, parse_number_label};
use crate::wire::Table;

const ATTRIBUTE: Table = |tables| tables.attribute;

/// Flags of `attribute create`.
#[derive(Debug, Clone, Args)]
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
