//! What a command may do to the shop: made in one place, and looked at by the gate of all writes, whatever led there.

use std::cell::Cell;
use std::rc::Rc;

use storefront_core::failure::Failure;

/// What there is of consent in this run: what was said on the command line, and what a person has answered since.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// The number of `--allow-delete`.
    deletions: Option<usize>,
    was_answered: Rc<Cell<bool>>,
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
}

impl Consent {
    /// That of a command line with this number for its deletions.
    pub fn of(deletions: Option<usize>) -> Self {
        Self { deletions, ..Self::default() }
    }

    /// A person has said yes, after what was to be written was shown.
    pub(super) fn was_given(&self) {
        self.was_answered.set(true);
    }

    /// Refuses what nobody has agreed to.
    ///
    /// # Errors
    /// `guard`.
    pub fn covers(&self, asked: Asked) -> Result<(), Failure> {
        let has_answer = self.was_answered.get() || asked.yes;
        if !asked.may_write {
            return Err(Failure::guard("this command does not write to the shop"));
        }
        if asked.needs_answer && !has_answer {
            return Err(Failure::guard("this write has to be confirmed by a person at a terminal"));
        }
        let is_allowed = self.deletions.is_some_and(|allowed| asked.deletions <= allowed);
        if asked.deletions > 0 && !has_answer && !is_allowed {
            let count = asked.deletions;
            return Err(Failure::guard(format!("nobody has agreed to what this write deletes: {count}"))
                .hint("look at it with --dry-run, then add --yes"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Consent};

    const ASKED: Asked = Asked { may_write: true, needs_answer: false, yes: false, deletions: 0 };

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
}
