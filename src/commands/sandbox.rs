//! `sandbox`: the built-in local service.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::client::Session;
use crate::client::local_service::{self, data_file, unusable};
use crate::client::runtime::Signals;
use crate::config::{SANDBOX, ServiceId};
use crate::log::WriteLog;
use crate::report::list::{Column, List, objects};
use crate::system::environment;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Dialect, Interface};
use storefront_sandbox::{Emulation, Fault, Observer, Options, Version};

/// The commands of `sandbox`.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run the local service until interrupted; prints its URL and tokens first
    #[command(alias = "start")]
    #[command(after_help = "Examples:
  storefront sandbox serve
  storefront sandbox serve --listen 127.0.0.1:8080 --data shop.db
  storefront sandbox serve --fault 503@10 -v")]
    Serve(ServeArgs),
    /// Print what a new sandbox holds, to be edited for `sandbox serve --seed`
    #[command(after_help = "Examples:
  storefront sandbox seed
  storefront sandbox seed > seed.json
  storefront sandbox seed | grep increment_id")]
    Seed,
    /// Reset the sandbox to its seed data (safe while it is running)
    #[command(after_help = "Examples:
  storefront sandbox reset
  storefront sandbox reset --data shop.db
  storefront sandbox reset -o json")]
    Reset(DataArgs),
    /// Print the sandbox's data
    #[command(after_help = "Examples:
  storefront sandbox show
  storefront sandbox show --jq '.quotes[].items'
  storefront sandbox show --data shop.db -o json")]
    Show(DataArgs),
    /// Print the sandbox's OpenAPI 3.1 description of the interface that --api names
    #[command(after_help = "Examples:
  storefront sandbox openapi
  storefront sandbox openapi > openapi.json
  storefront sandbox openapi --api magento")]
    Openapi,
    /// Print the tokens the sandbox accepts
    ///
    /// Magento's interface issues tokens that expire, too: the password of every account is `sandbox`, a customer's user
    /// name is the email, and the administrator's is `admin`.
    #[command(after_help = "Examples:
  storefront sandbox tokens
  storefront sandbox tokens -o json
  storefront sandbox tokens --jq .token")]
    Tokens(DataArgs),
}

/// The choice of a database.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Database file (created and seeded if missing) [default: sandbox.db in the data directory]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Run the local service; inject faults with --fault.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on (port 0 picks a free port)
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// The database.
    #[command(flatten)]
    pub data: DataArgs,
    /// What a new database holds, as `sandbox seed` prints it; the file of --data must not exist
    #[arg(long, value_name = "FILE")]
    pub seed: Option<PathBuf>,
    /// Allow a non-loopback address (the sandbox tokens are public)
    #[arg(long)]
    pub allow_remote: bool,
    /// Also accept requests for this host name, at any port or at this one (repeatable)
    #[arg(long, value_name = "NAME[:PORT]", value_parser = NonEmptyStringValueParser::new())]
    pub allow_host: Vec<String>,
    /// Version of Magento whose rules hold: 2.4.7, 2.4.8 or 2.4.9
    #[arg(long, value_name = "VERSION", default_value = "2.4.7", value_parser = ["2.4.7", "2.4.8", "2.4.9"])]
    #[arg(hide_possible_values = true)]
    pub magento_version: String,
    /// Limit lists as Magento can: at most 300 records a page
    #[arg(long)]
    pub limits: bool,
    /// Add customers until there are N, each with an address and a token
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub customers: u32,
    /// Inject a fault
    #[arg(long, value_name = "FAULT", help_heading = "Request options", help = fault_help())]
    pub fault: Vec<Fault>,
}

fn fault_help() -> String {
    let kinds = storefront_sandbox::fault_kinds();
    format!(
        "Inject a fault: [METHOD:]KIND[=VALUE][@PERCENT][xTIMES][:seed=N] (repeatable); a percentage with a seed \
         selects the same requests again. Kinds: {kinds}"
    )
}

/// Runs `sandbox`.
///
/// # Errors
/// `usage` when the database or the address cannot be used.
pub async fn run(session: &Session<'_>, command: &SandboxCommand) -> Result<(), Failure> {
    match command {
        SandboxCommand::Serve(args) => serve(session, args).await,
        SandboxCommand::Reset(args) => reset(session, args),
        SandboxCommand::Show(args) => show(session, args),
        SandboxCommand::Openapi => {
            let interface = session.global.flags.api.unwrap_or(Interface::Marketplace);
            session.report.stdout(format!("{:#}\n", storefront_sandbox::openapi::description(interface)))
        }
        SandboxCommand::Seed => session.report.stdout(storefront_sandbox::SEED),
        SandboxCommand::Tokens(args) => tokens(session, args),
    }
}

