//! `storefront api`: a call that has no command of its own, under the guards all calls have.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::cli::WriteArgs;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::client::{Effect, Reply};
use crate::input::document;
use crate::report::outcome::Outcome;
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{
    self, Bearer, Method, RelativePath, Request, address_of, is_profile_path, is_read,
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
    /// Allow direct writes of profiles and addresses (omitted addresses are deleted)
    #[arg(long)]
    pub unguarded: bool,
    /// What every write takes.
    #[command(flatten)]
    pub write: WriteArgs,
}

fn method(text: &str) -> Result<Method, String> {
    request::method(text)
        .ok_or_else(|| "expected an HTTP method, such as GET, POST, PUT or DELETE".to_owned())
}

/// What results call it.
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
        let reply = send(service, &request).await?;
        if let Some(warning) = &reply.warning {
            session.report.warn(warning);
        }
        print(session, &request, reply)
    })
    .await
}

/// Refuses writes to a customer's profile and deletions of an address: this command neither reads the address list that they
/// replace nor keeps a snapshot, and the next update would take its read for an old one. Deleting a customer needs no address
/// list.
fn guard_profile(args: &ApiArgs) -> Result<(), Failure> {
    let deletes = args.method.as_str() == "DELETE";
    if let Some(id) = address_of(args.path.as_str()).filter(|_| deletes && !args.unguarded) {
        return Err(Failure::guard(format!(
            "`DELETE {}` deletes an address without a snapshot of it",
            args.path.as_str()
        ))
        .hint(hint!(
            "use ",
            storefront("customer update --customer ID --remove-address").arg(id.to_string()),
            ", which can be undone; --unguarded sends the call as it is"
        )));
    }
    let replaces = !is_read(&args.method) && !deletes;
    if args.unguarded || !replaces || !is_profile_path(args.path.as_str()) {
        return Ok(());
    }
    let id =
        args.path.as_str().trim_end_matches('/').rsplit('/').next().filter(|id| id.parse::<u64>().is_ok());
    let update = storefront("customer update");
    let update = id.map_or(update.clone(), |id| update.arg("--customer").arg(id));
    Err(Failure::guard(format!(
        "`{} {}` replaces a customer's profile: addresses that the input leaves out would be deleted",
        args.method.as_str(),
        args.path.as_str()
    ))
    .hint(hint!(
        "use ",
        update,
        ", which keeps every address that is not named; --unguarded sends the call as it is"
    )))
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
        service.write(OPERATION, request, Effect::Write).await
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
    // Even where the reply cannot be printed, it is reported whether the call took effect.
    let outcome = Outcome { applied, status: Some(reply.status), ..Outcome::not_sent(OPERATION) };
    printed.map_err(|failure| outcome.print_failed(failure))
}
