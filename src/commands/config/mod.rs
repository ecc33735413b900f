//! `config`: profiles and their settings.

mod change;
mod init;

use serde_json::{Map, Value, json};

use crate::cli::GlobalArgs;
use crate::cli::config::ConfigCommand;
use crate::config::{ConfigFile, KeyPath, Settings, flattened, to_json};
use crate::failure::Failure;
use crate::sanitize::sanitize_line;
use crate::session::Session;

/// Runs `config`.
///
/// # Errors
/// `usage` for a bad key or value, or a broken file; `guard` for a profile that is there already.
pub fn run(session: &Session<'_>, command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Path(_) => path(session),
        ConfigCommand::List(_) => list(session),
        ConfigCommand::Get(args) => get(session, &args.key),
        ConfigCommand::Set(args) => change::set(session, &args.key, &args.value),
        ConfigCommand::Unset(args) => change::unset(session, &args.key),
        ConfigCommand::Use(args) => change::use_profile(session, &args.name),
        ConfigCommand::Init(args) => init::run(session, args),
    }
}

fn path(session: &Session<'_>) -> Result<(), Failure> {
    let path = ConfigFile::locate(session.context)?;
    if session.report.is_json() {
        return session.report.json(&json!({"path": path.to_string_lossy(), "exists": path.exists()}));
    }
    session.report.stdout(&format!("{}\n", sanitize_line(&path.to_string_lossy())))
}

fn list(session: &Session<'_>) -> Result<(), Failure> {
    let mut file = session.config_file()?.clone();
    file.profiles()?;
    if let Some(name) = &session.global.profile {
        file.chosen(session.context, session.global)?;
        file.keep_only(name);
    }
    let settings = to_json("", file.document.as_item());
    let sources: Map<String, Value> =
        file.names().into_iter().map(|name| (name.to_owned(), token_sources(session, name))).collect();
    if session.report.is_json() {
        return session.report.json(&json!({
            "path": file.path.to_string_lossy(),
            "exists": file.exists,
            "settings": settings,
            "tokens": sources,
        }));
    }
    if !file.exists {
        session.report.status(&format!("`{}` does not exist", file.path.display()));
    }
    let sources = Value::Object(sources);
    let values = flattened(&settings).into_iter();
    let values = values.map(|(path, value)| sanitize_line(&format!("{path} = {value}")));
    let sources = flattened(&sources).into_iter();
    let sources = sources
        .map(|(path, from)| sanitize_line(&format!("# {path}: {}", from.as_str().unwrap_or_default())));
    let lines: Vec<String> = values.chain(sources).map(|line| line + "\n").collect();
    session.report.stdout(&lines.concat())
}

/// Where the tokens of a profile come from, in this environment.
fn token_sources(session: &Session<'_>, profile: &str) -> Value {
    let global = GlobalArgs { profile: Some(profile.to_owned()), ..session.global.clone() };
    match Settings::resolve(session.context, &global, session.config) {
        Ok(settings) => json!({
            "token": settings.token.describe(),
            "admin-token": settings.admin_token.describe(),
        }),
        Err(failure) => json!({"token": failure.message, "admin-token": failure.message}),
    }
}

fn get(session: &Session<'_>, key: &str) -> Result<(), Failure> {
    let file = session.config_file()?;
    let key = KeyPath::resolve(key, file, session.context, session.global)?;
    key.setting()?;
    file.profiles()?;
    let item = key.find(file).ok_or_else(|| {
        let message = format!("`{key}` is not set in `{}`", file.path.display());
        Failure::usage(message).hint("run `storefront config list` to see all settings")
    })?;
    let value = to_json(key.name(), item);
    if session.report.is_json() {
        return session.report.json(&value);
    }
    let text = match &value {
        Value::String(text) => sanitize_line(text),
        Value::Object(_) => {
            let lines = flattened(&value).into_iter();
            let lines: Vec<String> =
                lines.map(|(path, value)| sanitize_line(&format!("{path} = {value}"))).collect();
            lines.join("\n")
        }
        value => sanitize_line(&value.to_string()),
    };
    session.report.stdout(&format!("{text}\n"))
}
