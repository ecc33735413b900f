//! `storefront attribute export`

use std::collections::BTreeSet;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value};

use crate::cli::{ExportFormat, RequestArgs, ToArgs};
use crate::client::service::Service;
use crate::ops::attribute::{catalog, exchange, names};
use crate::report::export::Export;
use storefront_core::attribute::Named;
use storefront_core::attribute::export::{UNKNOWN, text};
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Filter;
use storefront_core::sheet::attribute::{Sheet, sheet};
use storefront_core::text::suggestion::closest_match;

/// Flags of `attribute export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  storefront attribute export --all --sandbox --api magento > attributes.json
  storefront attribute export color size --format csv --to attributes.csv --sandbox --api magento
  storefront attribute export --set Clothing --sandbox --api magento --jq '.[].options[]?.label'")]
pub struct ExportArgs {
    /// Codes of attributes [default: all that are user-defined]
    #[arg(value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with_all = ["set", "all"])]
    pub codes: Vec<String>,
    /// Only attributes of this attribute set
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "all")]
    pub set: Option<String>,
    /// All user-defined attributes (the default)
    #[arg(long)]
    pub all: bool,
    /// Where the export goes.
    #[command(flatten)]
    pub to: ToArgs,
    /// JSON with all that the shop shows, or a sheet as `attribute create` takes it [default: json]
    #[arg(long, value_name = "json|csv", hide_possible_values = true, help_heading = "Export options")]
    pub format: Option<ExportFormat>,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Prints the attributes as a file.
///
/// # Errors
/// As [`exchange::read`]; `usage` for a code or a set that the shop does not have.
pub async fn run(service: &Service<'_>, args: &ExportArgs) -> Result<(), Failure> {
    let mut export = Export::begin(service.session.report, &args.to)?;
    let mut filters = vec![catalog::user_defined()];
    if let Some(name) = &args.set {
        let sets = names::sets(service).await?;
        filters.push(Filter::equal(&["attribute_set_id"], &Named::find(&sets, "attribute set", name)?.id));
    }
    let codes: BTreeSet<&str> = args.codes.iter().map(|code| code.trim()).collect();
    let is_wanted = |code: &str| codes.is_empty() || codes.contains(code);
    let narrowed = [&filters[..], catalog::only(&codes).as_slice()].concat();
    let shop = exchange::read(service, &narrowed, is_wanted).await?;
    if codes.iter().any(|code| !shop.attributes.contains_key(*code)) {
        return Err(unknown_codes(service, &filters, &codes).await?);
    }
    let attributes: Vec<_> = shop.attributes.into_values().map(|one| one.exported).collect();
    let list = |one: &Value| one.as_array().map_or(0, Vec::len);
    let options: usize = attributes.iter().filter_map(|it| it.get("options")).map(list).sum();
    let unknown: BTreeSet<&str> = attributes
        .iter()
        .flat_map(|it| it[UNKNOWN].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    if args.format == Some(ExportFormat::Csv) {
        write_sheet(service, &mut export, &attributes)?;
    } else {
        export.text(&text(&attributes))?;
    }
    let file = export.finish()?;
    let count =
        |count: usize, noun: &str| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    let mut said =
        format!("Exported {} with {}", count(attributes.len(), "attribute"), count(options, "option"));
    said.extend(file.map(|file| format!(" to {file}")));
    if !unknown.is_empty() {
        let unknown = unknown.into_iter().collect::<Vec<_>>().join(", ");
        said.push_str(&format!("; the API does not show: {unknown}"));
    }
    service.session.report.status(&said);
    Ok(())
}

/// Writes a row for each attribute, and warns about what has no column.
fn write_sheet(
    service: &Service<'_>,
    export: &mut Export<'_>,
    attributes: &[Map<String, Value>],
) -> Result<(), Failure> {
    let Sheet { titles, rows, left_out } = sheet(attributes);
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    export.titles(&titles)?;
    for (attribute, row) in attributes.iter().zip(rows) {
        let code = attribute.get("attribute_code").and_then(Value::as_str).unwrap_or_default();
        export.row(&format!("attribute `{code}`"), &titles, &row)?;
    }
    for (what, count) in left_out {
        let attributes = if count == 1 { "1 attribute".to_owned() } else { format!("{count} attributes") };
        service.session.report.warn(&format!("the sheet has no {what} ({attributes}); JSON has them"));
    }
    Ok(())
}

/// Codes that no user-defined attribute has, with the nearest ones.
async fn unknown_codes(
    service: &Service<'_>,
    filters: &[Filter],
    codes: &BTreeSet<&str>,
) -> Result<Failure, Failure> {
    let known =
        catalog::read(service, catalog::ADMINISTRATORS, filters, Some("frontend_input"), |_, _| ()).await?;
    let known: Vec<&str> = known.iter().filter_map(|it| it["attribute_code"].as_str()).collect();
    let unknown = codes.iter().filter(|code| !known.contains(*code));
    let problems = unknown.map(|code| {
        let near = closest_match(code, known.iter().copied());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("the shop has no user-defined attribute `{code}`{near}")
    });
    Ok(Failure::usage_problems(problems.collect()).hint(hint!(storefront("attribute list"), " lists them")))
}
