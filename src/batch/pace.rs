//! How many records may be under way, and when the next may begin. A service that asks for fewer requests gets fewer;
//! then their number grows again by itself.

use std::time::{Duration, Instant};

use crate::cli::run::Rate;

/// Answers that ask for fewer come in bursts: one burst lowers the number once.
const BURST: Duration = Duration::from_millis(200);
/// How far a run that was held up may catch up with its rate.
const LEEWAY: Duration = Duration::from_millis(20);

/// The pace of a run.
#[derive(Debug)]
pub struct Pace {
    most: f64,
    limit: f64,
    complaints: u64,
    lowered: Option<Instant>,
    interval: Option<Duration>,
    next: Option<Instant>,
}

impl Pace {
    /// At most `jobs` at a time, and no faster than `rate`.
    pub fn new(jobs: u16, rate: Option<Rate>) -> Self {
        Self {
            most: jobs.into(),
            limit: jobs.into(),
            complaints: 0,
            lowered: None,
            interval: rate.map(|rate| Duration::from_secs_f64((1.0 / rate.per_second).min(1e9))),
            next: None,
        }
    }

    /// Takes note of how often the service has asked for fewer requests so far.
    pub fn heed(&mut self, complaints: u64, now: Instant) {
        if complaints == self.complaints {
            return;
        }
        self.complaints = complaints;
        if self.lowered.is_none_or(|lowered| now - lowered >= BURST) {
            self.limit = (self.limit / 2.0).max(1.0);
            self.lowered = Some(now);
        }
    }

    /// A record went through: about as many as are under way make room for one more.
    pub fn went_through(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.most);
    }

    /// Whether one more may be under way beside these.
    pub fn has_room(&self, under_way: usize) -> bool {
        u32::try_from(under_way).is_ok_and(|under_way| f64::from(under_way) + 1.0 <= self.limit + 1e-9)
    }

    /// How long to wait before the next may begin.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        self.next.map(|next| next.saturating_duration_since(now)).filter(|wait| !wait.is_zero())
    }

    /// A record has begun.
    pub fn begun(&mut self, now: Instant) {
        if let Some(interval) = self.interval {
            let held_up = now.checked_sub(LEEWAY).unwrap_or(now);
            self.next = Some(self.next.map_or(now, |next| next.max(held_up)) + interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{BURST, Pace};
    use crate::cli::run::Rate;

    #[test]
    fn complaints_lower_the_number_and_success_raises_it_again() {
        let mut pace = Pace::new(8, None);
        let start = Instant::now();
        assert!(pace.has_room(7) && !pace.has_room(8));
        pace.heed(3, start);
        pace.heed(9, start + BURST / 2);
        assert!(pace.has_room(3) && !pace.has_room(4), "one burst lowers it once");
        for burst in 1..9 {
            pace.heed(9 + u64::from(burst), start + BURST * burst);
        }
        assert!(pace.has_room(0) && !pace.has_room(1), "one is always let through");
        for _ in 0..40 {
            pace.went_through();
        }
        assert!(pace.has_room(7) && !pace.has_room(8));
    }

    #[test]
    fn a_rate_is_kept_over_time() {
        let mut pace = Pace::new(8, Some(Rate { per_second: 100.0 }));
        let mut now = Instant::now();
        let start = now;
        for _ in 0..50 {
            now += pace.wait(now).unwrap_or_default() + Duration::from_millis(1);
            pace.begun(now);
        }
        let taken = now - start;
        assert!(taken >= Duration::from_millis(470) && taken < Duration::from_millis(560), "{taken:?}");
    }
}
