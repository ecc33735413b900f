//! What one attempt came to, and what several attempts of one operation amount to.
//!
//! Everything that sends goes through these two types: single commands, batches, `api`, reads and read-backs. No other
//! code looks at a status to decide whether something was applied or may be sent again.

use std::time::Duration;

use super::reply::Reply;
use crate::failure::{Applied, Failure, FailureKind};

/// The end of one attempt.
#[derive(Debug)]
pub enum Attempt {
    /// The service says that it did it.
    Applied(Reply),
    /// The service says that it did not, and would say so again.
    Rejected(Failure),
    /// No byte of the request left.
    NotSent {
        /// What happened.
        failure: Failure,
        /// Whether the next attempt would end in the same way (a certificate that is not trusted).
        permanent: bool,
    },
    /// The service refused because it has too much to do: 429.
    Throttled {
        /// What it said.
        failure: Failure,
        /// Its `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The request may have been processed, now or later.
    Unknown {
        /// What happened.
        failure: Failure,
        /// Whether the cause is the network or a 5xx: a read is then worth another attempt.
        transient: bool,
    },
}

/// How the service is doing, as far as one attempt shows it. A batch adjusts its rate to these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceSignal {
    /// It answered, whatever it said.
    Healthy,
    /// It asked for fewer requests, for this long if it said so.
    Throttled(Option<Duration>),
    /// It is not there: 502, 503, 504, a timeout, a lost or refused connection; with its `Retry-After`.
    Failing(Option<Duration>),
    /// It failed at this request: 500. Three in a row mean that it is failing.
    InternalError,
}

impl Attempt {
    /// When the same request may be sent again: never after an attempt that may have been processed, except where
    /// processing it again cannot change the result. `None` where it must not be, or would end in the same way.
    pub(super) fn repeat_after(&self, effect: Effect) -> Option<Delay> {
        match self {
            Self::Throttled { retry_after: Some(wait), .. } => Some(Delay::Exactly(*wait)),
            Self::NotSent { permanent: false, .. } | Self::Throttled { .. } => Some(Delay::Backoff),
            Self::Unknown { transient, .. } => match effect {
                Effect::Read => transient.then_some(Delay::Backoff),
                Effect::Replacement => Some(Delay::Backoff),
                Effect::Write => None,
            },
            Self::Applied(_) | Self::Rejected(_) | Self::NotSent { .. } => None,
        }
    }

    /// What went wrong; `None` for an applied attempt.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Applied(_) => None,
            Self::Rejected(failure)
            | Self::NotSent { failure, .. }
            | Self::Throttled { failure, .. }
            | Self::Unknown { failure, .. } => Some(failure),
        }
    }

    /// Whether the request may have been processed with no answer to say so.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// What it means to process a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it only reads.
    Read,
    /// It may act twice.
    Write,
    /// The result is the same, as long as nobody else wrote in between: the caller reads again before each repeat. A
    /// replacement that adds something is a [`Effect::Write`].
    Replacement,
}

/// How long to wait before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delay {
    /// Our own growing delay.
    Backoff,
    /// What the service asked for.
    Exactly(Duration),
}

/// The attempts of one operation so far. Once one was unknown, no later rejection, throttling or connection failure
/// makes the operation "not applied": the unknown one may still take effect.
#[derive(Debug, Default)]
pub struct Attempts {
    count: u32,
    unknown: Option<Failure>,
}

impl Attempts {
    /// Takes an attempt in, and says what the operation amounts to with it.
    ///
    /// # Errors
    /// The attempt's failure; `unknown` where this or an earlier attempt may have been processed.
    pub fn conclude(&mut self, attempt: Attempt) -> Result<Reply, Failure> {
        self.count += 1;
        match attempt {
            Attempt::Applied(reply) => Ok(reply),
            Attempt::Unknown { failure, .. } => {
                self.unknown.get_or_insert_with(|| failure.clone());
                Err(self.counted(failure))
            }
            Attempt::Rejected(failure)
            | Attempt::NotSent { failure, .. }
            | Attempt::Throttled { failure, .. } => match &self.unknown {
                None => Err(self.counted(failure)),
                Some(unknown) => Err(Failure {
                    kind: FailureKind::Unknown,
                    applied: Applied::Unknown,
                    message: format!("{}; a later attempt: {}", unknown.message, failure.message),
                    hint: unknown.hint.clone(),
                    ..failure
                }),
            },
        }
    }

