//! `auth`: tokens, kept apart from the settings.

use std::rc::Rc;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::json;

use super::check;
use crate::cli::RequestArgs;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::{CallToken, Service};
use crate::config::{Credentials, Profile, Stored, origin, token_variable};
use crate::prompt::Question;
use crate::report::changes::expiry;
use crate::system::environment::BASE_URL;
use storefront_core::absent::{Absent, named_in};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::dialect::TokenRoutes;
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::text::oauth::{self, NAMES};
use storefront_core::text::redact::secrets;
use storefront_core::text::sanitize::sanitize_line;
use storefront_core::text::token::Credential;

/// The commands of `auth`.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Log in and store a token
    #[command(after_help = "Examples:
  storefront auth login
  storefront auth login --with-token < token.txt
  storefront auth login --with-token --admin -p shop < token.txt")]
    Login(LoginArgs),
    /// Show token sources and status; exit 6 if there is no token
    #[command(after_help = "Examples:
  storefront auth status
  storefront auth status -o json
  storefront auth status -p shop")]
    Status(RequestArgs),
    /// Delete a profile's stored tokens
    #[command(after_help = "Examples:
  storefront auth logout
  storefront auth logout --admin
  storefront auth logout -p shop")]
    Logout {
        /// Only the administrator's token
        #[arg(long)]
        admin: bool,
    },
}

/// Flags of `auth login`.
#[derive(Debug, Default, Args)]
pub struct LoginArgs {
    /// Read the token from standard input
    #[arg(long, conflicts_with = "user")]
    pub with_token: bool,
    /// The administrator's token instead of the customer's
    #[arg(long)]
    pub admin: bool,
    /// Ask for the four values of an integration (Magento; from a pipe: lines such as `consumer-key=VALUE`)
    #[arg(long, conflicts_with_all = ["with_token", "user"])]
    pub oauth: bool,
    /// Get a token from the service for this user name, which is a customer's email; asks for the password
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub user: Option<String>,
    /// Read the password from standard input
    #[arg(long, requires = "user")]
    pub with_password: bool,
    /// Code of the administrator's second factor (Google Authenticator)
    #[arg(long, value_name = "CODE", requires = "user", requires = "admin")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub otp: Option<String>,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Runs `auth`.
///
/// # Errors
/// `usage` for a profile that cannot hold a token, `auth` when `status` finds none.
pub async fn run(session: &Session<'_>, command: &AuthCommand) -> Result<(), Failure> {
    if session.global.flags.sandbox {
        return Err(Failure::usage("the sandbox uses its own tokens")
            .hint(hint!("list them with ", storefront("sandbox tokens"))));
    }
    match command {
        AuthCommand::Login(args) => login(session, args).await,
        AuthCommand::Status(_) => status(session).await,
        AuthCommand::Logout { admin } => logout(session, *admin),
    }
}

/// Reads a token from standard input, or asks for it without showing it.
///
/// # Errors
/// `usage` when nobody can be asked, `auth` when what came is not a token.
pub fn read_token(
    session: &Session<'_>,
    question: &str,
    hint: &str,
    stdin: bool,
) -> Result<Credential, Failure> {
    let text = secret(session, question, hint, stdin)?;
    Credential::new(&text).ok_or_else(|| Failure::usage("no token given"))?.checked("the input")
}

fn secret(session: &Session<'_>, question: &str, hint: &str, stdin: bool) -> Result<String, Failure> {
    if !stdin {
        return session.prompt().password(question, hint);
    }
    std::io::read_to_string(std::io::stdin())
        .map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))
}

/// Reads the four values of an integration: asks for each, or takes the lines of standard input.
fn read_keys(session: &Session<'_>) -> Result<Credential, Failure> {
    let stdin = !session.context.stdin_is_terminal;
    let text = if stdin {
        secret(session, "", "", true)?
    } else {
        let ask = |name: &str| {
            secret(session, &name.replace('-', " "), "pass the four values on standard input", false)
        };
        let lines = NAMES.map(|name| ask(name).map(|value| format!("{name}={}\n", value.trim())));
        lines.into_iter().collect::<Result<String, Failure>>()?
    };
    let token = Credential::new(&text).filter(Credential::is_integration).ok_or_else(|| {
        Failure::usage("expected the four values of an integration")
            .hint(format!("give one line each: {}", NAMES.map(|name| format!("{name}=VALUE")).join(", ")))
    })?;
    token.checked("the input")
}

