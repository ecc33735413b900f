//! Takes back what was changed of an attribute and its options, if nothing is lost by that.

use futures_util::future::LocalBoxFuture;

use super::back::{Back, Deleted, OPERATION, Plan, Subject};
use crate::client::service::Service;
use crate::ops::attribute::removal::{Made, Step, Steps, as_left, is_new};
use crate::ops::calls::{Calls, preview};
use crate::report::outcome::Outcome;
use crate::state::LockName;
use storefront_core::effect::Effect;
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};

/// What no call shows of a value that is deleted.
const UNSEEN: &str = "no call shows whether price rules or configurable products use it";

/// An attribute. Its added options are deleted, or it is deleted itself, and its default option is set back, if it is
/// still as it was written and no product has a value of it. Assignments are left.
pub struct AttributeSubject<'a>(Made<'a>);

impl<'a> AttributeSubject<'a> {
    /// Finds it, or says in words that it is gone; `None` if the write created it, because then everything is as it was
    /// before.
    ///
    /// # Errors
    /// As [`as_left`].
    pub async fn find(
        service: &'a Service<'a>,
        whole: Effect,
    ) -> Result<Result<Self, Option<String>>, Failure> {
        let Some((code, _)) = as_left(service, &whole).await? else {
            return Ok(Err((!is_new(&whole)).then(|| format!("{} is gone", whole.owner))));
        };
        Ok(Ok(Self(Made { service, whole, code })))
    }
}

impl Subject for AttributeSubject<'_> {
    fn lock(&self) -> Option<LockName> {
        Some(LockName::attribute(&self.0.code))
    }

    fn plan(&self) -> LocalBoxFuture<'_, Result<Plan<'_>, Failure>> {
        Box::pin(plan(&self.0))
    }
}

async fn plan<'a>(made: &'a Made<'_>) -> Result<Plan<'a>, Failure> {
    let Steps { steps, effect, left } = made.steps().await?;
    if steps.is_empty() {
        return Ok(Err(left));
    }
    let mut planned = Vec::new();
    for step in &steps {
        planned.push(made.planned(step).await?);
    }
    let changes = effect.iter().flat_map(Effect::differences).collect();
    let deleted = deleted(&made.code, &steps);
    let preview = preview(made.service, OPERATION, planned);
    let send = Box::pin(send(made, steps));
    Ok(Ok(Back { changes, left, warnings: Vec::new(), deleted, preview, send }))
}

/// What the steps delete, in words.
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

/// Sends the steps. The conditions are checked again before each one after the first.
async fn send(made: &Made<'_>, steps: Vec<Step>) -> Result<Outcome, Failure> {
    let mut calls = Calls::new(made.service, OPERATION);
    let mut verified = true;
    for (at, step) in steps.iter().enumerate() {
        if at > 0 && !made.steps().await?.steps.contains(step) {
            let message = format!("{} has changed meanwhile", made.code);
            return Err(calls.failed(Failure::guard(message).applied(Applied::No), &[], None));
        }
        match made.send(step, &mut calls).await {
            Ok(written) => verified &= written.verified,
            Err(failure) => {
                let show = storefront("attribute show").arg(&made.code);
                return Err(calls.failed(failure, &[], Some(hint!("look at it with ", show))));
            }
        }
    }
    Ok(Outcome { verified: Some(verified), ..calls.finish() })
}
