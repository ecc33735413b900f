//! The values of a product are set back.

use super::back::{Back, OPERATION, Undoing, ensure_known, nothing, take_back};
use super::found::Found;
use crate::client::service::Service;
use crate::ops::product::back;
use crate::report::outcome::Outcome;
use crate::state::LockName;
use storefront_core::effect::{Effect, composed};
use storefront_core::failure::Failure;
use storefront_core::product::folded_sku;

/// Sets the values back that are still as they were written.
///
/// # Errors
/// `guard` where nothing can be undone, and where a sale would begin; `partial` where a part is left; as the call.
pub async fn undo(service: &Service<'_>, found: &Found) -> Result<Outcome, Failure> {
    let name = found.name();
    ensure_known(found)?;
    let whole = composed(&found.effects()).ok_or_else(|| nothing(&name, &[]))?;
    let sku = back::sku(service, &whole).await?;
    let sku = sku.ok_or_else(|| nothing(&name, &[format!("{} is gone", whole.owner)]))?;
    let undoing = Undoing { name: &name, allowed: None };
    let plan = async || plan(service, &whole).await;
    take_back(service, undoing, &LockName::product(&folded_sku(&sku)), plan).await
}

async fn plan<'a>(
    service: &'a Service<'a>,
    whole: &Effect,
) -> Result<Result<Back<'a>, Vec<String>>, Failure> {
    let back = match back::back(service, whole).await? {
        Ok(back) => back,
        Err(left) => return Ok(Err(left)),
    };
    let back::Back { ready, left, notes } = back;
    let (changes, preview) = (ready.changes(), ready.preview(OPERATION));
    let send = Box::pin(ready.send(OPERATION));
    Ok(Ok(Back { changes, left, warnings: notes, deleted: None, preview, send }))
}
