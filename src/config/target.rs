//! Which interface and which store view a command is for.

use super::file::{ConfigFile, ReadOnce};
use super::profile::Profile;
use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::environment::{API, STORE_VIEW};
use crate::failure::Failure;
use crate::plan::request::{Dialect, Interface, StoreView};

/// The store view: flag, then environment, then profile.
///
/// # Errors
/// `usage` for a code that is not valid.
pub(super) fn store_view(
    context: &Context,
    global: &GlobalArgs,
    profile: Option<&Profile>,
) -> Result<Option<StoreView>, Failure> {
    let code = match &global.store_view {
        Some(code) => Some(code.as_str()),
        None => context.var(STORE_VIEW)?,
    };
    let code = code.or_else(|| profile.and_then(|profile| profile.text("store-view")));
    code.map(StoreView::new).transpose()
}

/// The interface: flag, then environment, then profile, then the marketplace's.
///
/// # Errors
/// `usage` for a name in the environment that is none.
pub(super) fn dialect(
    context: &Context,
    global: &GlobalArgs,
    profile: Option<&Profile>,
) -> Result<&'static Dialect, Failure> {
    if let Some(given) = given_dialect(context, global)? {
        return Ok(given);
    }
    let of_profile = profile.and_then(|profile| Dialect::named(profile.text("api")?));
    Ok(of_profile.unwrap_or_else(|| Interface::Marketplace.dialect()))
}

/// The interface of flag or environment.
///
/// # Errors
/// `usage` for a name in the environment that is none.
pub fn given_dialect(context: &Context, global: &GlobalArgs) -> Result<Option<&'static Dialect>, Failure> {
    if let Some(interface) = global.api {
        return Ok(Some(interface.dialect()));
    }
    let Some(name) = context.var(API)? else { return Ok(None) };
    Dialect::named(name).map(Some).ok_or_else(|| {
        Failure::usage(format!("unknown interface `{name}` (from {API})"))
            .hint(format!("set it to {}", Dialect::NAMES.join(" or ")))
    })
}

/// The interface alone, for what is checked before a service is opened: a configuration that cannot be read is found
/// then. What was read is left in `config`.
///
/// # Errors
/// `usage` for a name in the environment that is none.
pub fn chosen_dialect(
    context: &Context,
    global: &GlobalArgs,
    config: &ReadOnce,
) -> Result<&'static Dialect, Failure> {
    let profile = || {
        let file = ConfigFile::load_if_reachable(context).ok()?;
        let profile = file.chosen(context, global).ok();
        config.keep(file);
        profile?
    };
    let profile = if global.sandbox || global.api.is_some() { None } else { profile() };
    dialect(context, global, profile.as_ref())
}
