//! The order of records that touch the same thing: they never run at the same time, and run in the input's order.

use std::collections::{HashMap, VecDeque};

use crate::journal::State;
use crate::report::ordered_results::RecordLocation;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{HintCommand, hint};
use storefront_core::operation::OperationSpec;

/// How many records wait at most; then reading stops until there is room.
const MAX_PENDING: usize = 1024;

/// Records that were read from the input and have not started.
#[derive(Debug)]
pub struct KeyedQueue<T> {
    ready: VecDeque<(u64, T)>,
    /// A key is here as long as a record with it is ready or in flight; other records with it wait behind.
    busy: HashMap<u64, VecDeque<T>>,
    waiting: usize,
}

impl<T> Default for KeyedQueue<T> {
    fn default() -> Self {
        Self { ready: VecDeque::new(), busy: HashMap::new(), waiting: 0 }
    }
}

impl<T> KeyedQueue<T> {
    /// Adds a record.
    pub fn push(&mut self, key: u64, value: T) {
        self.waiting += 1;
        if let Some(behind) = self.busy.get_mut(&key) {
            behind.push_back(value);
        } else {
            self.busy.insert(key, VecDeque::new());
            self.ready.push_back((key, value));
        }
    }

    /// The next record that may start. Its key is busy until [`Self::release`].
    pub fn pop(&mut self) -> Option<T> {
        let (_, value) = self.ready.pop_front()?;
        self.waiting -= 1;
        Some(value)
    }

    /// A record with this key has ended. The next one with the same key, if there is one, may start.
    pub fn release(&mut self, key: u64) {
        match self.busy.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(next) => self.ready.push_back((key, next)),
            None => drop(self.busy.remove(&key)),
        }
    }

    /// Whether a record may begin.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether it is full for now.
    pub fn is_full(&self) -> bool {
        self.waiting >= MAX_PENDING
    }
}

/// Keys whose later records are held up by a failed one: its number and line, and what it waits for.
#[derive(Debug, Default)]
pub struct Blocked(HashMap<u64, (u64, u64, WaitsFor)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WaitsFor {
    /// It is sent again.
    Resume,
    /// A resumed run looks whether it took effect.
    Look,
    /// Only a person can find that out.
    Person,
}

impl Blocked {
    /// Notes a record that failed. After an unknown outcome, later records that replace the same thing are not sent: the
    /// unknown request may still take effect and undo their changes. Nor are they sent after a record that a resumed run
    /// sends again, because it would undo them. `was_looked_at` says that a look could not settle the outcome.
    pub fn note(
        &mut self,
        operation: &OperationSpec,
        key: u64,
        location: RecordLocation,
        failure: &Failure,
        was_looked_at: bool,
    ) {
        let waits_for = match failure.applied {
            Applied::Unknown if was_looked_at || !operation.can_resolve => WaitsFor::Person,
            Applied::Unknown => WaitsFor::Look,
            _ => WaitsFor::Resume,
        };
        let holds_up = waits_for > WaitsFor::Resume || State::after(failure) == State::FailedTemporary;
        if holds_up {
            self.hold(operation, key, (location.record, location.line, waits_for));
        }
    }

    /// Notes a record of an earlier run that a look has not settled. It was sent before all that are sent now, wherever it
    /// stands in the input by now.
    pub fn note_open(&mut self, operation: &OperationSpec, key: u64, line: u64, is_stuck: bool) {
        let waits_for = if is_stuck { WaitsFor::Person } else { WaitsFor::Look };
        self.hold(operation, key, (0, line, waits_for));
    }

    fn hold(&mut self, operation: &OperationSpec, key: u64, by: (u64, u64, WaitsFor)) {
        if operation.replaces.is_some() {
            self.0.entry(key).and_modify(|first| *first = by.min(*first)).or_insert(by);
        }
    }

    /// Why a record with this key is not sent, if an earlier one holds it up; `guard` if that waits for a person.
    /// `resume` is the command that continues the run, and `place` what the places of records are called.
    pub fn refusal(
        &self,
        operation: &OperationSpec,
        key: u64,
        location: RecordLocation,
        place: &str,
        resume: &HintCommand,
    ) -> Option<Failure> {
        let (_, line, waits_for) = *self.0.get(&key).filter(|(first, ..)| *first < location.record)?;
        let what = operation.replaces.unwrap_or("customer");
        let unknown = format!("not sent: the outcome of {place} {line}, of the same {what}, is unknown");
        Some(match waits_for {
            WaitsFor::Person => {
                Failure::guard(unknown).hint(format!("check whether {place} {line} took effect first"))
            }
            WaitsFor::Look => Failure::new(FailureKind::Unavailable, unknown)
                .hint(hint!(resume.clone(), format!(" looks whether {place} {line} took effect"))),
            WaitsFor::Resume => Failure::new(
                FailureKind::Unavailable,
                format!("not sent: {place} {line}, of the same {what}, failed and comes first"),
            )
            .hint(hint!(resume.clone(), " sends both in their order")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyedQueue, MAX_PENDING};

    #[test]
    fn records_of_one_key_go_one_after_another_in_order() {
        let mut queue = KeyedQueue::default();
        for (key, value) in [(1, "a"), (1, "b"), (2, "c"), (1, "d")] {
            queue.push(key, value);
        }
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some("a"), Some("c"), None));
        queue.release(1);
        assert_eq!((queue.pop(), queue.pop()), (Some("b"), None));
        queue.push(1, "e");
        queue.release(2);
        queue.release(1);
        assert_eq!((queue.pop(), queue.pop()), (Some("d"), None));
        queue.release(1);
        assert_eq!(queue.pop(), Some("e"));
        queue.release(1);
        queue.push(1, "f");
        assert_eq!(queue.pop(), Some("f"));
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut queue = KeyedQueue::default();
        for value in 0..MAX_PENDING {
            assert!(!queue.is_full());
            queue.push(1, value);
        }
        assert!(queue.is_full());
        queue.pop();
        assert!(!queue.is_full());
    }
}
