//! Takes back changes to an attribute: options that were added, its default option, or the whole attribute. A call leaves
//! only if the attribute, read right before it, is as it was left, and no product has a value of what is deleted.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::names::{path, store_views};
use super::options::Locked;
use super::{by_id, is_absent, read_all, read_whole};
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::ops::basis;
use crate::ops::calls::{Calls, Planned};
use crate::ops::product::count::why_used;
use crate::write::owner::{self, Owner};
use crate::write::{Call, Written};
use storefront_core::attribute::view::{Attribute, NewOption};
use storefront_core::attribute::{DEFAULT, Named};
use storefront_core::effect::{Before, Change, Created, Effect, Kept, Kind, Sent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, storefront};
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::operation::scalar;
use storefront_core::profile::equal::same_value;
use storefront_core::profile::path::{FieldPath, List};

/// One step back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The former default option becomes the default again.
    Default {
        /// The id of the former default option.
        former: String,
    },
    /// An option that was added is deleted.
    Option {
        /// Its id.
        id: i64,
        /// Its label.
        label: String,
    },
    /// The attribute is deleted.
    Attribute,
}

/// The way back from what is shown now.
#[derive(Debug, Default)]
pub struct Steps {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What each step changes.
    pub effect: Vec<Effect>,
    /// What is left, in words.
    pub left: Vec<String>,
}

/// An attribute that was changed by an earlier call.
pub struct Made<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// What was changed.
    pub whole: Effect,
    /// The code by which it is known.
    pub code: String,
}

/// The options as they are shown now.
struct Shown {
    options: Vec<(i64, Map<String, Value>)>,
    /// The store views, whose codes the labels have.
    views: Rc<Vec<Named>>,
}

impl Shown {
    /// Whether the option with this id is there with the labels that it was created with.
    fn has(&self, id: i64, made: &Value) -> bool {
        let view = |code: &str| Some(self.views.iter().find(|view| view.name == code)?.id.clone());
        let option = self.options.iter().find(|(own, _)| *own == id);
        option
            .zip(made.as_object())
            .is_some_and(|((_, option), made)| NewOption(option).has_labels_of(made, view))
    }
}

/// Reads an attribute until it shows what our own calls left, with its code; `None` if it is gone.
///
/// # Errors
/// As [`basis::read`].
pub async fn as_left(
    service: &Service<'_>,
    whole: &Effect,
) -> Result<Option<(String, Map<String, Value>)>, Failure> {
    let owner = &whole.owner;
    let nothing = Map::new();
    let id = owner.id.as_deref().unwrap_or_default();
    // Only the sets that the effect names are read.
    let is_read = |change: &Change| {
        List::of(&change.path) != Some(List::Sets) || whole.changes.iter().any(|own| own.path == change.path)
    };
    let look = storefront("attribute list");
    basis::read(
        service,
        owner.kind.noun(),
        look,
        async || by_id(service, id, whole).await,
        |found| {
            let document = found.as_ref().map_or(&nothing, |(_, document)| document);
            basis::not_shown(service, owner, document, |effect| effect.changes.retain(is_read))
        },
    )
    .await
}

/// Whether calls created the attribute itself.
pub fn is_new(whole: &Effect) -> bool {
    whole.changes.iter().any(|change| change.path.is_code() && change.before == Before::Read(None))
}