/// Offers to log in when a command ended because the token of an earlier login has expired; `true` if there is a new
/// token. The remaining records of a batch are sent by `resume`.
///
/// # Errors
/// As `auth login`.
pub async fn renew(session: &Session<'_>, failure: &Failure) -> Result<bool, Failure> {
    let prompt = session.prompt();
    let can_repeat = failure.applied == Applied::No && failure.records.is_none();
    let Some(bearer) = failure.expired.filter(|_| can_repeat && prompt.can_ask()) else { return Ok(false) };
    if prompt.yes_no("The token has expired. Log in now?", true)? != Some(true) {
        return Ok(false);
    }
    let ask = |text| {
        let typed = prompt.text(&Question { text, ..Question::default() }, |_| Ok(()))?;
        Ok(typed.ok_or_else(Failure::cancelled)?.trim().to_owned())
    };
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    let user = match session.dialect.tokens {
        Some(_) => given(ask("User name (empty: paste a token)")?),
        None => None,
    };
    let otp = match (&user, bearer) {
        (Some(_), Bearer::Admin) => given(ask("Code of the second factor (empty: none)")?),
        _ => None,
    };
    let admin = bearer == Bearer::Admin;
    let args = LoginArgs { admin, user, otp, ..LoginArgs::default() };
    login(session, &args).await.map(|()| true)
}

async fn login(session: &Session<'_>, args: &LoginArgs) -> Result<(), Failure> {
    let bearer = if args.admin || args.oauth { Bearer::Admin } else { Bearer::Customer };
    let what = if args.oauth { "integration's credentials" } else { noun(bearer) };
    let file = session.config_file()?;
    let profile = file.chosen(session.context, session.global)?;
    let profile = profile.ok_or_else(|| {
        Failure::usage("no profile selected: a token is stored for a profile").hint(hint!(
            "add -p NAME (",
            storefront("config init -p NAME"),
            " creates it), or set STOREFRONT_TOKEN instead"
        ))
    })?;
    let name = &profile.name;
    let base_url = profile.base_url().ok_or_else(|| profile.no_base_url())?;
    if let Some(key) = profile.token_keys(bearer).next() {
        return Err(Failure::usage(format!("profile `{name}` sets `{key}`, which overrides stored tokens"))
            .hint(hint!("run ", storefront("config unset -p").arg(name).arg(key))));
    }
    let credentials = Credentials::load(session.context)?;
    let origin = origin(&base_url);
    let token = match (&args.user, session.dialect.tokens) {
        (None, _) if !args.oauth => {
            let question = format!("{what} of {name} for {origin}");
            read_token(session, &question, "use --with-token to read it from stdin", args.with_token)?
        }
        (None, Some(_)) => read_keys(session)?,
        (Some(user), Some(routes)) => password_token(session, &profile, routes, user, args).await?,
        (_, None) => {
            return Err(Failure::usage("`--user` and `--oauth` are for Magento shops only").hint(hint!(
                "run ",
                storefront("config set -p").arg(name).arg("api").arg("magento"),
                ", or paste a token"
            )));
        }
    };
    if args.user.is_none() {
        verify(session, &profile, bearer, &token).await?;
    }
    let expires = token.expires_at();
    Credentials::store(session.context, name, bearer, &Stored { token, origin: origin.clone(), expires })?;
    let path = credentials.path.display();
    let until = expires.map(|expires| format!("; it {}", expiry(expires))).unwrap_or_default();
    session.report.status(&format!("saved the {what} for profile `{name}` ({origin}) to {path}{until}"));
    let variable = token_variable(bearer);
    if session.context.var(variable)?.is_some() {
        session.report.warn(&format!("{variable} is set and overrides the stored token"));
    }
    Ok(())
}

