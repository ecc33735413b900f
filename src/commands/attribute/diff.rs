//! `storefront attribute diff`: compares a file of attributes with a shop.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value};

use crate::cli::{RequestArgs, plan_file};
use crate::client::Session;
use crate::client::service::Service;
use crate::input::{Draft, document};
use crate::ops::attribute::{catalog, exchange, names, replace_texteditor};
use crate::plan::planning::Planning;
use crate::plan::write::ensure_new;
use crate::report::list::{Column, List};
use storefront_core::attribute::compare::{Difference, DifferenceState, Proposal, compare, name_store_views};
use storefront_core::attribute::view::Attribute;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::{ATTRIBUTE_ASSIGN, ATTRIBUTE_CREATE, ATTRIBUTE_OPTION_ADD, OperationSpec};
use storefront_core::text::duration;
use storefront_core::text::exact_json;
use storefront_core::text::sanitize::sanitize_line;

/// Flags of `attribute diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0 where the shop has what the file has, 7 where something differs; with --plan, 7 where
something differs that is not in the plans.

Examples:
  storefront attribute diff attributes.json --sandbox --api magento
  storefront attribute diff attributes.json --sandbox --api magento --jq 'select(.page).field'
  storefront attribute diff attributes.json --plan to-production --sandbox --api magento"
)]
pub struct DiffArgs {
    /// File of attributes, as `attribute export` prints it; - for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write plans for `storefront apply` to OUT.1-attribute-create, OUT.2-attribute-option-add, OUT.3-attribute-assign
    #[arg(long, value_name = "OUT", value_parser = plan_file())]
    pub plan: Option<PathBuf>,
    /// With --plan: how long they can be applied, such as 8h [default: 24h]
    #[arg(long, value_name = "DURATION", requires = "plan", value_parser = duration::up_to_30_days)]
    pub expires: Option<Duration>,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

const COLUMNS: &[Column] = &[
    ("ATTRIBUTE", "attribute"),
    ("FIELD", "field"),
    ("SHOP", "shop"),
    ("FILE", "file"),
    ("CHANGE WITH", "change"),
];

/// Compares the file with the shop, and writes the plans if `--plan` asks for them.
///
/// # Errors
/// `partial` where something differs; `usage` for a file that is not understood, and for names that the shop does not have
/// where a plan is asked for; as [`exchange::read`].
pub async fn run(service: &Service<'_>, args: &DiffArgs) -> Result<(), Failure> {
    let session = service.session;
    catalog::path(service, catalog::ADMINISTRATORS)?;
    let mut file = read_file(session, &args.file)?;
    let plans = args.plan.as_deref().map(plan_paths);
    for (path, _) in plans.iter().flatten() {
        ensure_new(&*session.context.storage, path)?;
    }
    let codes: BTreeSet<String> = file.iter().map(|one| Attribute(one).code().to_owned()).collect();
    let named: BTreeSet<&str> = codes.iter().map(String::as_str).collect();
    let filter = catalog::only(&named);
    let shop = exchange::read(service, filter.as_slice(), |code| named.contains(code)).await?;
    let sets = names::sets(service).await?;
    file.iter_mut().flat_map(Map::values_mut).for_each(|value| name_store_views(value, &shop.views));
    if args.plan.is_some() {
        let missing = exchange::missing_names(service, &shop.views, &sets, &file).await?;
        if !missing.is_empty() {
            return Err(Failure::usage_problems(missing)
                .hint("create them in the admin panel under Stores, or change the names in the file"));
        }
    }
    let mut proposal = Proposal::default();
    let compared =
        file.iter().map(|one| compare(one, shop.attributes.get(Attribute(one).code()), &sets, &mut proposal));
    let found: Vec<Difference> = compared.flatten().collect();
    print(session, &found, file.len())?;
    match plans {
        None => differs(session, &found, file.len()),
        Some(plans) => {
            write(service, plans, proposal, args.expires)?;
            left_over(&found)
        }
    }
}

/// The attributes of a file, each checked as `attribute create` checks its input.
fn read_file(session: &Session<'_>, path: &Path) -> Result<Vec<Map<String, Value>>, Failure> {
    let such = || hint!(storefront("attribute export"), " prints such a file");
    let read = document::read_json(path).map_err(|failure| match failure.hint {
        None => failure.hint(such()),
        Some(_) => failure,
    });
    let documents = match read? {
        Value::Array(documents) => documents,
        document => vec![document],
    };
    let name = document::name(path);
    let mut attributes = Vec::new();
    let mut codes = BTreeSet::new();
    for (number, document) in (1..).zip(documents) {
        let at = |message: String| Failure::usage(format!("{name}: attribute {number}: {message}"));
        let draft = Draft::new(session.dialect, &ATTRIBUTE_CREATE, Some(document).into(), &|_| Ok(()), false);
        let mut draft =
            draft.map_err(|failure| at(failure.message).hint("fix the file, or export it again"))?;
        replace_texteditor(session.dialect, &mut draft.fields);
        for warning in &draft.warnings {
            session.report.warn(&format!("{name}: attribute {number}: {warning}"));
        }
        let code = Attribute(&draft.fields).code().to_owned();
        if code.is_empty() {
            return Err(at("attribute_code is missing".to_owned()));
        }
        if !codes.insert(code.clone()) {
            return Err(at(format!("the file has `{code}` twice")));
        }
        attributes.push(draft.fields);
    }
    if attributes.is_empty() {
        return Err(Failure::usage(format!("{} has no attributes", document::quoted(&name))).hint(such()));
    }
    Ok(attributes)
}

/// The file of each plan, in the order in which they are applied.
fn plan_paths(out: &Path) -> [(PathBuf, &'static OperationSpec); 3] {
    let mut number = 0;
    [&ATTRIBUTE_CREATE, &ATTRIBUTE_OPTION_ADD, &ATTRIBUTE_ASSIGN].map(|spec| {
        number += 1;
        let mut path: OsString = out.as_os_str().to_owned();
        path.push(format!(".{number}-{}", spec.slug()));
        (path.into(), spec)
    })
}

fn print(session: &Session<'_>, found: &[Difference], compared: usize) -> Result<(), Failure> {
    let report = session.report;
    if report.is_json() {
        return found.iter().try_for_each(|difference| report.json_line(difference));
    }
    let is_unknown = |one: &&Difference| one.state == DifferenceState::Unknown;
    let mut list = List::new(report, COLUMNS, false);
    let mut is_empty = true;
    for difference in found.iter().filter(|one| !is_unknown(one)) {
        let mut row = exact_json::of(difference);
        let plan = difference.plan.map(|operation| format!("--plan ({operation})"));
        row["change"] = plan.or(difference.page.clone()).into();
        list.add(row)?;
        is_empty = false;
    }
    if !is_empty {
        list.finish()?;
    }
    let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
    found.iter().filter(is_unknown).for_each(|one| *unknown.entry(&one.field).or_default() += 1);
    if unknown.is_empty() {
        return Ok(());
    }
    let unknown = unknown.iter().map(|(field, count)| {
        let field = sanitize_line(field);
        if *count == compared { field } else { format!("{field} (in {count} of {compared} attributes)") }
    });
    let gap = if is_empty { "" } else { "\n" };
    let line = format!(
        "Not compared, because the API or the file does not show it: {}",
        unknown.collect::<Vec<_>>().join(", ")
    );
    report.stdout(format!("{gap}{}\n", report.stdout_style.wrapped(&line)))
}

/// Exit 7 where something differs.
fn differs(session: &Session<'_>, found: &[Difference], compared: usize) -> Result<(), Failure> {
    let known = found.iter().filter(|one| one.state != DifferenceState::Unknown);
    let attributes: BTreeSet<&str> = known.clone().map(|one| one.attribute.as_str()).collect();
    let noun = if compared == 1 { "attribute" } else { "attributes" };
    if attributes.is_empty() {
        session.report.status(&format!("{compared} {noun}: no difference in what was compared"));
        return Ok(());
    }
    let count = attributes.len();
    let message = format!("{count} of {compared} {noun} {}", if count == 1 { "differs" } else { "differ" });
    let failure = Failure::new(FailureKind::Partial, message).applied(Applied::No);
    Err(if known.clone().any(|one| one.plan.is_some()) {
        failure.hint("add --plan OUT to plan what can be added without losing anything")
    } else {
        failure.hint("change it in the admin panel, on the pages that are named")
    })
}

/// Exit 7 where something differs that no plan changes.
fn left_over(found: &[Difference]) -> Result<(), Failure> {
    let left = found.iter().filter(|one| one.state != DifferenceState::Unknown && one.plan.is_none()).count();
    if left == 0 {
        return Ok(());
    }
    let message =
        if left == 1 { "1 difference is not".to_owned() } else { format!("{left} differences are not") };
    let failure = Failure::new(FailureKind::Partial, format!("{message} in the plans"));
    Err(failure.applied(Applied::No).hint("change the rest in the admin panel, on the pages that are named"))
}

fn write(
    service: &Service<'_>,
    plans: [(PathBuf, &'static OperationSpec); 3],
    proposal: Proposal,
    expires: Option<Duration>,
) -> Result<(), Failure> {
    let Proposal { create, add_options, assign } = proposal;
    if [&create, &add_options, &assign].iter().all(|records| records.is_empty()) {
        service.session.report.status("No plan was written: nothing can be added");
        return Ok(());
    }
    for ((path, spec), records) in plans.into_iter().zip([create, add_options, assign]) {
        if !records.is_empty() {
            Planning::write(service, path, spec, records, expires)?;
        }
    }
    Ok(())
}