    /// Adds an attempt that was not applied, and returns the failure of the operation so far.
    pub fn fail(&mut self, attempt: Attempt) -> Failure {
        self.conclude(attempt).err().unwrap_or_else(|| Failure::internal("an applied attempt is no failure"))
    }

    /// Whether one of them may have been processed with no answer to say so.
    pub fn any_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    /// How many there were.
    pub fn count(&self) -> u32 {
        self.count
    }

    fn counted(&self, mut failure: Failure) -> Failure {
        if self.count > 1 {
            failure.message = format!("{} (tried {} times)", failure.message, self.count);
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Attempt, Attempts, Delay, Effect};
    use crate::failure::{Applied, Failure, FailureKind};
    use crate::http::Reply;

    fn unknown() -> Attempt {
        Attempt::Unknown { failure: Failure::new(FailureKind::Unknown, "no answer"), transient: true }
    }

    fn rejected() -> Attempt {
        Attempt::Rejected(Failure::new(FailureKind::Refused, "no"))
    }

    fn not_sent(permanent: bool) -> Attempt {
        Attempt::NotSent { failure: Failure::new(FailureKind::Unavailable, "refused"), permanent }
    }

    fn throttled(retry_after: Option<Duration>) -> Attempt {
        Attempt::Throttled { failure: Failure::new(FailureKind::Unavailable, "busy"), retry_after }
    }

    #[test]
    fn after_an_unknown_attempt_only_an_applied_one_makes_it_known() {
        for later in [rejected(), not_sent(false), throttled(None), unknown()] {
            let mut attempts = Attempts::default();
            attempts.conclude(unknown()).unwrap_err();
            let failure = attempts.conclude(later).unwrap_err();
            assert_eq!(
                (failure.kind, failure.applied),
                (FailureKind::Unknown, Applied::Unknown),
                "{failure}"
            );
        }
        let mut attempts = Attempts::default();
        attempts.conclude(unknown()).unwrap_err();
        let reply = Reply { status: 200, body: Vec::new(), warning: None, date: None };
        assert!(attempts.conclude(Attempt::Applied(reply)).is_ok());
    }

    #[test]
    fn without_an_unknown_attempt_the_last_one_counts() {
        let mut attempts = Attempts::default();
        attempts.conclude(throttled(None)).unwrap_err();
        let failure = attempts.conclude(rejected()).unwrap_err();
        assert_eq!((failure.kind, failure.applied), (FailureKind::Refused, Applied::No));
        assert_eq!(failure.message, "no (tried 2 times)");
    }

    #[test]
    fn only_what_cannot_act_twice_is_repeated() {
        let wait = Duration::from_secs(3);
        for (attempt, write, replacement, read) in [
            (rejected(), None, None, None),
            (not_sent(false), Some(Delay::Backoff), Some(Delay::Backoff), Some(Delay::Backoff)),
            (not_sent(true), None, None, None),
            (
                throttled(Some(wait)),
                Some(Delay::Exactly(wait)),
                Some(Delay::Exactly(wait)),
                Some(Delay::Exactly(wait)),
            ),
            (unknown(), None, Some(Delay::Backoff), Some(Delay::Backoff)),
        ] {
            let of = |effect| attempt.repeat_after(effect);
            assert_eq!(
                (of(Effect::Write), of(Effect::Replacement), of(Effect::Read)),
                (write, replacement, read),
                "{attempt:?}"
            );
        }
    }
}
