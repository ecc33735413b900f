//! The table of what an answer and a look together say of a call.

/// What the answer to a call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The service says that it applied the call.
    Applied,
    /// The service says that it did not; some shops have saved it all the same.
    Rejected,
    /// There is no answer that says either.
    Unknown,
}

/// What a look at the owner shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// All that was asked for.
    After,
    /// What was there before.
    Before,
    /// Neither: a third value, or the owner is gone.
    Other,
    /// Nothing: it could not be read.
    Unreadable,
    /// Something that was to be kept is gone, whatever else is shown.
    Lost,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was applied; `verified` where a read shows all of it.
    Applied {
        /// Whether a read shows all of it.
        verified: bool,
    },
    /// The service says that it did it, and something is missing.
    Mismatch,
    /// The service refused it, and a look shows no change.
    Refused,
    /// The service refused it, and a look shows what was asked for, or a loss.
    RefusedButSaved,
    /// The service refused it, and nothing tells whether it was saved.
    RefusedUnknown,
    /// Nothing tells whether it was applied.
    Unknown,
}

/// What an answer and a look say of a call.
pub const fn verdict(answer: Answer, shown: Shown) -> Verdict {
    match (answer, shown) {
        (Answer::Applied | Answer::Unknown, Shown::After) => Verdict::Applied { verified: true },
        (Answer::Applied, Shown::Other | Shown::Unreadable) => Verdict::Applied { verified: false },
        (Answer::Applied, Shown::Before | Shown::Lost) => Verdict::Mismatch,
        (Answer::Rejected, Shown::After | Shown::Lost) => Verdict::RefusedButSaved,
        (Answer::Rejected, Shown::Before) => Verdict::Refused,
        (Answer::Rejected, Shown::Other | Shown::Unreadable) => Verdict::RefusedUnknown,
        (Answer::Unknown, Shown::Before | Shown::Other | Shown::Unreadable | Shown::Lost) => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Shown, Verdict, verdict};

    /// The columns are those of [`Shown`], in its order.
    #[test]
    fn an_answer_and_a_look_say_what_became_of_a_call() {
        use Verdict::{Applied, Mismatch, Refused, RefusedButSaved, RefusedUnknown, Unknown};
        let shown = Applied { verified: true };
        let unseen = Applied { verified: false };
        let table = [
            (Answer::Applied, [shown, Mismatch, unseen, unseen, Mismatch]),
            (Answer::Rejected, [RefusedButSaved, Refused, RefusedUnknown, RefusedUnknown, RefusedButSaved]),
            (Answer::Unknown, [shown, Unknown, Unknown, Unknown, Unknown]),
        ];
        let columns = [Shown::After, Shown::Before, Shown::Other, Shown::Unreadable, Shown::Lost];
        for (answer, row) in table {
            for (column, expected) in columns.into_iter().zip(row) {
                assert_eq!(verdict(answer, column), expected, "{answer:?}, {column:?}");
            }
        }
    }
}
