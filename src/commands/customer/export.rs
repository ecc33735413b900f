//! `storefront customer export`: the addresses of customers as a sheet that `customer update` takes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::each::{Visitor, Who, progress_of};
use crate::cli::hint::for_command;
use crate::cli::{CustomerChoice, ExportFormat, InputArgs, InputFormat, PaceArgs, RequestArgs, ToArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::ops::customers::NO_CUSTOMER_FOUND;
use crate::ops::profile::custom;
use crate::report::export::Export;
use crate::report::progress::Progress;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::MAX_PAGE;
use storefront_core::profile::address::{DEFAULTS, address_list};
use storefront_core::profile::custom::Owner;
use storefront_core::profile::defaults::DefaultAddress;
use storefront_core::profile::stored::Profile;
use storefront_core::sheet::address::{ADDRESS_ID, ATTRIBUTE, cell, titles};
use storefront_core::sheet::cells::Cell;
use storefront_core::sheet::exported::{EXPORTED, Mark};

/// Flags of `customer export`.
#[derive(Debug, Args)]
#[command(
    after_help = "One row is one address. Edit the cells, and give the sheet to `customer update -i`. A row that
was not edited is not sent, an edited one only while the shop still has what was exported. A
row that is removed deletes nothing, an empty cell changes nothing, and a cell
__EMPTY__VALUE__ clears its field.

Examples:
  storefront customer export --sandbox > addresses.csv
  storefront customer export haddad --sandbox --api magento --to haddad.csv
  storefront customer export --all-customers --sandbox --api magento --format json"
)]
pub struct ExportArgs {
    /// Export the customers with these words in email or name
    #[arg(value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with_all = ["customer", "all_customers", "input"])]
    pub text: Vec<String>,
    /// Whose addresses.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Export all customers
    #[arg(long, conflicts_with_all = ["customer", "input"])]
    pub all_customers: bool,
    /// Export the customers in FILE: a column or field `customer`, or `id` (- for stdin)
    #[arg(short, long, value_name = "FILE", conflicts_with = "customer", help_heading = "Input options")]
    pub input: Option<PathBuf>,
    /// Input format: json, ndjson or csv [default: from the file extension]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, requires = "input")]
    #[arg(help_heading = "Input options")]
    pub input_format: Option<InputFormat>,
    /// Where the export goes.
    #[command(flatten)]
    pub to: ToArgs,
    /// A sheet, or JSON with a customer a line [default: csv]
    #[arg(long, value_name = "csv|json", hide_possible_values = true, help_heading = "Export options")]
    pub format: Option<ExportFormat>,
    /// How many, and how fast.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Writes the addresses of the customer who is named, or of many.
///
/// # Errors
/// `guard` where the file exists, and whatever kept a customer from being read: then there is no file.
pub async fn run(session: &Session<'_>, args: &ExportArgs) -> Result<(), Failure> {
    let input = |path: &PathBuf| InputArgs {
        path: Some(path.clone()),
        input_format: args.input_format,
        ..InputArgs::default()
    };
    let who = Who::of(&args.text, args.all_customers, args.input.as_ref().map(input))?;
    let is_default_json = session.report.is_json() && args.to.to.is_none();
    let is_json = args.format.map_or(is_default_json, |format| format == ExportFormat::Json);
    let task = async |service: &Service<'_>| {
        if matches!(who, Who::Listed(_)) && service.settings.dialect.customers.is_none() {
            let name = service.settings.dialect.name;
            return Err(Failure::usage(format!(
                "the {name} interface has no call that reads a named customer"
            ))
            .hint("export the customer of one token at a time, without -i"));
        }
        let mut run = ExportRun::begin(service, &args.to, is_json)?;
        if !is_json {
            run.read_codes().await?;
        }
        who.each(service, &mut run).await?;
        run.finish()
    };
    who.with_service(session, task).await
}

