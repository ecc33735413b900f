//! When to send again, and how long to wait before.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;

/// The longest we wait before a repeat, whatever `Retry-After` says.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);
const FIRST_BACKOFF: Duration = Duration::from_millis(250);
const LONGEST_BACKOFF: Duration = Duration::from_secs(10);

/// Whether an attempt may be made again without acting twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It may have been applied, or would only fail again.
    Never,
    /// After a pause of our own choosing.
    WithBackoff,
    /// When the service said.
    After(Duration),
}

impl Repeat {
    /// How long to wait before repeat number `repeat` (from 1); `None` when there must be none.
    pub(super) fn wait(self, repeat: u32) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::WithBackoff => Some(backoff(repeat, random_fraction())),
            Self::After(wait) => Some(wait.min(LONGEST_WAIT)),
        }
    }
}

/// Doubles with every repeat; the upper half of it is left to chance, so that many clients do not come back at once.
fn backoff(repeat: u32, chance: f64) -> Duration {
    let full = FIRST_BACKOFF.saturating_mul(1 << repeat.saturating_sub(1).min(16)).min(LONGEST_BACKOFF);
    full.mul_f64(0.5 + chance / 2.0)
}

/// Between 0 and 1; the standard library's hasher is seeded at random.
fn random_fraction() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or(0);
    f64::from(bits) / f64::from(u32::MAX)
}

/// Reads `Retry-After`: seconds, or an HTTP date. `None` when it is neither.
pub(super) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().map_or(LONGEST_WAIT, Duration::from_secs));
    }
    let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::{LONGEST_WAIT, Repeat, backoff, retry_after};

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2015-10-21T07:28:00Z".parse().unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(read("Wed, 21 Oct 2015 07:28:05 GMT"), Some(Duration::from_secs(5)));
        assert_eq!(read("Wed, 21 Oct 2015 07:27:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("99999999999999999999999"), Some(LONGEST_WAIT));
        for neither in ["", "soon", "-1", "1.5"] {
            assert_eq!(read(neither), None, "{neither:?}");
        }
    }

    #[test]
    fn no_wait_is_longer_than_the_cap() {
        let hour = Duration::from_secs(3600);
        assert_eq!(Repeat::After(hour).wait(1), Some(LONGEST_WAIT));
        assert_eq!(Repeat::Never.wait(1), None);
        assert_eq!(backoff(u32::MAX, 1.0), Duration::from_secs(10));
    }

    #[test]
    fn backoff_doubles_and_half_of_it_is_chance() {
        let milliseconds = |repeat, chance| backoff(repeat, chance).as_millis();
        assert_eq!((milliseconds(1, 0.0), milliseconds(1, 1.0)), (125, 250));
        assert_eq!((milliseconds(2, 0.0), milliseconds(3, 1.0)), (250, 1000));
        let waits: Vec<_> = (0..8).map(|_| Repeat::WithBackoff.wait(1)).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]), "{waits:?}");
    }
}
