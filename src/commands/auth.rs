//! `auth`: tokens, kept apart from the settings.

use std::io::Read;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::check;
use crate::cli::RequestArgs;
use crate::config::{ConfigFile, Credentials, Profile, Stored, origin, token_variable};
use crate::failure::{Failure, FailureKind};
use crate::plan::request::dialect::TokenRoutes;
use crate::plan::request::{Bearer, Request};
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
use crate::system::environment::BASE_URL;
use crate::text::oauth::{self, NAMES};
use crate::text::redact::secrets;
use crate::text::sanitize::sanitize_line;
use crate::text::token::Token;

/// What `auth` can do.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Log in and store a token
    #[command(after_help = "Examples:
  storefront auth login
  storefront auth login --with-token < token.txt
  storefront auth login --with-token --admin -p shop < token.txt")]
    Login(LoginArgs),
    /// Show token sources and status; exit 6 when there is none
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
#[derive(Debug, Args)]
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
    #[arg(long, value_name = "CODE", requires = "user", requires = "admin", value_parser = NonEmptyStringValueParser::new())]
    pub otp: Option<String>,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// No token and no password is longer, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

const UNAUTHORIZED: u16 = 401;

/// Runs `auth`.
///
/// # Errors
/// `usage` for a profile that cannot hold a token, `auth` when `status` finds none.
pub async fn run(session: &Session<'_>, command: &AuthCommand) -> Result<(), Failure> {
    if session.global.flags.sandbox {
        return Err(Failure::usage("the sandbox uses its own tokens")
            .hint("list them with `storefront sandbox tokens`"));
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
/// `usage` when nobody can be asked, `auth` when what came is no token.
pub fn read_token(session: &Session<'_>, question: &str, hint: &str, stdin: bool) -> Result<Token, Failure> {
    let text = if stdin { stdin_text()? } else { session.prompt().password(question, hint)? };
    let token = Token::new(&text).ok_or_else(|| Failure::usage("no token given"))?;
    token.checked("the input")
}

fn stdin_text() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text);
    read.map(|_| text).map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))
}

