//! `auth`: tokens, kept apart from the settings.

use std::io::Read;

use serde_json::{Value, json};

use super::Session;
use crate::cli::auth::AuthCommand;
use crate::config::{ConfigFile, Credentials, Settings, Stored, TokenSource, origin, token_variable};
use crate::failure::Failure;
use crate::plan::request::Bearer;
use crate::prompt::Prompt;
use crate::report::escape::one_line;
use crate::token::Token;

/// No token is longer, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Runs `auth`.
///
/// # Errors
/// `usage` for a profile that cannot hold a token, `auth` when `status` finds none.
pub fn run(session: &Session<'_>, command: &AuthCommand) -> Result<(), Failure> {
    if session.global.sandbox {
        return Err(Failure::usage("the sandbox has tokens of its own").hint("storefront sandbox tokens"));
    }
    match *command {
        AuthCommand::Login { with_token, admin } => login(session, bearer(admin), with_token),
        AuthCommand::Status => status(session),
        AuthCommand::Logout { admin } => logout(session, admin),
    }
}

/// Reads a token from standard input, or asks for it without showing it.
///
/// # Errors
/// `usage` when nobody can be asked, `auth` when what came is no token.
pub fn read_token(session: &Session<'_>, question: &str, hint: &str, stdin: bool) -> Result<Token, Failure> {
    let text = if stdin {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
        text
    } else {
        Prompt::new(session.context, session.global, session.report).password(question, hint)?
    };
    let token = Token::new(&text).ok_or_else(|| Failure::usage("no token came; nothing was stored"))?;
    TokenSource::given(token, "the input").token()
}

fn login(session: &Session<'_>, bearer: Bearer, with_token: bool) -> Result<(), Failure> {
    let file = ConfigFile::load(session.context)?;
    let profile = file.chosen(session.context, session.global)?.ok_or_else(|| file.none_chosen())?;
    let base_url = profile.base_url().ok_or_else(|| profile.no_base_url())?;
    if let Some(key) = profile.token_key_in_use(bearer) {
        return Err(Failure::usage(format!(
            "profile {} names {key}, so a stored token would not be used",
            profile.name
        ))
        .hint(format!("storefront config unset -p {} {key}", profile.name)));
    }
    let credentials = Credentials::load(session.context)?;
    let origin = origin(&base_url);
    let question = format!("{} of {} for {origin}", noun(bearer), profile.name);
    let token = read_token(session, &question, "--with-token reads it from standard input", with_token)?;
    let stored = Stored { token, origin };
    Credentials::store(session.context, &profile.name, bearer, &stored)?;
    session.report.note(&format!(
        "stored the {} of profile {} for {} in {}",
        noun(bearer),
        profile.name,
        stored.origin,
        credentials.path.display()
    ));
    let variable = token_variable(bearer);
    if session.context.var(variable)?.is_some() {
        session.report.warn(&format!("{variable} is set and wins over the stored token"));
    }
    Ok(())
}

fn status(session: &Session<'_>) -> Result<(), Failure> {
    let settings = Settings::resolve(session.context, session.global)?;
    let (customer, admin) = (Found::of(&settings.token), Found::of(&settings.admin_token));
    if session.report.is_json() {
        session.report.json(&json!({
            "profile": settings.profile,
            "base_url": settings.base_url.as_str(),
            "token": customer.json(),
            "admin_token": admin.json(),
        }))?;
    } else {
        let profile = settings.profile.as_deref().unwrap_or("none");
        session.report.data(&format!(
            "profile      {}\nbase URL     {}\ntoken        {}\nadmin token  {}\n",
            one_line(profile),
            one_line(settings.base_url.as_str()),
            one_line(&customer.sentence()),
            one_line(&admin.sentence()),
        ))?;
    }
    match (customer.problem, admin.problem) {
        (Some(problem), Some(_)) => Err(problem),
        _ => Ok(()),
    }
}

fn logout(session: &Session<'_>, only_admin: bool) -> Result<(), Failure> {
    let profile = profile_to_forget(session)?;
    let bearers: &[Bearer] = if only_admin { &[Bearer::Admin] } else { &[Bearer::Customer, Bearer::Admin] };
    let deleted = Credentials::delete(session.context, &profile, bearers)?;
    let deleted: Vec<&str> = deleted.into_iter().map(noun).collect();
    session.report.note(&match deleted.as_slice() {
        [] => format!("no token of profile {profile} is stored"),
        deleted => format!("deleted the {} of profile {profile}", deleted.join(" and the ")),
    });
    Ok(())
}

/// A profile that is named needs no configuration: its tokens may have outlived it.
fn profile_to_forget(session: &Session<'_>) -> Result<String, Failure> {
    if let Some(name) = &session.global.profile {
        return Ok(name.clone());
    }
    let file = ConfigFile::load(session.context)?;
    let chosen = file.chosen_name(session.context, session.global)?;
    Ok(chosen.ok_or_else(|| file.none_chosen())?.0)
}

/// What became of looking for a token. A command is not run for it.
struct Found {
    source: String,
    ran: bool,
    problem: Option<Failure>,
}

impl Found {
    fn of(source: &TokenSource) -> Self {
        let ran = source.argv().is_none();
        Self { source: source.describe(), ran, problem: if ran { source.token().err() } else { None } }
    }

    fn sentence(&self) -> String {
        match &self.problem {
            Some(problem) => format!("{}: {}", self.source, problem.message),
            None if !self.ran => format!("{}, not run now", self.source),
            None => self.source.clone(),
        }
    }

    /// `available` is null where only running the command would tell.
    fn json(&self) -> Value {
        json!({
            "source": self.source,
            "available": self.ran.then_some(self.problem.is_none()),
            "problem": self.problem.as_ref().map(|problem| &problem.message),
        })
    }
}

fn bearer(admin: bool) -> Bearer {
    if admin { Bearer::Admin } else { Bearer::Customer }
}

fn noun(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "token",
        Bearer::Admin => "admin token",
    }
}
