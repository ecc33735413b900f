//! `storefront customer check`: finds mistakes in address books, and plans the removal of addresses that are stored
//! twice.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use encoding_rs::Encoding;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::each::{Visitor, Who, progress_of};
use crate::cli::command_line::flag;
use crate::cli::hint::typed;
use crate::cli::{CustomerChoice, InputArgs, InputFormat, PaceArgs, PlanArgs, RequestArgs, encoding};
use crate::client::Session;
use crate::client::service::Service;
use crate::ops::address_book::Checker;
use crate::ops::customers::NO_CUSTOMER_FOUND;
use crate::plan::Planned;
use crate::plan::planning::Planning;
use crate::report::list::{Column, List};
use crate::report::profile;
use crate::report::progress::Progress;
use crate::report::style::{OutputStyle, TextStyle, wrap};
use storefront_core::check::accepted::Version;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::hint;
use storefront_core::id::AddressId;
use storefront_core::operation::CUSTOMER_UPDATE;
use storefront_core::profile::address_book::{Finding, Kind, removal};
use storefront_core::profile::stored::Profile;
use storefront_core::text::sanitize::sanitize_line;

/// Flags of `customer check`.
#[derive(Debug, Args)]
#[command(
    after_help = "The exit code is 0 if nothing was found, and 7 if something was; values that only some versions of Magento
refuse count where --magento-version or the profile names one. A plan removes addresses that are equal to another one in every
field, custom attributes included; it never removes a default.

Examples:
  storefront customer check --sandbox
  storefront customer check --sandbox --api magento --customer 2 --plan duplicates.plan
  storefront customer check --sandbox --api magento --customer 2 --magento-version 2.4.9 --csv"
)]
pub struct CheckArgs {
    /// Check the customers with these words in email or name
    #[arg(value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with_all = ["customer", "all", "input"])]
    pub text: Vec<String>,
    /// Whose address book.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Check all customers
    #[arg(long, conflicts_with_all = ["customer", "input"])]
    pub all: bool,
    /// Of several customers: only those behind this one, where a check was stopped
    #[arg(long, value_name = "CUSTOMER", conflicts_with = "customer")]
    pub after: Option<String>,
    /// Check the customers in FILE: a column or field `customer`, or `id` (- for stdin)
    #[arg(short, long, value_name = "FILE", conflicts_with = "customer", help_heading = "Input options")]
    pub input: Option<PathBuf>,
    /// Input format: json, ndjson or csv [default: from the file extension]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, requires = "input")]
    #[arg(help_heading = "Input options")]
    pub input_format: Option<InputFormat>,
    /// Encoding of the input, such as windows-1252 [default: UTF-8]
    #[arg(long, value_name = "NAME", value_parser = encoding, requires = "input")]
    #[arg(help_heading = "Input options")]
    pub encoding: Option<&'static Encoding>,
    /// List only what locks customers in this version of Magento, such as 2.4.9: what an upgrade would block
    #[arg(long, value_name = "VERSION", value_parser = version, conflicts_with = "plan")]
    pub magento_version: Option<Version>,
    /// Print CSV, a row for each finding
    #[arg(long)]
    pub csv: bool,
    /// The plan that removes addresses that are stored twice.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// The columns of the CSV.
const COLUMNS: &[Column<'static>] = &[
    ("", "customer"),
    ("", "email"),
    ("", "addresses"),
    ("", "kind"),
    ("", "field"),
    ("", "versions"),
    ("", "message"),
];

/// Reads a version.
fn version(text: &str) -> Result<Version, &'static str> {
    Version::named(text).ok_or("expected 2.4.6, 2.4.7, 2.4.8 or 2.4.9, with a patch or without")
}

