//! The operation of a plan that undoes a batch. A record is one owner, with the IDs of what was written to it: what leads back is read
//! under its lock right before each call, and has to be what the plan showed.

use serde_json::{Map, Value};

use super::back::Agreed;
use super::found::{Found, find, name};
use super::owners::{self, Read};
use super::undo;
use crate::client::service::Service;
use crate::input::{Draft, Overrides, Written};
use crate::journal::Ahead;
use crate::log::Write;
use crate::ops::{Operation, Resolved, Run};
use crate::report::outcome::Outcome;
use storefront_core::check::body::Warnings;
use storefront_core::effect::{Kind, composed};
use storefront_core::failure::Failure;
use storefront_core::interface::request::{Bearer, Dialect};
use storefront_core::operation::{
    OperationSpec, UNDO, UNDO_BY_ADMIN, UNDO_DELETED, UNDO_DELETES, UNDO_OWNER, scalar,
};

/// The field of the IDs.
const WRITES: &str = "writes";

/// Takes back what the records of a batch wrote.
#[derive(Debug, Clone, Copy)]
pub struct UndoPlan(&'static OperationSpec);

impl UndoPlan {
    /// That of writes which carried this token.
    pub fn of(bearer: Bearer) -> Self {
        Self(match bearer {
            Bearer::Customer => &UNDO,
            Bearer::Admin => &UNDO_BY_ADMIN,
        })
    }

    /// That of a plan whose first record is this.
    pub fn of_record(input: &Map<String, Value>) -> Self {
        let is_cart = scalar(input.get(UNDO_OWNER)).is_some_and(|owner| owner.starts_with(Kind::Cart.noun()));
        Self::of(if is_cart { Bearer::Customer } else { Bearer::Admin })
    }
}

/// The record of a plan that takes these writes back.
pub fn record(writes: &[&Write], shown: &undo::Shown) -> Map<String, Value> {
    let mut ids: Vec<Value> = writes.iter().map(|write| name(write.run, write.record).into()).collect();
    ids.dedup();
    let owner = writes.last().map(|write| write.owner_in_words());
    let mut record = Map::from_iter([
        (UNDO_OWNER.to_owned(), owner.into()),
        (WRITES.to_owned(), ids.into()),
        (UNDO_DELETES.to_owned(), shown.deletes.into()),
    ]);
    if let Some(deleted) = &shown.deleted {
        record.insert(UNDO_DELETED.to_owned(), deleted.as_str().into());
    }
    record
}

/// The writes of a record of a plan.
fn found(service: &Service<'_>, draft: &Draft) -> Result<Found, Failure> {
    let owner = scalar(draft.fields.get(UNDO_OWNER)).unwrap_or_default();
    let ids = draft.fields.get(WRITES).and_then(Value::as_array).into_iter().flatten();
    let mut all: Option<Found> = None;
    for id in ids.filter_map(Value::as_str) {
        let mut one = find(service, Some(id), None)?;
        one.writes.retain(|write| write.owner_in_words() == owner);
        match &mut all {
            Some(all) => {
                all.record = None;
                all.writes.extend(one.writes);
            }
            None => all = Some(one),
        }
    }
    all.ok_or_else(|| Failure::guard("the record names no write").for_good())
}

impl Operation for UndoPlan {
    fn spec(&self) -> &'static OperationSpec {
        self.0
    }

    fn apply(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }

    fn lint(&self, _: &Draft) -> Result<Warnings, Failure> {
        Ok(Warnings::default())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> Run<'a> {
        Box::pin(async {
            let found = found(service, draft)?;
            let planned = draft.expect.as_ref().map_or(&[][..], |expect| &expect.changes);
            undo::of_subject(service, &found, Agreed::Planned(planned)).await
        })
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(async {
            let Some(whole) = composed(&ahead.effects) else { return Ok(None) };
            let found = found(service, draft)?;
            let Some(write) = found.writes.last() else { return Ok(None) };
            let service = owners::of_customer(service, write)?;
            let Read::Shown(document) = owners::read(&service, &whole).await? else { return Ok(None) };
            let is_shown = ahead.effects.iter().all(|effect| effect.look(&document).is_proof());
            Ok(is_shown.then(|| Outcome::seen_earlier(self.0.name)))
        })
    }

    /// It is made by the program.
    fn checked(&self, _: &Dialect, written: Written, _: Overrides<'_>, _: bool) -> Result<Draft, Failure> {
        let Some(Value::Object(fields)) = written.document else {
            return Err(Failure::usage("the record of an undo is an object"));
        };
        Ok(Draft::unchecked(self.0, fields))
    }
}