/// Calls the service of a profile once, with a short timeout: a secret goes to no other host.
async fn at_service<T>(
    session: &Session<'_>,
    profile: &Profile,
    task: impl AsyncFnOnce(&Service<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let quick = check::quick(session.global).for_profile(&profile.name);
    with_service(&Session { global: &quick, ..*session }, async |service| {
        if profile.base_url().as_ref().map(origin) != Some(origin(&service.settings.endpoint.base_url)) {
            let message = format!("{BASE_URL} points to another host than profile {}", profile.name);
            return Err(Failure::usage(message).hint(format!("unset {BASE_URL}")));
        }
        task(service).await
    })
    .await
}

/// Refuses a token that the service rejects, or that is of the other kind. A token that cannot be checked is kept: the
/// service may be down.
async fn verify(
    session: &Session<'_>,
    profile: &Profile,
    bearer: Bearer,
    token: &Credential,
) -> Result<(), Failure> {
    let answer = at_service(session, profile, async |service| {
        let token = CallToken::OfRun(Rc::new(token.clone()));
        check::ask(&Service { token, ..service.clone() }, bearer).await
    });
    let Err(failure) = answer.await else { return Ok(()) };
    // Magento's answer where an administrator's token asks for the profile of its own customer.
    let is_unnamed = failure.status == Some(400) && failure.message.contains("customerId");
    let is_nobody =
        failure.absent == Some(Absent::Entity) && named_in(failure.service.as_ref())[0] == "customerId";
    let is_other_kind = bearer == Bearer::Customer && (is_unnamed || is_nobody);
    if failure.kind == FailureKind::Interrupted {
        return Err(failure);
    }
    if !is_other_kind && !check::is_rejected(&failure) {
        session.report.warn(&format!("the token could not be verified: {}", failure.message));
        return Ok(());
    }
    let hint = if is_other_kind {
        hint!("it is an administrator's token: run ", storefront("auth login --admin"))
    } else if token.is_integration() {
        oauth::hint(&failure.message)
            .unwrap_or("check the four values: System > Integrations shows them")
            .into()
    } else if bearer == Bearer::Admin {
        hint!("get a new token, then run ", storefront("auth login --admin"), " again")
    } else {
        hint!(
            "get a new token, then run ",
            storefront("auth login"),
            " again; if it is an administrator's token, add --admin"
        )
    };
    let message = format!("the token was not stored: {}", failure.message);
    Err(Failure { kind: FailureKind::Auth, message, ..failure }.hint(hint))
}

async fn status(session: &Session<'_>) -> Result<(), Failure> {
    let quick = check::quick(session.global);
    let session = &Session { global: &quick, ..*session };
    with_service(session, async |service| {
        let profile = &service.settings.profile;
        let url = service.settings.endpoint.base_url.to_string();
        let (customer, _) = check::token(service, Bearer::Customer).await;
        let (admin, _) = check::token(service, Bearer::Admin).await;
        let checks = [customer, admin];
        let value = json!({"profile": profile, "base_url": url, "checks": checks});
        session.report.value(&value, |screen| {
            let profile = sanitize_line(profile.as_deref().unwrap_or("none"));
            let url = sanitize_line(&url);
            format!("profile   {profile}\nbase URL  {url}\n\n{}", check::table(&checks, screen))
        })?;
        // The first failed check decides, as for `doctor`.
        let Some((kind, check)) = checks.into_iter().find_map(|check| Some((check.failure?, check))) else {
            return Ok(());
        };
        let failure = Failure::new(kind, format!("{}: {}", check.name, check.detail));
        Err(Failure { hint: check.fix, ..failure })
    })
    .await
}

fn logout(session: &Session<'_>, only_admin: bool) -> Result<(), Failure> {
    // A profile that is named need not be configured: its tokens may have outlived it.
    let profile = if let Some(name) = &session.global.flags.profile {
        name.clone()
    } else {
        let file = session.config_file()?;
        let chosen = file.chosen_name(session.context, session.global)?;
        chosen.ok_or_else(|| file.no_profile_selected())?.0
    };
    let bearers: &[Bearer] = if only_admin { &[Bearer::Admin] } else { &[Bearer::Customer, Bearer::Admin] };
    let deleted = Credentials::delete(session.context, &profile, bearers)?;
    let deleted: Vec<&str> = deleted.into_iter().map(noun).collect();
    session.report.status(&match deleted.as_slice() {
        [] => format!("no stored token for profile `{profile}`"),
        deleted => format!("deleted the {} of profile `{profile}`", deleted.join(" and the ")),
    });
    Ok(())
}

fn noun(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "token",
        Bearer::Admin => "admin token",
    }
}

/// Gets a token for the user of a profile's service. The password goes there and nowhere else.
///
/// # Errors
/// `usage` where the environment points to another host; `auth` where the service refuses the user name or the password;
/// `unavailable` where it cannot be reached.
async fn password_token(
    session: &Session<'_>,
    profile: &Profile,
    routes: &TokenRoutes,
    user: &str,
    args: &LoginArgs,
) -> Result<Credential, Failure> {
    let question = format!("password of {user}");
    let hint = "pass it on standard input with --with-password";
    let text = secret(session, &question, hint, args.with_password)?;
    // Blanks may belong to a password, the end of the line does not.
    let password = text.trim_end_matches(['\r', '\n']);
    // A reply or a trace that repeats it shows dots.
    secrets().add(&Credential::new(password).ok_or_else(|| Failure::usage("the password is empty"))?);
    let mut body = json!({"username": user, "password": password});
    let (mut path, bearer) =
        if args.admin { (routes.admin, Bearer::Admin) } else { (routes.customer, Bearer::Customer) };
    if let Some(code) = &args.otp {
        body["otp"] = code.as_str().into();
        path = routes.two_factor;
    }
    at_service(session, profile, async |service| {
        let path = service.target()?.path(path, &[]);
        let request = Request::post(path, body.to_string().into(), bearer);
        let reply = service.log_in(&request).await.map_err(|failure| match failure.kind {
            FailureKind::Auth | FailureKind::Refused if !failure.is_foreign => {
                let message = format!("no token was issued: {}", failure.message);
                Failure { message, ..failure }.hint(
                    "check base URL, user name and password; an administrator needs --admin, and --otp CODE only \
                     where the shop asks for a second factor; repeated failures lock the account temporarily",
                )
            }
            _ => failure,
        })?;
        let token = reply.value.as_str().and_then(Credential::new).ok_or_else(|| {
            Failure::new(FailureKind::Unavailable, "the response has no token")
                .hint("check the base URL: it ends in /rest for a Magento shop")
        })?;
        secrets().add(&token);
        token.checked("the service's answer")
    })
    .await
}
