//! How far the writes of an operation are, which an interruption must report. Its state is private to this file: the one way to
//! write, and operations with several calls, tell it what happens.

use std::cell::{Cell, RefCell};

use serde_json::json;

use super::may_be_saved;
use crate::log::WriteName;
use crate::report::outcome::Outcome;
use storefront_core::effect::Effect;
use storefront_core::failure::{Applied, Failure, IntendedWrite};
use storefront_core::profile::diff::FieldChange;

/// Whether a write of the operation may have taken effect. This is unknown from the moment a call leaves until its
/// answer. After an answer that leaves it open, such as a refusal after which some shops have saved all the same, it is
/// unknown until the operation has ended, whose result has what a look showed.
#[derive(Default)]
pub struct Stage {
    applied: Cell<Applied>,
    /// What the operations before this one left.
    earlier: Cell<Applied>,
    /// Whether calls of the operation may be missing that have not passed the gate yet.
    is_part: Cell<bool>,
    /// How many calls have passed the gate and have not left.
    calls_left: Cell<usize>,
    replaces_profile: Cell<bool>,
    /// Whether a call left that only prepares for the write.
    has_prepared: Cell<bool>,
    /// The writes of the operation that are in the log.
    writes: RefCell<Vec<(WriteName, Effect)>>,
    /// Whether another process held up the log, so that nothing left.
    was_log_busy: Cell<bool>,
}

impl Stage {
    /// Whether a write took effect so far.
    pub fn get(&self) -> Applied {
        match self.applied.get() {
            Applied::Yes if self.is_part.get() || self.calls_left.get() > 0 => Applied::Partial,
            applied => applied,
        }
    }

    /// Whether the last write replaces a profile, which can be looked at.
    pub fn replaces_profile(&self) -> bool {
        self.replaces_profile.get()
    }

    /// A call leaves; returns the stage before it.
    pub(super) fn begin(&self, replaces_profile: bool) -> Applied {
        self.replaces_profile.set(replaces_profile);
        self.applied.replace(Applied::Unknown)
    }

    /// A call that left when the stage was `before` was answered, or was not sent at all.
    pub(super) fn answer(&self, before: Applied, failure: Option<&Failure>) {
        self.applied.set(match failure {
            // The outcome of another call, or of an earlier attempt, is not known.
            None if before == Applied::Unknown => Applied::Unknown,
            None => Applied::Yes,
            Some(failure) if failure.applied == Applied::Unknown || may_be_saved(failure) => Applied::Unknown,
            Some(_) => before,
        });
    }

    /// A call leaves that only prepares for the write: nothing that was asked for takes effect.
    pub(super) fn note_preparation(&self) {
        self.has_prepared.set(true);
    }

    /// Whether such a call left in this operation.
    pub fn has_prepared(&self) -> bool {
        self.has_prepared.get()
    }

    /// The last answer does not prove that the call was applied.
    pub fn doubt(&self) {
        self.applied.set(Applied::Unknown);
    }

    /// Whether calls are to follow those that took effect: those that have passed the gate are counted.
    pub fn set_in_part(&self, is_part: bool) {
        self.is_part.set(is_part && self.calls_left.get() == 0);
    }

    /// So many calls have passed the gate together: several are all calls that are left.
    pub fn passed_gate(&self, count: usize) {
        self.calls_left.set(self.calls_left.get() + count);
        if count > 1 {
            self.is_part.set(false);
        }
    }

    /// One of the calls that have passed the gate leaves.
    pub fn leaves(&self) {
        self.calls_left.set(self.calls_left.get().saturating_sub(1));
    }

    /// Another process held up the log: nothing left.
    pub fn note_log_busy(&self) {
        self.was_log_busy.set(true);
    }

    /// Whether nothing has left because another process held up the log. This resets it.
    pub fn may_start_again(&self) -> bool {
        self.was_log_busy.take() && self.applied.get() == Applied::No
    }

    /// A write is in the log, with this effect.
    pub fn note(&self, name: WriteName, effect: Effect) {
        self.writes.borrow_mut().push((name, effect));
    }

    /// The service applied nothing of what was sent: it is made again.
    pub fn starts_again(&self) {
        self.calls_left.set(0);
        self.writes.take();
    }

    /// The effect of a write.
    pub fn effect(&self, name: WriteName) -> Option<Effect> {
        self.writes.borrow().iter().find(|(own, _)| *own == name).map(|(_, effect)| effect.clone())
    }

