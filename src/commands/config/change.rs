//! `config set`, `unset` and `use`: one change each, everything else in the file stays.

use crate::commands::auth::read_token;
use crate::config::{ConfigFile, Form, Key, KeyPath, Setting, token_keys};
use crate::failure::Failure;
use crate::session::Session;

/// Sets a value.
pub fn set(session: &Session<'_>, key: &str, words: &[String]) -> Result<(), Failure> {
    let file = session.config_file()?;
    let key = KeyPath::resolve(key, file, session.context, session.global)?;
    let value = match key.setting()? {
        Setting::Table => {
            return Err(Failure::usage(format!("`{key}` is a table")).hint("set its keys individually"));
        }
        Setting::Value(setting) if setting.form == Form::Secret => secret(session, setting, &key, words)?,
        Setting::Value(setting) if words.is_empty() => {
            return Err(Failure::usage(format!("{key}: missing value, expected {}", setting.expected)));
        }
        Setting::Value(setting) => {
            setting.write(words).map_err(|problem| Failure::usage(format!("{key}: {problem}")))?
        }
    };
    let (file, before) = ConfigFile::update(session.context, |file| {
        if key.is_default_profile() {
            file.require_profile(value.as_str().unwrap_or_default(), "config set")?;
        }
        let before = key.origin(file);
        file.set(&key, value)?;
        Ok(before)
    })?;
    session.report.status(&format!("set {key} in `{}`", file.path.display()));
    warn_of_moved_tokens(session, &file, &key, before.as_deref());
    Ok(())
}

/// A token from a prompt or standard input, or, with a warning, from the command line.
fn secret(
    session: &Session<'_>,
    setting: &Key,
    key: &KeyPath,
    words: &[String],
) -> Result<toml_edit::Value, Failure> {
    let hint = format!("use `storefront config set {key} -` to read it from stdin");
    let words = match words {
        [] | [_] if words.first().is_none_or(|word| word == "-") => {
            let token = read_token(session, &key.to_string(), &hint, !words.is_empty())?;
            vec![token.expose().to_owned()]
        }
        words => {
            session.report.warn(&format!("command-line arguments are visible to other users; {hint}"));
            words.to_vec()
        }
    };
    setting.write(&words).map_err(|_| Failure::usage(format!("{key}: expected a single token")))
}

/// A warning for a profile that is moved to another host: its tokens will be sent there.
fn warn_of_moved_tokens(session: &Session<'_>, file: &ConfigFile, key: &KeyPath, before: Option<&str>) {
    let Some(profile) = key.profile() else { return };
    let after = key.origin(file);
    if before.is_none() || before == after.as_deref() {
        return;
    }
    let named = token_keys().filter(|name| KeyPath::of_profile(profile, name).find(file).is_some());
    let named: Vec<&str> = named.collect();
    if !named.is_empty() {
        session.report.warn(&format!(
            "profile `{profile}` now points to a different host; {} will be sent there",
            if let [one] = named[..] {
                format!("the token of its `{one}`")
            } else {
                format!("the tokens of its `{}`", named.join("` and `"))
            }
        ));
    }
}

/// Takes a setting or a whole profile out.
pub fn unset(session: &Session<'_>, key: &str) -> Result<(), Failure> {
    let file = session.config_file()?;
    let key = KeyPath::resolve(key, file, session.context, session.global)?;
    let is_not_set =
        |file: &ConfigFile| Failure::usage(format!("`{key}` is not set in `{}`", file.path.display()));
    if key.find(file).is_none() {
        return Err(is_not_set(file));
    }
    let (file, ()) = ConfigFile::update(session.context, |file| {
        if !file.unset(&key) {
            return Err(is_not_set(file));
        }
        file.drop_dangling_default();
        Ok(())
    })?;
    session.report.status(&format!("removed {key} from `{}`", file.path.display()));
    if key.is_profile()
        && let Some(name) = key.profile()
    {
        session.report.status(&format!(
            "its stored tokens were kept; remove them with `storefront auth logout -p {name}`"
        ));
    }
    Ok(())
}

/// Makes a profile the one that is used when none is named.
pub fn use_profile(session: &Session<'_>, name: &str) -> Result<(), Failure> {
    session.config_file()?.require_profile(name, "config use")?;
    ConfigFile::update(session.context, |file| {
        file.require_profile(name, "config use")?;
        file.set(&KeyPath::default_profile(), name.into())
    })?;
    session.report.status(&format!("default profile: {name}"));
    Ok(())
}
