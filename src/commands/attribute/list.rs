//! `storefront attribute list`

use std::collections::BTreeSet;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value, json};

use crate::cli::RequestArgs;
use crate::client::service::Service;
use crate::ops::attribute::catalog::{self, ADMINISTRATORS, Membership};
use crate::report::list::{Column, List};
use storefront_core::attribute::view::Attribute;
use storefront_core::failure::Failure;

/// Flags of `attribute list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  storefront attribute list --sandbox --api magento
  storefront attribute list size --system --sandbox --api magento
  storefront attribute list --sandbox --api magento --jq 'select(.sets == []).code'")]
pub struct ListArgs {
    /// Words to find in code or label
    #[arg(value_name = "WORDS", value_parser = NonEmptyStringValueParser::new())]
    pub words: Vec<String>,
    /// Also list the attributes that come with Magento
    #[arg(long)]
    pub system: bool,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

const COLUMNS: &[Column] = &[("CODE", "code"), ("LABEL", "label"), ("TYPE", "type"), ("SETS", "sets")];

/// Prints the attributes: a table, or an object each.
///
/// # Errors
/// As [`catalog::read`].
pub async fn run(service: &Service<'_>, args: &ListArgs) -> Result<(), Failure> {
    let report = service.session.report;
    let mut steps = service.session.report.steps();
    let filters = if args.system { Vec::new() } else { vec![catalog::user_defined()] };
    let fields = Some("default_frontend_label,frontend_input");
    let mut found = catalog::read(service, ADMINISTRATORS, &filters, fields, |count, total| {
        steps.show(&format!("reading attributes: {count} of {total}"));
    })
    .await?;
    let words: Vec<String> = args.words.iter().flat_map(|text| text.split_whitespace()).map(folded).collect();
    found.retain(|attribute| {
        let attribute = Attribute(attribute);
        let text = folded(format!("{} {}", attribute.code(), attribute.text("default_frontend_label")));
        words.iter().all(|word| text.contains(word))
    });
    if found.is_empty() {
        let more = if args.system { "" } else { "; --system also lists those that come with Magento" };
        report
            .status(&format!("no attribute found; each word must be a part of the code or the label{more}"));
        return Ok(());
    }
    let codes: BTreeSet<&str> = found.iter().map(|attribute| Attribute(attribute).code()).collect();
    let places = catalog::memberships(service, &codes, &filters, false, &mut steps).await?;
    drop(steps);
    let mut list = List::new(report, COLUMNS, false);
    for attribute in &found {
        let places = places.get(Attribute(attribute).code()).map_or(&[][..], Vec::as_slice);
        list.add(row(attribute, places))?;
    }
    list.finish()
}

fn row(attribute: &Map<String, Value>, places: &[Membership]) -> Value {
    let shown = Attribute(attribute);
    let sets: Vec<&str> = places.iter().map(|place| place.set.as_str()).collect();
    json!({"code": shown.code(), "label": shown.text("default_frontend_label"),
        "type": shown.text("frontend_input"), "sets": sets})
}

/// A text without letter case and accents.
fn folded(text: impl AsRef<str>) -> String {
    deunicode::deunicode(&text.as_ref().to_lowercase()).to_lowercase()
}
