//! An attribute that a call creates, as an owner of a write: it is known by its code until an answer has its id.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::is_absent;
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::write::owner::{Owner, Shown};
use storefront_core::attribute::view::Attribute;
use storefront_core::effect::{self, Before, Change, Effect, Kind, Look, Sent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, storefront};
use storefront_core::interface::request::Request;
use storefront_core::profile::path::FieldPath;

/// An attribute that does not exist yet.
pub(super) struct Creation<'a> {
    pub(super) service: &'a Service<'a>,
    /// What is asked for.
    pub(super) asked: Attribute<'a>,
    /// The request that reads it, if there is one.
    pub(super) read: Option<&'a Request>,
}

impl Creation<'_> {
    /// What the call makes: an attribute with this code, which did not exist.
    pub(super) fn effect(&self) -> Effect {
        let change = Change {
            path: FieldPath::default().member("attribute_code"),
            before: Before::Read(None),
            sent: Sent::Value(Some(self.asked.code().into())),
            seen: None,
        };
        Effect { changes: vec![change], ..Effect::on(effect::Owner::to_be_made(Kind::Attribute)) }
    }
}

impl Owner for Creation<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            let read = self.read.ok_or_else(|| Failure::unexpected_reply("no call reads the attribute"))?;
            match self.service.read(read).await {
                Ok(reply) => {
                    match Attribute::shown(&reply.value) {
                        Some(shown) => Ok(Shown::Whole(shown.0.clone())),
                        None => Err(Failure::unexpected_reply("unexpected response: not an attribute")
                            .hint(LOOK_CLOSER)),
                    }
                }
                // It does not exist, as before.
                Err(failure) if is_absent(&failure) => Ok(Shown::Whole(Map::new())),
                Err(failure) => Err(failure),
            }
        })
    }

    /// The attribute counts as created if it is as it was asked for; the shop completes what was left out.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let look = effect.look(shown);
        if look.after == 0 || Attribute(shown).is_as(self.asked) {
            return look;
        }
        let third = effect.differences().into_iter().map(|change| effect::Third {
            path: change.path,
            written: None,
            now: Some("another attribute of this code".into()),
        });
        Look { after: 0, third: third.collect(), ..look }
    }

    fn is_readable(&self) -> bool {
        self.read.is_some()
    }

    fn note_ids(&self, effect: &mut Effect, shown: &Value) {
        let Some(created) = Attribute::in_reply(shown) else { return };
        let Some(id) = created.id() else { return };
        effect.owner.id = Some(id.to_string());
        effect.keeps = created.as_made(self.asked);
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Attribute.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("attribute show").arg(self.asked.code()).into()
    }
}
