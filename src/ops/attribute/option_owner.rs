//! The options of an attribute and its default option, as an owner of a write.

use std::cell::RefCell;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::is_absent;
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::write::owner::{Owner, Shown};
use storefront_core::attribute::view::{Attribute, NewOption};
use storefront_core::attribute::{DEFAULT, StoredOptions};
use storefront_core::effect::{self, Before, Change, Created, Effect, Kept, Kind, Look, Sent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, storefront};
use storefront_core::id::integer;
use storefront_core::interface::request::Request;
use storefront_core::profile::path::{FieldPath, List};

/// An attribute whose options were read.
pub(super) struct OptionOwner<'a> {
    service: &'a Service<'a>,
    code: &'a str,
    read: Request,
    before: StoredOptions,
    /// What the last read showed.
    last: RefCell<Option<StoredOptions>>,
}

impl<'a> OptionOwner<'a> {
    /// The attribute with these options, and the request that reads it.
    pub(super) fn new(service: &'a Service<'a>, code: &'a str, read: Request, before: StoredOptions) -> Self {
        Self { service, code, read, before, last: RefCell::default() }
    }

    /// What the last look at it showed.
    pub(super) fn last(&self) -> Option<StoredOptions> {
        self.last.borrow().clone()
    }

    /// An effect on it that changes nothing and keeps all of its options.
    pub(super) fn unchanged(&self) -> Effect {
        let id = self.before.id();
        let owner = effect::Owner { id, ..effect::Owner::to_be_made(Kind::Attribute) };
        let document = self.before.document();
        let options = effect::Document(&document).elements(List::Options);
        let keeps =
            options.map(|(id, option)| Kept { path: List::Options.element(id), content: option.clone() });
        Effect { keeps: keeps.collect(), ..Effect::on(owner) }
    }

    /// What adding an option changes. The first of several also loses the attribute's default option.
    pub(super) fn addition(&self, option: NewOption<'_>, is_first: bool) -> Effect {
        let effect = self.unchanged();
        let known = effect.keeps.iter().filter_map(|kept| kept.path.element_id()).collect();
        let content = Value::Object(option.content());
        let created = Created { list: List::Options, content, known, id: None, seen: None };
        let lost = self.before.default.as_ref().filter(|_| is_first);
        let changes = lost.map(|lost| default_change(Some(lost), None)).into_iter().collect();
        Effect { changes, creates: vec![created], ..effect }
    }

    /// What deleting an option changes; the default option stays.
    pub(super) fn removal(&self, option: i64) -> Effect {
        let mut effect = self.unchanged();
        let path = List::Options.element(option);
        let at = effect.keeps.iter().position(|kept| kept.path == path);
        let before = Before::Read(at.map(|at| effect.keeps.remove(at).content));
        let default = self.before.default.as_ref();
        effect.keeps.extend(default.map(|default| Kept {
            path: FieldPath::default().member(DEFAULT),
            content: default.as_str().into(),
        }));
        effect.changes.push(Change { path, before, sent: Sent::Value(None), seen: None });
        effect
    }

    /// What setting the default option changes; `before` is the one that is replaced.
    pub(super) fn new_default(&self, before: Option<&String>, option: &str) -> Effect {
        Effect { changes: vec![default_change(before, Some(option))], ..self.unchanged() }
    }
}

fn default_change(before: Option<&String>, after: Option<&str>) -> Change {
    Change {
        path: FieldPath::default().member(DEFAULT),
        before: Before::Read(before.map(|id| id.as_str().into())),
        sent: Sent::Value(after.map(Value::from)),
        seen: None,
    }
}

impl Owner for OptionOwner<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            let shown = match self.service.read(&self.read).await {
                Ok(reply) => reply.value,
                Err(failure) if is_absent(&failure) => {
                    return Ok(Shown::Gone(format!("the attribute `{}` is not there any more", self.code)));
                }
                Err(failure) => return Err(failure),
            };
            let Some(attribute) = Attribute::shown(&shown) else {
                let message = "unexpected response: not an attribute";
                return Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER));
            };
            let options = StoredOptions::of(attribute)?;
            if options.id() != self.before.id() {
                return Ok(Shown::Gone(format!("`{}` is another attribute now", self.code)));
            }
            let document = options.document();
            self.last.replace(Some(options));
            Ok(Shown::Whole(document))
        })
    }

    /// The loss of the default option by an addition was not asked for, and is not looked for.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let mut asked = effect.clone();
        asked.changes.retain(|change| change.path.is_element() || change.sent != Sent::Value(None));
        asked.look(shown)
    }

    /// The answer to an addition is its id.
    fn note_ids(&self, effect: &mut Effect, shown: &Value) {
        if let ([created], Some(id)) = (&mut effect.creates[..], integer(shown)) {
            created.id = created.id.or(Some(id).filter(|id| !created.known.contains(id)));
        }
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