/// A running export.
struct ExportRun<'a> {
    service: &'a Service<'a>,
    export: Export<'a>,
    is_json: bool,
    /// The columns, once they are known.
    columns: Option<Columns>,
    /// The codes of custom attributes that the shop lists.
    codes: Option<Vec<String>>,
    /// The first customers, until the columns are known, each with how an administrator names them.
    held: Vec<(Profile, Option<String>)>,
    /// How many addresses have a custom attribute without a column.
    left_out: BTreeMap<String, u64>,
    progress: Option<Progress>,
    begun: Instant,
    customers: u64,
    addresses: u64,
}

/// The columns of a sheet.
struct Columns {
    /// Whether the first two name the customer.
    names_customers: bool,
    /// Those of the address.
    address: Vec<String>,
    /// Those of the defaults, where the service keeps each as one value.
    defaults: &'static [&'static str],
    /// The codes of custom attributes among those of the address.
    codes: Vec<String>,
}

/// Columns that say whose an address is.
const CUSTOMER: [&str; 2] = ["customer", "customer_email"];

impl Columns {
    fn titles(&self) -> Vec<&str> {
        let customer = CUSTOMER.into_iter().filter(|_| self.names_customers);
        let address = self.address.iter().map(String::as_str);
        customer.chain(address).chain(self.defaults.iter().copied()).chain([EXPORTED]).collect()
    }

    /// The row of an address.
    fn row(
        &self,
        customer: &Map<String, Value>,
        named: Option<&str>,
        address: &Map<String, Value>,
    ) -> Vec<Cell> {
        let id = address.get("id").and_then(storefront_core::id::AddressId::of);
        let is_default = DEFAULTS.map(|name| {
            id.is_some_and(|id| DefaultAddress::of(customer, name) == DefaultAddress::Stored(id))
        });
        let texts: Vec<Option<String>> = self.address.iter().map(|title| cell(address, title)).collect();
        let values = self.address.iter().zip(&texts);
        let values = values.map(|(title, text)| (&**title, text.as_deref().unwrap_or_default()));
        let mark = Mark::of(values, is_default);
        let mut cells = Vec::new();
        if self.names_customers {
            let email = customer.get("email").and_then(Value::as_str).unwrap_or_default();
            cells.push(Cell::Plain(named.unwrap_or_default().to_owned()));
            cells.push(Cell::Value(email.to_owned()));
        }
        cells.extend(self.address.iter().zip(texts).map(|(title, text)| match text {
            Some(text) if title == ADDRESS_ID => Cell::Plain(text),
            Some(text) => Cell::Value(text),
            None => Cell::Lost,
        }));
        let word = |name: &&str| {
            let at = DEFAULTS.iter().position(|other| other == name);
            at.is_some_and(|at| is_default[at])
        };
        cells.extend(
            self.defaults.iter().map(|name| Cell::Plain(if word(name) { "yes" } else { "no" }.to_owned())),
        );
        cells.push(Cell::Plain(mark.to_string()));
        cells
    }
}

impl<'a> ExportRun<'a> {
    fn begin(service: &'a Service<'a>, to: &ToArgs, is_json: bool) -> Result<Self, Failure> {
        Ok(Self {
            service,
            export: Export::begin(service.session.report, to)?,
            is_json,
            columns: None,
            codes: None,
            held: Vec::new(),
            left_out: BTreeMap::new(),
            progress: None,
            begun: Instant::now(),
            customers: 0,
            addresses: 0,
        })
    }

    /// Reads which custom attributes addresses can have. If a shop does not tell, its first customers show them.
    async fn read_codes(&mut self) -> Result<(), Failure> {
        custom::read_list(self.service, Owner::Address).await?;
        let directory = self.service.custom_attributes.borrow();
        self.codes =
            directory.codes(Owner::Address).map(|codes| codes.into_iter().map(str::to_owned).collect());
        Ok(())
    }

