//! `storefront api`: a call that has no command of its own, under the guards all calls have.

use serde_json::Value;

use crate::cli::api::ApiArgs;
use crate::failure::{Applied, Failure};
use crate::http::Reply;
use crate::input::document;
use crate::plan::request::{Bearer, Request};
use crate::report::outcome::Outcome;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;

/// What results call it.
const OPERATION: &str = "api";

/// Sends the call and prints the reply as it came.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, args: &ApiArgs) -> Result<(), Failure> {
    let request = request(session, args)?;
    with_service(session, async |service| {
        if session.global.dry_run {
            return session.report.outcome(&Outcome::dry_run(OPERATION, service.preview(request)));
        }
        let reply = send(service, &request).await?;
        if let Some(warning) = &reply.warning {
            session.report.warn(warning);
        }
        print(session, &request, reply)
    })
}

fn request(session: &Session<'_>, args: &ApiArgs) -> Result<Request, Failure> {
    let body = session.global.input.as_deref().map(|path| {
        let text = document::read_text(path)?;
        document::parse_json(&text, &document::name(path))?;
        Ok::<_, Failure>(text.into())
    });
    let bearer = if args.admin { Bearer::Admin } else { Bearer::Customer };
    Ok(Request::raw(session.dialect, args.method.clone(), &args.path, body.transpose()?, bearer))
}

async fn send(service: &Service<'_>, request: &Request) -> Result<Reply, Failure> {
    if request.method.is_read() {
        service.read(request).await
    } else {
        service.write(OPERATION, request).await
    }
}

fn print(session: &Session<'_>, request: &Request, reply: Reply) -> Result<(), Failure> {
    if session.report.is_json() {
        let read = request.method.is_read();
        return session.report.outcome(&Outcome {
            applied: if read { Applied::No } else { Applied::Yes },
            reason: read.then_some("read"),
            status: Some(reply.status),
            response: Some(reply.value()),
            ..Outcome::not_sent(OPERATION)
        });
    }
    if !session.context.stdout_is_terminal {
        return session.report.foreign_bytes(&reply.body);
    }
    let text = match reply.value() {
        Value::Null => return Ok(()),
        Value::String(text) => text,
        value => format!("{value:#}"),
    };
    session.report.untrusted(&text)
}
