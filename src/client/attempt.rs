//! What one attempt came to, what several attempts of one operation amount to, and when to send again.
//!
//! Everything that sends goes through these types: single commands, batches, `api`, reads and looks. `classify.rs`
//! decides by the reply whether an attempt was applied, and nothing else decides whether it may be sent again.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::interface::request::CallKind;
use storefront_core::outcome::WriteOutcome;
use storefront_core::text::exact_json;

/// The end of one attempt.
#[derive(Debug)]
pub enum Attempt {
    /// The service says that it applied it.
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
    /// How long to wait before the same request may be sent again, as repeat number `repeat` (from 1); `None` if it must
    /// not be, or would end in the same way. A request that may have been processed is only sent again if processing it
    /// twice cannot change the result. `random` gives numbers between 0 and 1.
    pub(super) fn repeat_after(
        &self,
        kind: CallKind,
        repeat: u32,
        random: impl Fn() -> f64,
    ) -> Option<Duration> {
        let may_repeat = match (self, kind) {
            (Self::Throttled { retry_after: Some(wait), .. }, _) => return Some((*wait).min(MAX_WAIT)),
            (Self::NotSent { permanent, .. }, _) => !permanent,
            (Self::Throttled { .. }, _) | (Self::Unknown { .. }, CallKind::State) => true,
            (Self::Unknown { transient, .. }, CallKind::Read) => *transient,
            (Self::Unknown { .. }, CallKind::Write) | (Self::Applied(_) | Self::Rejected(_), _) => false,
        };
        may_repeat.then(|| backoff(repeat, random()))
    }