impl Made<'_> {
    /// The way back, from new reads.
    ///
    /// # Errors
    /// As [`Service::read`].
    pub async fn steps(&self) -> Result<Steps, Failure> {
        let Some((code, now)) = as_left(self.service, &self.whole).await? else {
            let gone = (!is_new(&self.whole)).then(|| format!("{} is gone", self.whole.owner));
            return Ok(Steps { left: gone.into_iter().collect(), ..Steps::default() });
        };
        let mut steps = Steps::default();
        if code != self.code {
            steps.left.push(format!("{} has another code now", self.whole.owner));
        } else if is_new(&self.whole) {
            self.of_attribute(&now, &mut steps).await?;
        } else {
            self.of_options(&now, &mut steps).await?;
        }
        Ok(steps)
    }

    /// Deletes the whole attribute if it is as it was created.
    async fn of_attribute(&self, now: &Map<String, Value>, steps: &mut Steps) -> Result<(), Failure> {
        let code = &*self.code;
        let why = if self.is_as_made(now).await? {
            why_used(self.service, code, None).await?
        } else {
            Some("it has changed since".to_owned())
        };
        if let Some(why) = why {
            steps.left.push(format!("attribute {code} stays: {why}"));
        } else {
            steps.effect.push(self.removal(now));
            steps.steps.push(Step::Attribute);
        }
        Ok(())
    }

    /// Whether each field, each option and its labels are as the answer to its creation had them.
    async fn is_as_made(&self, now: &Map<String, Value>) -> Result<bool, Failure> {
        let (options, fields): (Vec<&Kept>, Vec<&Kept>) =
            self.whole.keeps.iter().partition(|kept| List::of(&kept.path) == Some(List::Options));
        let is_same = |kept: &&Kept| {
            let name = kept.path.last_name();
            same_value(name, now.get(name), Some(&kept.content))
        };
        if fields.is_empty() || !fields.iter().all(is_same) {
            return Ok(false);
        }
        let shown = self.options_with_labels().await?;
        let is_there = |kept: &&Kept| kept.path.element_id().is_some_and(|id| shown.has(id, &kept.content));
        Ok(shown.options.len() == options.len() && options.iter().all(is_there))
    }

    /// Restores the default option, and deletes options that were added.
    async fn of_options(&self, now: &Map<String, Value>, steps: &mut Steps) -> Result<(), Failure> {
        let inverse = self.whole.inverse(now);
        steps.left.extend(inverse.left.iter().map(|left| match List::of(&left.path) {
            Some(List::Sets) => STAYS_IN_SET.to_owned(),
            _ => left.to_string(),
        }));
        let mut default = scalar(now.get(DEFAULT));
        for change in &inverse.effect.changes {
            match List::of(&change.path) {
                Some(List::Sets) => steps.left.push(STAYS_IN_SET.to_owned()),
                Some(_) => {}
                None => match former(change, now) {
                    Ok(former) => {
                        default = Some(former.clone());
                        steps.effect.push(alone(&self.whole, change.clone()));
                        steps.steps.push(Step::Default { former });
                    }
                    Err(why) => steps.left.push(why),
                },
            }
        }
        // Only a person adds an option again that an undo has deleted.
        let again = inverse.effect.creates.iter().filter_map(|created| scalar(created.content.get("label")));
        steps.left.extend(again.map(|label| format!("option {label} is not added again")));
        let deleted =
            inverse.effect.changes.iter().filter(|change| List::of(&change.path) == Some(List::Options));
        let deleted: Vec<&Change> = deleted.collect();
        if deleted.is_empty() {
            return Ok(());
        }
        let shown = self.options_with_labels().await?;
        for change in deleted {
            let Some(id) = change.path.element_id() else { continue };
            let Some(created) = self.whole.creates.iter().find(|created| created.id == Some(id)) else {
                continue;
            };
            let label = scalar(created.content.get("label")).unwrap_or_default();
            if let Some(why) = self.why_stays(created, id, default.as_deref(), &shown).await? {
                steps.left.push(format!("option {label} stays: {why}"));
            } else {
                steps.effect.push(alone(&self.whole, change.clone()));
                steps.steps.push(Step::Option { id, label });
            }
        }
        Ok(())
    }

    /// Why an option that was added is not deleted.
    async fn why_stays(
        &self,
        created: &Created,
        id: i64,
        default: Option<&str>,
        shown: &Shown,
    ) -> Result<Option<String>, Failure> {
        if !shown.has(id, &created.content) {
            return Ok(Some("its labels have changed since".to_owned()));
        }
        let id = id.to_string();
        if default == Some(&id) {
            return Ok(Some("it is the default option".to_owned()));
        }
        why_used(self.service, &self.code, Some(&id)).await
    }

    /// The options with the labels of store views.
    async fn options_with_labels(&self) -> Result<Shown, Failure> {
        let whole = read_whole(self.service, &self.code).await?;
        let options = whole.get("options").and_then(Value::as_array).into_iter().flatten();
        let option = |option: &Value| Some((List::Options.id_of(option)?, option.as_object()?.clone()));
        let views = store_views(self.service).await?;
        Ok(Shown { options: options.filter_map(option).collect(), views })
    }

    /// What deleting the attribute changes.
    fn removal(&self, now: &Map<String, Value>) -> Effect {
        let change = Change {
            path: FieldPath::default().member("attribute_code"),
            before: Before::Read(now.get("attribute_code").cloned()),
            sent: Sent::Value(None),
            seen: None,
        };
        alone(&self.whole, change)
    }

    /// The call of a step, to be shown.
    ///
    /// # Errors
    /// `usage` where the interface has none; as [`Service::read`].
    pub async fn planned(&self, step: &Step) -> Result<Planned, Failure> {
        Ok(match step {
            Step::Attribute => (step.name(), self.delete("", "")?),
            Step::Option { id, .. } => (step.name(), self.delete("/options/{option}", &id.to_string())?),
            Step::Default { former } => {
                let locked = Locked::under_lock(self.service, &self.code).await?;
                let (name, request) = locked.back_to(former)?;
                (name, request)
            }
        })
    }

    fn delete(&self, below: &str, option: &str) -> Result<Request, Failure> {
        let template = format!("/all/V1/products/attributes/{{code}}{below}");
        let path = path(self.service, &template, &[("code", &self.code), ("option", option)])?;
        Ok(Request::delete(path, Bearer::Admin))
    }

    /// Sends a step.
    ///
    /// # Errors
    /// As [`Calls::carry_out`].
    pub async fn send(&self, step: &Step, calls: &mut Calls<'_>) -> Result<Written, Failure> {
        match step {
            Step::Attribute => {
                let Some(now) =
                    by_id(self.service, self.whole.owner.id.as_deref().unwrap_or_default(), &self.whole)
                        .await?
                else {
                    return Err(Failure::guard(format!("{} is gone", self.whole.owner)).for_good());
                };
                let owner =
                    Removed { service: self.service, code: &self.code, id: self.whole.owner.id.clone() };
                let call = Call::new(step.name(), self.delete("", "")?, self.removal(&now.1));
                calls.carry_out(&owner, call).await
            }
            Step::Option { id, .. } => {
                let locked = Locked::under_lock(self.service, &self.code).await?;
                let owner = locked.owner()?;
                let request = self.delete("/options/{option}", &id.to_string())?;
                calls.carry_out(&owner, Call::new(step.name(), request, owner.removal(*id))).await
            }
            Step::Default { former } => {
                let locked = Locked::under_lock(self.service, &self.code).await?;
                locked.set_back(former, calls).await
            }
        }
    }
}

