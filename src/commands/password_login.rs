//! `auth login --user`: the service exchanges a user name and a password for a token.

use std::io::Read;

use serde_json::{Value, json};

use super::token_check;
use crate::cli::GlobalArgs;
use crate::cli::auth::LoginArgs;
use crate::config::{Profile, origin};
use crate::environment::BASE_URL;
use crate::failure::{Failure, FailureKind};
use crate::plan::request::dialect::TokenRoutes;
use crate::plan::request::{Bearer, Method, Request};
use crate::prompt::Prompt;
use crate::redact::secrets;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
use crate::token::Token;

/// No password is longer, in bytes.
const MAX_PASSWORD_BYTES: u64 = 4096;

const NOT_FOUND: u16 = 404;

/// Gets a token for the user of a profile's service. The password goes there and nowhere else.
///
/// # Errors
/// `usage` where the service issues no tokens, or the environment points to another host; `auth` where the service refuses
/// the user name or the password; `unavailable` where it cannot be reached.
pub async fn token(
    session: &Session<'_>,
    profile: &Profile,
    user: &str,
    args: &LoginArgs,
) -> Result<Token, Failure> {
    let routes = session.dialect.tokens.ok_or_else(|| {
        let interface = session.dialect.name;
        Failure::usage(format!("the interface `{interface}` issues no tokens for a user name")).hint(
            "leave out --user and paste a token; for a Magento shop set `api` of the profile to magento",
        )
    })?;
    let password = read_password(session, user, args.with_password)?;
    // A reply or a trace that repeats it shows dots.
    if let Some(password) = Token::new(&password) {
        secrets().add(&password);
    }
    let quick = GlobalArgs { profile: Some(profile.name.clone()), ..token_check::quick(session.global) };
    let session = &Session { global: &quick, ..*session };
    let mut issued = None;
    with_service(session, async |service| {
        if profile.base_url().map(|url| origin(&url)) != Some(origin(&service.settings.base_url)) {
            return Err(Failure::usage(format!(
                "{BASE_URL} points to another host than profile {}; the password is not sent there",
                profile.name
            ))
            .hint(format!("unset {BASE_URL}")));
        }
        let request = request(service, routes, user, &password, args)?;
        let reply = service.log_in(&request).await.map_err(|failure| refused(failure, args))?;
        issued = Some(token_of(&reply.value())?);
        Ok(())
    })
    .await?;
    issued.ok_or_else(|| Failure::internal("the login ended without a token"))
}

fn read_password(session: &Session<'_>, user: &str, from_stdin: bool) -> Result<String, Failure> {
    let password = if from_stdin {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(MAX_PASSWORD_BYTES).read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
        // Blanks may belong to a password, the end of the line does not.
        text.strip_suffix('\n')
            .map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text))
            .to_owned()
    } else {
        let prompt = Prompt::new(session.context, session.global, session.report);
        prompt.password(&format!("password of {user}"), "pass it on standard input with --with-password")?
    };
    if password.is_empty() { Err(Failure::usage("the password is empty")) } else { Ok(password) }
}

fn request(
    service: &Service<'_>,
    routes: &TokenRoutes,
    user: &str,
    password: &str,
    args: &LoginArgs,
) -> Result<Request, Failure> {
    let mut body = json!({"username": user, "password": password});
    let path = match (&args.otp, args.admin) {
        (Some(code), _) => {
            body["otp"] = code.as_str().into();
            routes.two_factor
        }
        (None, true) => routes.admin,
        (None, false) => routes.customer,
    };
    Ok(Request {
        method: Method::Post,
        path: service.target()?.path(path, &[]),
        body: Some(body.to_string().into()),
        bearer: if args.admin { Bearer::Admin } else { Bearer::Customer },
        also_success: None,
    })
}

/// What the refusal of a login may mean.
fn refused(failure: Failure, args: &LoginArgs) -> Failure {
    let hint = match (failure.kind, failure.status) {
        (FailureKind::Auth, _) if args.admin && args.otp.is_none() => {
            "check user name and password; where the shop asks administrators for a second factor, add --otp CODE; after several failures the right password is refused for a while, too"
        }
        (FailureKind::Auth, _) => {
            "check user name and password; after several failures the right password is refused for a while, too"
        }
        (_, Some(NOT_FOUND)) if args.otp.is_some() => {
            "the shop asks for no second factor there: leave out --otp"
        }
        _ => return failure,
    };
    Failure { message: format!("no token was issued: {}", failure.message), ..failure }.hint(hint)
}

/// The reply is the token, as a JSON string.
fn token_of(reply: &Value) -> Result<Token, Failure> {
    let token = reply.as_str().and_then(Token::new).ok_or_else(|| {
        Failure::new(FailureKind::Unavailable, "the service's answer holds no token")
            .hint("check the base URL: it ends in /rest for a Magento shop")
    })?;
    secrets().add(&token);
    token.fit_for_header("the service's answer")
}
