//! Failures: what happened, whether anything was written, and what to type next.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::absent::Absent;
use crate::hint::Hint;
use crate::interface::bearer::Bearer;

/// What went wrong, in the terms of the exit codes (`storefront help exit-codes`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// Something this program did not foresee.
    #[default]
    Internal,
    /// Bad flags, input or configuration; nothing was sent.
    Usage,
    /// Refused to protect data; nothing was written.
    Guard,
    /// The service said no.
    Refused,
    /// The service was not reached, or is busy after every retry; nothing was applied.
    Unavailable,
    /// No token, or one the service does not take.
    Auth,
    /// Some records of a batch, or one of several calls, failed for good.
    Partial,
    /// The request was sent, and its outcome is unknown.
    Unknown,
    /// Written, but the read-back lacks an address or a change.
    Mismatch,
    /// Stopped by the user.
    Interrupted,
}

/// Every kind with its exit code, its name in error objects, and its meaning in one line.
pub const KINDS: [(FailureKind, u8, &str, &str); 10] = [
    (FailureKind::Internal, 1, "internal", "internal error"),
    (FailureKind::Usage, 2, "usage", "invalid flags, input or configuration; nothing was written"),
    (FailureKind::Guard, 3, "guard", "refused to protect data; nothing was written"),
    (FailureKind::Refused, 4, "refused", "rejected by the service (4xx), or redirected"),
    (FailureKind::Unavailable, 5, "unavailable", "not reached, or still busy; nothing was applied"),
    (FailureKind::Auth, 6, "auth", "no token, 401 or 403"),
    (
        FailureKind::Partial,
        7,
        "partial",
        "some records, or one of several calls, failed permanently; or a check found something",
    ),
    (FailureKind::Unknown, 8, "unknown", "outcome unknown: it may have been applied; look first"),
    (FailureKind::Mismatch, 9, "mismatch", "written, but an address or a change is missing"),
    (FailureKind::Interrupted, 130, "interrupted", "cancelled or interrupted"),
];

impl FailureKind {
    /// Process exit code.
    pub fn exit_code(self) -> u8 {
        KINDS[self as usize].1
    }

    /// Name in error objects.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].2
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.2 == name).map(|kind| kind.0)
    }

    /// Whether time alone mends a failure of this kind, unless the place that makes it says otherwise.
    const fn persistence(self) -> Persistence {
        match self {
            Self::Usage | Self::Refused | Self::Partial | Self::Mismatch => Persistence::Permanent,
            Self::Internal
            | Self::Guard
            | Self::Unavailable
            | Self::Auth
            | Self::Unknown
            | Self::Interrupted => Persistence::Temporary,
        }
    }
}

/// Whether time alone mends a failure; the place that makes it decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Persistence {
    /// The same input may go through later.
    #[default]
    Temporary,
    /// The same input fails again until it, or the shop, is corrected.
    Permanent,
}

/// Whether a write took effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Applied {
    /// It did.
    Yes,
    /// It did not.
    #[default]
    No,
    /// The request was sent and its outcome is unknown.
    Unknown,
    /// The first of its calls did, and a later one did not.
    Partial,
}

impl Applied {
    /// What a failure of this kind leaves, where nothing more is known.
    const fn after(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Unknown | FailureKind::Interrupted => Self::Unknown,
            FailureKind::Mismatch | FailureKind::Partial => Self::Yes,
            _ => Self::No,
        }
    }
}

/// A failed operation, complete enough to be printed without further context. Its fields are those of error objects, in
/// their order.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Failure {
    /// What went wrong; decides the exit code.
    pub kind: FailureKind,
    /// What happened: a clause without a full stop.
    pub message: String,
    /// The next thing to do or type.
    pub hint: Option<Hint>,
    /// HTTP status of the service's answer, if there was one.
    pub status: Option<u16>,
    /// Whether the write took effect.
    pub applied: Applied,
    /// The service's error body as it came: JSON, or a string where it is not JSON. Nothing of a body that is not an error.
    pub service: Option<Value>,
    /// Paths of what a read after the write does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What the write is known by in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Box<str>>,
    /// What was to be written, where that is in the log.
    #[serde(flatten)]
    pub written: Option<Box<IntendedWrite>>,
    /// What became of each call, where the operation is several; as in results.
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    pub calls: Box<[Value]>,
    /// For a batch: what became of its records; [`Self::applied`] speaks of all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Box<RecordCounts>>,
    /// Every problem of an input that has several; the message names the first of them.
    #[serde(skip_serializing_if = "is_one")]
    pub problems: Vec<String>,
    /// With [`Applied::Partial`]: the attribute that the first call created, where that is known.
    #[serde(skip)]
    pub created: Option<u64>,
    /// The service says, or a read showed, that this is not there.
    #[serde(skip)]
    pub absent: Option<Absent>,
    /// Whose token was refused, if it has expired and came from a login.
    #[serde(skip)]
    pub expired: Option<Bearer>,
    /// The user chose not to continue, which is not shown as an error.
    #[serde(skip)]
    pub is_cancelled: bool,
    /// The service has no such call: the base URL is wrong, or another server answered.
    #[serde(skip)]
    pub is_misdirected: bool,
    /// Something else than the service answered, as far as the reply shows it: a page, or text that is not JSON.
    #[serde(skip)]
    pub is_foreign: bool,
    /// The reply is not one of the service's, or not what was asked for. Several of these in a row say that something stands between.
    #[serde(skip)]
    pub is_no_answer: bool,
    /// This machine cannot write down calls before they are sent, whatever they are.
    #[serde(skip)]
    pub cannot_be_noted: bool,
    /// What the shop has stored is at fault, an address or the stock, and not what was sent.
    #[serde(skip)]
    pub is_of_stored: bool,
    /// Whether time alone mends it.
    #[serde(skip)]
    pub persistence: Persistence,
}

