//! Durations as people write them: `30`, `30s`, `1m`, `500ms`.

use std::time::Duration;

use jiff::SignedDuration;

/// The longest duration: a day.
const MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// What [`positive`] takes.
pub const POSITIVE: &str = "a duration above 0, such as 30, 500ms or 1m, at most 24 hours";

/// What [`or_zero`] takes.
pub const OR_ZERO: &str = "a duration, such as 30, 500ms or 1m, at most 24 hours";

/// A duration above zero. A number without a unit is seconds.
///
/// # Errors
/// What was expected, for anything else.
pub fn positive(text: &str) -> Result<Duration, String> {
    parse(text).filter(|duration| !duration.is_zero()).ok_or_else(|| format!("expected {POSITIVE}"))
}

/// A duration that may be zero, which means not to wait.
///
/// # Errors
/// As [`positive`].
pub fn or_zero(text: &str) -> Result<Duration, String> {
    parse(text).ok_or_else(|| format!("expected {OR_ZERO}"))
}

/// How long something is kept: above zero, at most 30 days.
///
/// # Errors
/// As [`positive`].
pub fn up_to_30_days(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
    let parsed = unlimited(text).filter(|duration| !duration.is_zero() && *duration <= MOST);
    parsed.ok_or_else(|| "expected a duration above 0, such as 8h or 72h, at most 720 hours".to_owned())
}

/// An age, such as `30d`, `2w` or `12h`; it has a unit.
///
/// # Errors
/// As [`positive`].
pub fn age(text: &str) -> Result<SignedDuration, String> {
    let hours = |text: &str, each: i64| text.trim().parse::<u16>().ok().map(|count| i64::from(count) * each);
    let days = text.strip_suffix('d').and_then(|days| hours(days, 24));
    let whole = days.or_else(|| text.strip_suffix('w').and_then(|weeks| hours(weeks, 24 * 7)));
    let whole = whole.or_else(|| text.strip_suffix('h').and_then(|count| hours(count, 1)));
    whole.map(SignedDuration::from_hours).ok_or_else(|| "expected an age, such as 30d, 2w or 12h".to_owned())
}

fn parse(text: &str) -> Option<Duration> {
    unlimited(text).filter(|duration| *duration <= MAX)
}

fn unlimited(text: &str) -> Option<Duration> {
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    let duration: SignedDuration = if has_unit { text.parse() } else { format!("{text}s").parse() }.ok()?;
    Duration::try_from(duration).ok()
}

#[cfg(test)]
mod tests {
    use super::{Duration, age, or_zero, positive};

    #[test]
    fn durations_are_numbers_of_seconds_or_have_a_unit() {
        for (text, millis) in [
            ("30", 30_000),
            ("30s", 30_000),
            ("0.5", 500),
            ("500ms", 500),
            ("1m", 60_000),
            ("1.5 m", 90_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(positive(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(or_zero("0"), Ok(Duration::ZERO));
        for text in ["", "s", "0", "-1", "nan", "inf", "1e3", "25h", "86401", "1d", "1 2", "."] {
            assert!(positive(text).is_err(), "{text}");
        }
        assert!(or_zero("-1").is_err() && or_zero("").is_err());
    }

    #[test]
    fn an_age_has_a_unit() {
        for (text, hours) in [("30d", 720), ("2w", 336), ("12h", 12), ("0d", 0)] {
            assert_eq!(age(text).map(|age| age.as_hours()), Ok(hours), "{text}");
        }
        for text in ["", "30", "d", "-1d", "1.5d", "1m", "99999d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
