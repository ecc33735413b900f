//! The promises as rules. They compare what was sent, what took effect and what was said, and know nothing of the
//! client's own notions. A new rule is a variant of [`Rule`], a check in one of the files below, and a mutant of the
//! program that it notices.

pub mod batch;
pub mod effect;
pub mod end;
pub mod excuse;
pub mod goods;
pub mod history;
pub mod journal;
pub mod known;
pub mod looked;
pub mod partition;
pub mod planned;
pub mod report;
pub mod request;
pub mod restore;
pub mod run;
pub mod signal;

/// What must not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A PUT loses an address that the read before it showed.
    LostAddress,
    /// A PUT deletes what was not named, or without permission.
    Deletion,
    /// A PUT changes something that it was not asked to change, to the digit.
    Exact,
    /// A PUT puts the profile of one customer over that of another.
    OtherProfile,
    /// Something that waits stands between the last read and the PUT.
    Waits,
    /// A PUT leaves without a durable copy of the profile as it was read.
    NoSnapshot,
    /// A plan that undoes a batch leaves out what still is as the batch wrote it, or plans something once more that it has undone.
    Undo,
    /// A PUT makes two addresses the default, or a restore takes it from one that somebody else chose.
    Defaults,
    /// A restore undoes another update than the one it was asked for.
    WrongUndo,
    /// A request is sent before the time that `Retry-After` named for its key.
    RetryAfter,
    /// A change of ours is overwritten by another one of the same machine whose read had not shown it.
    OwnOverwrite,
    /// A repeated PUT undoes a correction by somebody else.
    CorrectionUndone,
    /// A record is applied twice.
    Twice,
    /// A restore leaves an address twice.
    Twins,
    /// Shippings of one cart in one batch take effect in another order than that of the input.
    Order,
    /// Something is reported as applied that was not, or as verified that no read showed.
    FalseYes,
    /// Something is reported as not applied that was, or will be.
    FalseNo,
    /// A read shows that an address was lost, and the report does not say so, or says so where nothing was lost.
    Mismatch,
    /// A record is not reported exactly once in a run.
    Once,
    /// An outage leaves more than `--jobs` + 5 records unknown.
    Outage,
    /// What `verify` says of a write is not what its reads showed.
    Verified,
    /// A correction of an order is applied, and neither a comment nor a warning says so.
    Comment,
    /// The exit code does not agree with what was reported.
    ExitCode,
    /// Something is reported as unknown that was not sent.
    FalseUnknown,
    /// The journal does not agree with what was sent, what took effect or what was said.
    Journal,
    /// The history does not agree with what took effect.
    History,
    /// Nothing went wrong, and something was unknown, refused, not sent or not verified.
    Liveness,
    /// Everything was made good, and a command still does not come to an end.
    Healing,
    /// A plan is applied to a profile that is not as it was when it was planned, or a second time.
    Planned,
    /// A batch sends something else than the input that it has checked, or leaves a part of it out.
    Input,
    /// A record is not in exactly one of done, unknown, failed permanently and left to a resumed run, or report, summary
    /// and journal do not agree on it.
    Partition,
    /// After the first signal a record's first write leaves, or the run does not end in time.
    Signal,
    /// With `-o json` something else than JSON was written.
    Output,
}

/// A rule that was broken.
#[derive(Debug, Clone)]
pub struct Break {
    /// Which one.
    pub rule: Rule,
    /// The records that it is about.
    pub tags: Vec<u32>,
    /// What happened.
    pub what: String,
}
