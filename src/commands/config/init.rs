//! `config init`: makes a profile from flags and environment, and asks for the rest.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::check_base_url;

use crate::cli::ConfirmArgs;
use crate::client::Session;
use crate::config::is_this_machine;
use crate::config::{
    ConfigFile, DEFAULT_PROFILE, KeyPath, check_profile_name, given_dialect, parse_base_url,
};
use crate::prompt::{Objection, Prompt, Question};
use crate::system::environment;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Dialect, StoreView};

/// Create a profile. Name it with -p, set its store view with --store-view.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Base URL of the service, e.g. https://shop.example/rest
    #[arg(long, value_name = "URL", value_parser = NonEmptyStringValueParser::new())]
    pub base_url: Option<String>,
    /// Replace an existing profile
    #[arg(long)]
    pub replace: bool,
    /// The flags of every command that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// The place of each value of a new profile, in the order in which they are asked for.
const NAME: usize = 0;
const API: usize = 1;
const URL: usize = 2;
const VIEW: usize = 3;

/// Makes a profile.
///
/// # Errors
/// `guard` for a profile that is there already, `usage` for a bad value or where nobody can be asked.
pub fn run(session: &Session<'_>, args: &InitArgs) -> Result<(), Failure> {
    let file = session.config_file()?;
    let prompt = session.prompt();
    let flags = &session.global.flags;
    file.profiles()?;
    let name = session.context.var(environment::PROFILE)?;
    let name = flags.profile.as_deref().or(name);
    let api = given_dialect(session.context, session.global)?.map(|dialect| dialect.name);
    let given = [name, api, args.base_url.as_deref(), flags.store_view.as_deref()];
    let may_replace = args.replace || session.global.yes;
    let require_free = |file: &ConfigFile, name: &str| {
        if may_replace { Ok(()) } else { require_new(file, name) }
    };
    let check = |place: usize, text: &str, api: &str| match place {
        NAME => check_profile_name(text).map_err(Failure::usage).and_then(|()| require_free(file, text)),
        URL => match parse_base_url(text) {
            Ok(_) => Ok(()),
            Err(problem) => Err(Failure::usage(format!("the base URL {problem}"))),
        },
        VIEW if !text.is_empty() || requires_store_view(api) => StoreView::new(text).map(drop),
        _ => Ok(()),
    };
    let mut values = given.map(|value| value.unwrap_or_default().to_owned());
    for place in (0..values.len()).filter(|place| given[*place].is_some()) {
        check(place, &values[place], &values[API])?;
    }
    if name.is_none() {
        "default".clone_into(&mut values[NAME]);
    }
    // Where nobody can be asked, the first of these says so, and the others are not needed.
    let is_asked =
        |place: &usize| given[*place].is_none() && (prompt.can_ask() || [NAME, URL].contains(place));
    let asked: Vec<usize> = (0..values.len()).filter(is_asked).collect();
    ask_in_order(&prompt, &asked, &mut values, check)?;
    let [name, api, base_url, store_view] = values;
    warn(session, &name, &api, &base_url, &store_view);
    let admin_serves_all = Dialect::named(&api).is_some_and(|dialect| dialect.customers.is_some());
    let settings = [("base-url", base_url), ("api", api), ("store-view", store_view)];
    let (file, ()) = ConfigFile::update(session.context, |file| {
        // Another process may have created it while the questions were answered.
        require_free(file, &name)?;
        write(file, &name, &settings)
    })?;
    let log_in = storefront("auth login -p").arg(&name);
    let log_in = if admin_serves_all { log_in.arg("--admin") } else { log_in };
    let created = format!("created profile `{name}` in `{}`; next: ", file.path.display());
    session.report.status(&hint!(created, log_in).to_string());
    Ok(())
}

/// Refuses the name of a profile that exists.
fn require_new(file: &ConfigFile, name: &str) -> Result<(), Failure> {
    if !file.names().contains(&name) {
        return Ok(());
    }
    Err(Failure::guard(format!("profile `{name}` already exists"))
        .hint(hint!("replace it with --replace, or change one setting with ", storefront("config set"))))
}

