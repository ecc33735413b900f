//! The operation of a plan that undoes a batch. A record is one owner with the ids of its writes. The way back is read
//! under the owner's lock right before each call, and must be what the plan showed.

use serde_json::{Map, Value};

use super::back::Shown;
use super::found::{Found, find};
use super::owners::{self, Read};
use super::undo;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::input::{Draft, Overrides, RawInput};
use crate::journal::Ahead;
use crate::log::Write;
use crate::ops::profile::earlier;
use crate::ops::{Operation, Resolved, RunFuture, seen_earlier};
use storefront_core::check::body::Warnings;
use storefront_core::effect::{Kind, composed};
use storefront_core::failure::Failure;
use storefront_core::interface::request::Dialect;
use storefront_core::operation::{
    OperationSpec, UNDO, UNDO_BY_ADMIN, UNDO_DELETED, UNDO_DELETES, UNDO_OWNER, scalar,
};
use storefront_core::profile::diff::PlannedUndo;

/// The field with the ids.
const WRITES: &str = "writes";

/// The field with what is not taken back, in words.
const LEFT: &str = "left";

/// Takes back what the records of a batch wrote.
#[derive(Debug, Clone)]
pub struct UndoPlan {
    spec: &'static OperationSpec,
    replacement: ReplacementArgs,
}

impl UndoPlan {
    /// The operation of a plan with this first record. What customers may change themselves is changed with their token.
    pub fn of(first: Option<&Map<String, Value>>, replacement: ReplacementArgs) -> Self {
        let is_customers =
            first.is_some_and(|input| is_to(input, Kind::Cart) || is_to(input, Kind::Customer));
        Self { spec: if is_customers { &UNDO } else { &UNDO_BY_ADMIN }, replacement }
    }
}

/// Whether a record is of a thing of this kind.
pub fn is_to(input: &Map<String, Value>, kind: Kind) -> bool {
    scalar(input.get(UNDO_OWNER)).is_some_and(|owner| owner.starts_with(kind.noun()))
}

/// The record of a plan that takes these writes back.
pub fn record(writes: &[&Write], shown: &Shown) -> Map<String, Value> {
    let mut ids: Vec<Value> = writes.iter().map(|write| write.run.name(write.record).into()).collect();
    ids.dedup();
    let owner = writes.last().map(|write| write.owner_in_words());
    let mut record = Map::from_iter([
        (UNDO_OWNER.to_owned(), owner.into()),
        (WRITES.to_owned(), ids.into()),
        (UNDO_DELETES.to_owned(), shown.deletes.into()),
    ]);
    if !shown.left.is_empty() {
        record.insert(LEFT.to_owned(), shown.left.clone().into());
    }
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
        self.spec
    }

    fn apply(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }

    fn lint(&self, _: &Draft) -> Result<Warnings, Failure> {
        Ok(Warnings::default())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async {
            let found = found(service, draft)?;
            let changes = draft.expect.as_ref().map_or(&[][..], |expect| &expect.changes);
            let left = draft.fields.get(LEFT).and_then(Value::as_array).into_iter().flatten();
            let left: Vec<String> = left.filter_map(Value::as_str).map(str::to_owned).collect();
            let planned = PlannedUndo { changes, left: &left };
            Box::pin(undo::planned(service, &found, planned, &self.replacement)).await
        })
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(async {
            let effects = ahead.effects();
            let Some(whole) = composed(&effects) else { return Ok(None) };
            let found = found(service, draft)?;
            let Some(write) = found.writes.last() else { return Ok(None) };
            let service = owners::of_customer(service, write)?;
            if whole.owner.kind == Kind::Customer {
                return earlier::resolve_unknown(&service, self.spec.name, &ahead.of).await;
            }
            let Read::Shown(document) = owners::read(&service, &whole).await? else { return Ok(None) };
            seen_earlier(&service, self.spec, &ahead.writes, &document)
        })
    }

    /// The program makes the records itself: there is nothing to check.
    fn checked(&self, _: &Dialect, written: RawInput, _: Overrides<'_>, _: bool) -> Result<Draft, Failure> {
        let Some(Value::Object(fields)) = written.document else {
            return Err(Failure::usage("the record of an undo is an object"));
        };
        Ok(Draft::unchecked(self.spec, fields))
    }
}