/// Where tokens are issued; `flag` is for such interfaces only.
fn token_routes(session: &Session<'_>, flag: &str) -> Result<&'static TokenRoutes, Failure> {
    session.dialect.tokens.ok_or_else(|| {
        Failure::usage(format!("`{flag}` is not for the interface `{}`", session.dialect.name))
            .hint("for a Magento shop set `api` of the profile to magento; otherwise paste a token")
    })
}

/// Reads the four values of an integration: asks for each, or takes the lines of standard input.
fn read_keys(session: &Session<'_>) -> Result<Token, Failure> {
    token_routes(session, "--oauth")?;
    if !session.context.stdin_is_terminal {
        let token = read_token(session, "", "", true).ok();
        return token.filter(|token| token.keys().is_some()).ok_or_else(no_keys);
    }
    let prompt = session.prompt();
    let mut text = String::new();
    for name in NAMES {
        let value = prompt.password(&name.replace('-', " "), "pass the four values on standard input")?;
        text.push_str(&format!("{name}={}\n", value.trim()));
    }
    let token = Token::new(&text).filter(|token| token.keys().is_some());
    token.ok_or_else(no_keys)?.checked("the input")
}

fn no_keys() -> Failure {
    Failure::usage("expected the four values of an integration")
        .hint(format!("give one line each: {}", NAMES.map(|name| format!("{name}=VALUE")).join(", ")))
}

async fn login(session: &Session<'_>, args: &LoginArgs) -> Result<(), Failure> {
    let bearer = bearer(args.admin || args.oauth);
    let file = session.config_file()?;
    let profile = file.chosen(session.context, session.global)?;
    let profile = profile.ok_or_else(|| no_profile(session, file))?;
    let base_url = profile.base_url().ok_or_else(|| profile.no_base_url())?;
    if let Some(key) = profile.token_keys(bearer).next() {
        return Err(Failure::usage(format!(
            "profile `{}` sets `{key}`, which overrides stored tokens",
            profile.name
        ))
        .hint(format!("run `storefront config unset -p {} {key}`", profile.name)));
    }
    let credentials = Credentials::load(session.context)?;
    let origin = origin(&base_url);
    let token = if let Some(user) = &args.user {
        password_token(session, &profile, user, args).await?
    } else {
        let token = if args.oauth {
            read_keys(session)?
        } else {
            let question = format!("{} of {} for {origin}", noun(bearer, false), profile.name);
            let hint = "use --with-token to read it from stdin";
            read_token(session, &question, hint, args.with_token)?
        };
        verify(session, &profile, bearer, &token).await?;
        token
    };
    let expires = token.expires_at();
    let stored = Stored { token, origin, expires };
    Credentials::store(session.context, &profile.name, bearer, &stored)?;
    session.report.status(&format!(
        "saved the {} for profile `{}` ({}) to {}",
        noun(bearer, args.oauth),
        profile.name,
        stored.origin,
        credentials.path.display()
    ));
    if let Some(expires) = stored.expires {
        session.report.status(&format!("it {}", check::expiry(expires)));
    }
    let variable = token_variable(bearer);
    if session.context.var(variable)?.is_some() {
        session.report.warn(&format!("{variable} is set and overrides the stored token"));
    }
    Ok(())
}

/// No profile is chosen, so that a token has no place; the environment may name the service all the same.
fn no_profile(session: &Session<'_>, file: &ConfigFile) -> Failure {
    match session.context.var(BASE_URL) {
        Ok(Some(_)) => Failure::usage(format!(
            "no profile selected: a token is stored for a profile, and {BASE_URL} is none"
        ))
        .hint(format!(
            "add -p NAME (`storefront config init -p NAME` creates it), or set {} instead",
            token_variable(Bearer::Customer)
        )),
        _ => file.no_profile_selected(),
    }
}

/// Calls the service of a profile, once and not for long: what is secret goes to no other host.
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

/// Refuses a token that the service rejects. One that cannot be checked is kept: the service may be down just now.
async fn verify(
    session: &Session<'_>,
    profile: &Profile,
    bearer: Bearer,
    token: &Token,
) -> Result<(), Failure> {
    let asked = at_service(session, profile, async |service| {
        check::ask(&service.for_record(service.session, Some(token.clone()), None), bearer).await
    });
    let Err(failure) = asked.await else { return Ok(()) };
    let (is_rejected, is_customer) = (check::is_rejected(&failure), bearer == Bearer::Customer);
    let (what, hint) = if failure.kind == FailureKind::Interrupted {
        return Err(failure);
    } else if is_rejected && token.keys().is_some() {
        let hint = oauth::hint(&failure.message);
        ("values were", hint.unwrap_or("check the four values: System > Integrations shows them"))
    } else if is_rejected && is_customer {
        let hint = "get a new token, then run `storefront auth login` again; \
             if it is an administrator's token, add --admin";
        ("token was", hint)
    } else if is_rejected && failure.status == Some(UNAUTHORIZED) {
        // Others may lack the permissions for the reads that are tried.
        ("token was", "get a new token, then run `storefront auth login --admin` again")
    } else if is_customer && names_no_customer(&failure) {
        let message = "the token was not stored: it is an administrator's".to_owned();
        return Err(Failure { kind: FailureKind::Auth, message, ..failure }.hint("add --admin"));
    } else {
        let what = noun(bearer, token.keys().is_some());
        let problem = format!("the {what} could not be verified: {}", failure.message);
        session.report.warn(&problem);
        return Ok(());
    };
    Err(Failure { message: format!("the {what} not stored: {}", failure.message), ..failure }.hint(hint))
}

/// Magento's answer where an administrator's token asks for the profile of its own customer.
fn names_no_customer(failure: &Failure) -> bool {
    matches!(failure.status, Some(400 | 404)) && failure.message.contains("customerId")
}

async fn status(session: &Session<'_>) -> Result<(), Failure> {
    let quick = check::quick(session.global);
    let session = &Session { global: &quick, ..*session };
    let (profile, base_url, checks) = with_service(session, async |service| {
        let settings = &service.settings;
        let (customer, _) = check::token(service, Bearer::Customer).await;
        let (admin, _) = check::token(service, Bearer::Admin).await;
        let checks = [customer, admin];
        Ok((settings.profile.clone(), settings.endpoint.base_url.to_string(), checks))
    })
    .await?;
    session.report.value(&json!({"profile": profile, "base_url": base_url, "checks": checks}), |screen| {
        let (profile, url) = (sanitize_line(profile.as_deref().unwrap_or("none")), sanitize_line(&base_url));
        format!("profile   {profile}\nbase URL  {url}\n\n{}", check::table(&checks, screen))
    })?;
    // The first failed check decides, as for `doctor`.
    match checks.into_iter().find_map(|check| Some((check.failure?, check))) {
        None => Ok(()),
        Some((kind, check)) => {
            let failure = Failure::new(kind, format!("{}: {}", check.name, check.detail));
            Err(Failure { hint: check.fix, ..failure })
        }
    }
}

fn logout(session: &Session<'_>, only_admin: bool) -> Result<(), Failure> {
    let profile = profile_to_forget(session)?;
    let bearers: &[Bearer] = if only_admin { &[Bearer::Admin] } else { &[Bearer::Customer, Bearer::Admin] };
    // An entry that cannot be read is deleted all the same.
    let stored = Credentials::load(session.context)?.find(&profile, Bearer::Admin).ok().flatten();
    let is_integration = stored.is_some_and(|stored| stored.token.keys().is_some());
    let deleted = Credentials::delete(session.context, &profile, bearers)?;
    let deleted: Vec<&str> = deleted.into_iter().map(|bearer| noun(bearer, is_integration)).collect();
    session.report.status(&match deleted.as_slice() {
        [] => format!("no stored token for profile `{profile}`"),
        deleted => format!("deleted the {} of profile `{profile}`", deleted.join(" and the ")),
    });
    Ok(())
}

/// A profile that is named needs no configuration: its tokens may have outlived it.
fn profile_to_forget(session: &Session<'_>) -> Result<String, Failure> {
    if let Some(name) = &session.global.flags.profile {
        return Ok(name.clone());
    }
    let file = session.config_file()?;
    let chosen = file.chosen_name(session.context, session.global)?;
    Ok(chosen.ok_or_else(|| file.no_profile_selected())?.0)
}

fn bearer(admin: bool) -> Bearer {
    if admin { Bearer::Admin } else { Bearer::Customer }
}

fn noun(bearer: Bearer, is_integration: bool) -> &'static str {
    match bearer {
        Bearer::Customer => "token",
        Bearer::Admin if is_integration => "integration's credentials",
        Bearer::Admin => "admin token",
    }
}

