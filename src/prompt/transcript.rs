//! What earlier questions left on the screen: it goes again when the person goes back to one of them.

use std::cell::{Cell, RefCell};

/// Rows of the screen above the next question, as far as they are known.
#[derive(Debug, Default)]
pub struct Transcript {
    left: RefCell<Vec<Left>>,
    went_back: Cell<bool>,
}

#[derive(Debug, Clone, Copy)]
enum Left {
    /// Of a question that was answered; none where nothing stayed of it.
    Answered(usize),
    /// Of what was shown between questions.
    Shown(usize),
}

impl Transcript {
    /// A question was answered, which left so many rows.
    pub fn answered(&self, rows: usize) {
        self.left.borrow_mut().push(Left::Answered(rows));
    }

    /// Something was shown that takes so many rows.
    pub fn shown(&self, rows: usize) {
        self.left.borrow_mut().push(Left::Shown(rows));
    }

    /// The person goes back one step.
    pub fn go_back(&self) {
        self.went_back.set(true);
    }

    /// How many rows the next question takes back: those of the answer before it, and what was shown since.
    pub fn taken_back(&self) -> usize {
        if !self.went_back.take() {
            return 0;
        }
        let mut left = self.left.borrow_mut();
        let mut taken = 0;
        loop {
            match left.pop() {
                Some(Left::Shown(rows)) => taken += rows,
                Some(Left::Answered(rows)) => return taken + rows,
                None => return taken,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Transcript;

    #[test]
    fn going_back_takes_one_answer_and_what_was_shown_after_it() {
        let transcript = Transcript::default();
        transcript.answered(1);
        transcript.answered(2);
        transcript.shown(7);
        assert_eq!(transcript.taken_back(), 0);
        transcript.go_back();
        assert_eq!((transcript.taken_back(), transcript.taken_back()), (9, 0));
        transcript.go_back();
        assert_eq!(transcript.taken_back(), 1);
    }
}
