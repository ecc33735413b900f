//! An attribute with its options: what was made of it is taken back where nothing is lost by that.

use super::back::{Allowed, Back, Deleted, OPERATION, Undoing, ensure_known, nothing, take_back};
use super::found::Found;
use crate::client::service::Service;
use crate::ops::attribute::by_id;
use crate::ops::attribute::removal::{Made, Step, Steps};
use crate::ops::calls::{Calls, preview};
use crate::report::outcome::Outcome;
use crate::state::LockName;
use storefront_core::effect::{Effect, composed};
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};

/// What no call shows of a value that is deleted.
const UNSEEN: &str = "no call shows whether price rules or configurable products use it";

/// Deletes the options that were added, or the attribute that was created, and sets the default option back: whatever is still as
/// it was written, and of which no product has a value. Assignments are left.
///
/// # Errors
/// `guard` where nothing can be undone, and without the number of what is deleted; `partial` where a part is left; as the calls.
pub async fn undo(service: &Service<'_>, found: &Found, allowed: Allowed) -> Result<Outcome, Failure> {
    let name = found.name();
    ensure_known(found)?;
    let whole = composed(&found.effects()).ok_or_else(|| nothing(&name, &[]))?;
    let gone = || nothing(&name, &[format!("{} is gone", whole.owner)]);
    let id = whole.owner.id.as_deref().ok_or_else(gone)?;
    let (code, _) = by_id(service, id, &Effect::on(whole.owner.clone())).await?.ok_or_else(gone)?;
    let made = Made { service, whole: &whole, code: &code };
    let undoing = Undoing { name: &name, allowed };
    take_back(service, undoing, &LockName::attribute(&code), async || plan(&made).await).await
}

async fn plan<'a>(made: &'a Made<'a>) -> Result<Result<Back<'a>, Vec<String>>, Failure> {
    let Steps { steps, effect, left } = made.steps().await?;
    if steps.is_empty() {
        return Ok(Err(left));
    }
    let mut planned = Vec::new();
    for step in &steps {
        planned.push(made.planned(step).await?);
    }
    let changes = effect.iter().flat_map(Effect::differences).collect();
    let (deleted, preview) = (deleted(made.code, &steps), preview(made.service, OPERATION, planned));
    let send = Box::pin(send(made, steps));
    Ok(Ok(Back { changes, left, warnings: Vec::new(), deleted, preview, send }))
}

/// In words what steps delete.
fn deleted(code: &str, steps: &[Step]) -> Option<Deleted> {
    let deleted: Vec<&Step> = steps.iter().filter(|step| step.deletes()).collect();
    let what = match deleted[..] {
        [] => return None,
        [Step::Option { label, .. }] => format!("option {label} of {code}"),
        [Step::Attribute] => format!("attribute {code}"),
        ref several => format!("{} options of {code}", several.len()),
    };
    Some(Deleted { count: deleted.len(), what, unseen: Some(UNSEEN) })
}

/// Sends the steps. Before each one after the first the conditions are those of then.
async fn send(made: &Made<'_>, steps: Vec<Step>) -> Result<Outcome, Failure> {
    let (mut calls, mut verified) = (Calls::new(made.service, OPERATION), true);
    for (at, step) in steps.iter().enumerate() {
        if at > 0 && !made.steps().await?.steps.contains(step) {
            let message = format!("{} has changed meanwhile", made.code);
            return Err(calls.failed(Failure::guard(message).applied(Applied::No), &[], None));
        }
        match made.send(step, &mut calls).await {
            Ok(written) => verified &= written.verified,
            Err(failure) => {
                let show = storefront("attribute show").arg(made.code);
                return Err(calls.failed(failure, &[], Some(hint!("look at it with ", show))));
            }
        }
    }
    Ok(Outcome { verified: Some(verified), ..calls.finish() })
}