async fn serve(session: &Session<'_>, args: &ServeArgs) -> Result<(), Failure> {
    let version = match args.magento_version.as_str() {
        "2.4.9" => Version::V249,
        "2.4.8" => Version::V248,
        _ => Version::V247,
    };
    let seed = args.seed.as_ref().map(|file| {
        let read = session.context.storage.read(file);
        let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
        text.map_err(|error| {
            Failure::usage(format!("cannot read `{}`: {error}", file.display()))
                .hint(hint!(storefront("sandbox seed"), " prints one to begin with"))
        })
    });
    let options = Options {
        seed: seed.transpose()?,
        listen: args.listen,
        emulation: Emulation { version, has_limits: args.limits },
        customers: args.customers,
        faults: args.fault.clone(),
        allow_remote: args.allow_remote,
        allow_hosts: args.allow_host.clone(),
        ..Options::new(data_file(session.context, args.data.data.as_ref())?)
    };
    // Listen before the address is printed: its reader may stop the server at once.
    let mut signals = Signals::listen(session.context)?;
    let running = storefront_sandbox::start_observed(options, observer(session)).await.map_err(unusable)?;
    if session.context.stdout_is_terminal && !session.report.is_json() {
        session.report.stdout(guide(&running, session.global.flags.api))?;
    } else {
        session.report.json_line(&json!({
            "url": running.url,
            "customer_token": running.customer_token,
            "admin_token": running.admin_token,
        }))?;
    }
    signals.next().await;
    running.stop().await;
    Ok(())
}

/// What to type in another terminal.
fn guide(running: &storefront_sandbox::Running, interface: Option<Interface>) -> String {
    let storefront_sandbox::Running { url, customer_token, admin_token, .. } = running;
    let dialect = interface.unwrap_or(Interface::Marketplace).dialect();
    let url = &dialect.rest_root.map_or_else(|| url.clone(), |root| format!("{url}/{root}"));
    let (set, quote) = if cfg!(windows) { ("$env:", "'") } else { ("export ", "") };
    let variables = [
        (environment::BASE_URL, url.as_str()),
        (environment::API, dialect.name),
        (environment::STORE_VIEW, "default"),
        (environment::TOKEN, customer_token),
        (environment::ADMIN_TOKEN, admin_token),
    ];
    let variables = variables.map(|(name, value)| format!("  {set}{name}={quote}{value}{quote}\n")).concat();
    format!(
        "The sandbox runs at {url}. In another terminal:\n\n{variables}  storefront customer show\n\n\
         Store views: default, fr, de. Every account has the password `sandbox`: customers log in with their email \
         (`storefront sandbox tokens` lists them), the administrator as `admin`.\nPress Ctrl-C to stop.\n"
    )
}

/// With `-v`, a line on standard error for each request.
fn observer(session: &Session<'_>) -> Option<Observer> {
    let report = session.report.clone();
    (report.verbose > 0).then(|| -> Observer {
        Arc::new(move |method, path, status| report.status(&format!("{method} {path} {status}")))
    })
}

fn reset(session: &Session<'_>, args: &DataArgs) -> Result<(), Failure> {
    let data = &data_file(session.context, args.data.as_ref())?;
    storefront_sandbox::reset(data).map_err(unusable)?;
    if let Some(log) = WriteLog::to_read(session.context)?.filter(|_| args.data.is_none()) {
        log.forget_addresses(SANDBOX);
    }
    // The customers in the log are gone.
    for interface in Dialect::NAMES {
        if let Some(log) = WriteLog::to_read(session.context)? {
            log.forget_later(&ServiceId::sandbox(data, interface).to_string());
        }
    }
    let path = data.to_string_lossy();
    if session.report.is_json() {
        return session.report.json(&json!({"operation": "sandbox reset", "applied": "yes", "data": path}));
    }
    session.report.status(&format!("sandbox reset: {path}"));
    Ok(())
}

fn tokens(session: &Session<'_>, args: &DataArgs) -> Result<(), Failure> {
    const COLUMNS: &[Column<'static>] =
        &[("TOKEN", "token"), ("KIND", "kind"), ("CUSTOMER", "customer_id"), ("EMAIL", "email")];
    let mut list = List::new(session.report, COLUMNS, false);
    let tokens = local_service::tokens(session.context, args.data.as_ref())?;
    tokens.into_iter().try_for_each(|token| list.add(json!(token)))?;
    list.finish()
}

fn show(session: &Session<'_>, args: &DataArgs) -> Result<(), Failure> {
    let all = storefront_sandbox::dump(&data_file(session.context, args.data.as_ref())?).map_err(unusable)?;
    session.report.value(&all, |screen| {
        let tables = SHOWN.map(|(list, columns)| {
            let columns: Vec<Column> = columns.split(", ").filter_map(|it| it.split_once('=')).collect();
            let mut rows = all[list].as_array().cloned().unwrap_or_default();
            for value in rows.iter_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
                if let Value::Array(elements) = value {
                    *value = elements.len().into();
                }
            }
            objects(screen, &columns, true, &rows)
        });
        format!("{}\n", tables.join("\n\n"))
    })
}

/// The lists of `sandbox show`, each with heading and field of its columns. A table has the number of addresses, items
/// and options.
const SHOWN: [(&str, &str); 5] = [
    ("customers", "CUSTOMER=id, FIRST NAME=firstname, LAST NAME=lastname, EMAIL=email, ADDRESSES=addresses"),
    ("quotes", "QUOTE=id, CUSTOMER=customer_id, ITEMS=items"),
    (
        "attributes",
        "ATTRIBUTE=attribute_id, CODE=attribute_code, LABEL=default_frontend_label, OPTIONS=options",
    ),
    ("products", "SKU=sku, TYPE=type, NAME=name, OPTIONS=options"),
    ("store_views", "STORE VIEW=code, ID=id, NAME=name"),
];
