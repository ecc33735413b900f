//! The state of a record, as the journal stores it.

use crate::failure::{Applied, Failure, FailureKind};

/// The latest known state of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecordState {
    /// Never sent.
    #[default]
    NotSent,
    /// A request may have been sent; no result is known.
    Sending,
    /// A request was sent, and its outcome is unknown.
    Unknown,
    /// Applied, or nothing was to be changed.
    Done,
    /// Not applied, for a temporary reason.
    FailedTemporary,
    /// Not applied, for a permanent reason.
    FailedPermanent,
}

impl RecordState {
    const ALL: [Self; 6] = [
        Self::NotSent,
        Self::Sending,
        Self::Unknown,
        Self::Done,
        Self::FailedTemporary,
        Self::FailedPermanent,
    ];

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
            Self::NotSent => "fresh",
            Self::Sending => "sending",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::FailedTemporary | Self::FailedPermanent => "failed",
        }
    }
}

/// What a failure leaves a record at. What may have been applied is never run again by itself.
pub fn state_after(failure: &Failure) -> RecordState {
    match (failure.applied, failure.kind) {
        (Applied::Unknown, _) => RecordState::Unknown,
        (Applied::No, _) if failure.needs_correction => RecordState::FailedPermanent,
        // The calls that are missing are made by the next run.
        (Applied::Partial, _)
        | (
            Applied::No,
            FailureKind::Unavailable
            | FailureKind::Auth
            | FailureKind::Guard
            | FailureKind::Internal
            | FailureKind::Interrupted,
        ) => RecordState::FailedTemporary,
        _ => RecordState::FailedPermanent,
    }
}

#[cfg(test)]
mod tests {
    use crate::failure::{Applied, Failure, FailureKind};
    use crate::journal::record_state::{RecordState, state_after};

    #[test]
    fn only_what_was_certainly_not_applied_and_may_pass_is_run_again() {
        let of = |kind| state_after(&Failure::new(kind, "x"));
        assert_eq!(of(FailureKind::Unavailable), RecordState::FailedTemporary);
        assert_eq!(of(FailureKind::Auth), RecordState::FailedTemporary);
        assert_eq!(of(FailureKind::Guard), RecordState::FailedTemporary);
        assert_eq!(state_after(&Failure::guard("x").needs_correction()), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Refused), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Usage), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Mismatch), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Unknown), RecordState::Unknown);
        assert_eq!(
            state_after(&Failure::new(FailureKind::Unavailable, "x").applied(Applied::Yes)),
            RecordState::FailedPermanent
        );
        for code in 0..6 {
            assert_eq!(RecordState::from_code(code).code(), code);
        }
    }
}
