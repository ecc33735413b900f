//! What became of a record, as the journal keeps it.

use crate::failure::{Applied, Failure, Kind};

/// The last word on a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Never sent.
    #[default]
    Fresh,
    /// A request may have left, and there is no verdict.
    Sending,
    /// A request left, and nobody knows whether it was applied.
    Unknown,
    /// Applied, or nothing was to be changed.
    Done,
    /// Not applied, for a reason that may pass.
    FailedPassing,
    /// Not applied, and it would only fail again.
    FailedLasting,
}

impl State {
    const ALL: [Self; 6] =
        [Self::Fresh, Self::Sending, Self::Unknown, Self::Done, Self::FailedPassing, Self::FailedLasting];

    /// As a small number, for tables.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Back from [`Self::code`].
    pub fn from_code(code: u8) -> Self {
        Self::ALL.into_iter().find(|state| state.code() == code).unwrap_or_default()
    }

    /// The name in the journal.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Sending => "sending",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::FailedPassing | Self::FailedLasting => "failed",
        }
    }
}

/// What a failure leaves a record at. What may have been applied is never run again by itself.
pub fn state_of(failure: &Failure) -> State {
    match (failure.applied, failure.kind) {
        (Applied::Unknown, _) => State::Unknown,
        (Applied::No, Kind::Unavailable | Kind::Auth | Kind::Guard | Kind::Internal | Kind::Interrupted) => {
            State::FailedPassing
        }
        _ => State::FailedLasting,
    }
}

#[cfg(test)]
mod tests {
    use super::{State, state_of};
    use crate::failure::{Applied, Failure, Kind};

    #[test]
    fn only_what_was_certainly_not_applied_and_may_pass_is_run_again() {
        let of = |kind| state_of(&Failure::new(kind, "x"));
        assert_eq!(of(Kind::Unavailable), State::FailedPassing);
        assert_eq!(of(Kind::Auth), State::FailedPassing);
        assert_eq!(of(Kind::Guard), State::FailedPassing);
        assert_eq!(of(Kind::Refused), State::FailedLasting);
        assert_eq!(of(Kind::Usage), State::FailedLasting);
        assert_eq!(of(Kind::Mismatch), State::FailedLasting);
        assert_eq!(of(Kind::Unknown), State::Unknown);
        assert_eq!(
            state_of(&Failure::new(Kind::Unavailable, "x").applied(Applied::Yes)),
            State::FailedLasting
        );
        for code in 0..6 {
            assert_eq!(State::from_code(code).code(), code);
        }
    }
}