const NOT_FOUND: u16 = 404;

/// Gets a token for the user of a profile's service. The password goes there and nowhere else.
///
/// # Errors
/// `usage` where the service issues no tokens, or the environment points to another host; `auth` where the service refuses
/// the user name or the password; `unavailable` where it cannot be reached.
async fn password_token(
    session: &Session<'_>,
    profile: &Profile,
    user: &str,
    args: &LoginArgs,
) -> Result<Token, Failure> {
    let routes = token_routes(session, "--user")?;
    let password = read_password(session, user, args.with_password)?;
    // A reply or a trace that repeats it shows dots.
    if let Some(password) = Token::new(&password) {
        secrets().add(&password);
    }
    let mut body = json!({"username": user, "password": password});
    let path = match (&args.otp, args.admin) {
        (Some(code), _) => {
            body["otp"] = code.as_str().into();
            routes.two_factor
        }
        (None, true) => routes.admin,
        (None, false) => routes.customer,
    };
    at_service(session, profile, async |service| {
        let path = service.target()?.path(path, &[]);
        let request = Request::post(path, body.to_string().into(), bearer(args.admin));
        let reply = service.log_in(&request).await.map_err(|failure| refused(failure, args))?;
        token_of(&reply.value())
    })
    .await
}

fn read_password(session: &Session<'_>, user: &str, from_stdin: bool) -> Result<String, Failure> {
    let password = if from_stdin {
        // Blanks may belong to a password, the end of the line does not.
        let text = stdin_text()?;
        text.strip_suffix("\r\n").or(text.strip_suffix('\n')).unwrap_or(&text).to_owned()
    } else {
        let prompt = session.prompt();
        prompt.password(&format!("password of {user}"), "pass it on standard input with --with-password")?
    };
    if password.is_empty() { Err(Failure::usage("the password is empty")) } else { Ok(password) }
}

/// What the refusal of a login may mean.
fn refused(failure: Failure, args: &LoginArgs) -> Failure {
    let hint = match (failure.kind, failure.status) {
        (FailureKind::Auth, _) if args.admin && args.otp.is_none() => {
            "check user name and password; where the shop asks administrators for a second factor, add --otp CODE; repeated failures lock the account temporarily"
        }
        (FailureKind::Auth, _) => {
            "check user name and password, and add --admin for an administrator's; repeated failures lock the account temporarily"
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
    token.checked("the service's answer")
}