/// Checks one address book, those of a search, of a file, or of all customers.
///
/// # Errors
/// `partial` if something was found; whatever stopped the check.
pub async fn run(session: &Session<'_>, args: &CheckArgs) -> Result<(), Failure> {
    let CheckArgs { input_format, encoding, .. } = *args;
    let input = |path: &PathBuf| InputArgs {
        path: Some(path.clone()),
        input_format,
        encoding,
        ..InputArgs::default()
    };
    let who = Who::of(&args.text, args.all, args.input.as_ref().map(input))?;
    let who = args.after.iter().try_fold(who, |who, after| who.after(after))?;
    let passed = RefCell::new(None);
    let check = async |service: &Service<'_>| {
        if args.csv && service.session.report.is_json() {
            return Err(Failure::usage("`--csv` cannot be used with `-o json`").hint("leave out one of them"));
        }
        let mut run = CheckRun::begin(service, args, &passed)?;
        who.each(service, &mut run).await?;
        passed.take();
        run.finish()
    };
    let ended = who.with_service(session, check).await;
    ended.map_err(|failure| match passed.take() {
        // A plan is written whole or not at all.
        Some(passed) if session.global.plan.file.is_none() => {
            let rest = session.global.typed.without(&["--after"]).with(flag("after", &passed));
            let first = failure.hint.clone().map(|hint| hint.and("; ")).unwrap_or_default();
            failure.hint(first.and(hint!("check the rest with ", typed(&rest))))
        }
        _ => failure,
    })
}

/// The findings of one customer, as results have them.
#[derive(Serialize)]
struct CustomerFindings<'a> {
    customer: Value,
    email: Option<String>,
    findings: &'a [Finding],
    /// The addresses that a plan removes.
    removable: Vec<AddressId>,
}

/// A check that is under way.
struct CheckRun<'a> {
    service: &'a Service<'a>,
    checker: Checker<'a>,
    /// The last customer of whom all was printed.
    passed: &'a RefCell<Option<String>>,
    planning: Option<Planning<'a>>,
    progress: Option<Progress>,
    begun: Instant,
    /// The version in which the findings must lock a customer to be listed.
    upgrade: Option<Version>,
    /// The version whose rules hold.
    version: Option<Version>,
    csv: Option<List<'a>>,
    checked: u64,
    with_findings: u64,
    /// How many there are of each kind.
    kinds: BTreeMap<Kind, u64>,
    /// Whether one of them holds whatever the version.
    is_certain: bool,
    removable: u64,
}

impl Visitor for CheckRun<'_> {
    fn expect(&mut self, total: Option<u64>) {
        self.progress = progress_of(self.service, total, self.begun);
    }

    /// Checks an address book, and prints what is found. `named` is how a plan names the customer.
    async fn visit(&mut self, profile: &Profile, named: Option<String>) -> Result<(), Failure> {
        let (mut findings, twins) = self.checker.check(profile).await?;
        if let Some(version) = self.upgrade {
            findings.retain(|finding| finding.locks() && finding.holds_in(Some(version)));
        }
        let removable: Vec<AddressId> = twins.iter().flat_map(|twins| twins.remove.clone()).collect();
        self.removable += removable.len() as u64;
        if let Some(planning) = &mut self.planning
            && let Some(expect) = removal(profile, &twins)
        {
            let input = Map::from_iter([("customer".to_owned(), json!({}))]);
            planning.push(&Planned { customer: named, input, expect, of: None, warnings: Vec::new() })?;
        }
        let customer = profile.customer().get("id").cloned().unwrap_or_default();
        let email = profile.text("email");
        self.tell(
            &profile::owner(profile.customer()),
            &CustomerFindings { customer, email, findings: &findings, removable },
        )
    }

    /// Notes a customer of the file whom the shop does not have.
    fn unknown(&mut self, name: &str, failure: Failure) -> Result<(), Failure> {
        let addresses = Vec::new();
        let message = failure.message;
        let findings =
            [Finding { kind: Kind::UnknownCustomer, addresses, field: None, versions: Vec::new(), message }];
        let email = name.contains('@').then(|| name.to_owned());
        let customer = name.parse::<u64>().map_or(Value::Null, Value::from);
        let line = CustomerFindings { customer, email, findings: &findings, removable: Vec::new() };
        self.tell(&format!("customer {}", sanitize_line(name)), &line)
    }

    fn passed(&mut self, name: &str) {
        self.passed.replace(Some(name.to_owned()));
    }
}

