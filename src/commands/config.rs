//! `config`: profiles and their settings.

mod init;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::cli::ConfirmArgs;
use crate::client::Session;
use crate::commands::auth::read_token;
use crate::config::{
    BASE_URL, ConfigFile, DEFAULT_PROFILE, Key, KeyPath, Setting, Settings, flattened, is_secret, to_json,
};
use crate::report::list::plain;
use init::InitArgs;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::text::sanitize::sanitize_line;

/// The commands of `config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Create a profile, prompting for missing values
    #[command(after_help = "Examples:
  storefront config init -p test --base-url https://test.example/rest
  storefront config init -p test --base-url https://test.example --store-view fr
  storefront config init -p shop --base-url https://shop.example --replace")]
    Init(InitArgs),
    /// Print the path of the configuration file
    #[command(after_help = "Examples:
  storefront config path
  storefront config path -o json
  storefront config path --jq .exists")]
    Path,
    /// List all settings and token sources (one profile with -p)
    #[command(after_help = "Examples:
  storefront config list
  storefront config list -o json
  storefront config list --jq .exists")]
    List,
    /// Print a setting (tokens are masked)
    #[command(after_help = "Examples:
  storefront config get -p shop retry
  storefront config get profiles.shop
  storefront config get profiles.shop.retry -o json")]
    Get {
        /// `profiles.NAME.KEY`, or `KEY` for the selected profile
        key: String,
    },
    /// Change a setting, preserving comments
    #[command(after_help = "Examples:
  storefront config set -p shop base-url https://shop.example/rest
  storefront config set -p shop token-command pass show shop
  storefront config set profiles.shop.store-view fr")]
    Set {
        /// `profiles.NAME.KEY`, or `KEY` for the selected profile
        key: String,
        /// Value (several for a list); tokens are prompted for, or read from stdin with -
        #[arg(allow_negative_numbers = true)]
        value: Vec<String>,
    },
    /// Remove a setting or a profile
    #[command(after_help = "Examples:
  storefront config unset -p shop retry
  storefront config unset profiles.shop.retry
  storefront config unset profiles.shop --yes")]
    Unset {
        /// `profiles.NAME.KEY`, or `KEY` for the selected profile; `profiles.NAME` for a whole profile
        key: String,
        /// The flags of every command that asks.
        #[command(flatten)]
        confirm: ConfirmArgs,
    },
    /// Set the default profile
    #[command(after_help = "Examples:
  storefront config use shop
  storefront config use shop && storefront config get retry
  storefront config use shop -q")]
    Use {
        /// The profile
        #[arg(value_name = "PROFILE")]
        name: String,
    },
}

/// Runs `config`.
///
/// # Errors
/// `usage` for a bad key or value, or a broken file; `guard` for a profile that is there already.
pub fn run(session: &Session<'_>, command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Path => path(session),
        ConfigCommand::List => list(session),
        ConfigCommand::Get { key } => get(session, key),
        ConfigCommand::Set { key, value } => set(session, key, value),
        ConfigCommand::Unset { key, .. } => unset(session, key),
        ConfigCommand::Use { name } => set(session, DEFAULT_PROFILE.name, std::slice::from_ref(name)),
        ConfigCommand::Init(args) => init::run(session, args),
    }
}

fn path(session: &Session<'_>) -> Result<(), Failure> {
    let path = ConfigFile::locate(session.context)?;
    let name = path.to_string_lossy();
    let exists = path.exists();
    session.report.value(&json!({"path": name, "exists": exists}), |_| sanitize_line(&name) + "\n")
}

fn list(session: &Session<'_>) -> Result<(), Failure> {
    let mut file = session.config_file()?.clone();
    file.profiles()?;
    if let Some(name) = &session.global.flags.profile {
        file.chosen(session.context, session.global)?;
        file.keep_only(name);
    }
    let settings = to_json("", file.document.as_item());
    // The sources of its tokens in this environment.
    let sources = |name: &str| match Settings::resolve(
        session.context,
        &session.global.for_profile(name),
        session.config,
    ) {
        Ok(settings) => json!({"token": settings.token.from, "admin-token": settings.admin_token.from}),
        Err(failure) => json!({"token": failure.message, "admin-token": failure.message}),
    };
    let sources: Map<String, Value> =
        file.names().into_iter().map(|name| (name.to_owned(), sources(name))).collect();
    if !file.exists {
        session.report.status(&format!("`{}` does not exist", file.path.display()));
    }
    let listed = json!({
        "path": file.path.to_string_lossy(),
        "exists": file.exists,
        "settings": settings,
        "tokens": sources,
    });
    session.report.value(&listed, |_| {
        let sources = flattened(&listed["tokens"]).into_iter().map(|(path, from)| {
            sanitize_line(&format!("# {path}: {}", from.as_str().unwrap_or_default())) + "\n"
        });
        lines(&settings) + &sources.collect::<String>()
    })
}

/// `path = value`, a line each.
fn lines(settings: &Value) -> String {
    let lines = flattened(settings).into_iter();
    lines.map(|(path, value)| sanitize_line(&format!("{path} = {value}")) + "\n").collect()
}

