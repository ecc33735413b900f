//! How many records may be in flight, and when the next may start: a concurrency that is halved when the service asks
//! for fewer requests and grows again by itself (AIMD), a rate (token bucket), and a circuit breaker.

use std::time::Duration;

use tokio::time::Instant;

use super::circuit_breaker::CircuitBreaker;
use crate::cli::batch::Rate;
use crate::http::{MAX_WAIT, ServiceSignal};

/// Answers that ask for fewer come in bursts: one burst lowers the number once.
const BURST_ALLOWANCE: Duration = Duration::from_millis(200);
/// How far a run that was held up may catch up with its rate.
const COOLDOWN: Duration = Duration::from_millis(20);

/// The pace of a run.
#[derive(Debug)]
pub struct Throttle {
    max: f64,
    limit: f64,
    lowered: Option<Instant>,
    interval: Option<Duration>,
    next: Option<Instant>,
    /// Nothing starts before this time: the service asked for it.
    asked: Option<Instant>,
    breaker: CircuitBreaker,
}

impl Throttle {
    /// At most `jobs` at a time, and no faster than `rate`.
    pub fn new(jobs: u16, rate: Option<Rate>) -> Self {
        Self {
            max: jobs.into(),
            limit: jobs.into(),
            lowered: None,
            interval: rate.map(|rate| Duration::from_secs_f64((1.0 / rate.per_second).min(1e9))),
            next: None,
            asked: None,
            breaker: CircuitBreaker::default(),
        }
    }

    /// Takes note of what an attempt showed of the service, reads and repeats included.
    pub fn on_throttled(&mut self, signal: ServiceSignal, now: Instant) {
        match signal {
            ServiceSignal::Healthy => self.breaker.on_answer(),
            ServiceSignal::InternalError => self.breaker.on_internal_error(now),
            ServiceSignal::Failing(retry_after) => self.breaker.on_failing(retry_after, now),
            ServiceSignal::Throttled(retry_after) => {
                self.breaker.on_answer();
                let until = now + retry_after.unwrap_or_default().min(MAX_WAIT);
                self.asked = Some(self.asked.map_or(until, |asked| asked.max(until)));
                self.lower(now);
            }
        }
    }

    fn lower(&mut self, now: Instant) {
        if self.lowered.is_none_or(|lowered| now - lowered >= BURST_ALLOWANCE) {
            self.limit = (self.limit / 2.0).max(1.0);
            self.lowered = Some(now);
        }
    }

    /// A record went through: about as many as are in flight make room for one more.
    pub fn on_success(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.max);
    }

    /// Whether one more may be in flight in addition to these.
    pub fn has_capacity(&mut self, in_flight: usize, now: Instant) -> bool {
        let fits =
            u32::try_from(in_flight).is_ok_and(|in_flight| f64::from(in_flight) + 1.0 <= self.limit + 1e-9);
        fits && self.breaker.may_start(in_flight, now)
    }

    /// How long to wait before the next may start.
    pub fn delay(&self, now: Instant) -> Option<Duration> {
        let left = |until: Option<Instant>| until.map(|until| until.saturating_duration_since(now));
        let waits = [left(self.next), left(self.asked), self.breaker.delay(now)];
        waits.into_iter().flatten().max().filter(|wait| !wait.is_zero())
    }

    /// A record has started.
    pub fn on_start(&mut self, now: Instant) {
        self.breaker.on_start();
        if let Some(interval) = self.interval {
            let held_up = now.checked_sub(COOLDOWN).unwrap_or(now);
            self.next = Some(self.next.map_or(now, |next| next.max(held_up)) + interval);
        }
    }

    /// Whether the service was failing for so long that nothing more is to be sent.
    pub fn is_exhausted(&self) -> bool {
        self.breaker.is_exhausted()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use crate::batch::throttle::{BURST_ALLOWANCE, Throttle};
    use crate::cli::batch::Rate;
    use crate::http::ServiceSignal;

    const THROTTLED: ServiceSignal = ServiceSignal::Throttled(None);

    #[test]
    fn throttling_lowers_the_number_and_success_raises_it_again() {
        let mut throttle = Throttle::new(8, None);
        let start = Instant::now();
        assert!(throttle.has_capacity(7, start) && !throttle.has_capacity(8, start));
        throttle.on_throttled(THROTTLED, start);
        throttle.on_throttled(THROTTLED, start + BURST_ALLOWANCE / 2);
        assert!(
            throttle.has_capacity(3, start) && !throttle.has_capacity(4, start),
            "one burst lowers it once"
        );
        for burst in 1..9 {
            throttle.on_throttled(THROTTLED, start + BURST_ALLOWANCE * burst);
        }
        let later = start + BURST_ALLOWANCE * 9;
        assert!(
            throttle.has_capacity(0, later) && !throttle.has_capacity(1, later),
            "one is always let through"
        );
        for _ in 0..40 {
            throttle.on_success();
        }
        assert!(throttle.has_capacity(7, later) && !throttle.has_capacity(8, later));
    }

    #[test]
    fn what_the_service_asks_for_holds_new_records_back() {
        let mut throttle = Throttle::new(8, None);
        let start = Instant::now();
        throttle.on_throttled(ServiceSignal::Throttled(Some(Duration::from_secs(7))), start);
        throttle.on_throttled(THROTTLED, start);
        assert_eq!(throttle.delay(start), Some(Duration::from_secs(7)));
        throttle.on_throttled(ServiceSignal::Throttled(Some(Duration::from_secs(7000))), start);
        assert_eq!(throttle.delay(start), Some(Duration::from_secs(60)));
        assert_eq!(throttle.delay(start + Duration::from_secs(60)), None);
    }

    #[test]
    fn a_rate_is_kept_over_time() {
        let mut throttle = Throttle::new(8, Some(Rate { per_second: 100.0 }));
        let mut now = Instant::now();
        let start = now;
        for _ in 0..50 {
            now += throttle.delay(now).unwrap_or_default() + Duration::from_millis(1);
            throttle.on_start(now);
        }
        let taken = now - start;
        assert!(taken >= Duration::from_millis(470) && taken < Duration::from_millis(560), "{taken:?}");
    }
}