impl<'a> CheckRun<'a> {
    fn begin(
        service: &'a Service<'a>,
        args: &CheckArgs,
        passed: &'a RefCell<Option<String>>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            service,
            checker: Checker::new(service),
            passed,
            planning: Planning::of(service, &CUSTOMER_UPDATE, Vec::new())?,
            progress: None,
            begun: Instant::now(),
            upgrade: args.magento_version,
            version: args.magento_version.or(service.settings.magento_version),
            csv: args.csv.then(|| List::new(service.session.report, COLUMNS, true)),
            checked: 0,
            with_findings: 0,
            kinds: BTreeMap::new(),
            is_certain: false,
            removable: 0,
        })
    }

    fn tell(&mut self, owner: &str, line: &CustomerFindings<'_>) -> Result<(), Failure> {
        let report = self.service.session.report;
        self.checked += 1;
        if !line.findings.is_empty() {
            let is_first = self.with_findings == 0;
            self.with_findings += 1;
            for finding in line.findings {
                *self.kinds.entry(finding.kind).or_default() += 1;
                self.is_certain |= finding.holds_in(self.version);
            }
            if let Some(list) = &mut self.csv {
                line.findings.iter().try_for_each(|finding| list.add(line.row(finding)))?;
                list.flush()?;
            } else if report.is_json() {
                report.json_line(line)?;
            } else {
                let text = text(owner, line.findings, report.stdout_style);
                report.stdout(if is_first { text } else { format!("\n{text}") })?;
            }
        }
        if let Some(progress) = &mut self.progress {
            progress.show_checked(self.checked, self.with_findings);
        }
        Ok(())
    }

    /// How many findings there are of each kind: `2 locked, 1 equal`.
    fn by_kind(&self) -> String {
        let word = |kind: &Kind| json!(kind).as_str().unwrap_or_default().replace('-', " ");
        self.kinds
            .iter()
            .map(|(kind, count)| format!("{count} {}", word(kind)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Writes the plan, and says what was found.
    fn finish(mut self) -> Result<(), Failure> {
        let report = self.service.session.report;
        self.progress = None;
        if let Some(list) = self.csv.take() {
            list.finish()?;
        }
        if let Some(planning) = self.planning.take() {
            if self.removable == 0 {
                report.status("no address is equal to another one in every field");
            }
            planning.finish()?;
        }
        let message = match (self.with_findings, self.checked) {
            (0, 0) => {
                report.status(&format!("{NO_CUSTOMER_FOUND}; for an ID use --customer"));
                return Ok(());
            }
            (0, 1) => {
                report.status("nothing found");
                return Ok(());
            }
            (0, checked) => {
                report.status(&format!("{checked} customers checked, nothing found"));
                return Ok(());
            }
            (_, 1) => match self.kinds.values().sum() {
                1_u64 => "1 finding in the address book".to_owned(),
                many => format!("{many} findings in the address book"),
            },
            (1, checked) => format!("1 of {checked} customers has findings: {}", self.by_kind()),
            (found, checked) => format!("{found} of {checked} customers have findings: {}", self.by_kind()),
        };
        if !self.is_certain {
            report.status(&format!("{message}, none that the rules of every version refuse"));
            return Ok(());
        }
        let failure = Failure::new(FailureKind::Partial, message).applied(Applied::No);
        let is_planned = self.service.session.global.plan.file.is_some();
        Err(match self.removable {
            0 => failure,
            _ if is_planned => failure,
            1 => failure.hint("to plan the removal of the address that is stored twice, add --plan FILE"),
            many => failure.hint(format!(
                "to plan the removal of {many} addresses that are stored twice, add --plan FILE"
            )),
        })
    }
}

impl CustomerFindings<'_> {
    /// A finding as a row of a sheet.
    fn row(&self, finding: &Finding) -> Value {
        json!({
            "customer": self.customer,
            "email": self.email,
            "addresses": finding.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            "kind": finding.kind,
            "field": finding.field,
            "versions": finding.versions.join(" "),
            "message": finding.message,
        })
    }
}

/// The customer and what was found, for a person.
fn text(owner: &str, findings: &[Finding], screen: OutputStyle) -> String {
    let mut lines = vec![screen.paint(TextStyle::Head, &screen.wrapped(owner))];
    for finding in findings {
        let message = sanitize_line(&finding.message);
        let columns = screen.width.map_or(usize::MAX, |width| usize::from(width).max(20));
        lines.extend(wrap(&message, columns, "  ", "    ").into_iter().map(Cow::into_owned));
    }
    lines.join("\n") + "\n"
}
