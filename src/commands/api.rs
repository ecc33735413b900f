//! `storefront api`: a call that has no command of its own, under the guards all calls have.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::cli::WriteArgs;
use crate::client::Reply;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::input::document;
use crate::report::outcome::Outcome;
use crate::write;
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{HintCommand, hint, storefront};
use storefront_core::interface::request::{
    self, Bearer, Method, RelativePath, Request, is_address_path, is_profile_path, is_read, last_id,
};
use storefront_core::text::redact::secrets;
use storefront_core::text::sanitize::sanitize;

/// Call any other endpoint with the profile's base URL and token
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront api GET /V1/storeview/default/customer/profile --sandbox
  storefront template attribute-create > a.json && storefront api POST /V1/x --sandbox -i a.json -n
  storefront api GET /V1/storeview/fr/customer/profile --sandbox -n --curl")]
pub struct ApiArgs {
    /// HTTP method; only GET and HEAD are retried
    #[arg(value_parser = method)]
    pub method: Method,
    /// Path and query relative to the base URL, e.g. /V1/store/storeViews; `{store_view}` is replaced by its code
    #[arg(value_parser = RelativePath::new)]
    pub path: RelativePath,
    /// Read the JSON body from FILE (- for stdin)
    #[arg(short, long, value_name = "FILE", help_heading = "Input options")]
    pub input: Option<PathBuf>,
    /// Use the administrator token
    #[arg(long)]
    pub admin: bool,
    /// Allow direct writes of profiles and addresses (omitted addresses are deleted), and deleting customers
    #[arg(long)]
    pub unguarded: bool,
    /// The flags of every write.
    #[command(flatten)]
    pub write: WriteArgs,
}

impl ApiArgs {
    /// Whether the call deletes something, so that a person has to agree, or `--yes`.
    pub fn is_deletion(&self) -> bool {
        self.method.as_str() == "DELETE"
    }
}

fn method(text: &str) -> Result<Method, String> {
    request::method(text)
        .ok_or_else(|| "expected an HTTP method, such as GET, POST, PUT or DELETE".to_owned())
}

/// The name of the operation in results.
const OPERATION: &str = "api";

/// Sends the call and prints the reply as it came.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &ApiArgs) -> Result<(), Failure> {
    guard_profile(args)?;
    let mut request = request(session, args)?;
    with_service(session, async |service| {
        if request.path.contains("{store_view}") {
            request.path = service.target()?.path(&request.path, &[]);
        }
        if session.global.dry_run {
            return session.report.outcome(&Outcome::dry_run(OPERATION, service.preview(request)));
        }
        if args.is_deletion() {
            service.announce(OPERATION, Some(&request));
            session.prompt().confirm_deletion(&format!("Send DELETE {}?", args.path.as_str()))?;
        }
        let reply = send(service, &request).await?;
        if let Some(warning) = &reply.warning {
            session.report.warn(warning);
        }
        print(session, &request, reply)
    })
    .await
}

/// Refuses writes to a customer's profile and the deletion of an address or a customer: this command neither reads the address
/// list that they replace nor keeps a profile in the log, and the next update would take its read for an old one.
fn guard_profile(args: &ApiArgs) -> Result<(), Failure> {
    let path = args.path.as_str();
    if args.unguarded || is_read(&args.method) {
        return Ok(());
    }
    let is_profile = is_profile_path(path);
    let is_address = is_address_path(path);
    let of_customer = |command: HintCommand| match last_id(path).filter(|_| is_profile) {
        Some(id) => command.arg("--customer").arg(id.to_string()),
        None => command,
    };
    let (does, instead) = if args.is_deletion() && is_address {
        let id = last_id(path).map_or("ID".to_owned(), |id| id.to_string());
        let update = storefront("customer update --customer ID --remove-address").arg(id);
        ("deletes an address that the log does not keep", hint!("use ", update, ", which can be undone"))
    } else if args.is_deletion() && is_profile {
        let show = of_customer(storefront("customer show")).arg("-o").arg("json");
        ("deletes a customer with every address", hint!("keep what the shop has with ", show))
    } else if is_profile && !args.is_deletion() {
        let update = of_customer(storefront("customer update"));
        (
            "replaces a customer's profile: addresses that the input leaves out would be deleted",
            hint!("use ", update, ", which keeps every address that is not named"),
        )
    } else {
        return Ok(());
    };
    Err(Failure::guard(format!("`{} {path}` {does}", args.method.as_str()))
        .hint(hint!(instead, "; --unguarded sends the call as it is")))
}

fn request(session: &Session<'_>, args: &ApiArgs) -> Result<Request, Failure> {
    let body = args.input.as_deref().map(|path| {
        let text = document::read_text(path, None)?;
        document::parse_json(&text, &document::name(path))?;
        Ok::<_, Failure>(text.into())
    });
    let bearer = if args.admin { Bearer::Admin } else { Bearer::Customer };
    Ok(Request::raw(session.dialect, args.method.clone(), &args.path, body.transpose()?, bearer))
}

async fn send(service: &Service<'_>, request: &Request) -> Result<Reply, Failure> {
    if request.is_read() {
        service.read(request).await
    } else {
        let path = request.path.split(['?', '#']).next().unwrap_or_default();
        write::send_any(service, OPERATION, &format!("{} {path}", request.method), request).await
    }
}

/// Prints the body of the reply: the service's own object under `-o json`, which `--jq` works on; to a pipe the bytes as
/// they came.
fn print(session: &Session<'_>, request: &Request, reply: Reply) -> Result<(), Failure> {
    let report = session.report;
    let printed = match reply.value {
        value if report.is_json() => report.json(&value),
        _ if !session.context.stdout_is_terminal => {
            match secrets().json_text(&String::from_utf8_lossy(&reply.bytes)) {
                Cow::Owned(masked) => report.stdout(masked),
                Cow::Borrowed(_) => report.stdout(&reply.bytes),
            }
        }
        Value::Null => Ok(()),
        Value::String(text) => report.stdout(format!("{}\n", sanitize(&text))),
        value => report.stdout(format!("{}\n", sanitize(&format!("{value:#}")))),
    };
    let applied = if request.is_read() { Applied::No } else { Applied::Yes };
    // Report whether the call took effect, even if the reply cannot be printed.
    let outcome = Outcome { applied, status: Some(reply.status), ..Outcome::not_sent(OPERATION) };
    printed.map_err(|failure| outcome.print_failed(failure))
}
