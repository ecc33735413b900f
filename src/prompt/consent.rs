//! What a command may do to the shop: decided in one place, and checked at the gate of all writes.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use storefront_core::failure::Failure;
use storefront_core::text::hash::fnv1a;

/// The consent of this run: what the command line permits, and what a person has answered since.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// The number of `--allow-delete`.
    deletions: Option<usize>,
    given: Rc<Given>,
}

#[derive(Debug, Default)]
struct Given {
    /// Whether a person lets this command write.
    write: Cell<bool>,
    /// Whether a person has agreed to the writes after they were shown with what they delete.
    shown: Cell<bool>,
    /// The records of a batch that are sent, as they were counted for the question, by their numbers.
    records: RefCell<Numbers>,
    /// What each record was permitted to delete under the number of `--allow-delete`, as hashes.
    deleted: RefCell<HashMap<Option<u64>, HashSet<u64>>>,
}

/// A write that is about to be sent.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Whether this command writes at all; a dry run does not.
    pub may_write: bool,
    /// Whether only a person's answer permits it.
    pub needs_answer: bool,
    /// Whether `--yes` or the code of a page answers the question.
    pub yes: bool,
    /// The names of the addresses, items, options and attributes that it deletes: a call that is made again deletes the
    /// same.
    pub deleted: Vec<String>,
    /// The number of its record in a batch.
    pub record: Option<u64>,
}

impl Consent {
    /// The consent of a command line with this number for its deletions.
    pub fn of(deletions: Option<usize>) -> Self {
        Self { deletions, ..Self::default() }
    }

    /// Notes a record of a batch that is going to be sent.
    pub fn name(&self, record: u64) {
        self.given.records.borrow_mut().insert(record);
    }

    /// Notes that a person has agreed to what was shown.
    pub(super) fn was_given(&self) {
        self.given.shown.set(true);
    }

    /// Notes that a person lets this command write, before anything was shown.
    pub(super) fn to_write_was_given(&self) {
        self.given.write.set(true);
    }

    /// Refuses what nobody has agreed to. All calls of one record together use up the number of deletions, even if a
    /// person has agreed.
    ///
    /// # Errors
    /// `guard`.
    pub fn covers(&self, asked: &Asked) -> Result<(), Failure> {
        let was_shown = self.given.shown.get() || asked.yes;
        if !asked.may_write {
            return Err(Failure::guard("this command does not write to the shop"));
        }
        if let Some(record) = asked.record.filter(|record| !self.given.records.borrow().contains(*record)) {
            let message = format!("record {record} is none of those that were to be sent");
            return Err(Failure::guard(message).hint("resume the batch, which counts them again"));
        }
        if asked.needs_answer && !was_shown && !self.given.write.get() {
            return Err(Failure::guard("this write has to be confirmed by a person at a terminal"));
        }
        if asked.deleted.is_empty() {
            return Ok(());
        }
        match self.deletions {
            None if was_shown => Ok(()),
            None => {
                let count = asked.deleted.len();
                Err(Failure::guard(format!("nobody has agreed to what this write deletes: {count}"))
                    .hint("look at it with --dry-run, then add --yes"))
            }
            Some(allowed) => self.use_up(allowed, asked),
        }
    }

    /// Counts the deletions of a record.
    fn use_up(&self, allowed: usize, asked: &Asked) -> Result<(), Failure> {
        let mut deleted = self.given.deleted.borrow_mut();
        let of_record = deleted.entry(asked.record).or_default();
        let mut with_these = of_record.clone();
        with_these.extend(asked.deleted.iter().map(|name| fnv1a(name.as_bytes())));
        let count = with_these.len();
        if count > allowed {
            return Err(Failure::guard(format!(
                "this write deletes {count}, but --allow-delete is {allowed}"
            ))
            .hint("look at it with --dry-run"));
        }
        *of_record = with_these;
        Ok(())
    }
}

/// A set of numbers, a bit for each: a batch may have millions of records.
#[derive(Debug, Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    const BITS: u64 = u64::BITS as u64;

    fn place(number: u64) -> (usize, u64) {
        (usize::try_from(number / Self::BITS).unwrap_or(usize::MAX), 1 << (number % Self::BITS))
    }

    fn insert(&mut self, number: u64) {
        let (at, bit) = Self::place(number);
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= bit;
    }

    fn contains(&self, number: u64) -> bool {
        let (at, bit) = Self::place(number);
        self.0.get(at).is_some_and(|bits| bits & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Consent};

    const ASKED: Asked =
        Asked { may_write: true, needs_answer: false, yes: false, deleted: Vec::new(), record: None };

    fn deletes(ids: impl IntoIterator<Item = u32>) -> Asked {
        Asked { deleted: ids.into_iter().map(|id| format!("addresses[id={id}]")).collect(), ..ASKED }
    }

    #[test]
    fn what_nobody_has_agreed_to_is_refused() {
        let of_person = Asked { needs_answer: true, ..ASKED };
        for (number, asked, before, after) in [
            (None, ASKED, true, true),
            (None, Asked { may_write: false, ..ASKED }, false, false),
            (None, Asked { may_write: false, yes: true, ..ASKED }, false, false),
            (None, of_person.clone(), false, true),
            (Some(2), Asked { needs_answer: true, ..deletes(1..3) }, false, true),
            (None, Asked { yes: true, ..of_person.clone() }, true, true),
            (None, deletes([1]), false, true),
            (None, Asked { yes: true, ..deletes([1]) }, true, true),
            (Some(2), deletes(1..3), true, true),
            // A number is the most that may be deleted, even if a person has agreed.
            (Some(2), deletes(1..4), false, false),
            (Some(2), Asked { yes: true, ..deletes(1..4) }, false, false),
        ] {
            let consent = Consent::of(number);
            assert_eq!(consent.covers(&asked).is_ok(), before, "{number:?}, {asked:?}");
            consent.was_given();
            assert_eq!(consent.covers(&asked).is_ok(), after, "{number:?}, {asked:?}, answered");
        }
    }

    #[test]
    fn a_number_of_deletions_is_used_up_by_all_calls_of_a_record() {
        let consent = Consent::of(Some(2));
        consent.name(7);
        consent.name(8);
        let lets =
            |record, id| consent.covers(&Asked { record: Some(record), yes: true, ..deletes([id]) }).is_ok();
        // A call that is made again after it took no effect deletes the same.
        assert_eq!(
            [(7, 1), (7, 2), (7, 2), (7, 3), (8, 3)].map(|(record, id)| lets(record, id)),
            [true, true, true, false, true]
        );
    }

    #[test]
    fn leave_to_write_is_none_to_delete() {
        let consent = Consent::default();
        consent.to_write_was_given();
        let of_person = Asked { needs_answer: true, ..ASKED };
        assert!(consent.covers(&of_person).is_ok());
        assert!(consent.covers(&Asked { needs_answer: true, ..deletes([1]) }).is_err());
    }

    #[test]
    fn a_record_that_was_not_counted_is_refused_whoever_agrees() {
        let consent = Consent::of(Some(9));
        consent.was_given();
        for record in [2, 63, 64, 1_000_000] {
            consent.name(record);
        }
        let sends = |record| consent.covers(&Asked { record: Some(record), yes: true, ..ASKED }).is_ok();
        assert_eq!([2, 63, 64, 1_000_000].map(sends), [true; 4]);
        assert_eq!([0, 1, 65, 999_999, u64::MAX].map(sends), [false; 5]);
    }
}
