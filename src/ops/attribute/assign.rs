//! Putting an attribute into attribute sets: products can have it only there.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value, json};

use super::names::{AttributeGroup, find_groups, path};
use super::{catalog, read_existing};
use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::found_in_part;
use crate::report::outcome::Outcome;
use crate::write::owner::{Owner, Shown};
use crate::write::{self, Call};
use storefront_core::attribute::view::Attribute;
use storefront_core::effect::{self, Before, Change, Kind, Sent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::interface::request::{Bearer, Filter, Request};
use storefront_core::operation::{ATTRIBUTE_ASSIGN, Success};
use storefront_core::profile::path::List;
use storefront_core::text::exact_json;

/// A place of an attribute in a set, as an owner of a write. Neither the attribute nor the set shows the group: a search
/// tells whether the attribute is there, by the group if one was named, else by the set.
pub(super) struct Place<'a> {
    service: &'a Service<'a>,
    code: &'a str,
    owner: effect::Owner,
    group: AttributeGroup,
}

impl<'a> Place<'a> {
    /// The places of these groups for an attribute, which has its id where it exists.
    pub(super) fn all(
        service: &'a Service<'a>,
        code: &'a str,
        id: Option<u64>,
        groups: Vec<AttributeGroup>,
    ) -> Vec<Self> {
        let owner =
            effect::Owner { id: id.map(|id| id.to_string()), ..effect::Owner::to_be_made(Kind::Attribute) };
        groups.into_iter().map(|group| Self { service, code, owner: owner.clone(), group }).collect()
    }

    /// The place as people name it: `Default/Content`, or the set alone.
    pub(super) fn name(&self) -> &str {
        &self.group.name
    }

    fn call_name(&self) -> String {
        format!("{ASSIGN}{}", self.group.name)
    }

    /// Whether the attribute is there.
    ///
    /// # Errors
    /// As [`Service::read`].
    pub(super) async fn has_attribute(&self) -> Result<bool, Failure> {
        let place = if self.group.names_group {
            Filter::equal(&["attribute_group_id"], &self.group.id)
        } else {
            Filter::equal(&["attribute_set_id"], &self.group.set)
        };
        let codes = BTreeSet::from([self.code]);
        let filters: Vec<Filter> = catalog::only(&codes).into_iter().chain([place]).collect();
        Ok(!catalog::members(self.service, &filters, &codes).await?.is_empty())
    }

    /// What the service shows if the attribute is there.
    fn shown(&self) -> Value {
        exact_json::object([
            (List::Sets.id_field(), id(&self.group.set)),
            ("name", self.group.name.as_str().into()),
        ])
    }

    /// What the call changes: the attribute was not there.
    fn effect(&self) -> effect::Effect {
        let change = Change {
            path: List::Sets.element(self.group.set.parse().unwrap_or_default()),
            before: Before::Read(None),
            sent: Sent::Value(Some(self.shown())),
            seen: None,
        };
        effect::Effect { changes: vec![change], ..effect::Effect::on(self.owner.clone()) }
    }

    fn planned(&self) -> Result<Planned, Failure> {
        let path = path(self.service, "/{store_view}/V1/products/attribute-sets/attributes", &[])?;
        let body = json!({"attributeSetId": id(&self.group.set), "attributeGroupId": id(&self.group.id),
            "attributeCode": self.code, "sortOrder": 0});
        let request = Request::post(path, body.to_string().into(), Bearer::Admin).setting_a_state();
        Ok((self.call_name(), request))
    }

    /// The call, with what it changes.
    fn call(&self) -> Result<Call, Failure> {
        let (name, request) = self.planned()?;
        Ok(Call::new(name, request, self.effect()))
    }
}

/// An id as a number, if it is one.
fn id(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}

impl Owner for Place<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            let sets: Value = self.has_attribute().await?.then(|| self.shown()).into_iter().collect();
            let document: Map<String, Value> = [(List::Sets.name().to_owned(), sets)].into_iter().collect();
            Ok(Shown::Part(document))
        })
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Attribute.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("attribute list").arg(self.code).into()
    }
}