    /// Chooses the columns, and writes the titles.
    fn lay_out(&mut self, names_customers: bool) -> Result<(), Failure> {
        let dialect = self.service.settings.dialect;
        let codes = self.codes.take().unwrap_or_else(|| {
            let mut found: Vec<String> = Vec::new();
            for code in self.held.iter().flat_map(|(profile, _)| codes_of(profile.customer())) {
                if !found.contains(&code) {
                    found.push(code);
                }
            }
            found
        });
        let mut address = titles(dialect.fields);
        address.extend(codes.iter().map(|code| format!("{ATTRIBUTE}{code}")));
        let defaults: &[&str] = if dialect.merges_profiles { &DEFAULTS } else { &[] };
        let columns = Columns { names_customers, address, defaults, codes };
        self.export.titles(&columns.titles())?;
        self.columns = Some(columns);
        for (profile, named) in std::mem::take(&mut self.held) {
            self.write(&profile, named.as_deref())?;
        }
        Ok(())
    }

    fn write(&mut self, profile: &Profile, named: Option<&str>) -> Result<(), Failure> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let customer = profile.customer();
        let titles = columns.titles();
        for address in address_list(customer).iter().filter_map(Value::as_object) {
            let what = match (named, address.get("id")) {
                (Some(named), Some(id)) => format!("address {id} of customer {named}"),
                (_, id) => format!("address {}", id.cloned().unwrap_or_default()),
            };
            self.export.row(&what, &titles, &columns.row(customer, named, address))?;
            self.addresses += 1;
        }
        for code in codes_of(customer).into_iter().filter(|code| !columns.codes.contains(code)) {
            *self.left_out.entry(code).or_default() += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Failure> {
        if !self.is_json && self.columns.is_none() {
            let names_customers = self.held.iter().any(|(_, named)| named.is_some());
            self.lay_out(names_customers)?;
        }
        self.progress = None;
        let report = self.service.session.report;
        for (code, count) in self.left_out {
            report.warn(&format!(
                "the custom attribute `{code}` has no column: the first customers do not have it ({count} addresses do)"
            ));
        }
        let file = self.export.finish()?;
        let count =
            |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        if let (Some(file), true) = (&file, report.is_json()) {
            let customers = self.customers;
            let addresses = self.addresses;
            return report.json(&json!({"file": file, "customers": customers, "addresses": addresses}));
        }
        if self.customers == 0 {
            report.status(NO_CUSTOMER_FOUND);
        }
        let Some(file) = file else { return Ok(()) };
        let addresses = count(self.addresses, "address", "addresses");
        let customers = count(self.customers, "customer", "customers");
        report.status(&format!("Exported {addresses} of {customers} to {file}"));
        let update = storefront("customer update").arg("-i").arg(&*file);
        let next = hint!("edit it, and write what you changed with ", update);
        report.status(&for_command(next, self.service.session.global).to_string());
        Ok(())
    }
}

/// The codes of the custom attributes that some address has, once for each address.
fn codes_of(customer: &Map<String, Value>) -> Vec<String> {
    let lists = address_list(customer).iter().filter_map(|address| address["custom_attributes"].as_array());
    let codes = lists.flatten().filter_map(|own| own["attribute_code"].as_str());
    codes.map(str::to_owned).collect()
}

impl Visitor for ExportRun<'_> {
    fn expect(&mut self, total: Option<u64>) {
        self.progress = progress_of(self.service, total, self.begun);
    }

    async fn visit(&mut self, profile: &Profile, named: Option<String>) -> Result<(), Failure> {
        self.customers += 1;
        // In the marketplace the token says whose an address is.
        let named = named.filter(|_| self.service.settings.dialect.customers.is_some());
        if let Some(progress) = &mut self.progress {
            progress.show_exported(self.customers);
        }
        if self.is_json {
            let mut line = Map::new();
            line.extend(named.map(|named| ("customer".to_owned(), named.into())));
            line.insert("addresses".to_owned(), address_list(profile.customer()).into());
            self.addresses += address_list(profile.customer()).len() as u64;
            return self.export.line(&Value::Object(line));
        }
        if self.columns.is_some() {
            return self.write(profile, named.as_deref());
        }
        let names_customers = named.is_some();
        self.held.push((profile.clone(), named));
        if self.codes.is_some() || self.held.len() == MAX_PAGE {
            return self.lay_out(names_customers);
        }
        Ok(())
    }

    fn unknown(&mut self, _: &str, failure: Failure) -> Result<(), Failure> {
        Err(failure)
    }
}