    /// The outcome of the write, which left at `sent_at`, as far as the attempt shows it.
    pub fn outcome(&self, sent_at: Timestamp, now: Timestamp) -> WriteOutcome {
        match self {
            Self::Applied(_) => WriteOutcome::Applied { at: now, verified: false },
            Self::Rejected(_) | Self::Throttled { .. } => WriteOutcome::Refused,
            Self::NotSent { .. } => WriteOutcome::NotSent,
            Self::Unknown { .. } => WriteOutcome::Unknown { sent_at },
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
}

/// The attempts of one operation so far. Once one was unknown, no later rejection, throttling or connection failure
/// makes the operation "not applied": the unknown one may still take effect.
#[derive(Debug, Default)]
pub struct Attempts {
    /// How many there were.
    pub(super) count: u32,
    unknown: Option<Failure>,
}

impl Attempts {
    /// Adds an attempt, and returns what the operation amounts to with it.
    ///
    /// # Errors
    /// The attempt's failure; `unknown` if this or an earlier attempt may have been processed.
    pub fn conclude(&mut self, attempt: Attempt) -> Result<Reply, Failure> {
        self.count += 1;
        match attempt {
            Attempt::Applied(reply) => Ok(reply),
            Attempt::Unknown { failure, .. } => {
                // A read changes nothing: the last of several counts.
                if failure.applied == Applied::Unknown {
                    self.unknown.get_or_insert_with(|| failure.clone());
                }
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

    /// Whether one of them may have been processed.
    pub(super) fn has_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    /// Adds an attempt that was not applied, and returns the failure of the operation so far.
    pub fn fail(&mut self, attempt: Attempt) -> Failure {
        self.conclude(attempt).err().unwrap_or_else(|| Failure::internal("an applied attempt is no failure"))
    }

    fn counted(&self, mut failure: Failure) -> Failure {
        if self.count > 1 {
            failure.message = format!("{} (tried {} times)", failure.message, self.count);
        }
        failure
    }
}

/// The answer to a call that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status: 2xx, or the request's other success (320 for shipping information).
    pub status: u16,
    /// The body as JSON, numbers with their exact text; the last of repeated fields counts. A text if it is not JSON;
    /// `Null` if it is empty.
    pub value: Value,
    /// The path of the first field that is repeated in its object.
    pub repeated: Option<String>,
    /// The body as it came, at most 16 MiB of it.
    pub bytes: Vec<u8>,
    /// What was wrong with the body, if anything: it was incomplete or too long.
    pub warning: Option<String>,
    /// How many bytes the shop printed around its JSON.
    pub printed_around: usize,
}

impl Reply {
    /// The body as a document without repeated fields.
    ///
    /// # Errors
    /// The field that is repeated.
    pub fn document(self) -> Result<Value, exact_json::Error> {
        self.repeated.map_or(Ok(self.value), |path| Err(exact_json::Error::Repeated(path)))
    }
}

/// The longest we wait before a repeat, whatever `Retry-After` says.
pub const MAX_WAIT: Duration = Duration::from_secs(60);
const INITIAL_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(10);

/// Doubles with every repeat; the upper half is random, so that many clients do not come back at once.
fn backoff(repeat: u32, chance: f64) -> Duration {
    let full = INITIAL_BACKOFF.saturating_mul(1 << repeat.saturating_sub(1).min(16)).min(MAX_BACKOFF);
    full.mul_f64(0.5 + chance / 2.0)
}

/// Reads `Retry-After`: seconds, or an HTTP date. `None` when it is neither.
pub(super) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().map_or(MAX_WAIT, Duration::from_secs));
    }
    let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use serde_json::Value;

    use super::{Attempt, Attempts, MAX_WAIT, Reply, backoff, retry_after};
    use storefront_core::failure::{Applied, Failure, FailureKind};
    use storefront_core::interface::request::CallKind;

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
        let reply = Reply {
            status: 200,
            value: Value::Null,
            repeated: None,
            bytes: Vec::new(),
            warning: None,
            printed_around: 0,
        };
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
    fn a_read_that_fails_is_never_unknown() {
        for last in [rejected(), not_sent(false), throttled(None)] {
            let mut attempts = Attempts::default();
            let failure = Failure::new(FailureKind::Unavailable, "no answer");
            attempts.conclude(Attempt::Unknown { failure, transient: true }).unwrap_err();
            let failure = attempts.conclude(last).unwrap_err();
            assert!(failure.applied == Applied::No && failure.kind != FailureKind::Unknown, "{failure}");
        }
    }

    #[test]
    fn only_what_cannot_act_twice_is_repeated() {
        let (asked, ours) = (Some(Duration::from_secs(3)), Some(Duration::from_millis(250)));
        for (attempt, write, state, read) in [
            (rejected(), None, None, None),
            (not_sent(false), ours, ours, ours),
            (not_sent(true), None, None, None),
            (throttled(asked), asked, asked, asked),
            (throttled(None), ours, ours, ours),
            (unknown(), None, ours, ours),
        ] {
            let of = |kind| attempt.repeat_after(kind, 1, || 1.0);
            assert_eq!(
                (of(CallKind::Write), of(CallKind::State), of(CallKind::Read)),
                (write, state, read),
                "{attempt:?}"
            );
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2015-10-21T07:28:00Z".parse().unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(read("Wed, 21 Oct 2015 07:28:05 GMT"), Some(Duration::from_secs(5)));
        assert_eq!(read("Wed, 21 Oct 2015 07:27:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("99999999999999999999999"), Some(MAX_WAIT));
        for neither in ["", "soon", "-1", "1.5"] {
            assert_eq!(read(neither), None, "{neither:?}");
        }
    }

    #[test]
    fn no_wait_is_longer_than_the_cap() {
        let hour = Duration::from_secs(3600);
        assert_eq!(throttled(Some(hour)).repeat_after(CallKind::Write, 1, || 1.0), Some(MAX_WAIT));
        assert_eq!(backoff(u32::MAX, 1.0), Duration::from_secs(10));
    }

    #[test]
    fn backoff_doubles_and_half_of_it_is_chance() {
        let milliseconds = |repeat, chance| backoff(repeat, chance).as_millis();
        assert_eq!((milliseconds(1, 0.0), milliseconds(1, 1.0)), (125, 250));
        assert_eq!((milliseconds(2, 0.0), milliseconds(3, 1.0)), (250, 1000));
        let waits: Vec<_> = (0..8).map(|_| backoff(1, crate::system::context::random_fraction())).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]), "{waits:?}");
    }
}
