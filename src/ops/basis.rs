//! Reads from which calls are built: they are as new as what our own calls of the last minute left.

use serde_json::{Map, Value};

use super::Reads;
use crate::client::service::Service;
use crate::log::WriteLog;
use storefront_core::effect::{self, Effect, OwnCall, Owner};
use storefront_core::failure::Failure;
use storefront_core::hint::{HintCommand, hint};
use storefront_core::outcome::Extent;

/// Reads a thing until it shows what our own calls left, for at most `--settle`. A person may continue with a read that
/// does not; `missing` says what a read does not show, and `look` is the command that shows it.
///
/// # Errors
/// `guard` if it does not show that and nobody continues; as `read`.
pub async fn read<T>(
    service: &Service<'_>,
    noun: &str,
    look: HintCommand,
    read: impl AsyncFn() -> Result<T, Failure>,
    missing: impl Fn(&T) -> Result<Vec<String>, Failure>,
) -> Result<T, Failure> {
    let mut reads = Reads::new(service.settings.settle);
    loop {
        let found = read().await?;
        let missing = missing(&found)?;
        if missing.is_empty() {
            return Ok(found);
        }
        let is_dry = service.session.global.dry_run;
        if is_dry || !reads.wait().await {
            let behind = lags_behind(noun, look, &missing);
            if is_dry {
                service.session.report.warn(&behind.message);
            } else if !service.session.prompt().accepts(&behind)? {
                return Err(Failure::cancelled());
            }
            return Ok(found);
        }
    }
}

/// What a read of an owner does not show, although our own calls of the last minute left it. `narrow` removes from an
/// effect what this read cannot show.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn not_shown(
    service: &Service<'_>,
    owner: &Owner,
    document: &Map<String, Value>,
    narrow: impl Fn(&mut Effect),
) -> Result<Vec<String>, Failure> {
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(Vec::new()) };
    let of_service = service.settings.service_id().to_string();
    let mut recent: Vec<Effect> = log.recent_effects(&of_service, owner)?;
    recent.iter_mut().for_each(narrow);
    let applied = |effect| OwnCall { effect, extent: Extent::Whole, was_seen: false };
    Ok(effect::not_shown(&recent.iter().map(applied).collect::<Vec<_>>(), None, document))
}

/// The refusal to change a thing by a read that does not show what our own calls left.
fn lags_behind(noun: &str, look: HintCommand, missing: &[String]) -> Failure {
    let message =
        format!("the service shows an older {noun} than the last change left: {}", missing.join(", "));
    Failure::guard(message).hint(hint!(
        "check it with ",
        look,
        ", and try again in a minute: a replica may be behind, or somebody undid that change"
    ))
}
