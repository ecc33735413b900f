//! The built-in local service, as `--sandbox` and the `sandbox` commands use it.

use std::path::PathBuf;

use crate::client::Session;
use crate::config::Settings;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::text::token::Credential;

/// The database: the one named, or the one every `--sandbox` uses.
///
/// # Errors
/// `usage` when no directory is known.
pub fn data_file(context: &Context, named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => Ok(path.clone()),
        None => Ok(context.directories()?.data.join("sandbox.db")),
    }
}

/// `usage`: the file or the address was named badly, or cannot be used as it is.
pub fn unusable(error: anyhow::Error) -> Failure {
    Failure::usage(storefront_sandbox::causes(&error))
}

/// The tokens that it gives out, to customers and administrators.
///
/// # Errors
/// `usage` when the database cannot be used.
pub fn tokens(
    context: &Context,
    named: Option<&PathBuf>,
) -> Result<Vec<storefront_sandbox::IssuedToken>, Failure> {
    storefront_sandbox::tokens(&data_file(context, named)?).map_err(unusable)
}

/// Starts the built-in service, and returns the settings for calls to it.
///
/// # Errors
/// `usage` when it cannot be started, or for a bad `--store-view`.
pub async fn open_sandbox(session: &Session<'_>) -> Result<(Settings, storefront_sandbox::Running), Failure> {
    let data = data_file(session.context, None)?;
    let faults = session.global.request.fault.clone();
    let options = storefront_sandbox::Options { faults, ..storefront_sandbox::Options::new(data.clone()) };
    let running = storefront_sandbox::start(options).await.map_err(unusable)?;
    let lost = |what: &str| Failure::internal(format!("the sandbox returned an invalid {what}"));
    let url = running.url.parse().map_err(|_| lost("address"))?;
    let token = |text: &str| Credential::new(text).ok_or_else(|| lost("token"));
    let (customer, admin) = (token(&running.customer_token)?, token(&running.admin_token)?);
    let settings = Settings::sandbox(session.context, session.global, data, url, customer, admin)?;
    Ok((settings, running))
}