/// Puts an existing attribute into sets, or shows the calls. If it is there already, nothing is sent. An assignment can
/// be repeated.
///
/// # Errors
/// As [`write::send_and_look`]; `usage` for names that the shop does not have; `partial` where a later call was refused.
pub async fn assign(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let asked = Attribute(&draft.fields);
    let code = asked.code();
    let groups = find_groups(service, &asked.set_names()).await?;
    let id = Attribute(&read_existing(service, code).await?).id();
    let mut calls = Calls::new(service, ATTRIBUTE_ASSIGN.name);
    let mut left = Vec::new();
    for place in Place::all(service, code, id, groups) {
        if place.has_attribute().await? {
            calls.skip(place.call_name(), "already there");
        } else {
            left.push(place);
        }
    }
    if service.session.global.dry_run {
        return Ok(preview(service, ATTRIBUTE_ASSIGN.name, planned(&left)?));
    }
    let outcome = send(service, calls, code, &left).await?;
    let count = left.len();
    let text = format!("Put {code} into {count} attribute {}", if count == 1 { "set" } else { "sets" });
    let unchanged = Some(format!("`{code}` is in the attribute sets already"));
    Ok(Outcome { success: Some(Success { text, covers_response: true }), unchanged, ..outcome })
}

/// The calls, to be shown.
pub(super) fn planned(places: &[Place<'_>]) -> Result<Vec<Planned>, Failure> {
    places.iter().map(Place::planned).collect()
}

/// Sends the assignments; each is sent again after an unknown outcome.
///
/// # Errors
/// As [`write::send_and_look`]; `partial` if an earlier call was applied.
pub(super) async fn send(
    service: &Service<'_>,
    mut calls: Calls<'_>,
    code: &str,
    places: &[Place<'_>],
) -> Result<Outcome, Failure> {
    let planned = planned(places)?;
    let mut to_send = places.iter().map(Place::call).collect::<Result<Vec<Call>, Failure>>()?;
    if !to_send.is_empty()
        && let Err(failure) = write::gate(service, calls.operation, &mut to_send, None).await
    {
        // The attribute may just have been created.
        let again = places.first().map(|place| again(code, place));
        return Err(calls.failed(failure, &planned, again));
    }
    // These are the last ones.
    service.stage.set_in_part(false);
    let mut is_verified = true;
    for (place, call) in places.iter().zip(to_send) {
        match calls.carry_out(place, call).await {
            Ok(written) => is_verified &= written.verified,
            Err(failure) => {
                return Err(calls.failed(failure, &planned, Some(again(code, place))));
            }
        }
    }
    Ok(Outcome { verified: (!places.is_empty()).then_some(is_verified), ..calls.finish() })
}

/// The command that puts an attribute into a set.
fn again(code: &str, place: &Place<'_>) -> Hint {
    hint!(storefront("attribute assign").arg(code).arg("--set").arg(place.name()), " is safe to repeat")
}

/// The places of a record that lack its attribute; `None` if they cannot be read.
pub(super) async fn missing(service: &Service<'_>, asked: Attribute<'_>) -> Option<Vec<String>> {
    let groups = find_groups(service, &asked.set_names()).await.ok()?;
    let mut missing = Vec::new();
    for place in Place::all(service, asked.code(), None, groups) {
        if !place.has_attribute().await.ok()? {
            missing.push(place.group.name);
        }
    }
    Some(missing)
}

/// Whether an attribute is in the sets that a record of an earlier run names; `None` while that is unknown.
///
/// # Errors
/// [`found_in_part`] if it is in some of them.
pub async fn resolve_unknown(service: &Service<'_>, draft: &Draft) -> Result<Option<Outcome>, Failure> {
    let asked = Attribute(&draft.fields);
    let Some(missing) = missing(service, asked).await else { return Ok(None) };
    if missing.is_empty() {
        return Ok(Some(Outcome::seen_earlier(ATTRIBUTE_ASSIGN.name)));
    }
    if missing.len() == asked.set_names().len() {
        return Ok(None);
    }
    Err(found_in_part(format!("the attribute is not in {}", missing.join(", "))))
}

/// The beginning of the name of a call.
const ASSIGN: &str = "assign ";
