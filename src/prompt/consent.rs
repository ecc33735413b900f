//! What a command may do to the shop: made in one place, and looked at by the gate of all writes, whatever led there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use storefront_core::failure::Failure;

/// What there is of consent in this run: what was said on the command line, and what a person has answered since.
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
    /// Whether a person has said yes to what is written, after that was shown with what it deletes.
    shown: Cell<bool>,
    /// Of a batch: the records that are sent, as they were counted for the question, by the numbers by which they are named.
    records: RefCell<Numbers>,
}

/// What is about to leave.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Whether this command writes at all; a dry run does not.
    pub may_write: bool,
    /// Whether only a person's answer permits it.
    pub needs_answer: bool,
    /// Whether `--yes` answers what is asked, or the code of a page has.
    pub yes: bool,
    /// How many addresses, items or options it deletes.
    pub deletions: usize,
    /// Of a batch: the number by which its record is named.
    pub record: Option<u64>,
}

impl Consent {
    /// That of a command line with this number for its deletions.
    pub fn of(deletions: Option<usize>) -> Self {
        Self { deletions, ..Self::default() }
    }

    /// Names a record of a batch, which is going to be sent.
    pub fn name(&self, record: u64) {
        self.given.records.borrow_mut().insert(record);
    }

    /// A person has said yes, after what was to be written was shown.
    pub(super) fn was_given(&self) {
        self.given.shown.set(true);
    }

    /// A person lets this command write, before anything was shown.
    pub(super) fn to_write_was_given(&self) {
        self.given.write.set(true);
    }

    /// Refuses what nobody has agreed to.
    ///
    /// # Errors
    /// `guard`.
    pub fn covers(&self, asked: Asked) -> Result<(), Failure> {
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
        let is_allowed = self.deletions.is_some_and(|allowed| asked.deletions <= allowed);
        if asked.deletions > 0 && !was_shown && !is_allowed {
            let count = asked.deletions;
            return Err(Failure::guard(format!("nobody has agreed to what this write deletes: {count}"))
                .hint("look at it with --dry-run, then add --yes"));
        }
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
        Asked { may_write: true, needs_answer: false, yes: false, deletions: 0, record: None };

    #[test]
    fn what_nobody_has_agreed_to_is_refused() {
        let deletes = |deletions| Asked { deletions, ..ASKED };
        let of_person = Asked { needs_answer: true, ..ASKED };
        for (number, asked, before, after) in [
            (None, ASKED, true, true),
            (None, Asked { may_write: false, ..ASKED }, false, false),
            (None, Asked { may_write: false, yes: true, ..ASKED }, false, false),
            (None, of_person, false, true),
            (Some(2), Asked { deletions: 2, ..of_person }, false, true),
            (None, Asked { yes: true, ..of_person }, true, true),
            (None, deletes(1), false, true),
            (None, Asked { yes: true, ..deletes(1) }, true, true),
            (Some(2), deletes(2), true, true),
            (Some(2), deletes(3), false, true),
        ] {
            let consent = Consent::of(number);
            assert_eq!(consent.covers(asked).is_ok(), before, "{number:?}, {asked:?}");
            consent.was_given();
            assert_eq!(consent.covers(asked).is_ok(), after, "{number:?}, {asked:?}, answered");
        }
    }

    #[test]
    fn leave_to_write_is_none_to_delete() {
        let consent = Consent::default();
        consent.to_write_was_given();
        let of_person = Asked { needs_answer: true, ..ASKED };
        assert!(consent.covers(of_person).is_ok());
        assert!(consent.covers(Asked { deletions: 1, ..of_person }).is_err());
    }

    #[test]
    fn a_record_that_was_not_counted_is_refused_whoever_agrees() {
        let consent = Consent::of(Some(9));
        consent.was_given();
        for record in [2, 63, 64, 1_000_000] {
            consent.name(record);
        }
        let sends = |record| consent.covers(Asked { record: Some(record), yes: true, ..ASKED }).is_ok();
        assert_eq!([2, 63, 64, 1_000_000].map(sends), [true; 4]);
        assert_eq!([0, 1, 65, 999_999, u64::MAX].map(sends), [false; 5]);
    }
}
