//! When to send again, and how long to wait before.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;

use super::outcome::Delay;

/// `Retry-After` is honoured up to this.
pub const MAX_WAIT: Duration = Duration::from_secs(60);
const INITIAL_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(10);

impl Delay {
    /// How long to wait before repeat number `repeat` (from 1); `random` gives numbers between 0 and 1.
    pub(super) fn with(self, repeat: u32, random: impl Fn() -> f64) -> Duration {
        match self {
            Self::Backoff => backoff(repeat, random()),
            Self::Exactly(wait) => wait.min(MAX_WAIT),
        }
    }
}

/// Doubles with every repeat; the upper half of it is left to chance, so that many clients do not come back at once.
fn backoff(repeat: u32, chance: f64) -> Duration {
    let full = INITIAL_BACKOFF.saturating_mul(1 << repeat.saturating_sub(1).min(16)).min(MAX_BACKOFF);
    full.mul_f64(0.5 + chance / 2.0)
}

/// Between 0 and 1; the standard library's hasher is seeded at random.
pub(super) fn random_fraction() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or(0);
    f64::from(bits) / f64::from(u32::MAX)
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

    use super::{Delay, backoff, random_fraction, retry_after};
    use crate::http::retry::MAX_WAIT;

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
        assert_eq!(Delay::Exactly(hour).with(1, random_fraction), MAX_WAIT);
        assert_eq!(backoff(u32::MAX, 1.0), Duration::from_secs(10));
    }

    #[test]
    fn backoff_doubles_and_half_of_it_is_chance() {
        let milliseconds = |repeat, chance| backoff(repeat, chance).as_millis();
        assert_eq!((milliseconds(1, 0.0), milliseconds(1, 1.0)), (125, 250));
        assert_eq!((milliseconds(2, 0.0), milliseconds(3, 1.0)), (250, 1000));
        let waits: Vec<_> = (0..8).map(|_| Delay::Backoff.with(1, random_fraction)).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]), "{waits:?}");
    }
}