    /// What is now known of the effect of a write.
    pub fn close(&self, name: WriteName, effect: &Effect) {
        if let Some((_, noted)) = self.writes.borrow_mut().iter_mut().find(|(own, _)| *own == name) {
            noted.clone_from(effect);
        }
    }

    /// Adds to the result of an operation the name, owner and changes of its writes, unless it has them.
    pub fn told(&self, ended: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        let outcome = ended.map_err(|failure| self.told_of(failure))?;
        let writes = self.writes.take();
        let Some((name, last)) = writes.last() else { return Ok(outcome) };
        let says_changes = outcome.profile.is_some() || outcome.changed.is_some();
        Ok(Outcome {
            changes: if says_changes { outcome.changes } else { Some(differences(&writes)) },
            owner: outcome.owner.or_else(|| Some(last.owner.to_json())),
            write: outcome.write.filter(|write| !write.is_null()).or_else(|| Some(name.to_string().into())),
            ..outcome
        })
    }

    /// As [`Self::told`], for a failure.
    pub fn told_of(&self, failure: Failure) -> Failure {
        let writes = self.writes.take();
        let Some((name, last)) = writes.last() else { return failure };
        Failure {
            written: failure.written.or_else(|| {
                let changes = differences(&writes).iter().map(|change| json!(change)).collect();
                Some(Box::new(IntendedWrite { owner: last.owner.to_json(), changes }))
            }),
            write: failure.write.or_else(|| Some(name.to_string().into())),
            ..failure
        }
    }

    /// The operation has ended, and its result says what took effect.
    pub fn end(&self, ended: Result<&Outcome, &Failure>) {
        let applied = ended.map_or_else(|failure| failure.applied, |outcome| outcome.applied);
        let applied = if applied == Applied::No { self.earlier.get() } else { applied };
        self.applied.set(applied);
        self.earlier.set(applied);
        self.is_part.set(false);
        self.calls_left.set(0);
        self.has_prepared.set(false);
    }
}

fn differences(writes: &[(WriteName, Effect)]) -> Vec<FieldChange> {
    writes.iter().flat_map(|(_, effect)| effect.differences()).collect()
}

#[cfg(test)]
mod tests {
    use super::Stage;
    use crate::report::outcome::Outcome;
    use storefront_core::failure::{Applied, Failure, FailureKind};

    fn refused(status: u16) -> Failure {
        Failure { status: Some(status), ..Failure::new(FailureKind::Refused, "no") }
    }

    #[test]
    fn an_answer_that_leaves_it_open_counts_until_the_operation_has_ended() {
        let lost = Failure::new(FailureKind::Unknown, "no answer");
        let unsent = Failure::new(FailureKind::Unavailable, "not reached");
        for (failure, applied) in [
            (None, Applied::Yes),
            (Some(lost), Applied::Unknown),
            (Some(unsent), Applied::No),
            (Some(refused(405)), Applied::No),
            (Some(refused(400)), Applied::Unknown),
            (Some(refused(404)), Applied::Unknown),
        ] {
            let stage = Stage::default();
            let before = stage.begin(false);
            assert_eq!(stage.get(), Applied::Unknown);
            stage.answer(before, failure.as_ref());
            assert_eq!(stage.get(), applied, "{failure:?}");
            let before = stage.begin(false);
            stage.answer(before, Some(&refused(405)));
            assert_eq!(stage.get(), applied, "a later call that is refused changes nothing: {failure:?}");
            let before = stage.begin(false);
            stage.answer(before, None);
            let expected = if applied == Applied::Unknown { applied } else { Applied::Yes };
            assert_eq!(stage.get(), expected, "{failure:?}");
        }
    }

    #[test]
    fn a_part_is_applied_until_the_last_call_has_left() {
        let stage = Stage::default();
        stage.passed_gate(2);
        for applied in [Applied::Partial, Applied::Yes] {
            stage.leaves();
            stage.answer(stage.begin(false), None);
            assert_eq!(stage.get(), applied);
        }
    }

    #[test]
    fn the_end_of_an_operation_says_what_took_effect_and_leaves_what_was_before() {
        let stage = Stage::default();
        let refuse = || stage.answer(stage.begin(false), Some(&refused(400)));
        refuse();
        stage.end(Err(&refused(400)));
        assert_eq!(stage.get(), Applied::No);
        refuse();
        let applied = Outcome { applied: Applied::Yes, ..Outcome::not_sent("quote set-item") };
        stage.set_in_part(true);
        stage.end(Ok(&applied));
        assert_eq!(stage.get(), Applied::Yes);
        refuse();
        stage.end(Err(&refused(400)));
        assert_eq!(stage.get(), Applied::Yes);
    }
}
