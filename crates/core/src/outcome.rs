//! What became of a write: one type from the service's answer to the log, and what that is called elsewhere: in results
//! and error objects ([`Applied`]), as an exit code ([`FailureKind`]), in a journal ([`RecordState`]).

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::failure::{Applied, Failure, FailureKind, Persistence};

/// How long after its request left a write of unknown outcome may still take effect.
pub const MAX_LATENESS: SignedDuration = SignedDuration::from_mins(10);

/// What became of one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum WriteOutcome {
    /// No byte of the request left.
    #[serde(rename = "not sent")]
    NotSent,
    /// The service applied nothing of it.
    Refused,
    /// Nobody knows whether the service applied it.
    Unknown {
        /// When its request left.
        sent_at: Timestamp,
    },
    /// The service applied it.
    Applied {
        /// When the service said so, or a read showed it.
        at: Timestamp,
        /// Whether a read has shown all of it.
        verified: bool,
    },
    /// The service said that it applied it, and a read shows that something is missing.
    Mismatch {
        /// When its request left.
        sent_at: Timestamp,
        /// Whether nothing more comes: what it asked for is visible, or the service's own reply showed what is missing.
        is_final: bool,
    },
    /// Several calls, of which the service applied some and nothing of the others.
    Partial {
        /// When the last of those was applied.
        at: Timestamp,
    },
}

impl WriteOutcome {
    /// What became of a call that left at `sent_at` and has ended now.
    pub fn after(ended: Result<bool, &Failure>, sent_at: Timestamp, now: Timestamp) -> Self {
        let failure = match ended {
            Ok(verified) => return Self::Applied { at: now, verified },
            Err(failure) => failure,
        };
        match (failure.kind, failure.applied) {
            // A refused call that was saved all the same has been seen, so that nothing more comes.
            (FailureKind::Mismatch, applied) => {
                Self::Mismatch { sent_at, is_final: applied == Applied::Unknown }
            }
            (_, Applied::Unknown) => Self::Unknown { sent_at },
            (_, Applied::Partial) => Self::Partial { at: now },
            (_, Applied::Yes) => Self::Applied { at: now, verified: false },
            (FailureKind::Unavailable | FailureKind::Interrupted, Applied::No) => Self::NotSent,
            (_, Applied::No) => Self::Refused,
        }
    }

    /// The name in `history`, and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not sent",
            Self::Refused => "refused",
            Self::Unknown { .. } => "unknown",
            Self::Applied { .. } => "applied",
            Self::Mismatch { .. } => "mismatch",
            Self::Partial { .. } => "partial",
        }
    }

    /// What several calls together amount to: unknown if one is, else partial if some are applied and others are not.
    pub fn of_calls(calls: &[Self]) -> Self {
        let open = |one: &&Self| matches!(one, Self::Unknown { .. });
        let lost = |one: &&Self| one.is_mismatch();
        if let Some(found) = calls.iter().find(open).or_else(|| calls.iter().find(lost)) {
            return *found;
        }
        let applied = || calls.iter().filter(|one| one.may_be_applied());
        let Some(at) = applied().filter_map(|one| one.time()).max() else {
            let is_refused = calls.iter().any(|one| matches!(one, Self::Refused));
            return if is_refused { Self::Refused } else { Self::NotSent };
        };
        if applied().count() < calls.len() {
            return Self::Partial { at };
        }
        Self::Applied { at, verified: calls.iter().all(|one| one.verified() == Some(true)) }
    }

    /// Whether a read has shown that something of it is missing.
    pub const fn is_mismatch(self) -> bool {
        matches!(self, Self::Mismatch { .. })
    }

    /// Whether a read has shown all of it; `None` unless the service said that it applied it.
    pub const fn verified(self) -> Option<bool> {
        match self {
            Self::Applied { verified, .. } => Some(verified),
            Self::Mismatch { .. } => Some(false),
            Self::NotSent | Self::Refused | Self::Unknown { .. } | Self::Partial { .. } => None,
        }
    }

    /// Whether the write may have changed something.
    pub const fn may_be_applied(self) -> bool {
        !matches!(self, Self::NotSent | Self::Refused)
    }

    /// How much of it the service applied; `None` if nothing.
    pub const fn extent(self) -> Option<Extent> {
        match self {
            Self::NotSent | Self::Refused => None,
            Self::Unknown { .. } => Some(Extent::Unknown),
            Self::Applied { .. } => Some(Extent::Whole),
            Self::Mismatch { .. } | Self::Partial { .. } => Some(Extent::Part),
        }
    }

    /// When it left, or is known to be applied; `None` where it changed nothing.
    pub const fn time(self) -> Option<Timestamp> {
        match self {
            Self::Applied { at, .. } | Self::Partial { at } => Some(at),
            Self::Unknown { sent_at } | Self::Mismatch { sent_at, .. } => Some(sent_at),
            Self::NotSent | Self::Refused => None,
        }
    }

    /// Until when its request may still take effect; `None` if it cannot. A clock that was set back does not end the
    /// time.
    pub fn open_until(self, now: Timestamp) -> Option<Timestamp> {
        let (Self::Unknown { sent_at } | Self::Mismatch { sent_at, is_final: false }) = self else {
            return None;
        };
        sent_at.checked_add(MAX_LATENESS).ok().filter(|until| now < *until)
    }
}

/// How much of a write the service applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Something is missing. A read need not show this write, nor what older writes left in its place.
    Part,
    /// Nobody knows; only what was seen of it is certain.
    Unknown,
}

/// What became of a record of a batch, as its journal says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordState {
    /// Never sent; no line says so.
    #[default]
    #[serde(skip)]
    NotSent,
    /// A request may have been sent; no result is known.
    Sending,
    /// A request was sent, and its outcome is unknown.
    Unknown,
    /// Applied, or nothing was to be changed.
    Done,
    /// Not applied for a temporary reason, or only in part.
    #[serde(rename = "failed", skip_deserializing)]
    FailedTemporary,
    /// Not applied, for a permanent reason.
    #[serde(rename = "failed")]
    FailedPermanent,
    /// Applied, and reading back shows that an address or a change is missing.
    Mismatch,
    /// Never sent: a person who reviewed the plan declined it.
    Declined,
}

impl RecordState {
    /// The state after a failure. A record that may have been applied is never sent again automatically.
    pub fn after(failure: &Failure) -> Self {
        match (failure.applied, failure.persistence) {
            _ if failure.kind == FailureKind::Mismatch => Self::Mismatch,
            (Applied::Unknown, _) => Self::Unknown,
            // The next run makes the calls that are missing.
            (Applied::Partial, _) | (Applied::No, Persistence::Temporary) => Self::FailedTemporary,
            _ => Self::FailedPermanent,
        }
    }

    /// The name in the journal.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not sent",
            Self::Sending => "sending",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::FailedTemporary => "failed temporarily",
            Self::FailedPermanent => "failed",
            Self::Mismatch => "mismatch",
            Self::Declined => "declined",
        }
    }

    /// Whether the service may have applied the record.
    pub const fn may_be_applied(self) -> bool {
        matches!(self, Self::Sending | Self::Unknown | Self::Done | Self::Mismatch)
    }
}