impl Step {
    fn name(&self) -> String {
        match self {
            Self::Default { former } => format!("set the default {former}"),
            Self::Option { label, .. } => format!("delete {label}"),
            Self::Attribute => "delete the attribute".to_owned(),
        }
    }

    /// Whether it deletes something.
    pub const fn deletes(&self) -> bool {
        !matches!(self, Self::Default { .. })
    }
}

/// Why an attribute is not taken out of a set.
const STAYS_IN_SET: &str =
    "the attribute stays in its set: to take it out deletes the values of the products of the set";

/// The default option that is set again, if it is still there.
fn former(change: &Change, now: &Map<String, Value>) -> Result<String, String> {
    let Sent::Value(former) = &change.sent else { return Err("the default option is not known".to_owned()) };
    let Some(former) = scalar(former.as_ref()).filter(|id| !id.is_empty()) else {
        return Err("there was no default option before, and no call leaves none".to_owned());
    };
    let options = now.get(List::Options.name()).and_then(Value::as_array).into_iter().flatten();
    let is_there = options.into_iter().any(|option| scalar(option.get("value")).as_ref() == Some(&former));
    if is_there { Ok(former) } else { Err(format!("the former default option {former} is gone")) }
}

fn alone(whole: &Effect, change: Change) -> Effect {
    Effect { changes: vec![change], ..Effect::on(whole.owner.clone()) }
}

/// An attribute that is deleted.
struct Removed<'a> {
    service: &'a Service<'a>,
    code: &'a str,
    id: Option<String>,
}

impl Owner for Removed<'_> {
    /// Another attribute with the same code is not this one.
    fn read(&self) -> LocalBoxFuture<'_, Result<owner::Shown, Failure>> {
        Box::pin(async {
            match self.service.read(&read_all(self.service, self.code)?).await {
                Ok(reply) => {
                    match Attribute::shown(&reply.value) {
                        Some(shown) if shown.id().map(|id| id.to_string()) == self.id => {
                            Ok(owner::Shown::Whole(shown.0.clone()))
                        }
                        Some(_) => Ok(owner::Shown::Whole(Map::new())),
                        None => Err(Failure::unexpected_reply("unexpected response: not an attribute")
                            .hint(LOOK_CLOSER)),
                    }
                }
                Err(failure) if is_absent(&failure) => Ok(owner::Shown::Whole(Map::new())),
                Err(failure) => Err(failure),
            }
        })
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Attribute.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("attribute show").arg(self.code).into()
    }
}