fn get(session: &Session<'_>, key: &str) -> Result<(), Failure> {
    let file = session.config_file()?;
    let key = KeyPath::resolve(key, file, session.context, session.global)?;
    key.setting()?;
    file.profiles()?;
    key.profile().map_or(Ok(()), |profile| file.require_profile(profile, "config get"))?;
    let item = key.find(file).ok_or_else(|| {
        let message = format!("`{key}` is not set in `{}`", file.path.display());
        Failure::usage(message).hint(hint!("run ", storefront("config list"), " to see all settings"))
    })?;
    let value = key.shown(item);
    session.report.value(&value, |_| match &value {
        Value::Object(_) => lines(&value),
        value => sanitize_line(&plain(value)) + "\n",
    })
}

/// Sets a value.
fn set(session: &Session<'_>, key: &str, words: &[String]) -> Result<(), Failure> {
    let file = session.config_file()?;
    let key = KeyPath::resolve(key, file, session.context, session.global)?;
    let Setting::Value(setting) = key.setting()? else {
        return Err(Failure::usage(format!("`{key}` is a table")).hint("set its keys individually"));
    };
    // A profile begins with its base URL; any other setting of a profile that does not exist is a typing error.
    if let Some(profile) = key.profile().filter(|_| setting.name != BASE_URL.name) {
        file.require_profile(profile, "config set")?;
    }
    let words = words_to_store(session, &key, setting, words)?;
    let value = setting.write(&words).map_err(|problem| Failure::usage(format!("{key}: {problem}")))?;
    let (file, before) = ConfigFile::update(session.context, |file| {
        if key == KeyPath::of([DEFAULT_PROFILE.name]) {
            file.require_profile(value.as_str().unwrap_or_default(), "config set")?;
        }
        let before = key.origin(file);
        file.set(&key, value)?;
        check_base_url(file, key.profile())?;
        Ok(before)
    })?;
    session.report.status(&format!("set {key} in `{}`", file.path.display()));
    if before.is_some() && before != key.origin(&file) {
        warn_of_new_host(session, &file, &key);
    }
    Ok(())
}

/// The words of a setting as they are stored: a secret is read where it was not typed, and a path is absolute.
///
/// # Errors
/// As [`read_token`].
fn words_to_store(
    session: &Session<'_>,
    key: &KeyPath,
    setting: &Key,
    words: &[String],
) -> Result<Vec<String>, Failure> {
    if is_secret(setting.name) {
        let set = storefront("config set").arg(key.to_string()).arg("-");
        let hint = hint!("use ", set, " to read it from stdin").to_string();
        if words.is_empty() || words == ["-"] {
            let token = read_token(session, &key.to_string(), &hint, !words.is_empty())?;
            return Ok(vec![token.expose().into_owned()]);
        }
        session.report.warn(&format!("command-line arguments are visible to other users; {hint}"));
    }
    // A relative path in the file starts at the directory of the file; one that is typed starts at the current directory.
    if let ([path], true) = (words, setting.is_file())
        && let Ok(here) = std::path::absolute(path)
        && here.is_file()
        && !path.starts_with('~')
    {
        return Ok(vec![here.display().to_string()]);
    }
    Ok(words.to_vec())
}

/// Says that the tokens that a profile names itself go to its new host.
fn warn_of_new_host(session: &Session<'_>, file: &ConfigFile, key: &KeyPath) {
    let mut profiles = file.profiles().unwrap_or_default().into_iter();
    if let Some(profile) = profiles.find(|profile| key.profile() == Some(&*profile.name)) {
        let [customer, admin] = [Bearer::Customer, Bearer::Admin].map(|bearer| profile.token_keys(bearer));
        let named: Vec<&str> = customer.chain(admin).collect();
        if !named.is_empty() {
            session.report.warn(&format!(
                "profile `{}` now points to a different host; tokens from its `{}` will be sent there",
                profile.name,
                named.join("` and `")
            ));
        }
    }
}

/// Refuses a base URL of a profile that every command would refuse.
fn check_base_url(file: &ConfigFile, profile: Option<&str>) -> Result<(), Failure> {
    // Other mistakes in the file are reported elsewhere.
    let profiles = file.profiles().unwrap_or_default();
    let changed = profiles.iter().find(|known| Some(&*known.name) == profile);
    changed.map_or(Ok(()), Settings::check_base_url)
}

/// Removes a setting or a whole profile.
fn unset(session: &Session<'_>, key: &str) -> Result<(), Failure> {
    let file = session.config_file()?;
    let key = KeyPath::resolve(key, file, session.context, session.global)?;
    if key.is_profile() && key.find(file).is_some() {
        let count = flattened(&to_json("", key.find(file).unwrap_or(&toml_edit::Item::None))).len();
        let settings = if count == 1 { "1 setting".to_owned() } else { format!("{count} settings") };
        let question = format!("Remove {key} with its {settings}? This cannot be undone");
        session.prompt().confirm_deletion(&question)?;
    }
    let (file, ()) = ConfigFile::update(session.context, |file| {
        if !file.unset(&key) {
            return Err(Failure::usage(format!("`{key}` is not set in `{}`", file.path.display())));
        }
        file.drop_dangling_default();
        Ok(())
    })?;
    session.report.status(&format!("removed {key} from `{}`", file.path.display()));
    if key.is_profile()
        && let Some(name) = key.profile()
    {
        let log_out = storefront("auth logout -p").arg(name);
        let kept = hint!("its stored tokens were kept; remove them with ", log_out);
        session.report.status(&kept.to_string());
    }
    Ok(())
}
