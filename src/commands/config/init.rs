//! `config init`: a profile from flags and, on a terminal, from answers.

use crate::cli::config::InitArgs;
use crate::config::{ConfigFile, KeyPath, ValueType, check_profile_name};
use crate::environment;
use crate::failure::Failure;
use crate::prompt::Prompt;
use crate::session::Session;

/// Makes a profile.
pub fn run(session: &Session<'_>, args: &InitArgs) -> Result<(), Failure> {
    let file = ConfigFile::load(session.context)?;
    file.profiles()?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    let name = profile_name(session, &prompt)?;
    let exists = file.names().contains(&name.as_str());
    if exists && !args.replace && !may_replace(&prompt, &name)? {
        return Err(already_exists(&name));
    }
    let key = |key: &str| KeyPath::of_profile(&name, key);
    let base_url =
        answer(&prompt, args.base_url.as_deref(), "base URL", "--base-url URL", ValueType::BaseUrl)?;
    let store_view = session.global.store_view.as_deref();
    let store_view = match store_view {
        None if !prompt.can_ask() => None,
        given => Some(answer(&prompt, given, "store view code", "--store-view CODE", ValueType::StoreView)?),
    };
    let (file, ()) = ConfigFile::update(session.context, |file| {
        // Another process may have created it while the questions were answered.
        if !exists && !args.replace && file.names().contains(&name.as_str()) {
            return Err(already_exists(&name));
        }
        file.unset(&KeyPath::profile_table(&name));
        file.set(&key("base-url"), base_url)?;
        if let Some(store_view) = store_view {
            file.set(&key("store-view"), store_view)?;
        }
        if KeyPath::default_profile().find(file).is_none() {
            file.set(&KeyPath::default_profile(), name.as_str().into())?;
        }
        Ok(())
    })?;
    session.report.status(&format!(
        "created profile `{name}` in `{}`; next: `storefront auth login -p {name}`",
        file.path.display()
    ));
    Ok(())
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
    kind: ValueType,
) -> Result<toml_edit::Value, Failure> {
    let write = |text: &str| kind.write(&[text.to_owned()]);
    let text = match given {
        Some(text) => text.to_owned(),
        None => prompt.input(question, &format!("use {flag}"), None, |text| write(text).map(|_| ()))?,
    };
    write(&text).map_err(|problem| Failure::usage(format!("{flag}: {problem}")))
}