/// What was to be written.
#[derive(Debug, Clone, Serialize)]
pub struct IntendedWrite {
    /// Whose values it changes: `{"cart": 4}`.
    pub owner: Value,
    /// Every difference that was to be made, as results have them.
    pub changes: Vec<Value>,
}

/// A single problem is the message itself.
fn is_one(problems: &[String]) -> bool {
    problems.len() < 2
}

/// How many records of a batch came to which end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RecordCounts {
    /// Applied.
    pub done: u64,
    /// Nothing was to be changed.
    pub unchanged: u64,
    /// Failed for a permanent reason.
    pub failed: u64,
    /// Failed for a temporary reason.
    pub temporary: u64,
    /// Never sent.
    pub not_sent: u64,
    /// Sent, with unknown outcome.
    pub unknown: u64,
    /// Written, but not as it was asked for.
    pub mismatch: u64,
    /// Applied by an earlier run, and left unchanged.
    #[serde(skip)]
    pub done_earlier: u64,
    /// Of those that failed for a temporary reason: they wait for an unknown one, which only a person can settle.
    #[serde(skip)]
    pub waiting_for_unknown: u64,
    /// Of those that failed for a temporary reason: one call was applied and a later one refused. A corrected record is
    /// sent again; results count these as failed.
    #[serde(skip)]
    pub refused_in_part: u64,
    /// Whether a call of one that failed was applied.
    #[serde(skip)]
    pub is_partly_applied: bool,
}

impl RecordCounts {
    /// All of them.
    pub fn total(self) -> u64 {
        let Self { done, done_earlier, unchanged, failed, temporary, not_sent, unknown, mismatch, .. } = self;
        done + done_earlier + unchanged + failed + temporary + not_sent + unknown + mismatch
    }

    /// What all of them amount to: unknown if any record is, else yes if any is, else no.
    pub fn applied(self) -> Applied {
        match (self.unknown, self.done + self.done_earlier + self.mismatch) {
            (1.., _) => Applied::Unknown,
            (_, 1..) => Applied::Yes,
            _ if self.is_partly_applied => Applied::Yes,
            _ => Applied::No,
        }
    }

    /// Whether a resumed run sends some of them that may go through as they are.
    pub fn can_resume(self) -> bool {
        self.temporary - self.waiting_for_unknown - self.refused_in_part + self.not_sent > 0
    }
}

/// How many problems a message names.
const MAX_SHOWN: usize = 20;

impl Failure {
    /// Sets whether time alone mends it.
    #[must_use]
    pub fn lasting(self, persistence: Persistence) -> Self {
        Self { persistence, ..self }
    }

    /// The same input fails again until it is corrected.
    #[must_use]
    pub fn for_good(self) -> Self {
        self.lasting(Persistence::Permanent)
    }

    /// What was received is not one of the service's answers, or not what was asked for. Such a failure is temporary.
    #[must_use]
    pub fn no_answer(self) -> Self {
        Self { is_no_answer: true, ..self.lasting(Persistence::Temporary) }
    }

    /// A failure of `kind`; whether the write was applied, and whether time alone mends it, follow from the kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let applied = Applied::after(kind);
        let persistence = kind.persistence();
        Self { kind, message: message.into(), applied, persistence, ..Self::default() }
    }

    /// Whether the shop must be changed first, what it has stored or what it allows, before the same is sent again.
    pub fn is_of_shop(&self) -> bool {
        self.is_of_stored || matches!(self.status, Some(401 | 403))
    }

    /// A reply that is not what the interface says it is.
    pub fn unexpected_reply(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Unavailable, message).no_answer()
    }

    /// Bad flags, input or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Bad input with all its problems: the message has the first [`MAX_SHOWN`] and how many more there are.
    pub fn usage_problems(problems: Vec<String>) -> Self {
        let shown = problems.iter().take(MAX_SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n  ");
        let rest = problems.len().saturating_sub(MAX_SHOWN);
        let more = if rest == 0 { String::new() } else { format!("\n  and {rest} more") };
        Self { problems, ..Self::usage(format!("{shown}{more}")) }
    }

    /// Refused to protect data.
    pub fn guard(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Guard, message)
    }

    /// The user answered no or left a question: nothing was written.
    pub fn cancelled() -> Self {
        Self { is_cancelled: true, ..Self::new(FailureKind::Interrupted, "cancelled").applied(Applied::No) }
    }

    /// Something this program did not foresee, such as a full disk.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Internal, message)
    }

    /// Adds the next thing to do or type; with commands in it as [`crate::hint::hint!`] makes it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets whether the write took effect.
    #[must_use]
    pub fn applied(mut self, applied: Applied) -> Self {
        self.applied = applied;
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::KINDS;

    #[test]
    fn every_kind_stands_in_its_row() {
        for (kind, code, name, _) in KINDS {
            assert_eq!((kind.exit_code(), kind.name()), (code, name));
        }
    }
}
