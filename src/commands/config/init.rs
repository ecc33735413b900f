//! `config init`: a profile from flags and, on a terminal, from answers.

use crate::cli::config::InitArgs;
use crate::config::{BASE_URL, ConfigFile, Key, KeyPath, STORE_VIEW, check_profile_name, given_dialect};
use crate::environment;
use crate::failure::Failure;
use crate::plan::request::{Dialect, Interface};
use crate::prompt::Prompt;
use crate::session::Session;

/// Makes a profile.
pub fn run(session: &Session<'_>, args: &InitArgs) -> Result<(), Failure> {
    let file = session.config_file()?;
    file.profiles()?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    let name = profile_name(session, &prompt)?;
    let exists = file.names().contains(&name.as_str());
    if exists && !args.replace && !may_replace(&prompt, &name)? {
        return Err(already_exists(&name));
    }
    let key = |key: &str| KeyPath::of_profile(&name, key);
    let dialect = interface(session, &prompt)?;
    let is_magento = dialect.name == Interface::Magento.dialect().name;
    let base_url = answer(&prompt, args.base_url.as_deref(), "base URL", "--base-url URL", &BASE_URL)?;
    let store_view = store_view(session, &prompt, is_magento)?;
    let (file, ()) = ConfigFile::update(session.context, |file| {
        // Another process may have created it while the questions were answered.
        if !exists && !args.replace && file.names().contains(&name.as_str()) {
            return Err(already_exists(&name));
        }
        file.unset(&KeyPath::profile_table(&name));
        file.set(&key("base-url"), base_url)?;
        if is_magento {
            file.set(&key("api"), dialect.name.into())?;
        }
        if let Some(store_view) = store_view {
            file.set(&key("store-view"), store_view)?;
        }
        if KeyPath::default_profile().find(file).is_none() {
            file.set(&KeyPath::default_profile(), name.as_str().into())?;
        }
        Ok(())
    })?;
    session.report.status(&format!(
        "created profile `{name}` in `{}`; next: `storefront auth login -p {name}{}`",
        file.path.display(),
        if is_magento { " --admin" } else { "" }
    ));
    Ok(())
}

/// The interface of flag or environment, or the one that is picked.
fn interface(session: &Session<'_>, prompt: &Prompt) -> Result<&'static Dialect, Failure> {
    if let Some(given) = given_dialect(session.context, session.global)? {
        return Ok(given);
    }
    if !prompt.can_ask() {
        return Ok(Interface::Marketplace.dialect());
    }
    let choices: Vec<String> = Dialect::NAMES.iter().map(|name| (*name).to_owned()).collect();
    let picked = prompt.select("Interface", &choices, 0)?.ok_or_else(Failure::cancelled)?;
    Dialect::named(&choices[picked]).ok_or_else(Failure::cancelled)
}

/// The store view, which a Magento shop does not need.
fn store_view(
    session: &Session<'_>,
    prompt: &Prompt,
    is_optional: bool,
) -> Result<Option<toml_edit::Value>, Failure> {
    const FLAG: &str = "--store-view CODE";
    let given = session.global.store_view.as_deref();
    if given.is_none() && !prompt.can_ask() {
        return Ok(None);
    }
    if given.is_some() || !is_optional {
        return answer(prompt, given, "store view code", FLAG, &STORE_VIEW).map(Some);
    }
    let write = |text: &str| STORE_VIEW.write(&[text.to_owned()]);
    let check = |text: &str| if text.is_empty() { Ok(()) } else { write(text).map(drop) };
    let code = prompt.input("store view code (optional)", FLAG, None, check)?;
    if code.is_empty() { Ok(None) } else { write(&code).map(Some).map_err(Failure::usage) }
}

fn already_exists(name: &str) -> Failure {
    Failure::guard(format!("profile `{name}` already exists"))
        .hint("replace it with --replace, or change one setting with `storefront config set`")
}

fn profile_name(session: &Session<'_>, prompt: &Prompt) -> Result<String, Failure> {
    let given = match &session.global.profile {
        Some(name) => Some(name.as_str()),
        None => session.context.var(environment::PROFILE)?,
    };
    let name = match given {
        Some(name) => name.to_owned(),
        None => prompt.input("profile name", "use -p NAME", Some("default"), check_profile_name)?,
    };
    check_profile_name(&name).map_err(Failure::usage)?;
    Ok(name)
}

/// Without a terminal only `--replace` and `--yes` say so: silence is no consent to lose settings.
fn may_replace(prompt: &Prompt, name: &str) -> Result<bool, Failure> {
    if prompt.can_ask() || prompt.assume_yes() {
        prompt.confirm(&format!("replace profile {name} and all its settings?"))?.or_cancel()?;
        return Ok(true);
    }
    Ok(false)
}

/// What a flag gave, or what the person answers, checked as the kind of its key.
fn answer(
    prompt: &Prompt,
    given: Option<&str>,
    question: &str,
    flag: &str,
    setting: &Key,
) -> Result<toml_edit::Value, Failure> {
    let write = |text: &str| setting.write(&[text.to_owned()]);
    let text = match given {
        Some(text) => text.to_owned(),
        None => prompt.input(question, &format!("use {flag}"), None, |text| write(text).map(|_| ()))?,
    };
    write(&text).map_err(|problem| Failure::usage(format!("{flag}: {problem}")))
}