/// Writes a profile in place of the one of that name. The first one is the default.
fn write(file: &mut ConfigFile, name: &str, settings: &[(&str, String)]) -> Result<(), Failure> {
    file.unset(&KeyPath::of(["profiles", name]));
    for (key, value) in settings.iter().filter(|(_, value)| !value.is_empty()) {
        file.set(&KeyPath::of(["profiles", name, key]), value.into())?;
    }
    check_base_url(file, Some(name)).map_err(|failure| {
        failure.hint("end --base-url with the root of the API, and name a store view with --store-view")
    })?;
    let default = KeyPath::of([DEFAULT_PROFILE.name]);
    if default.find(file).is_none() { file.set(&default, name.into()) } else { Ok(()) }
}

/// Asks for these values; Esc goes back one, and cancels at the first.
fn ask_in_order(
    prompt: &Prompt,
    places: &[usize],
    values: &mut [String; 4],
    check: impl Fn(usize, &str, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut next = 0;
    while let Some(place) = places.get(next).copied() {
        let objection = |text: &str| match check(place, text, &values[API]) {
            Ok(()) => Ok(()),
            Err(failure) => Err(Objection::Wrong(failure.message)),
        };
        if let Some(answer) = ask(prompt, place, values, objection)? {
            values[place] = answer;
            next += 1;
        } else {
            next = next.checked_sub(1).ok_or_else(Failure::cancelled)?;
        }
    }
    Ok(())
}

/// Asks for a value; `None` for Esc. An earlier answer can be edited.
fn ask(
    prompt: &Prompt,
    place: usize,
    values: &[String; 4],
    check: impl Fn(&str) -> Result<(), Objection>,
) -> Result<Option<String>, Failure> {
    if place == API {
        let choices = [
            "marketplace  A marketplace derived from Magento, with the store view in each path",
            "magento      Magento Open Source, Adobe Commerce or Mage-OS",
        ];
        let picked = prompt.select("Interface", &choices.map(str::to_owned), 0)?;
        return Ok(picked.map(|picked| Dialect::NAMES[picked].to_owned()));
    }
    let (text, hint) = match place {
        NAME => ("profile name", "use -p NAME"),
        URL => ("base URL", "use --base-url URL"),
        _ if requires_store_view(&values[API]) => {
            ("store view code, such as default", "use --store-view CODE")
        }
        _ => ("store view code (optional)", "use --store-view CODE"),
    };
    prompt.text(&Question { text, hint, initial: &values[place], ..Question::default() }, check)
}

/// Whether a profile of that interface needs a store view; without a known interface it does, too.
fn requires_store_view(api: &str) -> bool {
    Dialect::named(api).is_none_or(|dialect| dialect.requires_store_view)
}

/// Warns about settings of a new profile that seldom work.
fn warn(session: &Session<'_>, name: &str, api: &str, base_url: &str, store_view: &str) {
    let Ok(url) = parse_base_url(base_url) else { return };
    let set = |key: &str, value: &str| storefront("config set -p").arg(name).arg(key).arg(value);
    if let Some(root) = Dialect::named(api).and_then(|dialect| dialect.rest_root)
        && !url.path().trim_end_matches('/').ends_with(&format!("/{root}"))
    {
        session.report.warn(&format!(
            "the base URL has no `/{root}` at its end, where a Magento shop has its interface"
        ));
    }
    if url.scheme() == "http" && !is_this_machine(&url) {
        let warning = hint!(
            "http:// sends the token and customer data unencrypted: use https://, or allow it with ",
            set("allow-plain-http", "true")
        );
        session.report.warn(&warning.to_string());
    }
    if requires_store_view(api) && store_view.is_empty() {
        let warning = hint!("the profile has no store view; set it with ", set("store-view", "CODE"));
        session.report.warn(&warning.to_string());
    }
}
